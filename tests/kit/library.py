"""A made-up library that does its own HTTP, and knows nothing of pit_fetch."""

from __future__ import annotations

import json
import os
from typing import Any


def posts(symbol: str) -> list[dict[str, Any]]:
    from urllib.request import urlopen

    with urlopen(f"{os.environ['KIT_LIBRARY_URL']}/posts?symbol={symbol}", timeout=10) as reply:
        rows: list[dict[str, Any]] = json.load(reply)
    return rows
