"""Worlds of Tiingo's news: links that were crawled later, whenever they were published."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from tests.laws.refusals import Requests
from tests.providers.dated import Rows
from tests.providers.tiingo_news import server as tiingo

_MARGIN = timedelta(seconds=5)


def _row(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    # The later of its two stamps counts: of every third row that is the publisher's.
    crawled, published = public - _MARGIN, public - _MARGIN - timedelta(hours=4 * (number % 3))
    if number % 3 == 1:
        crawled, published = published, crawled
    return tiingo.link(number, crawled, published, title=text, url=f"https://example.com/{text[:30]}/{number}")


NEWS = Rows(
    source="tiingo_news",
    words=(),
    app=tiingo.app,
    row=_row,
    ids=lambda row: [str(row["id"])],
    stamps=("crawlDate", "publishedDate"),
    texts=("title", "url", "tags", "id"),
    choices={"tickers": [("--tickers", "AAPL,MSFT")]},
    sizes=[{"pit_fetch_providers.tiingo_news:ROWS": size} for size in (2, 5, 100)],
)
make, undisturbed, claimed, LAWS = NEWS.make, NEWS.undisturbed, NEWS.claimed, NEWS.laws
REQUESTS = Requests(lambda asked: asked[-1].query.get("offset") != "0")
