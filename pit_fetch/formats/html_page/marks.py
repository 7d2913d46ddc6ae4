"""What the figure of a page shows, decided from what the operation declares of its fields. Pure.

Each item is a mark in time. A plotted field gives it a height, and those of one series are a line. A line is of one
kind of items: a year is no quarter, and a dividend no price. Those of other kinds are marks below the lines.

>>> from pit_fetch.formats.columns import columns
>>> stamped = PlainEnvelope([{"available_at": "2024-02-15T21:00:00Z", "id": "a", "verdict": "late"}])
>>> [(mark.anchor, mark.look) for mark in drawing(stamped, columns(stamped.data, {})).marks]
[('i0', 'late')]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch.formats.columns import Column
from pit_fetch.pipeline.claims import CLAIMED
from pit_fetch.pipeline.envelope import EVIDENCE, PlainEnvelope
from pit_fetch.provider import ENVELOPE_FIELDS
from pit_fetch.times import NEW_YORK, start_of_day

if TYPE_CHECKING:
    from pit_fetch.provider import FieldRole

# The verdicts and changes of what a fetch at the PIT does not show.
GREY = frozenset({"late", "revised", "undated", "unusable", "gone"})
# How an item is drawn: as usual, as one that only a claim dates, or in the colour of its verdict or its change.
LOOKS = ("", "claimed", "new", "repeated", "changed", "revised", "late", "undated", "unusable", "gone")
# Fewer figures make no line. The most lines, and the most kinds with a row of their own: more is too high for a page.
_FEWEST, MOST = 3, 6
OTHER = "other"
_MONTH = 30.44  # days


class Mark(NamedTuple):
    """One item in a figure.

    at        its place in time, aware
    anchor    the id of its row in the page
    value     its figure, if it is part of a line; estimate: what was expected of that
    look      how it is drawn
    series    the line it is part of
    kind      the row of marks it is part of, if it has no figure
    """

    at: datetime
    anchor: str
    value: float | None = None
    look: str = ""
    series: str = ""
    kind: str = ""
    estimate: float | None = None


class Drawing(NamedTuple):
    """The marks of a figure, and the names of the fields that they rest on; "" for none.

    by_day  the times are dates without a clock time
    left_out  how many series there are besides those drawn
    """

    marks: Sequence[Mark]
    by: str
    by_day: bool
    value: str = ""
    estimate: str = ""
    left_out: int = 0


class _Figures(NamedTuple):
    """Each item's figure and estimate, the series it belongs to, and the date it is about; None without a figure."""

    value: str
    estimate: str
    values: Sequence[float | None]
    estimates: Sequence[float | None]
    periods: Sequence[Any]


def drawing(envelope: PlainEnvelope, typed: Sequence[Column]) -> Drawing | None:
    """Return what to draw of an envelope; None without a time to draw it by."""
    by_name = {column.name: column for column in typed}
    if "available_at" not in by_name:
        return None
    provenance = envelope.provenance
    count = len(envelope.data)
    kinds = _labels(by_name, provenance.roles, "kind", count)
    series = _labels(by_name, provenance.roles, "series", count)
    figures = _figures(envelope, by_name, [*zip(series, kinds, strict=True)])
    drawn = Counter(name for name, value in zip(series, figures.values, strict=True) if value is not None)
    shown = {name for name, _ in drawn.most_common(MOST)}
    axis = _axis(typed, by_name, figures, series)
    usual = {name for name, _ in Counter(kinds).most_common(MOST)}
    marks = [
        Mark(
            at,
            f"i{index}",
            figures.values[index] if series[index] in shown else None,
            _look(item),
            series[index],
            kinds[index] if kinds[index] in usual else OTHER,
            figures.estimates[index],
        )
        for index, (at, item) in enumerate(zip(map(_instant, axis.values), envelope.data, strict=True))
        if at is not None
    ]
    if not marks:
        return None
    names = (figures.value, figures.estimate) if drawn else ("", "")
    return Drawing(marks, axis.name, axis.kind == "date", *names, len(drawn) - len(shown))


def _look(item: Mapping[str, Any]) -> str:
    look = str(item.get("verdict", item.get("change", "")))
    if item.get(EVIDENCE) == CLAIMED and look not in GREY:
        return CLAIMED
    return look if look in LOOKS else ""


def look_class(look: str, name: str) -> str:
    """Return the class of a shape that is drawn in a look."""
    return f"{name} {look}" if look else name


def _labels(by_name: Mapping[str, Column], roles: Mapping[str, FieldRole], role: FieldRole, count: int) -> list[str]:
    """Return what each item has in the fields of a role, without those that are the same for all."""
    found = (by_name[name] for name in roles if roles[name] == role and name in by_name)
    varying = [column.values for column in found if not _is_constant(column)]
    rows = zip(*varying, strict=True) if varying else [()] * count
    return [" ".join(str(value) for value in row if value is not None) for row in rows]


def _is_constant(column: Column) -> bool:
    return len(column.values) > 1 and all(value == column.values[0] for value in column.values)


def _figures(envelope: PlainEnvelope, by_name: Mapping[str, Column], labels: Sequence[tuple[str, str]]) -> _Figures:
    """Return the figures of the items of each series' most frequent kind and length; none if they are too few."""
    provenance, count = envelope.provenance, len(envelope.data)
    nothing: list[Any] = [None] * count
    period = by_name[provenance.period].values if provenance.period in by_name else nothing
    empty = _Figures("", "", nothing, nothing, period)
    plotted = (by_name[name] for name in provenance.plotted if name in by_name)
    column = next((column for column in plotted if column.kind == "number"), None)
    if column is None:
        return empty
    starts = next((by_name[name].values for name in by_name if provenance.roles.get(name) == "start"), nothing)
    keys = [(kind, _months(start, end)) for (_, kind), start, end in zip(labels, starts, period, strict=True)]
    usual: dict[str, Counter[Any]] = {}
    for (series, _), key, value in zip(labels, keys, column.values, strict=True):
        if value is not None:
            usual.setdefault(series, Counter())[key] += 1
    chosen = {series: counts.most_common(1)[0][0] for series, counts in usual.items()}
    is_usual = [chosen.get(series, ()) == key for (series, _), key in zip(labels, keys, strict=True)]
    values = _mask(is_usual, column.values)
    if sum(value is not None for value in values) < _FEWEST:
        return empty
    names = (name for name in by_name if provenance.roles.get(name) == "estimate" and by_name[name].kind == "number")
    estimate = next(names, "")
    estimates = _mask(is_usual, by_name[estimate].values) if estimate else nothing
    return _Figures(column.name, estimate, values, estimates, period)


def _mask(chosen: Sequence[bool], values: Sequence[Any]) -> list[Any]:
    return [value if is_chosen else None for is_chosen, value in zip(chosen, values, strict=True)]


def _months(start: Any, end: Any) -> int | None:
    """Return the length of a period in months, so that 52 and 53 weeks are one length."""
    if not (isinstance(start, date) and isinstance(end, date)):
        return None
    return round((end - start).days / _MONTH) if type(start) is type(end) else None


def _axis(typed: Sequence[Column], by_name: Mapping[str, Column], figures: _Figures, series: Sequence[str]) -> Column:
    """Return the times of the items.

    When each was public. Of a snapshot, or where that would put the periods of a line out of order, its own date.
    """
    stamps, own = by_name["available_at"], [column for column in typed if column.kind in ("instant", "date")]
    if _is_constant(stamps):
        varying = [column for column in own if column.name not in ENVELOPE_FIELDS and not _is_constant(column)]
        by_kind = [column for kind in ("instant", "date") for column in varying if column.kind == kind]
        # What the items are about, before any other date of theirs: a period's end, and not its start.
        about = (column for column in by_kind if column.values is figures.periods)
        return next(about, next(iter(by_kind), stamps))
    period = next((column for column in own if column.values is figures.periods), None)
    drawn = [index for index, value in enumerate(figures.values) if value is not None]
    if period is None or not drawn:
        return stamps
    points = sorted(
        (series[index], period.values[index], stamps.values[index])
        for index in drawn
        if None not in (period.values[index], stamps.values[index])
    )
    in_order = all(a[2] < b[2] for a, b in pairwise(points) if a[0] == b[0])
    return stamps if in_order else period


def _instant(value: Any) -> datetime | None:
    """Return the instant of a mark; of a day, the one at which it begins in New York."""
    if isinstance(value, datetime):
        return value
    return start_of_day(value, NEW_YORK) if isinstance(value, date) else None
