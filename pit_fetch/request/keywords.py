"""The options of a call as keyword arguments, for type checkers and editors.

No command imports it. The rows of :class:`Keywords` are written by ``python -m tests.repo.seal``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from os import PathLike
from types import EllipsisType
from typing import Literal, TypedDict

Text = str | int | float
Texts = str | Iterable[str]
Instant = str | int | date
Path = str | PathLike[str]


class Keywords(TypedDict, total=False):
    """The bundled sources' own options, as ``pit_fetch --source SOURCE --help`` lists them."""

    # <sealed>
    acceleration: Text | None
    accession: Text | None
    adjust: Text | None
    after_date: Instant | None
    agency: Text | None
    author: Text | None
    bioguide_id: Text | None
    calculations: Texts | None
    category: Text | None
    channels: Texts | None
    cik: Text | None
    ciks: Texts | None
    concept: Texts | None
    contract: Text | None
    date: Instant | None
    document: Text | None
    domain: Text | None
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
    ids: Texts | None
    index: Text | None
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
    report: Text | None
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
    source_country: Text | None
    source_lang: Text | None
    state: Text | None
    statement: Text | None
    story: int | None
    symbol: Text | None
    symbols: Texts | None
    tab: Text | None
    tags: Texts | None
    term: Text | None
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
    type: Text | None
    unit: Text | None
    updated_since: Instant | None
    url: Text | None
    vintage: Text | None
    window_size: int | None
    year: int | None
    # </sealed>


class FetchOptions(Keywords, total=False):
    """What :func:`pit_fetch.fetch`, ``diff``, ``explain`` and ``panel`` take alike, beside the source's own options.

    date_from, date_to  a New York day, or a full timestamp with its offset; a day includes all of it
    limit       without it 50 (of a panel, all), or what a settings file says; None is all, however many requests that
                takes
    newest      of each series, the items of so many newest periods: newest=1 of a statement is the newest one
    max_pages   the most pages of public records to read
    timeout     seconds for the whole fetch
    evidence    "claimed": also what only a claim dates, marked, where the operator grants it
    input_file  a raw reply, read instead of the network
    archive     the file that records every reply, and answers, too
    offline     answer from the archive alone
    fields      only these fields of each item

    None stands for an option that is not given, except for ``limit``. An option that takes several values accepts any
    iterable of strings.
    """

    date_from: Instant | None
    date_to: Instant | None
    limit: int | EllipsisType | None
    newest: int | None
    max_pages: int | None
    timeout: float | None
    evidence: Literal["proved", "claimed"] | None
    input_file: Path | None
    archive: Path | None
    offline: bool | None
    fields: Iterable[str] | None
