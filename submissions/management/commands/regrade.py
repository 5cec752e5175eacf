"""`manage.py regrade`: judge all stored runs again, since something that judges was mended."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from bench_loop.contracts.sandbox import Sandbox
from bench_loop.errors import SandboxError
from bench_loop.report.figures import counted
from bench_loop.report.printable import printable
from bench_loop.sandboxes.ladder import open_sandbox
from submissions.models import Judgement
from submissions.regrading import regrade


class Command(BaseCommand):
    help = (
        "Judge the outputs of all stored runs again with the verifiers, packs and formulas of this "
        "version, show the new scores and bands, keep the old ones, and list who moved. Result "
        "files never change. What was broken off is gone on with."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("reason", help="Why, for the audit trail of each run: what was mended.")
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="Change nothing: list who would move, each league by itself.",
        )
        parser.add_argument(
            "--without-code",
            action="store_true",
            help="Leave verdicts that need code to be run as they are, and need no sandbox.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["reason"].strip():
            raise CommandError("A reason is needed: everybody who reads a run will read it.")
        is_dry_run, count, moved = options["dry_run"], 0, 0
        without_code = options["without_code"]
        try:
            for one in regrade(
                options["reason"].strip(),
                lambda: None if without_code else self._sandbox(),
                is_dry_run=is_dry_run,
            ):
                count += 1
                moved += one.has_moved
                if one.has_moved or one.is_changed or one.notes:
                    self.stdout.write(_line(one))
        except SandboxError as error:
            raise CommandError(
                f"{error.message} {error.remedy or ''} Or leave code as it is: --without-code"
            ) from error
        would = "would move" if is_dry_run else "moved"
        self.stdout.write(f"{counted(count, 'run')} judged again; {moved} {would}.")

    def _sandbox(self) -> Sandbox:
        return open_sandbox(settings.CODE_SANDBOX, warn=self.stderr.write)


def _line(one: Judgement) -> str:
    model = printable(str(one.run.header["subject"]["model_id"]))[:60]
    parts = [
        f"{one.run.public_id}  {model}",
        f"overall {_score(one.score_before)} -> {_score(one.score_after)}",
        f"rank {_band(one.band_before)} -> {_band(one.band_after)}",
        *one.notes,
    ]
    return "; ".join(parts)


def _score(score: float | None) -> str:
    return "none" if score is None else f"{score:.1f}"


def _band(band: list[int] | None) -> str:
    if band is None:
        return "none"
    return str(band[0]) if band[0] == band[1] else f"{band[0]} to {band[1]}"
