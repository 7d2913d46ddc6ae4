"""Benzinga news (``GET /api/v2/news``): the latest revision of each article, newest first.

``available_at`` is ``created``, the publication; ``revised_at`` is ``updated``. The API serves only
the latest revision, so an article that was edited after the PIT is withheld: 19 of 113 recorded
articles had been edited more than a minute after publication, one of them 339 days after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pit_fetch.pit import verdict
from pit_fetch.provider import Context, Gap, Option, Provider, Query, Record, UpstreamError, gap
from pit_fetch.wire import lenient_json
from pit_fetch_providers.bz_news_api import api, articles
from pit_fetch_providers.bz_news_api.themes import THEMES, mentions

PAGE_SIZE = 100
# The API answers HTTP 400 where page x pageSize exceeds 10,000.
PAGES_PER_WINDOW = 100
# So many public articles in a row that stood there before are no page that shifted while it was read.
MOST_REPEATED = 100
DEFAULT_LOOKBACK_MINUTES = 1440


def fetch(query: Query, context: Context) -> Iterator[Record | Gap]:
    """Pages of the window, newest first; the window shrinks where the API's ceiling would cut it."""
    start, end = _window(query)
    if start is not None and start > end:
        return
    first, last = _day(start or end, -1), _day(query.horizon, 1)
    while True:
        window = _Window(query)
        for page in range(PAGES_PER_WINDOW):
            rows = api.page(context, _parameters(query, first, last, page))
            yield from window.of(rows)
            if len(rows) < PAGE_SIZE:
                return
        # The zone of dateTo is undocumented: the day after the last one reached holds it in every zone.
        shrunk = last if window.reached is None else _day(window.reached, 1)
        if shrunk >= last:
            yield gap("provider_ceiling")
            return
        last = shrunk


@dataclass
class _Window:
    """What was read of one window: the ids of its public articles, and how far back the pages have come."""

    query: Query
    seen: set[str] = field(default_factory=set)
    repeated: int = 0
    reached: datetime | None = None

    def of(self, rows: Sequence[Any]) -> Iterator[Record]:
        """The records of one page. Raises UpstreamError when the source says the same again and again.

        Whether it does is told by its public articles alone, counted across pages: what else stands on
        a page, how often, and where it ends must not decide.
        """
        records = [articles.record(row, self.query) for row in rows]
        pit = self.query.pit
        cutoff = None if pit is None else min(pit, self.query.started)
        for record in records:
            yield record
            if verdict(record, cutoff) == "public":
                self.repeated = self.repeated + 1 if record.id in self.seen else 0
                self.seen.add(record.id)
                if self.repeated == MOST_REPEATED:
                    raise UpstreamError("paging")
        stamps = sorted(record.available_at for record in records if record.available_at is not None)
        if stamps:
            # The middle one: a single stamp that is out of order must not skip what was not read.
            self.reached = stamps[len(stamps) // 2]


def read(body: bytes, query: Query) -> Iterator[Record]:
    """The records of one raw reply or export: an array of articles, alone or as ``items`` or ``data``."""
    in_object = body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    reply = lenient_json(body, 2 if in_object else 1)
    if isinstance(reply, dict):
        reply = next((reply[key] for key in ("items", "data") if isinstance(reply.get(key), list)), reply)
    rows = api.rows(reply)
    readable = [row for row in rows if row is not None]
    if readable and not any(articles.is_article(row) for row in readable):
        raise UpstreamError("malformed", problem="its rows are not articles, which have an id, created and a title")
    for row in rows:
        yield articles.record(row, query)


def select(query: Query, record: Record) -> bool:
    """The filters that are applied here: the exact window, and what the server does not (or may not) filter."""
    options = query.options
    start, end = _window(query)
    created, item = record.available_at, record.payload
    if created is not None and ((start is not None and created < start) or created > end):
        return False
    since = options["updated_since"]
    if since is not None and (record.revised_at is None or record.revised_at < since):
        return False
    channels = [name for name in options["channels"] or () if not name.isdigit()]
    if channels and not _shares(channels, item["channels"]):
        return False
    if options["tickers"] and not _shares(options["tickers"], item["symbols"]):
        return False
    if options["tags"] and not _shares(options["tags"], item["tags"]):
        return False
    themes = (THEMES.get(name.casefold(), (name,)) for name in options["themes"] or ())
    words = (*(options["keywords"] or ()), *(word for theme in themes for word in theme))
    return not words or mentions(item, words)


def when_empty(query: Query) -> str:
    """That the default window was all that was looked at; from the request alone."""
    if query.offline or query.since is not None or query.options["lookback_minutes"] is not None:
        return ""
    end = "now" if query.pit is None else "the PIT"
    if query.until is not None and query.until < query.now:
        end = "--date-to"
    hours = DEFAULT_LOOKBACK_MINUTES // 60
    return (
        f"Only the {hours} hours before {end} were looked at: --date-from or --lookback-minutes reaches further back."
    )


def _shares(wanted: Iterable[str], present: Iterable[str]) -> bool:
    return not {name.casefold() for name in wanted}.isdisjoint(name.casefold() for name in present)


def _window(query: Query) -> tuple[datetime | None, datetime]:
    """First and last instant asked for, on the publication. The look-back counts back from the window's end."""
    end = query.now if query.until is None else min(query.now, query.until)
    if query.since is not None:
        return query.since, end
    minutes = query.options["lookback_minutes"]
    if minutes is None:
        minutes = None if query.offline else DEFAULT_LOOKBACK_MINUTES
    if minutes is None:
        return None, end
    try:
        return end - timedelta(minutes=minutes), end
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC), end


def _day(moment: datetime, shift: int) -> date:
    """UTC's day, shifted to be on the safe side: the zone of the API's day boundary is undocumented."""
    try:
        return moment.date() + timedelta(days=shift)
    except OverflowError:
        return moment.date()


def _parameters(query: Query, first: date, last: date, page: int) -> dict[str, str]:
    parameters = {
        "page": str(page),
        "pageSize": str(PAGE_SIZE),
        "displayOutput": "full",
        "sort": "created:desc",
        "dateFrom": first.isoformat(),
        "dateTo": last.isoformat(),
    }
    for name in ("tickers", "channels"):
        if query.options[name]:
            parameters[name] = ",".join(query.options[name])
    return parameters


PROVIDER = Provider(
    name="bz-news-api",
    summary="Benzinga news articles, by ticker, channel, tag, keyword or theme",
    aliases=("benzinga", "benzinga-news"),
    fetch=fetch,
    read=read,
    select=select,
    when_empty=when_empty,
    hosts=(api.HOST,),
    credentials=(api.TOKEN,),
    options=(
        Option("tickers", "articles on any of these symbols", kind="list", metavar="AAPL,MSFT"),
        Option("channels", "in any of these channels (names or ids)", kind="list", metavar="News,Earnings"),
        Option("tags", "with any of these tags", kind="list"),
        Option("keywords", "that mention any of these words or phrases, as whole words", kind="list"),
        Option("themes", f"that mention a word of these themes ({', '.join(THEMES)}), or any other word", kind="list"),
        Option(
            "lookback_minutes",
            f"how far the window reaches back from its end without --date-from ({DEFAULT_LOOKBACK_MINUTES})",
            kind="integer",
        ),
        Option(
            "updated_since",
            "last revised at or after: a date, a time stamp or Unix seconds; widens no window, see --date-from",
            kind="instant",
        ),
    ),
    newest_first=True,
    page_size=PAGE_SIZE,
    fields=("title", "teaser", "body", "url", "symbols", "channels", "tags", "created", "updated"),
    help="""\
available_at is the publication (created), revised_at the last revision (updated). Benzinga serves
the latest revision only: with --pit, an article that was revised after the PIT is withheld.
--keywords and --themes are one list: an article that mentions any word of either is kept. They are
looked for in title, teaser, body, tags and channels. All other filters have to hold at once.
""",
)
