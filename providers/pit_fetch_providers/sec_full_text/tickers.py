"""Map tickers to CIKs by the SEC's own file, which is today's list whatever the PIT."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pit_fetch.provider import Context, HttpReply, UpstreamError
from pit_fetch.wire import strict_json
from pit_fetch_providers.sec_full_text import edgar

_PATH = "/files/company_tickers.json"
_SECONDS_KEPT = 86_400.0


def ciks_of(tickers: Iterable[str], context: Context) -> set[int]:
    """Return the CIKs of ``tickers``; an unlisted ticker has none. The file is fetched once a day per user."""
    listed = context.http.get_cached(edgar.WWW, _PATH, _SECONDS_KEPT, decode)
    return {cik for ticker in tickers for cik in listed.get(_key(ticker), ())}


def decode(reply: HttpReply) -> Mapping[str, set[int]]:
    """Return the CIKs by ticker. Raise UpstreamError."""
    edgar.checked(reply, edgar.WWW)
    if edgar.is_missing(reply):
        raise edgar.moved(edgar.WWW)
    rows = strict_json(reply.body)  # {"0": {"cik_str": 320193, "ticker": "AAPL", "title": "Apple Inc."}, …}
    listed: dict[str, set[int]] = {}
    for row in rows.values() if isinstance(rows, dict) else ():
        if isinstance(row, dict) and isinstance(row.get("ticker"), str) and isinstance(row.get("cik_str"), int):
            listed.setdefault(_key(row["ticker"]), set()).add(row["cik_str"])
    if not listed:
        raise UpstreamError("malformed", problem="it is not a list of tickers")
    return listed


def _key(ticker: str) -> str:
    # The SEC writes BRK-B where others write BRK.B.
    return ticker.casefold().replace(".", "-")
