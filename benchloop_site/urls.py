"""Addresses of the whole site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from benchloop_site import local_login

admin.site.site_header = admin.site.site_title = "BenchLoop"
admin.site.index_title = "Users, keys and moderation"

urlpatterns = [
    path("api/v1/", include("submissions.urls")),
    path("api/v1/", include("leaderboard.api_urls")),
    path("admin/", admin.site.urls),
    path("enter/", local_login.enter, name="enter"),
    path("", include("submissions.page_urls")),
    path("", include("leaderboard.urls")),
]

handler400 = "benchloop_site.api_errors.bad_request"
handler403 = "benchloop_site.api_errors.permission_denied"
handler404 = "benchloop_site.api_errors.not_found"
handler500 = "benchloop_site.api_errors.server_error"
