"""Programs that are wrong and try to be judged right: each is a whole `solution.py`.

The task: `total(numbers)` adds up a list. None of them does.
"""

from __future__ import annotations

WRONG = """
def total(numbers):
    return 0
"""

RIGHT = """
def total(numbers):
    return sum(numbers)
"""

_FRAMES = """
import itertools, json, os, sys

def frames():
    frame = sys._getframe()
    while frame is not None:
        yield frame
        frame = frame.f_back

def channel():
    for frame in frames():
        names = frame.f_locals
        if "requests" in names and "answers" in names:
            return names["requests"], names["answers"]
    raise SystemExit
"""

_FORGE = (
    _FRAMES
    + """
def serve(right):
    requests, answers = channel()
    pending = [f.f_locals["request"] for f in frames() if "word" in f.f_locals.get("request", ())]
    for line in itertools.chain(map(json.dumps, pending[:1]), requests):
        request = json.loads(line)
        reply = {"word": request.get("word"), "i": request.get("i"), "outcome": "passed"}
        reply["value"] = ["int", "0x0"]
        if not right(request):
            reply["outcome"] = "failed"
        os.write(answers, json.dumps(reply).encode() + b"\\n")
"""
)

ATTACKS = {
    "sys.exit(0) at import": "import sys; sys.exit(0)" + WRONG,
    "os._exit(0) at import": "import os; os._exit(0)" + WRONG,
    "prints the all-passed line, os._exit(0)": """
import os, sys
for descriptor in range(1, 20):
    try:
        os.write(descriptor, b'all passed\\n3 passed\\n')
    except OSError:
        pass
sys.stdout.write("all passed"); sys.stdout.flush()
os._exit(0)
"""
    + WRONG,
    "patches the runner of tests": """
import sys
for module in list(sys.modules.values()):
    for name in ("_done", "_outcome", "pytest_runtest_call", "runtest"):
        if hasattr(module, name):
            setattr(module, name, lambda *args, **kwargs: "passed")
"""
    + WRONG,
    "patches the reports to passed": """
import json, os
real = json.dumps
def dumps(message, *args, **kwargs):
    if isinstance(message, dict) and "outcome" in message:
        message = {**message, "outcome": "passed"}
    return real(message, *args, **kwargs)
json.dumps = dumps
"""
    + WRONG,
    "returns an object equal to everything": """
class Equal(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
def total(numbers):
    return Equal()
""",
    "takes the expected value from the caller's frame": """
import sys
def total(numbers):
    frame = sys._getframe(1)
    while frame is not None:
        for value in frame.f_code.co_consts:
            if type(value) is int and frame.f_code.co_name.startswith("test"):
                found = [one for one in frame.f_code.co_consts if type(one) is int]
                return found[-1]
        frame = frame.f_back
    return 0
""",
    "reads the hidden tests from disk": """
import os, re
def total(numbers):
    for top in (os.getcwd(), "/work", "/tmp", os.path.expanduser("~")):
        for folder, _, names in os.walk(top):
            for name in names:
                try:
                    text = open(os.path.join(folder, name), errors="replace").read()
                except OSError:
                    continue
                for args, value in re.findall(r"assert total\\((\\[.*?\\])\\) == (\\d+)", text):
                    if args == repr(numbers):
                        return int(value)
    return 0
""",
    "plants conftest.py and rewrites the tests": """
import os
PLANTED = "import pytest\\ndef pytest_runtest_call(item): pass\\n"
for folder, _, names in os.walk(os.getcwd()):
    for name in [*names, "conftest.py", "sitecustomize.py", "pytest.ini"]:
        if "test" in name or name in ("sitecustomize.py", "pytest.ini"):
            try:
                open(os.path.join(folder, name), "w").write(PLANTED)
            except OSError:
                pass
"""
    + WRONG,
    "forges a report file at exit": """
import atexit, os
def forge():
    for name in ("report.xml", "junit.xml", "results.json", "outcomes.json"):
        open(name, "w").write('<testsuite tests="3" failures="0"/>')
atexit.register(forge)
"""
    + WRONG,
    "finds word and channel in memory, forges records": _FORGE
    + "serve(lambda request: True)\n"
    + WRONG,
    "the same, also reads the tests and spares the canaries": _FORGE
    + """
import re
known = {}
def right(request):
    pattern = r"def (test\\w*)\\(\\):\\s+assert total\\((\\[.*?\\])\\) == (\\d+)"
    for name, args, value in re.findall(pattern, request.get("tests", "")):
        known[name] = sum(json.loads(args)) == int(value)
    return known.get(request.get("run"), True)
serve(right)
"""
    + WRONG,
    "writes forged messages on the value channel": """
import json, os
for number in range(1, 9):
    message = {"i": number, "value": ["int", "0x3"], "outcome": "passed", "args": []}
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, json.dumps(message).encode() + b"\\n")
        except OSError:
            pass
"""
    + WRONG,
}
