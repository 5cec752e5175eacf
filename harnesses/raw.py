"""The bare model: one direct call, and no words but the task's own."""

from __future__ import annotations

from bench_loop.contracts.harness import HarnessConfig, HarnessRunResult
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.errors import HarnessError


class Adapter:
    """The baseline that every other harness is measured against."""

    name = "raw"
    version = "1"
    capabilities = frozenset({"plain_answer"})

    def __init__(self) -> None:
        self._config: HarnessConfig | None = None

    def setup(self, config: HarnessConfig) -> None:
        """Keep the way to the model; there is nothing to start."""
        self._config = config

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        """Send the task's messages as they are and give back the reply."""
        if self._config is None:
            raise HarnessError("raw was asked for a task before its set-up.")
        reply = self._config.chat(task.messages)
        return HarnessRunResult(
            final_text=reply.text,
            thinking=reply.thinking,
            finish_reason=reply.finish_reason,
            tool_calls=reply.tool_calls,
        )

    def teardown(self) -> None:
        """Nothing was started, so nothing is left."""
        self._config = None
