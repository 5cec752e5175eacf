"""Closing an account: the person goes, what was measured and decided stays on record."""

from __future__ import annotations

import secrets

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db import transaction

from submissions.models import AuditEvent, Submission

NEUTRAL = "deleted-"
KIND = "account_closed"


def close_account(owner: User, *, is_withdrawing: bool) -> None:
    """Forget who `owner` is. Their row keeps a neutral name, since runs and decisions point at it.

    Keys and addresses are gone, and nobody can log in as them again. With `is_withdrawing` their
    runs are withdrawn, else they stay as they stand; the audit trail of each says that the account
    was closed.
    """
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=owner.pk)
        for submission in user.submissions.select_related("run").order_by("pk"):
            if is_withdrawing and submission.status != Submission.Status.WITHDRAWN:
                submission.withdraw(user)
            AuditEvent.objects.create(submission=submission, actor=user, kind=KIND)
        user.api_keys.all().delete()
        EmailAddress.objects.filter(user_id=user.pk).delete()
        user.groups.clear()
        user.user_permissions.clear()
        user.username = NEUTRAL + secrets.token_hex(4)
        user.email = user.first_name = user.last_name = ""
        user.is_active = user.is_staff = user.is_superuser = False
        user.last_login = None
        user.set_unusable_password()
        user.save()
