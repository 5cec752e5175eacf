"""Paths on the disk of a server, which may run another system than this one."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath


def file_name(path: str) -> str:
    """The last part of a path of Windows or of any other system."""
    return PureWindowsPath(path).name if "\\" in path else PurePosixPath(path).name
