"""Any page of the web, for a program that may see the web as of an instant: the capture that showed it then."""

from __future__ import annotations

from urllib.parse import urlencode

from pit_fetch.provider import Asked, HttpReply, View
from pit_fetch_providers.page_text import require_parser
from pit_fetch_providers.wayback import address, api, capture, index, page


class _Search(page.Search):
    """The search of a fetch, which keeps the capture that it read last as it was received."""

    reply: HttpReply | None = None

    def fetch_capture(self, row: index.Row) -> capture.Capture | None:
        self.has_asked, self.reply = True, api.capture(self.context, row.timestamp, row.url)
        return None if self.reply is None else capture.read_capture(self.reply, row, "text")


def _page(asked: Asked) -> HttpReply | None:
    """Return the capture with its own bytes; None if none shows the page."""
    require_parser()
    query = f"?{urlencode(asked.params)}" if asked.params else ""
    url = address.parse(f"{asked.named['site']}{asked.path}{query}")
    search = _Search(asked.query._replace(options={**asked.query.options, "url": url}), asked.context)
    bound = min(asked.query.horizon, asked.query.started)
    for record in search.show(url, None, ()):
        is_public = record.available_at is not None and record.available_at <= bound
        if is_public and record.payload["shows"] in capture.SHOWN and search.reply is not None:
            kept = ("content-type", api.MEMENTO)
            return search.reply._replace(headers={name: search.reply.header(name) for name in kept})
    return None


VIEWS = (View(api.CAPTURES.name, ".*", "page", document=_page, at="(?P<site>.+)"),)
