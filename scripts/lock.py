"""Writes `requirements/ci.txt`: every package of the `dev` extra with version and hashes.

Resolved for Python 3.11 on Linux x86_64 against the public index alone: a folder of wheels that
this machine may know of could hold other files under the same names. The lock names no address.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements" / "ci.txt"
HEADER = """\
# Written by scripts/lock.py (make lock) for Python 3.11 on Linux x86_64: do not edit.
# Install with: pip install --require-hashes -r requirements/ci.txt
"""


def main() -> None:
    uv = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if uv is None:
        sys.exit("scripts/lock.py needs uv: pip install uv")
    pins = subprocess.run(
        [
            *(uv, "pip", "compile", "pyproject.toml", "--extra", "dev", "--quiet"),
            *("--python-version", "3.11", "--python-platform", "x86_64-manylinux_2_28"),
            *("--generate-hashes", "--no-header", "--no-annotate", "--no-config"),
            *("--no-emit-index-url", "--no-emit-find-links"),
            *sys.argv[1:],
        ],
        cwd=ROOT,
        check=True,
        text=True,
        stdout=subprocess.PIPE,
    ).stdout
    LOCK.write_text(HEADER + pins, encoding="utf-8")
    print(f"{LOCK.relative_to(ROOT)}: {pins.count('==')} packages")


if __name__ == "__main__":
    main()
