"""Probes of a real llama.cpp server: answers that repeat, and a window that is what it says."""

from __future__ import annotations

from contextlib import closing

import pytest

from bench_loop.contracts.chat import Sampling
from bench_loop.engine.packs import load_pack
from bench_loop.engine.probes import Probes
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.engine.speed_plans import Rates
from bench_loop.engine.speed_prompts import PromptMaker
from bench_loop.providers import embedded
from tests.components import need_llama_cpp

WINDOW = 1024


@pytest.mark.real
@pytest.mark.slow
def test_a_real_server_is_probed() -> None:
    with closing(embedded.start(str(need_llama_cpp()), WINDOW)) as provider:
        model_id = provider.models()[0].model_id
        settings = TrialSettings(model_id, Sampling(), 1001, 16, WINDOW, 120.0)
        probes = Probes(Recorder(provider), settings)
        determinism = probes.determinism()
        prompts = PromptMaker(load_pack("speed").texts, provider, model_id)
        usable = probes.usable(prompts, WINDOW, Rates(1e4, 1e3), 60.0)
    assert determinism is not None
    assert determinism.prompts == 3
    assert determinism.identical >= 1
    # A model this small may fail to repeat a marker: then that is what is told.
    if usable.tokens is None:
        assert usable.why_not
    else:
        assert 400 < usable.tokens <= WINDOW
