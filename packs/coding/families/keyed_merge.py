# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""Keyed merge: two lists of records become one, by a key and a rule for what both of them hold.

The hinge is the rule where both sides speak: the newer one, the one that says something, the sum,
the side that changed since a common base, or the last of several changes. The path is that rule;
the seed also decides ties, the order of the result and what becomes of zeros, gaps and conflicts.
"""

from copy import deepcopy
from random import Random
from typing import Any

PATHS = ("newer", "fields", "total", "three_way", "changes")
SKINS = (
    ("boats", "berth", "B", ("length", "depth")),
    ("tools", "tag", "T", ("shelf", "drawer")),
    ("plots", "plot", "P", ("beds", "taps")),
    ("rooms", "room", "R", ("seats", "lamps")),
    ("kilns", "kiln", "K", ("trays", "hours")),
    ("hives", "hive", "H", ("frames", "boxes")),
    ("carts", "cart", "C", ("crates", "straps")),
    ("looms", "loom", "L", ("reels", "shafts")),
)
VERBS = ("merge", "join", "combine", "unite")
FEWEST_MISSES = 3
MORE = 3
"""Hidden cases beside those that are needed to tell the near misses apart."""
DIFFICULTY = {
    "newer": "medium",
    "fields": "medium",
    "total": "medium",
    "three_way": "hard",
    "changes": "medium",
}

ORDER = {"sorted": "sorted({rows})", "first": "{rows}"}
ORDER_RULE = {
    "sorted": "The result is sorted by {key}, ascending.",
    "first": "The result has each {key} at the place where it comes up first: those of ours in "
    "their order, then those that only theirs has, in their order.",
}
DICT = '    merged = {{row["{key}"]: dict(row) for row in ours}}\n'
GIVE = "    return [merged[key] for key in {keys}]\n"
APPEND_AND_SORT = """\
    {sort}return result
"""

RIGHT: dict[str, tuple[str, str, str]] = {
    "newer": (
        "def {name}(ours, theirs):\n"
        + DICT
        + """\
    for row in theirs:
        known = merged.get(row["{key}"])
        if known is None or row["changed"] {over} known["changed"]:
            merged[row["{key}"]] = dict(row)
"""
        + GIVE,
        """def {name}(ours, theirs):
    both = enumerate((ours, theirs))
    sided = [(row["changed"], {sides}, row) for at, rows in both for row in rows]
    found = dict.fromkeys(row["{key}"] for _, _, row in sided)
    result = []
    for key in {found}:
        rivals = [one for one in sided if one[2]["{key}"] == key]
        result.append(max(rivals, key=lambda one: one[:2])[2])
    return result
""",
        """def {name}(ours, theirs):
    rest = {{row["{key}"]: row for row in theirs}}
    result = []
    for row in ours:
        other = rest.pop(row["{key}"], row)
        result.append(other if other["changed"] {over} row["changed"] else row)
    result.extend(rest.values())
    {sort}return result
""",
    ),
    "fields": (
        "def {name}(ours, theirs):\n"
        + DICT
        + """\
    for row in theirs:
        known = merged.setdefault(row["{key}"], dict(row))
        for field, value in row.items():
            if {wins}:
                known[field] = value
"""
        + GIVE,
        """def {name}(ours, theirs):
    mine = {{row["{key}"]: row for row in ours}}
    other = {{row["{key}"]: row for row in theirs}}
    result = []
    for key in {both}:
        row = {{"{key}": key}}
        for field in ("{field}", "{field2}"):
            said = [side[key][field] for side in ({strong}, {weak}) if key in side]
            row[field] = next((value for value in said if value is not None), None)
        result.append(row)
    return result
""",
        """def {name}(ours, theirs):
    def both(row, other):
        strong, weak = {strong_row}, {weak_row}
        return {{
            field: weak.get(field) if strong[field] is None else strong[field] for field in strong
        }}

    others = {{other["{key}"]: other for other in theirs}}
    result = [both(row, others.get(row["{key}"], row)) for row in ours]
    known = [row["{key}"] for row in ours]
    result += [dict(other) for other in theirs if other["{key}"] not in known]
    {sort}return result
""",
    ),
    "total": (
        """def {name}(ours, theirs):
    totals = {{}}
    for row in [*ours, *theirs]:
        totals[row["{key}"]] = totals.get(row["{key}"], 0) + row["{field}"]
    return [{{"{key}": key, "{field}": totals[key]}} for key in {totals}{nonzero}]
""",
        """from collections import defaultdict

def {name}(ours, theirs):
    parts = defaultdict(list)
    for side in (ours, theirs):
        for row in side:
            parts[row["{key}"]].append(row["{field}"])
    result = [{{"{key}": key, "{field}": sum(found)}} for key, found in parts.items()]
    {sort}{drop}return result
""",
        """def {name}(ours, theirs):
    rows = ours + theirs
    result, seen = [], set()
    for row in rows:
        if row["{key}"] in seen:
            continue
        seen.add(row["{key}"])
        total = sum(one["{field}"] for one in rows if one["{key}"] == row["{key}"])
        {if_kept}result.append({{"{key}": row["{key}"], "{field}": total}})
    {sort}return result
""",
    ),
    "three_way": (
        """def {name}(base, ours, theirs):
    merged, conflicts = {{}}, []
    for key in sorted({{*base, *ours, *theirs}}):
        was, mine, other = base.get(key), ours.get(key), theirs.get(key)
        if mine == other or other == was:
            value = mine
        elif mine == was:
            value = other
        else:
            conflicts.append(key)
            value = {kept}
        if value is not None:
            merged[key] = value
    return {{"merged": merged, "conflicts": conflicts}}
""",
        """def {name}(base, ours, theirs):
    def changes(side):
        changed = {{key: value for key, value in side.items() if base.get(key) != value}}
        return changed | {{key: None for key in base if key not in side}}

    mine, other = changes(ours), changes(theirs)
    conflicts = sorted(key for key in mine if key in other and mine[key] != other[key])
    merged = {{**base, **mine, **other}}
    for key in conflicts:
        merged[key] = {kept_by_get}
    merged = {{key: value for key, value in merged.items() if value is not None}}
    return {{"conflicts": conflicts, "merged": merged}}
""",
        """def {name}(base, ours, theirs):
    result = {{"merged": {{}}, "conflicts": []}}
    for key in set(base) | set(ours) | set(theirs):
        sides = [ours.get(key), theirs.get(key)]
        new = {{value for value in sides if value != base.get(key)}}
        if len(new) == 2:
            result["conflicts"].append(key)
            value = {kept_by_get}
        else:
            value = new.pop() if new else base.get(key)
        if value is not None:
            result["merged"][key] = value
    result["conflicts"].sort()
    return result
""",
    ),
    "changes": (
        "def {name}(ours, theirs):\n"
        + DICT
        + """\
    for row in theirs:
        if row["{field}"] is not None:
            merged[row["{key}"]] = dict(row)
        elif row["{key}"] in merged:
            del merged[row["{key}"]]
{else_missing}"""
        + GIVE,
        """def {name}(ours, theirs):
    result = [dict(row) for row in ours]
    for change in theirs:
        places = [at for at, row in enumerate(result) if row["{key}"] == change["{key}"]]
        if change["{field}"] is None:
            {if_missing}result = [row for row in result if row["{key}"] != change["{key}"]]
        elif places:
            result[places[0]] = dict(change)
        else:
            result.append(dict(change))
    {sort}return result
""",
        """def {name}(ours, theirs):
    values = {{}}
    for row in ours:
        values[row["{key}"]] = row["{field}"]
    for row in theirs:
        if row["{field}"] is None:
            {pop}
        else:
            values[row["{key}"]] = row["{field}"]
    return [{{"{key}": key, "{field}": value}} for key, value in {items}]
""",
    ),
}


def slips(path: str, source: str, words: dict[str, str], clause: str) -> dict[str, str]:
    """Wrong answers: the reference with one change each, by what is wrong with them."""
    key, field = words["key"], words["field"]
    order = {
        "the result stands in another order": (
            f"in {words['totals' if path == 'total' else 'keys']}",
            f"in {words['other_totals' if path == 'total' else 'other_keys']}",
        )
    }
    wrong = {
        "newer": {
            "a tie is decided the other way": (
                f'row["changed"] {words["over"]}',
                f'row["changed"] {words["under"]}',
            ),
            f"{words['strong_name']} always counts": (
                f'if known is None or row["changed"] {words["over"]} known["changed"]',
                f"if {words['always']}",
            ),
            "what only theirs has is lost": ("known is None or row", "known is not None and row"),
            **order,
        },
        "fields": {
            "zero is taken for a gap": (words["wins"], words["wins_falsy"]),
            "the other side counts": (words["wins"], words["wins_other"]),
            "what only theirs has is lost": (
                f'        known = merged.setdefault(row["{key}"], dict(row))\n',
                f'        known = merged.get(row["{key}"], {{}})\n',
            ),
            **order,
        },
        "total": {
            "a later record replaces the ones before": (
                f'totals.get(row["{key}"], 0) + row',
                "row",
            ),
            "a key that comes up twice in one list counts once": (
                "[*ours, *theirs]",
                f'[*{{row["{key}"]: row for row in ours}}.values(), *{{row["{key}"]: row for row '
                f"in theirs}}.values()]",
            ),
            "zeros are treated the other way": (
                f"for key in {words['totals']}{words['nonzero']}",
                f"for key in {words['totals']}{words['other_nonzero']}",
            ),
            **order,
        },
        "three_way": {
            "an absent entry is taken for an unchanged one": (
                "ours.get(key), theirs.get(key)",
                "ours.get(key, base.get(key)), theirs.get(key, base.get(key))",
            ),
            "the same change on both sides is a conflict": (
                "mine == other or other == was",
                "other == was",
            ),
            "another value is kept in a conflict": (
                f"(key)\n            value = {words['kept']}",
                f"(key)\n            value = {words['other_kept']}",
            ),
            "what only theirs has is lost": ("{*base, *ours, *theirs}", "{*base, *ours}"),
            "an empty text is taken for an absent entry": ("if value is not None", "if value"),
        },
        "changes": {
            "removing what is not there is treated the other way": (
                words["else_missing"],
                words["other_missing"],
            ),
            "nothing is removed": (
                f'            del merged[row["{key}"]]\n',
                "            continue\n",
            ),
            "a changed record moves": (
                f'            merged[row["{key}"]] = dict(row)\n',
                f'            merged.pop(row["{key}"], None)\n            merged[row["{key}"]] = '
                f"dict(row)\n",
            ),
            "zero is taken for a removal": (f'if row["{field}"] is not None', f'if row["{field}"]'),
        },
    }[path]
    if path == "changes" and clause == "sorted":
        del wrong["a changed record moves"]
    return {
        why: change(source, old, new, words["else_missing"]) for why, (old, new) in wrong.items()
    }


def change(source: str, old: str, new: str, empty: str) -> str:
    """`source` with `new` for `old`; where `old` is empty, before the last line."""
    if old:
        return source.replace(old, new, 1)
    head, _, last = source.rstrip("\n").rpartition("\n")
    return f"{head}\n{new}{last}\n"


def outcomes(source: str, name: str, calls: list[list[Any]]) -> list[dict[str, Any]]:
    """What the function `name` of `source` makes of each of `calls`, as a case states it."""
    space: dict[str, Any] = {}
    exec(source, space)  # noqa: S102  (written above)
    found: list[dict[str, Any]] = []
    for call in calls:
        args = deepcopy(call)
        try:
            found.append({"value": space[name](*args)})
        except Exception as error:
            found.append({"raises": type(error).__name__})
        else:
            found[-1] |= {"leaves_arguments": args == call}
    return found


def why_wrong(got: dict[str, Any], due: dict[str, Any]) -> str:
    """The reason that the verifier gives."""
    if "raises" in got:
        return "wrong_exception" if "raises" in due else "exception"
    if "raises" in due:
        return "no_exception"
    return "wrong_value" if got["value"] != due["value"] else "changed_arguments"


def telling(due: list[dict[str, Any]], got: dict[str, list[dict[str, Any]]]) -> list[int] | None:
    """Cases by number that tell the wrong answers apart, and MORE that catch any of them.

    For each wrong answer and each other one there is a case that only the first gets wrong, or no
    case at all is given: None.
    """
    kills = [{why for why in got if got[why][at] != it} for at, it in enumerate(due)]
    kept: set[int] = set()
    for why in got:
        for other in [other for other in got if other != why]:
            fitting = [
                at for at, killed in enumerate(kills) if why in killed and other not in killed
            ]
            if not fitting:
                return None
            kept.add(min(fitting, key=lambda at: (at not in kept, len(kills[at]), at)))
    others = [at for at, killed in enumerate(kills) if killed and at not in kept]
    return sorted(kept | set(others[:MORE]))


def fence(source: str) -> str:
    return f"```python\n{source}```\n"


def records(random: Random, path: str, words: dict[str, str], letter: str) -> list[list[Any]]:
    """Arguments, each of a shape that shows one slip or several."""
    key, field, second = words["key"], words["field"], words["field2"]
    low, middle, high = (f"{letter}{number}" for number in sorted(random.sample(range(10, 99), 3)))
    x, y, z = random.sample(range(2, 40), 3)
    if path == "three_way":
        p, q, r = (f"{second} {number}" for number in (x, y, z))
        return [
            [{low: p}, {low: p}, {low: p}],
            [{low: p}, {low: q}, {low: p}],
            [{low: p}, {low: ""}, {low: p}],
            [{low: ""}, {low: ""}, {low: "", high: ""}],
            [{low: p, high: q}, {low: p, high: q}, {low: r, high: q}],
            [{low: p}, {low: q}, {low: q}],
            [{high: p, low: p}, {high: q, low: q}, {high: r, low: r}],
            [{low: p, high: q}, {high: q}, {low: p, high: q}],
            [{low: p, high: q}, {low: p, high: q}, {low: p}],
            [{low: p}, {}, {low: q}],
            [{low: p}, {low: q}, {}],
            [{}, {high: p}, {low: q}],
            [{}, {}, {low: q}],
            [{}, {middle: p}, {middle: q}],
            [{low: p, middle: q}, {}, {}],
            [
                {high: p, low: p, middle: p},
                {high: q, low: q, middle: p},
                {high: r, low: r, middle: q},
            ],
            [{}, {}, {}],
        ]

    def row(name: str, one: Any, other: Any = None) -> dict[str, Any]:
        if path == "newer":
            return {
                key: name,
                field: one,
                "changed": f"2031-0{1 + one % 9}-{10 + one % 19}" if other is None else other,
            }
        return {key: name, field: one} | ({second: other} if path == "fields" else {})

    if path == "newer":
        dates = ["2031-02-27", "2031-10-02", "2032-01-05"]
        return [
            [[row(low, x, dates[0])], [row(low, y, dates[1])]],
            [[row(low, x, dates[1])], [row(low, y, dates[0])]],
            [[row(low, x, dates[1])], [row(low, y, dates[1])]],
            [[row(high, x, dates[1])], [row(low, y, dates[0])]],
            [[row(low, x, dates[1])], [row(high, y, dates[0])]],
            [[row(high, x, dates[0]), row(low, z, dates[1])], [row(low, y, dates[2])]],
            [
                [row(middle, x, dates[0])],
                [row(high, y, dates[0]), row(middle, z, dates[2]), row(low, x, dates[1])],
            ],
            [[], [row(low, x, dates[0])]],
            [[row(high, x, dates[0]), row(low, y, dates[0])], []],
        ]
    if path == "fields":
        return [
            [[row(low, x, y)], [row(low, z, x)]],
            [[row(low, x, None)], [row(low, None, y)]],
            [[row(low, x, y)], [row(low, 0, None)]],
            [[row(low, 0, y)], [row(low, x, None)]],
            [[row(low, None, y)], [row(low, 0, None)]],
            [[row(low, 0, None)], [row(low, None, y)]],
            [[row(low, 0, None)], [row(low, None, 0)]],
            [[row(low, None, x)], [row(low, None, None)]],
            [[row(low, x, y)], [row(low, x, y)]],
            [[row(high, x, y)], [row(low, y, None)]],
            [[row(low, x, y)], [row(high, z, None)]],
            [[row(high, x, None), row(low, y, z)], []],
            [[row(middle, None, y)], [row(high, x, 0), row(middle, z, None), row(low, None, x)]],
            [[], []],
        ]
    if path == "total":
        return [
            [[row(low, x)], [row(low, y)]],
            [[row(low, x)], [row(high, y)]],
            [[row(low, x), row(low, y)], [row(high, z)]],
            [[row(low, x)], [row(low, -x)]],
            [[row(low, 0)], [row(high, y)]],
            [[row(low, x)], [row(low, 0 - x - y)]],
            [[row(high, x), row(low, y)], [row(middle, z)]],
            [[row(high, x)], [row(low, z), row(low, y)]],
            [[row(low, x), row(low, -x)], [row(low, y)]],
            [[], []],
        ]
    return [
        [[row(low, x)], [row(low, y)]],
        [[row(low, x)], [row(high, y)]],
        [[row(low, x), row(high, y)], [row(low, None)]],
        [[row(low, x)], [row(high, None)]],
        [[row(low, x)], [row(low, 0)]],
        [[row(low, x), row(high, y)], [row(low, z)]],
        [[row(high, x), row(low, y)], [row(middle, z)]],
        [[row(low, x), row(high, y)], [row(low, None), row(low, z)]],
        [[], [row(low, x), row(low, None), row(high, y)]],
        [[row(low, x)], [row(low, None), row(low, None)]],
        [[], []],
    ]


def rules(path: str, words: dict[str, str], order: str, side: str) -> str:
    """What the prompt says of the arguments and of the rule."""
    key, field, second = words["key"], words["field"], words["field2"]
    once = f"No {key} comes up twice in one list. "
    ordered = " " + ORDER_RULE[order].format(key=key)
    if path == "newer":
        return (
            f'Each record has the keys "{key}" (text), "{field}" (a whole number) and "changed" (a '
            f'date such as "2031-04-30"). {once}A {key} that only one list has is taken over. Of '
            f"two "
            f"records with the same {key} the one that was changed later is taken whole; if both "
            f"were changed on the same date, the one of {side} is taken.{ordered}"
        )
    if path == "fields":
        return (
            f'Each record has the keys "{key}" (text), "{field}" and "{second}" (each a whole '
            f"number, "
            f"0 included, or None for unknown). {once}A {key} that only one list has is taken "
            f"over. Two "
            f'records with the same {key} become one: for "{field}" and for "{second}" alike, '
            f"the value "
            f"of {side} counts unless it is None; then the other value counts, which may be None "
            f"too.{ordered}"
        )
    if path == "total":
        zero = "is left out" if words["nonzero"] else "stays in the result"
        return (
            f'Each record has the keys "{key}" (text) and "{field}" (a whole number, which may be '
            f"negative). The same {key} may come up more than once, in one list or in both. The "
            f"result "
            f'has one record for each {key}, whose "{field}" is the sum of all of them. A {key} '
            f"whose "
            f"sum is 0 {zero}.{ordered}"
        )
    missing = "raises ValueError" if words["else_missing"] else "changes nothing"
    placed = (
        ordered
        if order == "sorted"
        else f" A {key} that is changed keeps its place; a new one comes to the end, and so does "
        "one that was removed before and comes again."
    )
    return (
        f'Each record of ours has the keys "{key}" (text) and "{field}" (a whole number, 0 '
        f"included); no {key} comes up twice in ours. The records of theirs have the same keys and "
        f'are changes, to be made in their order: where "{field}" is None, the record with this '
        f"{key} is removed; any other change takes the place of the record with this {key}, or is "
        f"added if there is none. Removing a {key} that is not there at that moment {missing}."
        f"{placed}"
    )


def wording(random: Random, path: str) -> tuple[dict[str, str], str, str, str]:
    """What the templates are filled with; the order, the side that counts and the key's letter."""
    things, key, letter, fields = random.choice(SKINS)
    field, second = random.sample(fields, 2)
    order, side = random.choice(list(ORDER)), random.choice(["ours", "theirs"])
    is_theirs, is_sorted = side == "theirs", order == "sorted"
    drops_zero, refuses = random.random() < 0.5, random.random() < 0.5
    kept = random.choice(["was", "mine", "other"])
    sides = {"was": "base.get(key)", "mine": "ours.get(key)", "other": "theirs.get(key)"}
    theirs_wins, ours_wins = "value is not None", "known[field] is None"
    remove = """\
if row["{key}"] not in values:
                raise ValueError(row)
            del values[row["{key}"]]"""
    refuse = "        else:\n            raise ValueError(row)\n"
    words = {
        "name": f"{random.choice(VERBS)}_{things}_{random.choice([key, field, second])}",
        "key": key,
        "field": field,
        "field2": second,
        "keys": "sorted(merged)" if is_sorted else "merged",
        "other_keys": "merged" if is_sorted else "sorted(merged)",
        "totals": "sorted(totals)" if is_sorted else "totals",
        "other_totals": "totals" if is_sorted else "sorted(totals)",
        "found": "sorted(found)" if is_sorted else "found",
        "both": "sorted({**mine, **other})" if is_sorted else "{**mine, **other}",
        "sort": f'result.sort(key=lambda row: row["{key}"])\n    ' if is_sorted else "",
        "items": "sorted(values.items())" if is_sorted else "values.items()",
        "over": ">=" if is_theirs else ">",
        "under": ">" if is_theirs else ">=",
        "strong_name": side,
        "always": "True" if is_theirs else "known is None",
        "sides": "at" if is_theirs else "-at",
        "wins": theirs_wins if is_theirs else ours_wins,
        "wins_other": ours_wins if is_theirs else theirs_wins,
        "wins_falsy": "value" if is_theirs else "not known[field]",
        "strong": "other" if is_theirs else "mine",
        "weak": "mine" if is_theirs else "other",
        "strong_row": "other" if is_theirs else "row",
        "weak_row": "row" if is_theirs else "other",
        "nonzero": " if totals[key]" if drops_zero else "",
        "other_nonzero": "" if drops_zero else " if totals[key]",
        "drop": f'result = [row for row in result if row["{field}"]]\n    ' if drops_zero else "",
        "if_kept": "if total != 0:\n            " if drops_zero else "",
        "kept": kept,
        "other_kept": "mine" if kept == "was" else "was",
        "kept_by_get": sides[kept],
        "else_missing": refuse if refuses else "",
        "other_missing": "" if refuses else refuse,
        "if_missing": "if not places:\n                raise ValueError(change)\n            "
        if refuses
        else "",
        "pop": (remove if refuses else 'values.pop(row["{key}"], None)').format(key=key),
    }
    return words, order, side, letter


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None when a near miss is not told apart from all others."""
    words, order, side, letter = wording(random, path)
    name = words["name"]
    right = [template.format_map(words) for template in RIGHT[path]]
    wrong = slips(path, right[0], words, order)
    if right[0] in wrong.values():
        raise AssertionError(f"a slip changes nothing: {path}")
    calls = records(random, path, words, letter)
    due = outcomes(right[0], name, calls)
    if any(outcomes(other, name, calls) != due for other in right[1:]):
        raise AssertionError(f"right answers differ: {path}")
    got = {why: outcomes(source, name, calls) for why, source in wrong.items()}
    kept = telling(due, got)
    if kept is None or len(got) < FEWEST_MISSES:
        return None
    misses = []
    for why, source in wrong.items():
        at = next(at for at in kept if got[why][at] != due[at])
        reason = why_wrong(got[why][at], due[at])
        misses.append({"reason": reason, "why": why, "output": fence(source)})
    return {
        "answer": right[0],
        "title": f"Two sources made one: {path}",
        "difficulty": DIFFICULTY[path],
        "capability_tags": ["code", "conditional"],
        "verifier_type": "artifact",
        "notes": (
            "Which side counts where both speak. Failure behind it: a nightly merge overwrote good "
            "values with older or empty ones."
        ),
        "prompt": prompt(path, words, order, side),
        "expected": {
            "function": name,
            "cases": [{"args": calls[at]} | due[at] for at in kept],
        },
        "limits": {"answer_tokens": max(256, 4 * max(map(len, right)) // 3), "wall_s": 5},
        "reference": fence(right[0]),
        "also_right": [f"Here it is:\n{fence(right[1])}", fence(right[2])],
        "near_misses": misses,
    }


def prompt(path: str, words: dict[str, str], order: str, side: str) -> str:
    if path == "three_way":
        kept = {"was": "base", "mine": "ours", "other": "theirs"}[words["kept"]]
        said = (
            f"Write a Python function {words['name']}(base, ours, theirs) that merges two "
            f"versions of "
            "one table.\n\nAll three are dictionaries from text to text, empty text included: "
            "base is what both versions "
            "started from. A version has changed an entry if its value there is another than in "
            "base; "
            "adding and removing an entry are changes too. An entry that neither version has "
            "changed "
            "stays. An entry that one version has changed is as that version has it, which may "
            "mean that "
            "it is gone. An entry that both have changed in the same way is as they have it. An "
            "entry "
            f"that they have changed in different ways is a conflict: it is as in {kept}, and "
            f"absent if "
            f"{kept} does not have it.\n\nThe function returns a dictionary with two keys: "
            '"merged", the dictionary of the entries, and "conflicts", the sorted list of the '
            "keys in "
            "conflict. The arguments stay as they are."
        )
    else:
        said_of_both = rules(path, words, order, side)
        said = (
            f"Write a Python function {words['name']}(ours, theirs) that makes one list of records "
            f"(dictionaries) out of two and returns it.\n\n{said_of_both}\n\nThe lists "
            "and records that are passed in stay as they are."
        )
    return (
        f"{said} Only the standard library. Reply with one fenced Python block that holds the "
        f"whole "
        "function.\n"
    )
