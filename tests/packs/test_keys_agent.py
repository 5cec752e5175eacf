"""The agent suite: its keys once more by other ways.

The official tasks of its families are solved again beside their instances, in
`families/test_agent.py`.
"""

from __future__ import annotations

import configparser
import re
from fractions import Fraction
from typing import Any

from bench_loop.engine.packs import load_pack

PACK = load_pack("agent")
TASKS = {task.id: task for task in PACK.tasks}


def expected(name: str) -> Any:
    return TASKS[f"agent.{name}"].expected


def files(name: str) -> dict[str, str]:
    return TASKS[f"agent.{name}"].files


def prompt(name: str) -> str:
    return " ".join(TASKS[f"agent.{name}"].messages[0].content.split())


def test_the_chairs_counted_on() -> None:
    rows = dict(line.split(",") for line in files("chair-count")["stock.csv"].splitlines())
    rows["chair"] = str(int(rows["chair"]) + 12)
    wanted = expected("chair-count")
    assert wanted["workspace"]["lines"]["stock.csv"] == [f"{k},{v}" for k, v in rows.items()]
    assert wanted["answer"]["value"] == int(rows["chair"])


def test_the_notice_with_its_times_numbered() -> None:
    notice = files("closing-time")["notice.txt"]
    times = re.findall(r"\d\d:\d\d", notice)
    closing = times[5]
    (new,) = re.findall(r"\d\d:\d\d", prompt("closing-time"))
    assert len(times) == 6
    assert notice.count(closing) == 1
    wanted = expected("closing-time")
    assert wanted["answer"]["parts"] == [closing]
    assert wanted["workspace"]["lines"]["notice.txt"] == notice.replace(closing, new).splitlines()
    assert set(wanted["answer"]["among"]) == {*times, new}


def test_one_sentence_alone_has_shed_spare_and_hook() -> None:
    sentences = re.split(r"[.\n]", "\n".join(files("spare-key").values()))
    hooks = {
        number
        for sentence in sentences
        for number in re.findall(r"hook (\d+)", sentence)
        if "spare" in sentence.lower() and "boat shed" in sentence
    }
    assert sorted(hooks) == expected("spare-key")["answer"]["parts"]
    assert set(re.findall(r"hook (\d+)", "".join(sentences))) == set(
        expected("spare-key")["answer"]["among"]
    )


def test_the_seal_as_a_polynomial() -> None:
    data = b"\x07" + files("list-seal")["members.csv"].encode()
    seal = sum(byte * 131**power for power, byte in enumerate(reversed(data))) % 99991
    assert expected("list-seal")["answer"]["value"] == seal
    assert expected("list-seal")["workspace"]["lines"] == {"seal.txt": [str(seal)]}


def test_the_limit_set_over_what_is_in_force() -> None:
    parser = configparser.ConfigParser()
    own = configparser.ConfigParser()
    for name in ("vendor/defaults.ini", "local/overrides.ini"):
        parser.read_string(files("override-not-vendor")[name])
    own.read_string(files("override-not-vendor")["local/overrides.ini"])
    assert parser["upload"]["max_mb"] == "10"
    for one in (parser, own):
        one.read_dict({"upload": {"max_mb": "25"}})
    wanted = [
        {
            f"{section}.{key}": value
            for section in one.sections()
            for key, value in one[section].items()
        }
        for one in (parser, own)
    ]
    rules = expected("override-not-vendor")["workspace"]["settings"]
    assert [rule["values"] for rule in rules] == wanted


def test_the_fares_stop_by_stop() -> None:
    readme = files("downhill-fare")["README.md"]
    stops = re.findall(r"\w+", re.search(r"from below: ([^.]*)", readme)[1])  # type: ignore[index]

    def ride(start: str, end: str) -> int:
        cents, car = 120, stops.index(start)
        while stops[car] != end:
            car, cents = car + (1 if car < stops.index(end) else -1), cents + 80
        return cents

    wanted = expected("downhill-fare")
    cases = [wanted["visible"], *wanted["cases"]]
    for case in cases:
        if "raises" in case:
            assert not set(case["args"]) <= set(stops)
            continue
        start, end = case["args"]
        both = ride(start, end) + ride(end, start)
        known = {"tickets.single": ride(start, end), "tickets.return_ticket": both * 9 // 10}
        assert case["value"] == known[case["call"]], case
    assert "costs 504" in prompt("downhill-fare")
    assert wanted["visible"]["value"] == 504


def test_the_sap_in_hundredths_of_a_litre() -> None:
    rows = {
        name: [line.split(";") for line in text.splitlines()]
        for name, text in files("sap-total").items()
        if name.startswith("sheets/")
    }
    hundredths = {
        name: [[day, Fraction(litres.replace(",", ".") or "0") * 100] for day, litres in lines]
        for name, lines in rows.items()
    }
    total = sum(amount for lines in hundredths.values() for _, amount in lines)
    wanted = expected("sap-total")
    assert wanted["answer"]["value"] * 100 == total
    assert wanted["workspace"]["lines"] == {"total.txt": [f"{float(total) / 100:.2f}"]}
    for name, table in wanted["workspace"]["tables"].items():
        assert [[day, litres * 100] for day, litres in table["rows"]] == hundredths[name]
    odd = [
        name
        for name, lines in rows.items()
        if any(not re.fullmatch(r"[\d.]+", x) for _, x in lines)
    ]
    assert odd == list(wanted["workspace"]["tables"])
