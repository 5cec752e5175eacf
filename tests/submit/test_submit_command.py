"""`bench-loop submit`: what it asks, what it refuses, what it prints."""

from __future__ import annotations

import json
import os
import pty
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench_loop import cli
from bench_loop.config import results_folder
from bench_loop.result.fingerprint import fingerprinted
from bench_loop.result.signature import signed, signer_of
from bench_loop.result.store import to_bytes
from tests.site.make_result import make_result
from tests.submit.results import result_bytes, trial
from tests.submit.sites import ACCEPTED, Reply, Site, reply, running

KEY = "bl_abcdefgh_" + "x" * 43
LEAK = "sk-" + "a1B2c3D4e5F6" * 3


@pytest.fixture(autouse=True)
def no_site_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a site nor a key comes from the environment of whoever runs the tests."""
    monkeypatch.delenv("BENCHLOOP_SITE", raising=False)
    monkeypatch.delenv("BENCHLOOP_TOKEN", raising=False)


@pytest.fixture
def result_file(tmp_path: Path) -> Path:
    """A complete result on disk."""
    file = tmp_path / "result.json"
    file.write_bytes(result_bytes())
    return file


def submit(*arguments: str | Path) -> int:
    """The exit code of the command as a shell sees it."""
    with pytest.raises(SystemExit) as ended:
        cli.main(["submit", *map(str, arguments)])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def answer_at_terminal(arguments: list[str], keys: bytes) -> int:
    """The exit code of the command in a process with a terminal, at which `keys` are typed."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "bench_loop", "submit", *arguments],
        stdin=slave,
        stdout=subprocess.DEVNULL,
        stderr=slave,
        cwd=Path(__file__).parents[2],
    )
    os.close(slave)
    os.write(master, keys)
    try:
        return process.wait(30)
    finally:
        os.close(master)


@pytest.mark.parametrize("part", [slice(None), slice(-10, None)])
def test_a_run_may_be_named_by_its_id(part: slice, capfd: pytest.CaptureFixture[str]) -> None:
    run_id = json.loads(result_bytes())["run_id"]
    results_folder().mkdir(parents=True, exist_ok=True)
    (results_folder() / f"{run_id}.json").write_bytes(result_bytes())
    assert submit(run_id[part], "--print-payload") == 0
    assert json.loads(capfd.readouterr().out)["run_id"] == run_id


def test_a_pipe_is_no_consent(result_file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with running(Site()) as site:
        assert submit(result_file, "--site", site.url) == 2
    assert site.requests == []
    assert "--yes" in capfd.readouterr().err


def test_with_yes_the_result_is_sent_and_its_page_shown(
    result_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(Site()) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 0
    assert site.requests[0].body == result_file.read_bytes()
    assert capfd.readouterr().out.splitlines() == [
        "Submitted: pending, level reported.",
        f"{site.url}/runs/abcdefgh2345/",
        "You see it there when you are logged in, all others once a moderator approves.",
    ]


def test_a_yes_at_the_terminal_sends_it(result_file: Path) -> None:
    with running(Site()) as site:
        assert answer_at_terminal([str(result_file), "--site", site.url], b"y\n") == 0
    assert len(site.requests) == 1


@pytest.mark.parametrize("keys", [b"n\n", b"\n"])
def test_anything_else_at_the_terminal_sends_nothing(result_file: Path, keys: bytes) -> None:
    with running(Site()) as site:
        assert answer_at_terminal([str(result_file), "--site", site.url], keys) == 1
    assert site.requests == []


def test_the_payload_is_printed_to_the_byte_and_not_sent(
    result_file: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    with running(Site()) as site:
        assert submit(result_file, "--site", site.url, "--print-payload", "--yes") == 0
    assert capfdbinary.readouterr().out == result_file.read_bytes()
    assert site.requests == []


def test_the_payload_can_be_seen_without_any_site(result_file: Path) -> None:
    assert submit(result_file, "--print-payload") == 0


def test_latest_is_the_newest_result_of_the_data_folder(benchloop_home: Path) -> None:
    folder = benchloop_home / "results"
    folder.mkdir(parents=True)
    (folder / "latest.json").write_bytes(result_bytes())
    with running(Site()) as site:
        assert submit("latest", "--site", site.url, "--yes") == 0
    assert site.requests[0].body == result_bytes()


def test_no_site_is_an_error_with_the_remedy(
    result_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert submit(result_file, "--yes") == 2
    assert "BENCHLOOP_SITE" in capfd.readouterr().err


def test_a_missing_file_is_an_error_with_the_remedy(capfd: pytest.CaptureFixture[str]) -> None:
    assert submit("nowhere.json", "--print-payload") == 4
    assert "bench-loop run" in capfd.readouterr().err


def test_a_file_that_is_no_result_is_refused_with_its_field(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    document = json.loads(result_bytes())
    document["total_runtime_s"] = "long"
    file = tmp_path / "bad.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert submit(file, "--print-payload") == 4
    assert "total_runtime_s" in capfd.readouterr().err


@pytest.mark.parametrize("status", ["incomplete", "aborted"])
def test_an_incomplete_run_is_refused(
    tmp_path: Path, status: str, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "half.json"
    file.write_bytes(result_bytes(status=status))
    assert submit(file, "--print-payload") == 4
    assert "complete runs" in capfd.readouterr().err


def test_a_file_changed_after_the_run_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "edited.json"
    file.write_bytes(result_bytes().replace(b'"tiny"', b'"huge"'))
    assert submit(file, "--print-payload") == 4
    assert "fingerprint" in capfd.readouterr().err


def leaky_bytes(index: int = 0, **changes: Any) -> bytes:
    """A run with a key in what the model thought, of which no verdict depends."""
    made = make_result(suites=["reasonmath"])
    trials = list(made.trials)
    changes = changes or {"thinking": f"Use {LEAK} for that."}
    trials[index] = trials[index].model_copy(update=changes)
    return to_bytes(signed(fingerprinted(made.model_copy(update={"trials": tuple(trials)}))))


@pytest.fixture
def leaky_file(tmp_path: Path) -> Path:
    file = tmp_path / "leak.json"
    file.write_bytes(leaky_bytes())
    return file


def test_a_copy_without_private_text_is_sent_and_the_file_stays(
    leaky_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = leaky_file.read_bytes()
    with running(Site()) as site:
        assert submit(leaky_file, "--site", site.url, "--yes") == 0
    sent = json.loads(site.requests[0].body)
    assert sent["trials"][0]["thinking"] == "Use <key> for that."
    assert sent["scrubbed"]["counts"] == {"key": 1}
    assert signer_of(sent) is not None
    assert leaky_file.read_bytes() == before
    shown = capfd.readouterr().err
    assert "Taken out of the copy (1 place)" in shown
    assert "trials[0].thinking" in shown
    assert "no outcome and no score changes" in shown
    assert LEAK not in shown


def test_the_payload_is_that_of_the_copy(
    leaky_file: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert submit(leaky_file, "--print-payload") == 0
    printed = capfdbinary.readouterr().out
    with running(Site()) as site:
        assert submit(leaky_file, "--site", site.url, "--yes") == 0
    assert site.requests[0].body == printed


def test_the_file_itself_is_sent_when_private_text_is_allowed(leaky_file: Path) -> None:
    with running(Site()) as site:
        assert submit(leaky_file, "--site", site.url, "--yes", "--allow-private") == 0
    assert site.requests[0].body == leaky_file.read_bytes()


def test_what_would_be_judged_otherwise_is_not_sent(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Here no verdict can be told at all, since there is no such task."""
    file = tmp_path / "leak.json"
    file.write_bytes(result_bytes(trials=[trial(f"Use {LEAK} for that.")]))
    with running(Site()) as site:
        assert submit(file, "--site", site.url, "--yes") == 4
        assert submit(file, "--print-payload") == 4
    assert site.requests == []
    shown = capfd.readouterr()
    assert "trials[0].outcome" in shown.err
    assert "--allow-private" in shown.err
    assert shown.out == ""
    assert LEAK not in shown.err


def test_private_text_that_cannot_be_taken_out_is_not_sent_by_yes_alone(tmp_path: Path) -> None:
    file = tmp_path / "leak.json"
    file.write_bytes(leaky_bytes(transcript=({"/home/mueller/x": 1},)))
    with running(Site()) as site:
        assert submit(file, "--site", site.url, "--yes") == 4
        assert site.requests == []
        assert submit(file, "--site", site.url, "--yes", "--allow-private") == 0


def test_a_signed_file_that_was_changed_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "edited.json"
    data = to_bytes(signed(make_result(suites=["reasonmath"])))
    file.write_bytes(data.replace(b'"RTX 4090"', b'"RTX 5090"'))
    assert submit(file, "--print-payload") == 4
    assert "signature" in capfd.readouterr().err


def test_a_result_that_was_sent_is_not_sent_twice(
    result_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(Site()) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 0
        capfd.readouterr()
        assert submit(result_file, "--site", site.url, "--yes") == 0
        assert len(site.requests) == 1
        shown = capfd.readouterr().out
        assert "abcdefgh2345" in shown
        assert f"{site.url}/runs/abcdefgh2345/" in shown
        assert submit(result_file, "--site", site.url, "--yes", "--again") == 0
    assert len(site.requests) == 2


def test_a_scrubbed_result_that_was_sent_is_known_by_its_file(leaky_file: Path) -> None:
    with running(Site()) as site:
        assert submit(leaky_file, "--site", site.url, "--yes") == 0
        assert submit(leaky_file, "--site", site.url, "--yes") == 0
    assert len(site.requests) == 1


def test_sent_to_one_site_is_not_sent_to_another(result_file: Path) -> None:
    with running(Site()) as one, running(Site()) as other:
        assert submit(result_file, "--site", one.url, "--yes") == 0
        assert submit(result_file, "--site", other.url, "--yes") == 0
    assert len(other.requests) == 1


def test_a_dry_run_is_remembered_by_nobody(result_file: Path, benchloop_home: Path) -> None:
    with running(Site(reply(200, {"findings": []}))) as site:
        assert submit(result_file, "--site", site.url, "--yes", "--dry-run") == 0
    assert not (benchloop_home / "outbox").exists()


def several(folder: Path, count: int) -> list[Path]:
    """As many results of different runs."""
    files = []
    for number in range(count):
        file = folder / f"{number}.json"
        file.write_bytes(result_bytes(subject={**SUBJECT, "model_id": f"tiny-{number}"}))
        files.append(file)
    return files


SUBJECT = json.loads(result_bytes())["subject"]
REFUSED = reply(422, {"code": "invalid", "message": "Wrong.", "fields": {}})
UNKNOWN = reply(401, {"code": "authentication_failed", "message": "Who?"})


def test_several_are_sent_and_one_refused_holds_up_none(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = several(tmp_path, 3)
    with running(Site(ACCEPTED, REFUSED, ACCEPTED)) as site:
        assert submit(*files, "--site", site.url, "--yes") == 6
    assert [json.loads(one.body)["subject"]["model_id"] for one in site.requests] == [
        "tiny-0",
        "tiny-1",
        "tiny-2",
    ]
    assert capfd.readouterr().out.count("Submitted") == 2


def test_several_answers_are_a_list(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with running(Site(ACCEPTED, REFUSED)) as site:
        assert submit(*several(tmp_path, 2), "--site", site.url, "--yes", "--json") == 6
    first, second = json.loads(capfd.readouterr().out)
    assert first["status"] == "pending"
    assert "Wrong." in second["error"]


def test_what_could_not_be_sent_waits_for_the_user_alone(
    result_file: Path, benchloop_home: Path
) -> None:
    with running(Site(UNKNOWN)) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 6
    (file,) = (benchloop_home / "outbox" / "pending").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert json.loads(file.read_text(encoding="utf-8"))["payload"].encode() == (
        result_file.read_bytes()
    )


def test_what_waits_is_listed_and_sent(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = several(tmp_path, 2)
    with running(Site(UNKNOWN, UNKNOWN, ACCEPTED)) as site:
        assert submit(*files, "--site", site.url, "--yes") == 6
        for file in files:
            file.unlink()  # What was agreed to is kept apart from the file.
        capfd.readouterr()
        assert submit("--pending", "--yes") == 0
        assert len(site.requests) == 4
        shown = capfd.readouterr()
        assert "tiny-0" in shown.err
        assert "Who?" in shown.err
        assert submit("--pending", "--yes") == 0
    assert len(site.requests) == 4
    assert "Nothing waits" in capfd.readouterr().err


def test_of_what_waits_one_refused_holds_up_none(tmp_path: Path) -> None:
    with running(Site(UNKNOWN, UNKNOWN, REFUSED, ACCEPTED)) as site:
        assert submit(*several(tmp_path, 2), "--site", site.url, "--yes") == 6
        assert submit("--pending", "--yes") == 6
        assert len(site.requests) == 4
        assert submit("--pending", "--yes") == 0
    assert len(site.requests) == 4


def test_what_a_site_refused_for_good_does_not_wait(result_file: Path) -> None:
    with running(Site(REFUSED)) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 6
        assert submit("--pending", "--yes") == 0
    assert len(site.requests) == 1


def test_what_waits_needs_a_yes_too(result_file: Path) -> None:
    with running(Site(UNKNOWN)) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 6
        assert submit("--pending") == 2
        assert answer_at_terminal(["--pending"], b"n\n") == 1
        assert len(site.requests) == 1
        assert answer_at_terminal(["--pending"], b"y\n") == 6
    assert len(site.requests) == 2


def test_what_waits_can_be_forgotten(result_file: Path) -> None:
    with running(Site(UNKNOWN)) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 6
        assert submit("--pending", "--forget", "--yes") == 0
        assert submit("--pending", "--yes") == 0
    assert len(site.requests) == 1
    assert result_file.exists()


def test_of_what_waits_only_that_of_the_named_site_is_sent(result_file: Path) -> None:
    with running(Site(UNKNOWN)) as one, running(Site(UNKNOWN)) as other:
        for site in (one, other):
            assert submit(result_file, "--site", site.url, "--yes") == 6
        assert submit("--pending", "--yes", "--site", other.url) == 6
    assert (len(one.requests), len(other.requests)) == (1, 2)


def test_an_upload_that_is_interrupted_waits(result_file: Path) -> None:
    busy = reply(503, {"code": "busy", "message": "Busy."}, Retry_After="60")
    with running(Site(busy)) as site:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench_loop", "submit", result_file, "--yes"],
            env={**os.environ, "BENCHLOOP_SITE": site.url},
            stderr=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        assert process.stderr is not None
        for line in process.stderr:
            if b"try 2" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        process.stderr.close()
        assert process.wait(30) == 130
        assert b"--pending" in rest
        site.replies = [ACCEPTED]
        assert submit("--pending", "--yes") == 0


def test_a_damaged_file_among_what_waits_does_no_harm(
    result_file: Path, benchloop_home: Path
) -> None:
    with running(Site(UNKNOWN, ACCEPTED)) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 6
        for number, content in enumerate(["", "[]", '{"site": 1}', "[" * 100_000]):
            (benchloop_home / "outbox" / "pending" / f"{number}.json").write_text(content)
        assert submit("--pending", "--yes") == 0


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--pending", "latest"],
        ["--pending", "--dry-run"],
        ["--pending", "--print-payload"],
        ["--forget"],
        ["a.json", "b.json", "--print-payload"],
    ],
)
def test_what_does_not_go_together_is_a_wrong_argument(arguments: list[str]) -> None:
    assert submit(*arguments) == 2


def test_a_refusal_shows_code_and_fields(
    result_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    fields = {"suites[0].score": ["The trials give 40.0."]}
    refused = reply(422, {"code": "score_mismatch", "message": "Wrong.", "fields": fields})
    with running(Site(refused)) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 6
    shown = capfd.readouterr().err
    assert "suites[0].score: The trials give 40.0." in shown
    assert "score_mismatch" in shown


FINDING = {
    "severity": "review",
    "code": "fast",
    "field": "speed",
    "sentence": "Faster than its memory.",
    "numbers": {},
}


def test_a_dry_run_prints_what_the_site_found(
    result_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    checked = reply(200, {"would_be_accepted": True, "level": "reported", "findings": [FINDING]})
    with running(Site(checked)) as site:
        assert submit(result_file, "--site", site.url, "--yes", "--dry-run") == 0
    assert site.requests[0].path.endswith("?dry_run=1")
    shown = capfd.readouterr().out
    assert "would accept" in shown
    assert "review: speed: Faster than its memory." in shown


def test_a_dry_run_that_would_be_refused_exits_like_a_refusal(result_file: Path) -> None:
    checked = reply(200, {"would_be_accepted": False, "level": None, "findings": [FINDING]})
    with running(Site(checked)) as site:
        assert submit(result_file, "--site", site.url, "--yes", "--dry-run") == 6


@pytest.mark.parametrize("findings", [None, "text", [1, None, "\x1b[2J"], [{"sentence": []}]])
def test_odd_findings_of_a_site_do_no_harm(
    result_file: Path, findings: object, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(Site(reply(200, {"findings": findings}))) as site:
        assert submit(result_file, "--site", site.url, "--yes", "--dry-run") == 0
    assert "\x1b" not in capfd.readouterr().out


def test_a_dry_run_sends_bytes_too_and_so_needs_a_yes(result_file: Path) -> None:
    with running(Site()) as site:
        assert submit(result_file, "--site", site.url, "--dry-run") == 2
    assert site.requests == []


def test_json_is_the_answer_of_the_site_and_nothing_else(
    result_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with running(Site()) as site:
        assert submit(result_file, "--site", site.url, "--yes", "--json") == 0
    assert json.loads(capfd.readouterr().out)["status"] == "pending"


def test_escape_sequences_of_the_site_are_shown_harmless(
    result_file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hostile = reply(201, {"id": "a", "status": "\x1b[2J", "level": "\x07", "url": "\x1b]0;x\x07"})
    for options in ([], ["--json"]):
        with running(Site(hostile)) as site:
            assert submit(result_file, "--site", site.url, "--yes", *options) == 0
        assert not set(capfd.readouterr().out) & set("\x1b\x07")


def test_the_key_of_the_config_file_is_used(benchloop_home: Path, result_file: Path) -> None:
    benchloop_home.mkdir(parents=True, exist_ok=True)
    (benchloop_home / "config.toml").write_text(f'[site]\ntoken = "{KEY}"\n', encoding="utf-8")
    with running(Site()) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 0
    assert site.requests[0].headers["Authorization"] == f"Bearer {KEY}"


def test_the_key_is_never_printed(
    result_file: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("BENCHLOOP_TOKEN", KEY)
    with running(Site(Reply(401, b'{"code": "x", "message": "No."}'))) as site:
        assert submit(result_file, "--site", site.url, "--yes") == 6
    shown = capfd.readouterr()
    assert KEY not in shown.out + shown.err
