"""Reading code out of a reply: the right fence, whole, and nothing else."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_loop.verifiers.code import find_code, find_files

GOOD = "def f(x):\n    return x + 1\n"
BAD = "def f(x):\n    return x\n"


def fence(code: str, info: str = "python") -> str:
    return f"```{info}\n{code}```\n"


@pytest.mark.parametrize(
    "reply",
    [
        fence(GOOD),
        fence(GOOD, ""),
        fence(GOOD, "py"),
        fence(GOOD, "Python 3"),
        f"~~~python\n{GOOD}~~~",
        f"````python\n{GOOD}````",
        f"```python\n{GOOD}",
        f"The buggy code was\n{fence(BAD)}and here is the fix:\n{fence(GOOD)}",
        f"> ```python\n> {BAD}> ```\n{fence(GOOD)}",
        f"{fence(GOOD)}Summary:\n```\nf adds one\n```",
        f"{fence(GOOD)}Example:\n{fence('print(f(1))')}",
        f"{fence(GOOD)}In JavaScript:\n{fence('f = (x) => x + 1', 'javascript')}",
        f"{fence(GOOD)}So the signature is\n" + fence("def f(x): ...\n"),
        "1. Step:\n   ```python\n   def f(x):\n       return x + 1\n   ```",
        GOOD,
        f"\n{GOOD}\n",
        fence(GOOD).replace("\n", "\r\n"),
    ],
)
def test_the_code_that_counts_is_found(reply: str) -> None:
    found = find_code(reply, "f")
    assert (found.text, found.reason) == (GOOD, None)


def test_a_fence_inside_a_docstring_closes_nothing() -> None:
    code = 'def f(x):\n    """Adds.\n\n    ```\n    f(1)\n    ```\n    """\n    return x + 1\n'
    assert find_code(fence(code), "f").text == code


def test_imports_helpers_and_values_stay_with_the_function() -> None:
    code = f"import re\n\nLIMIT = 3\n\n\nclass Helper:\n    pass\n\n\n{GOOD}\n\nprint(f(1))\n"
    assert find_code(fence(code), "f").text == code


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I would add one to x.", "no_code"),
        (f"Here it is:\n{GOOD}", "no_code"),
        (f"{GOOD}\nThis adds one.", "no_code"),
        ("```\nf adds one\n```", "fragment"),
        ("```text\nIt adds one.\n```", "no_code"),
        (fence("return x + 1\n"), "fragment"),
        (fence("def g(x):\n    return x + 1\n"), "fragment"),
        (fence("class A:\n    def f(self, x):\n        return x + 1\n"), "fragment"),
        (fence("def ff(x):\n    return x + 1\n"), "fragment"),
        (fence("def f(x):\n    ...\n"), "elided"),
        (fence("def f(x): ...\n"), "elided"),
        (fence("def f(x):\n    y = x\n    # ... rest of the code\n    return y\n"), "elided"),
        (fence("def f(x):\n    # existing code here\n    return x\n"), "elided"),
        (fence("-    return x\n+    return x + 1\n", "diff"), "diff"),
        (fence("--- a/s.py\n+++ b/s.py\n@@ -1 +1 @@\n-def f(x):\n+def f(y):\n", ""), "diff"),
        ("", "no_code"),
        ("```python\n```", "fragment"),
    ],
)
def test_what_is_no_whole_code_is_refused_with_its_reason(reply: str, reason: str) -> None:
    assert find_code(reply, "f").reason == reason


@pytest.mark.parametrize(
    "comment",
    [
        "# The remaining minutes stay unchanged while we merge.",
        "# Everything else: same as the first case",
        "# the rest of the list is sorted",
        "# original order matters",
        "# ...and so on for the other days of the week, one after another until Sunday is reached",
    ],
)
def test_an_ordinary_comment_is_no_left_out_code(comment: str) -> None:
    code = f"def f(x):\n    {comment}\n    return x + 1\n"
    assert find_code(fence(code), "f").text == code


KNOWN = {"a/one.py": "def one():\n    return 1\n", "a/two.py": "def two():\n    return 2\n"}
KNOWN["tests/test_one.py"] = "def test_one():\n    assert False\n"
EDITABLE = ["a/one.py", "a/two.py"]
NEW = "def one():\n    return 11\n"


@pytest.mark.parametrize(
    "reply",
    [
        f"a/one.py\n{fence(NEW)}",
        f"**a/one.py**\n\n{fence(NEW)}",
        f"### `a/one.py`\n{fence(NEW)}",
        f"The new content of ./a/one.py:\n{fence(NEW)}",
        f"File: a/one.py\n{fence(NEW)}",
        fence(NEW, "python a/one.py"),
        fence(NEW, "python title=a/one.py"),
        fence(NEW),
        f"a/one.py\n{fence(KNOWN['a/one.py'])}is wrong. Now a/one.py:\n{fence(NEW)}",
    ],
)
def test_a_file_is_known_by_its_path_or_by_what_it_defines(reply: str) -> None:
    assert find_files(reply, KNOWN, EDITABLE).files == {"a/one.py": NEW}


def test_a_path_in_the_first_comment_names_the_file() -> None:
    content = f"# a/one.py\n{NEW}"
    assert find_files(fence(content), KNOWN, EDITABLE).files == {"a/one.py": content}


def test_several_files_are_told_apart() -> None:
    two = "def two():\n    return 22\n"
    reply = f"a/one.py\n{fence(NEW)}\na/two.py\n{fence(two)}"
    assert find_files(reply, KNOWN, EDITABLE).files == {"a/one.py": NEW, "a/two.py": two}


def test_a_protected_file_is_put_back() -> None:
    reply = f"a/one.py\n{fence(NEW)}tests/test_one.py\n{fence('def test_one(): pass')}"
    found = find_files(reply, KNOWN, EDITABLE)
    assert (dict(found.files), found.put_back) == ({"a/one.py": NEW}, ("tests/test_one.py",))


def test_only_editable_files_are_ever_written() -> None:
    planted = f"conftest.py\n{fence('import os')}sitecustomize.py\n{fence('import os')}"
    assert find_files(planted, KNOWN, EDITABLE).files == {}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Change 1 to 11.", "no_file"),
        (fence("return 11\n"), "no_file"),
        (fence("def three():\n    return 3\n"), "no_file"),
        (f"a/one.py\n{fence('-    return 1', 'diff')}", "diff"),
        ("a/one.py\n" + fence("def one():\n    # ... existing code\n    return 11\n"), "elided"),
        (f"xa/one.py and b/a/one.py.bak\n{fence('pass')}", "no_file"),
        (f"{'a/one.py ' * 20}\n{fence('pass')}", "no_file"),
    ],
)
def test_what_is_no_whole_file_is_refused_with_its_reason(reply: str, reason: str) -> None:
    assert find_files(reply, KNOWN, EDITABLE).reason == reason


PIECES = st.lists(
    st.sampled_from(
        ["```", "````", "~~~", "\n", "def f(x):", "    ", "...", "# ...", "a/one.py", "@@ ", "x=1"]
    )
    | st.text(max_size=8),
    max_size=60,
)


@given(PIECES)
def test_no_reply_raises(pieces: list[str]) -> None:
    reply = "".join(pieces)
    find_code(reply, "f")
    find_files(reply, KNOWN, EDITABLE)


@pytest.mark.parametrize(
    "reply",
    [
        "```\n" * 25_000,
        "```python\n" + "def f(x): " * 10_000,
        "```python\n" + "f" * 100_000,
        "```python\n" + "f: " * 33_000,
        "`" * 100_000,
        "~" * 99_999 + "`",
        "~~~" + " " * 99_996 + "`",
        " " * 100_000,
        "def f(x):\n    return " + "(" * 19_000,
        "def f(x):\n" + "    # " + "rest of the code " * 6_000,
        "```python\n" + "# ... " * 16_000 + "\n```",
        "a/one.py\n```\n" * 7_000,
    ],
)
def test_a_hundred_kilobytes_cost_no_time(reply: str) -> None:
    def seconds(read: Callable[[], object]) -> float:
        started = time.thread_time()
        read()
        return time.thread_time() - started

    readers = (lambda: find_code(reply, "f"), lambda: find_files(reply, KNOWN, EDITABLE))
    assert [min(seconds(read) for _ in range(5)) < 0.05 for read in readers] == [True, True]


def test_code_that_python_finds_doubtful_is_code_however_python_was_started() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("error")
        assert find_code("def f():\n    return '\\d'\n", "f").text is not None
    assert not told
