"""Background work of the public role. A task only says "look": what is to be done is in the rows.

Each new event of the audit trail says so (submissions/apps.py); the regular look finds the rest.
"""

from __future__ import annotations

import logging

from django.db import close_old_connections, transaction
from huey import crontab

from runs.queues import queue
from submissions import grading, levels

logger = logging.getLogger("benchloop.tasks")


@queue.task()
def look_for_work() -> None:
    """Judge the code that waits for it, then look at the levels that something new may change."""
    close_old_connections()
    try:
        grading.enqueue_missing()
        levels.look_at_levels()
        grading.grade_due()
        levels.look_at_levels()
    finally:
        close_old_connections()


@queue.periodic_task(crontab(minute="*"))
def look_regularly() -> None:
    """What was never said, or said to a worker that was killed, is found here."""
    look_for_work.call_local()


def say_look() -> None:
    """Wake a worker once what was changed is in the database.

    Where the queue cannot be written, the next regular look finds it.
    """
    transaction.on_commit(_say)


def _say() -> None:
    try:
        look_for_work()
    except Exception:
        logger.exception("The queue cannot be written.")
