"""The groups in which the tests run one after another: every test is in exactly one."""

from __future__ import annotations

from collections.abc import Collection

GROUPS = ("unit", "engine", "site", "browser", "wheel")


def group_of(folder: str, marks: Collection[str]) -> str:
    """Group of a test by the folder under `tests/` that it lies in, and by its marks.

    `unit` starts nothing but small servers of the tests' own, `engine` needs a real component,
    `site` is the Django part, `browser` drives a real browser, `wheel` installs what is shipped.
    """
    if folder == "wheel":
        return "wheel"
    if "browser" in marks or folder in ("browser", "journey"):
        return "browser"
    if folder in ("site", "look"):
        return "site"
    return "engine" if "real" in marks else "unit"
