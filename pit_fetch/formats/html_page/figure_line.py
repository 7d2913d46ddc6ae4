"""A line of a figure: what the items of a series say in numbers, over time, as inline SVG. Pure.

The curve, which needs numbers along both axes, is a drawing of its own within the figure, and is stretched.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pit_fetch.formats.html_page.marks import LOOKS, Mark, look_class
from pit_fetch.formats.html_page.scale import LEFT, RIGHT, TimeScale

_WIDTH = 1_000
_GRID = 4  # lines of the grid of a line alone, about
_MOST_DOTS = 40
_UNITS = ((1e12, "T"), (1e9, "B"), (1e6, "M"))


class _Point(NamedTuple):
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


def figure_line(marks: Sequence[Mark], scale: TimeScale, top: float, base: float) -> Iterator[str]:
    """Yield the line of a series, whose marks have figures, the oldest first, between two heights of the figure.

    It has a scale of its own. What was estimated is drawn beside it.
    """
    values = [value for mark in marks for value in (mark.value, mark.estimate) if value is not None]
    low, high = min(values), max(values)
    room = 0.0 if high > low else (abs(low) or 1.0) / 2  # one figure alone is drawn in the middle
    y_scale = _ValueScale(low - room, high + room, top, base)
    round_values = [*_round_values(y_scale)]
    for value in round_values:
        yield f'<line class="axis" x1="{LEFT}%" x2="{RIGHT}%" y1="{y_scale.y(value)}" y2="{y_scale.y(value)}"/>'
    points = [
        _Point(
            scale.x(mark.at.timestamp()),
            y_scale.y(mark.value or 0.0),
            mark,
            None if mark.estimate is None else y_scale.y(mark.estimate),
        )
        for mark in marks
    ]
    yield f'<svg width="100%" height="{base:g}" viewBox="0 0 {_WIDTH} {base:g}" preserveAspectRatio="none">'
    yield from _curves(points, base)
    yield "</svg>"
    yield from _dots(points, few=len(points) <= _MOST_DOTS)
    for value in round_values:
        yield f'<text class="tick figure" x="{LEFT}%" dx="4" y="{y_scale.y(value) - 4:.1f}">{short(value)}</text>'


def short(value: float) -> str:
    """Return a figure with few digits.

    >>> [short(value) for value in (182.5, 0.5, 119_575_000_000, -2_500_000)]
    ['182.5', '0.5', '119.6B', '-2.5M']
    """
    size, unit = next(((size, unit) for size, unit in _UNITS if abs(value) >= size), (1.0, ""))
    return f"{value / size:,.4g}{unit}" if unit or abs(value) < 1_000 else f"{value:,.0f}"


def _round_values(scale: _ValueScale) -> Iterator[float]:
    """Yield a few round figures, fewer where there is little height."""
    rough = (scale.high - scale.low) / (_GRID if scale.base - scale.top > 150 else 2)
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= rough * 0.99)
    number = math.ceil(scale.low / step)
    while number * step <= scale.high:
        yield number * step
        number += 1


def _curves(points: Sequence[_Point], base: float) -> Iterator[str]:
    """Yield a line for each look in a series, and a ground below the usual one."""
    for look in LOOKS:
        places = [(point.x, point.y) for point in points if point.mark.look == look]
        if places and not look:
            yield f'<polygon class="area" points="{_path([(places[0][0], base), *places, (places[-1][0], base)])}"/>'
        if places:
            yield _curve(places, look_class(look, "curve"))
    estimates = [(point.x, point.estimate) for point in points if point.estimate is not None]
    if len(estimates) > _MOST_DOTS:
        yield _curve(estimates, "curve estimate")


def _curve(places: Sequence[tuple[float, float]], classes: str) -> str:
    return f'<polyline class="{classes}" points="{_path(places)}" vector-effect="non-scaling-stroke"/>'


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_WIDTH / 100 * x:g},{y:g}" for x, y in places)


def _dots(points: Sequence[_Point], *, few: bool) -> Iterator[str]:
    """Yield a dot for each figure and a ring for each estimate, if they are few; else one for the newest figure."""
    for point in points:
        if few and point.estimate is not None:
            yield f'<line class="stem" x1="{point.x}%" x2="{point.x}%" y1="{point.y}" y2="{point.estimate}"/>'
            yield f'<circle class="ring" cx="{point.x}%" cy="{point.estimate}" r="4"/>'
        if few or point is points[-1]:
            yield f'<circle class="{look_class(point.mark.look, "tip")}" cx="{point.x}%" cy="{point.y}" r="3.5"/>'
