"""Tool definitions in the shapes that the harness programs offer them in."""

from __future__ import annotations

from typing import Any


def tool(name: str, *parameters: str, **types: str) -> dict[str, Any]:
    """A function whose `parameters` are strings, and others of the types given; all required."""
    properties = {one: {"type": "string"} for one in parameters}
    properties |= {one: {"type": kind} for one, kind in types.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    function = {"name": name, "description": name, "parameters": schema}
    return {"type": "function", "function": function}


OFFERED = {
    "openclaw": [
        tool("edit", "path"),
        tool("exec", "command"),
        tool("read", "path"),
        tool("write", "path", "content"),
    ],
    "hermes": [
        tool("patch", "mode"),
        tool("read_file", "path"),
        tool("terminal", "command"),
        tool("write_file", "path", "content"),
    ],
    "opencode": [
        tool("bash", "command", "description"),
        tool("edit", "filePath", "oldString", "newString"),
        tool("read", "filePath"),
        tool("write", "content", "filePath"),
    ],
    "continue": [
        tool("Read", "filepath"),
        tool("Write", "filepath", "content"),
        tool("Edit", "file_path", "old_string", "new_string"),
        tool("Bash", "command"),
    ],
    "goose": [
        tool("developer__edit", "path", "before", "after"),
        tool("developer__shell", "command", timeout_secs="integer"),
        tool("developer__write", "path", "content"),
    ],
}
