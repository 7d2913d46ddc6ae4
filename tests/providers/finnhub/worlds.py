"""Worlds of Finnhub's news: articles that were published later, day by day; all of them are claims."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from tests.providers.dated import Rows
from tests.providers.finnhub import server as finnhub

_MARGIN = timedelta(minutes=15)


def _row(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    return finnhub.article(number, public - _MARGIN, headline=text, summary=text)


NEWS = Rows(
    source="finnhub",
    words=("news", "symbol=AAPL"),
    app=finnhub.app,
    row=_row,
    ids=lambda row: [],
    stamps=("datetime",),
    texts=("headline", "summary", "source", "id"),
    most=timedelta(days=8),
)
make, undisturbed, claimed, LAWS = NEWS.make, NEWS.undisturbed, NEWS.claimed, NEWS.laws
