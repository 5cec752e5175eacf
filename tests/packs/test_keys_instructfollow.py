"""The texts of instructfollow once more, by other ways than the author's."""

from __future__ import annotations

import re
from typing import Any

from bench_loop.engine.packs import load_pack

TASKS = {task.id: task for task in load_pack("instructfollow").tasks}


def expected(name: str) -> dict[str, Any]:
    return TASKS[f"instructfollow.{name}"].expected


def prompt_of(name: str) -> str:
    return TASKS[f"instructfollow.{name}"].messages[0].content


def rows(name: str, columns: int) -> list[list[str]]:
    """The table in the prompt, its head left out."""
    lines = [line.split(" | ") for line in prompt_of(name).splitlines() if " | " in line]
    table = [[cell.strip() for cell in line] for line in lines[1:]]
    assert {len(row) for row in table} == {columns}
    return table


def numbered(lines: list[str]) -> dict[str, str]:
    return {str(number): line for number, line in enumerate(lines, 1)}


def test_the_tools_that_are_in_by_the_table_of_the_prompt() -> None:
    table = rows("tool-library-notice", 3)
    inside = sorted(((int(deposit), name) for name, deposit, where in table if where == "in"))
    lines = [f"{name.upper()}: {deposit}" for deposit, name in reversed(inside)]
    wanted = expected("tool-library-notice")["line_equals"]
    assert wanted == {str(number): line for number, line in enumerate(lines, 1)}


def test_the_open_items_by_the_table_of_the_prompt() -> None:
    table = rows("open-items", 3)
    still_open = {int(due): item for item, state, due in table if state == "open"}
    is_even = len(still_open) % 2 == 0
    lines = {
        str(number): f"- {still_open[due]}" if is_even else f"{number}. {still_open[due]}"
        for number, due in enumerate(sorted(still_open), 1)
    }
    assert expected("open-items")["line_equals"] == lines


def test_the_ferry_board_with_the_correction_known_from_the_start() -> None:
    """Message 5 takes the place of message 2, so that no state is ever undone."""
    boats = {
        name: (leaves, int(pier), state) for name, leaves, pier, state in rows("ferry-board", 4)
    }
    out_of_order = {"Teal"}
    heron, otter = boats["Heron"], boats["Otter"]
    boats["Heron"] = ("14:20", otter[1], heron[2])
    boats["Otter"] = (otter[0], heron[1], otter[2])
    running = sorted(
        (leaves, pier, name)
        for name, (leaves, pier, _) in boats.items()
        if name not in out_of_order
    )
    lines = [f"BOATS: {len(running)}"]
    lines += [f"{leaves} {name.upper()} {pier}" for leaves, pier, name in running]
    wanted = expected("ferry-board")["line_equals"]
    assert wanted == {str(number): line for number, line in enumerate(lines, 1)}


def test_the_keywords_by_the_last_words_of_the_prompt() -> None:
    prompt = prompt_of("keyword-lines")
    given = prompt.lower().split()[-4:]
    wanted = expected("keyword-lines")["line_equals"]
    assert list(wanted.values()) == given


def test_the_new_plan_has_everybody_once_and_nobody_where_he_was() -> None:
    old = {"Friday": "Tomas", "Saturday": "Ines", "Sunday": "Wen"}
    lines = expected("shift-swap")["line_equals"].values()
    new = dict(line.split(": ") for line in lines)
    assert list(new) == list(old)
    assert sorted(new.values()) == sorted(old.values())
    assert all(new[day] != old[day] for day in old)


def test_the_label_is_the_one_beside_the_bicycle() -> None:
    labels = re.findall(r"The (\w+) has the label (\S+)\.", prompt_of("bicycle-label"))
    assert expected("bicycle-label")["equals"] == [dict(labels)["bicycle"]]


def test_the_spanish_days_by_the_order_of_the_week() -> None:
    spanish = "lunes martes miércoles jueves viernes sábado domingo".split()
    english = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
    first_line = prompt_of("market-days").splitlines()[0]
    lines = [spanish[at] for at, day in enumerate(english) if day in first_line]
    assert expected("market-days")["line_equals"] == numbered(lines)


def test_every_letter_has_one_plant_for_the_shade() -> None:
    table = rows("shade-bed", 2)
    lines = []
    for letter in "shade":
        plants = [name for name, place in table if name[0] == letter]
        (in_shade,) = [name for name, place in table if name in plants and place == "shade"]
        assert len(plants) == 2
        lines.append(in_shade)
    assert expected("shade-bed")["line_equals"] == numbered(lines)


def test_nothing_open_in_the_choir_is_late() -> None:
    days = {int(day): (item, state) for item, state, day in rows("choir-list", 3)}
    assert [days[day][1] for day in sorted(days) if day < 8] == ["dropped", "done"]
    lines = [f"OPEN: {days[day][0]}" for day in range(8, 32) if day in days]
    assert expected("choir-list")["line_equals"] == numbered(lines)


def test_the_class_board_without_the_first_message() -> None:
    room = {name: place for name, _, place, _ in rows("class-board", 4)}
    room["Carving"], room["Weaving"] = room["Weaving"], room["Carving"]
    starts = {name: time for name, time, _, _ in rows("class-board", 4) if name != "Felting"}
    board = sorted(f"{starts[name]} {room[name]} {name.upper()}" for name in starts)
    lines = ["{0} {2} {1}".format(*line.split()) for line in board]
    wanted = expected("class-board")["line_equals"]
    assert wanted == numbered([f"CLASSES: {len(starts)}", *lines])


def test_the_boats_by_their_price_tags() -> None:
    price = {name: int(amount) for name, amount, where in rows("boat-prices", 3) if where == "free"}
    tags = sorted(tag for tag in set(price.values()) if tag <= 65)
    names = [name for tag in tags[::-1] for name in sorted(price) if price[name] == tag]
    lines = [f"{name.upper()}: {price[name]}" for name in names]
    total = sum(price.values()) - price["skiff"]
    assert expected("boat-prices")["line_equals"] == numbered([*lines, f"TOTAL: {total}"])


def test_the_gate_notice_has_its_phrases_and_none_of_the_excluded_words() -> None:
    task = TASKS["instructfollow.gate-note"]
    assert isinstance(task.reference, str)
    text = task.reference.lower()
    given = prompt_of("gate-note").split("word for word:")[1].split(". It does not")[0]
    phrases = [" ".join(one.split()).lower() for one in given.split(" / ")]
    assert [phrase for phrase in phrases if phrase not in text] == []
    assert [group[0] for group in task.expected["required"]] == phrases
    excluded = prompt_of("gate-note").rsplit("words: ", 1)[1].strip().rstrip(".").split(", ")
    assert task.expected["forbidden"] == excluded
    assert set(text.replace(".", "").split()) & set(excluded) == set()
    assert len(text.split()) <= 18
