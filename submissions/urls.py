"""Addresses of the API for uploads and runs, below `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from submissions import api

urlpatterns = [
    path("submissions/", api.SubmissionsView.as_view(), name="api-submissions"),
    path("submissions/<slug:public_id>/", api.SubmissionView.as_view(), name="api-submission"),
    path("runs/<slug:public_id>/", api.RunView.as_view(), name="api-run"),
    path("runs/<slug:public_id>/result.json", api.RunFileView.as_view(), name="api-run-file"),
]
