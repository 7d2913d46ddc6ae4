"""Find the page that an address showed: read its newest captures one by one, along redirects, until one shows it.

Which captures are read depends only on the request and on captures that were public by its horizon. A capture that
proves to be later is yielded like any other record, and does not change which others are read.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from datetime import datetime

from pit_fetch.provider import Context, Query, Record
from pit_fetch_providers.wayback import address, api, capture, index, text
from pit_fetch_providers.wayback.capture import Capture

# The search ends after so many captures that do not show the page, of all addresses together.
MOST_TRIES = 8
# And after so many that are listed but cannot be read. They do not count as tries, since they may be of any time.
MOST_UNREAD = 50
MOST_REDIRECTS = 4
# With these an origin server refuses the archive's robot: such a capture shows nothing about the page.
_REFUSALS = frozenset({400, 401, 402, 403, 405, 406, 407, 408, 409, 412, 418, 421, 422, 423, 425, 426, 428, 429, 451})
_GONE = frozenset({404, 410})


def fetch(query: Query, context: Context) -> Iterator[Record]:
    """Yield the captures that are read, up to one that shows the page. Raise UpstreamError."""
    search = Search(query, context)
    yield from search.show(query.options["url"], None, ())
    if not search.has_asked:
        # A host that serves no captures must fail alike, whether or not the index lists one: ask for one in any case.
        # Its reply may be of any time, and is ignored.
        newest = next(index.intervals(query, "exact"), None)
        if newest is not None:
            api.capture(context, newest.last.strftime("%Y%m%d%H%M%S"), query.options["url"])


def keep_up_to_page(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the newest captures, up to one that shows the page: an archive holds the captures of many fetches."""
    for record in records:
        yield record
        # A capture that only its first sight in the archive dates may be older than what follows.
        if record.payload["shows"] in capture.SHOWN and record.first_seen_at is None:
            return


class Search:
    """The search for one page, with the number of captures that may still be tried, and that may still be unread."""

    def __init__(self, query: Query, context: Context) -> None:
        self.query, self.context = query, context
        self.tries, self.unread = MOST_TRIES, MOST_UNREAD
        self.has_asked = False

    def show(self, url: str, reached_at: datetime | None, path: tuple[str, ...]) -> Generator[Record, None, bool]:
        """Yield the captures of ``url`` that are read. Return whether the last one shows a page.

        ``path`` holds the keys of the addresses whose redirects led here, which were public from ``reached_at`` on.
        """
        path = (*path, address.key(url))
        shown: set[object] = set()
        for row in index.newest_first(self.context, self.query, url):
            if 0 in (self.tries, self.unread):
                return False
            if _is_refusal(row.status) or _content_key(row.status, row.digest) in shown:
                continue
            found = self.fetch_capture(row)
            if found is None:
                self.unread -= 1
                continue
            record = capture.record(found, reached_at)
            if record.available_at is None or record.available_at > self.query.horizon:
                yield record
                continue
            if found.target is not None and address.key(found.target) == path[-1]:
                # From http to https, or to www: the index lists the page itself under the same key.
                self.tries -= 1
                shown.add(_content_key(found.status, row.digest))
                continue
            yield record
            if found.shows in capture.SHOWN:
                return True
            self.tries -= 1
            shown.add(_content_key(found.status, row.digest))
            if self._leads_on(found, path) and (yield from self.show(found.target or "", record.available_at, path)):
                return True
        return False

    def fetch_capture(self, row: index.Row) -> Capture | None:
        self.has_asked = True
        reply = api.capture(self.context, row.timestamp, row.url)
        form: text.Form = self.query.options["as"]
        return None if reply is None else capture.read_capture(reply, row, form)

    def _leads_on(self, found: Capture, path: tuple[str, ...]) -> bool:
        return found.target is not None and len(path) <= MOST_REDIRECTS and address.key(found.target) not in path


def _is_refusal(status: int | None) -> bool:
    return status is not None and (status in _REFUSALS or status >= 500)


def _content_key(status: int | None, digest: str) -> object:
    """Return a key of what a capture shows: of captures with the same key, one is enough."""
    return status if status in _GONE else (status, digest)
