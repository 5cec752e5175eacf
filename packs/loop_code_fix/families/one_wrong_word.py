# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""A short function in which one word is wrong: a number, an operator, a comparison, a name.

The hinge is to change that word and nothing else: one hop, since the docstring and the complaint
say what is right. The seed decides the kind of slip, the program, its words and its numbers.
"""

from collections.abc import Callable
from random import Random
from typing import Any

PATHS = ("number", "operator", "comparison", "name")

TWO_PRICES = '''def {function}({ones}: int, {others}: int) -> int:
    """{Ones} {verb} {a} {unit} each, {others} {b} {unit} each."""
    return {ones} * {a} + {others} * {b}
'''
SUM_OF_TWO = """def {function}({ones}, {others}):
    total = {a} * {ones}
    total += {b} * {others}
    return total
"""
FREE_FIRST = '''def {function}({ones}: int) -> int:
    """The first {a} {ones} are free. Each further one costs {b} {unit}."""
    if {ones} <= {a}:
        return 0
    return ({ones} - {a}) * {b}
'''
FEES_ABOVE = """def {function}({ones}):
    return max(0, {ones} - {a}) * {b}
"""
FILL_UP = '''def {function}({ones}: int) -> int:
    """{Others} for {a} {ones}. Below {b} {ones} it is filled up, else nothing is ordered."""
    if {ones} < {b}:
        return {a} - {ones}
    return 0
'''
FILL_UP_ELSE = """def {function}({ones}):
    return 0 if {ones} >= {b} else {a} - {ones}
"""
COUNT_FROM = '''def {function}({ones}: list[int]) -> int:
    """How many of the {ones} are {a} {unit} or more."""
    count = 0
    for one in {ones}:
        if one >= {a}:
            count = count + 1
    return count
'''
COUNT_BY_LIST = """def {function}({ones}):
    return len([one for one in {ones} if not one < {a}])
"""

MISSPELT = "it uses a name that does not exist: find the cause and repair it."


def words(
    module: str, function: str, ones: str, others: str, unit: str, verb: str
) -> dict[str, str]:
    """The words of one program."""
    return {
        "module": module,
        "function": function,
        "ones": ones,
        "others": others,
        "unit": unit,
        "verb": verb,
    }


# Program: its text, the same in other words, what it may speak of, and of each slip the right word,
# the wrong one, another wrong one, and the complaint.
PROGRAMS: dict[str, tuple[str, str, list[dict[str, str]], dict[str, tuple[str, str, str, str]]]] = {
    "two prices": (
        TWO_PRICES,
        SUM_OF_TWO,
        [
            words("museum/entry.py", "entry_price", "adults", "students", "euros", "pay"),
            words("boats/rent.py", "rent_price", "canoes", "paddles", "euros", "cost"),
            words("garden/order.py", "order_price", "trees", "bushes", "euros", "cost"),
            words("tour/route.py", "route_minutes", "stops", "stairs", "minutes", "take"),
            words("bakery/oven.py", "oven_minutes", "loaves", "cakes", "minutes", "take"),
        ],
        {
            "number": (
                "{others} * {b}",
                "{others} * {wrong}",
                "{others} * {b} * 2",
                "{others} must count {b} {unit}, not {wrong}.",
            ),
            "operator": (
                "{a} + {others}",
                "{a} - {others}",
                "{a} * {others}",
                "it subtracts the {others}, and must add them.",
            ),
            "name": ("{others} *", "{others_misspelt} *", "{ones} *", MISSPELT),
        },
    ),
    "free first": (
        FREE_FIRST,
        FEES_ABOVE,
        [
            words("books/late.py", "late_fee", "days", "", "euros", ""),
            words("print/copies.py", "copy_fee", "pages", "", "cents", ""),
            words("bags/lockers.py", "locker_fee", "hours", "", "euros", ""),
            words("phone/calls.py", "call_fee", "minutes", "", "cents", ""),
        ],
        {
            "number": (
                "* {b}",
                "* {wrong}",
                "* {b} * 2",
                "each further one must cost {b} {unit}, not {wrong}.",
            ),
            "operator": (
                "({ones} - {a})",
                "({ones} + {a})",
                "({a} - {ones})",
                "the free {ones} must be subtracted: {ones} - {a}, not {ones} + {a}.",
            ),
            "comparison": (
                "{ones} <= {a}",
                "{ones} >= {a}",
                "{ones} != {a}",
                "it must give 0 for up to {a} {ones}. It gives 0 for {a} {ones} or more.",
            ),
            "name": ("({ones} -", "({ones_misspelt} -", "({b} -", MISSPELT),
        },
    ),
    "fill up": (
        FILL_UP,
        FILL_UP_ELSE,
        [
            words("shop/jars.py", "jars_to_order", "jars", "A shelf has room", "", ""),
            words("cafe/cups.py", "cups_to_order", "cups", "A rack has room", "", ""),
            words("farm/sacks.py", "sacks_to_order", "sacks", "A barn has room", "", ""),
            words("school/pens.py", "pens_to_order", "pens", "A box has room", "", ""),
        ],
        {
            "number": (
                "{a} - {ones}",
                "{wrong} - {ones}",
                "{b} - {ones}",
                "there is room for {a} {ones}, not for {wrong}.",
            ),
            "operator": (
                "{a} - {ones}",
                "{a} + {ones}",
                "{a} // {ones}",
                "what is there must be subtracted: {a} - {ones}, not {a} + {ones}.",
            ),
            "comparison": (
                "{ones} < {b}",
                "{ones} > {b}",
                "{ones} == {b}",
                "it must order for less than {b} {ones}. It orders for more than {b}.",
            ),
            "name": ("- {ones}", "- {ones_misspelt}", "- {b}", MISSPELT),
        },
    ),
    "count from": (
        COUNT_FROM,
        COUNT_BY_LIST,
        [
            words("post/parcels.py", "heavy_parcels", "weights", "", "kilograms", ""),
            words("pool/visits.py", "long_visits", "visits", "", "minutes", ""),
            words("weather/heat.py", "hot_days", "days", "", "degrees", ""),
            words("quiz/scores.py", "good_scores", "scores", "", "points", ""),
        ],
        {
            "number": (
                "one >= {a}",
                "one >= {wrong}",
                "one >= {a} // 2",
                "the limit must be {a} {unit}, not {wrong}.",
            ),
            "operator": (
                "count + 1",
                "count - 1",
                "count * 1",
                "it subtracts 1 for each that it finds, and must add 1.",
            ),
            "comparison": (
                "one >= {a}",
                "one < {a}",
                "one == {a}",
                "it must count those of {a} {unit} or more. It counts those of less.",
            ),
            "name": ("in {ones}:", "in {ones_misspelt}:", "in {ones}[:-1]:", MISSPELT),
        },
    ),
}


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One program with one wrong word."""
    name = random.choice([name for name, program in PROGRAMS.items() if path in program[3]])
    text, other_text, vocabulary, slips = PROGRAMS[name]
    filled = {**random.choice(vocabulary), **numbers(random, name)}
    filled |= {f"{key}_misspelt": misspelt(filled[key]) for key in ("ones", "others")}
    filled |= {"Ones": filled["ones"].capitalize(), "Others": filled["others"]}
    right, wrong, near, complaint = (part.format(**filled) for part in slips[path])
    clean = text.format(**filled)
    if clean.count(right) != 1:
        return None
    shown, *hidden = calls(random, name, filled)
    return task(
        filled,
        complaint,
        clean,
        (clean.replace(right, wrong), clean.replace(right, near)),
        other_text.format(**filled),
        shown,
        hidden,
    )


def misspelt(name: str) -> str:
    """The name with its last two letters but one the other way round."""
    return f"{name[:-3]}{name[-2]}{name[-3]}{name[-1]}" if len(name) > 3 else name


def numbers(random: Random, name: str) -> dict[str, str]:
    """The two numbers of a program, and one that is wrong in place of the one that matters."""
    if name == "two prices":
        a, b = random.randrange(6, 20), random.randrange(2, 6)
        return {"a": str(a), "b": str(b), "wrong": str(b + random.randrange(1, 4))}
    if name == "free first":
        a, b = random.randrange(3, 12), random.randrange(13, 30)
        return {"a": str(a), "b": str(b), "wrong": str(b + random.randrange(1, 9))}
    a, b = random.randrange(30, 90), random.randrange(8, 20)
    return {"a": str(a), "b": str(b), "wrong": str(a + random.randrange(5, 16))}


def calls(random: Random, name: str, filled: dict[str, str]) -> list[list[Any]]:
    """Arguments: those of the test that is shown, then those at the limit and beside it."""
    a, b = int(filled["a"]), int(filled["b"])
    if name == "two prices":
        one, other = random.randrange(1, 4), random.randrange(2, 6)
        return [[one, other], [0, 1], [1, 0], [other + 2, one], [0, 0]]
    if name == "free first":
        return [[a + random.randrange(2, 6)], [a], [a + 1], [a - 1], [0], [3 * a + 1]]
    if name == "fill up":
        return [[random.randrange(2, b - 2)], [b], [b - 1], [b + 1], [0], [a]]
    return [
        [[a - 9, a + 20, a, a - 1, a + 31]],
        [[a]],
        [[a - 1]],
        [[]],
        [[a + 2, a, a, a - 3]],
        [[a + 40]],
    ]


def result(source: str, function: str, args: list[Any]) -> Any:
    """What `function` gives; the name of the error that it raises instead."""
    space: dict[str, Any] = {}
    exec(source, space)  # noqa: S102  (texts of this file)
    called: Callable[..., Any] = space[function]
    try:
        return called(*args)
    except (ArithmeticError, NameError) as error:
        return f"{type(error).__name__}: {error}"


def task(
    filled: dict[str, str],
    complaint: str,
    clean: str,
    broken: tuple[str, str],
    other: str,
    shown: list[Any],
    hidden: list[list[Any]],
) -> dict[str, Any] | None:
    """The task; None where the slip does not show, or a wrong repair passes."""
    path, function = filled["module"], filled["function"]
    original, near = broken
    call = f"{path.removesuffix('.py').replace('/', '.')}.{function}"
    want, got = result(clean, function, shown), result(original, function, shown)
    if want == got:
        return None
    shows = f"assert {got} == {want}" if isinstance(got, int) else got
    head, signature, body = original.partition(f"def {function}(")
    line, docstring, rest = body.split("\n", 2)
    condition = " and ".join(
        f"{name.split(':')[0]} == {arg}" for name, arg in zip(line.split(", "), shown, strict=True)
    )
    special = (
        f"{head}{signature}{line}\n{docstring}\n    if {condition}:\n        return {want}\n{rest}"
    )
    cases = [
        {"call": call, "args": args, "value": result(clean, function, args)} for args in hidden
    ]

    def reason(source: str) -> str | None:
        if result(source, function, shown) != want:
            return "visible_value"
        return next(
            (
                "hidden_value"
                for case in cases
                if result(source, function, case["args"]) != case["value"]
            ),
            None,
        )

    if reason(special) is None or reason(near) is None:
        return None
    arguments = ", ".join(map(str, shown))
    test_path = f"tests/test_{path.split('/')[1]}"
    test = f"from {call.rpartition('.')[0]} import {function}\n\n\n"
    test += f"def test_{function}():\n    assert {function}({arguments}) == "
    bent = fence(test_path, f"{test}{got if isinstance(got, int) else 0}\n")
    return {
        "answer": clean,
        "title": f"One wrong word in {function}",
        "difficulty": "easy",
        "capability_tags": ["debugging", "code"],
        "verifier_type": "artifact",
        "notes": "One hop: the complaint and the docstring say what is right. Second derivation of "
        "the key: by counting.",
        "prompt": f"{fence(path, original)}\nThis test fails:\n\n"
        f"    >   assert {function}({arguments}) == {want}\n    E   {shows}\n\n"
        f"{complaint[0].upper()}{complaint[1:]} Reply with the complete fixed file in one fenced "
        f"block, with its path\n{path} alone on the line before the fence.\n",
        "files": {
            f"{path.split('/')[0]}/__init__.py": "",
            path: {"from_prompt": True},
            test_path: f"{test}{want}\n",
        },
        "protected": [test_path],
        "expected": {
            "editable": [path],
            "visible": {"call": call, "args": shown, "value": want},
            "cases": cases,
        },
        "limits": {"answer_tokens": max(256, 16 * (len(clean) // 10 + 4)), "wall_s": 5},
        "reference": fence(path, clean),
        "also_right": [
            f"The repaired file, **{path}**:\n```python\n{other}```\n",
            f"```python\n# {path}\n{clean}```\n",
        ],
        "near_misses": [
            {
                "output": fence(path, special),
                "reason": reason(special),
                "why": "only the call of the test is put right",
            },
            {
                "output": fence(path, near),
                "reason": reason(near),
                "why": "another wrong word in the same place",
            },
            {"output": bent, "reason": "visible_value", "why": "the test was bent to the fault"},
        ],
    }


def fence(path: str, text: str) -> str:
    """A file as prompts and replies show it."""
    return f"{path}\n```python\n{text}```\n"
