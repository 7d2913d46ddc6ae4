"""Tell from when a capture was public, and what kind of page it shows. Pure.

>>> from pit_fetch_providers.wayback.index import parse_row
>>> row = parse_row("20171120101500 https://www.example.com/news text/html 200 PAJWSPCRQ 61")
>>> stamps = {MEMENTO: "Mon, 20 Nov 2017 10:15:00 GMT", "x-archive-orig-date": "Mon, 20 Nov 2017 10:15:30 GMT"}
>>> reply = HttpReply(200, {**stamps, "content-type": "text/html"}, b"<p>News", datetime.now(UTC))
>>> found = read_capture(reply, row, "text")
>>> found.shows, found.public_from.isoformat(), found.content.text
('page', '2017-11-20T10:20:31+00:00', 'News')
"""

from __future__ import annotations

from base64 import b32encode
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from pit_fetch.provider import HttpReply, Query, Record
from pit_fetch.times import parse_date, parse_http_date, parse_rfc3339, start_of_day
from pit_fetch_providers.wayback import address, text
from pit_fetch_providers.wayback.api import MEMENTO, ORIGIN_DATES
from pit_fetch_providers.wayback.index import Row, public_from

# An origin's clock may be wrong by minutes, and a page that is fetched before midnight dated after it. More than this
# is a capture whose stamp is wrong: one of 1996 was found that holds a page of July 1997.
MOST_SKEW = timedelta(days=1)
# The first time zone in which a day begins is this much ahead of UTC.
_FIRST_ZONE = timedelta(hours=14)
# What a capture can show. A page or a file is what the address held. After any other, the capture before it is read,
# too.
PAGE, FILE = "page", "file"
SHOWN = (PAGE, FILE)
REDIRECT, ERROR, MISSING, WALL, SCRIPT, EMPTY = "redirect", "error", "missing", "wall", "script", "empty"
_REDIRECTS = (301, 302, 303, 307, 308)


class Capture(NamedTuple):
    """A capture as it was received. ``public_from`` is None if the capture's stamp proves to be wrong."""

    row: Row
    status: int
    shows: str
    public_from: datetime | None
    content: text.Content
    target: str | None = None
    digest_matches: bool = False


def read_capture(reply: HttpReply, row: Row, form: text.Form) -> Capture | None:
    """Return the capture that ``row`` lists; None if the reply is that of another one."""
    if parse_http_date(reply.header(MEMENTO)) != row.captured_at:
        return None
    content = text.read_content(reply.body, reply.header("Content-Type"), row.url, form)
    is_redirect = reply.status in _REDIRECTS
    return Capture(
        row=row,
        status=reply.status,
        shows=_kind(reply.status, content),
        public_from=public_instant(reply, row, content),
        content=content,
        target=address.resolve_link(row.url, _original_address(reply.header("Location")))
        if is_redirect
        else content.refresh,
        digest_matches=_digest(reply.body) == row.digest,
    )


def record(capture: Capture, reached_at: datetime | None) -> Record:
    """Return the record of a capture. ``reached_at`` is from when the redirects that led to it were public, if any."""
    available_at = capture.public_from
    if available_at is not None and reached_at is not None:
        available_at = max(available_at, reached_at)
    return Record(capture.row.id, available_at, _payload(capture))


def listed_record(row: Row, query: Query) -> Record:
    """Return the record of a row of the index: on a claim, since a stamp of the index can be half a year early."""
    payload = {
        "url": row.url,
        "captured_at": _format_time(row.captured_at),
        "status": row.status,
        "content_type": row.content_type,
        "digest": row.digest,
        "size": row.size,
    }
    at = public_from(row.captured_at)
    return Record(row.id, at if query.open_mode else None, payload, claimed_at=at)


def _payload(capture: Capture) -> dict[str, Any]:
    row, content = capture.row, capture.content
    return {
        "url": row.url,
        "captured_at": _format_time(row.captured_at),
        "status": capture.status,
        "shows": capture.shows,
        "redirects_to": capture.target,
        "content_type": content.content_type,
        "title": content.title,
        "published": content.published,
        "modified": content.modified,
        "digest": row.digest,
        "digest_matches": capture.digest_matches,
        "links": content.links,
        "text": content.text,
    }


def _format_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def public_instant(reply: HttpReply, row: Row, content: text.Content) -> datetime | None:
    """Return from when a capture counts as public; None if its stamp proves to be wrong.

    It counts from the latest of its stamp, which is that of the request's start, and the origin server's own dates. Its
    stamp is wrong if one of those, or a date in the page, is more than a day later.
    """
    dates = [parse_http_date(reply.header(name)) for name in ORIGIN_DATES if reply.header(name).strip()]
    known = [date for date in dates if date is not None]
    latest = row.captured_at + MOST_SKEW
    if len(known) < len(dates) or any(date > latest for date in known):
        return None
    if any(is_after(latest, stated) for stated in content.stated):
        return None
    return max(public_from(row.captured_at), *(public_from(date) for date in known), row.captured_at)


def is_after(moment: datetime, stated: str) -> bool:
    """Return whether a date that a page states is after ``moment`` in every time zone. An unreadable one is not."""
    exact = parse_rfc3339(stated)
    if exact is not None:
        return exact > moment
    day = parse_date(stated.strip()[:10])
    begin = None if day is None else start_of_day(day, UTC)
    # The zone is added to the moment: 0001-01-01, which systems without a date write, has no earlier instant.
    return begin is not None and begin > moment + _FIRST_ZONE


def _kind(status: int, content: text.Content) -> str:
    if status >= 400:
        return ERROR
    if status in _REDIRECTS or content.refresh:
        return REDIRECT
    if not content.is_text:
        return EMPTY if content.is_empty else FILE
    if content.is_access_wall:
        return WALL
    if content.is_missing:
        return MISSING
    if content.needs_script:
        return SCRIPT
    return EMPTY if content.is_empty else PAGE


def _original_address(location: str) -> str:
    """Return the address that a captured redirect leads to, without the archive's own address before it."""
    _, mark, rest = location.partition("/web/")
    digits, _, target = rest.partition("/")
    return target if mark and len(digits) >= 14 and digits[:14].isdigit() and target else location


def _digest(body: bytes) -> str:
    from hashlib import sha1

    return b32encode(sha1(body, usedforsecurity=False).digest()).decode()
