"""One name for all the ids under which servers list the same model."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace

from bench_loop.names.families import FamilyTable, table
from bench_loop.names.ids import take_apart, words_of
from bench_loop.names.parse import ModelName, parse_model
from bench_loop.names.quantization import take_quantization
from bench_loop.names.releases import releases_of, without_packing_dates
from bench_loop.names.sizes import billions, is_size

_SAME_SIZE = 0.15
"""A server's figure and a name's that differ by less mean the same size: 8.19 and 8b."""

_DIGEST_CHARACTERS = 12

_OTHER_WEIGHTS = (
    *("abliterated", "heretic", "uncensored"),
    *("base", "sft", "dpo", "rl", "qat"),
    *("exp", "preview"),
)
"""Words that tell nothing of the line, and yet name other weights than the line's own."""

_BUILDS = ("bin", "marlin", "mlc", "quantized", "serve", "vllm")
"""Words of the engine or the tool that the same weights were packed for."""

_SHORTEST_TUNING = 3
"""Letters of a word behind the size that is taken for the name of a tuning."""


@dataclass(frozen=True, slots=True)
class CanonicalName:
    """The first guess of which model an id means; people may overrule it."""

    key: str
    """Equal for ids of the same model: line, size, tuning and release, or for an id that tells
    nothing the id itself with the digest of the weights behind it."""
    name: str
    """As shown: `qwen3-8b`, or the id of which nothing could be read."""
    family: str | None
    parameters_b: float | None


def canonical_name(
    model_id: str,
    *,
    provider: str | None = None,
    file_name: str | None = None,
    parameters_b: float | None = None,
    weights_digest: str | None = None,
) -> CanonicalName:
    """The name that `model_id` shares with other ids of its model; never raises.

    `parameters_b` is what the server counted, in billions: it decides where the id gives no size,
    as `latest` does. `file_name` is read where the id says nothing.
    """
    read = model_id
    parsed = parse_model(model_id, provider=provider)
    if parsed.line is None and file_name:
        named = parse_model(file_name, provider=provider)
        if named.line is not None:
            read, parsed = file_name, named
    if parsed.line is None:
        return _unread(parsed, parameters_b, weights_digest)
    tuning, releases = _tuning_and_releases(read, parsed.line, provider)
    means = table().releases.get(parsed.line, {})
    parsed = replace(parsed, line=next(filter(None, map(means.get, releases)), parsed.line))
    total_b = _size(parsed, parameters_b)
    told = [release for release in releases if release not in means]
    words = (parsed.line, _size_words(parsed, total_b), *tuning, *told)
    key = "-".join(filter(None, words))
    return CanonicalName(key, key, parsed.family, total_b)


def _unread(
    parsed: ModelName, parameters_b: float | None, weights_digest: str | None
) -> CanonicalName:
    """Two servers may call different weights `default`: only equal weights make them one."""
    folded = unicodedata.normalize("NFKC", parsed.model_id).casefold().strip()
    digest = (weights_digest or "").rpartition(":")[2][:_DIGEST_CHARACTERS]
    size = f"{parameters_b:.2g}b" if parameters_b else ""
    key = "@".join(filter(None, (folded, digest or size)))
    return CanonicalName(key, parsed.model_id, parsed.family, parameters_b)


def _size(parsed: ModelName, counted_b: float | None) -> float | None:
    """Billions of parameters: those that the name tells, else those that the server counted.

    Servers count a packed weight as one parameter, so that their figure never overrules a name's.
    """
    named_b = parsed.parameters_b
    if counted_b is None or parsed.size_basis == "name":
        return named_b
    if named_b is not None and abs(counted_b - named_b) <= _SAME_SIZE * named_b:
        return named_b
    published = [size.total_b for (line, _), size in table().sizes.items() if line == parsed.line]
    near = [size_b for size_b in published if abs(counted_b - size_b) <= _SAME_SIZE * size_b]
    return min(near, key=lambda size_b: abs(counted_b - size_b), default=counted_b)


def _size_words(parsed: ModelName, total_b: float | None) -> str:
    """The size as names write it: `8b` for a published 8.19, `30b-a3b` where none is published."""
    if total_b is None:
        return ""
    written = [
        words
        for (line, words), size in table().sizes.items()
        if line == parsed.line and size.total_b == total_b and words
    ]
    if written:
        return min(written, key=lambda words: (_distance(words, total_b), words))
    size = _figure(total_b)
    active_b = parsed.active_parameters_b if total_b == parsed.parameters_b else None
    return f"{size}-a{_figure(active_b)}" if active_b else size


def _tuning_and_releases(
    model_id: str, line: str, provider: str | None
) -> tuple[list[str], list[str]]:
    """The words that tell a tuning from the model that it was made of, and those of a release.

    Each in the order of the name.
    """
    known = table()
    parts = take_apart(model_id, known, provider)
    name = take_quantization(without_packing_dates(parts.name), is_mlx=parts.is_mlx).rest
    words = words_of(name)
    size_at = next((at for at, word in enumerate(words) if is_size(word)), len(words))
    told = line.split("-")
    found = [
        word
        for at, word in enumerate(words)
        if word in _OTHER_WEIGHTS or (at > size_at and _names_tuning(word, known))
    ]
    releases = releases_of(name, words, size_at)
    return (
        [word for word in dict.fromkeys(found) if word not in told],
        # The generation of some lines is written as a revision: deepseek-v3, and yi-1.5 as v1.5.
        [word for word in releases if word not in told and word.removeprefix("v") not in told],
    )


def _names_tuning(word: str, known: FamilyTable) -> bool:
    is_plain = any(word in words for words in (known.noise, known.vendors, known.anywhere, _BUILDS))
    is_size_word = any(word in one.size_words for one in known.by_word.values())
    is_word = word.isalpha() and len(word) >= _SHORTEST_TUNING
    return is_word and not (is_plain or is_size_word or word in known.by_word)


def _distance(words: str, total_b: float) -> float:
    """How far written words are from the total; `8x7b` and `e4b` name no total at all."""
    size_b = billions(words)
    return total_b if size_b is None else abs(size_b - total_b)


def _figure(size_b: float) -> str:
    return f"{size_b * 1000:.3g}m" if size_b < 1 else f"{float(f'{size_b:.3g}'):g}b"
