"""The page that an address showed: its newest captures, one by one, until one shows it, along captured redirects.

Which captures are read depends on the request and on captures that were public by its horizon. One that proves to be
of a later time is yielded like any other record, and does not change which others are read.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from datetime import datetime

from pit_fetch.provider import Context, Query, Record
from pit_fetch_providers.wayback import address, api, capture, index, text
from pit_fetch_providers.wayback.capture import Capture

# Captures that do not show the page, of all addresses together, after which the search ends.
MOST_TRIES = 8
# Captures that are listed and cannot be read. They have a limit of their own: one may have held something later.
MOST_UNREAD = 50
MOST_REDIRECTS = 4
# The origin's refusals of a robot: such a capture is never the page, and shows nothing about it.
_REFUSALS = frozenset({400, 401, 402, 403, 405, 406, 407, 408, 409, 412, 418, 421, 422, 423, 425, 426, 428, 429, 451})
_GONE = frozenset({404, 410})


def fetch(query: Query, context: Context) -> Iterator[Record]:
    """Yield the captures that are read, up to one that shows the page. Raise UpstreamError."""
    search = _Search(query, context)
    yield from search.show(query.options["url"], None, ())
    if not search.has_asked:
        # Ask for one all the same: a host that serves no capture must fail alike, whether or not the index lists one.
        # The reply may be of any time, and is ignored.
        last = next(index.windows(query, "exact"), None)
        if last is not None:
            api.capture(context, last.last.strftime("%Y%m%d%H%M%S"), query.options["url"])


def up_to_a_page(records: Iterable[Record]) -> Iterator[Record]:
    """Yield the newest captures, the last of them one that shows the page: an archive holds those of many fetches.

    One that nothing but its first sight in the archive dates may be older than what follows, and ends nothing.
    """
    for record in records:
        yield record
        if record.payload["shows"] in capture.SHOWN and record.first_seen_at is None:
            return


class _Search:
    """The search for one page. ``tries`` is how many captures may still be read that do not show it.

    ``unread`` is how many may still be asked for that cannot be read.
    """

    def __init__(self, query: Query, context: Context) -> None:
        self.query, self.context = query, context
        self.tries, self.unread = MOST_TRIES, MOST_UNREAD
        self.has_asked = False

    def show(self, url: str, reached_at: datetime | None, path: tuple[str, ...]) -> Generator[Record, None, bool]:
        """Yield the captures of ``url`` that are read. Return whether the last one shows a page.

        ``path`` holds the keys of the addresses whose redirects led here, known since ``reached_at``.
        """
        path = (*path, address.key(url))
        shown: set[object] = set()
        for row in index.newest_first(self.context, self.query, url):
            if 0 in (self.tries, self.unread):
                return False
            if _is_refusal(row.status) or _likeness(row.status, row.digest) in shown:
                continue
            found = self._read(row)
            if found is None:
                self.unread -= 1
                continue
            record = capture.record(found, reached_at)
            if record.available_at is None or record.available_at > self.query.horizon:
                yield record
                continue
            if found.target is not None and address.key(found.target) == path[-1]:
                self.tries -= 1  # from http to https, or to www: the page itself is in the same index
                shown.add(_likeness(found.status, row.digest))
                continue
            yield record
            if found.shows in capture.SHOWN:
                return True
            self.tries -= 1
            shown.add(_likeness(found.status, row.digest))
            if self._leads_on(found, path) and (yield from self.show(found.target or "", record.available_at, path)):
                return True
        return False

    def _read(self, row: index.Row) -> Capture | None:
        self.has_asked = True
        reply = api.capture(self.context, row.timestamp, row.url)
        form: text.Form = self.query.options["as"]
        return None if reply is None else capture.read(reply, row, form)

    def _leads_on(self, found: Capture, path: tuple[str, ...]) -> bool:
        return found.target is not None and len(path) <= MOST_REDIRECTS and address.key(found.target) not in path


def _is_refusal(status: int | None) -> bool:
    return status is not None and (status in _REFUSALS or status >= 500)


def _likeness(status: int | None, digest: str) -> object:
    """Return a key that is equal for captures of which one is enough: of a page that is gone, say."""
    return status if status in _GONE else (status, digest)
