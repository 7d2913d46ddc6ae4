"""Worlds of Hacker News: posts that were made later, or written again; items that the request names."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

from tests.laws.refusals import Requests
from tests.laws.worlds import Case
from tests.providers.dated import Rows
from tests.providers.hackernews import server as hn

_MARGIN = timedelta(minutes=1)


def _hit(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    written = max(public, revised) if revised else public - _MARGIN
    return hn.hit(number, public - _MARGIN, written, title=text, url=f"https://example.com/{text[:30]}")


def _item(number: int, public: datetime, revised: datetime | None, text: str) -> dict[str, Any]:
    return hn.item(number, public - _MARGIN, title=text)


SEARCH = Rows(
    source="hackernews",
    words=("search", "query=oil"),
    app=hn.app,
    row=_hit,
    ids=lambda row: [str(row["objectID"])],
    stamps=("created_at_i", "updated_at"),
    texts=("title", "url", "author", "_tags", "objectID"),
    revised=True,
    choices={"type": [("--type", "story")], "author": [("--author", "pg")], "story": [("--story", "8863")]},
)
ITEMS = Rows(
    source="hackernews",
    words=("item", "ids=1,2,3,4,5,6,7,8,9,10,11,12,1000,1001,1002"),
    app=hn.app,
    row=_item,
    ids=lambda row: [],
    stamps=("time",),
    texts=("title", "by", "type"),
)


def make(rng: Random, most: int = 4) -> Case:
    return rng.choice((SEARCH, SEARCH, SEARCH, ITEMS)).make(rng, most)


def claimed(rng: Random) -> Case:
    return rng.choice((SEARCH, ITEMS)).claimed(rng)


undisturbed, LAWS = SEARCH.undisturbed, SEARCH.laws
REQUESTS = Requests(lambda asked: len(asked) > 1 and "search" in asked[-1].path)
