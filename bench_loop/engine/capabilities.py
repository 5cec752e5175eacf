"""The closed list of capability tags: what a task asks of a model, one word each."""

from __future__ import annotations

CAPABILITIES: dict[str, str] = {
    "absent_value": "Says that something is not stated instead of inventing it.",
    "arithmetic": "Adds, subtracts, multiplies and divides.",
    "capacity_limit": "Respects a limit that binds.",
    "conditional": "Takes the branch that a stated condition decides.",
    "copying": "Takes text over without changing it.",
    "correction": "Lets the newest statement count.",
    "counting": "Counts things.",
    "elimination": "Finds the one arrangement that fits all statements.",
    "enum": "Chooses one of the named values.",
    "filtering": "Leaves out what does not belong.",
    "format": "Keeps to a given form.",
    "json": "Writes JSON to a contract.",
    "lexical_constraint": "Writes with words that are given or excluded.",
    "nesting": "Groups things inside things.",
    "ordering": "Puts things into the order asked for.",
    "roles": "Keeps apart who does what to whom.",
    "time": "Reckons with clock times and dates.",
    "types": "Keeps numbers, text and truth values apart.",
    "union": "Chooses the right one of several record kinds.",
    "units": "Converts and keeps units.",
    "yaml": "Writes YAML to a contract.",
}
"""Tag to the sentence that says what it measures."""
