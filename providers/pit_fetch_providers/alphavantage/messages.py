"""Alpha Vantage's messages, by class. Nothing of them is ever repeated: one of them echoes the key. Pure.

The texts were recorded or quoted by clients between 2017 and 2026. Their order here matters: a
throttle text names the premium plans too, and one names the daily limit beside the per-second one.
"""

from __future__ import annotations

from typing import Literal

Meaning = Literal["refused", "throttled", "daily", "not_entitled", "no_function", "nothing", "bad_call", "unknown"]

_MARKS: tuple[tuple[Meaning, tuple[str, ...]], ...] = (
    ("refused", ("apikey is invalid", "invalid or missing", "demo** api key", "demo purposes", "invalid api key")),
    ("throttled", ("per second", "per minute", "burst pattern", "spreading out", "sparingly")),
    ("daily", ("per day", "daily rate limit", "daily limit")),
    ("not_entitled", ("premium endpoint", "premium feature", "artificial", "premium membership", "entitle")),
    ("no_function", ("this api function",)),
    ("nothing", ("no articles found", "no data for", "no data found", "no data available")),
    ("bad_call", ("invalid api call", "invalid inputs")),
    # The key under which the source complains about a call, whatever the text says.
    ("bad_call", ("error message:",)),
)


def meaning(message: str) -> Meaning:
    """What a message asks of the caller. An unknown text under "Error Message" is about the call."""
    text = message.casefold()
    return next((found for found, marks in _MARKS if any(mark in text for mark in marks)), "unknown")
