"""The keys of the family already-so, found once more from the prompt and the list alone."""

from __future__ import annotations

import csv
import re
from collections import Counter

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.families import load_family
from bench_loop.engine.packs import load_pack

DRAWS = 200
PACK = load_pack("loop_harness")
SAID = (
    r"(?P<name>.+) is shown on (?P<first>\w+) in the (?P<second>[\w ]+)",
    r"(?P<name>.+) stands (?P<first>\D+) every (?P<second>\w+)",
    r"(?P<name>.+) is taught by (?P<first>M[rs] \w+) and costs (?P<second>\d+ euros)",
)


def tasks() -> list[BenchmarkTask]:
    """Fresh instances, and the official task."""
    drawn = load_family(PACK.folder, "already-so").instances(2026, DRAWS)
    return [*(one.task for one in drawn), *(t for t in PACK.tasks if t.family == "already-so")]


def asked(task: BenchmarkTask) -> list[str]:
    """Name, first and second thing that the list is to say."""
    sentence = " ".join(task.messages[0].content.split()).partition(". ")[0]
    (match,) = filter(None, (re.fullmatch(pattern, sentence) for pattern in SAID))
    return [match["name"], match["first"], match["second"]]


def test_the_list_as_it_must_be_and_the_row_that_is_named() -> None:
    seen = Counter[str]()
    for task in tasks():
        ((name, text),) = task.files.items()
        head, *rows = csv.reader(text.splitlines())
        wanted = asked(task)
        by_name = {row[1]: row for row in rows}
        assert len(by_name) == len(rows), task.id
        kind = "absent"
        if wanted[0] in by_name:
            kind = "as_asked" if by_name[wanted[0]][1:] == wanted else "differs"
        row_id = (
            by_name[wanted[0]][0] if kind != "absent" else str(1 + max(int(r[0]) for r in rows))
        )
        by_name[wanted[0]] = [row_id, *wanted]
        rules = task.expected["workspace"]
        if kind == "as_asked":
            assert rules == {"unchanged": [name]}, task.id
        else:
            wanted_rows = [list(row) for row in rules["tables"][name]["rows"]]
            assert wanted_rows == [head, *by_name.values()], task.id
        assert task.expected["answer"]["parts"] == [row_id], task.id
        assert task.expected["least_calls"] == 1 + (kind != "as_asked"), task.id
        seen[kind] += 1
    assert min(seen[kind] for kind in ("as_asked", "differs", "absent")) >= DRAWS // 3


def test_a_row_of_nearly_the_same_name_says_something_else() -> None:
    for task in tasks():
        (text,) = task.files.values()
        name, *pair = asked(task)
        (twin,) = (
            row for row in csv.reader(text.splitlines()) if name in row[1] and row[1] != name
        )
        assert twin[2:] != pair, task.id


def test_no_word_of_the_prompt_tells_what_is_to_be_done() -> None:
    """The list decides: the prompts of all three kinds have the same words beside the facts."""
    words: dict[str, Counter[str]] = {}
    for task in tasks():
        text = " ".join(task.messages[0].content.split()).partition(". ")[2]
        ((name, content),) = task.files.items()
        text = re.sub(rf"{re.escape(asked(task)[0])}|{re.escape(name)}, .*?, says", "_", text)
        rows = [row[1:] for row in csv.reader(content.splitlines())]
        kind = "as_asked" if asked(task) in rows else "other"
        words.setdefault(kind, Counter())[text] += 1
    assert words["as_asked"].keys() == words["other"].keys()
    assert len(words["as_asked"]) == 3
