"""The names of the tables of models in `fixtures/own`, and what of an answer does not meet them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from bench_loop.names.parse import ModelName

TABLES = Path(__file__).parents[1] / "fixtures" / "own"


class Row(NamedTuple):
    """One name and its right answers, in the words of the table's head."""

    raw: str
    provider: str
    family: str
    line: str
    total: str
    active: str
    label: str
    bits: str
    chat: str
    said: str = ""


def rows() -> list[Row]:
    lines = [
        line
        for table in ("model_names.psv", "field_models.psv")
        for line in (TABLES / table).read_text(encoding="utf-8").splitlines()
    ]
    return [
        Row(*(cell.strip() for cell in line.split("|")))
        for line in lines
        if line and not line.startswith("#")
    ]


def wrong_fields(row: Row, name: ModelName) -> list[str]:
    """The columns of `row` that `name` does not meet."""
    claims = {
        "family": _is_one_of(row.family, name.family),
        "line": _is_one_of(row.line, name.line),
        "total": _is_about(row.total, name.parameters_b, 0.04),
        "active": _is_about(row.active, name.active_parameters_b, 0.2),
        "label": _is_one_of(row.label, name.quantization),
        "bits": row.bits in ("*", str(name.quant_bits or "")),
        "chat": (row.chat == "yes") == (name.refuse_reason is None),
    }
    return [column for column, holds in claims.items() if not holds]


def _is_one_of(accepted: str, found: str | None) -> bool:
    return accepted == "*" or (found or "") in accepted.split("/")


def _is_about(accepted: str, found: float | None, share: float) -> bool:
    if accepted == "*" or (found is None and accepted[:1] in ("", "?")):
        return True
    if found is None or not accepted:
        return False
    low, _, high = accepted.lstrip("?").partition("-")
    if not high:
        return abs(found - float(low)) <= share * float(low)
    return float(low) - 1e-9 <= found <= float(high) + 1e-9
