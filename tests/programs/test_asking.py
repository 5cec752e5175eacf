"""Tests of what adapters share: what a program is asked, read of, and what is handed back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench_loop.contracts.chat import CallRecord, Message, ToolCall
from bench_loop.contracts.harness import HarnessConfig, HarnessRunResult, Installation, ModelAccess
from bench_loop.contracts.place import Command, Ended, Folder, Place, PlaceKind
from bench_loop.contracts.task import BenchmarkTask, Replies, ReplyRule, Tool
from bench_loop.engine.recorder import Recorder
from bench_loop.errors import HarnessError, SetupError
from bench_loop.programs import asking
from bench_loop.programs.asking import Said, Scrubber
from bench_loop.programs.workspace import Changes
from tests.engine.doubles import ScriptedProvider

ACCESS = ModelAccess("http://127.0.0.1:4711/v1", "key-of-this-trial", "model", 8192, 300, 10.0)
NPM = Installation("npm", ("@maker/tool@1.2.3",), "bin/tool", "MIT", "https://example.org", 1)
PYPI = Installation("pypi", ("some-tool==1.2.3",), "bin/tool", "MIT", "https://example.org", 1)


@dataclass(frozen=True, slots=True)
class Folders:
    """A place that runs nothing."""

    program: Folder
    state: Folder
    workspace: Folder
    kind: PlaceKind = "direct"
    commands: list[Command] = field(default_factory=list)

    def run(self, command: Command) -> Ended:
        raise AssertionError("nothing is run here")

    def serve(self, command: Command, port: int) -> None:
        raise AssertionError("nothing is run here")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folders = {}
    for name in ("program", "state", "workspace"):
        (tmp_path / name).mkdir()
        folders[name] = Folder(tmp_path / name, f"/bench/{name}")
    return Folders(**folders)


def task(*messages: Message, **fields: object) -> BenchmarkTask:
    values: dict[str, object] = {
        "suite": "agent",
        "id": "agent.small",
        "title": "Small",
        "difficulty": "easy",
        "capability_tags": ("parsing",),
        "verifier_type": "artifact",
        "notes": "None.",
        "messages": messages or (Message(role="user", content="What is 2 + 2?"),),
        "expected": {},
        "reference": "4",
    }
    return BenchmarkTask.model_validate(values | fields)


def changes(files: Mapping[str, bytes] | None = None) -> Changes:
    return Changes(files=files or {}, files_changed=tuple(files or ()), diff="the diff")


def handed_back(place: Place, said: Said, **ended: object) -> HarnessRunResult:
    values: dict[str, object] = {"exit_status": 0, "stdout": b"", "stderr": b"", "wall_s": 2.0}
    done = Ended(**(values | ended))
    return asking.result(done, said, changes({"a.py": b"1\n"}), Scrubber(place, ACCESS))


# --- Asking ---


def test_one_message_is_asked_as_it_stands() -> None:
    assert asking.question(task()) == "What is 2 + 2?"


def test_several_messages_become_one_text_with_their_roles() -> None:
    messages = (Message(role="system", content="Be brief."), Message(role="user", content="Hello."))
    assert asking.question(task(*messages)) == "[system]\nBe brief.\n\n[user]\nHello."


def test_a_task_with_tools_of_its_own_cannot_be_asked() -> None:
    tool = Tool(name="look", description="Looks.", parameters={"type": "object"})
    replies = Replies(rules=(ReplyRule(tool="look", reply=1),))
    with pytest.raises(HarnessError, match=r"agent\.small has tools of its own"):
        asking.question(task(tools=(tool,), replies=replies))


def test_only_a_workspace_task_has_files_in_its_workspace() -> None:
    assert asking.files_of(task(files={"a.py": "1"}, tools="workspace")) == {"a.py": "1"}
    assert asking.files_of(task(files={"a.py": "1"})) == {}


def test_the_question_goes_into_a_file_that_the_program_can_read(place: Place) -> None:
    inside = asking.write_question(place, task())
    assert inside == "/bench/state/question.txt"
    assert (place.state.here / "question.txt").read_text() == "What is 2 + 2?"


def test_a_task_before_set_up_is_refused() -> None:
    with pytest.raises(HarnessError, match="before its set-up"):
        asking.ready("tool", None)


def test_a_task_without_a_gateway_is_refused(place: Place) -> None:
    config = HarnessConfig(Recorder(ScriptedProvider()).chat, place.state.here, place=place)
    with pytest.raises(HarnessError, match="without a place to run in or a gateway"):
        asking.ready("tool", config)


def test_the_model_is_asked_for_anew_for_each_task(place: Place) -> None:
    given = iter([ACCESS, ACCESS])
    config = HarnessConfig(
        Recorder(ScriptedProvider()).chat, place.state.here, None, lambda: next(given), place
    )
    assert asking.ready("tool", config) == (place, ACCESS)
    asking.ready("tool", config)
    assert list(given) == []


# --- The installed version ---


def installed_npm(place: Place, version: object) -> None:
    folder = place.program.here / "node_modules" / "@maker" / "tool"
    folder.mkdir(parents=True)
    (folder / "package.json").write_text(json.dumps({"version": version}))


def test_the_version_of_a_node_package_is_read_from_the_package(place: Place) -> None:
    installed_npm(place, "1.2.3")
    assert asking.check_installed("tool", NPM, place) == "1.2.3"


def test_the_version_of_a_python_package_is_read_from_the_package(place: Place) -> None:
    packages = place.program.here / "lib" / "python3.11" / "site-packages"
    (packages / "some_tool-1.2.3.dist-info").mkdir(parents=True)
    (packages / "some_tool_more-9.9.dist-info").mkdir()
    assert asking.check_installed("tool", PYPI, place) == "1.2.3"


def test_another_version_than_the_pinned_one_is_refused(place: Place) -> None:
    installed_npm(place, "1.2.4")
    with pytest.raises(SetupError, match=r"@maker/tool 1\.2\.4 is installed, not 1\.2\.3") as error:
        asking.check_installed("tool", NPM, place)
    assert error.value.remedy == "bench-loop harness install tool"


@pytest.mark.parametrize("installation", [NPM, PYPI])
def test_a_program_that_is_not_there_is_named(place: Place, installation: Installation) -> None:
    with pytest.raises(SetupError, match="it is not installed"):
        asking.check_installed("tool", installation, place)


def test_a_version_that_is_no_text_is_none(place: Place) -> None:
    installed_npm(place, 1.2)
    assert asking.found_version(NPM, place.program.here) is None


# --- Reading ---


@pytest.mark.parametrize("output", [b'{"a": 1}', b'\n  banner\n{"a": 1}\n'])
def test_an_object_is_read_with_or_without_a_banner(output: bytes) -> None:
    assert asking.json_object(output, "tool") == {"a": 1}


@pytest.mark.parametrize(
    "output",
    [b"", b"[1]", b'{"a": ', b"{" * 100_000, b'{"a": ' + b"9" * 5000 + b"}", b"\xff"],
)
def test_what_is_no_object_breaks_the_protocol(output: bytes) -> None:
    with pytest.raises(HarnessError, match="The output of tool is no JSON"):
        asking.json_object(output, "tool")


def test_an_output_that_is_too_long_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_OUTPUT", 10)
    with pytest.raises(HarnessError, match="longer than 10 bytes"):
        asking.json_object(b'{"a": "0123456789"}', "tool")


def test_lines_that_hold_no_object_are_left_out() -> None:
    output = b'banner\n{"a": 1}\n[2]\n{"b": \n{"b": 2}\n'
    assert list(asking.json_lines(output)) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (None, ""), ({"a": "ä"}, '{"a": "ä"}'), (3, "3"), ("\ud800", "\ufffd")],
)
def test_any_value_can_be_kept_as_text(value: object, text: str) -> None:
    assert asking.text_of(value) == text


@pytest.mark.parametrize(("value", "count"), [(3, 3), (-1, None), (True, None), (2**60, None)])
def test_only_a_count_is_a_count(value: object, count: int | None) -> None:
    assert asking.count_of(value) == count


def test_colours_and_control_characters_are_not_kept() -> None:
    dirty = "\x1b[31mred\x1b[0m \x1b]0;title\x07\x00tab\there\r\nend"
    assert asking.clean(dirty) == "red \ufffdtab\there\nend"


def test_a_long_text_is_cut() -> None:
    assert asking.clean("abc", longest=2) == "ab"


def test_a_missing_file_of_the_state_is_empty(place: Place) -> None:
    assert asking.read_state(place, "log.txt") == ""


def test_no_link_is_followed_out_of_the_state(place: Place, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (place.state.here / "log.txt").symlink_to(tmp_path / "secret")
    with pytest.raises(HarnessError, match="leads out of its folder"):
        asking.read_state(place, "log.txt")


def test_a_folder_of_the_state_that_is_a_link_is_not_followed(place: Place, tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_text("secret")
    (place.state.here / "logs").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(HarnessError, match="leads out of its folder"):
        asking.read_state(place, "logs/log.txt")


def test_links_in_a_circle_lead_nowhere(place: Place) -> None:
    (place.state.here / "logs").symlink_to(place.state.here / "logs")
    with pytest.raises(HarnessError, match="leads out of its folder"):
        asking.read_state(place, "logs/log.txt")


# --- Handing back ---


def test_a_program_that_had_to_be_ended_met_the_limit_on_time(place: Place) -> None:
    made = handed_back(place, Said("half"), exit_status=None, is_timed_out=True)
    assert (made.limit, made.finish_reason, made.final_text) == ("wall", "limit", "half")


def test_a_limit_of_the_programs_own_is_told(place: Place) -> None:
    made = handed_back(place, Said(limit="turns"))
    assert (made.limit, made.finish_reason) == ("turns", "limit")


def test_the_workspace_is_handed_back_as_it_was_found(place: Place) -> None:
    made = handed_back(place, Said())
    assert made.files == {"a.py": b"1\n"}
    assert (made.files_changed, made.diff) == (("a.py",), "the diff")


def test_what_the_place_saw_is_in_the_metadata(place: Place) -> None:
    made = handed_back(place, Said(metadata={"own": 1}), exit_status=3, leftovers=2)
    assert made.metadata == {
        "own": 1,
        "exit_status": 3,
        "leftovers": 2,
        "is_workspace_cut": False,
    }


def test_a_transcript_without_end_is_cut(place: Place) -> None:
    endless = tuple(Message(role="assistant", content=str(at)) for at in range(2000))
    assert len(handed_back(place, Said(transcript=endless)).transcript) == asking.MOST_MESSAGES


def test_a_tool_takes_no_longer_than_the_program(place: Place) -> None:
    assert handed_back(place, Said(tools_s=1e9)).tools_s == 2.0


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, -(10**16)])
def test_a_number_that_cannot_be_kept_is_none(place: Place, number: float) -> None:
    made = handed_back(place, Said(metadata={"usage": number}))
    assert made.metadata["usage"] is None


def test_every_text_that_is_handed_back_can_be_written(place: Place) -> None:
    half = "\ud800"
    call = ToolCall(id=half, name=half, arguments=half)
    said = Said(
        final_text=half,
        thinking=half,
        transcript=(
            Message(role="assistant", content=half, tool_calls=(call,)),
            Message(role="tool", content=half, tool_call_id=half, name=half),
        ),
        tool_calls=(CallRecord(id=half, name=half, arguments=half, turn=1),),
        failure=half,
        metadata={half: half},
    )
    made = handed_back(place, said)
    kept = [made.final_text, made.thinking, made.failure, *made.metadata]
    written = [one.model_dump_json() for one in (*made.transcript, *made.tool_calls)]
    assert half not in "".join([*written, *filter(None, kept)])


def test_a_program_that_broke_off_is_told_by_its_last_words(place: Place) -> None:
    ended = Ended(1, b"out\n", b"first\nno /bench/state/x\n\n", 1.0)
    error = asking.broke("tool", ended, Scrubber(place, ACCESS))
    assert error.message == "tool broke off with status 1: no <state>/x"


def test_a_fingerprint_does_not_hang_on_the_order_of_settings() -> None:
    assert asking.config_hash({"a": 1, "b": (2,)}) == asking.config_hash({"b": [2], "a": 1})


# --- Scrubbing ---


@pytest.fixture
def scrubber(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Scrubber:
    monkeypatch.setattr("socket.gethostname", lambda: "paloma-laptop")
    monkeypatch.setattr("getpass.getuser", lambda: "paloma")
    monkeypatch.setattr("platform.release", lambda: "6.1.0-28-amd64")
    monkeypatch.setenv("HOME", "/home/paloma")
    return Scrubber(place, ACCESS)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("wrote /bench/workspace/a.py", "wrote <workspace>/a.py"),
        ("in /bench/workspaces", "in /bench/workspaces"),
        (r'{"text": "line\n/bench/state/x"}', r'{"text": "line\n<state>/x"}'),
        ("GET http://127.0.0.1:4711/v1/models", "GET <gateway>/v1/models"),
        ("connect 127.0.0.1:4711", "connect <gateway>"),
        ("Bearer key-of-this-trial", "Bearer <key>"),
        ("/home/paloma/notes", "<home>/notes"),
        ("paloma@paloma-laptop", "<name>@<name>"),
        ("Linux 6.1.0-28-amd64 x86", "Linux <kernel> x86"),
        (r'{"output": "paloma\n6.1.0-28-amd64\n"}', r'{"output": "<name>\n<kernel>\n"}'),
    ],
)
def test_what_points_to_the_machine_is_taken_out(scrubber: Scrubber, text: str, kept: str) -> None:
    assert scrubber.text(text) == kept


def test_the_real_folders_are_taken_out_as_well(scrubber: Scrubber, place: Place) -> None:
    assert scrubber.text(f"in {place.workspace.here}/a.py") == "in <workspace>/a.py"


def test_an_answer_keeps_names_since_a_task_may_ask_for_one(scrubber: Scrubber) -> None:
    assert scrubber.answer("paloma wrote /bench/workspace/a.py") == "paloma wrote <workspace>/a.py"


def test_an_error_that_quotes_a_program_is_scrubbed(scrubber: Scrubber) -> None:
    error = asking.scrubbed(HarnessError("It said: /home/paloma", remedy="Do."), scrubber)
    assert (error.message, error.remedy) == ("It said: <home>", "Do.")


def test_calls_and_metadata_are_scrubbed_too(place: Place) -> None:
    arguments = '{"path": "/bench/workspace/a.py"}'
    said = Said(
        transcript=(
            Message(
                role="assistant",
                content="/bench/workspace",
                tool_calls=(ToolCall(name="read", arguments=arguments),),
            ),
        ),
        tool_calls=(CallRecord(name="read", arguments=arguments),),
        failure="no /bench/state",
        metadata={"log": ["/bench/state/log"]},
    )
    made = handed_back(place, said)
    assert "/bench" not in f"{made.transcript} {made.tool_calls} {made.failure} {made.metadata}"


def output(words: tuple[str, ...], **env: str) -> bytes:
    return subprocess.run(words, env=env, capture_output=True, check=True).stdout


def test_a_program_reads_the_question_to_the_byte(tmp_path: Path) -> None:
    asked = tmp_path / "the question.txt"
    asked.write_bytes(b' "$HOME" `ls` \\ \xc3\xa9\n\n')
    assert output(asking.fed(str(asked), "/first", "/bin/cat")) == asked.read_bytes()


def test_the_folder_comes_first_in_the_programs_path(tmp_path: Path) -> None:
    asked = tmp_path / "question.txt"
    asked.touch()
    told = output(asking.fed(str(asked), "/first", "/usr/bin/env"), PATH="/bin")
    assert b"PATH=/first:/bin\n" in told
