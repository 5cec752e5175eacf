"""`manage.py rebuild_stacks`: names, stacks, shown runs and bands anew, as after an upgrade."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from bench_loop.report.figures import counted
from leaderboard.rebuild import rebuild_stacks


class Command(BaseCommand):
    help = (
        "Work out models, stacks, shown runs and rank bands again from the entries. Run it after "
        "an upgrade; running it twice changes nothing. Publishing waits for one league at a time."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done = rebuild_stacks()
        self.stdout.write(
            f"{counted(done.entries, 'entry', 'entries')} in {counted(done.stacks, 'stack')} and "
            f"{counted(done.leagues, 'league')}; {done.moved:,} moved."
        )
