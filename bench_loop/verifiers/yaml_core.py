"""YAML 1.2 with the core schema (yaml.org/spec/1.2.2, section 10.3), and nothing beyond it.

`NO` and `12:30:45` are text, `1.10` is a number; no timestamps, no merge keys, no foreign tags.
"""

from __future__ import annotations

import math
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

_TAG = "tag:yaml.org,2002:"
_NULL = re.compile(r"|~|null|Null|NULL")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]{1,400}")
_OCTAL = re.compile(r"0o[0-7]{1,400}")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,400}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


class YamlRefusedError(ValueError):
    """The text is not one such document; the first argument is the reason."""


def load_yaml(text: str) -> Any:
    """The value of the one document in `text`. Raises YamlRefusedError.

    Reasons: `invalid_yaml`, `multiple_values`, `duplicate_key`, `unsafe_tag`, `non_finite`.
    """
    builder = _Builder()
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            builder.take(event)
    except YamlRefusedError:
        raise
    except (YAMLError, ValueError, RecursionError, AttributeError, TypeError, IndexError):
        raise YamlRefusedError("invalid_yaml") from None
    return builder.value()


class _Builder:
    """Builds plain values out of parser events, without recursion."""

    def __init__(self) -> None:
        self._documents = 0
        self._anchors: dict[str, Any] = {}
        self._open: list[tuple[Any, list[Any], str | None]] = []
        self._roots: list[Any] = []

    def value(self) -> Any:
        if len(self._roots) != 1:
            raise YamlRefusedError("multiple_values" if self._roots else "invalid_yaml")
        return self._roots[0]

    def take(self, event: Event) -> None:
        if isinstance(event, DocumentStartEvent):
            self._documents += 1
            if self._documents > 1:
                raise YamlRefusedError("multiple_values")
        elif isinstance(event, MappingStartEvent | SequenceStartEvent):
            _require_tag(event, "map" if isinstance(event, MappingStartEvent) else "seq")
            kind: Any = dict if isinstance(event, MappingStartEvent) else list
            self._open.append((kind, [], event.anchor))
        elif isinstance(event, CollectionEndEvent):
            kind, parts, anchor = self._open.pop()
            self._add(_mapping(parts) if kind is dict else parts, anchor)
        elif isinstance(event, ScalarEvent):
            self._add(_scalar(event), event.anchor)
        elif isinstance(event, AliasEvent):
            if event.anchor not in self._anchors:
                raise YamlRefusedError("invalid_yaml")
            self._add(self._anchors[event.anchor], None)

    def _add(self, value: Any, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = value
        (self._open[-1][1] if self._open else self._roots).append(value)


def _mapping(parts: list[Any]) -> dict[str, Any]:
    """Keys and values in turn as a dict; keys are compared and kept as JSON would write them."""
    keys = parts[0::2]
    if any(isinstance(key, dict | list) for key in keys):
        raise YamlRefusedError("invalid_yaml")
    record = dict(zip(map(_key, keys), parts[1::2], strict=True))
    if len(record) != len(keys):
        raise YamlRefusedError("duplicate_key")
    return record


def _key(key: Any) -> str:
    return key if isinstance(key, str) else f"{key!r}"


def _require_tag(event: NodeEvent, name: str) -> None:
    tag = _tag_of(event)
    if tag not in {None, "!", _TAG + name}:
        raise YamlRefusedError("unsafe_tag")


def _tag_of(event: NodeEvent) -> str | None:
    tag = getattr(event, "tag", None)
    return None if tag is None else str(tag)


def _scalar(event: ScalarEvent) -> Any:
    tag = _tag_of(event)
    text = event.value
    if tag in {"!", _TAG + "str"} or (tag is None and event.style):
        return text
    if tag is not None and tag not in {_TAG + name for name in ("null", "bool", "int", "float")}:
        raise YamlRefusedError("unsafe_tag")
    value = _plain(text)
    if tag is not None and isinstance(value, str):
        raise YamlRefusedError("invalid_yaml")
    if tag == _TAG + "float" and isinstance(value, int):
        return float(value)
    return value


def _plain(text: str) -> Any:
    """A plain scalar by the core schema: null, truth value, integer, float, else text."""
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text) or _FALSE.fullmatch(text):
        return bool(_TRUE.fullmatch(text))
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEXADECIMAL.fullmatch(text):
        return int(text[2:], 16)
    if _INFINITE.fullmatch(text):
        raise YamlRefusedError("non_finite")
    if _FLOAT.fullmatch(text):
        number = float(text)
        if not math.isfinite(number):
            raise YamlRefusedError("non_finite")
        return number
    return text
