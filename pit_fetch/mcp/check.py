"""``--check``: what of one recorded result would pass, and why. For the operator who writes a mapping."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from pit_fetch.mcp.mapping import Mapped
from pit_fetch.mcp.upstream_items import records
from pit_fetch.pipeline.select import visibility
from pit_fetch.times import in_new_york, is_aware

_WHY = {
    "public": "passes",
    "late": "is withheld: it became public, or was revised, after the instant",
    "undated": "is withheld: {stamp} cannot be read",
    "unusable": "is withheld: it is no object",
}
NOTHING = "no item is at {path}: nothing would pass\n"


def verdicts(result: Mapping[str, Any], mapped: Mapped, at: datetime) -> Iterator[str]:
    """Yield a line for each item of a ``tools/call`` result, and one if there is none."""
    shown = list(records(result, mapped))
    if not shown:
        yield NOTHING.format(path=mapped.items)
    names = " or ".join(path for path in (mapped.available_at, mapped.revised_at) if path)
    for record in shown:
        stamps = [in_new_york(stamp) for stamp in (record.available_at, record.revised_at) if is_aware(stamp)]
        why = _WHY[visibility(record, at)].format(stamp=names)
        fields = ", ".join(record.payload)
        name = " ".join(record.id.split())  # on one line, whatever an id is
        yield f"{name or '(no id)'}  {why} [{', revised '.join(stamps) or 'undated'}; {fields}]\n"
