"""`python -m bench_loop.simulator SETTINGS`: the process, which ends when its input does.

SETTINGS is JSON (settings.py). It prints one JSON line with its address when it listens.
"""

from __future__ import annotations

import json
import os
import sys
import threading

from bench_loop.simulator.server import Server
from bench_loop.simulator.settings import Settings


def main() -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    server = Server(Settings.from_json(sys.argv[1]))
    print(json.dumps({"address": server.address}), flush=True)
    server.serve_forever()


def _end_with_parent() -> None:
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
