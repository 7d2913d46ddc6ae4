"""Worlds of Alpaca's news: articles that were published or edited later, by symbol and page by page."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.laws.refusals import Requests
from tests.providers.alpaca_news import server as alpaca
from tests.providers.dated import Rows


def _row(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    named = [["AAPL"], ["MSFT", "BTCUSD"], []][number % 3]
    return alpaca.article(number, public, revised, headline=text, content=text, symbols=named)


NEWS = Rows(
    source="alpaca_news",
    words=(),
    app=alpaca.app,
    row=_row,
    ids=lambda row: [str(row["id"])],
    stamps=("created_at", "updated_at"),
    texts=("headline", "content", "symbols", "id"),
    revised=True,
    choices={"symbols": [("--symbols", "AAPL"), ("--symbols", "BTCUSD,AAPL"), ("--symbols", "NONE")]},
    sizes=[{"pit_fetch_providers.alpaca_news:PAGE_SIZE": size} for size in (2, 5, 50)],
)
make, undisturbed, LAWS = NEWS.make, NEWS.undisturbed, NEWS.laws
REQUESTS = Requests(lambda asked: "page_token" in asked[-1].query)
