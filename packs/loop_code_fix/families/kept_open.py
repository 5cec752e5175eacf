# Not for training data: benchloop-canary-6f0d2c5e-91b7-4d0a-8c3e-5a7e1b942f60
"""Something is taken and given back on the usual way out only; the test shows one other way.

The hinge is that what holds for the way shown holds for every way out: an early return, an error,
a cancelled task. The seed decides the way that is shown, and with it the program: one line for a
whole round, a box for each turn of a loop, or a machine and a tool for tasks that wait for them.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from random import Random
from string import Template
from typing import Any

PATHS = ("early return", "error", "skipped turn", "error in a task", "cancelled task")

HEAD = (
    "The test below fails. Find the cause and repair it. Do not change the test. "
    "The test run says:\n\n"
)
CLOSING = (
    "Reply with the complete new content of each file that you change. Put each file in one fenced "
    "block, with its\npath alone on the line before the fence.\n"
)

LINE = '''def $function(line, names):
    """The readings of the $things, each times $k.

    In the end the line is free again, whatever happens. A $thing that is silent (None) ends the
    round: what was read before it is the result. A reading that is no number is a ValueError for
    the caller.
    """
'''
LINE_BROKEN = """    line.take()
    readings = {}
    for name in names:
        text = line.ask(name)
        if text is None:
            return readings
        readings[name] = int(text) * $k
    line.give_back()
    return readings
"""
LINE_RIGHT = """    line.take()
    try:
        readings = {}
        for name in names:
            text = line.ask(name)
            if text is None:
                return readings
            readings[name] = int(text) * $k
        return readings
    finally:
        line.give_back()
"""
LINE_OTHER = """    line.take()
    readings = {}
    try:
        for name in names:
            text = line.ask(name)
            if text is None:
                break
            readings[name] = $k * int(text)
    except BaseException:
        line.give_back()
        raise
    line.give_back()
    return readings
"""
LINE_EARLY_ONLY = """    line.take()
    readings = {}
    for name in names:
        text = line.ask(name)
        if text is None:
            line.give_back()
            return readings
        readings[name] = int(text) * $k
    line.give_back()
    return readings
"""
LINE_VALUE_ERROR = """    line.take()
    readings = {}
    for name in names:
        text = line.ask(name)
        if text is None:
            line.give_back()
            return readings
        try:
            readings[name] = int(text) * $k
        except ValueError:
            line.give_back()
            raise
    line.give_back()
    return readings
"""
LINE_TWICE = """    line.take()
    try:
        readings = {}
        for name in names:
            text = line.ask(name)
            if text is None:
                return readings
            readings[name] = int(text) * $k
        line.give_back()
        return readings
    finally:
        line.give_back()
"""
LINE_SWALLOWED = """    line.take()
    readings = {}
    try:
        for name in names:
            text = line.ask(name)
            if text is None:
                return readings
            readings[name] = int(text) * $k
    except ValueError:
        pass
    finally:
        line.give_back()
    return readings
"""
LINE_FAKE = '''from $module import $function


class Line:
    def __init__(self, answers):
        self.answers = answers
        self.is_taken = False

    def take(self):
        self.is_taken = True

    def give_back(self):
        if not self.is_taken:
            raise RuntimeError("given back twice")
        self.is_taken = False

    def ask(self, name):
        if self.answers[name] == "broken":
            raise OSError(name)
        return self.answers[name]


def play(answers):
    """What comes of a round, or the name of its error, and whether the line is taken or free."""
    line = Line(answers)
    try:
        result = $function(line, list(answers))
    except Exception as error:
        result = type(error).__name__
    return [result, "taken" if line.is_taken else "free"]
'''
BOX = '''def $function($shelf, names):
    """The numbers in the $things, each times $k; an empty one is left out.

    Only one of the $things is open at a time, and none in the end, whatever happens. What is no
    number is a ValueError for the caller.
    """
'''
BOX_BROKEN = """    numbers = []
    for name in names:
        box = $shelf.open(name)
        text = box.read()
        if not text:
            continue
        numbers.append(int(text) * $k)
        box.close()
    return numbers
"""
BOX_RIGHT = """    numbers = []
    for name in names:
        box = $shelf.open(name)
        try:
            text = box.read()
        finally:
            box.close()
        if text:
            numbers.append(int(text) * $k)
    return numbers
"""
BOX_OTHER = """    numbers = []
    for name in names:
        with closing($shelf.open(name)) as box:
            text = box.read()
            if not text:
                continue
            numbers.append($k * int(text))
    return numbers
"""
BOX_SKIP_ONLY = """    numbers = []
    for name in names:
        box = $shelf.open(name)
        text = box.read()
        if not text:
            box.close()
            continue
        numbers.append(int(text) * $k)
        box.close()
    return numbers
"""
BOX_AT_THE_END = """    numbers = []
    boxes = []
    try:
        for name in names:
            box = $shelf.open(name)
            boxes.append(box)
            text = box.read()
            if not text:
                continue
            numbers.append(int(text) * $k)
    finally:
        for box in boxes:
            box.close()
    return numbers
"""
BOX_AFTER_READING = """    numbers = []
    for name in names:
        box = $shelf.open(name)
        text = box.read()
        box.close()
        if not text:
            continue
        numbers.append(int(text) * $k)
    return numbers
"""
BOX_FAKE = '''from $module import $function


class Box:
    def __init__(self, shelf, text):
        self.shelf = shelf
        self.text = text
        shelf.is_open.append(self)
        shelf.most = max(shelf.most, len(shelf.is_open))

    def read(self):
        if self.text == "broken":
            raise OSError("broken")
        return self.text

    def close(self):
        self.shelf.is_open.remove(self)


class Shelf:
    def __init__(self, texts):
        self.texts = texts
        self.is_open = []
        self.most = 0

    def open(self, name):
        return Box(self, self.texts[name])


def play(texts):
    """The result or the name of its error, how many are still open, how many were at most."""
    shelf = Shelf(texts)
    try:
        result = $function(shelf, list(texts))
    except Exception as error:
        result = type(error).__name__
    return [result, len(shelf.is_open), shelf.most]
'''
TASK = '''async def $function(desk, rack, job):
    """Run `job` on one of the $things, with a $tool, and give its price: $k cents a minute.

    Both go back to where they were taken, whatever happens. An empty job costs 0.
    """
'''
TASK_BROKEN = """    $thing = await desk.take()
    $tool = await rack.take()
    if not job:
        return 0
    minutes = await $thing.run(job, $tool)
    rack.give_back($tool)
    desk.give_back($thing)
    return minutes * $k
"""
TASK_RIGHT = """    $thing = await desk.take()
    try:
        $tool = await rack.take()
        try:
            if not job:
                return 0
            return await $thing.run(job, $tool) * $k
        finally:
            rack.give_back($tool)
    finally:
        desk.give_back($thing)
"""
TASK_OTHER = """    async with AsyncExitStack() as stack:
        $thing = await desk.take()
        stack.callback(desk.give_back, $thing)
        $tool = await rack.take()
        stack.callback(rack.give_back, $tool)
        minutes = await $thing.run(job, $tool) if job else 0
    return $k * minutes
"""
TASK_EMPTY_FIRST = """    if not job:
        return 0
    $thing = await desk.take()
    try:
        $tool = await rack.take()
        try:
            return await $thing.run(job, $tool) * $k
        finally:
            rack.give_back($tool)
    finally:
        desk.give_back($thing)
"""
TASK_ONE_TRY = """    $thing = await desk.take()
    $tool = await rack.take()
    try:
        if not job:
            return 0
        return await $thing.run(job, $tool) * $k
    finally:
        rack.give_back($tool)
        desk.give_back($thing)
"""
TASK_EXCEPTION = """    $thing = await desk.take()
    minutes = 0
    try:
        $tool = await rack.take()
        try:
            if job:
                minutes = await $thing.run(job, $tool)
        except Exception:
            rack.give_back($tool)
            raise
    except Exception:
        desk.give_back($thing)
        raise
    rack.give_back($tool)
    desk.give_back($thing)
    return minutes * $k
"""
TASK_CANCELLED = """    $thing = await desk.take()
    minutes = 0
    try:
        $tool = await rack.take()
        try:
            if job:
                minutes = await $thing.run(job, $tool)
        except asyncio.CancelledError:
            rack.give_back($tool)
            raise
    except asyncio.CancelledError:
        desk.give_back($thing)
        raise
    rack.give_back($tool)
    desk.give_back($thing)
    return minutes * $k
"""
TASK_NONE_TAKEN = """    $thing = $tool = None
    try:
        $thing = await desk.take()
        $tool = await rack.take()
        if not job:
            return 0
        return await $thing.run(job, $tool) * $k
    finally:
        rack.give_back($tool)
        desk.give_back($thing)
"""
TASK_SWALLOWED = """    $thing = await desk.take()
    try:
        $tool = await rack.take()
        try:
            if not job:
                return 0
            return await $thing.run(job, $tool) * $k
        finally:
            rack.give_back($tool)
    except (Exception, asyncio.CancelledError):
        return 0
    finally:
        desk.give_back($thing)
"""
TASK_FAKE = '''import asyncio

from $module import $function


class Machine:
    def __init__(self, running):
        self.running = running

    async def run(self, job, tool):
        self.running[job] = asyncio.get_running_loop().create_future()
        return await self.running[job]


class Place:
    def __init__(self, things):
        self.free = list(things)
        self.out = []
        self.semaphore = asyncio.Semaphore(len(things))

    async def take(self):
        await self.semaphore.acquire()
        self.out.append(self.free.pop())
        return self.out[-1]

    def give_back(self, thing):
        self.out.remove(thing)
        self.free.append(thing)
        self.semaphore.release()


def play(steps):
    """What came of each task; of two machines and one tool, how many are free in the end.

    Steps: "1 starts map", "1 starts" (an empty job), "1 is cancelled", "map takes 5", "map fails".
    """
    return asyncio.run(_play(steps))


async def _play(steps):
    running, tasks = {}, {}
    desk, rack = Place([Machine(running), Machine(running)]), Place(["tool"])
    for step in steps:
        name, verb, *rest = step.split()
        if verb == "starts":
            tasks[name] = asyncio.ensure_future($function(desk, rack, " ".join(rest)))
        elif verb == "is":
            tasks[name].cancel()
        elif name in running and verb == "takes":
            running[name].set_result(int(rest[0]))
        elif name in running:
            running[name].set_exception(OSError(name))
        for _ in range(20):
            await asyncio.sleep(0)
    outcomes = {name: _outcome(task) for name, task in tasks.items()}
    free = [len(desk.free), len(rack.free)]
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    return [outcomes, *free]


def _outcome(task):
    if not task.done():
        return "waits"
    if task.cancelled():
        return "cancelled"
    error = task.exception()
    return task.result() if error is None else type(error).__name__
'''

# Program: head, broken body, right one, the same otherwise, wrong repairs with what is wrong with
# them, the stand-in.
PROGRAMS: dict[str, tuple[str, str, str, str, dict[str, str], str]] = {
    "line": (
        LINE,
        LINE_BROKEN,
        LINE_RIGHT,
        LINE_OTHER,
        {
            "the line is given back on the early return alone": LINE_EARLY_ONLY,
            "a line that breaks while it is asked stays taken": LINE_VALUE_ERROR,
            "the usual way out gives the line back twice": LINE_TWICE,
            "the caller does not hear of the wrong reading": LINE_SWALLOWED,
        },
        LINE_FAKE,
    ),
    "box": (
        BOX,
        BOX_BROKEN,
        BOX_RIGHT,
        "from contextlib import closing\n\n\n" + BOX_OTHER,
        {
            "closed where it is skipped, not where it is no number": BOX_SKIP_ONLY,
            "all are closed, but in the end only": BOX_AT_THE_END,
            "one that fails while it is read stays open": BOX_AFTER_READING,
        },
        BOX_FAKE,
    ),
    "task": (
        TASK,
        TASK_BROKEN,
        TASK_RIGHT,
        "from contextlib import AsyncExitStack\n\n\n" + TASK_OTHER,
        {
            "who is cancelled while waiting for the second keeps the first": TASK_ONE_TRY,
            "a cancelled task is no Exception": TASK_EXCEPTION,
            "an error is no cancelling": "import asyncio\n\n\n" + TASK_CANCELLED,
            "who is cancelled while waiting gives back what was never taken": TASK_NONE_TAKEN,
            "the caller does not hear of the error or the cancelling": "import asyncio\n\n\n"
            + TASK_SWALLOWED,
        },
        TASK_FAKE,
    ),
}
WAYS = {
    "early return": ("line", "medium", ["cleanup"]),
    "error": ("line", "medium", ["cleanup"]),
    "skipped turn": ("box", "medium", ["cleanup"]),
    "error in a task": ("task", "hard", ["cleanup", "concurrency"]),
    "cancelled task": ("task", "hard", ["cleanup", "concurrency"]),
}
PLAYS = {
    "line": "play(answers) in tests/fake.py makes a round and gives its result, and whether the "
    "line is taken or free.",
    "box": "play(texts) in tests/fake.py gives the result, how many are still open, and how many "
    "were at most.",
    "task": "play(steps) in tests/fake.py gives what came of each task, and how many {thing}s and "
    "{tool}s are free in the end.\n"
    "There are two {thing}s and one {tool}.",
}
WORDS = {
    "line": [
        ("dairy/round.py", "poll_tanks", "tank"),
        ("brook/levels.py", "poll_gauges", "gauge"),
        ("barn/heat.py", "poll_probes", "probe"),
        ("ferry/loads.py", "poll_scales", "scale"),
        ("nursery/soil.py", "poll_sensors", "sensor"),
        ("cellar/gas.py", "poll_meters", "meter"),
    ],
    "box": [
        ("museum/stock.py", "count_drawers", "drawer"),
        ("choir/music.py", "count_folders", "folder"),
        ("garage/parts.py", "count_crates", "crate"),
        ("school/votes.py", "count_envelopes", "envelope"),
        ("farm/seed.py", "count_sacks", "sack"),
    ],
    "task": [
        ("copyshop/jobs.py", "run_copy", "copier cartridge"),
        ("bakery/batches.py", "run_batch", "oven tray"),
        ("laundry/loads.py", "run_load", "washer basket"),
        ("joinery/cuts.py", "run_cut", "saw blade"),
        ("pottery/firing.py", "run_firing", "kiln stand"),
    ],
}
SHELVES = ["shelf", "rack", "store", "cabinet"]


def draw(random: Random, path: str) -> dict[str, Any] | None:
    """One program that keeps something on the way out that `path` names, and on others."""
    program = WAYS[path][0]
    return build(random, path, *random.choice(WORDS[program]))


def build(random: Random, path: str, file: str, function: str, thing: str) -> dict[str, Any] | None:
    """The task with these words; `thing` may have a tool behind it."""
    program, difficulty, tags = WAYS[path]
    head, broken, right, other, wrong, fake = PROGRAMS[program]
    thing, _, tool = thing.partition(" ")
    filled = {"function": function, "thing": thing, "things": f"{thing}s", "tool": tool}
    filled |= {"k": str(random.randrange(2, 60))}
    filled |= {
        "shelf": random.choice(SHELVES),
        "module": file.removesuffix(".py").replace("/", "."),
    }

    def source(body: str) -> str:
        imports, _, rest = body.rpartition("\n\n\n")
        return Template(f"{imports}\n\n\n{head}{rest}" if imports else f"{head}{rest}").substitute(
            filled
        )

    fake = Template(fake).substitute(filled)
    # An empty job need not wait for what it does not use; the docstring leaves that open.
    last = source(TASK_EMPTY_FIRST if program == "task" else right)
    original, clean = source(broken), source(right)
    shown, *hidden = arguments(random, path)
    want, got = played(clean, fake, shown), played(original, fake, shown)
    if want == got:
        return None
    cases = [
        {"call": "tests.fake.play", "args": [one], "value": played(clean, fake, one)}
        for one in hidden
    ]
    near_misses = []
    for why, body in wrong.items():
        text = source(body)
        if played(text, fake, shown) != want:
            reason = "visible_value"
        elif any(played(text, fake, case["args"][0]) != case["value"] for case in cases):
            reason = "hidden_value"
        else:
            return None
        near_misses.append({"output": fence(file, text), "reason": reason, "why": why})
    name = path.replace(" ", "_")
    test_path = f"tests/test_{name}.py"
    test = f"from tests.fake import play\n\n\ndef test_{name}():\n    assert play({shown!r}) == "
    bent = fence(test_path, f"{test}{got!r}\n")
    near_misses.append(
        {"output": bent, "reason": "visible_value", "why": "the test was bent to the fault"}
    )
    return {
        "answer": clean,
        "title": f"Not given back: {path}",
        "difficulty": difficulty,
        "capability_tags": ["debugging", "code", *tags],
        "verifier_type": "artifact",
        "notes": f"The test shows one way out ({path}), the docstring says: whatever happens. The "
        "other ways are hidden. Second derivation of the key: by the sentences of the docstring.",
        "prompt": f"{HEAD}"
        f"    AssertionError: assert {got!r} == {want!r}\n\n{fence(file, original)}\n"
        f"{fence(test_path, test + repr(want) + chr(10))}\n{PLAYS[program].format(**filled)}\n\n"
        f"{CLOSING}",
        "files": {
            f"{file.split('/')[0]}/__init__.py": "",
            file: {"from_prompt": True},
            "tests/fake.py": fake,
            test_path: {"from_prompt": True},
        },
        "protected": ["tests/fake.py", test_path],
        "expected": {
            "editable": [file],
            "visible": {"call": "tests.fake.play", "args": [shown], "value": want},
            "cases": cases,
        },
        "limits": {"answer_tokens": max(256, 4 * len(clean) // 3), "wall_s": 10},
        "reference": fence(file, clean),
        "also_right": [
            f"The repaired **{file}**:\n```python\n{source(other)}```\n",
            f"```python\n# {file}\n{last}```\nNow it is given back on every way out.\n",
        ],
        "near_misses": near_misses,
    }


def arguments(random: Random, path: str) -> list[Any]:
    """What is played: in the test that is shown, then hidden."""
    one, two, three = (str(number) for number in random.sample(range(2, 40), 3))
    if path in ("early return", "error"):
        early, error = {"north": one, "south": None, "west": two}, {"north": one, "south": "?"}
        shown = early if path == "early return" else error
        rest = [
            {"east": two, "south": None},
            {"north": three, "west": "-"},
            {"north": one, "west": "broken"},
        ]
        return [shown, {"north": one, "east": two, "south": three}, *rest, {"west": None}, {}]
    if path == "skipped turn":
        skipped = {"A": one, "B": "", "C": two}
        rest = [{"A": "", "B": "", "C": three}, {"A": one, "B": "x"}, {"A": two, "B": "broken"}]
        return [skipped, {"A": one, "B": two, "C": three}, *rest, {}]
    job, other = random.sample(["map", "plan", "card", "sign"], 2)
    third = next(name for name in ("sign", "card", "plan") if name not in (job, other))
    error, cancel = [f"1 starts {job}", f"{job} fails"], [f"1 starts {job}", "1 is cancelled"]
    return [
        error if path == "error in a task" else cancel,
        [f"1 starts {job}", f"{job} takes {one}"],
        [f"1 starts {job}", f"2 starts {other}", f"{job} takes {two}", f"{other} takes {three}"],
        ["1 starts"],
        [f"1 starts {other}", f"{other} fails", f"2 starts {job}", f"{job} takes {one}"],
        [f"1 starts {other}", "1 is cancelled", f"2 starts {job}", f"{job} takes {two}"],
        [f"1 starts {job}", f"2 starts {other}", "2 is cancelled", f"{job} takes {three}"],
        [
            f"1 starts {job}",
            f"2 starts {other}",
            f"3 starts {third}",
            "3 is cancelled",
            f"{job} takes {two}",
        ],
    ]


def played(source: str, fake: str, shown: Any) -> Any:
    """What `play` gives. In a thread of its own, where no other event loop runs."""
    lines = [
        line
        for line in f"{source}\n{fake}".splitlines()
        if not line.startswith("from ") or "contextlib" in line
    ]
    space: dict[str, Any] = {"asyncio": asyncio}
    exec("\n".join(lines), space)  # noqa: S102  (texts of this file)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(space["play"], shown).result()


def fence(path: str, text: str) -> str:
    """A file as prompts and replies show it."""
    return f"{path}\n```python\n{text}```\n"
