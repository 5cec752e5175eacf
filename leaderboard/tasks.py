"""Background work of the local role: the results folder, shown on the leaderboard."""

from __future__ import annotations

from django.db import close_old_connections
from django.db.models import Q

from bench_loop import config
from leaderboard import publish
from runs.models import Run
from runs.queues import queue
from runs.results_folder import take_in


@queue.task()
def look_for_results() -> None:
    """Look at the results folder: whoever notices that a file changed says so, and nothing more."""
    close_old_connections()
    try:
        show_local_results()
    finally:
        close_old_connections()


def show_local_results() -> int:
    """Take in what is new in the results folder and publish it, marked local. Gives the count.

    A run whose file was replaced by another run, as when an interrupted one was completed, leaves
    the board. A run that was stored and not published, since the process ended, is published now.
    """
    returned = []
    for taken in take_in(config.results_folder()):
        if taken.replaced is not None:
            publish.withdraw(taken.replaced, "Its file now holds another run.")
        if taken.run is not None:
            returned.append(taken.run.pk)
    not_shown = Run.objects.filter(
        Q(entry__isnull=True) | Q(pk__in=returned, entry__withdrawn_at__isnull=False),
        source=Run.Source.LOCAL,
    )
    for run in not_shown:
        publish.publish(run, level="reported", is_local=True)
    return len(not_shown)
