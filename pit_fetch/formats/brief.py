"""An envelope in a few lines, as an interactive Python shows it: what it answers, the first items, the gaps. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pit_fetch.formats.table import lines_of
from pit_fetch.support.terminal import escape_unprintable
from pit_fetch.support.wording import counted
from pit_fetch.times import format_for_people

if TYPE_CHECKING:
    from pit_fetch.pipeline.envelope import PlainEnvelope

# What fits on a screen, with the prompt.
_ITEMS, _TABLE_LINES, _GAPS = 8, 13, 5


def brief(envelope: PlainEnvelope, width: int) -> str:
    """Return at most 23 lines of at most ``width`` characters."""
    shown = type(envelope)(envelope.data[:_ITEMS], [], envelope.provenance)
    table, hidden = lines_of(shown, width)
    lines = [f"<Envelope: {counted(len(envelope.data), 'item')}{_question(envelope)}>", *table[:_TABLE_LINES]]
    lines += ["…"] if len(table) > _TABLE_LINES else []
    more = len(envelope.data) - len(shown.data)
    lines += [f"… and {more:,} more in .data"] if more else []
    lines += [f"not shown: {', '.join(hidden)}"] if hidden else []
    lines += [f"{gap['type']}: {escape_unprintable(str(gap['reason']))}" for gap in envelope.gaps[:_GAPS]]
    left = len(envelope.gaps) - _GAPS
    lines += [f"… and {counted(left, 'gap')} more in .gaps"] if left > 0 else []
    return "\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in lines)


def _question(envelope: PlainEnvelope) -> str:
    source, _, pit, *_ = envelope.provenance
    return (f" of {source}" if source else "") + (f" as of {format_for_people(pit)}" if pit else "")
