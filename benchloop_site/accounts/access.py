"""Who may see a page of an account, and when."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.cache import never_cache

View = Callable[..., HttpResponseBase]


def own_page(view: View) -> View:
    """For who is logged in, and kept by no cache. It changes nothing that a password guards."""
    return never_cache(login_required(view))


def guarded_page(view: View) -> View:
    """As `own_page`; sending a form asks for the password, unless that was given lately."""
    return own_page(reauthentication_required(allow_get=True)(view))


def mail_needed(view: View) -> View:
    """Says so where the site sends no mail, rather than have somebody wait for it."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.SENDS_MAIL:
            return _no_mail(request)
        return view(request, *args, **kwargs)

    return wrapped


def _no_mail(request: HttpRequest) -> HttpResponse:
    return render(request, "account/no_mail.html", status=503)


def owner_of(request: HttpRequest) -> User:
    """Who is logged in, on a page that nobody else can see."""
    assert isinstance(request.user, User)
    return request.user
