"""Helpers that several bundled sources share."""

from __future__ import annotations

import re
from typing import Any, NoReturn

from pit_fetch.provider import ConfigError, HttpReply, Query, Record, UpstreamError
from pit_fetch.wire import strict_json

# A row without identity: the framework counts it as unreadable, and serves nothing of it.
UNREADABLE = Record("", None, "provider_metadata", {})

_SEPARATED = re.compile(r"[\s;|]")


def refuse(text: str) -> NoReturn:
    """Raise ConfigError for a request that makes no sense."""
    raise ConfigError("usage", text=text)


def check_tickers(query: Query) -> None:
    """Raise ConfigError for several tickers in one word: no source knows a ticker of that name."""
    if any(map(_SEPARATED.search, query.options["tickers"] or ())):
        refuse("--tickers is a list with commas between the tickers: AAPL,MSFT.")


def error_document(reply: HttpReply) -> Any:
    """Return the decoded body of an error reply; None if it is not JSON."""
    try:
        return strict_json(reply.body)
    except UpstreamError:
        return None


def text_or_none(value: object) -> str | None:
    """Return ``value`` if it is a text, and None for anything else."""
    return value if isinstance(value, str) else None
