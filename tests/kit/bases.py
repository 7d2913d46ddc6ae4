"""The honest providers by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pit_fetch.paging import newest_first
from tests.kit.honest import Made, bars, calls, feeds, figures, filings, news, posts, profiles, search, tables
from tests.kit.markets import candles, deals, ledger, quotes, trades

BASES: Mapping[str, Callable[..., Made]] = {
    "news": lambda **more: news(order=newest_first, **more) if "order" not in more else news(**more),
    "figures": figures,
    "bars": bars,
    "calls": calls,
    "filings": filings,
    "search": search,
    "profiles": profiles,
    "feeds": feeds,
    "tables": tables,
    "posts": posts,
    "trades": trades,
    "candles": candles,
    "quotes": quotes,
    "ledger": ledger,
    "deals": deals,
}
