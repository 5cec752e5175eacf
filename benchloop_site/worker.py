"""The task worker: a Huey consumer."""

from __future__ import annotations

import django


def work() -> None:
    """Do tasks until SIGTERM or SIGINT."""
    django.setup()
    import leaderboard.tasks  # noqa: F401 - importing registers the tasks
    from runs.queues import queue

    # The queue is polled: with the default growing pauses a result would wait ten seconds.
    queue.create_consumer(workers=1, initial_delay=0.1, max_delay=0.5, periodic=False).run()
