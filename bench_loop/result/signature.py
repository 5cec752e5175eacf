"""Signatures of results: that nothing was changed since an installation wrote the file.

Every installation has a key of its own, made once. It tells that runs come from one installation,
and not who that is; whoever holds the key can sign anything, so a signature is no proof of a
measurement. `cryptography` is loaded here alone, and only when something is signed or checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import rfc8785

from bench_loop.config import home, private_text
from bench_loop.errors import SetupError
from bench_loop.result.records import RunResult, Signature

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

KEY_FILE = "installation.key"
"""In the data folder, 0600: the 32 bytes of the private key, hexadecimal."""

SHORT_DIGITS = 16

_PRIME = 2**255 - 19
_OF_SMALL_ORDER = frozenset(
    {
        *(0, 1, _PRIME - 1),
        0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826,
        0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7,
    }
)
"""The y of the eight points of curve 25519 whose order divides 8 (RFC 8032, section 8.9, leaves it
to the application to refuse them). As public keys nobody holds their private half, and signatures
can be written under them that fit many contents, under one of them every content."""


class BadSignatureError(ValueError):
    """A result's signature does not belong to its content; the text says why."""


def signed(result: RunResult) -> RunResult:
    """`result` under the signature of this installation, whose key is made when there is none.

    Raises SetupError when the key cannot be made or is damaged.
    """
    key = _installation_key()
    document = result.model_dump(mode="json", exclude={"signature"})
    signature = Signature(
        algorithm="ed25519",
        public_key=key.public_key().public_bytes_raw().hex(),
        value=key.sign(rfc8785.dumps(document)).hex(),
    )
    return result.model_copy(update={"signature": signature})


def signed_if_possible(result: RunResult) -> RunResult:
    """`signed`, or `result` itself where no key is to be had: a run is not lost for that."""
    try:
        return signed(result)
    except SetupError:
        return result


def signed_like(before: RunResult, document: Mapping[str, Any], after: RunResult) -> RunResult:
    """`after`, made here out of `before`, which was read from `document`.

    Signed anew where `before` bears this installation's own signature, else not signed at all: a
    file that was changed by hand gets none. Raises SetupError as `signed` does.
    """
    own = installation_public_key()
    if own is None or before.signature is None or before.signature.public_key != own:
        return after.model_copy(update={"signature": None})
    try:
        signer_of(document)
    except BadSignatureError:
        return after.model_copy(update={"signature": None})
    return signed(after)


def signer_of(document: Mapping[str, Any]) -> str | None:
    """The public key under whose signature a result stands; None: it is not signed.

    `document` is the JSON of the file, since a record would add fields that the file's version did
    not have. Raises BadSignatureError when the signature does not belong to it.
    """
    signature = document.get("signature")
    if signature is None:
        return None
    # Before anything is computed: the form is the schema's.
    claimed = Signature.model_validate(signature)
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = {name: value for name, value in document.items() if name != "signature"}
    if _fits_any_content(claimed.public_key):
        raise BadSignatureError("Its key is nobody's: a signature under it says nothing.")
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(claimed.public_key))
        key.verify(bytes.fromhex(claimed.value), rfc8785.dumps(content))
    except rfc8785.CanonicalizationError as error:
        raise BadSignatureError(f"It cannot be checked: {error}.") from error
    except (InvalidSignature, ValueError) as error:
        raise BadSignatureError(
            "It does not belong to this content: the file was changed after it was signed."
        ) from error
    return claimed.public_key


def _fits_any_content(public_key: str) -> bool:
    # The highest bit is the sign of x.
    y = int.from_bytes(bytes.fromhex(public_key), "little") % 2**255
    return y % _PRIME in _OF_SMALL_ORDER


def short(public_key: str) -> str:
    """A key as people compare it: the first digits of its SHA-256, like `3f2a 91c0 07de b544`."""
    digits = hashlib.sha256(bytes.fromhex(public_key)).hexdigest()[:SHORT_DIGITS]
    return " ".join(digits[at : at + 4] for at in range(0, SHORT_DIGITS, 4))


def installation_public_key() -> str | None:
    """The public key of this installation; None: it never signed anything. Raises SetupError."""
    if not (home() / KEY_FILE).exists():
        return None
    return _installation_key().public_key().public_bytes_raw().hex()


def _installation_key() -> Ed25519PrivateKey:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        text = private_text(KEY_FILE, _new_key)
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text))
    except (OSError, ValueError) as error:
        raise SetupError(
            f"{home() / KEY_FILE} cannot be read, or holds no key.",
            remedy="Put the file back as it was, or delete it: the next run makes another.",
        ) from error


def _new_key() -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.generate().private_bytes_raw().hex()
