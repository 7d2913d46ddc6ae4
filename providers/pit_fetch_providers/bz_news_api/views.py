"""How Benzinga's replies look to a program as of an instant."""

from __future__ import annotations

from collections.abc import Generator
from datetime import timedelta

from pit_fetch.provider import Asked, HttpReply, Record, Row, View
from pit_fetch.times import parse_date
from pit_fetch_providers.bz_news_api import api, articles
from pit_fetch_providers.shared import refuse

# Of a page without a size, and the most of one (documentation); and how far its pages reach.
_SIZE, _MOST, _REACH = 15, 100, 10_000
# What an article has as of its last revision (documentation). Its latest revision alone is served.
_FIELDS = (
    "id", "original_id", "author", "created", "updated", "title", "teaser", "body", "url", "image", "channels",
    "stocks", "tags", "importance_rank",
)  # fmt: skip


def _page(asked: Asked) -> tuple[int, int]:
    """Return which of the articles that were public are asked for."""
    numbers = [asked.params.get(name, str(default)) for name, default in (("page", 0), ("pageSize", _SIZE))]
    if not all(number.isascii() and number.isdigit() for number in numbers):
        refuse("page and pageSize are whole numbers.")
    number, size = int(numbers[0]), min(int(numbers[1]), _MOST)
    if (number + 1) * size > _REACH:
        refuse(f"pages reach {_REACH:,} articles: narrow dateFrom and dateTo.")
    return number * size, size


def _pages(asked: Asked) -> Generator[HttpReply, int, None]:
    """Yield the pages of the window from its first on: which of them has which article depends on later ones."""
    last = asked.query.horizon.date() + timedelta(days=1)  # the zone of the API's day is undocumented
    given = parse_date(asked.params.get("dateTo"))
    window = {} if "date" in asked.params else {"dateTo": str(min(given or last, last))}
    for number in range(_REACH // _MOST):
        params = {**asked.params, **window, "page": str(number), "pageSize": str(_MOST)}
        rows = yield asked.context.http.get(api.HOST.name, asked.path, params, {"Accept": "application/json"})
        if rows < _MOST:
            return
    refuse(f"pages reach {_REACH:,} articles: narrow dateFrom and dateTo.")


def _article(asked: Asked) -> Generator[HttpReply, int, None]:
    yield asked.context.http.get(api.HOST.name, asked.path, asked.params, {"Accept": "application/json"})


def _record(row: Row, asked: Asked) -> Record:
    return articles.record(row.value, asked.query)


VIEWS = (
    View(api.HOST.name, "/api/v2/news/?", rows=("*",), record=_record, ask=_pages, page=_page, fields=_FIELDS),
    View(api.HOST.name, "/api/v2/news/[0-9]+", rows=("*",), record=_record, ask=_article, fields=_FIELDS),
)
