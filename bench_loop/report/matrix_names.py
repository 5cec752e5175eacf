"""How models and harnesses are named in a matrix, and how its estimates become figures."""

from __future__ import annotations

from collections import Counter

from bench_loop.report.matrix_records import HarnessHead, ModelName
from bench_loop.report.printable import one_line
from bench_loop.report.stack import harness_shape
from bench_loop.scoring.estimates import Estimate
from bench_loop.scoring.matrix import Matrix, MatrixHarness, MatrixModel

CUSTOM = "custom"
"""Mark of a person's own configuration."""

DIGEST = 8
"""Characters of a digest that are shown."""


def harness_heads(matrix: Matrix) -> dict[MatrixHarness, HarnessHead]:
    """A head for every harness."""
    names = Counter(harness.name for harness in matrix.harnesses)
    plain = Counter(map(_plain, matrix.harnesses))
    return {
        harness: HarnessHead(
            name=one_line(harness.name, 40),
            shape=harness_shape(harness.name),
            version=_version(harness, is_alone=plain[_plain(harness)] == 1),
            mark=CUSTOM if harness.configuration == "custom" else "",
            is_named_alone=names[harness.name] == 1,
        )
        for harness in matrix.harnesses
    }


def harness_labels(matrix: Matrix) -> dict[MatrixHarness, str]:
    """Each harness in a sentence: its version where another has its name, and its mark."""
    return {
        harness: " ".join(
            filter(
                None,
                (
                    head.name,
                    "" if head.is_named_alone else head.version,
                    f"({head.mark})" if head.mark else "",
                ),
            )
        )
        for harness, head in harness_heads(matrix).items()
    }


def _plain(harness: MatrixHarness) -> tuple[str, str | None, str | None]:
    return harness.name, harness.version, harness.configuration


def _version(harness: MatrixHarness, *, is_alone: bool) -> str:
    """With a piece of its configuration's hash where nothing else tells two apart."""
    version = one_line(harness.version or "", 40)
    if is_alone or harness.config_hash is None:
        return version
    return f"{version} {one_line(harness.config_hash.rpartition(':')[2][:DIGEST])}".lstrip()


def model_names(matrix: Matrix) -> dict[MatrixModel, ModelName]:
    """A name for every model; where two have the same, with a piece of their weights' digest."""
    plain = Counter((model.model_id, model.quantization) for model in matrix.models)
    return {
        model: ModelName(
            name=one_line(model.model_id),
            quantization=one_line(model.quantization or "", 40),
            note=", ".join(_notes(model, is_alone=plain[model.model_id, model.quantization] == 1)),
        )
        for model in matrix.models
    }


def _notes(model: MatrixModel, *, is_alone: bool) -> list[str]:
    notes = ["thinking"] if model.thinking else []
    if not is_alone and model.weights_digest:
        notes.append(one_line(model.weights_digest.rpartition(":")[2][:DIGEST]))
    return notes


def interval_of(found: Estimate) -> tuple[float, float] | None:
    """Both ends; None where too few values tell any, and where all values are the same."""
    if found.low is None or found.high is None or found.low == found.high:
        return None
    return found.low, found.high
