"""Addresses of the pages."""

from __future__ import annotations

from django.urls import path

from leaderboard import export_views, views

urlpatterns = [
    path("", views.leaderboard, name="leaderboard"),
    path("runs/<slug:public_id>/", views.run, name="run"),
    path("leaderboard.csv", export_views.leaderboard_csv, name="leaderboard-csv"),
    path("leaderboard.md", export_views.leaderboard_markdown, name="leaderboard-markdown"),
    path("leaderboard.json", export_views.leaderboard_json, name="leaderboard-json"),
    path("models/<str:slug>/", views.model, name="model"),
    path("compare/", views.compare, name="compare"),
    path("matrix/", views.matrix, name="matrix"),
    path("matrix.csv", views.matrix_csv, name="matrix-csv"),
    path("trending/", views.trending, name="trending"),
    path("my-gpu/", views.my_gpu, name="my-gpu"),
    path("submit/", views.submit, name="submit"),
    path("methodology/", views.methodology, name="methodology"),
    path("theme/", views.theme, name="theme"),
]
