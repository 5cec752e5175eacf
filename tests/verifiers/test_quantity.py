"""A quantity is read as a careful person reads it, and doubt is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bench_loop.verifiers.extraction import plain
from bench_loop.verifiers.quantity import read_quantity

LENGTHS = {"": Fraction(1), "m": Fraction(1), "metres": Fraction(1), "km": Fraction(1000)}
TIMES = {"minutes": Fraction(1), "min": Fraction(1), "h": Fraction(60), "hours": Fraction(60)}
SHARES = {"": Fraction(1), "%": Fraction(1, 100), "percent": Fraction(1, 100)}
VOLUMES = {"": Fraction(1), "litres": Fraction(1), "m^3": Fraction(1000)}
MONEY = {"": Fraction(1), "€": Fraction(1), "euros": Fraction(1)}


@pytest.mark.parametrize(
    ("line", "units", "value"),
    [
        ("5", LENGTHS, "5"),
        ("(42).", LENGTHS, "42"),
        ("-5", LENGTHS, "-5"),
        ("−5", LENGTHS, "-5"),
        ("minus 5", LENGTHS, "-5"),
        ("+5", LENGTHS, "5"),
        ("1,234,567.5", LENGTHS, "1234567.5"),
        ("8,000", LENGTHS, "8000"),
        ("12 345", LENGTHS, "12345"),
        ("12’345", LENGTHS, "12345"),
        (".5", LENGTHS, "0.5"),
        ("1.2e3", LENGTHS, "1200"),
        ("1.2 × 10³", LENGTHS, "1200"),
        ("1.2 \\times 10^{3}", LENGTHS, "1200"),
        ("3/4", LENGTHS, "0.75"),
        ("1 3/4", LENGTHS, "1.75"),
        ("1½ km", LENGTHS, "1500"),
        ("\\frac{3}{4}", LENGTHS, "0.75"),
        ("1\\frac{1}{2}", LENGTHS, "1.5"),
        ("5 km", LENGTHS, "5000"),
        ("5km", LENGTHS, "5000"),
        ("5 metres of rope", LENGTHS, "5"),
        ("<5> km", LENGTHS, "5000"),
        ("2 + 3 = 5 km", LENGTHS, "5000"),
        ("x = 5", LENGTHS, "5"),
        ("about 5 km", LENGTHS, "5000"),
        ("≈ 5 km", LENGTHS, "5000"),
        ("5 km (that is 2 + 3)", LENGTHS, "5000"),
        ("5 km (5000 m)", LENGTHS, "5000"),
        ("5 km or 5000 m", LENGTHS, "5000"),
        ("5 km, 200 m", LENGTHS, "5200"),
        ("3 4", LENGTHS, "4"),
        ("route B12: 5 km", LENGTHS, "5000"),
        ("1 h 20 min", TIMES, "80"),
        ("2 hours and 5 minutes", TIMES, "125"),
        ("75%", SHARES, "0.75"),
        ("75 %", SHARES, "0.75"),
        ("75 percent", SHARES, "0.75"),
        ("0.75", SHARES, "0.75"),
        ("0.1068 m³", VOLUMES, "106.8"),
        ("€6.50", MONEY, "6.5"),
        ("€ 6.50", MONEY, "6.5"),
        ("6.50 €", MONEY, "6.5"),
        ("EUR 6.50", MONEY, "6.5"),
        ("6.50 euros", MONEY, "6.5"),
        ("6,50 €", MONEY, "6.5"),
        ("106,8", LENGTHS, "106.8"),
        ("0,138 km", LENGTHS, "138"),
        ("3,1415 m", LENGTHS, "3.1415"),
        ("1.234,5 m", LENGTHS, "1234.5"),
        ("1,068 m", LENGTHS, "1068"),
        ("4,950 - 4,812 = 138 m", LENGTHS, "138"),
        ("106 ⅘ km", LENGTHS, "106800"),
        ("106⅘ km", LENGTHS, "106800"),
        ("٣٫٥ km", LENGTHS, "3500"),
        ("12\u2009345 m", LENGTHS, "12345"),
        ("5\u202fkm", LENGTHS, "5000"),
        ("2 km → 2000 m", LENGTHS, "2000"),
        ("2 + 3 => 5 km", LENGTHS, "5000"),
        ("5 km because 2 + 3 is 5 and 4 is less", LENGTHS, "5000"),
        ("5 km, i.e. 2 + 3", LENGTHS, "5000"),
        ("5 km!", LENGTHS, "5000"),
        ("ninety-six km", LENGTHS, "96000"),
        ("one hundred and thirty-eight", LENGTHS, "138"),
        ("Two thousand five hundred m", LENGTHS, "2500"),
        ("zero", LENGTHS, "0"),
        ("six euros", MONEY, "6"),
        ("one hour and twenty minutes", {**TIMES, "hour": Fraction(60)}, "80"),
    ],
)
def test_a_quantity_is_read(line: str, units: dict[str, Fraction], value: str) -> None:
    assert read_quantity(plain(line), units).value == Fraction(value)


@pytest.mark.parametrize(
    "line",
    [
        "no number here",
        "5 or 6",
        "5 km or 6 km",
        "5 km or maybe 6",
        "x = 5 or x = 6",
        "between 5 and 6 km",
        "5 to 6 km",
        "5-6 km",
        "5 – 6",
        "5–6 km",
        "5 km - 6 km",
        "5..6",
        "5, 6",
        "5 & 6",
        "5 and 6",
        "5 ± 1",
        "5 km, rounded to 6",
        "at least 5 km",
        "more than 5 km",
        "≥ 5",
        "> 5 km",
        "< 5 km",
        "not 5 km",
        "3/4/2026",
        "856.8 - 750",
        "5,6,7",
        "1,234,56",
        "5·6",
        "<= 5",
        "=< 5 km",
        ">= 5",
        "x <= 5 km",
        "5 km do not fit",
        "5 km isn't enough",
        "five or six",
        "five to six km",
        "one two",
        "twenty eleven",
        "not five",
        "5/0",
        "19:42",
        "1.2.3",
    ],
)
def test_doubt_is_refused(line: str) -> None:
    assert read_quantity(plain(line), LENGTHS).reason == "no_single_answer"


@pytest.mark.parametrize(
    "line", ["5 miles", "5 km/h", "5 km per hour", "5 km²", "5%", "5 kmh", "5^2", "5 dozen", "5k"]
)
def test_a_foreign_unit_is_refused(line: str) -> None:
    assert read_quantity(plain(line), LENGTHS).reason == "unknown_unit"


def test_a_bare_number_is_refused_where_the_task_wants_a_unit() -> None:
    assert read_quantity("80", TIMES).reason == "unknown_unit"


def test_a_foreign_currency_is_refused() -> None:
    assert read_quantity("£6.50", MONEY).reason == "unknown_unit"
    assert read_quantity(plain("$6.50"), MONEY).reason == "unknown_unit"
    assert read_quantity(plain("6.50 $"), MONEY).reason == "unknown_unit"
    assert read_quantity(plain("6.50 \\$"), MONEY).reason == "unknown_unit"
    assert read_quantity(plain("$6.50$"), MONEY).value == Fraction("6.5")
