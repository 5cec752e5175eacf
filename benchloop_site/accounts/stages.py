"""Steps between a right password and being logged in."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage
from django.contrib.auth.models import User
from django.http import HttpResponseRedirect
from django.urls import reverse


class EmailVerification(EmailVerificationStage):  # type: ignore[misc]
    """Nobody gets in before their address is confirmed, but for staff.

    Who made them staff vouches for them; the first one, made on the command line, may have no
    address at all.
    """

    def handle(self) -> tuple[Any, bool]:
        user = self.login.user
        if user is not None and user.is_staff:
            return None, True
        if user is not None and not user.email and not _has_address(user):
            return HttpResponseRedirect(reverse("account-no-address")), False
        response, goes_on = super().handle()
        return response, bool(goes_on)


def _has_address(user: User) -> bool:
    return bool(EmailAddress.objects.filter(user_id=user.pk).exists())
