"""Where this site's rules differ from django-allauth's own."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme

from benchloop_site.accounts.names import check_name, lookalikes

VERIFICATION = "allauth.account.stages.EmailVerificationStage"
OWN_VERIFICATION = "benchloop_site.accounts.stages.EmailVerification"


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Names that are nobody else's, no way off the site, no sign-up where no mail can be sent."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return bool(settings.SENDS_MAIL)

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """The name in lower case. Raises ValidationError."""
        if not username.isascii():
            check_name(username)
        name = username.lower()
        check_name(name)
        cleaned = str(super().clean_username(name, shallow))
        if not shallow and User.objects.filter(username__iregex=lookalikes(name)).exists():
            raise ValidationError("This name looks like one that is taken.", code="name_taken")
        return cleaned

    def is_safe_url(self, url: str | None) -> bool:
        """Whether `?next=` may lead there: to pages of this very site, by their path alone."""
        return url_has_allowed_host_and_scheme(url, allowed_hosts=None)

    def get_login_stages(self) -> list[str]:
        return [
            OWN_VERIFICATION if stage == VERIFICATION else stage
            for stage in super().get_login_stages()
        ]

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return str(resolve_url("account"))
