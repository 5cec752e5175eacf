"""The final answer is found, and only the final answer."""

from __future__ import annotations

import pytest

from bench_loop.verifiers.extraction import answer_line, plain, without_thinking


@pytest.mark.parametrize(
    ("reply", "text", "is_unclosed"),
    [
        ("18", "18", False),
        ("<think>17</think>18", "18", False),
        ("<THINK>17</THINK>18", "18", False),
        ("<thinking>17</thinking>18", "18", False),
        ("<thought>17</thought>18", "18", False),
        ("<reasoning>17</reasoning>18", "18", False),
        ("[THINK]17[/THINK]18", "18", False),
        ("17?\n</think>\n\n18", "\n\n18", False),
        ("<think>a <think>b</think> c</think>18", "18", False),
        ("<think>I open <think> and never close it</think>18", "18", False),
        ("<think>a</think>1<think>b</think>8", "18", False),
        ("<think>17, still thinking", "", True),
        ("18 <think>or 17", "18 ", True),
        ("a</think>b</think>18", "18", False),
        ("Is 3 < 4 and 5 > 4? 18", "Is 3 < 4 and 5 > 4? 18", False),
    ],
)
def test_thinking_is_removed(reply: str, text: str, is_unclosed: bool) -> None:
    final = without_thinking(reply)
    assert (final.text, final.is_unclosed) == (text, is_unclosed)


@pytest.mark.parametrize(
    ("dressed", "bare"),
    [
        ("**ANSWER: 5**", "ANSWER: 5"),
        ("`5` km", "5 km"),
        ("$5$", "5"),
        ("\\(5\\)", "5"),
        ("\\[5\\,\\text{km}\\]", "5 km"),
        ("5\\%", "5%"),
        ("\\$460", "$460"),
        ("$460", "$460"),
        ("$9{,}500", "$9,500"),
        ("9{,}500", "9,500"),
        ("\\frac{3}{4}", " 3/4"),
        ("\\dfrac{3}{4}", " 3/4"),
        ("1½", "1 1/2"),
        ("10³", "10^3"),
        ("5 m³", "5 m^3"),
        ("10⁻²", "10^-2"),
        ("１８", "18"),
        ("١٨", "18"),
        ("१८", "18"),
        ("\u22125", "-5"),
        ("12\u202f345", "12 345"),
        ("12\u00a0345", "12 345"),
        ("12’345", "12'345"),
        ("_5 km_", "5 km"),
        ("snake_case", "snake_case"),
        ("<b>5</b> km", " 5  km"),
        ("19{:}42", "19:42"),
    ],
)
def test_dress_is_taken_off(dressed: str, bare: str) -> None:
    assert plain(dressed) == bare


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        ("ANSWER: 5 km", "5 km"),
        ("answer: 5 km", "5 km"),
        ("Answer = 5 km", "5 km"),
        ("**ANSWER:** 5 km", "5 km"),
        ("### Final answer: 5 km", "5 km"),
        ("- ANSWER: 5 km", "5 km"),
        ("> ANSWER: 5 km", "5 km"),
        ("3. ANSWER: 5 km", "5 km"),
        ("ANSWER:\n5 km", "5 km"),
        ("**ANSWER:**\n\n**5 km**", "5 km"),
        ("ANSWER: 4 km\nNo, that is wrong.\nANSWER: 5 km", "5 km"),
        ("ANSWER: 5 km\n\nI hope this helps! Ask 24 hours a day.", "5 km"),
        ("So it is \\boxed{5 \\text{ km}}, as 2 + 3 shows.", "5  km"),
        ("\\boxed{4} then \\boxed{\\frac{3}{4}}", "3/4"),
        ("The answer is 5 km.\nHave a nice day.", "5 km."),
        ("Therefore, the final answer is: 5 km", "5 km"),
        ("First 2, then 3.\nThe total is 5 km.", "5 km."),
        ("2 + 3 = 5 km", "2 + 3 = 5 km"),
        ("12 x 8 = 96", "12 × 8 = 96"),
        ("Work.\n\n5", "5"),
        ("5 km\n---", "5 km"),
        ("| ANSWER: | 5 km |", "| 5 km |"),
        ("| a | b |\n|---|---|\n| ANSWER | 5 km |", "5 km |"),
        ("_ANSWER: 5 km_", "5 km"),
        ("<strong>ANSWER:</strong> 5 km", "5 km"),
        ("ANSWER 5 km", "5 km"),
        ("ANSWER - 5 km", "5 km"),
        ("Answer → 5 km", "5 km"),
        ("ANSWER： 5 km", "5 km"),
        ("Then <answer>5 km</answer>", "5 km"),
        ("ANSWER: 5 km\nANSWER: 5 km", "5 km"),
        ("First 2, then 3.\nThe club walks 5 km.", "The club walks 5 km."),
        ("She pays **€5**.", "She pays €5."),
    ],
)
def test_the_answer_line_is_found(reply: str, line: str) -> None:
    assert answer_line(reply) == line


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   \n\n",
        "ANSWER:",
        "The sea was calm that day, and 12 gulls sat on the pier.",
        "First we walk 2 km and then another 3 km through the wood.",
        "Somewhere between 17 and 19",
        "I cannot answer that.",
        '{"answer": 5}',
        "| total | 5 |",
        "\\boxed{5",
        "\\boxed{}",
        "ANSWER: " + "5" * 500,
        "The walk cannot be 5 km.",
        "It isn't 5 km.",
        "It may be 5 or so.",
        "Perhaps they walk 5 km.",
        "They walk 2 km and 3 km.",
        "They walk 5 km through the wood today.",
        "<answer></answer>",
        "<answer>5",
    ],
)
def test_prose_holds_no_answer_line(reply: str) -> None:
    assert answer_line(reply) is None
