"""A provider whose module asks the machine while it is imported, and a file."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

from tests.kit import source

PREFIX = os.environ.get("KIT_PREFIX", "")
LOADED = time.time()
LICENCE = (Path(__file__).parents[2] / "LICENSE").read_bytes()


def fetch(query: Any, context: Any) -> Any:
    return source.fetch(query, context)
