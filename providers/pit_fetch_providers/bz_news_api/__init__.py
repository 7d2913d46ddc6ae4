"""Benzinga news (``GET /api/v2/news``): the latest revision of each article, newest first.

``available_at`` is ``created``, the time of publication; ``revised_at`` is ``updated``. The API serves
only the latest revision, so an article edited after the PIT is withheld: 19 of 113 recorded articles
had been edited more than a minute after publication, one of them 339 days after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta

from pit_fetch.gaps import Code
from pit_fetch.paging import numbered
from pit_fetch.provider import (
    Archiving,
    Context,
    Dating,
    Gap,
    Listing,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Record,
    UpstreamError,
    gap,
)
from pit_fetch.wire import lenient_json
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.bz_news_api import api, articles
from pit_fetch_providers.bz_news_api.articles import THEMES, mentions
from pit_fetch_providers.shared import fields, views_of

PAGE_SIZE = 100
# The API answers HTTP 400 if page x pageSize exceeds 10,000.
PAGES_PER_WINDOW = 100
DEFAULT_LOOKBACK_MINUTES = 1440
# A stamp without seconds means the end of its minute, and may follow an earlier one.
_SLACK = timedelta(minutes=1)
# A share, or a coin with a dollar sign before it (recorded: $BTC, $ETH, $DOGE).
TICKER = r"\$?[A-Z0-9][A-Z0-9.:/_-]*"


def fetch(query: Query, context: Context) -> Iterator[Page | Gap]:
    """Yield pages of the window, newest first; the window is narrowed where the API's result cap cuts it off."""
    start, end = _window(query)
    if start is not None and start > end:
        return
    first, last = _day(start or end, -1), _day(query.horizon, 1)
    while True:
        parameters = _parameters(query, first, last)

        def page(number: int, window: Mapping[str, str] = parameters) -> list[Record]:
            rows = api.page(context, {**window, "page": str(number)})
            return [articles.record(row, query) for row in rows]

        cut = yield from numbered(page, size=PAGE_SIZE, most=PAGES_PER_WINDOW, newest_first=True, slack=_SLACK)
        if not cut:
            return
        reached = _reached(cut, query)
        # The zone of dateTo is undocumented: in any zone, the day after the last one reached includes it.
        shrunk = _day(reached, 1) if reached else last
        if shrunk >= last:
            yield gap(Code.RESULT_CAP)
            return
        last = shrunk


def _reached(cut: Sequence[Record], query: Query) -> datetime | None:
    """Return how far back the last page goes, by what is certainly public on it, or else by what claims to be.

    The middle stamp counts: a single one out of order must not skip unread articles.
    """
    bound = min(query.horizon, query.started)
    claimed = [
        record for record in cut if record.id and record.available_at is not None and record.available_at <= bound
    ]
    public = [record for record in claimed if record.revised_at is None or record.revised_at <= bound]
    stamps = sorted(record.available_at for record in public or claimed if record.available_at is not None)
    return stamps[len(stamps) // 2] if stamps else None


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the records of one raw reply or export: an array of articles, alone or as ``items`` or ``data``."""
    in_object = body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    reply = lenient_json(body, 2 if in_object else 1)
    if isinstance(reply, dict):
        reply = next((reply[key] for key in ("items", "data") if isinstance(reply.get(key), list)), reply)
    rows = api.rows(reply)
    if rows and not any(row is None or isinstance(row, dict) for row in rows):
        raise UpstreamError(Code.MALFORMED, problem="its rows are not articles")
    for row in rows:
        yield articles.record(row, query)


def select(query: Query, record: Record) -> bool:
    """Return whether an article is in the exact window and passes the filters that the server does not apply."""
    options = query.options
    start, end = _window(query)
    created, item = record.available_at, record.payload
    if created is not None and ((start is not None and created < start) or created > end):
        return False
    since = options["updated_since"]
    if since is not None and (record.revised_at is None or record.revised_at < since):
        return False
    channels = [name for name in options["channels"] or () if not name.isdigit()]
    filters = (channels, item["channels"]), (options["tickers"], item["symbols"]), (options["tags"], item["tags"])
    if any(wanted and not _is_any_in(wanted, present) for wanted, present in filters):
        return False
    themes = (THEMES.get(name.casefold(), (name,)) for name in options["themes"] or ())
    phrases = (*(options["keywords"] or ()), *(phrase for theme in themes for phrase in theme))
    return not phrases or mentions(item, phrases)


def _normalize(query: Query) -> Query:
    """Return the query. Raise ConfigError for a ticker that Benzinga cannot know."""
    symbols.check("--tickers", query.options["tickers"] or (), TICKER, "AAPL,MSFT, and coins as in $BTC")
    return query


def when_empty(query: Query) -> str:
    """Return how tickers are written, and that only the default window was searched; from the request alone."""
    tickers = "A ticker is written AAPL, a coin $BTC. " if query.options["tickers"] else ""
    if query.offline or query.since is not None or query.options["lookback_minutes"] is not None:
        return tickers.rstrip()
    end = "now" if query.open_mode else "the PIT"
    if query.until is not None and query.until < query.now:
        end = "--date-to"
    hours = DEFAULT_LOOKBACK_MINUTES // 60
    return tickers + (
        f"Only the {hours} hours before {end} were searched: use --date-from or --lookback-minutes to go further back."
    )


def _is_any_in(wanted: Iterable[str], present: Iterable[str]) -> bool:
    return not {name.casefold() for name in wanted}.isdisjoint(name.casefold() for name in present)


def _window(query: Query) -> tuple[datetime | None, datetime]:
    """Return the first and last instant of publication asked for. The look-back counts back from the window's end."""
    end = query.now if query.until is None else min(query.now, query.until)
    if query.since is not None:
        return query.since, end
    minutes = query.options["lookback_minutes"]
    if minutes is None and query.offline:
        return None, end
    try:
        return end - timedelta(minutes=DEFAULT_LOOKBACK_MINUTES if minutes is None else minutes), end
    except OverflowError:
        return datetime.min.replace(tzinfo=UTC), end


def _day(moment: datetime, shift: int) -> date:
    """Return the UTC day, shifted to be on the safe side: the zone of the API's day boundary is undocumented."""
    try:
        return moment.date() + timedelta(days=shift)
    except OverflowError:
        return moment.date()


def _parameters(query: Query, first: date, last: date) -> dict[str, str]:
    filters = {name: ",".join(query.options[name] or ()) for name in ("tickers", "channels")}
    return {
        "pageSize": str(PAGE_SIZE),
        "displayOutput": "full",
        "sort": "created:desc",
        "dateFrom": first.isoformat(),
        "dateTo": last.isoformat(),
        **{name: names for name, names in filters.items() if names},
    }


PROVIDER = Provider(
    views=views_of(__name__),
    name="bz-news-api",
    summary="Benzinga news articles, by ticker, channel, tag, keyword or theme",
    aliases=("benzinga", "benzinga-news"),
    select=select,
    when_empty=when_empty,
    hosts=(api.HOST,),
    credentials=(api.TOKEN,),
    options=(
        Option(
            "tickers",
            "articles about any of these symbols",
            kind="list",
            metavar="AAPL,MSFT",
            uppercase=True,
            affects_records=False,
            covered_by="superset",
            field="symbols",
            search_terms=search_terms.TICKERS,
        ),
        Option(
            "channels",
            "articles in any of these channels (names or ids)",
            kind="list",
            metavar="News,Earnings",
            search_terms="category categories section",
        ),
        Option("tags", "articles with any of these tags", kind="list", affects_records=False),
        Option(
            "keywords",
            "articles that mention any of these words or phrases, as whole words",
            kind="list",
            affects_records=False,
            search_terms=search_terms.KEYWORDS,
        ),
        Option(
            "themes",
            f"articles that mention a word of a theme ({', '.join(THEMES)}; any other is a word itself)",
            kind="list",
            affects_records=False,
            search_terms="topic topics",
        ),
        Option(
            "lookback_minutes",
            f"how far back from its end the window reaches without --date-from (default {DEFAULT_LOOKBACK_MINUTES})",
            kind="integer",
            affects_records=False,
            search_terms="window lookback look-back",
        ),
        Option(
            "updated_since",
            "last revised at or after: a date, a timestamp or Unix seconds; does not widen the window",
            kind="instant",
            affects_records=False,
        ),
    ),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=parse_reply,
            dating=Dating(
                rule="by created, the publication, and by updated, the last revision",
                why="the API serves the latest revision only",
                claims="created names the instant; title, body, symbols and tags may be those of a later revision "
                "(recorded: 19 of 113 articles, one 339 days later)",
            ),
            fields=fields(
                "title teaser body url",
                lists="symbols channels tags",
                instant="created updated",
                required=" ".join(articles.REQUIRED),
            ),
            normalize=_normalize,
            window="select",  # with the look-back, which counts back from the window's end
            archiving=Archiving(earliest=lambda query: _window(query)[0]),
        ),
    ),
    page_size=PAGE_SIZE,
    listing=Listing(search_terms="news"),
    help="""\
available_at is the publication (created), revised_at the last revision (updated). Benzinga serves
only the latest revision: with --pit, an article revised after the PIT is withheld.
--keywords and --themes form one list: an article that mentions any word of either is kept. The
title, teaser, body, tags and channels are searched. All other filters must match at the same time.
""",
)
