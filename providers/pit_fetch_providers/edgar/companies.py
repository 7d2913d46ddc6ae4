"""Companies: the SEC's list of tickers and numbers, which is today's whatever the PIT."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, HttpReply, UpstreamError
from pit_fetch.wire import strict_json
from pit_fetch_providers.edgar import client
from pit_fetch_providers.edgar.numbers import CIK

TICKERS = "/files/company_tickers.json"
_TICKERS_KEPT_SECONDS = 86_400.0
# A ticker as the list writes it, or with a point for its hyphen.
TICKER = r"[A-Z0-9][A-Z0-9.-]*"
_CIK = re.compile(rf"(?:CIK)?0*({CIK})", re.IGNORECASE)


def parse_cik(text: str) -> int | None:
    """Return the number in ``text``, which may be written with CIK and leading zeros; None for anything else."""
    match = _CIK.fullmatch(text.strip())
    return int(match[1]) if match else None


def spelled(ticker: str) -> str:
    """Return a ticker as the SEC spells it: BRK-B, where others write BRK.B."""
    return ticker.upper().replace(".", "-")


def ciks_of(tickers: Iterable[str], context: Context, *, must_be_listed: bool = False) -> set[int]:
    """Return the CIKs of ``tickers``; an unlisted ticker has none. The file is fetched once a day per user.

    Raise UpstreamError, also for an unlisted ticker if all ``must_be_listed``.
    """
    listed = context.http.get_cached(client.WWW, TICKERS, _TICKERS_KEPT_SECONDS, _ciks_by_ticker)
    ciks = [listed.get(spelled(ticker), ()) for ticker in tickers]
    if must_be_listed and not all(ciks):
        raise UpstreamError(Code.BAD_CALL, host=client.WWW)
    return set[int]().union(*ciks)


def _ciks_by_ticker(reply: HttpReply) -> Mapping[str, Sequence[int]]:
    """Return the CIKs by ticker. Raise UpstreamError."""
    return _listed(client.required(reply, client.WWW).body)


@lru_cache(maxsize=16)  # an archive reads the same lists for each of its questions, and each takes 20 ms
def _listed(body: bytes) -> Mapping[str, Sequence[int]]:
    rows = strict_json(body)  # {"0": {"cik_str": 320193, "ticker": "AAPL", "title": "Apple Inc."}, …}
    listed: dict[str, list[int]] = {}
    for row in rows.values() if isinstance(rows, dict) else ():
        if isinstance(row, dict):
            ticker, cik = row.get("ticker"), row.get("cik_str")
            if isinstance(ticker, str) and isinstance(cik, int):
                listed.setdefault(spelled(ticker), []).append(cik)
    if not listed:
        raise UpstreamError(Code.MALFORMED, problem="it is not a list of tickers")
    return listed
