"""Addresses of the API for uploads and runs, below `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from submissions.api.audit import AuditView
from submissions.api.detail import AnswerView, AppealView, ReportView, SubmissionView
from submissions.api.runs import RunFileView, RunView
from submissions.api.uploads import SubmissionsView

urlpatterns = [
    path("submissions/", SubmissionsView.as_view(), name="api-submissions"),
    path("submissions/<slug:public_id>/", SubmissionView.as_view(), name="api-submission"),
    path("submissions/<slug:public_id>/report/", ReportView.as_view(), name="api-report"),
    path("submissions/<slug:public_id>/appeal/", AppealView.as_view(), name="api-appeal"),
    path("submissions/<slug:public_id>/answer/", AnswerView.as_view(), name="api-answer"),
    path("audit/", AuditView.as_view(), name="api-audit"),
    path("runs/<slug:public_id>/", RunView.as_view(), name="api-run"),
    path("runs/<slug:public_id>/result.json", RunFileView.as_view(), name="api-run-file"),
]
