"""PITs with a zone in brackets mean the one instant at which the zone's clocks show them, or nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

from pit_fetch.support.bundled import gate

_ZONES = ("America/New_York", "Europe/London", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Casablanca", "UTC")
# Near the changes of these zones' clocks, where a wall clock may mean two instants or none.
_CHANGES = (datetime(2024, 3, 10, 7), datetime(2024, 11, 3, 6), datetime(2024, 4, 6, 15), datetime(2024, 10, 5, 15, 30))  # noqa: DTZ001 - UTC
_STEP = timedelta(minutes=15)


def law(rng: Random) -> int:
    """A wall clock is read as the only instant at which it was shown; an offset must be the one that it had then."""
    name = rng.choice(_ZONES)
    zone = ZoneInfo(name)
    wall = rng.choice(_CHANGES) + rng.randrange(-60, 60) * _STEP
    text = wall.isoformat()
    # Every instant that could be meant, found without any arithmetic in the zone.
    hours = (wall.replace(tzinfo=UTC) + step * _STEP for step in range(-64, 65))
    shown = [hour for hour in hours if hour.astimezone(zone).replace(tzinfo=None) == wall]
    expected = shown[0] if len(shown) == 1 else None
    assert gate.parse_pit(f"{text}[{name}]") == expected, (text, name)
    for hours_off in range(-12, 14):
        offset = f"{hours_off:+03d}:00"
        moment = gate.parse_iso8601(text + offset)
        assert gate.parse_pit(f"{text}{offset}[{name}]") == (moment if moment in shown else None), (text, offset, name)
    return 1
