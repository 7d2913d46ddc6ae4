"""Checks of options that several bundled sources share."""

from __future__ import annotations

import re

from pit_fetch.provider import ConfigError, Query

_SEPARATED = re.compile(r"[\s;|]")


def check_tickers(query: Query) -> None:
    """Raise ConfigError for several tickers in one word: no source knows a ticker of that name."""
    if any(map(_SEPARATED.search, query.options["tickers"] or ())):
        raise ConfigError("usage", text="--tickers is a list with commas between the tickers: AAPL,MSFT.")
