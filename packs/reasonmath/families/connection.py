# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A train, a walk and a bus that runs every so many minutes: when does the ride end, or begin?

The hinge is the bus: one that leaves a moment too early, one that is just reached, one that waits
for a late train only so long, or, asked backwards, the train that still leads to the last bus in
time. The seed decides which of these it is, and the times.
"""

from __future__ import annotations

from random import Random
from typing import Any

PATHS = ("missed", "held", "late_train", "latest_train")

PLACES = ("museum", "campsite", "boatyard", "clinic", "quarry", "school", "lighthouse", "vineyard")


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None where a slip leads to the right time, or past the day."""
    facts = _facts(random, path)
    if path == "latest_train":
        return _backward(facts)
    return _forward(facts)


def _facts(random: Random, path: str) -> dict[str, Any]:
    every = random.choice([12, 15, 18, 20, 24, 25, 30, 40])
    walk = random.randrange(4, 14)
    arrival = random.randrange(7 * 60, 20 * 60)
    gap = 0 if path == "held" else random.randrange(1, 4)
    delay, grace = 0, 0
    if path == "late_train":
        delay, grace = random.randrange(4, 12), random.choice([2, 3, 4])
        gap = random.choice([-1, 1, 2])
    bus = arrival + delay + walk - gap - grace
    return {
        "path": path,
        "place": random.choice(PLACES),
        "every": every,
        "walk": walk,
        "arrival": arrival,
        "delay": delay,
        "grace": grace,
        "first_bus": bus - every * random.randrange(2, 4),
        "ride": random.randrange(11, 48),
        "train_every": random.choice([20, 25, 30, 40]),
        "buses_run": random.randrange(60, 130),
        "trains_run": random.randrange(40, 90),
        "train_takes": random.randrange(23, 68),
        "deadline": random.randrange(11 * 60, 21 * 60, 5),
        "bus_first": random.random() < 0.5,
    }


def clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"


def _next(start: int, every: int, at: int) -> int:
    """The first of start, start + every, ... that is not before `at`."""
    return start + max(0, -(-(at - start) // every)) * every


def _last(start: int, every: int, at: int) -> int:
    """The last of start, start + every, ... that is not after `at`."""
    return start + (at - start) // every * every


def _forward(facts: dict[str, Any]) -> dict[str, Any] | None:
    first, every, walk, ride = (facts[key] for key in ("first_bus", "every", "walk", "ride"))
    planned = facts["arrival"]
    at_stop = planned + facts["delay"] + walk
    bus = _next(first, every, at_stop - facts["grace"])
    leaves = max(bus, at_stop)
    end = leaves + ride
    earlier, later = bus - every + ride, bus + every + ride
    slips = {
        "no bus waited for: walk and ride added to the arrival": at_stop + ride,
        "the departure of the right bus, not the end of the ride": leaves,
        "the walk forgotten": _next(first, every, planned + facts["delay"]) + ride,
        "the bus before, which has gone": earlier,
        "the bus after, though this one is still reached": later,
    }
    if facts["delay"]:
        slips["the delay forgotten"] = _next(first, every, planned + walk) + ride
    if slips["the walk forgotten"] == end and facts["path"] != "held":
        return None
    if facts["delay"] and slips["the delay forgotten"] == end:
        return None
    lines = [
        f"{clock(planned + facts['delay'])} + {walk} min = {clock(at_stop)} at the stop.",
        f"Buses: {clock(bus - every)}, {clock(bus)}, {clock(bus + every)}.",
        f"The first that can be taken is the one at {clock(bus)}.",
        f"{clock(leaves)} + {ride} min = {clock(end)}",
    ]
    if facts["delay"]:
        late = f"{clock(planned)} + {facts['delay']} min late = {clock(planned + facts['delay'])}"
        lines.insert(0, late)
    buses = (
        f"Buses leave the stop at {clock(first)} and then every {every} minutes; whoever is at the "
        "stop in the minute of departure still gets on."
    )
    train = (
        f"A train is due at {clock(planned)}. From the platform to the bus stop a passenger walks "
        f"{walk} minutes."
    )
    if facts["delay"]:
        buses += (
            f" A bus waits for passengers of a late train, but at most {facts['grace']} minutes, "
            "and leaves as soon as they are on it."
        )
        train += f" Today the train comes {facts['delay']} minutes late."
    else:
        train += " Today the train is on time."
    told = f"{buses} {train}" if facts["bus_first"] else f"{train} {buses}"
    question = (
        f"{told} The ride to the {facts['place']} takes {facts['ride']} minutes.\n\n"
        f"The passenger takes the first bus that can be reached. At what time does it arrive at "
        f"the {facts['place']}?"
    )
    return _task(facts, end, slips, lines, question)


def _backward(facts: dict[str, Any]) -> dict[str, Any] | None:
    walk, ride, every = facts["walk"], facts["ride"], facts["every"]
    deadline, takes = facts["deadline"], facts["train_takes"]
    first_bus = deadline - ride - facts["buses_run"]
    first_train = first_bus - takes - facts["trains_run"]
    train_every = facts["train_every"]
    bus = _last(first_bus, every, deadline - ride)
    there = bus - walk - takes
    train = _last(first_train, train_every, there)
    no_bus = _last(first_train, train_every, deadline - ride - walk - takes)
    no_walk = _last(first_train, train_every, bus - takes)
    if no_bus == train or bus == deadline - ride or train < first_train + train_every:
        return None
    slips = {
        "the buses' times ignored, as if one left at any moment": no_bus,
        "the walk forgotten": no_walk,
        "the minute by which the train must leave, though none leaves then": there,
        "one train too early": train - train_every,
        "the departure of the bus, not of the train": bus,
    }
    lines = [
        f"{clock(deadline)} - {ride} min = {clock(deadline - ride)}: the bus must leave by then.",
        f"The last bus that does leaves at {clock(bus)}.",
        f"{clock(bus)} - {walk} min = {clock(bus - walk)}: the train must be there by then.",
        f"{clock(bus - walk)} - {takes} min = {clock(there)}: it must leave by then.",
        f"Trains: {clock(train)}, {clock(train + train_every)} (too late).",
    ]
    trains = (
        f"Trains leave at {clock(first_train)} and then every {train_every} minutes, and take "
        f"{takes} minutes to the town. There a passenger walks {walk} minutes from the platform to "
        "the bus stop."
    )
    buses = (
        f"Buses from the stop to the {facts['place']} leave at {clock(first_bus)} and then every "
        f"{every} minutes; whoever is at the stop in the minute of departure still gets on. The "
        f"ride takes {ride} minutes."
    )
    told = f"{buses} {trains}" if facts["bus_first"] else f"{trains} {buses}"
    question = (
        f"{told} All are on time.\n\nThe passenger must be at the {facts['place']} at "
        f"{clock(deadline)} or earlier. At what time does the latest train leave that still makes "
        "this possible?"
    )
    return _task(facts, train, slips, lines, question)


def _task(
    facts: dict[str, Any], key: int, slips: dict[str, int], lines: list[str], question: str
) -> dict[str, Any] | None:
    misses = {slip: why for why, slip in slips.items() if slip != key}
    if len(misses) < 3 or not 6 * 60 <= key < 24 * 60 or max(slips.values()) >= 24 * 60:
        return None
    answer = clock(key)
    is_backward = facts["path"] == "latest_train"
    reference = "\n".join([*lines, "", f"ANSWER: {answer}"]) + "\n"
    hour = (key // 60 - 1) % 12 + 1
    half = "am" if key < 12 * 60 else "pm"
    return {
        "answer": answer,
        "title": f"A connection: {facts['path'].replace('_', ' ')}",
        "difficulty": "hard" if is_backward else "medium",
        "capability_tags": ["time", "arithmetic", "capacity_limit"],
        "verifier_type": "exact",
        "notes": f"Hinge: which bus it is. Path: {facts['path']}. Key: {' '.join(lines)}",
        "prompt": (
            f"{question} Show your working first, one step per line. The last line of your reply "
            "has this form (24-hour clock):\nANSWER: <HH:MM>\n"
        ),
        "expected": {"clock": answer},
        "limits": {"answer_tokens": max(256, 4 * len(reference) // 2)},
        "reference": reference,
        "also_right": [
            f"**ANSWER: {answer}**",
            f"{lines[-1]}\nThe answer is {answer}.",
            f"ANSWER: {hour}:{key % 60:02d} {half}",
        ],
        "near_misses": [
            {"output": f"ANSWER: {clock(slip)}", "reason": "wrong_answer", "why": why}
            for slip, why in misses.items()
        ],
    }
