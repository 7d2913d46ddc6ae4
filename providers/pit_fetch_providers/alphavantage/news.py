"""NEWS_SENTIMENT: articles by their time of publication, in UTC, and the windows that reach all of them.

The zone is undocumented. It is UTC by elimination: a feed fetched at 21:01 in New York held 23:05 (recorded). Scores
and summaries are computed later, and may be computed again, so they are left out with a PIT.

>>> str(stamped({"time_published": "20240215T143000"})), stamped({"time_published": "2024-02-15"})
('2024-02-15 14:30:00+00:00', None)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pit_fetch.provider import Query, Record
from pit_fetch.times import end_of_day, end_of_minute
from pit_fetch_providers.alphavantage.function import FunctionReply, Row
from pit_fetch_providers.shared import UNREADABLE, fields

LIMIT = 1000  # maximum number of articles in one reply (documentation)
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
# An article with a date only is public at the end of its day, but sorted at its start.
SLACK = timedelta(days=1)

_STAMP = re.compile(r"[0-9]{8}T[0-9]{6}")

PLAIN = (
    *fields("title url time_published", lists="authors", required="title time_published"),
    *fields("banner_image source category_within_source source_domain"),
)
COMPUTED = (
    *fields("summary", number="overall_sentiment_score"),
    *fields("overall_sentiment_label", lists="ticker_sentiment"),
)
# Of what the source calls topics and ticker_sentiment the names alone are plain.
NAMES = fields(lists="topics tickers topic_relevance")


def records(reply: FunctionReply) -> Iterator[Record]:
    """Yield one record for each article."""
    for _, row in reply.rows:
        url = None if row is None else row.get("url")
        if row is None or not isinstance(url, str):
            yield UNREADABLE
        else:
            payload = _payload(row, reply.query.open_mode)
            yield Record(f"NEWS_SENTIMENT:{url}", published(row, reply), payload)


def published(row: Row, reply: FunctionReply) -> datetime | None:
    """Return the latest instant that ``time_published`` can mean.

    Midnight to the second is a date only: the end of that day. A whole minute is a time without seconds (recorded: 26
    of 50 stamps in 2025, 5 of 50 in 2026): the end of that minute.
    """
    stamp = stamped(row)
    if stamp is None:
        return None
    return end_of_day(stamp.date(), UTC) if f"{stamp:%H%M%S}" == "000000" else end_of_minute(stamp)


def stamped(row: Row) -> datetime | None:
    """Return ``YYYYMMDDTHHMMSS`` as written, in UTC; None for any other text."""
    text = row.get("time_published")
    try:
        # strptime alone is lenient: it takes blanks, other scripts' digits and a small t.
        if not isinstance(text, str) or not _STAMP.fullmatch(text):
            return None
        return datetime.strptime(text, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def reached(public: Sequence[Record]) -> datetime | None:
    """Return the stamp of the last public article of a reply, which is how far back the reply goes.

    ``public`` are the articles that were public when they were asked for. Withheld, unreadable or off-subject
    articles must not move the window. The last one counts, not the oldest: a single stamp out of order must not skip
    articles that were not read.
    """
    return stamped(public[-1].payload) if public else None


def window(query: Query) -> tuple[datetime, datetime]:
    """Return the first and the last minute to ask for."""
    # The source sorts an article with a date only at the start of its day. So one that is available at the first
    # instant of a day is found at the start of the day before.
    since = EARLIEST if query.since is None else query.since - timedelta(microseconds=1)
    first = since.replace(hour=0, minute=0, second=0, microsecond=0)
    return first, query.horizon.replace(second=0, microsecond=0) + MINUTE


def spelled(moment: datetime) -> str:
    """Return ``moment`` as ``time_from`` and ``time_to`` take it."""
    return f"{moment:%Y%m%dT%H%M}"


def _payload(row: Row, open_mode: bool) -> dict[str, Any]:
    plain = [field.name for field in PLAIN if field.name in row or not field.is_required]
    payload = {"record_type": "article", **{name: row.get(name) for name in plain}}
    payload["topics"] = _names(row.get("topics"), "topic")
    payload["tickers"] = _names(row.get("ticker_sentiment"), "ticker")
    if open_mode:
        payload |= {field.name: row.get(field.name) for field in COMPUTED}
        payload["topic_relevance"] = row.get("topics")
    return payload


def _names(rows: Any, key: str) -> list[str]:
    rows = rows if isinstance(rows, list) else []
    return [row[key] for row in rows if isinstance(row, dict) and isinstance(row.get(key), str)]
