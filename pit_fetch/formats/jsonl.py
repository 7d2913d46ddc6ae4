"""``--format jsonl``: one line per item, then one ``{"gap": {…}}`` line per gap."""

from __future__ import annotations

import json

from pit_fetch.pipeline.envelope import Envelope


def render(envelope: Envelope, pretty: bool = False) -> str:
    """Each line is one JSON object, whatever ``pretty`` says."""
    rows = [*envelope.data, *({"gap": gap} for gap in envelope.gaps)]
    return "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
