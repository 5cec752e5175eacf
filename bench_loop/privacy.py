"""Looks for what should not leave a machine: home folders, user and host names, keys."""

from __future__ import annotations

import contextlib
import getpass
import ipaddress
import json
import os
import re
import socket
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_SECRETS = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
    r"\bsk-[A-Za-z0-9_-]{20,}",
    r"\bhf_[A-Za-z0-9]{30,}",
    r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}",
    r"\bglpat-[A-Za-z0-9_-]{20,}",
    r"\bA(?:KIA|SIA)[0-9A-Z]{16}\b",
    r"\bAIza[0-9A-Za-z_-]{35}",
    r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    r"\bbl_[a-z0-9]{8}_[A-Za-z0-9_-]{43}",
    r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{20,}",
)
_SECRET = re.compile("|".join(f"(?:{pattern})" for pattern in _SECRETS[:-1]))
_BEARER = re.compile(_SECRETS[-1])
_HOME = re.compile(r"(?:/home/|/Users/|\b[A-Za-z]:[\\/]+Users[\\/]+)([^\\/\s\"'<>:]+)")

_HARDWARE = re.compile(
    r"(?<![0-9a-f][:-])\b(?:(?:[0-9a-f]{2}[:-]){5}|(?:[0-9a-f]{2}[:-]){7}|(?:[0-9a-f]{2}[:-]){19})"
    r"[0-9a-f]{2}\b(?![:-][0-9a-f])"
    r"|\b(?:GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|(?<![\d.])(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?!\d|\.\d)",
    re.I,
)
"""Hardware addresses of 6, 8 or 20 bytes, serial ids of GPUs, addresses inside a home or an office.

A longer row of pairs is none: small models write times without end, like 12:30:15:15:15:15:15."""

_ADDRESS = re.compile(
    r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)"
    r"|(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:%\w+)?(?![\w:])",
    re.I,
)
"""What may be an address of version 4 or 6."""
_USER_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]*://)[^/\s@]+@", re.I)
_SLASH = r"(?:[\\/]|%2F|%5C)+"
_HOME_FOLDER = re.compile(
    rf"(?:\b[a-z](?::|%3A))?{_SLASH}(?:home|users|documents and settings){_SLASH}"
    # A name may have blanks where a folder follows it.
    rf"(?:[^\\/\"'<>:|%\n]{{1,60}}(?={_SLASH})|[^\\/\s\"'<>:%]+)"
    r"|(?:/run)?/media/[^/\s\"'<>:]+|/root\b|(?<!\w)~[a-z_][\w-]*(?=/)",
    re.I,
)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_LOOSE_KEYS = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{8,}|\b(?:hf|gh[pousr]|github_pat)_\w{8,}"
    r"|\bbearer\s+[\w.~+/=-]{8,}|(?<=authorization: )basic\s+\S{8,}"
    r"|\b(?:api[_-]?key|access[_-]?token|token|secret|passw(?:or)?d)[\"']?\s*[=:]\s*[\"']?[^\s\"'&,;)]{4,}",
    re.I,
)
"""What looks like a key, shorter ones and those that are only called so included."""
_SERIAL = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b|\bS-1-5-21(?:-\d+)+"
    r"|(?<=serial)(?:[ _-]?(?:number|no|nr))?[\"'.]*\s*[:=#]?\s*[\"']?(?=[\w-]*\d)[\w-]{5,}"
    r"|\b(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\b",
    re.I,
)
"""Ids of one machine: UUIDs, machine ids, SIDs, what follows `serial`, Cisco's addresses."""
_HOST_NAME = re.compile(
    r"\b[a-z0-9](?:[\w-]*[a-z0-9])?(?:\.[\w-]+)*"
    r"\.(?:local|lan|home|internal|intranet|localdomain|corp|home\.arpa|fritz\.box|ts\.net)\b"
    r"|\b(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{7,11}\b|\bip(?:-\d{1,3}){4}\b"
    r"|(?<=\\\\)[a-z0-9][\w.-]*(?=\\)",
    re.I,
)
"""Names that are given inside a home or an office, and those that systems make up."""

_NOBODY = frozenset(
    "user username users name you me yourname your_name your-name example alice bob john jane "
    "public shared default admin administrator root ubuntu debian runner localhost host data "
    "test model models build work".split()
)
"""Names that stand in documentation or on every machine: they point to nobody."""

MOST_FINDINGS = 50
EXCERPT = 60


@dataclass(frozen=True, slots=True)
class Person:
    """The names by which a file would point to this user and this computer."""

    names: frozenset[str]
    home: str


@dataclass(frozen=True, slots=True)
class PrivateFinding:
    """Something in a file that points to a person or opens a door."""

    field: str
    kind: str
    """`key`, `hardware or network address`, `home folder` or `user or host name`."""
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
    return Person(frozenset(filter(_is_telling, names)), home if _is_telling(home) else "")


def private_findings(data: bytes, person: Person) -> tuple[PrivateFinding, ...]:
    """What in a JSON document is private, in reading order; at most fifty findings."""
    findings: list[PrivateFinding] = []
    for field, text in _texts(json.loads(data), ""):
        findings.extend(_in_text(field, text, person))
        if len(findings) >= MOST_FINDINGS:
            break
    return tuple(findings[:MOST_FINDINGS])


def private_kind(text: str) -> str | None:
    """What in `text` opens a door or points to one computer, whoever it comes from; None: nothing.

    Home folders are left to the caller, who knows or does not know whose they may be.
    """
    if _SECRET.search(text) or _BEARER.search(text):
        return "key"
    return "hardware or network address" if _HARDWARE.search(text) else None


def redacted(text: str, names: Iterable[str] = ()) -> str:
    """`text` for strangers: keys, addresses, serial ids, home folders, own and given names out.

    Names are those of the user and this computer, `names`, and hosts of a home or an office.
    More than `private_findings` points out is taken: short names and every network address too.
    Loopback addresses stay, since they point to nobody.
    """
    for pattern, put in (
        (_SECRET, "<key>"),
        (_BEARER, "<key>"),
        (_LOOSE_KEYS, "<key>"),
        (_USER_IN_URL, r"\1<user>@"),
        (_EMAIL, "<e-mail>"),
        (_HARDWARE, "<address>"),
        (_SERIAL, "<serial>"),
        (_HOME_FOLDER, "<home>"),
        (_HOST_NAME, "<name>"),
    ):
        text = pattern.sub(put, text)
    text = _ADDRESS.sub(_without_address, text)
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
    return {name for name in names if name.lower() not in _NOBODY}


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


def _in_text(field: str, text: str, person: Person) -> Iterator[PrivateFinding]:
    for pattern in (_SECRET, _BEARER):
        if found := pattern.search(text):
            yield PrivateFinding(field, "key", f"{found[0][:8]}...")
    if found := _HARDWARE.search(text):
        yield PrivateFinding(field, "hardware or network address", _around(text, *found.span()))
    homes = [found for found in _HOME.finditer(text) if _is_telling(found[1])]
    if homes:
        yield PrivateFinding(field, "home folder", _around(text, *homes[0].span()))
    elif person.home and (at := text.find(person.home)) >= 0:
        yield PrivateFinding(field, "home folder", _around(text, at, at + len(person.home)))
    for name in sorted(person.names):
        if found := re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text, re.I):
            yield PrivateFinding(field, "user or host name", _around(text, *found.span()))


def _is_telling(name: str) -> bool:
    """Whether a name points to somebody: short and common ones are in every text."""
    return len(name) >= 4 and name.strip("/\\").lower() not in _NOBODY


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
