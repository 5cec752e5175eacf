"""What the adapters of all programs have in common: what is asked, read, and handed back.

An adapter asks with `ready` and `question`, reads its program's output with `json_object` or
`json_lines` into a `Said`, and hands that back with `result`. Everything that a program says is
untrusted: it is bounded, decoded with replacements, and cleared of control characters and of facts
of this machine.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bench_loop.contracts.chat import CallRecord, Message, ToolCall
from bench_loop.contracts.harness import (
    HarnessConfig,
    HarnessRunResult,
    Installation,
    ModelAccess,
)
from bench_loop.contracts.place import Ended, Folder, Place
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Limit
from bench_loop.errors import HarnessError, SetupError
from bench_loop.privacy import this_person
from bench_loop.programs.workspace import Changes
from bench_loop.result.fingerprint import tagged_hash

MOST_OUTPUT = 16_000_000
"""Bytes of a program's output, or of one file of its state, that are read."""
LONGEST_TEXT = 1_000_000
"""Characters of one text of a program that are kept."""
MOST_MESSAGES = 1_000
"""Messages of a transcript, and calls of a trial, that are kept: the first ones."""

ANY = "<any>"
ANY_ACCESS = ModelAccess("http://<any>/v1", ANY, ANY, 0, 0, 0.0)
"""Stand where a configuration is hashed for what differs from trial to trial, or is the model's."""

QUESTION_FILE = "question.txt"

_LARGEST = 1e15
"""Numbers beyond that are nothing that a program can have measured; some can't even be stored."""

Call = TypeVar("Call", ToolCall, CallRecord)

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_COLOURS = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))")


@dataclass(frozen=True, slots=True)
class Said:
    """What a program told of one task, by its output and the files of its state."""

    final_text: str = ""
    """The model's last words, without the program's own."""
    thinking: str = ""
    transcript: tuple[Message, ...] = ()
    """From the question on, which is included."""
    tool_calls: tuple[CallRecord, ...] = ()
    failure: str | None = None
    """Its own word for what went wrong; None: nothing, as far as it says."""
    limit: Limit | None = None
    """A limit of the program's own that ended its work."""
    tools_s: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


# --- Asking ---


def check_installed(name: str, installation: Installation, place: Place | None) -> str:
    """The version of the harness that is installed in `place`, which is the pinned one.

    Raises SetupError when there is none, or another.
    """
    package, pinned = package_and_version(installation.packages[0])
    found = None if place is None else found_version(installation, place.program.here)
    if found == pinned:
        return pinned
    wrong = f"{package} {found} is installed, not {pinned}" if found else "it is not installed"
    raise SetupError(
        f"The harness {name} cannot be run: {wrong}.",
        remedy=f"bench-loop harness install {name}",
    )


def package_and_version(pin: str) -> tuple[str, str]:
    """Name and version of `name==1.2.3` or `name@1.2.3`; a name may begin with `@scope/`."""
    separator = "==" if "==" in pin else "@"
    name, _, version = pin.rpartition(separator)
    return name, version


def found_version(installation: Installation, folder: Path) -> str | None:
    """Version of the harness's own package as it lies in `folder`; None: there is none."""
    package, _ = package_and_version(installation.packages[0])
    if installation.registry == "npm":
        try:
            told = json_object(
                read_bytes(folder / "node_modules" / package / "package.json"), package
            )
        except HarnessError:
            return None
        version = told.get("version")
        return version if isinstance(version, str) else None
    plain_name = re.sub(r"[-_.]+", "_", package)
    for found in sorted(folder.glob(f"lib/python3*/site-packages/{plain_name}-*.dist-info")):
        return found.name.removesuffix(".dist-info").rpartition("-")[2]
    return None


def ready(name: str, config: HarnessConfig | None) -> tuple[Place, ModelAccess]:
    """Place and model for the trial that is being run. Raises HarnessError when one is missing."""
    if config is None:
        raise HarnessError(f"{name} was asked for a task before its set-up.")
    if config.place is None or config.access is None:
        raise HarnessError(f"{name} was asked for a task without a place to run in or a gateway.")
    return config.place, config.access()


def question(task: BenchmarkTask) -> str:
    """What a program is asked: the task's prompt as it is; several messages become one text.

    Raises HarnessError for a task that brings tools of its own, which no text can give.
    """
    if task.tools and not is_workspace_task(task):
        raise HarnessError(f"{task.id} has tools of its own, which this harness does not take.")
    if len(task.messages) == 1:
        return task.messages[0].content
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in task.messages)


def is_workspace_task(task: BenchmarkTask) -> bool:
    """Whether the task's work is done on files with the program's own tools."""
    return task.tools == "workspace"


def files_of(task: BenchmarkTask) -> Mapping[str, str]:
    """The files with which the workspace was made ready: a question in words has none."""
    return task.files if is_workspace_task(task) else {}


def write_state(place: Place, path: str, content: str) -> str:
    """Write a file of the harness's own state; its path as the program sees it."""
    here = place.state.here / path
    here.parent.mkdir(parents=True, exist_ok=True)
    here.write_text(content, encoding="utf-8", errors="replace")
    return f"{place.state.inside}/{path}"


def write_question(place: Place, task: BenchmarkTask) -> str:
    """Write the question to a file, since an argument may not be that long; its path inside."""
    return write_state(place, QUESTION_FILE, question(task))


def fed(asked: str, path: str, program: str) -> tuple[str, ...]:
    """Words, before a program's own, by which it reads the file `asked` as standard input.

    For programs that change a question on their command line. The folder `path` comes first in
    PATH. All three are paths from inside.
    """
    return ("/bin/sh", "-c", 'PATH="$1:$PATH"; shift; exec "$@" <"$0"', asked, path, program)


def config_hash(settings: Mapping[str, Any]) -> str:
    """Fingerprint of a configuration, made with ANY and ANY_ACCESS: no port, key or path in it."""
    return tagged_hash(dict(settings))


# --- Reading ---


def read_bytes(path: Path) -> bytes:
    """A file of the program's state, its first MOST_OUTPUT bytes; empty where there is none.

    No link is followed, since a program may have put one there.
    """
    try:
        if path.is_symlink() or not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(MOST_OUTPUT)
    except OSError:
        return b""


def read_state(place: Place, path: str) -> str:
    """The text of a file of the harness's own state; empty where there is none.

    Raises HarnessError when the path leads out of the state folder by a link.
    """
    here = place.state.here / path
    if not _is_inside(here, place.state.here):
        raise HarnessError(f"{path} in the harness's state leads out of its folder.")
    return clean(read_bytes(here).decode(errors="replace"), longest=MOST_OUTPUT)


def _is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):  # RuntimeError: links in a circle
        return False


def json_object(output: bytes, whose: str) -> dict[str, Any]:
    """The JSON object that `output` is, or that begins at its first line with a brace.

    Raises HarnessError: there is none, it is too long or too deep. `whose` names the program.
    """
    start = 0 if output.lstrip().startswith(b"{") else output.find(b"\n{") + 1
    value = _json(output[start:], whose)
    if not isinstance(value, dict):
        raise HarnessError(f"The output of {whose} is no JSON object.")
    return value


def json_lines(output: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of an output with one on a line; other lines are left out."""
    for line in output[:MOST_OUTPUT].splitlines():
        if not line.lstrip().startswith(b"{"):
            continue
        try:
            value = _json(line, "")
        except HarnessError:
            continue
        if isinstance(value, dict):
            yield value


def objects(value: object) -> list[dict[str, Any]]:
    """The objects of what should be a list of them; what is none is left out."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def under(value: object, *keys: str) -> Any:
    """What lies at a path of keys in nested objects; None where it ends early."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def text_of(value: object) -> str:
    """A text as it is, nothing as nothing, any other JSON value as JSON."""
    if isinstance(value, str):
        return clean(value)
    return "" if value is None else clean(json.dumps(value, ensure_ascii=False))


def count_of(value: object) -> int | None:
    """A count that a program tells; None for everything that can be none."""
    is_count = type(value) is int and 0 <= value < 2**53
    return value if is_count and isinstance(value, int) else None


def clean(text: str, longest: int = LONGEST_TEXT) -> str:
    """Text of a stranger that may be stored: no colours, control characters or halves of pairs."""
    return _CONTROL.sub("\ufffd", _COLOURS.sub("", text[:longest].replace("\r\n", "\n")))


def _json(data: bytes, whose: str) -> Any:
    if len(data) > MOST_OUTPUT:
        raise HarnessError(f"The output of {whose} is longer than {MOST_OUTPUT:,} bytes.")
    try:
        return json.loads(data.decode(errors="replace"))
    except (ValueError, RecursionError) as error:
        raise HarnessError(f"The output of {whose} is no JSON.") from error


# --- Handing back ---


def result(ended: Ended, said: Said, changes: Changes, scrubber: Scrubber) -> HarnessRunResult:
    """What came of a trial; a program that had to be ended has met the limit on time.

    A `failure` is never an answer, but what the model had done by then is judged all the same.
    """
    limit: Limit | None = "wall" if ended.is_timed_out else said.limit
    failure = said.failure
    if failure is None and ended.used_up:
        failure = f"It used up the {ended.used_up} of its place."
    return HarnessRunResult(
        final_text=scrubber.answer(said.final_text),
        thinking=scrubber.text(said.thinking),
        finish_reason="stop" if limit is None else "limit",
        tool_calls=tuple(scrubber.call(call) for call in said.tool_calls[:MOST_MESSAGES]),
        files_changed=changes.files_changed,
        files=changes.files,
        diff=changes.diff,
        limit=limit,
        transcript=tuple(scrubber.message(one) for one in said.transcript[:MOST_MESSAGES]),
        started_at=ended.started_at,
        wall_s=ended.wall_s,
        tools_s=None if said.tools_s is None else min(said.tools_s, ended.wall_s),
        failure=None if failure is None else scrubber.text(failure)[:1000],
        metadata={
            **scrubber.value(said.metadata),
            "exit_status": ended.exit_status,
            "is_workspace_cut": changes.is_cut,
            "leftovers": ended.leftovers,
        },
    )


def broke(name: str, ended: Ended, scrubber: Scrubber) -> HarnessError:
    """For a program that ended by itself and did not say what it has to say."""
    words = scrubber.text(last_line(ended.stderr.strip() or ended.stdout))
    return HarnessError(f"{name} broke off with status {ended.exit_status}: {words}")


def last_line(output: bytes) -> str:
    """The last line of an output that is not empty, for a sentence that says why."""
    text = clean(output[-10_000:].decode(errors="replace"))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


def scrubbed(error: HarnessError, scrubber: Scrubber) -> HarnessError:
    """`error` in words that may be kept: it may quote what a program said."""
    return HarnessError(scrubber.text(error.message), remedy=error.remedy)


class Scrubber:
    """Takes what points to this machine and this trial out of texts that are kept."""

    def __init__(self, place: Place, access: ModelAccess) -> None:
        person = this_person()
        gateway = access.base_url.removesuffix("/v1")
        trial = {
            gateway: "<gateway>",
            gateway.partition("://")[2]: "<gateway>",
            access.key: "<key>",
            **dict.fromkeys(_spellings(place.workspace), "<workspace>"),
            **dict.fromkeys(_spellings(place.state), "<state>"),
            **dict.fromkeys(_spellings(place.program), "<program>"),
        }
        machine = {
            person.home: "<home>",
            platform.release(): "<kernel>",
            **dict.fromkeys(person.names, "<name>"),
        }
        self._of_trial = _Words(trial)
        self._of_all = _Words({**machine, **trial})

    def answer(self, text: str) -> str:
        """A text that is judged, without what only this trial can have put in.

        Names stay: the user may be called like somebody in the task.
        """
        return self._of_trial.replaced(clean(text))

    def text(self, text: str) -> str:
        """Any other text, without such facts, and as `clean` leaves it."""
        return self._of_all.replaced(clean(text))

    def value(self, value: Any) -> Any:
        """A JSON value with all its texts as `text` leaves them, and no number that is none."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, int | float) and not abs(value) <= _LARGEST:
            return None
        if isinstance(value, Mapping):
            return {self.text(str(key)): self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value

    def message(self, message: Message) -> Message:
        calls = tuple(self.call(call) for call in message.tool_calls)
        names = self._names(message, "name", "tool_call_id")
        content = self.text(message.content)
        return message.model_copy(update={**names, "content": content, "tool_calls": calls})

    def call(self, call: Call) -> Call:
        names = self._names(call, "id", "name")
        return call.model_copy(update={**names, "arguments": self.text(call.arguments)})

    def _names(self, of: Message | ToolCall | CallRecord, *fields: str) -> dict[str, str]:
        """Those of `fields` that hold a text; a tool may be called like the user."""
        values = {field: getattr(of, field) for field in fields}
        return {field: self.answer(text) for field, text in values.items() if text is not None}


class _Words:
    """Words, each with what is put in its place; the longest is looked for first."""

    def __init__(self, words: Mapping[str, str]) -> None:
        self._words = {word: put for word, put in words.items() if len(word) > 2}
        longest_first = sorted(self._words, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(_standing_alone, longest_first)))

    def replaced(self, text: str) -> str:
        return self._pattern.sub(lambda found: self._words[found[0]], text)


def _spellings(folder: Folder) -> set[str]:
    """The paths by which a program may name a folder."""
    return {str(folder.here), str(folder.here.resolve()), folder.inside}


def _standing_alone(word: str) -> str:
    """A pattern for a word as a whole; before a path anything may stand, as in `\\n/folder`.

    The letter of an escape is no part of the word after it, as in `{"output": "one\\nhost"}`.
    """
    before = "" if word.startswith("/") else r"(?:(?<![\w-])|(?<=\\[nrt]))"
    return rf"{before}{re.escape(word)}(?![\w-])"
