"""Adjust daily bars for the splits and dividends that were public at the PIT, and for no later ones. Pure.

The newest bar keeps its price as it was seen then. Each older bar is divided by the splits after it. For total
returns it is also reduced by the dividends after it, by the usual factor ``1 - dividend / close`` with the close of
the session before the ex-date. Bars come newest first, so one pass suffices.

>>> from datetime import datetime
>>> days = [(2024, 6, 10), (2024, 6, 7)]  # Nvidia's split of ten for one
>>> rows = [{"close": "121.79", "split_coefficient": "10.0"}, {"close": "1208.88", "split_coefficient": "1.0"}]
>>> bars = [Record(str(at), datetime(*at), row) for at, row in zip(days, rows, strict=True)]
>>> [bar.payload["close"] for bar in adjusted(iter(bars), "splits")]
['121.79', '120.888']
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple

from pit_fetch.provider import Field, Record

Mode = Literal["splits", "total"]

PRICES = ("open", "high", "low", "close")
FIELDS = (Field("adjustment"), Field("adjustment_factor", "number"))

_EXACT = Context(prec=28, rounding=ROUND_HALF_EVEN)
_MOST_DIGITS = 15  # beyond it no price, and no product of splits
# Ten significant digits are finer than any quote, and coarser than what 28 lose in some thousand factors.
_SHOWN = Context(prec=10, rounding=ROUND_HALF_EVEN)
_ONE, _NONE = Decimal(1), Decimal(0)


class _Scale(NamedTuple):
    """The factors that take a bar's prices and number of shares to those of the newest bar; None is unknown."""

    price: Decimal | None = _ONE
    shares: Decimal | None = _ONE
    # Paid per share of the older bar on the following day; its weight depends on the older bar's close.
    dividend: Decimal | None = _NONE


_UNKNOWN = _Scale(None, None, None)


def adjusted(bars: Iterator[Record], mode: Mode) -> Iterator[Record]:
    """Yield ``bars``, newest first, with prices and volumes in the terms of the newest one.

    ``adjustment_factor`` is the factor that a raw price was multiplied by. Where an event cannot be read, or a bar
    has no day of its own, the scale of every older bar is unknown. Its prices are then null, and never those of
    another scale.
    """
    scale, day = _Scale(), None
    for number, bar in enumerate(bars):
        if bar.available_at is None or (number and bar.available_at == day):
            scale = _UNKNOWN
        day = bar.available_at
        close = _number(bar.payload.get("close"))
        scale = scale._replace(price=_less_dividend(scale, close), dividend=_NONE)
        yield bar._replace(payload=_scaled(bar.payload, scale, mode))
        scale = _scale_before(bar.payload, scale, mode)


def _less_dividend(scale: _Scale, close: Decimal | None) -> Decimal | None:
    price, dividend = scale.price, scale.dividend
    if price is None or dividend == _NONE:
        return price
    if dividend is None or close is None or not _NONE < dividend < close:
        return None
    return _usable(_EXACT.multiply(price, 1 - _EXACT.divide(dividend, close)))


def _scale_before(payload: Mapping[str, Any], scale: _Scale, mode: Mode) -> _Scale:
    """Return the scale of the bar before the one in ``payload``, without the weight of the dividend."""
    split = _number(payload.get("split_coefficient"))
    if split is None or split <= 0 or scale.shares is None:
        return _UNKNOWN
    price = None if scale.price is None else _usable(_EXACT.divide(scale.price, split))
    dividend: Decimal | None = _NONE
    if mode == "total":
        paid = _number(payload.get("dividend_amount"))
        # The amount is for a share of its day; one of the day before has become ``split`` of them.
        dividend = None if paid is None else _EXACT.multiply(paid, split)
    return _Scale(price, _usable(_EXACT.multiply(scale.shares, split)), dividend)


def _scaled(payload: Mapping[str, Any], scale: _Scale, mode: Mode) -> dict[str, Any]:
    changed = {name: _times(payload[name], scale.price) for name in PRICES if name in payload}
    if "volume" in payload:
        changed["volume"] = _times(payload["volume"], scale.shares, whole=True)
    factor = None if scale.price is None else _text(scale.price)
    return {**payload, **changed, "adjustment": mode, "adjustment_factor": factor}


def _times(text: Any, factor: Decimal | None, whole: bool = False) -> str | None:
    """Return the number in ``text`` times ``factor``; the text itself for the factor 1, None if either is unknown."""
    number = _number(text)
    if number is None or factor is None:
        return None
    if factor == 1:
        return str(text)
    product = _EXACT.multiply(number, factor)
    return _text(product.to_integral_value(ROUND_HALF_EVEN) if whole else product)


def _text(value: Decimal) -> str:
    return format(value.normalize(_SHOWN), "f")


def _number(value: Any) -> Decimal | None:
    """Return the number in a text such as "170.1000"; None for anything else, and for a number beyond every price."""
    try:
        number = Decimal(value) if isinstance(value, str) and len(value) <= 24 else None
    except InvalidOperation:
        return None
    return None if number is None else _usable(number)


def _usable(number: Decimal) -> Decimal | None:
    return number if number.is_finite() and abs(number.adjusted()) < _MOST_DIGITS else None
