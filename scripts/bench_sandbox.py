"""Times one verification of a model's code in each kind of sandbox that this machine has.

A verification is a fresh sandbox, one file in, one call answered, everything removed.
"""

from __future__ import annotations

import os
import statistics
import time

from bench_loop.contracts.sandbox import Program, Sandbox
from bench_loop.errors import SandboxError
from bench_loop.sandboxes._local import USER
from bench_loop.sandboxes.ladder import CHOICES, open_sandbox

RUNS = 9
PROGRAM = Program(
    (
        "python",
        "-I",
        "-c",
        "import sys; sys.path.append('.'); import solution; print(solution.f(2))",
    ),
    files={"solution.py": b"def f(x): return x + 1\n"},
)


def main() -> None:
    for name in CHOICES[1:]:
        try:
            start = time.perf_counter()
            sandbox = open_sandbox(
                name, is_unsafe_allowed=True, user=USER if os.getuid() == 0 else None
            )
        except SandboxError as error:
            print(f"{name}: not here ({error})")
            continue
        opened_s = time.perf_counter() - start
        times = sorted(once(sandbox) for _ in range(RUNS))
        sandbox.close()
        print(
            f"{name}: one verification {statistics.median(times) * 1000:.0f} ms, median of {RUNS}"
            f" ({times[0] * 1000:.0f} to {times[-1] * 1000:.0f} ms);"
            f" opened and tested in {opened_s:.1f} s"
        )


def once(sandbox: Sandbox) -> float:
    """Seconds from the request to the answer."""
    start = time.perf_counter()
    run = sandbox.run(PROGRAM)
    seconds = time.perf_counter() - start
    if run.stdout != b"3\n":
        raise SandboxError(f"A verification gave {run}")
    return seconds


if __name__ == "__main__":
    main()
