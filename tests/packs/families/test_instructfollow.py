"""The texts of drawn instances once more, out of the words of their prompts and by other ways."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from bench_loop.config import bundled
from bench_loop.engine.families import load_family

DRAWS = 200
SEED = 98


def drawn(family: str) -> Iterator[tuple[dict[str, Any], str]]:
    """What is expected of instances, and their prompts."""
    for instance in load_family(bundled("packs") / "instructfollow", family).instances(SEED, DRAWS):
        yield instance.task.expected, instance.task.messages[0].content


def table(prompt: str) -> list[list[str]]:
    """The rows of the table, its head left out."""
    return [line.split(" | ") for line in prompt.splitlines() if " | " in line][1:]


def numbered(lines: list[str]) -> dict[str, str]:
    return {str(number): line for number, line in enumerate(lines, 1)}


def found(pattern: str, prompt: str) -> re.Match[str]:
    match = re.search(pattern, prompt)
    assert match, (pattern, prompt)
    return match


def test_the_open_items_day_by_day_of_the_month() -> None:
    for expected, prompt in drawn("open-list"):
        due = {int(day): (item, state) for item, state, day in table(prompt)}
        calendar = [due[day] for day in range(1, 32) if day in due]
        items = [item for item, state in calendar if state == "open"]
        if "even" in prompt:
            odd = len(items) & 1
            lines = [f"{n}. {item}" if odd else f"- {item}" for n, item in enumerate(items, 1)]
        elif "LATE" in prompt:
            today = int(found(r"Today is (\d+)", prompt)[1])
            past = [due[day][0] for day in range(1, today) if day in due]
            late = [item for item in items if item in past]
            lines = [f"LATE: {item}" for item in late] or [f"OPEN: {item}" for item in items]
        else:
            room = int(found(r"more than (\d+) items", prompt)[1])
            lines, rest = items[:room], items[room:]
            lines += [f"and {len(rest)} more"] if rest else []
        assert expected["line_equals"] == numbered(lines), prompt
        assert expected["lines"] == len(lines)


def corrected(messages: list[str]) -> list[str]:
    """The messages as if the last one had been known from the start."""
    *sent, last = messages
    if gone := re.match(r"Message (\d) is withdrawn", last):
        return [message for number, message in enumerate(sent, 1) if number != int(gone[1])]
    if named := re.match(r"Message (\d) named the wrong \w+: it is (\w+) that is off", last):
        at = int(named[1]) - 1
        return [*sent[:at], f"{named[2]} is off.", *sent[at + 1 :]]
    return messages


def test_the_board_with_the_correction_known_from_the_start() -> None:
    for expected, prompt in drawn("board-messages"):
        rows = table(prompt)
        when = {name: time for name, time, _, _ in rows}
        where = {name: int(place) for name, _, place, _ in rows}
        on = {name for name, _, _, state in rows if state == "on"}
        for message in corrected(re.findall(r"^\d\. (.*)$", prompt, re.MULTILINE)):
            name = message.split()[0]
            if swap := re.match(r"(\w+) and (\w+) swap", message):
                names = [swap[2], swap[1]]
                where |= dict(zip(swap.groups(), [where[one] for one in names], strict=True))
            elif time := re.search(r"at (\d\d:\d\d)\.", message):
                when[name] = time[1]
            elif message.endswith("is off."):
                on.discard(name)
            else:
                assert message.endswith("is on again."), message
                on.add(name)
        plural = found(r"First line: ([A-Z]+):", prompt)[1]
        lines = [
            f"{time} {name.upper()} {place}"
            for time, place, name in sorted((when[one], where[one], one) for one in on)
        ]
        assert expected["line_equals"] == numbered([f"{plural}: {len(on)}", *lines]), prompt


def test_the_notice_by_striking_out_rows() -> None:
    for expected, prompt in drawn("stock-notice"):
        rows = table(prompt)
        place = found(r"the \w+s that are (.*?)(?:,| and have)", prompt)[1]
        limit = re.search(r"of (\d+) or less", prompt)
        for row in list(rows):
            if row[2] != place or (limit and int(row[1]) > int(limit[1])):
                rows.remove(row)
        rows.sort()
        rows.sort(key=lambda row: int(row[1]), reverse=True)
        lines = [f"{name.upper()}: {amount}" for name, amount, _ in rows]
        if "TOTAL" in prompt:
            lines.append(f"TOTAL: {sum(int(amount) for _, amount, _ in rows)}")
        assert expected["line_equals"] == numbered(lines), prompt
        is_puzzle = "word_puzzle" in expected
        assert expected["lines"] == len(lines) + is_puzzle
        if is_puzzle:
            given = found(r"no other word: (.*)\.", prompt)[1].lower().split(", ")
            gone = found(r"says when the (.*) returns", prompt)[1]
            assert expected["word_puzzle"]["words"] == given
            assert set(gone.split()) < set(given)
            assert len(set(given)) == len(given)
