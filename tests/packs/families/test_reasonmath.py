"""The keys of drawn instances once more, out of the words of their prompts and by other ways."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from fractions import Fraction

from bench_loop.config import bundled
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.engine.families import load_family

DRAWS = 200
SEED = 99
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
MINUTE = dt.timedelta(minutes=1)


def drawn(family: str) -> Iterator[tuple[BenchmarkTask, str]]:
    """Instances and their prompts."""
    for instance in load_family(bundled("packs") / "reasonmath", family).instances(SEED, DRAWS):
        yield instance.task, instance.task.messages[0].content


def number(pattern: str, prompt: str, default: str | None = None) -> Fraction:
    """The number in the group of `pattern`."""
    found = re.search(pattern, prompt)
    if found is None:
        assert default is not None, (pattern, prompt)
        return Fraction(default)
    return Fraction(found[1])


class Tank:
    """A tank that is filled by rain, as a prompt describes it."""

    def __init__(self, prompt: str) -> None:
        if sides := re.search(r"(\d+) cm x (\d+) cm x (\d+) cm", prompt):
            self.capacity = Fraction(1)
            for side in sides.groups():
                self.capacity *= Fraction(side) / 10
        else:
            self.capacity = number(r"holds ([\d.]+) cubic metres?", prompt) * 1000
        self.level = number(r"(\d+) litres are in", prompt)
        self.to_flush = number(r"The first (\d+) litres", prompt, "0")
        self.used = number(r"After the rain (\d+) litres are used", prompt, "0")
        kept = re.search(r"only (\d+) % enters", prompt)
        lost = 100 - int(kept[1]) if kept else number(r"(\d+) % is lost", prompt)
        self.share = 1 - Fraction(lost) / 100
        self.roof = number(r"of (\d+) square metres", prompt, "0")
        self.rain = number(r"(\d+) mm of rain fall", prompt, "0")
        self.spilled = Fraction(0)

    def pour(self, litres: Fraction) -> None:
        """Let rain fall on the roof."""
        arriving = litres * self.share
        flushed = min(arriving, self.to_flush)
        self.to_flush -= flushed
        taken = min(arriving - flushed, self.capacity - self.level)
        self.level += taken
        self.spilled += arriving - flushed - taken


def fills(prompt: str, litres: Fraction) -> bool:
    tank = Tank(prompt)
    tank.pour(litres)
    return tank.level == tank.capacity


def test_the_tank_filled_millimetre_by_millimetre() -> None:
    for task, prompt in drawn("tank-balance"):
        tank = Tank(prompt)
        key = Fraction(str(task.expected["value"]))
        if "would just fill" in prompt or "must the roof have" in prompt:
            given = tank.roof or tank.rain
            low, high = Fraction(0), Fraction(4000)
            while high - low > Fraction(1, 100_000):
                middle = (low + high) / 2
                low, high = (low, middle) if fills(prompt, given * middle) else (middle, high)
            assert abs(high - key) < Fraction(1, 1000), prompt
            continue
        for _ in range(int(tank.rain)):
            tank.pour(tank.roof)
        asked = tank.spilled if "run over?" in prompt else tank.level - tank.used
        assert asked == key, prompt


def at(clock: str) -> dt.datetime:
    hour, minute = clock.split(":")
    return dt.datetime(2026, 5, 4, int(hour), int(minute), tzinfo=dt.UTC)


def departures(pattern: str, prompt: str) -> list[dt.datetime]:
    """All departures of a day, from `leave at HH:MM and then every n minutes`."""
    found = re.search(
        rf"{pattern}[^.]*? leave[^.]*? at (\d\d:\d\d) and then every (\d+) minutes", prompt
    )
    assert found, prompt
    times = [at(found[1])]
    while times[-1].day == times[0].day:
        times.append(times[-1] + int(found[2]) * MINUTE)
    return times


def ride(prompt: str, at_stop: dt.datetime) -> dt.datetime:
    """The end of the first ride for somebody who is at the stop then, minute by minute."""
    buses = departures("Buses", prompt)
    grace = int(number(r"at most (\d+) minutes", prompt, "0"))
    leaving = next(bus for bus in buses if bus + grace * MINUTE >= at_stop)
    now = at_stop
    while now < leaving:
        now += MINUTE
    return now + int(number(r"takes (\d+) minutes(?! to the town)", prompt)) * MINUTE


def test_the_connection_by_making_the_trip() -> None:
    for task, prompt in drawn("connection"):
        walk = int(number(r"walks (\d+) minutes", prompt)) * MINUTE
        if "latest train" in prompt:
            takes = int(number(r"take (\d+) minutes to the town", prompt)) * MINUTE
            deadline = re.search(r"at (\d\d:\d\d) or earlier", prompt)
            assert deadline
            trains = departures("Trains", prompt)
            in_time = [
                train
                for train in trains
                if train < at(deadline[1]) and ride(prompt, train + takes + walk) <= at(deadline[1])
            ]
            assert f"{in_time[-1]:%H:%M}" == task.expected["clock"], prompt
            continue
        due = re.search(r"due at (\d\d:\d\d)", prompt)
        assert due
        late = int(number(r"comes (\d+) minutes late", prompt, "0")) * MINUTE
        end = ride(prompt, at(due[1]) + late + walk)
        assert f"{end:%H:%M}" == task.expected["clock"], prompt


def keeps(statement: str, day_of: dict[str, int]) -> bool:
    """Whether the days known so far do not break a statement."""
    one, *rest = re.findall(r"\b[A-Z][a-z]+\b", statement)
    if statement.startswith("Between"):
        one, other = rest[:2]
        gap = 2 if "two days" in statement else 1
        known = one in day_of and other in day_of
        return not known or abs(day_of[one] - day_of[other]) == gap + 1
    if "can work on" in statement:
        return one not in day_of or DAYS[day_of[one]] in rest
    if "does not work on" in statement:
        return one not in day_of or DAYS[day_of[one]] != rest[0]
    if one not in day_of or rest[0] not in day_of:
        return True
    later = day_of[one] - day_of[rest[0]]
    if "on the day right after" in statement and "later" not in statement:
        return later == 1
    return later > 1 if "later" in statement else later < 0


def rosters(
    people: list[str], statements: list[str], day_of: dict[str, int]
) -> Iterator[dict[str, int]]:
    """Every roster, person by person, given up where a statement is broken."""
    if not all(keeps(statement, day_of) for statement in statements):
        return
    if len(day_of) == len(people):
        yield day_of
        return
    for day in set(range(len(people))) - set(day_of.values()):
        yield from rosters(people, statements, {**day_of, people[len(day_of)]: day})


def test_the_roster_person_by_person() -> None:
    for task, prompt in drawn("day-roster"):
        first, *_ = prompt.split(" each work")
        people = re.findall(r"[A-Z][a-z]+", first)
        statements = [line[2:] for line in prompt.splitlines() if line.startswith("- ")]
        found = list(rosters(people, statements, {}))
        assert [sorted(one, key=one.__getitem__) for one in found] == [task.expected["items"]], (
            prompt
        )


def dated(text: str, year: int) -> dt.date:
    found = re.search(r"(\d+) ([A-Z][a-z]+)", text)
    assert found
    day = dt.datetime.strptime(f"{found[1]} {found[2]} {year}", "%d %B %Y").replace(tzinfo=dt.UTC)
    name = text.split(",")[0].split()[-1]
    assert f"{day:%A}" == name, text
    return day.date()


def test_the_due_day_counted_on_the_calendar() -> None:
    for task, prompt in drawn("loan-due"):
        lent = re.search(r"was lent on (\w+, \d+ \w+) (\d{4})\.", prompt)
        closed = re.search(r"closed on every (\w+), and also on (.*) and (.*)\.", prompt)
        assert lent
        assert closed
        year = int(lent[2])
        asked = re.search(r"On (\w+, \d+ \w+) the borrower asked", prompt)
        reserved = re.search(r"On (\w+, \d+ \w+) somebody else reserved", prompt)
        holidays = {dated(closed[2], year), dated(closed[3], year)}
        first_day = dated(lent[1], year)
        calendar = [first_day + dt.timedelta(days=n) for n in range(90)]
        is_open = [f"{day:%A}" != closed[1] and day not in holidays for day in calendar]
        end = int(number(r"is lent for (\d+) days", prompt))
        end = is_open.index(True, end)
        is_extended = asked is not None
        if asked and reserved:
            is_extended = dated(asked[1], year) < dated(reserved[1], year)
        if is_extended:
            end = is_open.index(True, end + int(number(r"once, by (\d+) days", prompt)))
        assert calendar[end].isoformat() == task.expected["date"], prompt
