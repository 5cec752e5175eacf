"""Kinds of values on the command line that more than one word of text is needed for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bench_loop.contracts.chat import Sampling

_DURATION = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>s|m|min|h)", re.IGNORECASE | re.ASCII)
_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}


class Duration(click.ParamType[float]):
    """A time with its unit, like 90s, 15m or 1.5h, as seconds; 0 only where that has a meaning."""

    name = "duration"

    def __init__(self, *, may_be_zero: bool = False) -> None:
        self._may_be_zero = may_be_zero

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, float):
            return value
        text = str(value).strip()
        if self._may_be_zero and text == "0":
            return 0.0
        match = _DURATION.fullmatch(text)
        if match is None or (float(match["number"]) == 0 and not self._may_be_zero):
            self.fail(f"{value!r} is no time; write it like 90s, 15m or 1h.", param, ctx)
        return float(match["number"]) * _SECONDS[match["unit"].lower()]


class Streams(click.ParamType[tuple[int, ...]]):
    """Numbers of streams, like 1,2,4,8."""

    name = "numbers"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        if not value:
            return ()
        words = [word.strip() for word in str(value).split(",")]
        if not all(re.fullmatch(r"[1-9]\d?", word, re.ASCII) for word in words):
            self.fail(f"{value!r} is no list of numbers from 1 to 99, like 1,2,4,8.", param, ctx)
        return tuple(sorted({int(word) for word in words}))


class NamedValue(click.ParamType[tuple[str, str]]):
    """A name and a value, like path=exec."""

    name = "setting"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not name.strip() or not equals:
            self.fail(f"{value!r} names no value; write it like path=exec.", param, ctx)
        return name.strip(), text.strip()


class SamplingValues(click.ParamType["Sampling"]):
    """Sampling settings by name, like temperature=0.6,top_p=0.95,top_k=20; the others are off."""

    name = "settings"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Sampling:
        from pydantic import ValidationError

        from bench_loop.contracts.chat import Sampling

        if isinstance(value, Sampling):
            return value
        pairs = [part.partition("=") for part in str(value).split(",")]
        try:
            return Sampling.model_validate_strings(
                {name.strip(): number.strip() for name, _, number in pairs}
            )
        except ValidationError as error:
            names = ", ".join(Sampling.model_fields)
            where = ".".join(map(str, error.errors()[0]["loc"])) or str(value)
            self.fail(f"{where!r} is not right; the settings are {names}.", param, ctx)


class Seed(click.ParamType[int]):
    """A seed of fresh instances."""

    name = "seed"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        from bench_loop.contracts.record import LARGEST_SEED

        text = str(value)
        is_whole = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST_SEED))
        if not is_whole or int(text) > LARGEST_SEED:
            self.fail(f"{value!r} is no seed: a whole number, 0 to {LARGEST_SEED}.", param, ctx)
        return int(text)


def listed(
    what: str, text: str, *, remedy: str = "Separate several by commas: A,B"
) -> tuple[str, ...]:
    """The names of a list `A,B,C`. Raises UsageError for none, with this remedy, and for one twice.

    `what` is the noun for one of them.
    """
    from bench_loop.errors import UsageError

    found = tuple(name.strip() for name in text.split(",") if name.strip())
    if not found:
        raise UsageError(f"No {what} is named.", remedy=remedy)
    twice = next((name for name in found if found.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"{twice!r} is named twice.", remedy=f"Name each {what} once.")
    return found
