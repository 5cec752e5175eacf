"""Addresses of the whole site."""

from __future__ import annotations

from django.apps import apps
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from django.views.generic import RedirectView

from benchloop_site import local_login
from benchloop_site.api_pages import SchemaView, reference

admin.site.site_header = admin.site.site_title = "BenchLoop"
admin.site.index_title = "Users, keys and moderation"

has_accounts = apps.is_installed("allauth.account")
if has_accounts:
    from allauth.account.decorators import secure_admin_login

    # One door for all: its limits on attempts hold for moderators too. The admin's addresses,
    # below, take the view that stands here when they are made.
    admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]

urlpatterns: list[URLPattern | URLResolver] = [
    path("api/v1/", include("submissions.urls")),
    path("api/v1/", include("leaderboard.api_urls")),
    path("api/", RedirectView.as_view(pattern_name="api-docs")),
    path("api/docs/", reference, name="api-docs"),
    path("api/schema/", SchemaView.as_view(), name="api-schema"),
    path("admin/", admin.site.urls),
    path("enter/", local_login.enter, name="enter"),
    path("", include("submissions.page_urls")),
    path("", include("leaderboard.urls")),
]
if has_accounts:
    urlpatterns.append(path("account/", include("benchloop_site.accounts.urls")))

handler400 = "benchloop_site.api_errors.bad_request"
handler403 = "benchloop_site.api_errors.permission_denied"
handler404 = "benchloop_site.api_errors.not_found"
handler500 = "benchloop_site.api_errors.server_error"
