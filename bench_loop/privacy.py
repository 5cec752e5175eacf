"""Looks for what should not leave a machine, and takes it out: home folders, names, keys, ids."""

from __future__ import annotations

import contextlib
import getpass
import ipaddress
import json
import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_loop import config
from bench_loop.errors import SetupError
from bench_loop.private_patterns import (
    ADDRESS,
    BEARER,
    EMAIL,
    EXAMPLES,
    HARDWARE,
    HOME_FOLDER,
    HOME_HOST,
    HOST_NAME,
    LOOSE_KEYS,
    MACHINE_ID,
    NOBODY,
    RESERVED_HOST,
    SECRET,
    SERIAL,
    TELLING_HOME,
    USER_IN_URL,
)

KEY, HOME, NAME = "key", "home folder", "user or host name"
ADDRESSES, SERIAL_NUMBER = "hardware or network address", "serial number"
_MADE_UP = re.compile(r"tool_calls\[\d+\]\.id$|(?:^|\.)(?:run_id|fingerprint|\w+_hash|sha256)$")
"""Fields with random or computed values, which name no machine."""
MOST_FINDINGS = 50
EXCERPT = 60
_LEAST_SECRET = 8
"""Characters of a value of the environment that is looked for as a key."""


@dataclass(frozen=True, slots=True)
class Person:
    """The names by which a file would point to this user and this computer, and their keys."""

    names: frozenset[str]
    home: str
    secrets: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class PrivateFinding:
    """Something in a file that points to a person or opens a door."""

    field: str
    kind: str
    """`key`, `hardware or network address`, `serial number`, `home folder`, `user or host name` or
    `e-mail address`."""
    excerpt: str
    """The text around it; of a key only the first characters."""


def this_person() -> Person:
    """Names of the user and of the computer, as far as they are told; nothing is sent anywhere."""
    names = {socket.gethostname(), socket.gethostname().partition(".")[0]}
    with contextlib.suppress(OSError, KeyError):
        names.add(getpass.getuser())
    try:
        home = str(Path.home())
    except RuntimeError:
        home = ""
    secrets = {
        value.strip()
        for name, value in os.environ.items()
        if re.search(r"(?:TOKEN|SECRET|PASSWORD|API_?KEY)$", name, re.I)
    }
    secrets |= set(_saved_keys())
    return Person(
        frozenset(filter(_is_telling, names)),
        home if _is_telling(home) else "",
        frozenset(value for value in secrets if len(value) >= _LEAST_SECRET),
    )


def _saved_keys() -> Iterator[str]:
    """Keys of model servers and of a site that config.toml holds."""
    try:
        found = config.settings()
    except SetupError:
        return
    providers = found.get("providers", {})
    tables = [found.get("site"), *(providers.values() if isinstance(providers, dict) else ())]
    for table in tables:
        for name in ("api_key", "token"):
            if isinstance(table, dict) and isinstance(table.get(name), str):
                yield table[name].strip()


def private_findings(
    data: bytes, person: Person, known: Mapping[str, str] | None = None
) -> tuple[PrivateFinding, ...]:
    """What in a JSON document is private, in reading order; at most fifty findings.

    `known` maps the beginnings of paths, like `trials[3]`, to text that is public: what the task
    of a trial says itself is nobody's secret.
    """
    found: list[PrivateFinding] = []
    for field, text in _texts(json.loads(data), ""):
        if _MADE_UP.search(field):
            continue
        public = (known or {}).get(field.partition(".")[0], "")
        found.extend(without_private(text, field, person, public).taken)
        if len(found) >= MOST_FINDINGS:
            break
    return tuple(found[:MOST_FINDINGS])


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text without what was private in it."""

    text: str
    taken: tuple[PrivateFinding, ...]


def without_private(
    text: str, field: str, person: Person, public: str = "", *, is_wide: bool = False
) -> Cleaned:
    """`text` with a word in the place of all that is private, and what was taken out of it.

    What stands in the text `public` stays. `is_wide` is for what programs and servers say of this
    machine: short keys, e-mail addresses and every network address are taken too, which in the
    words of a model are mostly made up.
    """
    taken: list[PrivateFinding] = []
    for rule in _rules(person, is_wide=is_wide):
        text = _Pass(rule, text, field, person, public, taken).cleaned()
    return Cleaned(text, tuple(taken))


@dataclass(frozen=True, slots=True)
class _Rule:
    """What is taken out and what is put in its place."""

    kind: str
    pattern: re.Pattern[str]
    put: str


@dataclass(frozen=True, slots=True)
class _Pass:
    """One rule at work on one text."""

    rule: _Rule
    text: str
    field: str
    person: Person
    public: str
    taken: list[PrivateFinding]

    def cleaned(self) -> str:
        return self.rule.pattern.sub(self._put, self.text)

    def _put(self, found: re.Match[str]) -> str:
        if "<" in found[0] or not self.is_private(found):
            return found[0]
        excerpt = (
            f"{found[0][:8]}..." if self.rule.kind == KEY else _around(self.text, *found.span())
        )
        self.taken.append(PrivateFinding(self.field, self.rule.kind, excerpt))
        return found.expand(self.rule.put)

    def is_private(self, found: re.Match[str]) -> bool:
        what = found[0]
        if self.rule.kind == HOME:
            name = re.split(r"[\\/]", what.rstrip("\\/"))[-1]
            if not re.match(r"\w", name) or name.lower() in EXAMPLES:
                return False
            # The user's own name may be a word of the task; a path to their files never is.
            own = {Path(self.person.home).name, *self.person.names}
            what = what if name.lower() in map(str.lower, own) else name
        if self.rule.pattern is EMAIL and RESERVED_HOST.search(what):
            return False
        if self.rule.pattern is ADDRESS and _without_address(found) == what:
            return False
        return not _stands_in(self.public, what)


def _rules(person: Person, *, is_wide: bool) -> Iterator[_Rule]:
    """Keys come first, so that no excerpt of another finding shows a part of one."""
    for secret in sorted(person.secrets, key=len, reverse=True):
        yield _Rule(KEY, re.compile(re.escape(secret)), "<key>")
    for pattern in (SECRET, BEARER, *((LOOSE_KEYS,) if is_wide else ())):
        yield _Rule(KEY, pattern, "<key>")
    if person.home:
        yield _Rule(HOME, re.compile(rf"{re.escape(person.home)}(?![\w-])"), "~")
    yield _Rule(HOME, HOME_FOLDER if is_wide else TELLING_HOME, "~")
    for name in sorted(person.names, key=lambda name: (-len(name), name)):
        yield _Rule(NAME, _as_word(name), "<name>")
    yield _Rule(ADDRESSES, HARDWARE, "<address>")
    yield _Rule(SERIAL_NUMBER, SERIAL if is_wide else MACHINE_ID, "<serial>")
    if is_wide:
        yield _Rule(NAME, USER_IN_URL, r"\1<user>@")
        yield _Rule("e-mail address", EMAIL, "<e-mail>")
        yield _Rule(NAME, HOST_NAME, "<name>")
        yield _Rule(ADDRESSES, ADDRESS, "<address>")
    yield _Rule(NAME, HOME_HOST, "<name>")


def _as_word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])", re.I)


def _stands_in(public: str, what: str) -> bool:
    """Whether it is a word of `public`, or words that were put together for a folder's name."""
    if not public:
        return False
    words = "[-_ ]".join(map(re.escape, re.split(r"[-_ ]", what)))
    return bool(re.search(rf"(?<![\w-]){words}(?![\w-])", public, re.I))


def private_kind(text: str, public: str = "") -> str | None:
    """What in `text` opens a door or points to one computer, whoever it comes from; None: nothing.

    What stands in the text `public` does not. Home folders are left to `has_home`.
    """
    for kind, pattern in ((KEY, SECRET), (KEY, BEARER), (ADDRESSES, HARDWARE)):
        if any(not _stands_in(public, found[0]) for found in pattern.finditer(text)):
            return kind
    return None


def has_home(text: str, public: str = "") -> bool:
    """Whether `text` names somebody's home folder, whoever that is, that is not in `public`."""
    rule = _Rule(HOME, TELLING_HOME, "~")
    one = _Pass(rule, text, "", Person(frozenset(), ""), public, [])
    return any(map(one.is_private, TELLING_HOME.finditer(text)))


def redacted(text: str, names: Iterable[str] = ()) -> str:
    """`text` for strangers: keys, addresses, serial ids, home folders, own and given names out.

    Names are those of the user and this computer, `names`, and hosts of a home or an office.
    More than `private_findings` points out is taken: short names and every network address too.
    Loopback addresses stay, since they point to nobody.
    """
    for pattern, put in (
        (SECRET, "<key>"),
        (BEARER, "<key>"),
        (LOOSE_KEYS, "<key>"),
        (USER_IN_URL, r"\1<user>@"),
        (EMAIL, "<e-mail>"),
        (HARDWARE, "<address>"),
        (SERIAL, "<serial>"),
        (HOME_FOLDER, "<home>"),
        (HOST_NAME, "<name>"),
    ):
        text = pattern.sub(put, text)
    text = ADDRESS.sub(_without_address, text)
    home = str(Path.home()) if "HOME" in os.environ else ""
    own = sorted({*_own_names(), *names}, key=len, reverse=True)
    for name, put in ((home, "<home>"), *((name, "<name>") for name in own)):
        if len(name) > 1:
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", put, text, flags=re.I)
    return text


def _without_address(found: re.Match[str]) -> str:
    """Another word for an address that points to a machine; times and the like stay."""
    try:
        address = ipaddress.ip_address(found[0].partition("%")[0])
    except ValueError:
        return found[0]
    return found[0] if address.is_loopback or address.is_unspecified else "<address>"


def _own_names() -> set[str]:
    """Names of user and computer, but for those that everyone has."""
    host = socket.gethostname()
    names = {host, host.partition(".")[0]}
    with contextlib.suppress(OSError, KeyError):
        names.add(getpass.getuser())
    full_name = _full_name()
    names |= {full_name, *full_name.split()} if full_name else set()
    return {name for name in names if name.lower() not in NOBODY}


def _full_name() -> str:
    """The user's own name, where the system keeps it; else empty."""
    try:
        import pwd
    except ImportError:  # on Windows
        return ""
    try:
        return pwd.getpwuid(os.getuid()).pw_gecos.partition(",")[0].strip()
    except KeyError:
        return ""


def _is_telling(name: str) -> bool:
    """Whether a name points to somebody: short and common ones are in every text."""
    return len(name) >= 4 and name.strip("/\\").lower() not in NOBODY


def _around(text: str, start: int, end: int) -> str:
    return text[max(0, start - 10) : max(end, start + 1) + 10].replace("\n", " ")[:EXCERPT]


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every text of a document with its path, keys of objects included."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            below = f"{path}.{key}" if path else key
            yield below, key
            yield from _texts(item, below)
    elif isinstance(value, Sequence):
        for index, item in enumerate(value):
            yield from _texts(item, f"{path}[{index}]")
