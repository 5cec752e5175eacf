"""The base of every record: frozen, strict, and without unknown fields."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field

T = TypeVar("T")


class Record(BaseModel):
    """Immutable; wrong types, unknown fields, NaN and infinity are refused."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        defer_build=True,  # A command needs few of the records; the others cost it time and memory.
    )


class _FirstFault(FailFast):
    """Pydantic's own is not hashable, which `Many[...] | None` needs."""

    __hash__ = object.__hash__


Many = Annotated[tuple[T, ...], _FirstFault()]
"""A list; reading stops at its first bad item, so that a bad file costs no more than a good one."""
Count = Annotated[int, Field(ge=0, le=2**53 - 1)]
LARGEST_SEED = 2**31 - 1
Seed = Annotated[int, Field(ge=0, le=LARGEST_SEED)]
"""Of fresh instances; it stands in the id of every task that was drawn by it."""
Seconds = Annotated[float, Field(ge=0, le=1e9)]
"""A duration; bounded so that sums and squares of hostile values stay finite."""
Positive = Annotated[float, Field(gt=0)]
Score = Annotated[float, Field(ge=0, le=100)]
TaggedHash = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
