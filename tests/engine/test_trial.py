"""One task, once: what is recorded of it when it goes wrong."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench_loop.commands._setup import load_harness
from bench_loop.contracts.chat import ChatReply, ChatRequest, Sampling
from bench_loop.contracts.harness import HarnessConfig
from bench_loop.contracts.provider import Watch
from bench_loop.engine.packs import PackSuite, load_pack
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.trial import run_trial
from bench_loop.result.records import Trial
from tests.engine.doubles import CONTROL_PROMPT, ScriptedProvider, make_task, outage

SETTINGS = TrialSettings(
    model_id="tiny",
    sampling=Sampling(),
    seed=1001,
    max_tokens=192,
    context_window=4096,
    wall_limit_s=30,
)


def trial_of(provider: ScriptedProvider, folder: Path) -> Trial:
    recorder = Recorder(provider, pause=lambda seconds: None)
    harness = load_harness("raw")
    harness.setup(HarnessConfig(chat=recorder.chat, state_folder=folder))
    suite = PackSuite(load_pack("reasonmath"))
    return run_trial(suite, make_task(), 1, harness, recorder, SETTINGS)


def test_the_tries_of_an_engine_that_crashes_are_time_spent(tmp_path: Path) -> None:
    class SlowToCrash(ScriptedProvider):
        def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
            if request.messages[-1].content != CONTROL_PROMPT:
                time.sleep(0.02)
            return super().chat(request, watch)

    trial = trial_of(SlowToCrash([outage(500)] * 3), tmp_path)
    assert (trial.outcome, trial.reason) == ("fail", "engine_crashed")
    assert trial.latency_s is not None
    assert 0.06 <= trial.latency_s < 1.0


def test_the_time_of_an_outage_is_not_the_models(tmp_path: Path) -> None:
    # The scripted reply takes 2.6 s; the try before it failed at once.
    trial = trial_of(ScriptedProvider([outage(503)]), tmp_path)
    assert (trial.latency_s, trial.retries) == (pytest.approx(2.6), 1)
