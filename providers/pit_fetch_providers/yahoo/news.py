"""Turn Yahoo's articles into records, public from the later of their two times. Pure.

A time on a whole minute counts from its end: 63 of 179 recorded times of the older search are written without seconds.
``displayTime`` can be days after ``pubDate`` (recorded: 2025-12-31T17:56:38Z and 2026-01-03T14:07:21Z): the article
was published again, or edited, and the text served is that of the later time. ``pubDate`` alone is a claim.

>>> [article] = read(b'{"news": [{"uuid": "a", "title": "Acme", "providerPublishTime": 1708030800}]}')
>>> str(article.available_at)
'2024-02-15 21:00:59.999999+00:00'
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Record, UpstreamError
from pit_fetch.times import end_of_minute, parse_rfc3339
from pit_fetch.wire import lenient_json
from pit_fetch_providers.shared import UNREADABLE, text_or_none, texts_in


def read(body: bytes) -> Iterator[Record]:
    """Yield the articles of a company's news page, or of a saved search (``v1/finance/search``)."""
    reply = lenient_json(body, 4)
    reply = reply if isinstance(reply, dict) else {}
    if isinstance(reply.get("news"), list):
        for row in reply["news"]:
            yield search_article(row) if isinstance(row, dict) else UNREADABLE
        return
    data = reply.get("data")
    ticker_stream = data.get("tickerStream") if isinstance(data, dict) else None
    stream = ticker_stream.get("stream") if isinstance(ticker_stream, dict) else None
    if not isinstance(stream, list):
        raise UpstreamError(Code.MALFORMED, problem="it has no stream of articles")
    for row in stream:
        row = row if isinstance(row, dict) else {}
        if not row.get("ad"):  # an advertisement may come between the articles
            yield article(row)


def article(row: Mapping[str, Any]) -> Record:
    """Return an article; without either of its times nothing shows when its text was public."""
    content = row.get("content")
    if not isinstance(content, dict):
        return UNREADABLE
    name = row.get("id") or content.get("id")
    if not isinstance(name, str):
        return UNREADABLE
    published, displayed = (parse_rfc3339(content.get(field)) for field in ("pubDate", "displayTime"))
    return Record(
        name,
        None if published is None or displayed is None else max(map(end_of_minute, (published, displayed))),
        {
            **texts_in(content, "title"),
            "summary": text_or_none(content.get("summary")),
            "url": _inner(content, "canonicalUrl", "url") or _inner(content, "clickThroughUrl", "url"),
            "publisher": _inner(content, "provider", "displayName"),
            "contentType": text_or_none(content.get("contentType")),
            "pubDate": text_or_none(content.get("pubDate")),
            "displayTime": text_or_none(content.get("displayTime")),
        },
        claimed_at=None if published is None else end_of_minute(published),
    )


def search_article(row: Mapping[str, Any]) -> Record:
    """Return an article of the older search. Its one time is that of the last update (recorded of an edited story)."""
    name, seconds = row.get("uuid"), row.get("providerPublishTime")
    if not isinstance(name, str):
        return UNREADABLE
    moment = None
    if isinstance(seconds, int) and 10**8 < seconds < 10**10:
        moment = datetime.fromtimestamp(seconds, UTC)
    return Record(
        name,
        None if moment is None else end_of_minute(moment),
        {
            **texts_in(row, "title"),
            "summary": None,
            "url": text_or_none(row.get("link")),
            "publisher": text_or_none(row.get("publisher")),
            "contentType": text_or_none(row.get("type")),
            "pubDate": None,
            "displayTime": None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        },
    )


def _inner(content: Mapping[str, Any], name: str, field: str) -> str | None:
    value = content.get(name)
    return text_or_none(value.get(field)) if isinstance(value, dict) else None
