"""Model ids: from whatever a server calls a model to publisher, name and words."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bench_loop.names.families import FamilyTable, table
from bench_loop.names.quantization import take_quantization
from bench_loop.names.sizes import is_size

LONGEST_ID = 1000
"""Characters of an id that are read; servers may send anything."""

_BETWEEN_WORDS = r"[-_\s:/@+,()\[\]]+|(?<!\d)\.|\.(?!\d)"


@dataclass(frozen=True, slots=True)
class IdParts:
    """An id taken apart at its separators; only `publisher` and `shown` keep their case."""

    shown: str
    publisher: str | None
    name: str
    is_mlx: bool


def take_apart(model_id: str, known: FamilyTable, provider: str | None) -> IdParts:
    """Publisher, shown name and lower-case name of a model id; never raises."""
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
    return IdParts(
        shown=shown,
        publisher=publisher or None,
        name=_without_vendor_prefix(text, known),
        is_mlx=provider == "mlx" or publisher.lower() == "mlx-community" or "mlx" in text,
    )


def words_of(name: str) -> list[str]:
    """The lower-case words of a name: decimals whole, versions apart from the word before."""
    undated = re.sub(r"(?<!\d)\d{2}-20\d{2}(?!\d)", " ", name.lower())
    apart = re.sub(r"([a-z]\d+)_(?=\d+(?:\.\d+)?[bm](?![a-z0-9]))", r"\1 ", undated)
    decimals = re.sub(r"(?<=\d)_(?=\d)", ".", apart)
    words: list[str] = []
    for word in re.split(_BETWEEN_WORDS, decimals):
        glued = re.fullmatch(r"([a-z]{2,})(\d+(?:\.\d+)?[a-z]?)(vl|omni|coder|math)?", word)
        if glued and not is_size(word) and word not in table().vendors:
            words.extend(filter(None, glued.groups()))
        elif word:
            words.append(word)
    return words


def _without_folders(model_id: str) -> str:
    """The base name where the id is a path of this machine; else the id as it is.

    Two segments that do not end in `.gguf` are publisher and name, not a folder and a file. The
    cache of Hugging Face has both in one folder's name.
    """
    if cached := re.search(r"models--([^/\\]+?)--([^/\\]+)", model_id):
        file = re.search(r"[/\\]([^/\\]+\.gguf)$", model_id, re.I)
        return f"{cached[1]}/{file[1] if file else cached[2]}"
    path = model_id.replace("\\", "/") if re.match(r"[A-Za-z]:\\|\\\\", model_id) else model_id
    is_path = path.startswith(("/", "~", ".", "file:")) or re.match(r"[A-Za-z]:/", path)
    is_file = path.lower().endswith((".gguf", ".safetensors", ".bin"))
    if is_path or (is_file and path.count("/") == 1):
        return path.rstrip("/").rpartition("/")[2]
    return path


def _without_vendor_prefix(text: str, known: FamilyTable) -> str:
    """`google_gemma-3` is `gemma-3`: some publishers put the maker's name before an underscore."""
    prefix, _, rest = text.partition("_")
    words = words_of(rest)
    starts_model = bool(words) and (
        words[0] in known.vendors or known.family_at(words, 0) is not None
    )
    return rest if prefix and starts_model else text
