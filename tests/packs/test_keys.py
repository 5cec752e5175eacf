"""The keys once more, by other ways than the authors': walking, enumerating, simulating."""

from __future__ import annotations

import datetime as dt
from typing import Any

from bench_loop.engine.packs import load_pack, pack_names

TASKS = {task.id: task for name in pack_names() for task in load_pack(name).tasks}


def expected(task_id: str) -> dict[str, Any]:
    return TASKS[task_id].expected


def minutes(clock: str) -> int:
    hours, rest = clock.split(":")
    return int(hours) * 60 + int(rest)




def test_the_chairs_counted_on() -> None:
    task = TASKS["agent.chair-count"]
    rows = dict(line.split(",") for line in task.files["stock.csv"].splitlines())
    rows["chair"] = str(int(rows["chair"]) + 12)
    wanted = task.expected
    assert wanted["workspace"]["lines"]["stock.csv"] == [f"{k},{v}" for k, v in rows.items()]
    assert wanted["answer"]["value"] == int(rows["chair"])
