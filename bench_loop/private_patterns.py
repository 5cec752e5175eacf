"""What private text looks like: patterns of keys, addresses, ids, home folders and names.

Small models repeat themselves for thousands of words, so that every pattern begins where a word
does and takes time in proportion to the text.
"""

from __future__ import annotations

import re

_SECRETS = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"(?:(?:\\[nr]|[\sA-Za-z0-9+/=])*-----END [A-Z ]*PRIVATE KEY-----|(?:\s*[A-Za-z0-9+/=]{20,})*)",
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
SECRET = re.compile("|".join(f"(?:{pattern})" for pattern in _SECRETS[:-1]))
BEARER = re.compile(_SECRETS[-1])
TELLING_HOME = re.compile(
    r"(?:/home/|/Users/|%2Fhome%2F|%2FUsers%2F|\b[A-Za-z]:[\\/]{1,8}Users[\\/]{1,8})([^\\/\s\"'<>:%`,;)]+)"
)

HARDWARE = re.compile(
    r"(?<![0-9a-f][:-])\b(?:(?:[0-9a-f]{2}[:-]){5}|(?:[0-9a-f]{2}[:-]){7}|(?:[0-9a-f]{2}[:-]){19})"
    r"[0-9a-f]{2}\b(?![:-][0-9a-f])"
    r"|\b(?:GPU|MIG)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
    r"|(?<![\d.])(?:10\.\d{1,3}|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?!\d|\.\d)",
    re.I,
)
"""Hardware addresses of 6, 8 or 20 bytes, serial ids of GPUs, addresses inside a home or an office.

A longer row of pairs is none: small models write times without end, like 12:30:15:15:15:15:15."""

ADDRESS = re.compile(
    r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?!\d|\.\d)"
    r"|(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?:%\w+)?(?![\w:])",
    re.I,
)
"""What may be an address of version 4 or 6."""
USER_IN_URL = re.compile(r"(?<![\w+.-])([a-z][a-z0-9+.-]*://)[^/\s@]+@", re.I)
_SLASH = r"(?:[\\/]|%2F|%5C){1,8}"
HOME_FOLDER = re.compile(
    rf"(?:\b[a-z](?::|%3A))?{_SLASH}(?:home|users|documents and settings){_SLASH}"
    # A name may have blanks where a folder follows it.
    rf"(?:[^\\/\"'<>:|%\n]{{1,60}}(?={_SLASH})|[^\\/\s\"'<>:%]+)"
    r"|(?:/run)?/media/[^/\s\"'<>:]+|/root\b|(?<!\w)~[a-z_][\w-]*(?=/)",
    re.I,
)
EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
LOOSE_KEYS = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{8,}|\b(?:hf|gh[pousr]|github_pat)_\w{8,}"
    r"|\bbearer\s+[\w.~+/=-]{8,}|(?<=authorization: )basic\s+\S{8,}"
    r"|\b(?:api[_-]?key|access[_-]?token|token|secret|passw(?:or)?d)[\"']?\s*[=:]\s*[\"']?[^\s\"'&,;)]{4,}",
    re.I,
)
"""What looks like a key, shorter ones and those that are only called so included."""
SERIAL = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b|\bS-1-5-21(?:-\d+)+"
    r"|(?<=serial)(?:[ _-]?(?:number|no|nr))?[\"'.]*\s*[:=#]?\s*[\"']?(?=[\w-]{0,63}\d)[\w-]{5,}"
    r"|\b(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\b",
    re.I,
)
"""Ids of one machine: UUIDs, machine ids, SIDs, what follows `serial`, Cisco's addresses."""
MACHINE_ID = re.compile(
    r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\bS-1-5-21(?:-\d+)+"
    r"|(?<=serial)[ _-]?(?:number|no|nr)[\"'.]*\s*[:=#]\s*[\"']?(?=[\w-]{0,63}\d)[\w-]{5,}",
    re.I,
)
"""Of those what a model hardly writes of its own accord."""
HOME_HOST = re.compile(
    r"(?<![\w.-])[a-z0-9][\w.-]*\.(?:localdomain|home\.arpa|fritz\.box|ts\.net)\b"
    r"|\b(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{7,11}\b|\bip(?:-\d{1,3}){4}\b"
    r"|(?<=://)[a-z0-9][\w-]*\.(?:local|lan|home|internal|intranet|corp)\b",
    re.I,
)
"""Host names that no program text looks like, as `threading.local` does."""
HOST_NAME = re.compile(
    r"(?<![\w.-])[a-z0-9][\w.-]*"
    r"\.(?:local|lan|home|internal|intranet|localdomain|corp|home\.arpa|fritz\.box|ts\.net)\b"
    r"|\b(?:DESKTOP|LAPTOP|WIN)-[A-Z0-9]{7,11}\b|\bip(?:-\d{1,3}){4}\b"
    r"|(?<=\\\\)[a-z0-9][\w.-]*(?=\\)",
    re.I,
)
"""Names that are given inside a home or an office, and those that systems make up."""

RESERVED_HOST = re.compile(r"@(?:.*\.)?(?:example(?:\.\w+)?|test|invalid)$", re.I)
"""Of an e-mail address that belongs to nobody."""

EXAMPLES = frozenset(
    "user username users name you me yourname your_name your-name example public shared default "
    "admin administrator root ubuntu debian runner localhost host data test model models build "
    "work workspace project projects app ollama llama qwen python linux server desktop laptop gpu "
    "bench benchmark agent nobody".split()
)
"""Names that stand in documentation or on every machine: they point to nobody."""

NOBODY = EXAMPLES | {"alice", "bob", "john", "jane"}
"""The same for words that stand alone; a home folder of these may be somebody's."""
