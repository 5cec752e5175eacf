"""Model names: what an id from any server says of family, line, size and quantization.

Rules read the name; `families.yaml` knows families and published sizes. What neither tells stays
None: a wrong name on a board is worse than a missing one.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bench_loop.contracts.provider import ModelFacts
from bench_loop.names.families import FamilyTable, PublishedSize, table
from bench_loop.names.ids import take_apart, words_of
from bench_loop.names.lines import OTHER, family_and_line, line_of_other
from bench_loop.names.quantization import bits_of, from_server, take_quantization
from bench_loop.names.sizes import WrittenSize, billions, is_size, read_size

_SAME_SIZE = 0.15
"""Names round sizes by less than this: 4b of 4.3."""

SizeBasis = Literal["provider", "name", "registry"]


@dataclass(frozen=True, slots=True)
class ModelName:
    """What is known of a model by its name and its server's words. None is unknown."""

    model_id: str
    """The id as shown: without the folders of a path, which name the user."""
    family: str | None = None
    line: str | None = None
    """Generation and variant inside the family, like qwen2.5-coder: the key for grouping."""
    parameters_b: float | None = None
    active_parameters_b: float | None = None
    """Parameters used per token of a mixture of experts; None for dense and unknown ones."""
    size_basis: SizeBasis | None = None
    """What told the size: the server, the name, or for names without one the table of published
    sizes. The figure may be a more exact one of the same size: 14.8 of a 14b model."""
    quantization: str | None = None
    quant_bits: int | None = None
    """Nominal width by the label: 4 for Q4_K_M."""
    bits_per_weight: float | None = None
    """Measured: bits of the file by parameters, where the server tells both."""
    quant_publisher: str | None = None
    refuse_reason: str | None = None
    """Why it cannot be benchmarked as a local chat model, as a sentence; None: it can be."""


def parse_model(
    model_id: str, facts: ModelFacts | None = None, *, provider: str | None = None
) -> ModelName:
    """What `model_id` and the server's `facts` tell of a model.

    `provider` is the name of the engine that lists it, if known (`mlx` gives bare bit widths
    their meaning). Never raises: an id that says nothing gives a ModelName of None.
    """
    known = table()
    parts = take_apart(model_id, known, provider)
    labelled = take_quantization(parts.name, is_mlx=parts.is_mlx)
    words = words_of(labelled.rest)
    name = ModelName(parts.shown, quant_publisher=parts.publisher)
    if known.hosted.match(parts.name) is None:
        name = replace(name, quantization=labelled.label)
        if labelled.rest.strip(" .-_:") not in known.opaque:
            name = _with_family(name, words, known)
            name = _with_size(name, words, known)
    name = replace(name, refuse_reason=_refusal(parts.name, words, facts, known))
    if name.refuse_reason is not None:
        # It will not be run: what the server says of weights that may be elsewhere is not ours.
        name = replace(name, quantization=labelled.label)
    if facts is not None and name.refuse_reason is None:
        name = _with_facts(name, facts, known)
    elif facts is not None and facts.parameters and not facts.is_remote:
        name = replace(name, parameters_b=facts.parameters / 1e9, size_basis="provider")
    return replace(name, quant_bits=bits_of(name.quantization))


def _with_family(name: ModelName, words: Sequence[str], known: FamilyTable) -> ModelName:
    """A name without a word of the table is a model's only where a size or a label says so."""
    if told := family_and_line(words, known):
        return replace(name, family=told[0], line=told[1])
    line = line_of_other(words, known)
    if line and (name.quantization or any(map(is_size, words))):
        return replace(name, family=OTHER, line=line)
    return name


def _with_size(name: ModelName, words: Sequence[str], known: FamilyTable) -> ModelName:
    written = read_size(words)
    published = _published(name.line, written, words, known)
    total = published.total_b if published else written.total_b
    active = _active(written.active_b, published.active_b if published else None)
    basis: SizeBasis | None = None
    if total is not None:
        basis = "name" if written.total_b is not None else "registry"
    return replace(name, parameters_b=total, active_parameters_b=active, size_basis=basis)


def _active(written_b: float | None, published_b: float | None) -> float | None:
    """Names round (A3B is 3.3): the published figure where it is the same one, else the name's."""
    if written_b is None or published_b is None:
        return written_b or published_b
    return published_b if abs(published_b - written_b) <= 0.2 * written_b else written_b


def _published(
    line: str | None, written: WrittenSize, words: Sequence[str], known: FamilyTable
) -> PublishedSize | None:
    """The table's size for this line as written; a size that it does not list is left alone."""
    if line is None:
        return None
    for key in (written.key,) if written.key else (*words, ""):
        if (line, key) in known.sizes:
            return known.sizes[line, key]
    # A fine-tune of a mixture has the size of the mixture that its name tells.
    bases = words if "x" in written.key else ()
    return next(
        (known.sizes[at] for word in bases if (at := (word, written.key)) in known.sizes), None
    )


def _with_facts(name: ModelName, facts: ModelFacts, known: FamilyTable) -> ModelName:
    """The server knows sizes best; its label wins where the name's is of another width."""
    if name.family is None and facts.file_name:
        hidden = parse_model(facts.file_name)
        name = replace(
            hidden,
            model_id=name.model_id,
            quant_publisher=name.quant_publisher,
            refuse_reason=hidden.refuse_reason,
        )
    family = known.architectures.get(facts.family or "")
    if name.family in (None, OTHER) and family is not None:
        name = replace(name, family=family)
    renamed = known.renames_by_architecture.get(name.line or "", {}).get(facts.family or "")
    if renamed is not None:
        name = replace(name, line=renamed, active_parameters_b=None)
    told_b = billions(facts.parameter_size)
    total = facts.parameters / 1e9 if facts.parameters else told_b
    if total is not None:
        is_names = facts.parameters is None and _is_same_size(name, total)
        name = replace(name, parameters_b=total, size_basis="name" if is_names else "provider")
    if name.active_parameters_b and name.active_parameters_b > (name.parameters_b or math.inf):
        name = replace(name, active_parameters_b=None)
    label = name.quantization
    if label is None and facts.file_name:
        label = parse_model(facts.file_name).quantization
    told = from_server(facts.quantization)
    if label is None or (told is not None and bits_of(told) != bits_of(label)):
        label = told or label
    return replace(name, quantization=label, bits_per_weight=_measured_bits(total, facts))


def _is_same_size(name: ModelName, told_b: float) -> bool:
    """Whether a server's rounded words only repeat what the name says."""
    written = name.parameters_b if name.size_basis == "name" else None
    return written is not None and abs(told_b - written) <= _SAME_SIZE * written


def _measured_bits(total_b: float | None, facts: ModelFacts) -> float | None:
    if not total_b or not facts.size_bytes:
        return None
    return round(facts.size_bytes * 8 / (total_b * 1e9), 2) or None


def _refusal(
    name: str, words: Sequence[str], facts: ModelFacts | None, known: FamilyTable
) -> str | None:
    if (facts is not None and facts.is_remote) or re.search(r"[:-]cloud$", name):
        return "The local server only forwards this model to a remote host."
    pairs = ["-".join(pair) for pair in itertools.pairwise(words)]
    for word in [*words, *pairs]:
        if word in known.not_chat:
            return f"This is a model for {known.not_chat[word]}, not for chat."
    if facts is None:
        return None
    cannot_chat = facts.capabilities is not None and "completion" not in facts.capabilities
    if cannot_chat or facts.family in known.not_chat_architectures:
        return "The server says that this model cannot chat."
    return None
