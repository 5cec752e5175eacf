"""The keys of the families of dataextract once more, read out of the finished prompts."""

from __future__ import annotations

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.families import load_family
from bench_loop.engine.packs import load_pack

PACK = load_pack("dataextract")
DRAWS = 200

Fields = dict[str, Any]


@cache
def drawn(name: str) -> tuple[BenchmarkTask, ...]:
    return tuple(one.task for one in load_family(PACK.folder, name).instances(3, DRAWS))


def prompt_of(task: BenchmarkTask) -> str:
    return task.messages[0].content


def day_of(text: str) -> str:
    return dt.datetime.strptime(text, "%d %B %Y").date().isoformat()  # noqa: DTZ007


def first(pattern: str, texts: list[str]) -> str:
    """What `pattern` finds in the first of `texts` in which it stands."""
    return next(found[1] for text in texts if (found := re.search(pattern, text)))


def thread_of(prompt: str) -> list[tuple[str, str]]:
    """Day and text of each mail, the newest first."""
    mails: dict[int, list[str]] = {}
    depth_by_line = [
        (len(line) - len(line.lstrip(">")), line.lstrip("> ")) for line in prompt.splitlines()
    ]
    start = next(at for at, (_, line) in enumerate(depth_by_line) if line.endswith(" wrote:"))
    for depth, line in depth_by_line[start:]:
        mails.setdefault(depth, []).append(line)
    texts = [mails[depth] for depth in sorted(mails)]
    return [(day_of(lines[0].split(",")[0]), "\n".join(lines)) for lines in texts]


def booking(prompt: str) -> Fields:
    """Each field by walking from the newest mail down to the first that says something of it."""
    mails = thread_of(prompt)
    texts = [text.split("Reply with one JSON object")[0] for _, text in mails]
    asked = re.findall(r'"(\w+)" \(', prompt)[-1]
    about, back_to = None, ""
    if found := re.search(r"wrote on ([\w ]+) about the (time|number of people) was", texts[0]):
        about, back_to = found[2], day_of(found[1])
    older = [text for (day, _), text in zip(mails, texts, strict=True) if day < back_to]
    hours = older if about == "time" else texts
    people = older if about == "number of people" else texts
    if choice := re.search(r"The (later|earlier) of your two times", texts[0]):
        offer = re.search(r"free at (\d\d:\d\d) and at (\d\d:\d\d) only", texts[1])
        assert offer is not None
        start = (max if choice[1] == "later" else min)(offer.groups())
    else:
        start = first(r"(\d\d:\d\d)", hours)
    return {
        "reference": first(r"\b([A-Z]{2}-\d{4})\b", texts),
        "date": day_of(first(r"(?:move to |: |On |on )(\d+ [A-Z][a-z]+ \d{4})(?! about)", texts)),
        "start": start,
        "people": int(first(r"(?:will be |with |[,:] |are )(\d+)(?: people|, not)", people)),
        "phone": first(r"(0555 \d{3} \d{4})", texts).replace(" ", ""),
        asked: None,
    }


def amounts(prompt: str) -> list[tuple[str, int]]:
    """Name and cents of each line of a receipt that has an amount."""
    found = re.findall(r"^ *(\S.*?) +(-?\d+)\.(\d\d)$", prompt, re.MULTILINE)
    return [(name, int(f"{euros}{cents}")) for name, euros, cents in found]


def receipt(prompt: str) -> Fields:
    """The sums added up line by line, whatever the receipt prints below them."""
    lines = amounts(prompt)
    above = [(n, c) for n, c in lines if n not in ("TOTAL", "CASH", "CHANGE", "CARD")]
    number = first(r"Receipt (\d+)", [prompt])
    total = sum(cents for _, cents in above)
    given = dict(lines).get("CASH", 0)
    if '"customer"' in prompt:
        change = (given - total) / 100
        return {"receipt": int(number), "total": total / 100, "change": change, "customer": None}
    if '"deposit"' in prompt:
        deposit = sum(cents for name, cents in above if name == "deposit")
        paid = total / 100
        return {"receipt": int(number), "deposit": deposit / 100, "paid": paid, "card": None}
    pieces: Counter[str] = Counter()
    for name, _ in above:
        pieces[name.removeprefix("VOID ")] += -1 if name.startswith("VOID ") else 1
    day, month, year = first(r"(\d\d\.\d\d\.\d{4})", [prompt]).split(".")
    return {
        "date": f"{year}-{month}-{day}",
        "items": sorted(pieces.elements()),
        "pieces": pieces.total(),
        "total": total / 100,
    }


def entry(prompt: str) -> Fields:
    """One request by its tag, or a file by the way back from the job that was done."""
    if "[" not in prompt:
        return _printed(prompt)
    tags = dict.fromkeys(re.findall(r"\[(\w+)\]", prompt))
    requests = [_request(tag, prompt) for tag in tags]
    if "failed" in prompt.splitlines()[0]:
        (wanted,) = [one for one in requests if one["status"] >= 500]
        return wanted
    return max(requests, key=lambda one: one["ms"])


def _request(tag: str, prompt: str) -> Fields:
    own = "\n".join(line for line in prompt.splitlines() if f"[{tag}]" in line)
    route, client = re.findall(r"GET (\S+) from (\S+)", own)[0]
    status, took, unit = re.findall(r"status (\d+) after ([\d.]+) (ms|s)", own)[0]
    user = re.findall(r"user (\w+) signed in", own)
    ms = int(Fraction(took) * (1000 if unit == "s" else 1))
    return {
        "request": tag,
        "route": route,
        "client": client,
        "status": int(status),
        "ms": ms,
        "user": user[0] if user else None,
    }


def _printed(prompt: str) -> Fields:
    file = first(r"the file (\S+) through", [prompt])
    before = {new: old for old, new in re.findall(r"job (\w+) sent again as (\w+)", prompt)}
    files = dict(re.findall(r"job (\w+): (\S+\.pdf)", prompt))
    printers = dict(re.findall(r"job (\w+): \S+, to printer (\w+)", prompt))
    printers |= dict(re.findall(r"sent again as (\w+), to printer (\w+)", prompt))
    errors = dict(re.findall(r"job (\w+): failed after \d+ pages, (.+)", prompt))
    for last, pages in re.findall(r"job (\w+): done, (\d+) pages", prompt):
        way = [last]
        while way[-1] in before:
            way.append(before[way[-1]])
        if files[way[-1]] == file:
            return {
                "first_job": way[-1],
                "last_job": last,
                "tries": len(way),
                "printer": printers[last],
                "pages": int(pages),
                "last_error": errors[way[1]],
            }
    raise AssertionError(file)


SOLVERS: dict[str, Callable[[str], Fields]] = {
    "quoted-thread": booking,
    "till-receipt": receipt,
    "request-log": entry,
}
BY_HAND = {"dataextract.hall-booking-change"}
"""Of a family, but with facts of its own: its key is derived in test_keys_dataextract.py."""


def is_same(found: Fields, value: Fields) -> bool:
    """Whether both are the same, lists in any order."""
    sort = {key: sorted(part) if isinstance(part, list) else part for key, part in value.items()}
    return found == sort


@pytest.mark.parametrize("name", SOLVERS)
def test_what_is_read_out_of_the_prompt_is_the_key(name: str) -> None:
    frozen = [task for task in PACK.tasks if task.family == name and task.id not in BY_HAND]
    assert frozen
    for task in (*drawn(name), *frozen):
        assert is_same(SOLVERS[name](prompt_of(task)), task.expected["value"]), task.id


def test_a_receipt_adds_up() -> None:
    for task in drawn("till-receipt"):
        lines = amounts(prompt_of(task))
        above = sum(c for n, c in lines if n not in ("TOTAL", "CASH", "CHANGE", "CARD"))
        below = dict(lines)
        assert below.get("TOTAL", above) == above
        assert below.get("CARD", below.get("CASH", 0) - below.get("CHANGE", 0)) == above


def test_the_mails_of_a_thread_follow_each_other_and_the_visit_follows_them() -> None:
    for task in drawn("quoted-thread"):
        days = [day for day, _ in thread_of(prompt_of(task))]
        assert all(newer > older for newer, older in pairwise(days))
        assert task.expected["value"]["date"] > days[0]


def test_entries_of_a_log_alternate() -> None:
    for task in drawn("request-log"):
        tags = re.findall(r"^\d+ (?:\[(\w+)\]|job (\w+))", prompt_of(task), re.MULTILINE)
        assert sum(a != b for a, b in pairwise(tags)) >= 3
