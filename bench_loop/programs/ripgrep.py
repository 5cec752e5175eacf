"""ripgrep, with which agents search files: installed beside them, so that no machine's own counts.

Without it a harness offers other tools, or tools that fail, or fetches it by itself.
"""

from __future__ import annotations

from bench_loop.contracts.harness import HarnessConfig
from bench_loop.contracts.place import Place
from bench_loop.errors import SetupError
from bench_loop.programs.adapter import ProgramAdapter

RIPGREP = "@vscode/ripgrep@1.18.0"
"""The package, for an Installation from npm; the program comes with another one, by platform."""


class SearchingAdapter(ProgramAdapter):
    """A program that searches with the ripgrep beside it."""

    def setup(self, config: HarnessConfig) -> None:
        """Look for what it searches with, too. Raises SetupError."""
        super().setup(config)
        if config.place is not None:
            ripgrep_folder(config.place)


def ripgrep_folder(place: Place) -> str:
    """The folder of the program `rg` as it is seen inside. Raises SetupError: there is none."""
    found = sorted(place.program.here.glob("node_modules/@vscode/ripgrep-*/bin"))
    if not found:
        raise SetupError(
            "The installation of the harness is not whole: ripgrep is missing.",
            remedy="Remove it and install it again: bench-loop harness remove, harness install.",
        )
    return f"{place.program.inside}/{found[0].relative_to(place.program.here).as_posix()}"
