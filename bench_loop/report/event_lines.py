"""The events of a run for a program: one JSON object a line, with stable names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from bench_loop.engine.events import Event, RunFinished, RunStarted


def event_line(event: Event) -> str:
    """`event` as one line of JSON without its line break.

    `event` in it is the name of the class in small letters: `run_started`, `trial_finished`, ...;
    the other fields are those of the class. The result of `run_finished` comes without its trials,
    which came before; `kept` of `run_started` is their number.
    """
    return json.dumps({"event": name_of(type(event)), **_fields(event)}, ensure_ascii=True)


def name_of(event: type[Any]) -> str:
    """The stable name of a kind of event."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower()


def _fields(event: Event) -> dict[str, Any]:
    found = {field.name: _plain(getattr(event, field.name)) for field in fields(event)}
    if isinstance(event, RunStarted):
        found["kept"] = len(event.kept)
    if isinstance(event, RunFinished):
        found["result"].pop("trials")
    return found


def _plain(value: Any) -> Any:
    """`value` as JSON knows it."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value
