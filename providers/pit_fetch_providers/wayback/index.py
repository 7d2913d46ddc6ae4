"""Ask the index of captures (CDX) for the captures of an address up to an instant, and parse its rows.

The index lists the oldest capture first. Its shortcuts to the newest one look past the end of the interval that is
asked for: ``sort=closest`` answers with later captures, ``limit=-1`` with approximate ones. So the time up to the
instant is divided into intervals, and each is read whole, the newest first.

>>> row = parse_row("com,example)/news 20171120101500 https://www.example.com/news text/html 200 PAJWSPCRQ 61")
>>> row.id, public_from(row.captured_at).isoformat()
('20171120101500/https://www.example.com/news', '2017-11-20T10:20:01+00:00')
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

# A capture's stamp is that of the request's start, in whole seconds. An answer was never recorded to take longer.
MARGIN = timedelta(minutes=5)
SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
# The first year of the archive.
FIRST = datetime(1996, 1, 1, tzinfo=UTC)
ROWS = 10_000
# Beside its rows, a page of the index has an empty line and the key of the next page.
_MORE_LINES = 2
# How many days the intervals of one address, and of many, have; the last interval is the rest. An address has few
# captures in ten days, a host can have thousands in one.
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


class Interval(NamedTuple):
    """An interval of time in whole seconds, with both ends included."""

    first: datetime
    last: datetime


def public_from(captured_at: datetime) -> datetime:
    """Return when a capture counts as public, by its stamp alone."""
    return captured_at + SECOND + MARGIN


def intervals(query: Query, match: str) -> Iterator[Interval]:
    """Yield the intervals that hold each capture that can be public in the request's time, the newest first."""
    if query.horizon < FIRST + DAY:
        return
    last = _whole_second(query.horizon - MARGIN - SECOND)
    first = FIRST if query.since is None or query.since < FIRST + DAY else _whole_second(query.since - MARGIN - SECOND)
    for days in DAYS[match]:
        begin = last - timedelta(days=days)
        if begin <= first:
            break
        yield Interval(begin + SECOND, last)
        last = begin
    if first <= last:
        yield Interval(first, last)


def rows(context: Context, url: str, match: str, interval: Interval) -> Iterator[Row]:
    """Yield the readable rows of an interval, in the order of the index, page by page. Raise UpstreamError."""
    params = {
        "url": url, "matchType": match, "fl": ",".join(_FIELDS), "limit": str(ROWS), "showResumeKey": "true",
        "from": interval.first.strftime(_DIGITS), "to": interval.last.strftime(_DIGITS),
    }  # fmt: skip
    keys: set[str] = set()
    while True:
        body = api.index(context, params)
        if body.count(b"\n") > ROWS + _MORE_LINES:
            # 60 MB of rows that nobody asked for took 1.1 GB of memory.
            raise UpstreamError(Code.MALFORMED, problem="it has more rows than were asked for")
        lines, resume = _split_reply(body)
        for line in lines:
            row = parse_row(line)
            if row is not None and interval.first <= row.captured_at <= interval.last:
                yield row
        if not resume:
            return
        if resume in keys:
            raise UpstreamError(Code.PAGING)
        keys.add(resume)
        params["resumeKey"] = resume


def newest_first(context: Context, query: Query, url: str) -> Iterator[Row]:
    """Yield the captures of one address, the newest first."""
    host = address.host_key(url)
    for interval in intervals(query, "exact"):
        # The index lists a row up to three times.
        own = {row.id: row for row in rows(context, url, "exact", interval) if address.host_key(row.url) == host}
        yield from sorted(own.values(), key=lambda row: (row.captured_at, row.url), reverse=True)


def parse_rows(body: bytes) -> Iterator[Row | None]:
    """Yield the rows of one reply of the index; None for an unreadable one."""
    yield from map(parse_row, _split_reply(body)[0])


def _split_reply(body: bytes) -> tuple[list[str], str]:
    """Return the rows of a reply, and the key of the next page, which follows an empty line; "" on the last page."""
    text, _, key = body.decode("utf-8", "replace").replace("\r\n", "\n").partition("\n\n")
    return [line for line in text.split("\n") if line.strip()], key.strip()


def parse_row(line: str) -> Row | None:
    """Return the capture in a line of the index, with or without its leading key; None if it cannot be read."""
    # Recorded rows hold dates that do not exist, addresses of mail, and pieces of pages. They are not repaired.
    values = line.split(" ")[-len(_FIELDS) :]
    if len(values) != len(_FIELDS):
        return None
    timestamp, url, content_type, status, digest, length = values
    captured_at = parse_timestamp(timestamp)
    if captured_at is None or captured_at < FIRST or delayed(captured_at, SECOND + MARGIN) is None:
        return None
    if not address.is_web(url):
        return None
    return Row(captured_at, url, content_type, _number(status), digest, _number(length))


def parse_timestamp(text: str) -> datetime | None:
    if len(text) != 14 or not (text.isascii() and text.isdigit()):
        return None
    try:
        return datetime.strptime(text, _DIGITS).replace(tzinfo=UTC)
    except ValueError:
        return None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 15 else None


def _whole_second(moment: datetime) -> datetime:
    """Return the last whole second at or before ``moment``."""
    return moment.replace(microsecond=0)
