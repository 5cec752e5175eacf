"""Model names: what an id from any server says of family, line, size and quantization.

Rules read the name; `families.yaml` knows families and published sizes. What neither tells stays
None: a wrong name on a board is worse than a missing one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bench_loop.contracts.provider import ModelFacts
from bench_loop.names.families import Family, FamilyTable, PublishedSize, table
from bench_loop.names.quantization import bits_of, from_server, take_quantization
from bench_loop.names.sizes import WrittenSize, billions, is_size, read_size

LONGEST_ID = 1000
"""Characters of an id that are read; servers may send anything."""

OTHER = "other"
"""Family of a name that looks like a model's but holds no word of the table."""

_BETWEEN_WORDS = r"[-_\s:/@+,()\[\]]+|(?<!\d)\.|\.(?!\d)"

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
    quantization: str | None = None
    quant_bits: int | None = None
    """Nominal width by the label: 4 for Q4_K_M."""
    bits_per_weight: float | None = None
    """Measured: bits of the file by parameters, where the server tells both."""
    quant_publisher: str | None = None
    refuse_reason: str | None = None
    """Why it cannot be benchmarked as a local chat model, as a sentence; None: it can be."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """An id taken apart at its separators; only `publisher` and `shown` keep their case."""

    shown: str
    publisher: str | None
    name: str
    is_mlx: bool


def parse_model(
    model_id: str, facts: ModelFacts | None = None, *, provider: str | None = None
) -> ModelName:
    """What `model_id` and the server's `facts` tell of a model.

    `provider` is the name of the engine that lists it, if known (`mlx` gives bare bit widths
    their meaning). Never raises: an id that says nothing gives a ModelName of None.
    """
    known = table()
    parts = _take_apart(model_id, known, provider)
    labelled = take_quantization(parts.name, is_mlx=parts.is_mlx)
    words = _words(labelled.rest)
    name = ModelName(parts.shown, quant_publisher=parts.publisher)
    if not _is_opaque(labelled.rest, parts.name, known):
        name = _with_family(name, words, labelled.label is not None, known)
        name = replace(name, quantization=labelled.label)
        name = _with_size(name, words, known)
    if facts is not None:
        name = _with_facts(name, facts, known)
    name = replace(name, refuse_reason=_refusal(parts.name, words, facts, known))
    if name.refuse_reason is not None:
        # It will not be run: what the server says of weights that may be elsewhere is not ours.
        name = replace(name, quantization=labelled.label, bits_per_weight=None)
    return replace(name, quant_bits=bits_of(name.quantization))


def _take_apart(model_id: str, known: FamilyTable, provider: str | None) -> _Parts:
    shown = _without_folders(model_id[:LONGEST_ID].strip())
    namespaced = shown.replace("--", "/", 1) if "/" not in shown else shown
    namespaced = re.sub(r"^(hf\.co|hf-mirror\.com|huggingface\.co)/", "", namespaced, flags=re.I)
    publisher, _, name = namespaced.rpartition("/")
    publisher = publisher.split("/")[0]
    if take_quantization(publisher.lower()).label or publisher.lower() in ("", "library"):
        publisher = ""
    text = re.sub(r"(-\d{5}-of-\d{5})?\.gguf$", "", name.lower())
    # LM Studio puts this in front of the names of embedding models.
    text = text.removeprefix("text-embedding-")
    return _Parts(
        shown=shown,
        publisher=publisher or None,
        name=_without_vendor_prefix(text, known),
        is_mlx=provider == "mlx" or publisher.lower() == "mlx-community" or "mlx" in text,
    )


def _without_folders(model_id: str) -> str:
    """The base name where the id is a path of this machine; else the id as it is.

    Two segments that do not end in `.gguf` are publisher and name, not a folder and a file.
    """
    path = model_id.replace("\\", "/") if re.match(r"[A-Za-z]:\\|\\\\", model_id) else model_id
    is_path = path.startswith(("/", "~", ".", "file:")) or re.match(r"[A-Za-z]:/", path)
    is_file = path.lower().endswith((".gguf", ".safetensors", ".bin"))
    if is_path or (is_file and path.count("/") == 1):
        return path.rstrip("/").rpartition("/")[2]
    return path


def _without_vendor_prefix(text: str, known: FamilyTable) -> str:
    """`google_gemma-3` is `gemma-3`: some publishers put the maker's name before an underscore."""
    prefix, _, rest = text.partition("_")
    words = _words(rest)
    starts_model = bool(words) and (
        words[0] in known.vendors or known.family_at(words, 0) is not None
    )
    return rest if prefix and starts_model else text


def _words(name: str) -> list[str]:
    """The lower-case words of a name: decimals whole, versions apart from the word before."""
    undated = re.sub(r"(?<!\d)\d{2}-20\d{2}(?!\d)", " ", name.lower())
    decimals = re.sub(r"(?<=\d)_(?=\d)", ".", undated)
    words: list[str] = []
    for word in re.split(_BETWEEN_WORDS, decimals):
        glued = re.fullmatch(r"([a-z]{2,})(\d+(?:\.\d+)?[a-z]?)", word)
        if glued and not is_size(word) and word not in table().vendors:
            words.extend(glued.groups())
        elif word:
            words.append(word)
    return words


def _is_opaque(rest: str, name: str, known: FamilyTable) -> bool:
    return rest.strip(" .-_:") in known.opaque | {""} or known.hosted.match(name) is not None


def _with_family(
    name: ModelName, words: Sequence[str], has_label: bool, known: FamilyTable
) -> ModelName:
    for start in range(len(words)):
        if found := known.family_at(words, start):
            family, length = found
            line = _line(family, words, start, length, known)
            return replace(name, family=family.name, line=line)
    own = _line_words(words, None, known)
    if own and (has_label or any(is_size(word) for word in words)):
        return replace(name, family=OTHER, line="-".join(own))
    return name


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
    line = "-".join([stem, *following])
    size = read_size(words)
    line = known.renames.get((line, size.key), line)
    own = _line_words(words[:start], None, known)
    return "-".join([*own, line])


def _second_family(words: Sequence[str], first: Family, known: FamilyTable) -> str | None:
    for start in range(len(words)):
        found = known.family_at(words, start)
        if found and found[0] is not first:
            return found[0].name
    return None


def _line_words(words: Sequence[str], family: Family | None, known: FamilyTable) -> list[str]:
    """The words that tell one line from another: those up to the first size, and some behind."""
    size_at = next((at for at, word in enumerate(words) if is_size(word)), len(words))
    kept = [word for word in words[:size_at] if not _says_nothing(word, family, known)]
    behind = [word for word in words[size_at:] if word in known.anywhere and word not in kept]
    return kept + behind


def _says_nothing(word: str, family: Family | None, known: FamilyTable) -> bool:
    """Makers, roles, dates, windows, revisions, and words for a size."""
    if word in known.noise or word in known.vendors:
        return True
    if re.fullmatch(r"\d{4,8}|\d+k", word):
        return True
    if family is None:
        return re.fullmatch(r"v\d+(\.\d+)*", word) is not None
    if re.fullmatch(r"v\d+(\.\d+)*", word) and not family.has_v_versions:
        return True
    return word in family.size_words


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
    return None


def _with_facts(name: ModelName, facts: ModelFacts, known: FamilyTable) -> ModelName:
    """The server knows sizes best; its label wins where the name's is of another width."""
    if name.family is None and facts.file_name:
        hidden = parse_model(facts.file_name)
        name = replace(hidden, model_id=name.model_id, quant_publisher=name.quant_publisher)
    family = known.architectures.get(facts.family or "")
    if name.family in (None, OTHER) and family is not None:
        name = replace(name, family=family)
    total = facts.parameters / 1e9 if facts.parameters else billions(facts.parameter_size)
    if total is not None:
        name = replace(name, parameters_b=total, size_basis="provider")
    label = name.quantization
    if label is None and facts.file_name:
        label = parse_model(facts.file_name).quantization
    told = from_server(facts.quantization)
    if label is None or (told is not None and bits_of(told) != bits_of(label)):
        label = told or label
    return replace(name, quantization=label, bits_per_weight=_measured_bits(total, facts))


def _measured_bits(total_b: float | None, facts: ModelFacts) -> float | None:
    if not total_b or not facts.size_bytes:
        return None
    return round(facts.size_bytes * 8 / (total_b * 1e9), 2)


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
