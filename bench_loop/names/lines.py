"""Families and lines: what the words of a name say of where a model belongs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from bench_loop.names.families import Family, FamilyTable
from bench_loop.names.sizes import is_size, read_size

OTHER = "other"
"""Family of a name that looks like a model's but holds no word of the table."""


def family_and_line(words: Sequence[str], known: FamilyTable) -> tuple[str, str] | None:
    """The family and the line that the words of a name tell; None: no word of the table."""
    for start in range(len(words)):
        if found := known.family_at(words, start):
            family, length = found
            return family.name, _line(family, words, start, length, known)
    return None


def line_of_other(words: Sequence[str], known: FamilyTable) -> str | None:
    """The line of a name whose family is not in the table; None where nothing is left of it."""
    return "-".join(_line_words(words, None, known)) or None


def _line(family: Family, words: Sequence[str], start: int, length: int, known: FamilyTable) -> str:
    """The line that the words name, in one spelling: `gemma-3`, `qwen2.5-coder`."""
    stem = "-".join(words[start : start + length])
    following = [
        word
        for word in _line_words(words[start + length :], family, known)
        if word not in words[start : start + length]
    ]
    if family.distills and (base := _second_family(words[start + length :], family, known)):
        generation = following[0] if following else ""
        return "-".join(filter(None, (stem, generation, "distill", base)))
    if family.is_glued and following and re.match(r"\d", following[0]):
        stem, following = stem + following[0], following[1:]
    following = following or _tag_version(family, words[start + length :])
    line = "-".join([stem, *following])
    size = read_size(words)
    key = "latest" if not size.key and "latest" in words else size.key
    line = known.renames.get((line, key)) or known.renames.get((line, size.key), line)
    own = _line_words(words[:start], None, known)
    return "-".join([*own, line])


def _tag_version(family: Family, words: Sequence[str]) -> list[str]:
    """The generation that Ollama's tags put behind the size: `yi:34b-chat-v1.5` is Yi 1.5."""
    if not family.has_tag_versions:
        return []
    return [word[1:] for word in words if re.fullmatch(r"v\d+\.\d+", word)][:1]


def _second_family(words: Sequence[str], first: Family, known: FamilyTable) -> str | None:
    for start in range(len(words)):
        found = known.family_at(words, start)
        if found and found[0] is not first:
            return found[0].name
    return None


def _line_words(words: Sequence[str], family: Family | None, known: FamilyTable) -> list[str]:
    """The words that tell one line from another: those up to the first size, and some behind."""
    size_at = next((at for at, word in enumerate(words) if is_size(word)), len(words))
    kept: list[str] = []
    for word in words[:size_at]:
        # Behind a generation, a further one is the revision of a build.
        is_revision = re.fullmatch(r"v\d+", word) and any(re.search(r"\d", own) for own in kept)
        if not is_revision and not _says_nothing(word, family, known):
            kept.append(word)
    behind = [word for word in words[size_at:] if word in known.anywhere and word not in kept]
    return kept + behind


def _says_nothing(word: str, family: Family | None, known: FamilyTable) -> bool:
    """Makers, roles, dates, windows, revisions, and words for a size."""
    if word in known.noise or word in known.vendors:
        return True
    if re.fullmatch(r"\d{4,8}|\d+k|v0\d*", word):
        return True
    if family is None:
        return re.fullmatch(r"v\d+(\.\d+)*", word) is not None
    if re.fullmatch(r"v\d+(\.\d+)*", word) and not family.has_v_versions:
        return True
    return word in family.size_words
