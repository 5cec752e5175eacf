"""Reads a model's final answer out of its reply.

Pure; no input raises; time grows linearly with the length of the reply.

The answer line (convention `answer_line`) is the first of these that the reply holds:

1. what follows the last `ANSWER:` that begins a line (on the next line where nothing follows);
2. the content of the last `\\boxed{...}`, or of the last `<answer>...</answer>`;
3. what follows the last "the answer is" that begins a line;
4. the last line, where it is a value alone or a short statement that ends with one ("The total
   is 29 litres.", "She pays 29 euros."). A number anywhere else in the prose is no answer.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

LONGEST_ANSWER_LINE = 400
"""Characters; a longer line is prose, not an answer."""
MOST_ANSWER_LINES = 50
"""How many lines that say "answer" are looked at, from the last on."""

_THINKING_TAG = re.compile(
    r"<(?P<slash>/?)(?:think|thinking|thought|reasoning)>|\[(?P<bar>/?)THINK\]", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class FinalText:
    """A reply without its thinking. `is_unclosed`: the thinking never ended."""

    text: str
    is_unclosed: bool


def without_thinking(reply: str) -> FinalText:
    """`reply` without every thinking part, nested ones included.

    A closing tag that nothing opened means that the chat template opened it in the prompt: all
    before it is thinking. Where openings outnumber closings, the thinking ends at the last
    closing tag; with none after the opening it is unclosed and reaches to the end.
    """
    kept: list[str] = []
    depth = 0
    start = 0
    last_close = 0
    for tag in _THINKING_TAG.finditer(reply):
        if tag["slash"] or tag["bar"]:
            depth, kept = (depth - 1, kept) if depth else (0, [])
            start = last_close = tag.end()
            continue
        if depth == 0:
            kept.append(reply[start : tag.start()])
            opened_at = tag.start()
        depth += 1
    if depth == 0:
        return FinalText("".join(kept) + reply[start:], is_unclosed=False)
    if last_close > opened_at:
        return FinalText("".join(kept) + reply[last_close:], is_unclosed=False)
    return FinalText("".join(kept), is_unclosed=True)


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT_RUN = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+")
_SIGNS = str.maketrans(
    {"−": "-", "‐": "-", "‑": "-", "﹣": "-", "⁄": "/", "∕": "/", "’": "'", "٫": ".", "٬": ","}
)
_VULGAR_FRACTION = re.compile(r"(?=[¼½¾⅐-⅞])")
_LATEX_WORD = re.compile(r"\\(?:text|textbf|mathrm|mathbf|operatorname|boxed|fbox)\s*\{([^{}]*)\}")
_LATEX_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_LATEX_SPACE = re.compile(r"\\[,;:! ]|\\q?quad(?![A-Za-z])|~")
_LATEX_SIGNS = (
    ("{,}", ","),
    ("\\times", "×"),
    ("\\cdot", "·"),
    ("\\approx", "≈"),
    ("\\pm", "±"),
    ("\\%", "%"),
    ("\\left", ""),
    ("\\right", ""),
    ("\\leq", "≤"),
    ("\\geq", "≥"),
    ("<=", "≤"),
    ("=<", "≤"),
    (">=", "≥"),
)
_LATEX_MARK = re.compile(r"\{([:.])\}")
_EQUALS = re.compile(r"[=-]>|[=≈→⇒]")
_MONEY = "\ue000"
_HTML = re.compile(r"</?(?:b|strong|i|em|u|mark|code|p|span)\s?>|<br\s?/?>|&nbsp;", re.IGNORECASE)
_DRESS = re.compile(r"\*\*|__|[*`$]|\\[()\[\]]|(?<![^\W_])_(?=\S)|(?<=\S)_(?![^\W_])")


def plain(text: str) -> str:
    """`text` without Markdown and LaTeX dress, digits, minus signs and fractions in ASCII.

    Superscripts become `^n`, so that 10³ is never read as 103.
    """
    text = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run[0].translate(_SUPERSCRIPTS), text)
    text = _VULGAR_FRACTION.sub(" ", text)
    text = unicodedata.normalize("NFKC", text)
    if not text.isascii():
        text = text.translate(_InAscii(_SIGNS))
    text = _mark_money(_HTML.sub(" ", text))
    for latex, sign in _LATEX_SIGNS:
        text = text.replace(latex, sign)
    text = _LATEX_SPACE.sub(" ", text)
    text = _LATEX_FRACTION.sub(r" \1/\2", _LATEX_MARK.sub(r"\1", text))
    for _ in range(3):
        text = _LATEX_WORD.sub(r"\1", text)
    return _DRESS.sub("", text).replace(_MONEY, "$")


def right_side(line: str) -> str:
    """What follows the last equals sign or arrow of an undressed line, or all of it."""
    return _EQUALS.split(line)[-1]


def _mark_money(text: str) -> str:
    """`text` with its dollars told from LaTeX: the escaped ones, and one that has no partner."""
    text = text.replace("\\$", _MONEY)
    return text.replace("$", _MONEY) if text.count("$") == 1 else text


class _InAscii(dict[int, str | int | None]):
    """For str.translate: beside what it is made of, the digits of all scripts, looked up once."""

    def __missing__(self, code: int) -> str:
        digit = unicodedata.decimal(chr(code), None)
        self[code] = found = chr(code) if digit is None else str(digit)
        return found


_LINE_START = r"^[\s>#•|\-]{0,12}(?:\d{1,2}[.)]\s{0,3})?"
_MARKED = re.compile(
    _LINE_START + r"(?:(?:final\s+)?answer\s{0,3}(?:is\s{0,3})?(?:[:=|→⇒]|[=-]>|[-–—]\s)"
    r"|(?-i:ANSWER)\s+(?=\S))",
    re.IGNORECASE,
)
_SAID = re.compile(
    _LINE_START + r"(?:(?:so|thus|hence|therefore),?\s+)?(?:the|my)\s+(?:final\s+|correct\s+)?"
    r"answer\s+is\b[:\s]*",
    re.IGNORECASE,
)
_STATEMENT = re.compile(r"^\D{0,80}(?:\b(?:is|are|equals|costs)\b|[=:≈])\s*", re.IGNORECASE)
_SENTENCE_START = re.compile(r"^[A-Z]\D{0,80}(?<=\s)(?=[^\s\w]{0,2}\d)")
_IS_DOUBTED = re.compile(
    r"\b(?:not|never|cannot|no|may|might|maybe|perhaps|could|or so)\b|n't\b", re.IGNORECASE
)
_HAS_TEXT = re.compile(r"\w")


def answer_line(text: str) -> str | None:
    """The answer of a reply without thinking, undressed by `plain`; None where it holds none."""
    lines, named = _lines(text)
    return (
        _after(lines, named, _MARKED, looks_on=True)
        or _boxed(text)
        or _tagged(text)
        or _after(lines, named, _SAID, looks_on=False)
        or _closing_statement(lines)
    )


def marked_line(text: str) -> str | None:
    """What follows the last `ANSWER:`, undressed by `plain`; nothing else stands in for it."""
    lines, named = _lines(text)
    return _after(lines, named, _MARKED, looks_on=True)


def _lines(text: str) -> tuple[list[str], list[int]]:
    """The lines that hold something, and which of them name an answer."""
    lines = [line for line in text.splitlines() if not line.isspace() and line]
    return lines, [index for index, line in enumerate(lines) if "answer" in line.lower()]


def _after(
    lines: list[str], named: list[int], marker: re.Pattern[str], *, looks_on: bool
) -> str | None:
    """What follows `marker` in the last of the lines `named` that begins with it."""
    for index in named[: -1 - MOST_ANSWER_LINES : -1]:
        if len(lines[index]) > LONGEST_ANSWER_LINE:
            continue
        line = plain(lines[index])
        if not (found := marker.match(line)):
            continue
        rest = line[found.end() :].strip()
        if _HAS_TEXT.search(rest):
            return rest
        if looks_on and index + 1 < len(lines):
            return _short(lines[index + 1])
        return None
    return None


def _boxed(text: str) -> str | None:
    """The content of the last `\\boxed{...}` whose braces close."""
    at = text.rfind("\\boxed{")
    if at < 0:
        return None
    start = at + len("\\boxed{")
    depth = 1
    for end in range(start, min(len(text), start + LONGEST_ANSWER_LINE)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return _short(text[start:end])
    return None


def _tagged(text: str) -> str | None:
    """The content of the last `<answer>...</answer>`."""
    end = text.rfind("</answer>")
    start = text.rfind("<answer>", max(0, end - LONGEST_ANSWER_LINE), end) if end >= 0 else -1
    return _short(text[start + len("<answer>") : end]) if start >= 0 else None


def _short(line: str) -> str | None:
    if len(line) > LONGEST_ANSWER_LINE:
        return None
    return plain(line).strip() or None


_IS_CODE = re.compile(r"[{}\"|;]")
_TIMES = re.compile(r"(?<=[\d)])\s?x\s?(?=[\d(])")
_VALUE_ALONE = re.compile(r"^[^A-Za-z]*\d[^A-Za-z]*(?:[^\W\d_]+(?:\s[^\W\d_]+){0,2})?[.\s)]*$")


def _closing_statement(lines: list[str]) -> str | None:
    """The last line that holds text, where it is a value alone or ends a statement with one."""
    last = next((line for line in reversed(lines) if _HAS_TEXT.search(line)), None)
    if last is None or (line := _short(last)) is None or _IS_CODE.search(line):
        return None
    line = _TIMES.sub(" × ", line)
    if _VALUE_ALONE.match(line):
        return line
    said = _STATEMENT.match(line)
    if said and _VALUE_ALONE.match(line[said.end() :]):
        return line[said.end() :].strip()
    if said is None and (start := _SENTENCE_START.match(line)):
        is_value = _VALUE_ALONE.match(line[start.end() :]) and not _IS_DOUBTED.search(line)
        return line if is_value else None
    return None
