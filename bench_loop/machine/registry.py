"""The registry of Windows: the values and numbered subkeys of a key of the local machine."""

from __future__ import annotations

import sys

Value = str | int | bytes
"""A registry value: text, a number, or bytes."""

if sys.platform == "win32":
    import winreg

    def values(key: str) -> dict[str, Value]:
        """All values of a key; empty when it cannot be read."""
        found: dict[str, Value] = {}
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as handle:
                for index in range(winreg.QueryInfoKey(handle)[1]):
                    name, value, _ = winreg.EnumValue(handle, index)
                    if isinstance(value, str | int | bytes):
                        found[name] = value
        except OSError:
            return {}
        return found

    def subkeys(key: str) -> list[str]:
        """The whole names of the subkeys that are numbers; empty when it cannot be read."""
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as handle:
                names = [
                    winreg.EnumKey(handle, index) for index in range(winreg.QueryInfoKey(handle)[0])
                ]
        except OSError:
            return []
        return [f"{key}\\{name}" for name in names if name.isdigit()]

else:

    def values(key: str) -> dict[str, Value]:
        """There is no registry elsewhere."""
        return {}

    def subkeys(key: str) -> list[str]:
        """There is no registry elsewhere."""
        return []
