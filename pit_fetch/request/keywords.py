"""The options of the bundled sources as keyword arguments, for type checkers and editors.

The program itself never imports it. Written by ``python -m tests.repo.seal``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from os import PathLike
from typing import TypedDict

Text = str | int | float
Texts = str | Iterable[str]
Instant = str | int | date
Path = str | PathLike[str]


class Keywords(TypedDict, total=False):
    """Options by name. None stands for an option that is not given."""

    # <sealed>
    acceleration: Text | None
    accession: Text | None
    adjust: Text | None
    after_date: Instant | None
    bioguide_id: Text | None
    calculations: Texts | None
    channels: Texts | None
    cik: Text | None
    ciks: Texts | None
    concept: Texts | None
    contract: Text | None
    date: Instant | None
    document: Text | None
    domains: Texts | None
    entitlement: Text | None
    entity: Text | None
    exact: bool | None
    exchange: Text | None
    expiration: Instant | None
    extended_hours: Text | None
    fastdmatype: Text | None
    fastdperiod: Text | None
    fastkperiod: Text | None
    fastlimit: Text | None
    fastmatype: Text | None
    fastperiod: Text | None
    find: Text | None
    form: Text | None
    forms: Texts | None
    from_currency: Text | None
    from_symbol: Text | None
    horizon: Text | None
    interval: Text | None
    item: Text | None
    keywords: Text | Texts | None
    lang: Text | None
    lookback_minutes: int | None
    market: Text | None
    match: Text | None
    maturity: Text | None
    matype: Text | None
    max_results: int | None
    maximum: Text | None
    mode: Text | None
    month: Text | None
    nbdevdn: Text | None
    nbdevup: Text | None
    ohlc: Text | None
    op: Text | None
    outputsize: Text | None
    period: Text | None
    quarter: Text | int | None
    query: Text | Texts | None
    range: Texts | None
    recency: Text | None
    require_greeks: Text | None
    series_id: Text | None
    series_type: Text | None
    signalmatype: Text | None
    signalperiod: Text | None
    slowdmatype: Text | None
    slowdperiod: Text | None
    slowkmatype: Text | None
    slowkperiod: Text | None
    slowlimit: Text | None
    slowmatype: Text | None
    slowperiod: Text | None
    state: Text | None
    statement: Text | None
    symbol: Text | None
    symbols: Texts | None
    tab: Text | None
    tags: Texts | None
    themes: Texts | None
    tickers: Texts | None
    time_period: Text | None
    timeperiod1: Text | None
    timeperiod2: Text | None
    timeperiod3: Text | None
    title: Text | None
    to_currency: Text | None
    to_symbol: Text | None
    topics: Texts | None
    unit: Text | None
    updated_since: Instant | None
    url: Text | None
    vintage: Text | None
    window_size: int | None
    year: int | None
    # </sealed>
