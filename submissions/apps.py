from __future__ import annotations

from typing import Any

from django.apps import AppConfig
from django.apps.registry import Apps
from django.apps.registry import apps as installed
from django.db import connections
from django.db.models import Model
from django.db.models.signals import post_migrate, post_save


class SubmissionsConfig(AppConfig):
    name = "submissions"

    def ready(self) -> None:
        from submissions.models import AuditEvent

        post_migrate.connect(_complete, sender=self)
        # A signal, so that the models do not know the work that is done on them.
        post_save.connect(_wake_worker, sender=AuditEvent)


def _wake_worker(sender: type[Model], **kwargs: Any) -> None:
    from submissions.tasks import say_look

    say_look()


def _complete(sender: AppConfig, using: str, apps: Apps = installed, **kwargs: Any) -> None:
    """What a migrated database needs besides its tables; doing it again changes nothing."""
    from submissions import append_only, roles
    from submissions.models.reasons import add_templates

    try:
        apps.get_model("submissions", "ReasonTemplate")
        apps.get_model("auth", "Group")
    except LookupError:
        return  # Migrated to a state before these tables.
    roles.make_roles(apps, using)
    add_templates(apps, using)
    append_only.protect(connections[using])
