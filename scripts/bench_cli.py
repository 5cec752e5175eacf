"""Times `bench-loop --help`: what a person waits for at every mistyped command.

The median of several runs, since one run measures the machine's other work.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

RUNS = 15
BAR_S = 0.150


def main() -> None:
    once()  # the first run also writes Python's byte code
    times = sorted(once() for _ in range(RUNS))
    median = statistics.median(times)
    print(
        f"bench-loop --help: median {median * 1000:.0f} ms of {RUNS} runs"
        f" ({times[0] * 1000:.0f} to {times[-1] * 1000:.0f} ms), bar {BAR_S * 1000:.0f} ms"
    )
    if median > BAR_S:
        sys.exit(1)


def once() -> float:
    """Seconds from start to end of one `bench-loop --help`."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "bench_loop", "--help"], check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
