"""The keys of the toolcall families once more, from the prompt and the records alone.

The solvers know nothing of how an instance was drawn: they read the prompt's words, look things up
in what the tools would answer, and try every outcome where the generator computes one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import pytest

from bench_loop.contracts.task import BenchmarkTask, Replies
from bench_loop.engine.families import load_family
from bench_loop.engine.packs import load_pack

PACK = load_pack("toolcall")
DRAWS = 200
SEED = 90210


@dataclass(frozen=True)
class Key:
    """What must be true at the end, and the parts of the answer line."""

    state: dict[str, Any]
    parts: tuple[str, ...]


def prompt_of(task: BenchmarkTask) -> str:
    return " ".join(task.messages[-1].content.split())


def replies_of(task: BenchmarkTask) -> Replies:
    assert task.replies is not None
    return task.replies


def records(task: BenchmarkTask, prefix: str) -> list[Any]:
    """What the tools of that prefix answer, lists taken apart."""
    found = [rule.reply for rule in replies_of(task).rules if rule.tool.startswith(prefix)]
    return [one for reply in found for one in (reply if isinstance(reply, list) else [reply])]


TOOL_FOR = {
    "Renew loan": ("renew_loan", "renewed"),
    "Archive folder": ("archive_folder", "archived"),
    "Pause subscription": ("pause_subscription", "paused"),
    "Ask for a price on parts list": ("request_quote", "quote requested"),
    "Put volunteer": ("add_to_waiting_list", "waiting"),
    "Lock door": ("lock_door", "locked"),
}


def fitting_tool(task: BenchmarkTask) -> Key:
    """Each line of the list held against the tools that are offered."""
    assert not isinstance(task.tools, str)
    offered = {tool.name for tool in task.tools}
    prompt = task.messages[-1].content
    done = re.search(r"has .*?([A-Z]-\d+).*this morning already", prompt)
    state = dict(replies_of(task).state)
    receipts = []
    for line in re.findall(r"^\d\. (.*)\.$", prompt, re.MULTILINE):
        code = re.findall(r"[A-Z]-\d+", line)[0]
        tool, now = next(TOOL_FOR[verb] for verb in TOOL_FOR if line.startswith(verb))
        if tool not in offered:
            return Key(dict(replies_of(task).state), ("none", code))
        if done and done[1] == code:
            assert state[code] == now
            continue
        rule = next(
            rule
            for rule in replies_of(task).rules
            if rule.tool == tool and code in rule.when.values()
        )
        assert rule.set == {code: now}
        state[code] = now
        receipts.append(rule.reply["receipt"])
    return Key({**state, "receipts": len(receipts)}, tuple(receipts))


def lookup_chain(task: BenchmarkTask) -> Key:
    """All rows of all people, all but one of them struck out."""
    prompt, state = prompt_of(task), dict(replies_of(task).state)
    people = records(task, "find_")
    if len(people) > 1:
        people = [one for one in people if f"of {one['street']} " in prompt]
    (person,) = people
    number = person.get("moved_to") or next(v for k, v in person.items() if k.endswith("_no"))
    (wanted,) = re.findall(r'still "(\w+)"', prompt)
    rows = [
        row
        for rule in replies_of(task).rules
        if rule.tool.startswith("list_") and number in rule.when.values()
        for row in rule.reply
    ]
    open_rows = [list(row.values()) for row in rows if state[row["state"]["$state"]] == wanted]
    (row_id,) = (row[0] for row in open_rows if f"the {row[1]}." in prompt)
    acts = [rule for rule in replies_of(task).rules if row_id in rule.when.values()]
    assert [rule.times for rule in acts if rule.error] in ([], [1])
    rule = acts[-1]
    (receipt,) = (value for key, value in rule.reply.items() if key != "ok")
    return Key({**state, **rule.set, "entries": 1}, (receipt,))


BARS = {
    "crates with paint thinner": ("goods", "paint thinner"),
    "pictures without a frame": ("frame", "none"),
    "volumes with brittle paper": ("paper", "brittle"),
    "account is blocked": ("account", "blocked"),
    "contract is unsigned": ("contract", "unsigned"),
    "consent is missing": ("consent", "missing"),
}


def part_of_batch(task: BenchmarkTask) -> Key:
    """Of all subsets the one that agrees with the rule for every single thing."""
    prompt, state = prompt_of(task), dict(replies_of(task).state)
    codes = re.findall(r"[CPV]-\d+", prompt)
    facts: dict[str, dict[str, Any]] = {
        str(one[next(iter(one))]): one for one in records(task, "get_") if "place" in one
    }
    linked = {next(iter(one.values())): one for one in records(task, "get_") if "place" not in one}
    for code in codes:
        for value in [value for value in facts[code].values() if isinstance(value, str)]:
            facts[code] |= linked.get(value, {})
    bar = next((BARS[words] for words in BARS if words in prompt), ("", ""))
    rules = replies_of(task).rules
    refused = {code for rule in rules if rule.error for code in rule.when.values()}
    sizes = {
        code: next(value for value in facts[code].values() if isinstance(value, int))
        for code in codes
    }
    is_limited = "one by one" in prompt

    def agrees(chosen: tuple[str, ...]) -> bool:
        room = state["room"]
        for code in codes:
            is_barred = facts[code].get(bar[0]) == bar[1] or code in refused
            may_go = not is_barred and (not is_limited or sizes[code] <= room)
            if may_go != (code in chosen):
                return False
            room -= sizes[code] if code in chosen else 0
        return True

    subsets = [one for n in range(len(codes) + 1) for one in combinations(codes, n)]
    (right,) = filter(agrees, subsets)
    ends = {place for rule in rules for place in rule.set.values()}
    (end,) = ends
    moved = {code: end if code in right else state[code] for code in codes}
    return Key(moved, right)


Solver = Callable[[BenchmarkTask], Key]
SOLVERS: dict[str, Solver] = {
    "fitting-tool": fitting_tool,
    "lookup-chain": lookup_chain,
    "part-of-batch": part_of_batch,
}


def key_of(task: BenchmarkTask) -> Key:
    """What the task's file says."""
    at_end = task.expected.get("state", replies_of(task).state)
    return Key(at_end, tuple(task.expected["answer"]["parts"]))


@pytest.mark.parametrize("name", SOLVERS)
def test_a_second_solver_finds_the_keys_of_many_draws(name: str) -> None:
    instances = load_family(PACK.folder, name).instances(SEED, DRAWS)
    wrong = [one.task.id for one in instances if SOLVERS[name](one.task) != key_of(one.task)]
    assert wrong == []


@pytest.mark.parametrize("task", [task for task in PACK.tasks if task.family], ids=lambda t: t.id)
def test_a_second_solver_finds_the_keys_of_the_frozen_ones(task: BenchmarkTask) -> None:
    assert task.family is not None
    assert SOLVERS[task.family](task) == key_of(task)


def test_on_the_limit_every_slip_of_reading_ends_elsewhere() -> None:
    """Nothing fits to the last unit, so that "at most" and "less than" give the same."""
    for instance in load_family(PACK.folder, "part-of-batch").instances(SEED, 40):
        if instance.path != "limit":
            continue
        room = replies_of(instance.task).state["room"]
        sizes = [one for reply in records(instance.task, "get_") for one in reply.values()]
        numbers = [size for size in sizes if isinstance(size, int)]
        key = part_of_batch(instance.task)
        moves = [rule for rule in replies_of(instance.task).rules if rule.set]
        left = room + sum(
            sum(rule.add.values()) for rule in moves if set(rule.set) <= set(key.parts)
        )
        assert left > 0
        assert max(numbers) < room
