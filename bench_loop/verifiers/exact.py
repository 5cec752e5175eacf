"""An answer that must be exactly right: rules over the whole reply, its lines and its words.

The rules of a task are judged in the order in which `Expected` lists them, whatever the order in
its file; the first that is broken gives the reason. White space around the reply and at line ends
never counts, and what a reader cannot see makes no difference: characters without width, kinds of
blanks and line ends, composed or combining accents. A word is what white space separates and holds
a letter or digit; a hyphenated compound is one word.
"""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Callable
from typing import Annotated

from pydantic import Field

from bench_loop.contracts.record import Count, Record
from bench_loop.contracts.sandbox import Sandbox
from bench_loop.contracts.task import BenchmarkTask
from bench_loop.contracts.verifier import Output, TaskScore
from bench_loop.verifiers.clock import minutes, read_clock
from bench_loop.verifiers.dates import read_date
from bench_loop.verifiers.expectation import failed, passed, read_expected, refuse
from bench_loop.verifiers.extraction import answer_line, plain

LONGEST_REPLY = 20_000
"""Characters; no task asks for as many, and longer text is not looked into."""

Broken = tuple[str, str]
"""Why a rule is broken: the reason code and the sentence."""

_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.:,]\d+)*")
_ITEM_END = re.compile(r"[,;/|&→⇒]|[=-]>|\s[-–—>]\s|\band\b|\bthen\b", re.IGNORECASE)
_ITEM_NUMBER = re.compile(r"^\s*\(?\d{1,2}[.)]\s*")
_LAST_REMARK = re.compile(r"(?<=[\w\])>])\s*\([^()]*\)[\s.]*$")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff]")
_BLANK = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_SENTENCE_END = re.compile(r"[.!?]+[\"'”’)]*(?=\s|\Z)")
_BULLET = re.compile(r"[ \t]{0,3}[-*•][ \t]+\S")

LineNumber = Annotated[int, Field(ge=1)]
Texts = Annotated[tuple[str, ...], Field(min_length=1)]


class Bounds(Record):
    """A number of things: `exactly`, or from `least` to `most`."""

    exactly: Count | None = None
    least: Count | None = None
    most: Count | None = None

    def hold(self, number: int) -> bool:
        return not (
            (self.exactly is not None and number != self.exactly)
            or (self.least is not None and number < self.least)
            or (self.most is not None and number > self.most)
        )


class WordPuzzle(Record):
    """One line made of given words, each used once."""

    line: LineNumber
    words: Texts = Field(description="All words of the line, in lower case.")
    phrases: tuple[str, ...] = Field((), description="Words that must stand together, in order.")
    before: tuple[tuple[str, str], ...] = Field((), description="Pairs: the first comes earlier.")
    ends: str = Field(".", description="What the line ends with; no such mark stands inside it.")


class Expected(Record):
    """What an exact task expects; every rule that is given must hold."""

    answers: Texts | None = Field(
        None, description="The whole answer is one of these, but for case, quotes and full stop."
    )
    items: Texts | None = Field(
        None,
        description="The answer is this list in order, separated by commas, other marks or 'and'.",
    )
    item_labels: Texts | None = Field(
        None, description="What may stand beside each item, such as its day: its own and no other."
    )
    clock: str | None = Field(
        None,
        pattern=r"^([01]\d|2[0-3]):[0-5]\d$",
        description="The answer is this time of day, HH:MM, in any usual way of writing it.",
    )
    date: str | None = Field(
        None,
        pattern=r"^\d{4}-\d{2}-\d{2}$",
        description="The answer is this date, YYYY-MM-DD, in any usual way of writing it.",
    )
    equals: Texts | None = Field(None, description="The reply is one of these, to the letter.")
    lines: LineNumber | None = Field(None, description="Number of lines, blank ones included.")
    line_equals: dict[LineNumber, str] = Field({}, description="The text of a line.")
    bullets: Count | None = Field(None, description="Number of bullets marked with - or *.")
    sentences: Count | None = Field(None, description="Number of sentences.")
    equal_sentences: bool = Field(False, description="All sentences have equally many words.")
    words: Bounds | None = Field(None, description="Number of words.")
    distinct_words: bool = Field(False, description="No word is used twice.")
    forbidden: tuple[str, ...] = Field((), description="Words or phrases that may not occur.")
    forbidden_characters: str = Field("", description="Characters that may not occur.")
    twisting: tuple[str, ...] = Field(
        (), description="Words that would make another statement of it, such as 'except'."
    )
    required: tuple[Texts, ...] = Field(
        (), description="Of each group at least one word or phrase occurs."
    )
    in_order: tuple[str, ...] = Field((), description="Words or phrases that come in this order.")
    numbers: tuple[str, ...] | None = Field(
        None, description="Exactly these numbers occur, in any order, as they are written."
    )
    starts: str | None = Field(None, description="What the reply starts with, to the letter.")
    ends: str | None = Field(None, description="What the reply ends with, to the letter.")
    word_puzzle: WordPuzzle | None = Field(None, description="A line made of given words.")


def check(task: BenchmarkTask) -> None:
    """Raises PackError when no rule is given or a rule cannot hold."""
    expected = read_expected(task, Expected)
    if not expected.model_fields_set:
        raise refuse(task, "*", "at least one rule is needed")
    if expected.items and any(_ITEM_END.search(item) for item in expected.items):
        raise refuse(task, "items", "an item may not hold a comma, another mark or 'and'")
    if expected.item_labels and len(expected.item_labels) != len(expected.items or ()):
        raise refuse(task, "item_labels", "there must be one for each item")
    if expected.date is not None:
        try:
            dt.date.fromisoformat(expected.date)
        except ValueError as error:
            raise refuse(task, "date", "there is no such day") from error
    last = max(expected.line_equals, default=1)
    if expected.lines is not None and last > expected.lines:
        raise refuse(task, f"line_equals.{last}", f"there are only {expected.lines} lines")
    puzzle = expected.word_puzzle
    if puzzle is None:
        return
    loose = {word for phrase in puzzle.phrases for word in phrase.split()}
    loose |= {word for pair in puzzle.before for word in pair}
    if unknown := sorted(loose - set(puzzle.words)):
        raise refuse(task, "word_puzzle.words", f"{unknown[0]!r} is not among the words")


def needs_sandbox(task: BenchmarkTask) -> bool:
    """Never: nothing is run."""
    return False


def judge(output: Output, task: BenchmarkTask, sandbox: Sandbox | None = None) -> TaskScore:
    """The verdict on `output.text`, from which thinking has been removed.

    With the convention `answer_line` the rules see the answer line, else the whole reply.
    """
    expected = read_expected(task, Expected)
    if output.convention == "answer_line":
        answer = answer_line(output.text)
        if answer is None:
            return failed("no_answer", "The reply has no answer line.")
    else:
        answer = output.text
    if len(answer) > LONGEST_REPLY:
        return failed("too_long", "The reply is far longer than asked for.", answer=answer.strip())
    answer = as_seen(answer)
    for rule in RULES:
        if (broken := rule(expected, answer)) is not None:
            reason, message = broken
            return failed(reason, message, answer=answer)
    return passed(answer)


def as_seen(text: str) -> str:
    """`text` without what a reader cannot see, lines ended by `\\n`, outer white space left out."""
    text = _BLANK.sub(" ", _INVISIBLE.sub("", unicodedata.normalize("NFC", text)))
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def words(text: str) -> list[str]:
    """Words by white space; a token without letter or digit is none."""
    return [token for token in text.split() if _LETTER_OR_DIGIT.search(token)]


def bullets(text: str) -> int:
    """Lines marked with -, * or a bullet sign and a blank; `---` and `-5` are none."""
    return sum(1 for line in text.splitlines() if _BULLET.match(line))


def sentences(text: str) -> list[str]:
    """Parts that end with a full stop, question or exclamation mark; the rest is one more."""
    parts = _SENTENCE_END.split(text)
    return [part.strip() for part in parts if words(part)]


def _bare_words(text: str) -> list[str]:
    return [word.casefold().replace("’", "'") for word in _WORD.findall(text)]


def _spaced(text: str) -> str:
    """The bare words of `text` with a blank around each, to look for whole words and phrases."""
    return f" {' '.join(_bare_words(text))} "


def _tidy(text: str) -> str:
    text = " ".join(plain(text).split()).strip("\"'“”<>()[]| ")
    return text.removesuffix(".").rstrip("\"'”>)]| ").casefold()


def _answers(expected: Expected, answer: str) -> Broken | None:
    if expected.answers is None or _tidy(answer) in map(_tidy, expected.answers):
        return None
    return "wrong_answer", "The answer is not the expected one."


def _number(count: int, thing: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _items(expected: Expected, answer: str) -> Broken | None:
    if expected.items is None:
        return None
    labels = expected.item_labels or ("",) * len(expected.items)
    got = _listed(answer, labels)
    if len(got) != len(expected.items):
        return "item_count", f"The answer lists {_number(len(got), 'item')}."
    items = zip(got, expected.items, labels, strict=True)
    for number, (item, right, label) in enumerate(items, 1):
        if _without_label(item, label) != _tidy(right):
            return f"wrong_item:{number}", f"Item {number} is not the expected one."
    return None


def _listed(answer: str, labels: tuple[str, ...]) -> list[str]:
    """The items of a list in one line, without numbers before them or a remark at the end."""
    line = plain(answer).strip(" .")
    remark = _LAST_REMARK.search(line)
    if remark and not (labels[-1] and _without_label(remark[0], labels[-1]) == ""):
        line = line[: remark.start()]
    parts = [part for part in _ITEM_END.split(line) if _LETTER_OR_DIGIT.search(part)]
    if len(parts) == 1 and len(labels) > 1:
        parts = line.split()
    return [_ITEM_NUMBER.sub("", part.strip(" [(<\"'")) for part in parts]


def _without_label(item: str, label: str) -> str:
    """The item, tidy, without its label or the label's first three letters beside it."""
    item = _tidy(item)
    if not label:
        return item
    name = rf"(?:on\s+)?(?:{re.escape(label.casefold())}|{re.escape(label[:3].casefold())})\b\.?"
    item = re.sub(rf"^\(?{name}\)?\s*[:=-]?\s*", "", item)
    return _tidy(re.sub(rf"[\s:(=-]*\b{name}\)?$", "", item))


def _clock(expected: Expected, answer: str) -> Broken | None:
    if expected.clock is None:
        return None
    found = read_clock(plain(answer))
    if found is None:
        return "no_single_answer", "The answer line does not state one single time of day."
    if found != minutes(expected.clock):
        return "wrong_answer", "The answer is not the expected time of day."
    return None


def _date(expected: Expected, answer: str) -> Broken | None:
    if expected.date is None:
        return None
    right = dt.date.fromisoformat(expected.date)
    found = read_date(plain(answer), right.year)
    if found is None:
        return "no_single_answer", "The answer line does not state one single date."
    if found != right:
        return "wrong_answer", "The answer is not the expected date."
    return None


def _equals(expected: Expected, answer: str) -> Broken | None:
    if expected.equals is None or answer in expected.equals:
        return None
    return "wrong_answer", "The reply is not exactly the expected one."


def _lines(expected: Expected, answer: str) -> Broken | None:
    number = len(answer.splitlines())
    if expected.lines is None or number == expected.lines:
        return None
    return "line_count", f"The reply has {_number(number, 'line')}, not {expected.lines}."


def _line_equals(expected: Expected, answer: str) -> Broken | None:
    lines = answer.splitlines()
    for number, right in sorted(expected.line_equals.items()):
        if number > len(lines) or lines[number - 1].strip() != right:
            return f"wrong_line:{number}", f"Line {number} is not the expected one."
    return None


def _bullets(expected: Expected, answer: str) -> Broken | None:
    number = bullets(answer)
    if expected.bullets is None or number == expected.bullets:
        return None
    return "bullet_count", f"The reply has {_number(number, 'bullet')}, not {expected.bullets}."


def _sentences(expected: Expected, answer: str) -> Broken | None:
    found = sentences(answer)
    if expected.sentences is not None and len(found) != expected.sentences:
        number = _number(len(found), "sentence")
        return "sentence_count", f"The reply has {number}, not {expected.sentences}."
    if expected.equal_sentences and len({len(words(sentence)) for sentence in found}) > 1:
        return "unequal_sentences", "The sentences do not have equally many words."
    return None


def _words(expected: Expected, answer: str) -> Broken | None:
    number = len(words(answer))
    if expected.words is None or expected.words.hold(number):
        return None
    return "word_count", f"The reply has {_number(number, 'word')}."


def _distinct_words(expected: Expected, answer: str) -> Broken | None:
    found = _bare_words(answer)
    if not expected.distinct_words or len(set(found)) == len(found):
        return None
    return "repeated_word", "A word is used twice."


def _forbidden(expected: Expected, answer: str) -> Broken | None:
    spaced = _spaced(answer)
    for text in expected.forbidden:
        if _spaced(text) in spaced:
            return "forbidden_word", f"The reply uses {text!r}, which it may not use."
    for char in expected.forbidden_characters:
        if char in answer:
            return "forbidden_character", f"The reply uses {char!r}, which it may not use."
    return None


def _twisting(expected: Expected, answer: str) -> Broken | None:
    spaced = _spaced(answer)
    for text in expected.twisting:
        if _spaced(text) in spaced:
            return "changed_meaning", f"The word {text!r} makes another statement of it."
    return None


def _required(expected: Expected, answer: str) -> Broken | None:
    spaced = _spaced(answer)
    for group in expected.required:
        if not any(_spaced(text) in spaced for text in group):
            return "missing_word", f"The reply does not say {group[0]!r}."
    return None


def _in_order(expected: Expected, answer: str) -> Broken | None:
    spaced, at = _spaced(answer), 0
    for text in expected.in_order:
        at = spaced.find(_spaced(text), at)
        if at < 0:
            return "wrong_order", f"{text!r} does not stand where it should."
        at += len(_spaced(text)) - 1
    return None


def _numbers(expected: Expected, answer: str) -> Broken | None:
    if expected.numbers is None or sorted(_NUMBER.findall(answer)) == sorted(expected.numbers):
        return None
    return "wrong_numbers", "The numbers in the reply are not the expected ones."


def _starts_and_ends(expected: Expected, answer: str) -> Broken | None:
    if expected.starts is not None and not answer.startswith(expected.starts):
        return "wrong_start", "The reply does not start as it should."
    if expected.ends is not None and not answer.endswith(expected.ends):
        return "wrong_end", "The reply does not end as it should."
    return None


def _word_puzzle(expected: Expected, answer: str) -> Broken | None:
    puzzle = expected.word_puzzle
    if puzzle is None:
        return None
    lines = answer.splitlines()
    line = lines[puzzle.line - 1].strip() if puzzle.line <= len(lines) else ""
    found = _bare_words(line)
    if sorted(found) != sorted(puzzle.words):
        return "wrong_words", f"Line {puzzle.line} is not made of the given words."
    inside = line.removesuffix(puzzle.ends)
    is_one_clause = not re.search(r"[.!?:;]", inside) and inside.count(",") <= 1
    if not line.endswith(puzzle.ends) or not is_one_clause:
        return "wrong_end", f"Line {puzzle.line} is not one sentence that ends as it should."
    spaced = _spaced(line)
    if not all(_spaced(phrase) in spaced for phrase in puzzle.phrases) or any(
        found.index(first) > found.index(second) for first, second in puzzle.before
    ):
        return "wrong_phrase", f"The words of line {puzzle.line} do not make the sentence."
    return None


RULES: tuple[Callable[[Expected, str], Broken | None], ...] = (
    _answers,
    _items,
    _clock,
    _date,
    _equals,
    _lines,
    _line_equals,
    _bullets,
    _sentences,
    _words,
    _distinct_words,
    _forbidden,
    _required,
    _twisting,
    _in_order,
    _numbers,
    _starts_and_ends,
    _word_puzzle,
)
"""In the order in which they are judged."""
