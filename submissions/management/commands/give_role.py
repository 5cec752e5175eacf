"""`manage.py give_role <username> <role>`: make somebody a moderator or a maintainer."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import Group, User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from submissions.roles import ROLES, let_in_by_role


class Command(BaseCommand):
    help = "Give a user a role, and with it the admin."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("role", choices=ROLES)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            person = User.objects.get(username=options["username"])
        except User.DoesNotExist as error:
            raise CommandError(
                f"There is no user {options['username']!r}; add one in /admin/."
            ) from error
        person.groups.add(Group.objects.get(name=options["role"]))
        let_in_by_role(person, had_role=True)
        self.stdout.write(f"{person} is {options['role']} now.")
