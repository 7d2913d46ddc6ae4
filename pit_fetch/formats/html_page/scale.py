"""The axis of time in a figure, with its ticks and the PIT, as inline SVG. Pure.

Places along it are percentages, so that it fits any window while its texts keep their size.

>>> noon, pit = (datetime(2024, 2, 15, hour, tzinfo=UTC) for hour in (12, 22))
>>> scale = time_scale([noon], pit, lead=0)
>>> scale.x(noon.timestamp()), scale.x(pit.timestamp())
(1.5, 94.77)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from pit_fetch.times import NEW_YORK, on_new_york_clock

LEFT, RIGHT = 1.5, 98.5  # percent
TOP, AXIS_HEIGHT = 34, 42  # the room above what is drawn, for the PIT, and below it, for the ticks
_MOST_TICKS = 8
_AFTER = 0.04  # how much of the line lies beyond the PIT, where nothing later is shown
_LAST_BAR = 0.013  # and beyond the last item, where one is: bars are aligned with the PIT

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_STEPS = (
    *(n * _MINUTE for n in (1, 5, 15, 30)),
    *(n * _HOUR for n in (1, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 7, 14)),
)
_MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600)
# No tick may lie beyond the calendar, though the line itself may begin and end there.
_FIRST, _LAST = (datetime(*day, tzinfo=UTC).timestamp() for day in ((1, 1, 3), (9999, 12, 1)))


class TimeScale(NamedTuple):
    """A stretch of time, and the PIT, in Unix seconds."""

    start: float
    end: float
    pit: float | None = None

    def share(self, moment: float) -> float:
        """Return how far along the line a moment is, 0 to 1."""
        return (moment - self.start) / (self.end - self.start)

    def x(self, moment: float) -> float:
        """Return the place of a moment along the line, in percent."""
        return round(LEFT + self.share(moment) * (RIGHT - LEFT), 2)


def time_scale(instants: Sequence[datetime], pit: datetime | None, lead: float) -> TimeScale:
    """Return a scale with room for all ``instants`` and the PIT, and before them, ``lead`` of its length."""
    bounds = [instant.timestamp() for instant in (*instants, *([] if pit is None else [pit]))]
    start, end = min(bounds), max(bounds)
    end = max(end, start + _HOUR)  # one item alone would make a line without length
    if pit is not None:
        end += (end - start) * (_AFTER if end == pit.timestamp() else _LAST_BAR)
    return TimeScale(start - (end - start) * lead, end, None if pit is None else pit.timestamp())


def frame(scale: TimeScale, pit: datetime | None, base: float) -> tuple[str, str]:
    """Return what stands behind the items, the axis and the ground beyond the PIT, and before them, the PIT's line."""
    axis = "".join(_axis(scale, base))
    if pit is None:
        return axis, ""
    x, local = scale.x(pit.timestamp()), on_new_york_clock(pit)
    later = f'<rect class="later" x="{x}%" y="{TOP}" width="{max(RIGHT - x, 0):.2f}%" height="{base - TOP}"/>'
    # A narrow window has no room for the day, which the heading has as well.
    text = f'<tspan class="wide">{local:%a %-d %b %Y}, </tspan>{local:%H:%M:%S}'
    anchor, shift = ("end", -8) if x > 50 else ("start", 8)
    return later + axis, (
        f'<line class="pit" x1="{x}%" x2="{x}%" y1="14" y2="{base + 6}"/>'
        f'<circle class="pit" cx="{x}%" cy="14" r="4.5"/>'
        f'<text class="pit" x="{x}%" dx="{shift}" y="19" text-anchor="{anchor}">PIT {text}</text>'
    )


def _axis(scale: TimeScale, base: float) -> Iterator[str]:
    """Yield the line of time, with its ticks."""
    yield f'<line class="axis" x1="{LEFT}%" x2="{RIGHT}%" y1="{base}" y2="{base}"/>'
    for number, (moment, text) in enumerate(_ticks(scale)):
        x = scale.x(moment)
        anchor = "start" if x < 5 else "end" if x > 95 else "middle"
        # A narrow window shows every other text.
        kind = "tick wide" if number % 2 else "tick"
        yield f'<line class="axis" x1="{x}%" x2="{x}%" y1="{base}" y2="{base + 6}"/>'
        yield f'<text class="{kind}" x="{x}%" y="{base + 22}" text-anchor="{anchor}">{text}</text>'


def _ticks(scale: TimeScale) -> Iterator[tuple[float, str]]:
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


def _month_ticks(scale: TimeScale, midnight: datetime) -> Iterator[tuple[float, str]]:
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
