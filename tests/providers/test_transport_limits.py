"""A request ends in time and with the right error, whatever the server does."""

from __future__ import annotations

import gc
import socket
import time

import pytest

from bench_loop.contracts.chat import ChatReply
from bench_loop.errors import EngineRejectedError, ModelNotFoundError, ProviderError
from bench_loop.providers._transport import _CollectorPause
from bench_loop.providers.openai_compat import OpenAICompat
from tests.fakes.openai_server import Engine, FakeOpenAI, choice, error_reply, event
from tests.fakes.server import FOREVER, FakeServer, Piece, Reply, Request, endless
from tests.providers.replay import question, reply_of

WORD = "\n".join(event({"choices": [choice({"content": "a "})]})).encode() + b"\n"
SSE = "text/event-stream"


class Silent(FakeServer):
    """Takes every request and answers none."""

    def answer(self, request: Request) -> Reply:
        return Reply(pause_s=FOREVER)


def chat_with(script: Reply, wall_limit_s: float = 20.0, engine: Engine = "unknown") -> ChatReply:
    with FakeOpenAI(script=[script], engine=engine) as server:
        return OpenAICompat(server.url, None).chat(question(wall_limit_s=wall_limit_s))


def refusal(script: Reply) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        chat_with(script, engine="llama.cpp")
    return caught.value


def test_a_stream_without_end_is_cut_at_the_limit() -> None:
    began = time.monotonic()
    reply = chat_with(Reply(endless(WORD), content_type=SSE), wall_limit_s=1.0)
    took_s = time.monotonic() - began
    assert reply.finish_reason == "limit"
    assert reply.text.startswith("a a a ")
    # The limit holds from before the connection is made, the latency is counted from sending.
    assert 1.0 <= took_s < 15
    assert reply.latency_s < took_s


def test_a_stream_that_falls_silent_is_cut_at_the_limit() -> None:
    pieces = [Piece(WORD), Piece(WORD, FOREVER)]
    reply = chat_with(Reply(pieces, content_type=SSE), wall_limit_s=0.3)
    assert (reply.finish_reason, reply.text) == ("limit", "a ")
    assert reply.latency_s < 2


def test_a_server_that_says_nothing_at_all_is_cut_at_the_limit() -> None:
    reply = chat_with(Reply(pause_s=FOREVER), wall_limit_s=0.3)
    assert (reply.finish_reason, reply.text, reply.t_first_byte_s) == ("limit", "", None)


def test_a_line_cut_in_the_middle_by_the_limit_is_left_out() -> None:
    pieces = [Piece(WORD + b'data: {"choi'), Piece(b"x", FOREVER)]
    reply = chat_with(Reply(pieces, content_type=SSE), wall_limit_s=0.3)
    assert (reply.finish_reason, reply.text) == ("limit", "a ")


def test_the_first_token_is_timed_from_sending() -> None:
    pieces = [Piece(WORD, 0.25), Piece(b"data: [DONE]\n\n", 0.1)]
    reply = chat_with(Reply(pieces, content_type=SSE))
    assert reply.t_first_answer_s == pytest.approx(0.25, abs=0.1)
    assert reply.latency_s == pytest.approx(0.35, abs=0.15)


def test_a_connection_lost_in_the_middle_is_a_crash_of_the_engine() -> None:
    error = refusal(Reply([Piece(WORD)], content_type=SSE, is_cut=True))
    assert isinstance(error, EngineRejectedError)
    assert error.reason == "engine_crashed"


def test_a_connection_closed_without_an_answer_is_a_crash_of_the_engine() -> None:
    error = refusal(Reply(status=0))
    assert isinstance(error, EngineRejectedError)
    assert error.reason == "engine_crashed"


def test_a_stream_that_stops_without_saying_so_is_a_crash_of_the_engine() -> None:
    error = refusal(Reply([Piece(WORD)], content_type=SSE))
    assert "ended too early" in str(error)


def test_a_refused_connection_is_transient_and_has_a_remedy() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(ProviderError, match="does not answer at") as caught:
            OpenAICompat(f"http://127.0.0.1:{port}", None).chat(question())
    assert caught.value.is_transient
    assert caught.value.remedy is not None


def test_a_server_that_never_answers_a_question_about_itself_is_given_up() -> None:
    with Silent() as server:
        began = time.monotonic()
        with pytest.raises(ProviderError, match=r"within 0\.2 s"):
            OpenAICompat(server.url, None, answer_limit_s=0.2).server()
        assert time.monotonic() - began < 2


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_an_overloaded_server_is_transient_and_names_its_delay(status: int) -> None:
    reply = error_reply(status, "busy", "unavailable_error")
    error = refusal(Reply(reply.body, status=status, headers={"Retry-After": "7"}))
    assert (error.is_transient, error.retry_after_s, error.status) == (True, 7.0, status)


def test_an_absurd_delay_is_bounded() -> None:
    error = refusal(Reply(b"{}", status=503, headers={"Retry-After": "99999999999"}))
    assert error.retry_after_s == 300.0


@pytest.mark.parametrize("status", [401, 403])
def test_a_missing_key_names_the_variable_to_set(status: int) -> None:
    error = refusal(error_reply(status, "bad key", "authentication_error"))
    assert "BENCHLOOP_API_KEY" in (error.remedy or "")
    assert not error.is_transient


def test_a_missing_model_has_its_own_error() -> None:
    assert isinstance(refusal(reply_of("ollama", "v1_chat_404")), ModelNotFoundError)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (reply_of("llamacpp", "err_stream_context_overflow"), "context_overflow"),
        (reply_of("llamacpp", "err_tool_output_not_parsable"), "engine_rejected_output"),
        (reply_of("llamacpp", "err_stream_tool_output_not_parsable"), "engine_rejected_output"),
        (error_reply(400, "This model's maximum context length is 4096", "x"), "context_overflow"),
        (error_reply(400, "tools are not supported", "invalid"), "engine_rejected_output"),
        (error_reply(500, "CUDA error: an illegal memory access", "server"), "engine_crashed"),
        (Reply(b"<h1>Internal Server Error</h1>", status=500), "engine_crashed"),
    ],
)
def test_what_the_engine_refuses_has_the_reason_code_of_the_trial(
    reply: Reply, reason: str
) -> None:
    error = refusal(reply)
    assert isinstance(error, EngineRejectedError)
    assert error.reason == reason


def test_an_error_page_is_shown_as_one_short_line() -> None:
    error = refusal(Reply(b"<h1>\x1b[31mBad\x00\n" + b"x" * 9999, status=500))
    assert len(str(error)) < 400
    assert str(error).isprintable()


def test_each_request_has_a_connection_of_its_own() -> None:
    with FakeOpenAI() as server:
        provider = OpenAICompat(server.url, None)
        for _ in range(20):
            assert provider.chat(question()).text == "ANSWER: 4"
        assert {request.headers["Connection"] for request in server.requests} == {"close"}


def collecting_while_timed(words: int) -> list[bool]:
    """Whether Python looked for cycles, at each token of an answer of `words`."""
    pieces = [Piece(WORD) for _ in range(words)] + [Piece(b"data: [DONE]\n")]
    seen: list[bool] = []
    with FakeOpenAI(script=[Reply(pieces, content_type=SSE)], engine="unknown") as server:
        provider = OpenAICompat(server.url, None)
        provider.chat(question(), lambda _: seen.append(gc.isenabled()))
        provider.close()
    return seen


def test_no_search_for_cycles_falls_into_a_timed_stream() -> None:
    assert gc.isenabled()
    assert collecting_while_timed(3) == [False] * 3
    assert gc.isenabled()


def test_a_stream_that_fails_lets_the_search_go_on() -> None:
    refusal(Reply(b"{}", status=500))
    assert gc.isenabled()


def test_the_search_goes_on_after_the_last_of_several_streams() -> None:
    pause = _CollectorPause()
    with pause.held():
        with pause.held():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_search_that_somebody_turned_off_stays_off() -> None:
    gc.disable()
    try:
        assert collecting_while_timed(1) == [False]
        assert not gc.isenabled()
    finally:
        gc.enable()
