"""YAML for pack files: PyYAML's safe loader without its traps.

A key that is given twice is an error; `yes`, `no`, `on`, `12:30` and dates are text; there are no
anchors' merge keys.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from bench_loop.errors import PackError
from bench_loop.safe_yaml import Loader


class _StrictLoader(Loader):
    """Knows null, true, false, integers and floats, and refuses double keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "a key is no text", key.start_mark
                )
            if key.value in seen:
                problem = f"the key {key.value!r} is given twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


_StrictLoader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"null|~|", ["n", "~", ""]),
    ("bool", r"true|false", ["t", "f"]),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    ("float", r"[-+]?[0-9]+\.[0-9]*(?:e[-+]?[0-9]+)?", list("-+0123456789")),
):
    _StrictLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"^(?:{_pattern})$"), _first
    )


def load_strict(text: str, file: str) -> Any:
    """The value of the one document in `text`. Raises PackError that names the line."""
    try:
        return yaml.load(text, Loader=_StrictLoader)  # noqa: S506  (a safe loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise PackError(file, None, f"{where}{error.problem}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise PackError(file, None, "is not YAML") from error
