"""A lock on an open file, which goes when its process does, however that ends."""

from __future__ import annotations

import os
import sys

_LOCKED_BYTE = 1 << 20
"""Windows locks bytes of the file; this one lies behind all that is in it."""

if sys.platform == "win32":
    import msvcrt

    def hold(descriptor: int) -> None:
        """Lock it until it is closed. Raises OSError while another process does."""
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
else:
    import fcntl

    def hold(descriptor: int) -> None:
        """Lock it until it is closed. Raises OSError while another process does."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
