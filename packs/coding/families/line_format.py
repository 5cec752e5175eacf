# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""Line format: a parser of lines `name: value` that have one rule more than a first look shows.

The hinge is where a value ends: the path is the rule that decides it (the first separator,
comments, quotes, lines that go on, sections before the name). The seed also decides the marks, what
a repeated name means and what a line without a separator means, and so the hidden cases.
"""

import re
from copy import deepcopy
from random import Random
from typing import Any

PATHS = ("separator", "comment", "quoted", "continued", "section")
VERBS = ("read", "parse", "load", "scan")
NOUNS = (
    "labels",
    "rates",
    "routes",
    "aliases",
    "limits",
    "tariffs",
    "rota",
    "menus",
    "tanks",
    "bins",
    "keepers",
    "badges",
)
WORDS = (
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heron",
    "inlet",
    "juniper",
    "kelp",
    "linen",
    "maple",
    "nectar",
    "olive",
    "pebble",
    "quartz",
    "reed",
    "slate",
    "thistle",
)
FEWEST_MISSES = 3
MORE = 4
"""Hidden cases beside those that are needed to tell the near misses apart."""

STORE = {
    "last": "        found[name] = value\n",
    "first": "        found.setdefault(name, value)\n",
    "refuse": """\
        if name in found:
            raise ValueError(name)
        found[name] = value
""",
}
RETURN = {
    "last": "    return dict(pairs)\n",
    "first": "    return dict(reversed(pairs))\n",
    "refuse": """\
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("a name is given twice")
    return dict(pairs)
""",
}
REPEATED = {
    "last": "If a name occurs more than once, its last value counts.",
    "first": "If a name occurs more than once, its first value counts.",
    "refuse": "A name that occurs more than once raises ValueError.",
}
BAD = {"refuse": "raise ValueError(line)", "skip": "continue"}
BAD_RULE = {
    "refuse": "Any other line without {sep} raises ValueError.",
    "skip": "Any other line without {sep} is left out.",
}
SPLIT = """\
        if "{sep}" not in line:
            {bad}
        name, value = line.split("{sep}", 1)
        name, value = name.strip(), value.strip()
"""
PAIR = """\
        name, is_there, value = line.partition("{sep}")
        if not is_there:
            {bad}
        pairs.append(({prefix}name.strip(), value.strip()))
"""
LOOP = """\
def {name}(text):
    found = {{}}
    for line in text.splitlines():
"""
PAIRS = """\
def {name}(text):
    pairs = []
    for line in text.splitlines():
"""
END = "    return found\n"
LEFT_OUT = """\
        line = line.strip()
        if not line or line.startswith("{mark}"):
            continue
"""

RIGHT: dict[str, tuple[str, str, str]] = {
    "separator": (
        LOOP
        + """\
        if not line.strip():
            continue
        name, value = line.split("{sep}", 1)
        name, value = name.strip(), value.strip()
{store}"""
        + END,
        PAIRS
        + "        if line.strip():\n"
        + """\
            name, _, value = line.partition("{sep}")
            pairs.append((name.strip(), value.strip()))
{returns}""",
        r"""import re

def {name}(text):
    lines = re.findall(r"^\s*([^{sep}\n]*?)[ \t]*{sep}[ \t]*(.*?)[ \t]*$", text, re.MULTILINE)
    pairs = [(name, value) for name, value in lines]
{returns}""",
    ),
    "comment": (
        "import re\n\n"
        + LOOP
        + r"""        line = re.split(r"(?:^|\s){mark}", line, maxsplit=1)[0].strip()
        if not line:
            continue
"""
        + SPLIT
        + "{store}"
        + END,
        """def without_comment(line):
    for at, char in enumerate(line):
        if char == "{mark}" and (at == 0 or line[at - 1].isspace()):
            return line[:at]
    return line

"""
        + PAIRS
        + """        line = without_comment(line).strip()
        if not line:
            continue
"""
        + PAIR
        + "{returns}",
        "import re\n\n"
        + LOOP
        + r"""        line = re.sub(r"(?<!\S){mark}.*", "", line).strip()
        if line == "":
            continue
        parts = line.split("{sep}")
        if len(parts) < 2:
            {bad}
        name, value = parts[0].strip(), "{sep}".join(parts[1:]).strip()
{store}"""
        + END,
    ),
    "quoted": (
        "import re\n\n"
        + LOOP
        + LEFT_OUT
        + r"""        if "{sep}" not in line.partition("{mark}")[0]:
            {bad}
        name, value = line.split("{sep}", 1)
        name = name.strip()
        if value.strip().startswith('"'):
            value, closing, _ = value.strip()[1:].partition('"')
            if not closing:
                raise ValueError(line)
        else:
            value = re.split(r"\s{mark}", value, maxsplit=1)[0].strip()
{store}"""
        + END,
        """def without_comment(line):
    quoted = False
    for at, char in enumerate(line):
        if char == '"':
            quoted = not quoted
        elif char == "{mark}" and not quoted and (at == 0 or line[at - 1].isspace()):
            return line[:at]
    if quoted:
        raise ValueError(line)
    return line

"""
        + PAIRS
        + """        line = without_comment(line).strip()
        if not line:
            continue
        name, is_there, value = line.partition("{sep}")
        if not is_there:
            {bad}
        value = value.strip()
        pairs.append((name.strip(), value[1:-1] if value.startswith('"') else value))
{returns}""",
        "import re\n\n"
        + LOOP
        + r"""        whole = re.match(r'\s*(\w+)\s*{sep}\s*"([^"]*)"', line)
        bare = re.match(r"\s*(\w+)\s*{sep}((?:[^{mark}]|(?<=\S){mark})*)", line)
        if whole:
            name, value = whole.groups()
        elif bare and '"' in bare[2]:
            raise ValueError(line)
        elif bare:
            name, value = bare[1], bare[2].strip()
        elif not line.strip() or line.strip()[0] == "{mark}":
            continue
        else:
            {bad}
{store}"""
        + END,
    ),
    "continued": (
        r"""def {name}(text):
    found = {{}}
    lines = iter(text.splitlines())
    for line in lines:
"""
        + LEFT_OUT
        + r"""        while line.endswith("\\"):
            following = next(lines, None)
            if following is None:
                raise ValueError(line)
            line = line[:-1].strip() + " " + following.strip()
"""
        + SPLIT
        + "{store}"
        + END,
        r"""def {name}(text):
    lines, at, pairs = text.splitlines(), 0, []
    while at < len(lines):
        parts = [lines[at].strip()]
        at += 1
        if parts == [""] or parts[0].startswith("{mark}"):
            continue
        while parts[-1].endswith("\\"):
            if at == len(lines):
                raise ValueError("the text ends too early")
            parts[-1] = parts[-1].rstrip("\\").rstrip()
            parts.append(lines[at].strip())
            at += 1
        line = " ".join(part for part in parts if part)
"""
        + PAIR
        + "{returns}",
        r"""def {name}(text):
    found, held = {{}}, None
    for line in text.splitlines():
        line = line.strip()
        if held is None and (not line or line[0] == "{mark}"):
            continue
        line = line if held is None else held + " " + line
        held = None
        if line[-1:] == "\\":
            held = line[:-1].rstrip()
            continue
"""
        + SPLIT
        + "{store}    if held is not None:\n        raise ValueError(held)\n"
        + END,
    ),
    "section": (
        """def {name}(text):
    found, prefix = {{}}, ""
    for line in text.splitlines():
"""
        + LEFT_OUT
        + """        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
            prefix = section + "." if section else ""
            continue
"""
        + SPLIT
        + "        name = prefix + name\n{store}"
        + END,
        """def {name}(text):
    pairs, sections = [], [""]
    for line in map(str.strip, text.splitlines()):
        if not line or line[0] == "{mark}":
            continue
        if line[0] + line[-1] == "[]":
            sections.append(line.strip("[]").strip())
            continue
        prefix = sections[-1] and f"{{sections[-1]}}."
"""
        + PAIR.replace("{prefix}", "prefix + ")
        + "{returns}",
        "import re\n\n"
        + """def {name}(text):
    found, section = {{}}, None
    for line in text.splitlines():
"""
        + LEFT_OUT
        + r"""        if head := re.fullmatch(r"\[\s*(.*?)\s*\]", line):
            section = head[1] or None
            continue
"""
        + SPLIT
        + """        name = name if section is None else ".".join([section, name])
{store}"""
        + END,
    ),
}

RULES = {
    "separator": (
        "The first {sep} of a line ends the name; any further {sep} belongs to the value. A "
        "value may "
        "be empty.",
        "Blank lines are left out; every other line has a {sep}.",
    ),
    "comment": (
        "A {mark} at the beginning of a line or after a blank starts a comment, which reaches to "
        "the "
        "end of the line and is left out with all it holds; any other {mark} belongs to the "
        "value.",
        "The first {sep} ends the name. Lines that are blank, or hold only a comment, are left "
        "out.",
    ),
    "quoted": (
        "A value that begins with a double quote ends at the next double quote and is what stands "
        "between them, blanks and all; if there is no second quote, ValueError is raised. Behind "
        "the "
        "second quote stands nothing but a comment. Other values hold no double quote.",
        "A {mark} at the beginning of a line or after a blank starts a comment, which reaches to "
        "the "
        "end of the line and is left out, but not between double quotes; any other {mark} "
        "belongs to "
        "the value. Blank lines are left out.",
    ),
    "continued": (
        "A line that ends with a backslash goes on in the next line, which may itself go on: the "
        "backslash is left out, and the parts, without blanks around them, are joined by one "
        "blank. "
        "If there is no next line, ValueError is raised.",
        "A line that begins with {mark} is a comment and left out with all it holds, even a "
        "backslash "
        "at its end; but where it continues a line it is no comment. Blank lines are left out.",
    ),
    "section": (
        "A line such as [harbour] starts a section: the names in the lines after it are put behind "
        "its name and a full stop, as in harbour.name. The line [] ends a section: names after it "
        "stand alone again, as names before the first section do. What this makes of a name is "
        "the name "
        "that is looked at for repetition.",
        "Lines that are blank, or begin with {mark}, are left out.",
    ),
}
DIFFICULTY = {
    "separator": "easy",
    "comment": "medium",
    "quoted": "hard",
    "continued": "hard",
    "section": "medium",
}


def outcomes(source: str, name: str, calls: list[list[Any]]) -> list[dict[str, Any]]:
    """What the function `name` of `source` makes of each of `calls`, as a case states it."""
    space: dict[str, Any] = {}
    exec(source, space)  # noqa: S102  (written above)
    found: list[dict[str, Any]] = []
    for args in calls:
        try:
            found.append({"value": space[name](*deepcopy(args))})
        except Exception as error:
            found.append({"raises": type(error).__name__})
    return found


def why_wrong(got: dict[str, Any], due: dict[str, Any]) -> str:
    """The reason that the verifier gives."""
    if "raises" in got:
        return "wrong_exception" if "raises" in due else "exception"
    return "no_exception" if "raises" in due else "wrong_value"


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


def slips(path: str, source: str, repeated: str, bad: str, sep: str, mark: str) -> dict[str, str]:
    """Wrong answers: the reference with one change each, by what is wrong with them."""
    other = {"last": "first", "first": "last", "refuse": "last"}[repeated]
    wrong = {f"a repeated name is taken by another rule ({other})": (STORE[repeated], STORE[other])}
    if path != "separator":
        way = {"refuse": "left out", "skip": "an error"}[bad]
        old = f"            {BAD[bad]}\n        name, value"
        new = old.replace(BAD[bad], BAD["skip" if bad == "refuse" else "refuse"])
        wrong[f"a line without {sep} is {way}"] = (old, new)
    wrong |= {
        "separator": {
            "a value is cut at the second separator": (
                f'name, value = line.split("{sep}", 1)',
                f'name, value = line.split("{sep}")[:2]',
            ),
            "a line without a value is left out": (
                STORE[repeated],
                "        if not value:\n            continue\n" + STORE[repeated],
            ),
            "blanks inside a value are lost": ("value.strip()", 'value.replace(" ", "")'),
        },
        "comment": {
            "every mark starts a comment": (rf'r"(?:^|\s){mark}"', f'r"{mark}"'),
            "only whole lines are comments": (rf'r"(?:^|\s){mark}"', rf'r"^\s*{mark}"'),
            "a comment is looked for in the value only": (
                rf're.split(r"(?:^|\s){mark}", line, maxsplit=1)[0]',
                rf're.sub(r"({sep}.*?)\s{mark}.*", r"\1", line)',
            ),
        },
        "quoted": {
            "a mark between quotes starts a comment": (
                "        line = line.strip()\n",
                rf'        line = re.split(r"\s{mark}", line, maxsplit=1)[0].strip()' + "\n",
            ),
            "an open quote is let through": (
                "                raise ValueError(line)\n",
                "                pass\n",
            ),
            "blanks between quotes are lost": (
                """[1:].partition('"')\n""",
                """[1:].partition('"')\n            value = value.strip()\n""",
            ),
            "every mark starts a comment": (rf'r"\s{mark}"', f'r"{mark}"'),
        },
        "continued": {
            "a line goes on only once": ("while line.endswith", "if line.endswith"),
            "parts are joined without a blank": (
                '.strip() + " " + following',
                ".strip() + following",
            ),
            "a text that ends too early is let through": (
                "                raise ValueError(line)\n",
                '                following = ""\n',
            ),
            "a comment is left out where it continues a line": (
                "            if following is None",
                f"            while following is not None and "
                f'following.strip().startswith("{mark}"):\n'
                "                following = next(lines, None)\n            if following is None",
            ),
        },
        "section": {
            "a section never ends": (
                'prefix = section + "." if section else ""',
                'prefix = section + "." if section else prefix',
            ),
            "the name of a section is put behind the one before": (
                'prefix = section + "."',
                'prefix = prefix + section + "."',
            ),
            "repetition is looked at before the section is put in": {
                "last": (
                    STORE["last"],
                    "        found = {key: kept for key, kept in found.items() if "
                    "key.split('.')[-1] != name.split('.')[-1]}\n" + STORE["last"],
                ),
                "first": (
                    STORE["first"],
                    "        if name.split('.')[-1] not in [key.split('.')[-1] for key in "
                    "found]:\n            found[name] = value\n",
                ),
                "refuse": (
                    "        if name in found:\n",
                    "        if name.split('.')[-1] in [key.split('.')[-1] for key in found]:\n",
                ),
            }[repeated],
        },
    }[path]
    return {why: source.replace(old, new, 1) for why, (old, new) in wrong.items()}


def texts(random: Random, path: str, sep: str, mark: str) -> list[str]:
    """Texts to read, each of a shape that shows one slip or several."""
    a, b, c, d, e, f = random.sample(WORDS, 6)
    number = random.randrange(12, 90)
    base = [
        f"{a}{sep} {d}\n{b}{sep}{e}\n",
        f"{a}{sep} {d}\n{b}{sep} {e}\n{a} {sep} {f}",
        f"{a}{sep} {d}{sep}{number}",
        f"{a}{sep}\n{b}{sep} {e}",
        f"\n  {a} {sep}  {d} {e}  \n\n",
        "",
    ]
    if path == "separator":
        return [
            *base,
            f"{a}{sep} {d}{sep} {e}{sep}{f}\n{b}{sep} {c}",
            f"{a}{sep} {d}\n{a}{sep} {e}\n{a}{sep} {d}",
        ]
    base += [f"{a}{sep} {d}\n{b}\n{c}{sep} {e}", f"{a} {d}\n"]
    own = {
        "comment": [
            f"{a}{sep} {d} {mark} {e}\n{b}{sep} {f}",
            f"{a}{sep} {d}{mark}{number}\n{b}{sep} {e}",
            f"{a}{sep} {d}{mark}{number} {mark}{e}",
            f"{mark} {a}{sep} {d}\n  {mark}{b}{sep} {e}\n{c}{sep} {f}",
            f"{a}{sep} {mark} {d}",
            f"{a}{sep} {mark}\n{b}{sep} {d}  {mark} {e}",
            f"{a}{sep} {d}\n{b} {mark} {e}{sep} {f}",
        ],
        "quoted": [
            f'{a}{sep} "{d}"\n{b}{sep} {e}',
            f'{a}{sep} "{d} {mark} {e}"\n{b}{sep} {f}',
            f'{a}{sep} "  {d} " {mark} {e}',
            f'{a}{sep} "{d}',
            f'{b}{sep} {e}\n{a}{sep} " {d} ',
            f"{a}{sep} {d}{mark}{number} {mark} {e}",
            f"{a}{sep} {d}{mark}{number}",
            f"{a}{sep} {d}\n{b} {mark} {e}{sep} {f}",
            f'{mark} {a}{sep} "{d}\n{b}{sep} "{e}{sep} {f}"',
            f'{a}{sep} ""\n{b}{sep} "{d}" {mark} {e}',
        ],
        "continued": [
            f"{a}{sep} {d} \\\n   {e}\n{b}{sep} {f}",
            f"{a}{sep} {d}\\\n{e}",
            f"{a}{sep} {d} \\\n {e} \\\n {f}\n{b}{sep} {c}",
            f"{a}{sep} {d} \\",
            f"{b}{sep} {e}\n{a}{sep} {d}\\\n",
            f"{a}{sep} {d} \\\n{mark} {e}\n{b}{sep} {f}",
            f"{mark} {a} \\\n{b}{sep} {d}",
            f"{a}{sep} \\\n \\\n{d}",
            f"{a}{sep} \\\n{mark} {e}",
            f"{a}{sep} {d} \\\n{b}{sep} {e}\n{b}{sep} {f}",
        ],
        "section": [
            f"[{d}]\n{a}{sep} {e}\n",
            f"{a}{sep} {d}\n[{e}]\n{a}{sep} {f}",
            f"[{d}]\n{a}{sep} {e}\n[]\n{b}{sep} {f}",
            f"[{d}]\n{a}{sep} {e}\n[{f}]\n{b}{sep} {c}",
            f"[{d}]\n{a}{sep} {e}\n[{f}]\n{a}{sep} {c}",
            f"[ {d} ]\n{a}{sep} {e}\n{mark} [{f}]\n[{d}]\n{a}{sep} {f}\n{b}{sep} {c}",
            f"[{d}]\n{a}{sep} [{e}]\n{b}{sep} [{f}\n",
        ],
    }
    return base + own[path]


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One instance on `path`; None when a near miss is not told apart from all others."""
    name = f"{random.choice(VERBS)}_{random.choice(NOUNS)}"
    sep, mark = random.choice(":="), random.choice("#;")
    repeated = random.choice(["last", "first"] if path == "separator" else list(STORE))
    bad = random.choice(list(BAD))
    words = {
        "name": name,
        "sep": sep,
        "mark": mark,
        "bad": BAD[bad],
        "prefix": "",
        "store": STORE[repeated],
        "returns": RETURN[repeated],
    }
    right = [template.format_map(words) for template in RIGHT[path]]
    wrong = slips(path, right[0], repeated, bad, sep, mark)
    if right[0] in wrong.values():
        raise AssertionError(f"a slip changes nothing: {path}")
    calls = [[text] for text in texts(random, path, sep, mark)]
    due = outcomes(right[0], name, calls)
    if any(outcomes(other, name, calls) != due for other in right[1:]):
        raise AssertionError(f"right answers differ: {path}")
    got = {why: outcomes(source, name, calls) for why, source in wrong.items()}
    kept = telling(due, got)
    if kept is None or len(got) < FEWEST_MISSES:
        return None
    # No near miss above leads here, other wrong answers do: nothing, a separator in a comment.
    noted = rf" {mark} \w+{sep}"
    kept = sorted(
        {*kept} | {at for at, (it,) in enumerate(calls) if not it or re.search(noted, it)}
    )
    misses = []
    for why, source in wrong.items():
        at = next(at for at in kept if got[why][at] != due[at])
        reason = why_wrong(got[why][at], due[at])
        misses.append({"reason": reason, "why": why, "output": fence(source)})
    rules = [*RULES[path], REPEATED[repeated]]
    if path != "separator":
        rules.append(BAD_RULE[bad])
    form = "name: value" if sep == ":" else "name = value"
    said = " ".join(rules).format(sep=sep, mark=mark)
    return {
        "answer": right[0],
        "title": f"Lines of names and values: {path}",
        "difficulty": DIFFICULTY[path],
        "capability_tags": ["code", "parsing"],
        "verifier_type": "artifact",
        "notes": (
            "Where a value ends. Failure behind it: an import that cut values at a sign which "
            "belonged to them, or took a note for data."
        ),
        "prompt": (
            f"Write a Python function {name}(text) that returns a dictionary from names to values, "
            f"both text.\n\ntext holds lines of the form {form}. A name holds letters only. "
            f"Blanks around a name or a value do not belong to it. {said} An empty text gives an "
            "empty dictionary.\n\nOnly the standard library. Reply with one fenced Python block "
            "that "
            "holds the whole function.\n"
        ),
        "expected": {
            "function": name,
            "cases": [{"args": calls[at]} | due[at] for at in kept],
        },
        "limits": {"answer_tokens": max(256, 4 * max(map(len, right)) // 3), "wall_s": 5},
        "reference": fence(right[0]),
        "also_right": [
            f"First the pairs, then the dictionary.\n{fence(right[1])}",
            fence(right[2]),
        ],
        "near_misses": misses,
    }
