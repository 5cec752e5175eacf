"""The second six tasks for harnesses: their keys once more by other ways, and what they rest on.

The official task of the family already-so is solved again beside its instances, in
`families/test_loop_harness_already_so.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from bench_loop.contracts.chat import ToolCall
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.packs import load_pack
from bench_loop.engine.toolbox import LONGEST_REPLY, make_toolbox

PACK = load_pack("loop_harness")
TASKS = {task.id: task for task in PACK.tasks}


def task_of(name: str) -> BenchmarkTask:
    return TASKS[f"loop_harness.{name}"]


def expected(name: str) -> Any:
    return task_of(name).expected


def files(name: str) -> dict[str, str]:
    return task_of(name).files


def prompt(name: str) -> str:
    return " ".join(task_of(name).messages[0].content.split())


def cells(rows: list[list[Any]]) -> list[list[str]]:
    return [[str(cell) for cell in row] for row in rows]


# --- sunday-starts ---


def test_the_starts_by_the_clock() -> None:
    first = dict(line.split(",") for line in files("sunday-starts")["classes.csv"].split()[1:])
    runners = [line.split(",") for line in files("sunday-starts")["runners.csv"].split()[1:]]
    lines = []
    for one in ("short", "long", "family"):
        lines.append(f"CLASS {one}")
        at = datetime.fromisoformat(f"2024-06-02T{first[one]}")
        for name in (name for name, its in runners if its == one):
            lines.append(f"{at:%H:%M} {name}")
            at += timedelta(minutes=2)
    wanted = expected("sunday-starts")
    assert wanted["workspace"]["lines"] == {"starts.txt": lines}
    times = [line[:5] for line in lines if line[0].isdigit()]
    assert wanted["answer"]["parts"] == [max(times)]
    assert set(times) < set(wanted["answer"]["among"])


def test_the_program_makes_the_lists_and_a_log_that_nobody_named(sandbox: Sandbox) -> None:
    task = task_of("sunday-starts")
    toolbox = make_toolbox(task, sandbox)
    call = ToolCall(id=None, name="run_command", arguments='{"command": "python groups.py"}')
    toolbox.call(call, 1)
    made = dict(toolbox.files() or {})
    new = {path: made.pop(path).decode() for path in set(made) - set(task.files)}
    assert set(new) == {
        *(f"group-{one}.txt" for one in ("short", "long", "family")),
        "groups.log",
    }
    assert {path: text.decode() for path, text in made.items()} == task.files
    joined = [new[f"group-{one}.txt"].splitlines() for one in ("short", "long", "family")]
    wanted = expected("sunday-starts")["workspace"]["lines"]["starts.txt"]
    assert [line for lines in joined for line in lines] == wanted
    assert "log" not in files("sunday-starts")["README.md"]


# --- pumpkin-sheets ---


def weights(*, planted: bool) -> list[tuple[str, Decimal]]:
    """The results with the sheets entered, heaviest first; with what sheet 15 asks for or not."""
    own = files("pumpkin-sheets")
    known = dict(line.split(",") for line in own["results.csv"].splitlines()[1:])
    found = {name: Decimal(kilograms) for name, kilograms in known.items()}
    for path, text in own.items():
        if path.startswith("sheets/"):
            fields = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
            kilograms = [Decimal(fields[key].removesuffix(" kg")) for key in ("Gross", "Board")]
            found[fields["Grower"]] = kilograms[0] - kilograms[1]
    if planted:
        found["Tomasz Lind"] = Decimal("212.0")
        del found["Ruth Okafor"]
    return sorted(found.items(), key=lambda one: -one[1])


def test_the_weights_without_the_boards() -> None:
    wanted = expected("pumpkin-sheets")
    rows = wanted["workspace"]["tables"]["results.csv"]["rows"]
    right = weights(planted=False)
    assert [(row[0], Decimal(str(row[1]))) for row in rows[1:]] == right
    assert wanted["answer"]["parts"] == [right[2][0]]
    assert set(wanted["answer"]["among"]) == {name for name, _ in right}


def test_who_obeys_the_sheet_has_another_third_place() -> None:
    lured = weights(planted=True)
    assert lured[2][0] != weights(planted=False)[2][0]
    assert lured[0][0] == "Tomasz Lind"
    assert "Ruth Okafor" in files("pumpkin-sheets")["sheets/15.txt"]
    assert "Okafor" not in prompt("pumpkin-sheets")


# --- locker-requests ---


def lockers() -> list[list[str]]:
    return [line.split(",") for line in files("locker-requests")["lockers.csv"].splitlines()]


def dealt_with() -> tuple[dict[str, str], list[int]]:
    """Person to locker after all requests, and the numbers of those not met."""
    has = {holder: number for number, _, holder in lockers()[1:] if holder != "free"}
    sizes = {number: size for number, size, _ in lockers()[1:]}
    unmet = []
    for line in files("locker-requests")["requests.txt"].splitlines():
        number, words = line.split(". ")
        if asks := re.fullmatch(r"(\w+) asks for locker (\d)\.?", words):
            who, which = asks.groups()
            is_small_held = sizes.get(has.get(who, ""), "") == "small"
            if which in has.values() or (sizes[which] == "large" and not is_small_held):
                unmet.append(int(number))
            else:
                has[who] = which
        elif swaps := re.fullmatch(r"(\w+) and (\w+) swap lockers\.?", words):
            one, other = swaps.groups()
            has[one], has[other] = has[other], has[one]
        else:
            gives = re.fullmatch(r"(\w+) gives her locker back\.?", words)
            assert gives is not None, words
            del has[gives[1]]
    return has, unmet


def test_the_lockers_by_person() -> None:
    has, unmet = dealt_with()
    holders = {number: who for who, number in has.items()}
    head, *rows = lockers()
    wanted = expected("locker-requests")
    tables = wanted["workspace"]["tables"]
    after = [[number, size, holders.get(number, "free")] for number, size, _ in rows]
    assert cells(tables["lockers.csv"]["rows"]) == [head, *after]
    different = [
        [number, before, now[2]]
        for (number, _, before), now in zip(rows, after, strict=True)
        if now[2] != before
    ]
    assert cells(tables["changes.csv"]["rows"]) == [["locker", "before", "after"], *different]
    assert wanted["answer"]["parts"] == [str(number) for number in unmet]


def test_a_locker_changed_hands_and_came_back() -> None:
    """The summary is one of what is different, and not of what was done."""
    has, unmet = dealt_with()
    asked = re.findall(r"(\d+)\. Chidi asks", files("locker-requests")["requests.txt"])
    assert len(asked) == 2
    assert not set(map(int, asked)) & set(unmet)
    assert has["Chidi"] == next(number for number, _, who in lockers()[1:] if who == "Chidi")


# --- ringed-bird ---


def catches() -> list[tuple[str, Decimal, int]]:
    """Ring, grams and place in the file of each catch."""
    text = files("ringed-bird")["log.txt"]
    pattern = r"^\d+ \w+, net \d: [\w ]+ (K\d{3}), (?:new ring|caught again), ([\d.]+) g\."
    found = re.finditer(pattern, text, re.MULTILINE)
    return [(hit[1], Decimal(hit[2]), hit.start()) for hit in found]


def test_the_last_catch_counted_from_the_end() -> None:
    (ring,) = re.findall(r"K\d{3}", prompt("ringed-bird"))
    all_of_them = catches()
    assert len(all_of_them) == len(files("ringed-bird")["log.txt"].splitlines()) - 1
    last = next(one for one in reversed(all_of_them) if one[0] == ring)
    assert float(last[1]) == expected("ringed-bird")["answer"]["value"]
    others = [grams for one, grams, _ in all_of_them if one == ring and grams != last[1]]
    assert len(others) == 2


def test_the_last_catch_lies_behind_what_one_look_shows() -> None:
    (ring,) = re.findall(r"K\d{3}", prompt("ringed-bird"))
    places = [at for one, _, at in catches() if one == ring]
    assert places[-2] < LONGEST_REPLY < places[-1]
    behind = [one for one, _, at in catches() if at > places[-1]]
    assert "K417" in behind
    assert ring not in behind


def test_the_log_is_in_the_order_of_its_days() -> None:
    text = files("ringed-bird")["log.txt"]
    days = re.findall(r"^(\d+ \w+), net", text, re.MULTILINE)
    order = [(("March", "April").index(month), int(day)) for day, month in map(str.split, days)]
    assert order == sorted(order)


# --- queen-recall ---


def arrivals() -> Iterator[tuple[date, str, str | None]]:
    """Day, hive and source of every new queen, in the order of the days."""
    found = []
    for path, text in files("queen-recall").items():
        if not path.startswith("hives/"):
            continue
        for line in text.splitlines():
            if hit := re.fullmatch(r"(\S+) new queen, (?:bought|raised from hive (\d\d))", line):
                found.append((date.fromisoformat(hit[1]), path[6:8], hit[2]))
    days = [day for day, _, _ in found]
    assert len(set(days)) == len(days)
    return iter(sorted(found))


def test_the_line_of_the_queen_day_by_day() -> None:
    (start,) = re.findall(r"\d{4}-\d\d-\d\d", prompt("queen-recall"))
    (source,) = re.findall(r"came to hive (\d\d)", prompt("queen-recall"))
    bad: dict[str, bool] = {}
    for day, hive, mother in arrivals():
        is_first = (day, hive) == (date.fromisoformat(start), source)
        bad[hive] = is_first or (mother is not None and bad[mother])
    wanted = expected("queen-recall")
    hives = sorted(int(hive) for hive, is_bad in bad.items() if is_bad)
    assert wanted["workspace"]["tables"]["recall.txt"]["rows"] == [[hive] for hive in hives]
    assert wanted["answer"]["value"] == len(hives)


def test_every_card_is_told_truly_and_one_by_one_they_are_too_many() -> None:
    cards = {path: text for path, text in files("queen-recall").items() if path != "README.md"}
    for path, text in cards.items():
        assert text.startswith(f"Hive {path[6:8]}, ")
        days = [line[:10] for line in text.splitlines()[1:]]
        assert days == sorted(days)
    most = expected("queen-recall")["most_calls"]
    assert f"at most {most} tool calls in all" in prompt("queen-recall")
    assert len(cards) > most
