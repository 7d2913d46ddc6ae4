"""Folders in memory where the machine has them, since an archive waits for the disk at every write.

No program is run from them, since a system may forbid that there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

_MEMORY = Path("/dev/shm")
_ROOM_BYTES = 1 << 30


def scratch(prefix: str) -> tempfile.TemporaryDirectory[str]:
    """Return a folder that is removed at the end of the block."""
    return tempfile.TemporaryDirectory(prefix=prefix, dir=in_memory())


@cache
def in_memory() -> str | None:
    """Return the parent of such folders, or None for the usual place: there is no other with room."""
    if not os.access(_MEMORY, os.W_OK) or Path(tempfile.gettempdir()).is_relative_to(_MEMORY):
        return None
    return str(_MEMORY) if shutil.disk_usage(_MEMORY).free >= _ROOM_BYTES else None
