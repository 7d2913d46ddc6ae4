"""``--format json``: the envelope as one JSON document. The format the gate reads, and the only one for agents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pit_fetch.formats import DEFAULTS, RenderOptions


def render(envelope: Mapping[str, Any], options: RenderOptions = DEFAULTS) -> str:
    """Return one line of ASCII, or several if pretty. Raise TypeError or ValueError for what JSON cannot express."""
    # ASCII, so that characters, bytes and UTF-16 units coincide.
    return json.dumps(envelope, indent=2 if options.pretty else None, allow_nan=False) + "\n"
