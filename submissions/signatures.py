"""Signatures of uploads: a wrong one is refused, a missing one is fine, a right one is a mark."""

from __future__ import annotations

from collections.abc import Iterator

from bench_loop.result.signature import BadSignatureError, signer_of
from submissions.checks.finding import Finding, refused
from submissions.intake import load_strictly


def check_signature(data: bytes) -> Iterator[Finding]:
    """The signature in the bytes of an upload, which follow the schema, belongs to them."""
    try:
        signer_of(load_strictly(data))
    except BadSignatureError as error:
        yield refused("bad_signature", "signature.value", str(error))
