"""The JSON Schema of task files, exported from the records, for editors and other tools.

It says what the loader checks of a file by itself; what the verifier checks beyond that (a right
value that follows its schema, say) only `bench-loop validate` tells.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator
from typing import Any, get_args

from pydantic import BaseModel

from bench_loop.contracts.task import BenchmarkTask, VerifierType
from bench_loop.engine.capabilities import CAPABILITIES
from bench_loop.engine.packs import NamedDraw

DEFS = "$defs"


def task_schema() -> dict[str, Any]:
    """JSON Schema, draft 2020-12, of the task files of this version."""
    schema = BenchmarkTask.model_json_schema(mode="validation")
    fields = schema["properties"]
    del fields["suite"]
    required = [name for name in schema["required"] if name not in ("suite", "messages")]
    prompt = {"type": "string", "minLength": 1, "description": "In place of one user message."}
    tags = {**fields["capability_tags"], "items": {"enum": sorted(CAPABILITIES)}}
    shown = {"const": {"from_prompt": True}, "description": "As the prompt shows it."}
    files = {**fields["files"], "additionalProperties": {"anyOf": [{"type": "string"}, shown]}}
    drawn = NamedDraw.model_json_schema(mode="validation")
    del drawn["properties"]["family"]
    drawn |= {"required": [name for name in drawn["required"] if name != "family"]}
    drawn["description"] = "In place of what a draw of the family gives; the file goes before it."
    definitions = dict(schema[DEFS])
    cases = list(_expected_by_verifier(definitions))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:bench-loop:task",
        "title": "Task",
        "description": "One task of a pack, as its YAML file says it.",
        "type": "object",
        "additionalProperties": False,
        "required": ["id"],
        "oneOf": [
            {"required": [*required, "prompt"]},
            {"required": [*required, "messages"]},
            {"required": ["family", "drawn"]},
        ],
        "properties": {
            **fields,
            "files": files,
            "prompt": prompt,
            "drawn": drawn,
            "capability_tags": tags,
        },
        "allOf": cases,
        DEFS: definitions,
    }


def _expected_by_verifier(definitions: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """For each verifier that there is: what its `expected` block holds."""
    for name in get_args(VerifierType):
        module = f"bench_loop.verifiers.{name}"
        if importlib.util.find_spec(module) is None:
            continue
        record: type[BaseModel] = importlib.import_module(module).Expected
        definition = f"Expected_{name}"
        own = record.model_json_schema(mode="validation", ref_template=f"#/{DEFS}/{{model}}")
        definitions |= own.pop(DEFS, {})
        definitions[definition] = {**own, "title": f"Expected of {name}"}
        yield {
            "if": {"properties": {"verifier_type": {"const": name}}},
            "then": {"properties": {"expected": {"$ref": f"#/{DEFS}/{definition}"}}},
        }
