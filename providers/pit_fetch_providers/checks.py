"""What the bundled sources demand of the lists they are asked with."""

from __future__ import annotations

import re

from pit_fetch.provider import ConfigError, Query

_SEPARATED = re.compile(r"[\s;|]")


def check_tickers(query: Query) -> None:
    """Raises ConfigError for several tickers in one word: no source knows one of that name."""
    if any(map(_SEPARATED.search, query.options["tickers"] or ())):
        raise ConfigError("usage", text="--tickers is a list with commas between the tickers: AAPL,MSFT.")
