"""Worlds of Yahoo's charts that agree on what was traded by the PIT, and differ in splits, dividends and bars since.

Their prices are divided as Yahoo divides them, so every world shows other figures of the same past.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from math import prod
from random import Random
from typing import Any, NamedTuple

from pit_fetch.testing.server import App
from tests.laws.worlds import CANARY, NEW_YORK, PITS, Case, common, noise_count, options
from tests.providers.yahoo import server as yahoo
from tests.providers.yahoo.server import Company

_DAY = timedelta(days=1)
_OPENS, _EVENING = timedelta(hours=9, minutes=30), timedelta(hours=20)
# By interval, the days that its bars last.
_DAYS = {"1d": 1, "1wk": 7, "1mo": 31}
_QUOTED_IN_CENTS = date(2006, 1, 31)

_RATIOS = (
    *((2, 1), (3, 1), (3, 2), (4, 1), (7, 1), (10, 1), (15, 1), (20, 1), (50, 1), (121, 1), (300, 1)),
    *((1, 3), (1, 8), (1, 10), (1, 1000), (1281, 1000)),
)
# One of these leaves enough digits of a close with four decimals.
_SMALL = ((2, 1), (3, 1), (3, 2), (10, 1), (50, 1), (1, 10), (1281, 1000))
# What later splits make is in all no more than this: beyond it nothing is promised.
_MOST_DIVIDED = 2_000
# Closes, in ten-thousandths: around a dollar, below which they have four decimals, and around the most that is served.
_EDGES = (5_003, 9_967, 9_975, 9_976, 9_983, 10_000, 10_050, 10_100, 100_000_000, 100_000_050, 690_420_000)
# Of a close with four decimals, those around where half a cent is rounded to.
_PARTS = (1, 24, 25, 26, 49, 50, 74, 75, 76, 99)


class Split(NamedTuple):
    day: date
    numerator: int
    denominator: int


class Bar(NamedTuple):
    """A bar from ``day`` on, with its prices as they were traded in ten-thousandths of a dollar. The last is the close.

    Open, high and low may have four decimals: nothing is claimed of them.
    """

    day: date
    prices: tuple[int, int, int, int]

    def is_told(self) -> bool:
        """Return whether the close is within what is served: above a dollar, to half a cent."""
        return self.day >= _QUOTED_IN_CENTS and 10_025 < self.prices[3] <= 100_000_025


def shown(price: int, day: date, splits: Iterable[Split]) -> float:
    """Return a price as a chart shows it: divided by what came later, to six decimals, in single precision."""
    ratio = prod(Decimal(split.numerator) / split.denominator for split in splits if split.day > day)
    divided = float(round(Decimal(price) / 10_000 / ratio, 6))
    (single,) = struct.unpack("f", struct.pack("f", divided))
    return float(single)


def seconds(day: date, after: timedelta = _OPENS) -> int:
    return int((datetime.combine(day, time()) + after).replace(tzinfo=NEW_YORK).timestamp())


def claimed(rng: Random) -> Case:
    """Make charts of which the bars and splits up to the PIT are the same as they were traded."""
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    interval = rng.choice(("1d", "1d", "1wk", "1mo"))
    today = moment.astimezone(NEW_YORK).date()
    opens = _OPENS if interval == "1d" else timedelta(0)
    is_fine = rng.random() < 0.2
    bars, past = _bars(rng, moment, interval, is_fine=is_fine), [] if is_fine else _splits(rng, today)
    ids = [*(f"AAPL@{bar.day}" for bar in bars if not _splits_within(bar, interval, past) and bar.is_told())]
    ids += [f"AAPL@{split.day}#split" for split in past]

    def app(is_later: bool) -> App:
        most, ratios = (1, _SMALL) if is_fine else (3, _RATIOS)
        days = rng.sample((0, 1, 2, 3, 40, 700), rng.randint(0, most) if is_later else 0)
        splits = _bounded([*past, *(Split(today + n * _DAY, *rng.choice(ratios)) for n in sorted(days))])
        rows: list[tuple[Any, ...]] = [
            (seconds(bar.day, opens), *(shown(price, bar.day, splits) for price in bar.prices), *_unproved(rng))
            for bar in bars
        ]
        if is_later:
            rows += [
                _later_bar(rng, _newest(moment, interval), _DAYS[interval], opens) for _ in range(noise_count(rng))
            ]
        dividends: list[dict[str, Any]] = [
            {"date": seconds(today + rng.choice((-40, -1, 1)) * _DAY) + n, "amount": rng.choice((0.1, 7.77, CANARY))}
            for n in range(noise_count(rng) if is_later else 0)
        ]
        listed = [{"date": seconds(day), "numerator": over, "denominator": under} for day, over, under in splits]
        company = Company(bars=rng.sample(rows, len(rows)), splits=listed, dividends=dividends)
        return yahoo.app({"AAPL": company}, strict=rng.random() < 0.5)

    is_plain = rng.random() < 0.4
    words = ("--limit", "500", "--max-pages", "1000") if is_plain else options(rng, common(moment, ids, rng), 3)
    words = ("prices", "symbol=AAPL", "--interval", interval, *words)
    worlds = tuple(app(is_later) for is_later in (False, True, True, True))
    return Case("yahoo", pit, words, worlds, plain=frozenset(ids) if is_plain else None)


def none_yet(day: date) -> Sequence[Company]:
    """Return companies of whose charts nothing is claimed before ``day``: none, an index, and a listing of then."""
    bars = [(seconds(day + _DAY), 7, 7, 7, 7, 7, 7)]
    old = [(seconds(day - 9 * _DAY), 7, 7, 7, 7, 7, 7)]
    splits = [{"date": seconds(day + 2 * _DAY), "numerator": 2, "denominator": 1}]
    return [Company(), Company(bars=bars, splits=splits), Company(bars=old, kind="INDEX")]


def _bars(rng: Random, moment: datetime, interval: str, *, is_fine: bool) -> list[Bar]:
    """Return bars that were over by ``moment``, and some of before prices were in cents."""
    newest, length = _newest(moment, interval), _DAYS[interval] * _DAY
    days = [newest - n * length for n in rng.sample((0, 1, 2, 3, 9, 30), rng.choice((0, 1, 3, 6)))]

    def close() -> int:
        if is_fine:
            return rng.randrange(101, 30_000) * 100 + rng.choice(_PARTS)
        return rng.choice((*_EDGES, *((rng.randrange(202, 2_000_000) * 50,) * len(_EDGES))))

    def other() -> int:
        return rng.randrange(50, 90_000) * 100 + rng.choice(_PARTS)

    return [Bar(day, (other(), other(), other(), close())) for day in days]


def _bounded(splits: Sequence[Split]) -> Sequence[Split]:
    """Return the first of ``splits`` that divide by no more than is promised, however many of them a bar is before."""
    for count in range(len(splits), 0, -1):
        forward = prod(max(over / under, 1.0) for _, over, under in splits[:count])
        if forward <= _MOST_DIVIDED:
            return splits[:count]
    return ()


def _newest(moment: datetime, interval: str) -> date:
    """Return the day on which the newest bar begins that was over."""
    local = moment.astimezone(NEW_YORK)
    is_evening = interval == "1d" and local.replace(tzinfo=None) >= datetime.combine(local.date(), time()) + _EVENING
    return local.date() - (_DAYS[interval] - is_evening) * _DAY


def _splits(rng: Random, today: date) -> list[Split]:
    """Return splits whose day was over."""
    return [Split(today - n * _DAY, *rng.choice(_SMALL)) for n in rng.sample((1, 2, 5, 33), rng.choice((0, 1)))]


def _splits_within(bar: Bar, interval: str, splits: Iterable[Split]) -> bool:
    return any(bar.day < split.day < bar.day + _DAYS[interval] * _DAY for split in splits)


def _unproved(rng: Random) -> tuple[Any, Any]:
    """Return a volume and an adjclose, of which nothing is claimed."""
    return rng.choice((rng.randrange(10**9), None)), rng.choice((rng.random(), None, 777.0))


def _later_bar(rng: Random, newest: date, length: int, opens: timedelta) -> tuple[Any, ...]:
    """Return a bar that was not over, or one of too long ago to have been in cents."""
    day = rng.choice((newest + _DAY, newest + length * _DAY, newest + 400 * _DAY, date(2006, 1, 30), date(1990, 1, 2)))
    values = [rng.choice((777.77, None, CANARY, float("1e300"), 10**309, -1, 0)) for _ in range(6)]
    return (rng.choice((seconds(day, opens), seconds(day, opens), None, CANARY, 10**15)), *values)
