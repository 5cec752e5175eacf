"""The matrix: a run that was one arm of one had the turns that it says."""

from __future__ import annotations

from collections.abc import Iterator

from submissions.checks.finding import Finding, refused
from submissions.checks.upload import Upload


def check_matrix(upload: Upload) -> Iterator[Finding]:
    """An arm of a matrix is the one it says, and no more of it was cold than it had turns.

    Cold trials are held apart from the others: who marks all of them hides how long they took.
    """
    result = upload.result
    arm, parts = result.matrix, result.parts or ()
    turns = sum(part.block is not None for part in parts)
    cold = sum(trial.is_cold is True for trial in result.trials)
    marked = sum(trial.is_cold is not None for trial in result.trials)
    if arm is None:
        if turns or marked:
            yield _no_such_arm("matrix", "This run is no arm of a matrix and had no turns in one.")
        return
    if arm.arms[arm.arm - 1 : arm.arm] != (result.subject.harness,):
        yield _no_such_arm("matrix.arm", "This place in the matrix is that of another harness.")
    if len(set(arm.arms)) < len(arm.arms):
        yield _no_such_arm("matrix.arms", "A harness stands in a matrix once.")
    if cold > turns:
        yield _no_such_arm(
            "trials", "More trials were the first of a turn than there were turns.", cold=cold
        )


def _no_such_arm(field: str, sentence: str, **numbers: int) -> Finding:
    return refused("matrix_mismatch", field, sentence, **numbers)
