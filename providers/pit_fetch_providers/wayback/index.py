"""The index of captures (CDX): which requests show the captures of an address up to an instant, and its rows.

Its rows come oldest first, and its shortcuts to the newest look past the end of the window: ``sort=closest`` answers
with later captures, ``limit=-1`` with approximate ones. So windows are read whole, the newest first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Query
from pit_fetch.times import delayed
from pit_fetch_providers.wayback import address, api

# A capture counts from the end of its second and this much more, since its stamp is that of the request's start.
MARGIN = timedelta(minutes=5)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
# The first year of the archive.
FIRST = datetime(1996, 1, 1, tzinfo=UTC)
ROWS = 10_000
# An empty one, and the key of the rest.
_LINES_BESIDE = 2
# The days that the windows of a page, and of many pages, go back; the last window is the rest.
DAYS: Mapping[str, tuple[int, ...]] = {"exact": (10, 400), "prefix": (1, 10, 100, 1000), "host": (1, 10, 100, 1000)}

_FIELDS = ("timestamp", "original", "mimetype", "statuscode", "digest", "length")
_DIGITS = "%Y%m%d%H%M%S"


class Row(NamedTuple):
    """One capture, as the index lists it. ``status`` is None where it repeats an earlier capture's content."""

    captured_at: datetime
    url: str
    content_type: str
    status: int | None
    digest: str
    size: int | None

    @property
    def timestamp(self) -> str:
        """The fourteen digits by which the archive names the capture."""
        return self.captured_at.strftime(_DIGITS)

    @property
    def id(self) -> str:
        return f"{self.timestamp}/{self.url}"


class Window(NamedTuple):
    """A stretch of time, in whole seconds, both ends included."""

    first: datetime
    last: datetime


def public_from(captured_at: datetime) -> datetime:
    """Return when a capture counts as public, by its stamp alone."""
    return captured_at + SECOND + MARGIN


def windows(query: Query, match: str) -> Iterator[Window]:
    """Yield the windows that hold every capture which can be public in the request's time, the newest first."""
    if query.horizon < FIRST + DAY:
        return
    last = _whole(query.horizon - MARGIN - SECOND)
    first = FIRST if query.since is None or query.since < FIRST + DAY else _whole(query.since - MARGIN - SECOND)
    for days in DAYS[match]:
        begin = last - timedelta(days=days)
        if begin <= first:
            break
        yield Window(begin + SECOND, last)
        last = begin
    if first <= last:
        yield Window(first, last)


def rows(context: Context, url: str, match: str, window: Window) -> Iterator[Row]:
    """Yield the readable rows of a window, in the order of the index. Raise UpstreamError.

    An index that is cut at its limit names where it goes on. An unreadable row is left out. More rows than were asked
    for are not the index's: 60 MB of them took 1.1 GB of memory.
    """
    params = {
        "url": url, "matchType": match, "fl": ",".join(_FIELDS), "limit": str(ROWS), "showResumeKey": "true",
        "from": window.first.strftime(_DIGITS), "to": window.last.strftime(_DIGITS),
    }  # fmt: skip
    keys: set[str] = set()
    while True:
        body = api.index(context, params)
        if body.count(b"\n") > ROWS + _LINES_BESIDE:
            raise UpstreamError(Code.MALFORMED, problem="it has more rows than were asked for")
        lines, resume = _page(body)
        for line in lines:
            row = read_row(line)
            if row is not None and window.first <= row.captured_at <= window.last:
                yield row
        if not resume:
            return
        if resume in keys:
            raise UpstreamError(Code.PAGING)
        keys.add(resume)
        params["resumeKey"] = resume


def newest_first(context: Context, query: Query, url: str) -> Iterator[Row]:
    """Yield the captures of one address, the newest first, window by window."""
    host = address.host_key(url)
    for window in windows(query, "exact"):
        own = {row.id: row for row in rows(context, url, "exact", window) if address.host_key(row.url) == host}
        yield from sorted(own.values(), key=lambda row: (row.captured_at, row.url), reverse=True)


def read_rows(body: bytes) -> Iterator[Row | None]:
    """Yield the rows of one reply of the index; None for an unreadable one."""
    yield from map(read_row, _page(body)[0])


def _page(body: bytes) -> tuple[list[str], str]:
    """Return the lines of a reply, and the key of its continuation: the line behind an empty one."""
    text, _, key = body.decode("utf-8", "replace").replace("\r\n", "\n").partition("\n\n")
    return [line for line in text.split("\n") if line.strip()], key.strip()


def read_row(line: str) -> Row | None:
    """Return the capture in a line of the index, with or without its key; None if it is none.

    Real lines hold dates that do not exist, addresses of mail and pieces of pages. They are not repaired.
    """
    values = line.split(" ")[-len(_FIELDS) :]
    if len(values) != len(_FIELDS):
        return None
    timestamp, url, content_type, status, digest, length = values
    captured_at = read_timestamp(timestamp)
    if captured_at is None or captured_at < FIRST or delayed(captured_at, SECOND + MARGIN) is None:
        return None
    if not address.is_web(url):
        return None
    return Row(captured_at, url, content_type, _number(status), digest, _number(length))


def read_timestamp(text: str) -> datetime | None:
    if len(text) != 14 or not (text.isascii() and text.isdigit()):
        return None
    try:
        return datetime.strptime(text, _DIGITS).replace(tzinfo=UTC)
    except ValueError:
        return None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 15 else None


def _whole(moment: datetime) -> datetime:
    """Return the last whole second at or before ``moment``."""
    return moment.replace(microsecond=0)
