"""A whole matrix on a server of known success rates and costs: its tables must find them again.

Three models in raw and in two harnesses answer each task rightly by chances that are drawn from a
seed; both harnesses add known tokens, requests and time. Everything between is the product's own:
gateway, runs, journals, verdicts, results, statistics.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean, variance
from typing import Any

import pytest

from bench_loop.commands._setup import load_harness, prepare
from bench_loop.config import runs_folder
from bench_loop.contracts.chat import Message
from bench_loop.contracts.harness import HarnessAdapter, HarnessConfig, HarnessRunResult
from bench_loop.contracts.provider import Addressed, Provider
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.blocks import Block, Turn
from bench_loop.engine.harness_limits import harness_limits
from bench_loop.engine.matrix import ModelWork, OpenMatrix
from bench_loop.engine.plan import RunPlan, make_plan
from bench_loop.engine.recorder import Recorder
from bench_loop.engine.run import Run
from bench_loop.engine.run_folder import OpenRun, known_run
from bench_loop.engine.speed_plans import UNMEASURED_WALL_LIMIT_S
from bench_loop.engine.trials import raw_behind_gateway
from bench_loop.errors import NeedsError
from bench_loop.providers import openai_compat
from bench_loop.result.store import load
from bench_loop.scoring.matrix import Matrix, MatrixHarness, MatrixModel, matrix_of
from tests.engine.test_queue import asked
from tests.fakes.server import FakeServer, Piece, Reply, Request, json_reply
from tests.gateway.gated import events

SUITE = "reasonmath"
TRIALS = 3
MODELS = {"low": 0.25, "middle": 0.5, "high": 0.75}
"""Chance of a right answer in raw."""
HARNESSES = {"raw": 0.0, "helps": 0.15, "harms": -0.2}
"""What is added to that chance."""
PREFACE_TOKENS = {"raw": 0, "helps": 1_000, "harms": 250}
"""What each harness puts before the task, of four characters each."""
ASKS_BEFORE = {"raw": 0, "helps": 1, "harms": 2}
"""Requests that it makes before the task's own."""
OWN_S = {"raw": 0.0, "helps": 0.02, "harms": 0.04}
"""What it does by itself, in seconds a task."""


class Server(FakeServer):
    """Answers a task rightly with the chance of its model and harness; four characters a token."""

    def __init__(self, plan: RunPlan) -> None:
        super().__init__()
        (suite,) = plan.quality_suites
        self._right = {task.messages[-1].content: str(task.reference) for task in suite.tasks}

    def answer(self, request: Request) -> Reply:
        if request.path == "/v1/models":
            return json_reply({"data": [{"id": name, "object": "model"} for name in MODELS]})
        if request.path != "/v1/chat/completions":
            return json_reply({"error": "nothing here"}, status=404)
        messages = [str(one["content"]) for one in request.json["messages"]]
        text = self._said(request.json["model"], messages, request.json.get("seed"))
        return Reply(
            [Piece(piece) for piece in self._stream(text, sum(map(len, messages)) // 4)],
            content_type="text/event-stream",
        )

    def _said(self, model: str, messages: Sequence[str], seed: int | None) -> str:
        task = messages[-1]
        if task not in self._right:
            return "OK"
        harness = messages[0].split()[0] if len(messages) > 1 else "raw"
        chance = MODELS[model] + HARNESSES[harness]
        draw = random.Random(f"{model} {harness} {task} {seed}").random()
        return self._right[task] if draw < chance else "ANSWER: -1"

    def _stream(self, text: str, prompt_tokens: int) -> Iterator[bytes]:
        for event in events({"content": text}):
            yield event.replace(b'"prompt_tokens": 12', b'"prompt_tokens": %d' % prompt_tokens)


class Costly:
    """A harness in this process that adds what its name says; it answers with the model's words."""

    version = "1"
    capabilities = load_harness("raw").capabilities
    needs = load_harness("raw").needs
    installation = None
    config_hash = None

    def __init__(self, name: str) -> None:
        self.name = name
        self._config: HarnessConfig | None = None

    def setup(self, config: HarnessConfig) -> None:
        self._config = config

    def run_task(self, task: BenchmarkTask) -> HarnessRunResult:
        assert self._config is not None
        began = time.perf_counter()
        preface = f"{self.name} ".ljust(4 * PREFACE_TOKENS[self.name], "-")
        system = Message(role="system", content=preface)
        for _ in range(ASKS_BEFORE[self.name]):
            self._config.chat([system, Message(role="user", content="Ready?")])
        reply = self._config.chat([system, *task.messages])
        time.sleep(OWN_S[self.name])
        return HarnessRunResult(reply.text, wall_s=time.perf_counter() - began)

    def teardown(self) -> None:
        self._config = None


@dataclass
class Work:
    """What `bench-loop matrix` does for each model, with harnesses that are no programs."""

    url: str
    output: Path
    plan: RunPlan
    refused: Mapping[str, NeedsError]
    provider: Provider | None = None
    model_id: str = ""

    @contextmanager
    def opened(self, model_id: str, harnesses: Sequence[str]) -> Iterator[ModelWork]:
        with closing(openai_compat.connect(self.url, None)) as provider:
            self.provider, self.model_id = provider, model_id
            yield self

    def run(self, harness: str, run_id: str, turn: Turn) -> None:
        assert isinstance(self.provider, Addressed)
        adapter: HarnessAdapter = load_harness("raw") if harness == "raw" else Costly(harness)
        setup = replace(prepare(self.provider, self.model_id, adapter), gated=self.provider)
        goes_on = known_run(run_id) is not None
        resumed = OpenRun.resumed(runs_folder() / run_id) if goes_on else None
        new_id = None if goes_on else run_id
        args: Any = (self.plan, setup, self.output, lambda event: None)
        Run(*args, resumed=resumed, run_id=new_id, turn=turn).go()

    def expected_s(self, harness: str, block: Block) -> float | None:
        return None


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Matrix]:
    """The tables of one matrix, run once for all tests."""
    output = tmp_path_factory.mktemp("matrix")
    plan = make_plan(suites=[SUITE], trials=TRIALS)
    with pytest.MonkeyPatch.context() as patch, Server(plan) as server:
        patch.setenv("BENCHLOOP_HOME", str(output / "home"))
        work = Work(server.url, output, plan, {})
        with OpenMatrix.begun(tuple(MODELS), tuple(HARNESSES), asked(output), None) as opened:
            matrix = opened.work_through(work, lambda event: None)
        assert {arm.state for arm in matrix.arms} == {"complete"}
        yield matrix_of([load(output / f"{arm.run_id}.json") for arm in matrix.arms])


def arms(found: Matrix) -> Iterator[tuple[MatrixModel, MatrixHarness]]:
    for model in found.models:
        for harness in found.harnesses:
            yield model, harness


def chance(model: MatrixModel, harness: MatrixHarness) -> float:
    return MODELS[model.model_id] + HARNESSES[harness.name]


def test_scores_and_pass_cubed_hold_the_true_chances(found: Matrix) -> None:
    missed = []
    for model, harness in arms(found):
        cell, p = found.cells[model, harness, SUITE], chance(model, harness)
        for estimate, truth in ((cell.score, 100 * p), (cell.pass_cubed, 100 * p**3)):
            assert estimate is not None
            assert estimate.low is not None
            assert estimate.high is not None
            if not estimate.low <= truth <= estimate.high:
                missed.append((model.model_id, harness.name, truth, estimate))
    # Eighteen intervals of 95 %: one may miss.
    assert len(missed) <= 1, missed


def test_the_difference_to_raw_holds_what_each_harness_adds(found: Matrix) -> None:
    missed = []
    for (model, harness), pair in found.against_raw.items():
        assert pair.quality is not None
        assert pair.is_one_matrix
        truth = 100 * HARNESSES[harness.name]
        if not pair.quality.low <= truth <= pair.quality.high:
            missed.append((model.model_id, harness.name, pair.quality))
    assert len(found.against_raw) == 6
    # Six intervals of 95 %: one may miss.
    assert len(missed) <= 1, missed


def test_tokens_and_requests_are_found_to_the_last_one(found: Matrix) -> None:
    for (_, harness), pair in found.against_raw.items():
        assert pair.costs is not None
        assert pair.costs.prompt is not None
        before = ASKS_BEFORE[harness.name]
        question = len("Ready?") // 4
        whole = (before + 1) * PREFACE_TOKENS[harness.name] + before * question
        assert pair.costs.prompt.amount.value == pytest.approx(whole, abs=before + 1)
    for (_, harness), figures in found.arms.items():
        assert figures.requests is not None
        assert figures.requests.value == 1 + ASKS_BEFORE[harness.name]
        assert figures.completion is not None
        assert figures.completion.value == 100


def test_what_it_takes_by_itself_is_in_the_time_that_is_added(found: Matrix) -> None:
    for (_, harness), pair in found.against_raw.items():
        assert pair.costs is not None
        warm = pair.costs.both_judged.warm
        assert warm is not None
        # What its requests beyond raw's take is on top; a busy machine only adds.
        assert warm.amount.value > OWN_S[harness.name]
        assert pair.costs.both_judged.cold is not None


def test_the_parts_of_the_variance_hold_the_true_ones(found: Matrix) -> None:
    assert found.variance is not None
    table = found.variance.table
    assert not table.is_descriptive
    truths = {
        "model": variance(MODELS.values()),
        "harness": variance(HARNESSES.values()),
        "trial to trial": mean(
            chance(model, harness) * (1 - chance(model, harness)) for model, harness in arms(found)
        ),
    }
    whole = sum(truths.values())
    shares = {part.source: part.share for part in table.parts}
    for source, truth in truths.items():
        share = shares[source]  # type: ignore[index]
        assert share.low is not None
        assert share.high is not None
        assert share.low <= 100 * truth / whole <= share.high, source


def test_a_program_has_more_time_and_raw_what_its_settings_say() -> None:
    plan = make_plan(suites=[SUITE])
    task = plan.quality_suites[0].tasks[0]
    provider = openai_compat.connect("http://127.0.0.1:9", None)
    assert isinstance(provider, Addressed)
    recorder = Recorder(provider)
    with raw_behind_gateway(load_harness("raw"), recorder, provider, None, None) as trials:
        limit_s = trials.wall_limit_s(task, 256)
    assert limit_s == UNMEASURED_WALL_LIMIT_S
    assert f"{limit_s:g} s" in plan.wall_limit_rule
    assert harness_limits(task, None, 256).wall_s > limit_s
    provider.close()
