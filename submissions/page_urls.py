"""Addresses of the pages about submissions."""

from __future__ import annotations

from django.urls import path

from submissions import pages, report_page

urlpatterns = [
    path("runs/<slug:public_id>/", pages.run, name="run"),
    *(
        path(f"runs/<slug:public_id>/{verb}/", pages.owner_verb, {"name": verb}, name=f"run-{verb}")
        for verb in pages.VERBS
    ),
    path("runs/<slug:public_id>/report/", report_page.report_run, name="run-report"),
    path("moderation/", pages.moderation, name="moderation"),
    path("moderation.json", pages.moderation_json, name="moderation-json"),
]
