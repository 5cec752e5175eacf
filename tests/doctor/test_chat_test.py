"""Three prompts to a model, and its template against the one in its file."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench_loop.doctor.chat_test import chat_test, template_of_file
from bench_loop.doctor.finding import Finding
from bench_loop.providers import embedded, ollama, openai_compat
from bench_loop.providers._gguf import chat_template
from tests.components import need_llama_cpp
from tests.fakes.ollama import FakeOllama
from tests.fakes.openai_server import FakeOpenAI
from tests.fakes.server import Reply
from tests.llama_cpp import LlamaCpp


def asked(answer: str, script: Sequence[Reply] = ()) -> Finding:
    """What is found where the model gives this answer to everything."""
    with FakeOllama(answer=lambda body: answer, script=script) as server:
        provider = ollama.connect(server.url, None)
        (finding,) = chat_test(provider, provider.model("tiny:1b"), 2048)
    return finding


def test_answers_that_begin_and_end_are_well() -> None:
    assert (asked("Hello.").code, asked("Hello.").severity) == ("chat_ok", "ok")


@pytest.mark.parametrize(
    "answer",
    [
        "Hello.<|im_end|>",
        "4 <end_of_turn>",
        "[INST] again",
        "Hello.</s>",
        "Hello.\n\nUser: and now?",
        "### Response:\nHello",
        "<|eot_id|><|start_header_id|>",
    ],
)
def test_a_piece_of_the_template_in_an_answer_is_found(answer: str) -> None:
    finding = asked(answer)
    assert (finding.code, finding.severity) == ("template_leaks", "error")
    assert finding.remedy


@pytest.mark.parametrize("answer", ["The user: nobody.", "1 < 2", "a <b> c", "I say: hello"])
def test_usual_text_is_no_piece_of_a_template(answer: str) -> None:
    assert asked(answer).code == "chat_ok"


def test_answers_without_end_are_found() -> None:
    finding = asked("la " * 400)
    assert (finding.code, finding.severity) == ("answers_endless", "warning")


def test_empty_answers_are_found() -> None:
    assert (asked("").code, asked("").severity) == ("answers_empty", "error")


def test_a_server_that_fails_is_found_with_its_own_words() -> None:
    broken = Reply(b'{"error": "llama runner process has terminated"}', status=500)
    finding = asked("Hello.", [broken])
    assert (finding.code, finding.severity) == ("chat_failed", "error")
    assert "llama runner process has terminated" in finding.evidence


@pytest.mark.real
def test_the_smallest_real_model_passes(real_server: LlamaCpp) -> None:
    provider = openai_compat.connect(real_server.url, None)
    model = provider.model(real_server.model_id)
    (talk,) = chat_test(provider, model, 8192)
    (own,) = template_of_file(provider, model)
    assert talk.code == "chat_ok"
    assert own.code == "file_template_ok"


@pytest.mark.real
def test_the_template_of_a_real_file_is_read() -> None:
    template = chat_template(need_llama_cpp())
    assert template is not None
    assert "<|im_start|>" in template


def number(value: int) -> bytes:
    return struct.pack("<Q", value)


def text(value: str) -> bytes:
    return number(len(value.encode())) + value.encode()


def gguf(template: str | None, version: int = 3) -> bytes:
    """The header of a file with values of every kind before the template."""
    values = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        text("a.flag") + struct.pack("<I", 7) + b"\x01",
        text("a.ratio") + struct.pack("<I", 6) + struct.pack("<f", 0.5),
        text("a.size") + struct.pack("<I", 10) + number(7),
        text("a.tokens") + struct.pack("<I", 9) + struct.pack("<I", 8) + number(2) + text("x") * 2,
        text("a.scores") + struct.pack("<I", 9) + struct.pack("<I", 6) + number(2) + b"\0" * 8,
    ]
    if template is not None:
        values.append(text("tokenizer.chat_template") + struct.pack("<I", 8) + text(template))
    head = b"GGUF" + struct.pack("<I", version) + number(0) + number(len(values))
    return head + b"".join(values)


def served(tmp_path: Path, data: bytes | None) -> tuple[Finding, ...]:
    """What is found where a llama.cpp with the template `{{ messages }}` serves this file."""
    file = tmp_path / "tiny.gguf"
    if data is not None:
        file.write_bytes(data)

    with FakeOpenAI(engine="llama.cpp", model_path=str(file)) as server:
        provider = openai_compat.connect(server.url, None)
        return template_of_file(provider, provider.model("tiny"))


@pytest.mark.parametrize(
    ("template", "code", "severity"),
    [
        ("{{ messages }}", "file_template_ok", "ok"),
        ("{{ other }}", "template_differs", "warning"),
        (None, "file_without_template", "warning"),
    ],
)
def test_the_servers_template_is_set_against_that_of_the_file(
    tmp_path: Path, template: str | None, code: str, severity: str
) -> None:
    (finding,) = served(tmp_path, gguf(template))
    assert (finding.code, finding.severity) == (code, severity)


HEAD = b"GGUF" + struct.pack("<I", 3) + number(0)
HOSTILE = {
    "no file": None,
    "empty": b"",
    "something else": b"PK\x03\x04" + b"\0" * 100,
    "an old version": gguf("x", version=1),
    "cut": gguf("{{ messages }}")[:-5],
    "a text of 2**62 bytes": HEAD + number(1) + number(2**62),
    "2**62 values": HEAD + number(2**62),
    "an unknown type": b"GGUF"
    + struct.pack("<I", 3)
    + number(0)
    + number(1)
    + text("a")
    + b"\x63\0\0\0",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_is_no_gguf_tells_nothing(tmp_path: Path, kind: str) -> None:
    assert served(tmp_path, HOSTILE[kind]) == ()


def test_a_path_that_is_no_file_is_not_opened() -> None:
    with FakeOpenAI(engine="llama.cpp", model_path="/dev/zero") as server:
        provider = openai_compat.connect(server.url, None)
        assert template_of_file(provider, provider.model("tiny")) == ()


@pytest.mark.real
def test_the_embedded_engine_uses_the_template_of_its_file() -> None:
    provider = embedded.start(str(need_llama_cpp()), 512, threads=1)
    try:
        model = provider.models()[0]
        (finding,) = template_of_file(provider, model)
    finally:
        provider.close()
    assert finding.code == "file_template_ok"
