"""NEWS_SENTIMENT: articles by their time of publication, in UTC, and the windows that reach all of them.

The zone is undocumented; UTC by elimination: a feed fetched at 21:01 in New York held 23:05 (recorded).
Scores and summaries are computed later, and may be computed again, so they are left out under a PIT.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.provider import Query, Record
from pit_fetch.times import end_of_day
from pit_fetch_providers.alphavantage.reply import Row

LIMIT = 1000  # articles in one reply, at the most (documentation)
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)

PLAIN_FIELDS = (
    "title", "url", "time_published", "authors", "banner_image", "source", "category_within_source", "source_domain",
)  # fmt: skip
COMPUTED_FIELDS = ("summary", "overall_sentiment_score", "overall_sentiment_label", "ticker_sentiment")


def records(rows: Iterable[tuple[str, Row | None]], query: Query) -> Iterator[Record]:
    for _, row in rows:
        url = None if row is None else row.get("url")
        if row is None or not isinstance(url, str):
            yield Record("", None, "provider_metadata", {})
        else:
            yield Record(f"NEWS_SENTIMENT:{url}", published(row), "provider_metadata", _payload(row, query))


def published(row: Row) -> datetime | None:
    """The instant of ``time_published``. Midnight to the second is a date without a time: the end of that day."""
    stamp = stamped(row)
    return end_of_day(stamp.date(), UTC) if stamp is not None and is_date_only(row) else stamp


def is_date_only(row: Row) -> bool:
    return str(row.get("time_published")).endswith("T000000")


def stamped(row: Row) -> datetime | None:
    """``YYYYMMDDTHHMMSS`` as it stands, in UTC."""
    text = row.get("time_published")
    try:
        if not isinstance(text, str) or len(text) != 15:
            return None
        return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def window(query: Query) -> tuple[datetime, datetime]:
    """First and last minute to ask for. An article with a date only stands at the start of its day."""
    since = query.since
    first = EARLIEST if since is None else since.replace(hour=0, minute=0, second=0, microsecond=0)
    return first, query.horizon.replace(second=0, microsecond=0) + MINUTE


def spelled(moment: datetime) -> str:
    """As ``time_from`` and ``time_to`` take it."""
    return f"{moment:%Y%m%dT%H%M}"


def suffices(public: Collection[datetime], oldest: datetime, wanted: int) -> bool:
    """Whether nothing older than ``oldest`` can be among the ``wanted`` newest of all articles.

    An article with a date only is public at the end of its day but stands at its start, so the day of
    the last one wanted has to be complete.
    """
    if len(public) < wanted:
        return False
    last = sorted(public, reverse=True)[wanted - 1]
    return oldest < last.replace(hour=0, minute=0, second=0, microsecond=0)


def _payload(row: Row, query: Query) -> dict[str, Any]:
    payload = {"record_type": "article", **{name: row.get(name) for name in PLAIN_FIELDS}}
    payload["topics"] = _names(row.get("topics"), "topic")
    payload["tickers"] = _names(row.get("ticker_sentiment"), "ticker")
    if query.pit is None:
        payload |= {name: row.get(name) for name in COMPUTED_FIELDS}
        payload["topic_relevance"] = row.get("topics")
    return payload


def _names(rows: Any, key: str) -> list[str]:
    rows = rows if isinstance(rows, list) else []
    return [row[key] for row in rows if isinstance(row, dict) and isinstance(row.get(key), str)]
