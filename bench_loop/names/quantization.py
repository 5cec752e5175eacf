"""Quantization labels: found in a model's name, or read from a server's own word for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_EDGE = r"(?<![a-z0-9])"
_END = r"(?![a-z0-9])"


def _pattern(body: str) -> re.Pattern[str]:
    return re.compile(_EDGE + body + _END)


# First match wins: a recipe that names its number format before the bare formats, those before
# the bare bit widths. Each replacement is the label, with the groups of its pattern.
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (_pattern(r"apex-((?:i-)?(?:compact|quality|balanced|mini|nano|micro))"), r"APEX-\1"),
    (_pattern(r"(mxfp\d)(?:[-_ ]moe)?(?:-q\d)?"), r"\1"),
    (_pattern(r"nvfp4(a16)?"), r"NVFP4\1"),
    (_pattern(r"int(\d)-auto-?round(?:-(?:awq|gptq))?"), r"AUTOROUND-INT\1"),
    (_pattern(r"auto-?round-int(\d)"), r"AUTOROUND-INT\1"),
    (_pattern(r"(w\d{1,2}a\d{1,2})-(int8|fp8)"), r"\1-\2"),
    (_pattern(r"(w\d{1,2}a\d{1,2})"), r"\1"),
    (_pattern(r"gptq-(?:int)?(\d)(?:bit)?(?:-int\dmix)?"), r"GPTQ-INT\1"),
    (_pattern(r"(gptq|awq)"), r"\1"),
    (_pattern(r"bnb-(\d)bit"), r"BNB-\1bit"),
    (_pattern(r"(aqlm|hqq|spqr)[-_](?:int)?(\d)-?bits?"), r"\1-\2bit"),
    (_pattern(r"(\d)-?bit[-_](aqlm|hqq|spqr)"), r"\2-\1bit"),
    (_pattern(r"exl([23])[-_](\d(?:\.\d{1,2})?)(?:[-_]?bpw)?"), r"EXL\1-\2bpw"),
    (_pattern(r"(\d(?:\.\d{1,2})?)[-_]?bpw(?:[-_]h\d)?[-_]exl([23])"), r"EXL\2-\1bpw"),
    (_pattern(r"exl([23])"), r"EXL\1"),
    (_pattern(r"(\d\.\d{1,2})bpw"), r"EXL-\1bpw"),
    (_pattern(r"(i2_s)"), r"\1"),
    # MLC's: width, type of the activations, and layout. Width 0 is not quantized.
    (_pattern(r"q0f(16|32)"), r"F\1"),
    (_pattern(r"(q[2-8]f(?:16|32)_\d)"), r"\1"),
    (_pattern(r"(ud-)?(?:i1-)?((?:i?q|tq)\d(?:_[a-z0-9]{1,3})+)"), r"\1\2"),
    (_pattern(r"(fp[48])(?:[-_](?:dynamic|block|static|e4m3|e5m2))?"), r"\1"),
    (_pattern(r"(bf16|f16|f32)"), r"\1"),
    (_pattern(r"fp(16|32)"), r"F\1"),
    (_pattern(r"(\d)-?bit-dwq"), r"\1bit-DWQ"),
    (_pattern(r"(\d)-?bit"), r"\1bit"),
    (_pattern(r"(q[2-6])_?k_?([sml])"), r"\1_K_\2"),
    (_pattern(r"(q[2-6])k"), r"\1_K"),
    (_pattern(r"q8"), "Q8_0"),
    (_pattern(r"(int[48])"), r"\1"),
    (_pattern(r"(q[2-6])"), r"\1"),
)

# A build recipe whose tag names a grade of its own and no bit width.
_GRADED = re.compile(_EDGE + r"apex" + _END + r".*[:@](?P<grade>[a-z-]{1,20})$")

_ENGINE_SIZES = {"small": "S", "medium": "M", "large": "L"}
_RECIPES_WITH_WIDTH = ("aqlm", "hqq", "spqr")
_BITS_BY_RECIPE = {"AWQ": 4, "GPTQ": 4, "FP8": 8, "BF16": 16, "F16": 16, "F32": 32}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A name taken apart: its quantization label (None: it has none) and what is left of it."""

    label: str | None
    rest: str


def take_quantization(name: str, *, is_mlx: bool = False) -> Labelled:
    """Find the quantization label in a lower-case `name`, and give the name without it.

    `is_mlx`: bare bit widths are MLX's own recipe, which is not llama.cpp's of the same width.
    """
    graded = _GRADED.search(name)
    if graded:
        return Labelled(f"APEX-{graded['grade'].upper()}", name[: graded.start("grade") - 1])
    for pattern, template in _RULES:
        found = list(pattern.finditer(name))
        if found:
            label = _spelled(found[-1].expand(template), is_mlx=is_mlx)
            return Labelled(label, _without_all(name))
    return Labelled(None, name)


def from_server(words: str | None) -> str | None:
    """A server's word for a quantization as a label; None when it says nothing.

    Ollama says `Q4_K_M`; llama.cpp says `Q4_K - Medium`, `IQ4_XS - 4.25 bpw`, `MXFP4 MoE`.
    """
    if not words:
        return None
    text = words.lower().replace("(guessed)", "").replace("all ", "").strip()
    base, _, detail = text.partition(" - ")
    if detail in _ENGINE_SIZES:
        base += f"_{_ENGINE_SIZES[detail]}".lower()
    return take_quantization(base, is_mlx="mlx" in base).label


def bits_of(label: str | None) -> int | None:
    """The nominal width of a label's weights in bits; None where the label does not tell."""
    if label is None or label.startswith("APEX"):
        return None
    if label in _BITS_BY_RECIPE:
        return _BITS_BY_RECIPE[label]
    width = re.search(r"(?:^|[A-Z-])(?:W|INT|FP|Q|I)(\d)|(\d)bit|^EXL\d?-(\d)", label)
    return int(next(group for group in width.groups() if group)) if width else None


def _spelled(label: str, *, is_mlx: bool) -> str:
    recipe, _, width = label.partition("-")
    if recipe in _RECIPES_WITH_WIDTH:
        return f"{recipe.upper()}-{width}"
    if "bit" in label or "bpw" in label:
        return f"MLX-{label}" if is_mlx and not label.startswith("BNB") else label
    return label.upper()


def _without_all(name: str) -> str:
    """The name without any quantization word: formats and layouts come in twos and threes."""
    for pattern, _ in _RULES:
        name = pattern.sub(" ", name)
    return name
