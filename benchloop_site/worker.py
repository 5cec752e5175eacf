"""The task worker: a Huey consumer."""

from __future__ import annotations

import django


def work() -> None:
    """Do tasks until SIGTERM or SIGINT."""
    django.setup()
    from django.conf import settings

    import leaderboard.tasks  # noqa: F401 - importing registers the tasks
    import submissions.tasks
    from runs.queues import queue

    is_public = settings.BENCHLOOP_ROLE == "public"
    if is_public:
        from submissions.grading import await_sandbox_no_more

        await_sandbox_no_more()
        submissions.tasks.say_look()
    # The queue is polled: with the default growing pauses a result would wait ten seconds.
    queue.create_consumer(workers=1, initial_delay=0.1, max_delay=0.5, periodic=is_public).run()
