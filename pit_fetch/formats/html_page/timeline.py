"""The time line of a page: when items became public, up to the PIT and beyond it, as inline SVG. Pure.

Places along the line are percentages, so that it fits any window while its texts keep their size. A curve, which needs
numbers, has a drawing of its own within, and is stretched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Literal, NamedTuple, get_args

from pit_fetch.times import NEW_YORK, on_new_york_clock

HEIGHT = 210
_LEFT, _RIGHT = 1.5, 98.5  # percent
_TOP, _BASE = 34, 168
_CURVE_WIDTH = 1_000
_BINS = 80
_MOST_TICKS = 8
_AFTER = 0.04  # how much of the line lies beyond the PIT, where nothing later is shown

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_STEPS = (
    *(n * _MINUTE for n in (1, 5, 15, 30)),
    *(n * _HOUR for n in (1, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 7, 14)),
)
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600)
# No tick may lie beyond the calendar, though the line itself may begin and end there.
_FIRST, _LAST = (datetime(*day, tzinfo=UTC).timestamp() for day in ((1, 1, 3), (9999, 12, 1)))


# How an item is drawn: as usual, as one that only a claim dates, as one that a fetch does not show.
Kind = Literal["", "claimed", "grey"]
_KINDS: tuple[Kind, ...] = get_args(Kind)


class Mark(NamedTuple):
    """One item: its instant (aware), its anchor in the page, its figure if it has one, and how it is drawn."""

    at: datetime
    anchor: str
    value: float | None = None
    kind: Kind = ""


class _Scale(NamedTuple):
    start: float
    end: float

    def x(self, moment: float) -> float:
        """Return the place of a moment along the line, in percent."""
        return round(_LEFT + (moment - self.start) / (self.end - self.start) * (_RIGHT - _LEFT), 2)


def svg(marks: Sequence[Mark], pit: datetime | None, label: str) -> str:
    """Return the time line of ``marks``: a curve if they have figures, else bars of their number. "" without marks."""
    if not marks:
        return ""
    scale = _scale([mark.at.timestamp() for mark in marks], None if pit is None else pit.timestamp())
    with_figures = [mark for mark in marks if mark.value is not None]
    drawn = _curve(with_figures, scale) if len(with_figures) >= 5 else _bars(marks, scale)
    return (
        f'<svg width="100%" height="{HEIGHT}" role="group" aria-label="{escape(label)}">'
        f"{_area_after(scale, pit)}{''.join(_axis(scale))}{''.join(drawn)}{_line_at(scale, pit)}</svg>"
    )


def _scale(moments: Sequence[float], pit: float | None) -> _Scale:
    bounds = [*moments] if pit is None else [*moments, pit]
    start, end = min(bounds), max(bounds)
    end = max(end, start + _HOUR)
    if pit is not None and end == pit:
        end += (end - start) * _AFTER
    return _Scale(start - (end - start) * 0.01, end)


def _area_after(scale: _Scale, pit: datetime | None) -> str:
    if pit is None:
        return ""
    x = scale.x(pit.timestamp())
    return f'<rect class="later" x="{x}%" y="{_TOP}" width="{max(_RIGHT - x, 0):.2f}%" height="{_BASE - _TOP}"/>'


def _line_at(scale: _Scale, pit: datetime | None) -> str:
    if pit is None:
        return ""
    x, local = scale.x(pit.timestamp()), on_new_york_clock(pit)
    # A narrow window has no room for the day, which the heading has as well.
    text = f'<tspan class="wide">{local:%a %-d %b %Y}, </tspan>{local:%H:%M:%S}'
    anchor, shift = ("end", -8) if x > 50 else ("start", 8)
    return (
        f'<line class="pit" x1="{x}%" x2="{x}%" y1="14" y2="{_BASE + 6}"/>'
        f'<circle class="pit" cx="{x}%" cy="14" r="4.5"/>'
        f'<text class="pit" x="{x}%" dx="{shift}" y="19" text-anchor="{anchor}">PIT {text}</text>'
    )


def _bars(marks: Sequence[Mark], scale: _Scale) -> Iterator[str]:
    """Yield a bar for each stretch of the line that has items. It links to the oldest of them."""
    bins: dict[int, list[Mark]] = {}
    for mark in marks:
        share = (mark.at.timestamp() - scale.start) / (scale.end - scale.start)
        bins.setdefault(min(int(share * _BINS), _BINS - 1), []).append(mark)
    most, width = max(map(len, bins.values())), (_RIGHT - _LEFT) / _BINS
    for number, group in sorted(bins.items()):
        x, first = _LEFT + number * width, min(group, key=lambda mark: mark.at)
        when = f"{on_new_york_clock(first.at):%a %-d %b %Y, %H:%M}"
        label = f"{len(group)} from {when}" if len(group) > 1 else when
        yield f'<a href="#{group[-1].anchor}" aria-label="{label}"><title>{label}</title>'
        yield f"<rect class=hit x={x:.2f}% y={_TOP} width={width:.2f}% height={_BASE - _TOP} />"
        place, top = f"x={x + 0.1:.2f}% width={width - 0.2:.2f}% rx=2", float(_BASE)
        for kind in _KINDS:
            height = (_BASE - _TOP - 8) * sum(mark.kind == kind for mark in group) / most
            top -= height
            if height:
                yield f"<rect class={_classed('bar', kind)} {place} y={top:.1f} height={height:.1f} />"
        yield "</a>"


def _classed(name: str, kind: str) -> str:
    return f'"{name} {kind}"' if kind else name


def _curve(marks: Sequence[Mark], scale: _Scale) -> Iterator[str]:
    values = [mark.value or 0.0 for mark in marks]
    low, high = min(values), max(values)
    span = (high - low) or abs(high) or 1.0

    def y(value: float) -> float:
        return round(_BASE - 10 - (value - low) / span * (_BASE - _TOP - 24), 1)

    yield f'<svg width="100%" height="{HEIGHT}" viewBox="0 0 {_CURVE_WIDTH} {HEIGHT}" preserveAspectRatio="none">'
    for kind in _KINDS:
        group = sorted(_point(mark) for mark in marks if mark.kind == kind)
        points = [(_CURVE_WIDTH / 100 * scale.x(at), value) for at, value in group]
        line = " ".join(f"{x:g},{y(value):g}" for x, value in points)
        if points and not kind:
            yield f'<polygon class="area" points="{points[0][0]:g},{_BASE} {line} {points[-1][0]:g},{_BASE}"/>'
        if points:
            shape = "curve" if not kind else f"curve {kind}"
            yield f'<polyline class="{shape}" points="{line}" vector-effect="non-scaling-stroke"/>'
    yield "</svg>"
    last = max([mark for mark in marks if mark.kind != "grey"] or marks, key=lambda mark: mark.at)
    yield f'<circle class="tip" cx="{scale.x(last.at.timestamp())}%" cy="{y(last.value or 0.0)}" r="3.5"/>'
    for value, below in ((high, -6), (low, 13)):
        yield f'<text class="tick" x="{_LEFT}%" y="{y(value) + below:.1f}">{value:,.6g}</text>'


def _point(mark: Mark) -> tuple[float, float]:
    return mark.at.timestamp(), mark.value or 0.0


def _axis(scale: _Scale) -> Iterator[str]:
    yield f'<line class="axis" x1="{_LEFT}%" x2="{_RIGHT}%" y1="{_BASE}" y2="{_BASE}"/>'
    for number, (moment, text) in enumerate(_ticks(scale)):
        x = scale.x(moment)
        anchor = "start" if x < 5 else "end" if x > 95 else "middle"
        # A narrow window shows every other text.
        kind = "tick wide" if number % 2 else "tick"
        yield f'<line class="axis" x1="{x}%" x2="{x}%" y1="{_BASE}" y2="{_BASE + 6}"/>'
        yield f'<text class="{kind}" x="{x}%" y="{_BASE + 22}" text-anchor="{anchor}">{text}</text>'


def _ticks(scale: _Scale) -> Iterator[tuple[float, str]]:
    """Yield a few round times of New York's clock, as Unix seconds, each with its label."""
    span = scale.end - scale.start
    start = datetime.fromtimestamp(max(scale.start, _FIRST), NEW_YORK)
    midnight = start.replace(hour=0, minute=0, second=0, microsecond=0)
    step = next((step for step in _STEPS if span / step <= _MOST_TICKS), None)
    if step is None:
        yield from _month_ticks(scale, midnight)
        return
    at = midnight
    while at.timestamp() < min(scale.end, _LAST):
        if at.timestamp() >= scale.start:
            yield at.timestamp(), f"{at:%-d %b}" if at.hour + at.minute == 0 else f"{at:%H:%M}"
        at += timedelta(seconds=step)  # by the wall clock: a day is a day in the week of a clock change, too


def _month_ticks(scale: _Scale, midnight: datetime) -> Iterator[tuple[float, str]]:
    months = (scale.end - scale.start) / (30.4 * _DAY)
    step = next((step for step in _MONTHS if months / step <= _MOST_TICKS), _MONTHS[-1])
    number = midnight.year * 12 if step > 1 else midnight.year * 12 + midnight.month - 1
    while number // 12 <= 9_999:
        at = midnight.replace(year=number // 12, month=number % 12 + 1, day=1)
        if at.timestamp() >= scale.end:
            return
        if at.timestamp() >= scale.start:
            yield at.timestamp(), f"{at:%Y}" if step >= 12 else f"{at:%b %Y}"
        number += step
