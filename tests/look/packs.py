"""Reads the packed records of a dashboard, as its script does."""

from __future__ import annotations

import base64
import json
import re
import zlib
from typing import Any

_PACK = re.compile(r'<script type="application/octet-stream" (id="index"|class="pack")>([^<]*)<')


def packed(page: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The index of all runs, and every run with the passages of its trials under `texts`."""
    found = [(kind, json.loads(_unpacked(data))) for kind, data in _PACK.findall(page)]
    (index,) = (record for kind, record in found if kind == 'id="index"')
    runs = []
    for kind, record in found:
        if kind != 'id="index"':
            for place, run in enumerate(record["runs"]):
                texts = [said for task in record["texts"].values() for said in task]
                runs.append({**run, "texts": {n: p for run_, n, p in texts if run_ == place}})
    return index, runs


def packed_text(page: str) -> str:
    """Everything that is packed, as JSON text."""
    return "\n".join(_unpacked(data) for _, data in _PACK.findall(page))


def _unpacked(data: str) -> str:
    return zlib.decompress(base64.b64decode(data)).decode()
