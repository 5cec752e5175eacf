"""`manage.py create_key <username>`: an API key, printed once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from submissions.keys import create_key
from submissions.models.keys import SCOPES


class Command(BaseCommand):
    help = "Make an API key for a user and print it. It cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="", help="What the key is for.")
        parser.add_argument(
            "--scope",
            action="append",
            choices=list(SCOPES),
            help="What it may be used for; give it once for each. Default: everything.",
        )
        parser.add_argument(
            "--days", type=int, help="How long it is good. Default: until it is revoked."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            owner = User.objects.get(username=options["username"])
        except User.DoesNotExist as error:
            raise CommandError(
                f"There is no user {options['username']!r}; add one in /admin/ "
                "(the first one with createsuperuser)."
            ) from error
        days = options["days"]
        if days is not None and not 0 < days <= 3650:
            raise CommandError("--days is 1 to 3650; without it the key never expires.")
        expires_at = timezone.now() + timedelta(days=days) if days else None
        scopes = options["scope"] or list(SCOPES)
        _, text = create_key(owner, options["name"], scopes, expires_at)
        self.stdout.write(text)
