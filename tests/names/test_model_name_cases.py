"""Every row of the case file of model names, against the right answers that stand in it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from bench_loop.contracts.provider import ModelFacts
from bench_loop.names.parse import ModelName, parse_model

CASES = Path(__file__).parents[1] / "fixtures" / "cases" / "model_names.csv"

NOT_YET_RIGHT: frozenset[str] = frozenset()
"""Ids of rows that come out wrong today. A row that is mended must leave the set."""

FINE_TUNES = frozenset({"M102"})
"""Rows whose family may be the base's (here mistral) in place of `other`."""


def rows() -> list[dict[str, str]]:
    with CASES.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def facts_of(row: dict[str, str]) -> ModelFacts | None:
    """What the server said, in the form in which a provider hands it on."""
    if not row["provider_meta"]:
        return None
    said = json.loads(row["provider_meta"])
    details = said.get("details", said)
    return ModelFacts(
        model_id=row["raw"],
        family=details["family"],
        parameter_size=details["parameter_size"],
        quantization=details["quantization_level"],
        is_remote="remote_host" in said,
    )


def wrong_fields(row: dict[str, str], name: ModelName) -> list[str]:
    """The columns of the case that `name` does not meet."""
    families = {row["family"]} | ({"mistral"} if row["id"] in FINE_TUNES else set())
    claims = {
        "family": (name.family or "unknown") in families,
        "family_line": (name.line or "unknown") == row["family_line"],
        "params_total_b": total_is_right(row["accept_total_b"], name.parameters_b),
        "params_active_b": active_is_right(row["params_active_b"], name.active_parameters_b),
        "quantization": (name.quantization or "") == row["quantization"],
        "quant_bits": str(name.quant_bits or "") == row["quant_bits"],
        "chat_ok": (name.refuse_reason is None) == (row["chat_ok"] == "yes"),
    }
    return [column for column, holds in claims.items() if not holds]


def total_is_right(accepted: str, total: float | None) -> bool:
    if not accepted:
        return total is None
    low, high = map(float, accepted.split("-"))
    return total is not None and low - 1e-9 <= total <= high + 1e-9


def active_is_right(published: str, active: float | None) -> bool:
    if not published:
        return active is None
    return active is not None and abs(active - float(published)) <= 0.2 * float(published) + 1e-9


def test_the_case_file_is_whole() -> None:
    assert len(rows()) == 73


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["id"])
def test_a_name_from_the_field_is_read_right(row: dict[str, str]) -> None:
    wrong = wrong_fields(row, parse_model(row["raw"], facts_of(row), provider=row["provider"]))
    if row["id"] in NOT_YET_RIGHT:
        assert wrong, "right now: take it out of NOT_YET_RIGHT"
    else:
        assert wrong == []
