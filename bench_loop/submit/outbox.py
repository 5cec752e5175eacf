"""What waits to be sent, and what was sent: small files in the data folder, for the user alone.

A result is written here before the first byte of it leaves the machine and goes when the site has
answered, so that a lost connection, Ctrl-C or a power cut lose nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from bench_loop import config
from bench_loop.errors import SetupError
from bench_loop.submit.sending import Answer
from bench_loop.submit.site import shown_url


@dataclass(frozen=True, slots=True)
class Pending:
    """A result that its user wants sent, and that no site has answered for yet."""

    site: str
    run_id: str
    title: str
    """Model and quantization, for lists."""
    fingerprint: str
    """Of the result file, whatever was taken out of what is sent."""
    since: str
    """When the user said yes, RFC 3339."""
    payload: str
    """The exact text that is sent."""
    why: str = ""
    """What went wrong the last time; empty: it was interrupted."""

    @property
    def data(self) -> bytes:
        return self.payload.encode()


@dataclass(frozen=True, slots=True)
class Sent:
    """A result that a site took."""

    site: str
    run_id: str
    fingerprint: str
    at: str
    public_id: str
    url: str | None
    status: str


Kept = TypeVar("Kept", Pending, Sent)


def hold(pending: Pending) -> None:
    """Keep it until it is sent. Raises SetupError when it cannot be written."""
    _write(_file("pending", pending.site, pending.fingerprint), asdict(pending))


def hold_on(pending: Pending, why: str) -> None:
    """Keep it on, with the reason why it was not sent now."""
    hold(replace(pending, why=why[:500]))


def drop(pending: Pending) -> None:
    """It waits no longer."""
    _file("pending", pending.site, pending.fingerprint).unlink(missing_ok=True)


def waiting() -> list[Pending]:
    """All that waits, the longest first. A file that cannot be read is left where it is."""
    return sorted(_all("pending", Pending), key=lambda one: one.since)


def remember(pending: Pending, answer: Answer) -> Sent:
    """Note what the site made of it; it waits no longer."""
    body = answer.body
    sent = Sent(
        site=pending.site,
        run_id=pending.run_id,
        fingerprint=pending.fingerprint,
        at=now(),
        public_id=str(body.get("id", ""))[:50],
        url=shown_url(pending.site, body.get("url")),
        status=str(body.get("status", "unknown"))[:50],
    )
    _write(_file("sent", sent.site, sent.fingerprint), asdict(sent))
    drop(pending)
    return sent


def sent_before(site: str, fingerprint: str) -> Sent | None:
    """What became of this result on that site; None: it was not sent there from here."""
    return _read(_file("sent", site, fingerprint), Sent)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _file(kind: str, site: str, fingerprint: str) -> Path:
    name = hashlib.sha256(f"{site} {fingerprint}".encode()).hexdigest()[:32]
    return _folder(kind) / f"{name}.json"


def _folder(kind: str) -> Path:
    return config.home() / "outbox" / kind


def _write(file: Path, document: dict[str, Any]) -> None:
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        config.replace_file(file, json.dumps(document).encode(), mode=0o600)
    except OSError as error:
        raise config.not_writable(file, error) from error


def _all(kind: str, record: type[Kept]) -> Iterator[Kept]:
    for file in sorted(_folder(kind).glob("*.json")):
        found = _read(file, record)
        if found is not None:
            yield found


def _read(file: Path, record: type[Kept]) -> Kept | None:
    """The record in a file; None where it is missing or damaged."""
    try:
        document = json.loads(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SetupError(f"{file} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError):
        return None
    names = {field.name for field in fields(record)}
    if not isinstance(document, dict) or set(document) != names:
        return None
    is_text = all(isinstance(value, str | None) for value in document.values())
    return record(**document) if is_text else None
