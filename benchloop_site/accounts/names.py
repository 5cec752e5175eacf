"""Which names people may have: plain ones, that nobody takes for somebody else's."""

from __future__ import annotations

import re

from django.core.exceptions import ValidationError

NAME = re.compile(r"[a-z0-9](?:[-_]?[a-z0-9]){2,29}", re.ASCII)
LONGEST = 30

RESERVED = frozenset(
    """
    about abuse account accounts anon anonymous api apikey avatar board bot bots compare contact
    docs enter everybody everyone guest guests harness help host hostmaster info leaderboard local
    localhost login logout mail maintainer maintainers matrix me methodology model models nobody
    noreply none null official owner postmaster public root runs schema security signup site staff
    static submission submissions submit support system team test theme trending undefined unknown
    user users verified webmaster www you
    """.split()
)
RESERVED_BEGINNINGS = ("admin", "benchloop", "deleted", "moderator", "superuser")

_LOOK = str.maketrans({"0": "o", "1": "l", "i": "l", "5": "s", "-": None, "_": None})
_LOOKALIKES = {"o": "[o0]", "l": "[li1]", "s": "[s5]", "m": "(m|r[-_]*n)", "w": "(w|v[-_]*v)"}


def check_name(name: str) -> None:
    """Raises ValidationError where `name` has another form, or is kept for the site itself."""
    if len(name) > LONGEST or not NAME.fullmatch(name):
        raise ValidationError(
            f"A name has 3 to {LONGEST} characters: letters a to z, digits, and single - or _ "
            "between them.",
            code="name_form",
        )
    look = _look(name)
    if look in {_look(one) for one in RESERVED} or look.startswith(
        tuple(_look(one) for one in RESERVED_BEGINNINGS)
    ):
        raise ValidationError("This name is kept for the site itself.", code="name_reserved")


def lookalikes(name: str) -> str:
    """A regular expression of all names that look like `name` at a glance, itself among them."""
    letters = (_LOOKALIKES.get(letter, letter) for letter in _look(name))
    return "^" + "[-_]*".join(letters) + "$"


def _look(name: str) -> str:
    """The name as a hasty reader sees it."""
    return name.lower().translate(_LOOK).replace("rn", "m").replace("vv", "w")
