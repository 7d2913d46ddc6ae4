"""Leaks of stamps: a reading that is earlier than the latest one possible."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC
from typing import Any

from pit_fetch import times
from tests.laws.mutants.leak import in_module
from tests.laws.plant import Make

_BZ, _DAYS = ("bz-news-api: non-interference",), ("alphavantage: non-interference", "sec_full_text: non-interference")


def _first_pass(real: Any) -> Any:
    def wall_clock(naive: Any, zone: Any) -> Any:
        readings = (naive.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        return None if real(naive, zone) is None else min(readings)

    return wall_clock


def _respelled(respell: Callable[[str], str], *, if_readable: bool = False) -> Make:
    """A parser that reads a stamp as if it were written another way; ``if_readable``: of those that it reads at all."""

    def make(real: Any) -> Any:
        def parse(text: Any) -> Any:
            if not isinstance(text, str) or (if_readable and real(text) is None):
                return None
            return real(respell(text))

        return parse

    return make


def _turned(text: str) -> str:
    return text[:-5] + text[-5:].translate(str.maketrans("+-", "-+"))


_times = in_module("pit_fetch.times")

MUTANTS = (
    _times("the start of the day", "end_of_day", lambda real: lambda day, zone: times.start_of_day(day, zone), _DAYS),
    _times("the first pass of a repeated hour", "wall_clock", _first_pass, _DAYS),
    _times(
        "RFC 2822 without its offset",
        "parse_rfc2822",
        _respelled(lambda text: text[:-5] + "+0000", if_readable=True),
        _BZ,
    ),
    _times("RFC 2822 with the offset's sign turned", "parse_rfc2822", _respelled(_turned, if_readable=True), _BZ),
    _times("-0000 is UTC", "parse_rfc2822", _respelled(lambda text: text.replace("-0000", "+0000")), _BZ),
    _times("-00:00 is UTC", "parse_rfc3339", _respelled(lambda text: text.replace("-00:00", "Z")), _BZ),
    _times(
        "a wrong weekday is overlooked",
        "parse_rfc2822",
        _respelled(lambda text: re.sub("^[A-Z][a-z]{2}, ", "", text)),
        _BZ,
    ),
    _times(
        "a stamp without seconds is the start of its minute",
        "parse_rfc2822",
        _respelled(lambda text: re.sub("( [0-9]{2}:[0-9]{2}) ", r"\1:00 ", text)),
        ("corpus: no leak",),
    ),
)
