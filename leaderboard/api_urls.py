"""Addresses of the leaderboard's API, below `/api/v1/`."""

from __future__ import annotations

from django.urls import path

from leaderboard import api

urlpatterns = [
    path("leaderboard/", api.LeaderboardView.as_view(), name="api-leaderboard"),
    path("schema/result-v1.json", api.SchemaView.as_view(), name="api-result-schema"),
]
