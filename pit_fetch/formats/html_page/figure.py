"""The figure of a page, and its legend: when the items became public, or what they say of when. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from pit_fetch.formats.columns import Column
from pit_fetch.formats.html_page.markup import escaped
from pit_fetch.formats.html_page.timeline import Kind, Mark, svg
from pit_fetch.pipeline.envelope import CLAIMED, EVIDENCE
from pit_fetch.provider import STAMPS
from pit_fetch.times import NEW_YORK, start_of_day

if TYPE_CHECKING:
    from pit_fetch.pipeline.envelope import PlainEnvelope

GREY = frozenset({"late", "revised", "undated", "unusable", "gone"})
# The legend, in its order.
_MEANINGS = {
    "public": "a fetch at the PIT shows it",
    "late": "published, or first seen, after the PIT",
    "revised": "changed after the PIT, and the source no longer serves what it said by then",
    "undated": "nothing shows when it was published",
    "unusable": "it has no id",
    "new": "only the later answer has it",
    "changed": "both have it, and below it is what it held before",
    "gone": "only the earlier answer has it",
    "claimed": "a claim dates it and nothing proves it: it may have changed since",
}


def figure(envelope: PlainEnvelope, typed: Sequence[Column]) -> str:
    """Return the time line of the items, with a curve of their figures if they have some; "" without a time."""
    axis = _axis(typed)
    if axis is None:
        return ""
    figures = _figures(envelope, typed)
    numbers = figures.values if figures else [None] * len(axis.values)
    marks = [
        Mark(at, f"i{index}", numbers[index], _drawn(item))
        for index, (at, item) in enumerate(zip(map(_instant, axis.values), envelope.data, strict=False))
        if at is not None
    ]
    if not marks:
        return ""
    first, last = min(marks).at, max(marks).at
    form = "%-d %B %Y" if axis.kind == "date" else "%-d %B %Y, %H:%M"
    span = f"{first:{form}} to {last:{form}}"
    what = f"<b>{escaped(figures.name)}</b>, " if figures and len(marks) >= 5 else ""
    by = "" if axis.name == "available_at" else f"by {escaped(axis.name)}, "
    drawn = svg(marks, envelope.provenance.pit, f"Time line of {len(marks)} items, {span}")
    return f"<figure>{drawn}<figcaption>{what}{by}{span}</figcaption></figure>\n"


def _drawn(item: Mapping[str, Any]) -> Kind:
    if item.get("verdict", item.get("change")) in GREY:
        return "grey"
    return "claimed" if item.get(EVIDENCE) == CLAIMED else ""


def _axis(typed: Sequence[Column]) -> Column | None:
    """Return the times of the items: when each was public or, of a snapshot, its own; None if there are no items."""
    stamps = next((column for column in typed if column.name == "available_at"), None)
    if stamps is None or not _is_constant(stamps):
        return stamps
    own = [column for column in typed if column.name not in STAMPS and column.kind in ("instant", "date")]
    varying = [column for column in own if not _is_constant(column)]
    return next((column for kind in ("instant", "date") for column in varying if column.kind == kind), stamps)


def _is_constant(column: Column) -> bool:
    return len(column.values) > 1 and all(value == column.values[0] for value in column.values)


def _instant(value: Any) -> datetime | None:
    """Return the instant of a mark; of a day, the one at which it begins in New York."""
    if isinstance(value, datetime):
        return value
    return start_of_day(value, NEW_YORK) if isinstance(value, date) else None


def _figures(envelope: PlainEnvelope, typed: Sequence[Column]) -> Column | None:
    """Return the column to draw a curve of, for the items of the most frequent kind: a year is no quarter."""
    by_name = {column.name: column for column in typed}
    plotted = (by_name[name] for name in envelope.provenance.plotted if name in by_name)
    column = next((column for column in plotted if column.kind == "number"), None)
    if column is None:
        return None
    kinds = [item.get("record_type") for item, value in zip(envelope.data, column.values, strict=True) if value]
    usual = max(kinds, key=kinds.count, default=None)
    are_usual = (item.get("record_type") == usual for item in envelope.data)
    return column._replace(
        values=[value if is_usual else None for value, is_usual in zip(column.values, are_usual, strict=True)]
    )


def legend(envelope: PlainEnvelope) -> str:
    """Return what the verdicts of ``explain``, the changes of ``diff`` and a claim mean; "" if there are none."""
    present = {str(item.get(key)) for item in envelope.data for key in ("verdict", "change", EVIDENCE)}
    rows = "".join(
        f'<li class="{name}{" grey" if name in GREY else ""}"><em>{name}</em> {meaning}'
        for name, meaning in _MEANINGS.items()
        if name in present
    )
    return f'<ul class="legend" aria-label="Legend">{rows}</ul>\n' if rows else ""
