"""`manage.py create_key <username>`: an API key, printed once."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from submissions.keys import create_key


class Command(BaseCommand):
    help = "Make an API key for a user and print it. It cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--name", default="", help="What the key is for.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            owner = User.objects.get(username=options["username"])
        except User.DoesNotExist as error:
            raise CommandError(
                f"There is no user {options['username']!r}; add one in /admin/ "
                "(the first one with createsuperuser)."
            ) from error
        _, text = create_key(owner, options["name"])
        self.stdout.write(text)
