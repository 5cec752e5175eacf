"""Files written into the text of a reply, for a harness that has no tools and reads them there.

Aider asks for one of two formats in its prompt: whole files ("file listing"), each as its path
above a fenced block, or blocks of text to search for and to replace.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from bench_loop.simulator.settings import Turn

_SEARCH_REPLACE = "SEARCH/REPLACE"
_WHOLE = "file listing"


def edits(script: Sequence[Turn], messages: Sequence[dict[str, Any]]) -> str | None:
    """What the script says and writes, in the format that the messages ask for; None: in none.

    Commands and reading are left out: who has no tools can do neither.
    """
    asked = "\n".join(text_of(message) for message in messages)
    if _SEARCH_REPLACE in asked:
        parts = [turn.say or _replaced(turn, asked) for turn in script if _is_text(turn)]
    elif _WHOLE in asked.lower():
        parts = [turn.say or _whole(turn) for turn in script if _is_text(turn)]
    else:
        return None
    return "\n\n".join(parts)


def text_of(message: dict[str, Any]) -> str:
    """The text of a message, which may come in parts."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _is_text(turn: Turn) -> bool:
    return turn.act is None or turn.act == "write"


def _whole(turn: Turn) -> str:
    fence = _fence(turn.content)
    return f"{turn.target}\n{fence}\n{_lines(turn.content)}{fence}"


def _replaced(turn: Turn, asked: str) -> str:
    """All of the file as the messages show it, replaced; a file that they do not show is new."""
    before = _shown(turn.target, asked)
    fence = _fence(turn.content + before)
    return (
        f"{turn.target}\n{fence}\n<<<<<<< SEARCH\n{_lines(before)}=======\n"
        f"{_lines(turn.content)}>>>>>>> REPLACE\n{fence}"
    )


def _shown(path: str, asked: str) -> str:
    """The last text that the messages show of a file: its path above a fenced block."""
    block = re.compile(rf"^{re.escape(path)}\n(`{{3,}})[^\n]*\n(.*?)^\1$", re.DOTALL | re.MULTILINE)
    found = block.findall(asked)
    return str(found[-1][1]) if found else ""


def _lines(text: str) -> str:
    return text if text.endswith("\n") or not text else f"{text}\n"


def _fence(text: str) -> str:
    return "````" if "```" in text else "```"
