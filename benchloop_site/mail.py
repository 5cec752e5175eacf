"""How the public site sends e-mail, read from `EMAIL_URL`.

smtp://user:password@host:587        with STARTTLS, as most providers want it
smtps://user:password@host:465       with TLS from the first byte
smtp+plain://127.0.0.1:25            without either: a relay on the same machine
file:///srv/bench-loop/mail          a file for each message
console:                             into the log of the site
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}


@dataclass(frozen=True, slots=True)
class Mail:
    """Django's `EMAIL_*` settings. `backend` is the name of one of its modules."""

    backend: str
    host: str = "localhost"
    port: int = 25
    user: str = ""
    password: str = ""
    starttls: bool = False
    tls: bool = False
    folder: str | None = None

    @property
    def backend_path(self) -> str:
        return f"django.core.mail.backends.{self.backend}.EmailBackend"


NO_MAIL = Mail("dummy")
"""Nothing is sent; pages that need mail say so instead."""


def read_mail(url: str) -> Mail:
    """What an `EMAIL_URL` means.

    Raises ImproperlyConfigured, without the password that may stand in it.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ImproperlyConfigured("EMAIL_URL is no address with a port number.") from error
    if parts.scheme == "console":
        return Mail("console")
    if parts.scheme == "file" and not parts.netloc and parts.path:
        return mail_in(Path(unquote(parts.path)))
    if parts.scheme in PORTS and parts.hostname:
        return _smtp(parts, parts.hostname, port or PORTS[parts.scheme])
    raise ImproperlyConfigured(
        "EMAIL_URL must be smtp://user:password@host, smtps://user:password@host, "
        "smtp+plain://host, file:///folder or console:."
    )


def mail_in(folder: Path) -> Mail:
    """Messages become files in `folder`, which only its owner may enter: they hold log-in links."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return Mail("filebased", folder=str(folder))


def _smtp(parts: SplitResult, host: str, port: int) -> Mail:
    return Mail(
        "smtp",
        host=host,
        port=port,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        starttls=parts.scheme == "smtp",
        tls=parts.scheme == "smtps",
    )
