"""Writes an instance of a family as a task file, to be edited by hand and then kept as official.

    python -m scripts.freeze SUITE FAMILY SEED NUMBER NAME

writes instance NUMBER of SEED to `packs/SUITE/NAME.yaml`. Titles and notes want a writer's hand.
"""

from __future__ import annotations

import sys
from typing import Any

import yaml

from bench_loop.config import bundled
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.families import load_family

CANARY = "# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60"


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as blocks, so that a person can read them."""


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def task_file(task: BenchmarkTask, name: str) -> str:
    """The text of the task file `name`.yaml."""
    raw: dict[str, Any] = task.model_dump(mode="json", exclude={"suite"}, exclude_defaults=True)
    raw["id"] = f"{task.suite}.{name}"
    if [message["role"] for message in raw["messages"]] == ["user"]:
        raw["prompt"] = raw.pop("messages")[0]["content"]
    order = [field for field in BenchmarkTask.model_fields if field in raw or field == "messages"]
    at = order.index("messages")
    order[at : at + 1] = ["prompt"] if "prompt" in raw else ["messages"]
    ordered = {field: raw[field] for field in order}
    body = yaml.dump(ordered, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return f"{CANARY}\n{body}"


def main(suite: str, family: str, seed: str, number: str, name: str) -> None:
    folder = bundled("packs") / suite
    instance = load_family(folder, family).instances(int(seed), int(number))[-1]
    (folder / f"{name}.yaml").write_text(task_file(instance.task, name), encoding="utf-8")
    print(f"packs/{suite}/{name}.yaml: {instance.path}, answer {instance.answer}")


if __name__ == "__main__":
    main(*sys.argv[1:])
