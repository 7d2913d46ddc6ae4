"""The honest sources by name, each with the function that makes its records."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

from tests.kit import awkward, cursors, forms, honest, living, markets, outsiders, strangers
from tests.kit.honest import KitSource


class Base(NamedTuple):
    make: Callable[..., KitSource]
    record: Any


BASES: Mapping[str, Base] = {
    "news": Base(partial(honest.news, newest_first=True), honest.article),
    "figures": Base(honest.figures, honest.vintage),
    "bars": Base(honest.bars, honest.bar),
    "calls": Base(honest.calls, honest.transcript),
    "filings": Base(honest.filings, honest.filing),
    "search": Base(honest.search, honest.hit),
    "profiles": Base(honest.profiles, honest.profile),
    "feeds": Base(honest.feeds, honest.item),
    "tables": Base(honest.tables, honest.rate),
    "posts": Base(honest.posts, honest.post),
    "trades": Base(markets.trades, markets.trade),
    "candles": Base(markets.candles, markets.candle),
    "quotes": Base(markets.quotes, markets.quote),
    "ledger": Base(markets.ledger, markets.entry),
    "deals": Base(markets.deals, markets.deal),
    "notices": Base(forms.notices, forms.notice),
    "positions": Base(strangers.positions, strangers.position),
    "gazette": Base(strangers.gazette, strangers.entry),
    "auctions": Base(strangers.auctions, strangers.auction),
    "bulletins": Base(strangers.bulletins, strangers.bulletin),
    "history": Base(strangers.history, strangers.revision),
    "threads": Base(living.threads, living.thread),
    "listed": Base(living.listed, None),
    "tokens": Base(partial(cursors.dispatches, "tokens", "cursor", newest_first=True), cursors.dispatch),
    "afters": Base(
        partial(cursors.dispatches, "afters", "after", following=cursors.by_last_row, newest_first=True),
        cursors.dispatch,
    ),
    "risings": Base(partial(cursors.dispatches, "risings", "after", following=cursors.by_last_row), cursors.dispatch),
    **{name: Base(make, None) for name, make in awkward.AWKWARD.items()},
    **{name: Base(partial(outsiders.outsider, name), None) for name in outsiders.AUTHORS},
    **{
        name: Base(partial(forms.releases, name), partial(forms.release, form=form))
        for name, form in forms.FORMS.items()
    },
}
