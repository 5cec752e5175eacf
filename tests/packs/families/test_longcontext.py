"""The keys of longcontext, once more by reading the text; needles all over it; lengths as named."""

from __future__ import annotations

import re

import pytest

from bench_loop.engine.families import family_names, load_family
from bench_loop.engine.packs import load_pack
from tests.packs.longcontext_reader import solve

PACK = load_pack("longcontext")
FAMILIES = family_names(PACK.folder)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_reader_of_the_text_finds_the_key_of_200_draws(name: str) -> None:
    for instance in load_family(PACK.folder, name).instances(4712, 200):
        found = solve(instance.task.messages[0].content)
        assert "; ".join(found.parts) == instance.answer, instance.task.id


@pytest.mark.parametrize("name", FAMILIES)
def test_no_two_needles_lie_in_the_same_tenth(name: str) -> None:
    for instance in load_family(PACK.folder, name).instances(4713, 40):
        found = solve(instance.task.messages[0].content)
        tenths = [(entry - 1) * 10 // found.entries for entry in found.used]
        assert len(set(tenths)) == len(tenths) >= 3, instance.task.id


@pytest.mark.parametrize("name", FAMILIES)
def test_needles_lie_in_every_tenth_over_many_draws(name: str) -> None:
    family = load_family(PACK.folder, name)
    for path in family.paths:
        tenths = {
            (entry - 1) * 10 // found.entries
            for instance in family.instances(4714, 60)
            if instance.path == path
            for found in [solve(instance.task.messages[0].content)]
            for entry in found.used
        }
        assert tenths == set(range(10)), path


@pytest.mark.parametrize("name", FAMILIES)
def test_no_entry_says_the_same_twice(name: str) -> None:
    for instance in load_family(PACK.folder, name).instances(4715, 40):
        prompt = instance.task.messages[0].content
        for entry in re.findall(r"^(?:Entry|Note) \d+: (.*)$", prompt, re.MULTILINE):
            sentences = re.split(r"(?<=\.) ", entry)
            assert len(set(sentences)) == len(sentences), instance.task.id
