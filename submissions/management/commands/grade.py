"""`manage.py grade`: judge the code of uploads now, by hand."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from submissions import grading, levels
from submissions.models import Grade


class Command(BaseCommand):
    help = (
        "Judge the stored outputs of code in the site's sandbox, as a worker does: all runs that "
        "wait, or those that are named, whatever came of them before."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", nargs="*", help="Public ids of runs. None: all that wait.")
        parser.add_argument(
            "--sandbox",
            choices=("auto", "docker", "bubblewrap"),
            help="Where the code is run. Default: BENCHLOOP_CODE_SANDBOX.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        grading.enqueue_missing()
        grades = self._named(options["id"])
        grading.reset(grades)
        grading.grade_due(options["sandbox"])
        levels.look_at_levels()
        for before in grades:
            self.stdout.write(
                _line(Grade.objects.select_related("run__submission").get(pk=before.pk))
            )
        if not grades:
            self.stdout.write("No run waits.")

    def _named(self, ids: list[str]) -> list[Grade]:
        """The grades of these runs; of none: of all that have not been judged."""
        if not ids:
            open_states = (Grade.State.WAITING, Grade.State.NO_SANDBOX, Grade.State.FAILED)
            return list(Grade.objects.filter(state__in=open_states).order_by("pk"))
        found = list(Grade.objects.filter(run__public_id__in=ids).select_related("run"))
        unknown = set(ids) - {grade.run.public_id for grade in found}
        if unknown:
            raise CommandError(f"There is no upload {', '.join(sorted(unknown))}.")
        return found


def _line(grade: Grade) -> str:
    level = grade.run.submission.level
    if grade.state == Grade.State.NOT_NEEDED:
        told = "no verdict needs code to be run"
    elif grade.state == Grade.State.DONE:
        told = (
            f"{grade.judged} of {grade.code_trials} verdicts judged in {grade.sandbox}, "
            f"{grade.mismatches} otherwise than reported"
        )
    else:
        told = f"{grade.get_state_display()}. {grade.reason}".strip()
    return f"{grade.run.public_id}  {level}: {told}"
