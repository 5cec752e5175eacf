"""Packs: the suites' tasks as YAML files, read strictly.

`packs/<suite>/pack.yaml` describes a suite; every other YAML file beside it is one task and is
named after the task's id (`reasonmath.rain-tank-overflow` is `rain-tank-overflow.yaml`). A pack
with `on_files` has no task files: its tasks are those of the pack beside it that this names, put
on a workspace (on_files.py).

The pack hash covers everything that can change a prompt or a verdict: name, version, dimension,
convention, settings, profiles, the speed texts and, of each task, its id, messages, verifier,
expected block, expected turns, limits, files, protected files, tools and scripted replies. It
leaves out what cannot: titles, descriptions, notes, difficulty, tags, family, reference and example
answers, comments and the layout of the files.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from bench_loop.config import bundled
from bench_loop.contracts.chat import FinishReason, Sampling
from bench_loop.contracts.harness import HarnessRunResult
from bench_loop.contracts.record import Record, TaggedHash
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask, Convention
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.engine.capabilities import CAPABILITIES
from bench_loop.engine.generators import family_file, load_generator
from bench_loop.engine.on_files import CONVENTION, SOURCE_CONVENTION, on_files
from bench_loop.engine.profiles import CONTEXT_WINDOW
from bench_loop.engine.strict_yaml import load_strict
from bench_loop.engine.workspace import artifacts, texts
from bench_loop.errors import PackError
from bench_loop.registry import pick
from bench_loop.result.fingerprint import tagged_hash
from bench_loop.result.records import Trial
from bench_loop.verifiers.code import find_files
from bench_loop.verifiers.expectation import field_path
from bench_loop.verifiers.judging import judge, needs_sandbox, task_prompt_hash, verifier_of

MANIFEST = "pack.yaml"
MOST_OF_A_FAMILY = 2
"""Official tasks of one family in a suite."""

Dimension = Literal["quality", "speed"]
PackProfile = Literal["smoke", "quick", "core", "full", "harness"]
"""The profiles to which a pack assigns tasks."""


class PackSettings(Record):
    """How the trials of a suite are run (METHODOLOGY.md 4)."""

    trials: int = Field(1, ge=1, le=10, description="Trials of each task.")
    sampling: Sampling = Sampling()
    context_window: int = Field(
        CONTEXT_WINDOW, ge=512, le=1_048_576, description="Window in tokens that its tasks need."
    )


class NamedDraw(Record):
    """A task whose prompt is too long for its file: the draw of a family that makes it."""

    family: str
    path: str
    seed: int = Field(ge=0)
    prompt_hash: TaggedHash = Field(description="Of the messages; a draw with another is refused.")


class Manifest(Record):
    """The content of `pack.yaml`."""

    name: str = Field(pattern=r"^[a-z_]+$")
    title: str = Field(min_length=1)
    version: str = Field(pattern=r"^\d+\.\d+$")
    dimension: Dimension
    description: str = Field(min_length=1)
    convention: Convention = "whole_reply"
    on_files: str | None = Field(
        None,
        pattern=r"^[a-z_]+$",
        description="The pack beside it whose tasks it puts on a workspace; it has no others.",
    )
    profiles: dict[PackProfile, tuple[str, ...] | Literal["all"]]
    settings: PackSettings = PackSettings()
    texts: dict[str, str] = Field({}, description="Name to file: what speed prompts are cut from.")
    earlier: dict[str, TaggedHash] = Field(
        {}, description="Versions before this one, with their hashes: such runs stay apart."
    )


@dataclass(frozen=True, slots=True)
class Pack:
    """A suite as its files describe it."""

    name: str
    title: str
    version: str
    dimension: Dimension
    description: str
    convention: Convention
    settings: PackSettings
    pack_hash: str
    tasks: tuple[BenchmarkTask, ...]
    """In the order of their ids."""
    profiles: Mapping[str, tuple[str, ...]]
    """Task ids of each profile, in the order of `tasks`."""
    texts: Mapping[str, str]
    """For the speed suite: prose, code and log, from which prompts are cut."""
    folder: Path
    source: Pack | None = None
    """The pack whose tasks it puts on a workspace; None: its tasks are its own."""
    fresh_seed: int | None = None
    """Seed that its tasks were drawn with (`fresh_pack`); None: they are those of its files."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Of a fresh pack: by profile, the official tasks that have no family; `custom`: of all."""
    is_private: bool = False
    """It is a person's own: never uploaded, never ranked."""
    earlier: Mapping[str, str] = field(default_factory=dict)
    """Its versions before this one, with their hashes."""

    def left_out_of(self, profile: str) -> int | None:
        """Official tasks of `profile` without a fresh instance; None: it is no fresh pack."""
        return self.left_out.get(profile)

    def output(
        self, text: str, *, thinking: str = "", finish_reason: FinishReason = "stop"
    ) -> Output:
        """What a model wrote, as the verdicts of this suite read it."""
        return Output(
            text=text,
            thinking=thinking,
            finish_reason=finish_reason,
            convention=self.convention,
        )

    def stored_output(self, trial: Trial) -> Output:
        """What came out of a stored trial, to be judged again."""
        return Output(
            text=trial.output or "",
            thinking=trial.thinking or "",
            tool_calls=trial.tool_calls,
            files=texts(trial.artifacts) if self.convention == "workspace" else None,
            limit=trial.limit,
            finish_reason=trial.finish_reason or "stop",
            convention=self.convention,
        )

    @property
    def needs_sandbox(self) -> bool:
        """Whether one of its tasks, or the verdict on it, runs code that a model wrote."""
        return any(map(runs_programs, self.tasks))


@dataclass(frozen=True, slots=True)
class PackSuite:
    """The BenchmarkSuite of a pack. Without a `sandbox`, tasks that need one can't be judged."""

    pack: Pack
    sandbox: Sandbox | None = None

    @property
    def name(self) -> str:
        return self.pack.name

    def tasks(self) -> list[BenchmarkTask]:
        return list(self.pack.tasks)

    def evaluate(self, run_result: HarnessRunResult, task: BenchmarkTask) -> TaskScore:
        has_files = self.pack.convention == "workspace" and run_result.files is not None
        output = Output(
            text=run_result.final_text,
            thinking=run_result.thinking,
            tool_calls=run_result.tool_calls,
            files=texts(artifacts(run_result.files or {})) if has_files else None,
            limit=run_result.limit,
            finish_reason=run_result.finish_reason,
            convention=self.pack.convention,
        )
        return judge(output, task, self.sandbox)


def runs_programs(task: BenchmarkTask) -> bool:
    """Whether the task, or the verdict on it, has a program run."""
    return task.tools == "workspace" or needs_sandbox(task)


def pack_names(folder: Path | None = None) -> list[str]:
    """The packs in `folder` (default: the ones that came with this installation), sorted."""
    return sorted(file.parent.name for file in (folder or bundled("packs")).glob(f"*/{MANIFEST}"))


@cache
def official_versions() -> dict[str, str]:
    """The version of every pack that came with this installation; no task is read for it."""
    folder = bundled("packs")
    return {name: read_manifest(folder / name).version for name in pack_names()}


@cache
def load_pack(name: str, folder: Path | None = None) -> Pack:
    """The pack `name` of `folder`. Raises UsageError for an unknown name, PackError for a bad file.

    Read once per process.
    """
    folder = folder or bundled("packs")
    pick("suite", name, pack_names(folder))
    return read_pack(folder / name)


def read_pack(folder: Path) -> Pack:
    """The pack whose files are in `folder`. Raises PackError that names file, field and reason."""
    file = f"{folder.name}/{MANIFEST}"
    manifest = read_manifest(folder)
    source = _source(folder, manifest)
    if source is None:
        tasks = tuple(read_task(path, manifest.name) for path in task_files(folder))
        _check_families(folder, tasks)
    else:
        tasks = tuple(_checked(on_files(task, manifest.name)) for task in source.tasks)
    if manifest.dimension == "quality" and not tasks:
        raise PackError(file, None, "there is no task beside it")
    if manifest.dimension == "speed" and not manifest.texts:
        raise PackError(file, "texts", "a speed pack needs the texts that prompts are cut from")
    ids = tuple(task.id for task in tasks)
    profiles: dict[str, tuple[str, ...]] = {
        profile: _profile_ids(file, profile, named, ids)
        for profile, named in manifest.profiles.items()
    }
    texts = {name: _read_text(folder / text, file, name) for name, text in manifest.texts.items()}
    pack = Pack(
        name=manifest.name,
        title=manifest.title,
        version=manifest.version,
        dimension=manifest.dimension,
        description=manifest.description,
        convention=manifest.convention,
        settings=manifest.settings,
        pack_hash="",
        tasks=tasks,
        profiles=profiles,
        texts=texts,
        folder=folder,
        source=source,
        earlier=manifest.earlier,
    )
    return hashed(pack)


def _source(folder: Path, manifest: Manifest) -> Pack | None:
    """The pack whose tasks this one puts on a workspace; None: it has its own."""
    if manifest.on_files is None:
        return None
    file = f"{folder.name}/{MANIFEST}"
    if manifest.convention != CONVENTION:
        raise PackError(file, "convention", f"must be {CONVENTION}, as its tasks are put on files")
    if own := task_files(folder):
        raise PackError(f"{folder.name}/{own[0].name}", None, "its pack has the tasks of another")
    beside = folder.parent / manifest.on_files
    if not (beside / MANIFEST).is_file():
        raise PackError(file, "on_files", f"there is no pack {manifest.on_files!r} beside it")
    if read_manifest(beside).convention != SOURCE_CONVENTION:
        reason = f"must be a pack whose answers are {SOURCE_CONVENTION}"
        raise PackError(file, "on_files", reason)
    return read_pack(beside)


def _check_families(folder: Path, tasks: tuple[BenchmarkTask, ...]) -> None:
    count = Counter(task.family for task in tasks if task.family)
    for task in tasks:
        if task.family is None:
            continue
        file = f"{folder.name}/{task.id.partition('.')[2]}.yaml"
        if not family_file(folder, task.family).is_file():
            raise PackError(file, "family", f"there is no generator {task.family!r}")
        if count[task.family] > MOST_OF_A_FAMILY:
            raise PackError(file, "family", f"more than {MOST_OF_A_FAMILY} tasks are of this one")


def read_manifest(folder: Path) -> Manifest:
    """The `pack.yaml` of `folder` alone. Raises PackError."""
    file = f"{folder.name}/{MANIFEST}"
    manifest = _record(Manifest, _load(folder / MANIFEST), file)
    if manifest.name != folder.name:
        raise PackError(file, "name", f"must be the folder's name, {folder.name!r}")
    return manifest


def task_files(folder: Path) -> list[Path]:
    """The task files of a pack, in the order of their ids."""
    return sorted(path for path in folder.glob("*.yaml") if path.name != MANIFEST)


def read_task(path: Path, suite: str) -> BenchmarkTask:
    """The task of `suite` in the file `path`, its expected block checked by its verifier.

    Raises PackError.
    """
    file = f"{path.parent.name}/{path.name}"
    task = _read_task_file(path, _load(path), suite)
    if task.id != f"{suite}.{path.stem}":
        raise PackError(file, "id", f"must be '{suite}.{path.stem}', as the file is named")
    return _checked(task)


def _checked(task: BenchmarkTask) -> BenchmarkTask:
    """`task`, its expected block checked by its verifier. Raises PackError."""
    verifier_of(task).check(task)
    return task


def read_lone_task(path: Path) -> BenchmarkTask:
    """The task in a file that belongs to no pack: its id names the suite. Raises PackError."""
    raw = _load(path)
    task_id = raw.get("id")
    suite = task_id.partition(".")[0] if isinstance(task_id, str) else ""
    return _checked(_read_task_file(path, raw, suite))


def _read_task_file(path: Path, raw: dict[str, Any], suite: str) -> BenchmarkTask:
    """The task that the file `path` describes by `raw`, itself or by naming a draw."""
    file = f"{path.parent.name}/{path.name}"
    if "drawn" not in raw:
        return read_raw_task(raw, suite, file)
    named = _record(NamedDraw, {"family": raw.get("family"), **_mapping(raw.pop("drawn"))}, file)
    if unwanted := {"prompt", "messages"} & raw.keys():
        raise PackError(file, min(unwanted), "is given by the draw")
    generator = load_generator(path.parent, named.family)
    if named.path not in generator.paths:
        raise PackError(file, "drawn.path", f"{generator.file} has no path {named.path!r}")
    # Of the text alone: the same on every machine and in every version of Python.
    seed = f"{path.parent.name}.{named.family}.{named.path}.{named.seed}"
    drawn = generator.first(Random(seed), named.path)  # noqa: S311 - a repeatable draw
    task = read_raw_task({**drawn.raw, **raw}, suite, file)
    if (found := task_prompt_hash(task)) != named.prompt_hash:
        raise PackError(file, "drawn.prompt_hash", f"the generator makes another prompt: {found}")
    return task


def _mapping(value: Any) -> dict[str, Any]:
    """`value` if it is a mapping; that it must be one, the missing fields tell."""
    return value if isinstance(value, dict) else {}


def read_raw_task(raw: dict[str, Any], suite: str, file: str) -> BenchmarkTask:
    """The task of `suite` that `raw` describes as a task file does; its expected block is not
    looked at. Raises PackError, naming `file`.
    """
    if "suite" in raw:
        raise PackError(file, "suite", "is not given in the file; the folder says it")
    if ("prompt" in raw) == ("messages" in raw):
        raise PackError(file, "prompt", "give either prompt or messages")
    if "prompt" in raw:
        raw["messages"] = [{"role": "user", "content": raw.pop("prompt")}]
    raw["files"] = _files(raw, file)
    task = _record(BenchmarkTask, {**raw, "suite": suite}, file)
    for tag in task.capability_tags:
        if tag not in CAPABILITIES:
            raise PackError(file, "capability_tags", f"{tag!r} is not a known capability")
    if unknown := [path for path in task.protected if path not in task.files]:
        raise PackError(file, "protected", f"{unknown[0]!r} is none of the files")
    return task


def _files(raw: Mapping[str, Any], file: str) -> Any:
    """The task's files; `{from_prompt: true}` stands for what the prompt shows under that path."""
    files = raw.get("files", {})
    if not isinstance(files, dict):
        return files
    wanted = [path for path, text in files.items() if text == {"from_prompt": True}]
    messages = [one for one in _list(raw["messages"]) if isinstance(one, dict)]
    prompt = "\n".join(str(message.get("content", "")) for message in messages)
    shown = find_files(prompt, dict.fromkeys(files, ""), list(files)).files
    if missing := [path for path in wanted if path not in shown]:
        raise PackError(file, f"files.{missing[0]}", "the prompt does not show this file")
    return {**files, **{path: shown[path] for path in wanted}}


def _list(value: Any) -> list[Any]:
    """`value` if it is a list; what it is instead, the schema tells."""
    return value if isinstance(value, list) else []


def _profile_ids(
    file: str, profile: str, named: tuple[str, ...] | Literal["all"], ids: tuple[str, ...]
) -> tuple[str, ...]:
    """The ids that a profile names, in the order of the tasks."""
    if named == "all":
        return ids
    for task_id in named:
        if task_id not in ids:
            raise PackError(file, f"profiles.{profile}", f"there is no task {task_id!r}")
        if named.count(task_id) > 1:
            raise PackError(file, f"profiles.{profile}", f"{task_id!r} is named twice")
    return tuple(task_id for task_id in ids if task_id in named)


def hashed(pack: Pack) -> Pack:
    """`pack` under the hash of what it holds."""
    described = {"title", "difficulty", "capability_tags", "notes", "family"}
    examples = {"suite", "reference", "also_right", "near_misses"}
    pack_hash = tagged_hash(
        {
            "name": pack.name,
            "version": pack.version,
            "dimension": pack.dimension,
            "convention": pack.convention,
            "settings": pack.settings.model_dump(mode="json"),
            "profiles": {profile: list(ids) for profile, ids in pack.profiles.items()},
            "texts": dict(pack.texts),
            "tasks": [
                task.model_dump(mode="json", exclude=described | examples) for task in pack.tasks
            ],
        }
    )
    return replace(pack, pack_hash=pack_hash)


Checked = TypeVar("Checked", bound=BaseModel)


def _record(record: type[Checked], raw: Mapping[str, Any], file: str) -> Checked:
    """`raw` as a strict record; JSON is the way in, so that a list may fill a tuple."""
    try:
        return record.model_validate_json(json.dumps(raw, allow_nan=False))
    except ValidationError as error:
        field, reason = field_path(error)
        raise PackError(file, field or None, reason) from error
    except ValueError as error:
        raise PackError(file, None, f"holds a number that JSON does not know: {error}") from error


def _load(path: Path) -> dict[str, Any]:
    file = f"{path.parent.name}/{path.name}"
    raw = load_strict(_read_text(path, file, None), file)
    if not isinstance(raw, dict):
        raise PackError(file, None, "must be a mapping of fields")
    return raw


def _read_text(path: Path, file: str, name: str | None) -> str:
    """The file's text, line ends as `\\n`, so that a checkout's setting changes no hash."""
    field = f"texts.{name}" if name else None
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise PackError(file, field, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise PackError(file, field, "is not UTF-8") from error
