"""What the adapters of all programs share: found at set-up, asked in a place, nothing left."""

from __future__ import annotations

from bench_loop.contracts.harness import (
    Capability,
    HarnessConfig,
    Installation,
    ModelAccess,
    Needs,
)
from bench_loop.contracts.place import Place
from bench_loop.programs.asking import check_installed, ready

AGENT: frozenset[Capability] = frozenset(
    {
        *("plain_answer", "native_tools", "multi_turn"),
        *("read_files", "edit_files", "run_commands"),
    }
)
"""What a harness can do that answers, and works on files and in a shell by the model's calls."""


class ProgramAdapter:
    """The part of HarnessAdapter that is the same for every program; its file adds the rest."""

    name: str
    version: str
    capabilities: frozenset[Capability] = AGENT
    needs: Needs
    installation: Installation | None
    config_hash: str | None
    _config: HarnessConfig | None = None

    def setup(self, config: HarnessConfig) -> None:
        """Look whether the pinned version is there. Raises SetupError."""
        assert self.installation is not None
        check_installed(self.name, self.installation, config.place)
        self._config = config

    def teardown(self) -> None:
        """All that was started ended with its task."""
        self._config = None

    def _ready(self) -> tuple[Place, ModelAccess]:
        """Place and model for the trial that is run. Raises HarnessError when one is missing."""
        return ready(self.name, self._config)
