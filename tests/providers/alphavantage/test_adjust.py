"""As-of adjustment of alphavantage's daily bars, by tables that were worked out by hand, and end to end at a PIT."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pytest
from pit_fetch_providers.alphavantage.adjust import adjusted

from pit_fetch.provider import Record
from tests.providers.alphavantage import server as av
from tests.providers.alphavantage.server import Store, World, bar

NEWEST = datetime(2024, 2, 16, 1, tzinfo=UTC)
UNKNOWN = None

# One bar a row, newest first: (close, split, dividend) as they stood, then the close that is expected and its factor.
Row = tuple[str | None, str | None, str | None, str | None, str | None]


def _bar(number: int, close: str | None, split: str | None, dividend: str | None) -> Record:
    payload = {"close": close, "volume": "100", "split_coefficient": split, "dividend_amount": dividend}
    return Record(str(number), NEWEST - timedelta(days=number), payload, available_at_source="time_series_timestamp")


def _closes(rows: list[Row], mode: Literal["splits", "total"]) -> list[tuple[Any, Any]]:
    bars = iter([_bar(number, *row[:3]) for number, row in enumerate(rows)])
    return [(bar.payload["close"], bar.payload["adjustment_factor"]) for bar in adjusted(bars, mode)]


TABLES: dict[str, tuple[Literal["splits", "total"], list[Row]]] = {
    "nothing happened, and the texts stay as they are": ("total", [
        ("170.1000", "1.0", "0.0000", "170.1000", "1"), ("169.0000", "1.0", "0.0000", "169.0000", "1"),
    ]),
    "a split of two for one": ("splits", [
        ("50.0000", "1.0", "0.0", "50.0000", "1"), ("48.0000", "2.0", "0.0", "48.0000", "1"),
        ("100.0000", "1.0", "0.0", "50", "0.5"), ("90.0000", "1.0", "0.0", "45", "0.5"),
    ]),
    "one share for ten": ("splits", [
        ("20.0", "0.1", "0.0", "20.0", "1"), ("1.9", "1.0", "0.0", "19", "10"),
    ]),
    "two splits": ("splits", [
        ("10.0", "3.0", "0.0", "10.0", "1"), ("30.0", "2.0", "0.0", "10", "0.3333333333"),
        ("59.4", "1.0", "0.0", "9.9", "0.1666666667"),
    ]),
    "a dividend lowers what was before by its part of the close before: 1 - 1/50": ("total", [
        ("50.0", "1.0", "0.0", "50.0", "1"), ("49.0", "1.0", "1.0000", "49.0", "1"),
        ("50.0", "1.0", "0.0", "49", "0.98"), ("100.0", "1.0", "0.0", "98", "0.98"),
    ]),
    "which is not looked at where splits alone are asked for": ("splits", [
        ("49.0", "1.0", "1.0000", "49.0", "1"), ("50.0", "1.0", None, "50.0", "1"), (None, "1.0", "9", None, "1"),
    ]),
    "two dividends: 1 - 0.5/50, then times 1 - 1/40": ("total", [
        ("50.0", "1.0", "0.5", "50.0", "1"), ("50.0", "1.0", "1.0", "49.5", "0.99"),
        ("40.0", "1.0", "0.0", "38.61", "0.96525"),
    ]),
    "a dividend after a split: 1 - 0.5/50, then a half": ("total", [
        ("50.0", "1.0", "0.5", "50.0", "1"), ("50.0", "2.0", "0.0", "49.5", "0.99"),
        ("100.0", "1.0", "0.0", "49.5", "0.495"),
    ]),
    "both on one day: a share of 100 became two, each paid 1, so 1/2 times 1 - 2/100": ("total", [
        ("49.0", "2.0", "1.0", "49.0", "1"), ("100.0", "1.0", "0.0", "49", "0.49"),
        ("80.0", "1.0", "0.0", "39.2", "0.49"),
    ]),
    "a split that cannot be read": ("splits", [
        ("50.0", None, "0.0", "50.0", "1"), ("100.0", "1.0", "0.0", UNKNOWN, UNKNOWN),
        ("90.0", "1.0", "0.0", UNKNOWN, UNKNOWN),
    ]),
    "a split that is not one": ("splits", [("50.0", "0", "0.0", "50.0", "1"), ("9.0", "1.0", "0.0", None, None)]),
    "a word for a split": ("splits", [("50.0", "2:1", "0.0", "50.0", "1"), ("9.0", "1.0", "0.0", None, None)]),
    "no number for a split": ("splits", [("50.0", "NaN", "0.0", "50.0", "1"), ("9.0", "1.0", "0.0", None, None)]),
    "a split beyond sense": ("splits", [("50.0", "1e30", "0.0", "50.0", "1"), ("9.0", "1.0", "0.0", None, None)]),
    "a dividend that cannot be read": ("total", [
        ("50.0", "1.0", None, "50.0", "1"), ("100.0", "1.0", "0.0", None, None),
    ]),
    "a dividend below nothing": ("total", [("5.0", "1.0", "-1", "5.0", "1"), ("9.0", "1.0", "0", None, None)]),
    "a dividend of the whole price": ("total", [("5.0", "1.0", "9.0", "5.0", "1"), ("9.0", "1.0", "0", None, None)]),
    "a dividend before which there was no close": ("total", [
        ("5.0", "1.0", "1.0", "5.0", "1"), (None, "1.0", "0.0", None, None), ("9.0", "1.0", "0.0", None, None),
    ]),
    "a close that cannot be read costs no other bar its price": ("total", [
        ("5.0", "1.0", "0.0", "5.0", "1"), ("soon", "1.0", "0.0", None, "1"), ("9.0", "1.0", "0.0", "9.0", "1"),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_closes_by_hand(name: str) -> None:
    mode, rows = TABLES[name]
    assert _closes(rows, mode) == [row[3:] for row in rows]


def test_every_price_is_scaled_and_shares_the_other_way() -> None:
    prices = {"open": "90.0", "high": "110.0", "low": "80.0", "close": "100.0"}
    old = Record("1", NEWEST - timedelta(days=1), {
        **prices, "volume": "1001", "split_coefficient": "1.0", "dividend_amount": "0.0", "timestamp": "2024-02-14",
    }, available_at_source="time_series_timestamp")  # fmt: skip
    new = _bar(0, "45.0", "2.0", "1.0")
    assert dict(list(adjusted(iter([new, old]), "total"))[1].payload) == {
        "open": "44.1", "high": "53.9", "low": "39.2", "close": "49", "volume": "2002", "split_coefficient": "1.0",
        "dividend_amount": "0.0", "timestamp": "2024-02-14", "adjustment": "total", "adjustment_factor": "0.49",
    }  # fmt: skip
    # Dividends change no number of shares, and where only one of them cannot be read the shares are known.
    unread = [_bar(0, "45.0", "1.5", None), _bar(1, "60.0", "1.0", "0.0")]
    assert [bar.payload["volume"] for bar in adjusted(iter(unread), "total")] == ["100", "150"]


def test_a_session_that_is_missing_is_passed_over() -> None:
    """The close before a dividend is that of the last bar before it, whatever lies between."""
    friday, tuesday = _bar(9, "50.0", "1.0", "0.0"), _bar(5, "49.0", "1.0", "1.0")
    assert [bar.payload["close"] for bar in adjusted(iter([tuesday, friday]), "total")] == ["49.0", "49"]


@pytest.mark.parametrize("stamp", [None, NEWEST], ids=["without a day", "of a day that another bar has"])
def test_a_bar_without_a_day_of_its_own_is_of_no_known_scale(stamp: datetime | None) -> None:
    odd = _bar(1, "50.0", "2.0", "0.0")._replace(available_at=stamp)
    bars = [_bar(0, "50.0", "1.0", "0.0"), odd, _bar(2, "60.0", "1.0", "0.0")]
    assert [bar.payload["close"] for bar in adjusted(iter(bars), "splits")] == ["50.0", None, None]


# End to end.

CALL = ("TIME_SERIES_DAILY_ADJUSTED", "symbol=IBM")
EVENING = "2024-02-15T20:00:00-05:00"


def _row(day: str, close: str, split: str = "1.0", paid: str = "0.0000") -> av.Bar:
    return bar(day, close, adjusted_close="9.1", dividend_amount=paid, split_coefficient=split)


PAST = [
    _row("2024-02-15", "49.0000", paid="0.9800"), _row("2024-02-14", "98.0000", split="0.5"),
    _row("2024-02-13", "25.0000"), _row("2024-02-12", "24.0000"),
]  # fmt: skip


def _closes_at(world: World, *words: str, pit: str | None = EVENING) -> list[Any]:
    return [item["close"] for item in world.fetch(*CALL, *words, pit=pit).data]


def test_the_newest_public_bar_stands_as_it_was_seen_then(tmp_path: Path) -> None:
    world = World(av.app(Store({CALL[0]: PAST})), tmp_path)
    assert _closes_at(world) == ["49.0000", "98.0000", "25.0000", "24.0000"]
    assert _closes_at(world, "adjust=splits") == ["49.0000", "98.0000", "50", "48"]
    assert _closes_at(world, "--adjust", "TOTAL") == ["49.0000", "97.02", "49.5", "47.52"]
    # A day earlier nobody has paid the dividend, and two days earlier nobody has joined the shares.
    assert _closes_at(world, "adjust=total", pit="2024-02-15T19:59:59-05:00") == ["98.0000", "50", "48"]
    assert _closes_at(world, "adjust=total", pit="2024-02-14T19:59:59-05:00") == ["25.0000", "24.0000"]
    assert "adjust" not in world.queries[-1]
