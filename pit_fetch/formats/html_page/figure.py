"""The figure of a page: a time line of the items up to the PIT and beyond it, with its caption and legend. Pure.

It is inline SVG: a line for each series that the items state in numbers, rows of marks by kind, or bars of counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime

from pit_fetch.formats.columns import Column
from pit_fetch.formats.html_page.figure_line import figure_line
from pit_fetch.formats.html_page.marks import LOOKS, OTHER, Drawing, Mark, drawing, look_class
from pit_fetch.formats.html_page.markup import cut, escape
from pit_fetch.formats.html_page.scale import AXIS_HEIGHT, LEFT, RIGHT, TOP, TimeScale, frame, time_scale
from pit_fetch.pipeline.envelope import EVIDENCE, PlainEnvelope
from pit_fetch.times import on_new_york_clock

_BARS_HEIGHT, _ROW = 134, 30
_LINE_HEIGHT, _LINE_OF_SEVERAL_HEIGHT = 210, 120
_BINS = 80
_WIDTH = (RIGHT - LEFT) / _BINS  # of a bin, in percent
_LEAD = 0.05  # room for the figures along the lines
_NAME = 40  # the most characters of a series' name
# The legend, in its order.
_MEANINGS = {
    "public": "a fetch at the PIT shows it",
    "late": "published, or first seen, after the PIT",
    "revised": "changed after the PIT, and the source no longer serves what it said by then",
    "undated": "nothing shows when it was published",
    "unusable": "it has no id",
    "new": "only the later answer has it",
    "repeated": "both have it in the same words, and the later one from another place, such as a newer filing",
    "changed": "both have it, and below it is what it held before",
    "gone": "only the earlier answer has it",
    "claimed": "a claim dates it and nothing proves it: it may have changed since",
}


def figure(envelope: PlainEnvelope, typed: Sequence[Column]) -> str:
    """Return the time line of the items, with lines of their figures if they have some; "" without a time."""
    drawn = drawing(envelope, typed)
    if drawn is None:
        return ""
    first, last = min(mark.at for mark in drawn.marks), max(mark.at for mark in drawn.marks)
    form = "%-d %B %Y" if drawn.by_day else "%-d %B %Y, %H:%M"
    span = f"{first:{form}} to {last:{form}}"
    by = "" if drawn.by == "available_at" else f"by {escape(drawn.by)}, "
    label = f"Time line of {len(drawn.marks)} items, {span}"
    picture = svg(drawn.marks, envelope.provenance.pit, label)
    value = f"<b>{escape(drawn.value)}</b>, " if drawn.value else ""
    return f"<figure>{picture}<figcaption>{value}{by}{span}{_key(drawn)}</figcaption></figure>\n"


def _key(drawn: Drawing) -> str:
    """Return what dots and rings stand for, and how many series are left out; "" if there is nothing to say."""
    rows = []
    if drawn.estimate and any(mark.estimate is not None for mark in drawn.marks):
        rows = [f"<li><i class=dot></i>{escape(drawn.value)}", f"<li><i class=ring></i>{escape(drawn.estimate)}"]
    if drawn.left_out:
        rows.append(f"<li>{drawn.left_out} more not drawn")
    return f'<ul class="key" aria-label="Lines">{"".join(rows)}</ul>' if rows else ""


def legend(envelope: PlainEnvelope) -> str:
    """Return what the verdicts of ``explain``, the changes of ``diff`` and a claim mean; "" if there are none."""
    present = {str(item.get(key)) for item in envelope.data for key in ("verdict", "change", EVIDENCE)}
    rows = "".join(
        f'<li class="{name}"><em>{name}</em> {meaning}' for name, meaning in _MEANINGS.items() if name in present
    )
    return f'<ul class="legend" aria-label="Legend">{rows}</ul>\n' if rows else ""


def svg(marks: Sequence[Mark], pit: datetime | None, label: str) -> str:
    """Return the time line of ``marks``: lines if they have figures, rows if they have kinds, else bars of counts.

    Return "" without marks.
    """
    if not marks:
        return ""
    figures = [mark for mark in marks if mark.value is not None]
    scale = time_scale([mark.at for mark in marks], pit, _LEAD if figures else 0.01)
    rest = [mark for mark in marks if mark.value is None]
    drawn, base = list[str](), float(TOP)
    series = _group(sorted(figures, key=lambda mark: mark.at), lambda mark: mark.series)
    height = _LINE_OF_SEVERAL_HEIGHT if len(series) > 1 else _LINE_HEIGHT
    for name, group in sorted(series.items()):
        top, base = base, base + height
        drawn += figure_line(group, scale, top, base)
        drawn += _stops(group, scale, top, base)
        if len(series) > 1:
            drawn += [_name(cut(name or OTHER, _NAME), top + 16, "end")]
    kinds = _group(rest, lambda mark: mark.kind)  # the most frequent first
    rows = dict(sorted(kinds.items(), key=lambda row: (row[0] in ("", OTHER), -len(row[1]))))
    if rows and (figures or len(rows) > 1):
        drawn += _mark_rows(rows, scale, base)
        base += _ROW * len(rows)
    elif rest:
        base += _BARS_HEIGHT
        drawn += _bars(rest, scale, base)
    behind, before = frame(scale, pit, base)
    return (
        f'<svg width="100%" height="{base + AXIS_HEIGHT:g}" role="group" aria-label="{escape(label)}">'
        f"{behind}{''.join(drawn)}{before}</svg>"
    )


def _group(marks: Iterable[Mark], key: Callable[[Mark], str]) -> dict[str, list[Mark]]:
    groups: dict[str, list[Mark]] = {}
    for mark in marks:
        groups.setdefault(key(mark), []).append(mark)
    return groups


def _name(text: str, y: float, anchor: str = "start") -> str:
    """Return the name of a line or a row, at the left or the right end."""
    x = LEFT if anchor == "start" else RIGHT
    return f'<text class="tick name" x="{x}%" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'


def _bins(marks: Sequence[Mark], scale: TimeScale) -> list[tuple[float, list[Mark]]]:
    """Return the stretches of the line that have marks: where each begins, in percent, and its marks.

    One of them ends at the PIT, so that none holds marks from both sides of it.
    """
    origin = 0.0 if scale.pit is None else scale.share(scale.pit) * _BINS % 1
    bins: dict[int, list[Mark]] = {}
    for mark in marks:
        # Rounded, or a mark at the PIT itself may fall behind it.
        place = round(scale.share(mark.at.timestamp()) * _BINS - origin, 9)
        bins.setdefault(math.ceil(place) - 1, []).append(mark)
    return [(LEFT + (number + origin) * _WIDTH, group) for number, group in sorted(bins.items())]


def _link(group: Sequence[Mark], x: float, top: float, height: float, what: str = "") -> str:
    """Return the opening tag of a link to the oldest of the marks of a bin, and the area that takes the pointer."""
    first = min(group, key=lambda mark: mark.at)
    when = f"{on_new_york_clock(first.at):%a %-d %b %Y, %H:%M}"
    label = f"{what}{f'{len(group)} from ' if len(group) > 1 else ''}{when}"
    area = f"<rect class=hit x={x:.2f}% y={top:g} width={_WIDTH:.2f}% height={height:g} />"
    return f'<a href="#{first.anchor}"><title>{label}</title>{area}'  # a title is also the accessible name


def _bars(marks: Sequence[Mark], scale: TimeScale, base: float) -> Iterator[str]:
    """Yield a bar for each stretch of the line that has items."""
    bins, height = _bins(marks, scale), base - TOP
    most = max(len(group) for _, group in bins)
    for x, group in bins:
        yield _link(group, x, TOP, height)
        place, top = f"x={x + 0.1:.2f}% width={_WIDTH - 0.2:.2f}% rx=2", base
        for look in LOOKS:
            part = (height - 8) * sum(mark.look == look for mark in group) / most
            top -= part
            if part:
                yield f'<rect class="{look_class(look, "bar")}" {place} y={top:.1f} height={part:.1f} />'
        yield "</a>"


def _mark_rows(rows: dict[str, list[Mark]], scale: TimeScale, top: float) -> Iterator[str]:
    """Yield a row for each kind: its name, and a mark for each stretch of the line that has items of it."""
    for number, (kind, marks) in enumerate(rows.items()):
        base, name = top + _ROW * (number + 1), escape(kind or OTHER)
        yield f'<line class="axis" x1="{LEFT}%" x2="{RIGHT}%" y1="{base:g}" y2="{base:g}"/>'
        for x, group in _bins(marks, scale):
            look = min((mark.look for mark in group), key=LOOKS.index)
            yield _link(group, x, base - _ROW, _ROW, f"{name}, ")
            at = scale.x(min(mark.at for mark in group).timestamp())
            yield f'<line class="{look_class(look, "mark")}" x1={at}% x2={at}% y1={base - 11:g} y2={base - 5:g} /></a>'
        yield _name(kind or OTHER, base - _ROW + 13)


def _stops(marks: Sequence[Mark], scale: TimeScale, top: float, base: float) -> Iterator[str]:
    """Yield a link for each stretch of a line that has items. It becomes visible under the pointer."""
    for x, group in _bins(marks, scale):
        yield f"{_link(group, x, top, base - top)}</a>"
