"""``--format jsonl``: one line per item, then one ``{"gap": {…}}`` line per gap. Pure.

>>> print(render(PlainEnvelope([{"id": "a"}], [{"type": "no_data"}])), end="")
{"id": "a"}
{"gap": {"type": "no_data"}}
"""

from __future__ import annotations

import json

from pit_fetch.formats import DEFAULTS, RenderOptions
from pit_fetch.pipeline.envelope import PlainEnvelope


def render(envelope: PlainEnvelope, options: RenderOptions = DEFAULTS) -> str:
    """Return one JSON object per line."""
    rows = [*envelope.data, *({"gap": gap} for gap in envelope.gaps)]
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
