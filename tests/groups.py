"""The groups in which the tests run one after another: every test is in exactly one."""

from __future__ import annotations

from collections.abc import Collection

# Browser tests come last: Playwright leaves an event loop running in its thread, and with that
# neither asyncio.run() nor Django's ORM can be called any more.
GROUPS = ("unit", "engine", "sandbox", "harnesses", "site", "api", "wheel", "browser")


def group_of(folder: str, marks: Collection[str]) -> str:
    """Group of a test by the folder under `tests/` that it lies in, and by its marks.

    `unit` starts nothing but small servers of the tests' own, `engine` needs a real component,
    `sandbox` runs programs in every kind of sandbox, `harnesses` installs and runs those of other
    people, `site` is the Django part, `api` tries every operation of its API, `browser` drives a
    real browser, `wheel` installs what is shipped.
    """
    if folder == "wheel":
        return "wheel"
    if folder in ("hostile", "sandboxes"):
        return "sandbox"
    if "browser" in marks or folder in ("browser", "journey"):
        return "browser"
    if folder in ("harnesses", "programs") and "real" in marks:
        return "harnesses"
    if folder in ("site", "look"):
        return "site"
    if folder == "api":
        return "api"
    return "engine" if "real" in marks else "unit"
