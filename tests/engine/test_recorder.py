"""The recorder: three tries, a control request between them, and a record of everything."""

from __future__ import annotations

import pytest

from bench_loop.contracts.chat import ChatReply, ChatRequest, Message, Sampling
from bench_loop.contracts.provider import Watch
from bench_loop.engine.recorder import Recorder, TrialSettings
from bench_loop.errors import EngineRejectedError, ModelNotFoundError, ProviderError
from tests.engine.doubles import ScriptedProvider, outage, reply

SETTINGS = TrialSettings(
    model_id="tiny",
    sampling=Sampling(),
    seed=1001,
    max_tokens=192,
    context_window=4096,
    wall_limit_s=30,
)
ASK = (Message(role="user", content="2 + 2?"),)


def recorder(provider: ScriptedProvider, pauses: list[float] | None = None) -> Recorder:
    made = Recorder(provider, pause=(pauses if pauses is not None else []).append)
    made.begin(SETTINGS)
    return made


def test_it_pins_model_seed_budget_and_window() -> None:
    provider = ScriptedProvider()
    recorder(provider).chat(ASK)
    sent = provider.requests[0]
    assert (sent.model_id, sent.seed, sent.max_tokens) == ("tiny", 1001, 192)
    assert (sent.context_window, sent.wall_limit_s) == (4096, 30)


def test_it_tries_again_after_an_outage_and_records_both_tries() -> None:
    made = recorder(ScriptedProvider([outage(503), reply("4")]))
    assert made.chat(ASK).text == "4"
    assert [(request.status, request.retry) for request in made.log.requests] == [
        (503, 0),
        (200, 1),
    ]
    assert made.log.retries == 1


def test_it_gives_up_after_three_tries_when_the_control_request_fails_too() -> None:
    provider = ScriptedProvider([outage()] * 3, control=outage())
    with pytest.raises(ProviderError) as caught:
        recorder(provider).chat(ASK)
    assert not isinstance(caught.value, EngineRejectedError)
    assert (len(provider.requests), provider.controls) == (3, 3)


def test_it_blames_the_stack_when_the_control_request_goes_through() -> None:
    with pytest.raises(EngineRejectedError) as caught:
        recorder(ScriptedProvider([outage(500)] * 3)).chat(ASK)
    assert caught.value.reason == "engine_crashed"


def test_a_server_that_hangs_on_the_control_request_is_not_healthy() -> None:
    provider = ScriptedProvider([outage()] * 3, control=reply("", finish_reason="limit"))
    with pytest.raises(ProviderError) as caught:
        recorder(provider).chat(ASK)
    assert not isinstance(caught.value, EngineRejectedError)


def test_it_keeps_the_reason_that_the_provider_gave() -> None:
    rejected = EngineRejectedError("No grammar fits.", reason="engine_rejected_output", status=500)
    with pytest.raises(EngineRejectedError) as caught:
        recorder(ScriptedProvider([rejected] * 3)).chat(ASK)
    assert caught.value.reason == "engine_rejected_output"


def test_it_does_not_repeat_a_prompt_that_cannot_fit() -> None:
    provider = ScriptedProvider([EngineRejectedError("Too long.", reason="context_overflow")])
    with pytest.raises(EngineRejectedError):
        recorder(provider).chat(ASK)
    assert (len(provider.requests), provider.controls) == (1, 0)


def test_it_does_not_repeat_what_is_refused_for_good() -> None:
    for error in (ProviderError("Wrong key.", status=401), ModelNotFoundError("Gone.")):
        provider = ScriptedProvider([error])
        with pytest.raises(ProviderError):
            recorder(provider).chat(ASK)
        assert len(provider.requests) == 1


def test_it_waits_longer_each_time() -> None:
    pauses: list[float] = []
    recorder(ScriptedProvider([outage(), outage(), reply()]), pauses).chat(ASK)
    assert pauses == [1.0, 2.0]


def test_it_honours_retry_after_up_to_a_minute() -> None:
    pauses: list[float] = []
    answers = [outage(429, retry_after_s=7.0), outage(429, retry_after_s=4000.0), reply()]
    recorder(ScriptedProvider(answers), pauses).chat(ASK)
    assert pauses == [7.0, 60.0]


def test_it_starts_every_trial_with_an_empty_log() -> None:
    made = recorder(ScriptedProvider())
    made.chat(ASK)
    made.begin(SETTINGS)
    assert (made.log.replies, made.log.requests) == ([], [])


def test_one_control_request_that_failed_keeps_the_blame_from_the_stack() -> None:
    class Restarting(ScriptedProvider):
        def chat(self, request: ChatRequest, watch: Watch | None = None) -> ChatReply:
            self._control = outage() if self.controls == 0 else reply("hello")
            return super().chat(request, watch)

    provider = Restarting([outage()] * 3)
    with pytest.raises(ProviderError) as caught:
        recorder(provider).chat(ASK)
    assert not isinstance(caught.value, EngineRejectedError)
    assert provider.controls == 3
