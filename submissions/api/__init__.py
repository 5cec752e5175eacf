"""Uploads, submissions, reports, runs and the audit trail over HTTP."""
