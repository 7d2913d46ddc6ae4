"""The lines of a figure: what items say in numbers, over time, as inline SVG. Pure.

The curves, which need numbers along both axes, are a drawing of their own within the figure, and are stretched.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import NamedTuple

from pit_fetch.formats.html_page.marks import LOOKS, Mark, class_in
from pit_fetch.formats.html_page.scale import LEFT, RIGHT, TimeScale

_WIDTH = 1_000
_GRID = 4  # lines of the grid, about
_MOST_DOTS = 40
# Lines whose usual figures differ by more than this factor are drawn as their change since the first one.
_COMPARABLE = 3
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"))


class _Place(NamedTuple):
    """A mark's place and its estimate's: percent along, pixels down."""

    x: float
    y: float
    mark: Mark
    estimate: float | None


class _ValueScale(NamedTuple):
    """A range of figures, between two heights in the figure."""

    low: float
    high: float
    top: float
    base: float

    def y(self, value: float) -> float:
        return round(self.base - 12 - (value - self.low) / (self.high - self.low) * (self.base - self.top - 26), 1)


def lines(marks: Sequence[Mark], scale: TimeScale, box: tuple[float, float]) -> Iterator[str]:
    """Yield the lines of marks that have figures, between the heights of ``box``: one a series.

    What was estimated is drawn beside them. Each series has a class, which the legend repeats.
    """
    series, base = group_by_series(marks), box[1]
    is_change = is_relative(series)
    if is_change:
        series = {label: _changes(group) for label, group in series.items()}
    y_scale = _value_scale([mark for group in series.values() for mark in group], box)
    round_values = list(_round_values(y_scale))
    for value in round_values:
        yield f'<line class="axis" x1="{LEFT}%" x2="{RIGHT}%" y1="{y_scale.y(value)}" y2="{y_scale.y(value)}"/>'
    placed = [[_place(mark, scale, y_scale) for mark in group] for group in series.values()]
    yield f'<svg width="100%" height="{base:g}" viewBox="0 0 {_WIDTH} {base:g}" preserveAspectRatio="none">'
    for number, group in enumerate(placed):
        yield from _curves(group, number, base if len(placed) == 1 else None)
    yield "</svg>"
    for number, group in enumerate(placed):
        yield from _dots(group, number, few=len(marks) <= _MOST_DOTS)
    for value in round_values:
        text = f"{f'{value:+.4g}' if value else '0'} %" if is_change else short(value)
        yield f'<text class="tick figure" x="{LEFT}%" dx="4" y="{y_scale.y(value) - 4:.1f}">{text}</text>'


def _value_scale(marks: Sequence[Mark], box: tuple[float, float]) -> _ValueScale:
    values = [value for mark in marks for value in (mark.value, mark.estimate) if value is not None]
    low, high = min(values), max(values)
    room = 0.0 if high > low else (abs(low) or 1.0) / 2  # one figure alone is drawn in the middle
    return _ValueScale(low - room, high + room, *box)


def _place(mark: Mark, scale: TimeScale, y_scale: _ValueScale) -> _Place:
    estimate = None if mark.estimate is None else y_scale.y(mark.estimate)
    return _Place(scale.x(mark.at.timestamp()), y_scale.y(mark.value or 0.0), mark, estimate)


def group_by_series(marks: Sequence[Mark]) -> dict[str, list[Mark]]:
    """Return the marks that have figures by their series, in the alphabet's order, the oldest first."""
    series: dict[str, list[Mark]] = {}
    for mark in sorted(marks, key=lambda mark: mark.at):
        if mark.value is not None:
            series.setdefault(mark.series, []).append(mark)
    return dict(sorted(series.items()))


def is_relative(series: Mapping[str, Sequence[Mark]]) -> bool:
    """Return whether lines are drawn as their change, since one scale would make some of them flat."""
    values = [[mark.value or 0.0 for mark in group] for group in series.values()]
    if len(values) < 2 or any(value <= 0 for group in values for value in group):
        return False
    usual = [median(group) for group in values]  # a split or a spike of one line must not decide for all
    return max(usual) > _COMPARABLE * min(usual)


def class_of(number: int) -> str:
    """Return the class of a series, by its number."""
    return f" s{number}" if number else ""


def short(value: float) -> str:
    """Return a figure with few digits.

    >>> [short(value) for value in (182.5, 0.5, 119_575_000_000, -2_500_000)]
    ['182.5', '0.5', '119.6B', '-2.5M']
    """
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(value) >= size), (1.0, ""))
    return f"{value / size:,.4g}{unit}" if unit or abs(value) < 1_000 else f"{value:,.0f}"


def _changes(group: Sequence[Mark]) -> list[Mark]:
    """Return the marks with their change since the first, in percent."""
    first = group[0].value or 1.0
    return [
        mark._replace(
            value=((mark.value or 0.0) / first - 1) * 100,
            estimate=None if mark.estimate is None else (mark.estimate / first - 1) * 100,
        )
        for mark in group
    ]


def _round_values(scale: _ValueScale) -> Iterator[float]:
    """Yield a few round figures."""
    rough = (scale.high - scale.low) / _GRID
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.99)
    number = math.ceil(scale.low / step)
    while number * step <= scale.high:
        yield number * step
        number += 1


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_WIDTH / 100 * x:g},{y:g}" for x, y in places)


def _curve(places: Sequence[tuple[float, float]], kind: str) -> str:
    return f'<polyline class="{kind}" points="{_points(places)}" vector-effect="non-scaling-stroke"/>'


def _curves(group: Sequence[_Place], number: int, base: float | None) -> Iterator[str]:
    """Yield a line for each look in a series, and a ground below the usual one if it reaches down to ``base``."""
    for look in LOOKS:
        places = [(place.x, place.y) for place in group if place.mark.look == look]
        if places and base is not None and not look:
            ground = _points([(places[0][0], base), *places, (places[-1][0], base)])
            yield f'<polygon class="area" points="{ground}"/>'
        if places:
            yield _curve(places, class_in(look, f"curve{class_of(number)}"))
    estimates = [(place.x, place.estimate) for place in group if place.estimate is not None]
    if len(estimates) > _MOST_DOTS:
        yield _curve(estimates, f"curve estimate{class_of(number)}")


def _dots(group: Sequence[_Place], number: int, *, few: bool) -> Iterator[str]:
    """Yield a dot for each figure and a ring for each estimate, if they are few; else one for the newest figure."""
    public = [place for place in group if place.mark.look != "grey"]
    newest = (public or group)[-1]
    for place in group:
        if few and place.estimate is not None:
            yield f'<line class="stem" x1="{place.x}%" x2="{place.x}%" y1="{place.y}" y2="{place.estimate}"/>'
            yield f'<circle class="ring" cx="{place.x}%" cy="{place.estimate}" r="4"/>'
        if few or place is newest:
            dot = class_in(place.mark.look, f"tip{class_of(number)}")
            yield f'<circle class="{dot}" cx="{place.x}%" cy="{place.y}" r="3.5"/>'
