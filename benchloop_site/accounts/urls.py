"""Addresses below `/account/`: one's own runs and keys, and what django-allauth serves.

Of allauth's pages only those are here that the site has a template for, under allauth's names.
"""

from __future__ import annotations

from allauth.account import views as allauth
from django.urls import path, re_path
from django.views.decorators.cache import never_cache

from benchloop_site.accounts import keys, views
from benchloop_site.accounts.access import mail_needed

urlpatterns = [
    path("", views.account, name="account"),
    path("close/", views.close, name="account-close"),
    path("closed/", views.closed, name="account-closed"),
    path("no-address/", views.no_address, name="account-no-address"),
    path("keys/", keys.keys, name="account-keys"),
    path("keys/<slug:prefix>/revoke/", keys.revoke, name="account-key-revoke"),
    path("login/", allauth.login, name="account_login"),
    path("logout/", allauth.logout, name="account_logout"),
    path("inactive/", allauth.account_inactive, name="account_inactive"),
    path("signup/", allauth.signup, name="account_signup"),
    path("reauthenticate/", never_cache(allauth.reauthenticate), name="account_reauthenticate"),
    path("email/", never_cache(mail_needed(allauth.email)), name="account_email"),
    path("confirm-email/", allauth.email_verification_sent, name="account_email_verification_sent"),
    re_path(
        r"^confirm-email/(?P<key>[-:\w]+)/$", allauth.confirm_email, name="account_confirm_email"
    ),
    path("password/change/", never_cache(allauth.password_change), name="account_change_password"),
    path("password/set/", never_cache(allauth.password_set), name="account_set_password"),
    path("password/reset/", mail_needed(allauth.password_reset), name="account_reset_password"),
    path("password/reset/done/", allauth.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        allauth.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path(
        "password/reset/key/done/",
        allauth.password_reset_from_key_done,
        name="account_reset_password_from_key_done",
    ),
]
