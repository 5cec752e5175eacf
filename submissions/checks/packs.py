"""Packs: every suite is an official one, of the version and the content that are known here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from bench_loop.engine.packs import Pack, pack_names
from bench_loop.result.records import SuiteResult
from submissions.checks.finding import Finding, needs_review, refused
from submissions.checks.upload import Upload


def check_private(upload: Upload) -> Iterator[Finding]:
    """No suite is a person's own pack, whatever it is called."""
    for index, suite in enumerate(upload.result.suites):
        if suite.is_private:
            yield refused(
                "private_pack",
                f"suites[{index}].is_private",
                "This is a private pack, which no site can check: its results stay at home.",
            )


def check_packs(upload: Upload) -> Iterator[Finding]:
    """Every suite is an official pack, of the version that this site knows, and named once.

    Fresh instances are those that the seed draws of it: hash for hash the same.
    """
    counts = Counter(suite.suite for suite in upload.result.suites)
    for index, suite in enumerate(upload.result.suites):
        where = f"suites[{index}]"
        pack = upload.packs.get(suite.suite)
        earlier = upload.earlier.get(suite.suite)
        if counts[suite.suite] > 1:
            yield refused("mixed_versions", f"{where}.suite", "This suite is listed twice.")
        elif suite.is_private:
            continue  # `check_private` refuses it.
        elif earlier is not None:
            yield needs_review(
                "earlier_version",
                f"{where}.version",
                f"Made with the tasks of version {suite.version}, where this site has version "
                f"{earlier.version}: kept apart, and no verdict or score of the run can be "
                "checked.",
            )
        elif pack is None and suite.suite in pack_names():
            yield refused(
                "unknown_seed",
                "settings.fresh_seed",
                f"This seed gives no fresh instances of {suite.suite}.",
            )
        elif pack is None:
            yield refused(
                "unknown_suite",
                f"{where}.suite",
                f"This site has no such suite. It has: {', '.join(pack_names())}.",
            )
        else:
            yield from _pack_findings(where, suite, pack)


def _and_earlier(pack: Pack) -> str:
    return f", and takes in {', '.join(pack.earlier)}" if pack.earlier else ""


def _pack_findings(where: str, suite: SuiteResult, pack: Pack) -> Iterator[Finding]:
    if suite.version != pack.version:
        yield refused(
            "unknown_pack",
            f"{where}.version",
            f"This site checks version {pack.version} of {pack.name}{_and_earlier(pack)}.",
        )
    elif suite.pack_hash != pack.pack_hash and pack.fresh_seed is not None:
        yield refused(
            "unknown_pack",
            f"{where}.pack_hash",
            f"This is not what the seed {pack.fresh_seed} draws of the official {pack.name} "
            f"{pack.version}: that has the hash {pack.pack_hash}.",
        )
    elif suite.pack_hash != pack.pack_hash:
        yield refused(
            "unknown_pack",
            f"{where}.pack_hash",
            f"This is not the official {pack.name} {pack.version}: its hash is {pack.pack_hash}.",
        )
    if suite.dimension != pack.dimension:
        yield refused(
            "unknown_pack", f"{where}.dimension", f"{pack.name} measures {pack.dimension}."
        )
