"""Benzinga news (``GET /api/v2/news``): the latest revision of each article, newest first.

``available_at`` is ``created``, the publication; ``revised_at`` is ``updated``. The API serves only
the latest revision, so an article that was edited after the PIT is withheld: 19 of 113 recorded
articles had been edited more than a minute after publication, one of them 339 days after.

Stamps are RFC 2822 with a constant ``-0400``, in winter too, and that offset is the true one
(article 43201565: ``16:21:28 -0400`` over REST is ``20:21:28Z`` over the WebSocket).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

from pit_fetch.provider import (
    Context,
    Credential,
    Gap,
    Host,
    Option,
    Provider,
    Query,
    Rate,
    Record,
    UpstreamError,
    gap,
)
from pit_fetch.times import NEW_YORK, in_new_york, parse_rfc2822, wall_clock
from pit_fetch.wire import strict_json

PAGE_SIZE = 100
# The API answers HTTP 400 where page x pageSize exceeds 10,000.
PAGES_PER_WINDOW = 100
DEFAULT_LOOKBACK_MINUTES = 1440

# Whole words and phrases, matched like --keywords. A new theme is a new row.
THEMES: Mapping[str, tuple[str, ...]] = {
    "macro": (
        "fed", "federal reserve", "fomc", "powell", "ecb", "bank of japan", "interest rate", "interest rates",
        "rate cut", "rate hike", "treasury yield", "treasury yields", "inflation", "cpi", "ppi", "pce", "gdp",
        "payrolls", "nonfarm payrolls", "unemployment", "jobless claims", "retail sales", "ism", "pmi", "recession",
        "tariff", "tariffs", "macro",
    ),
    "oil": (
        "oil", "crude", "crude oil", "brent", "wti", "opec", "opec+", "barrel", "barrels", "petroleum", "gasoline",
        "diesel", "refinery", "oil prices", "eia",
    ),
}  # fmt: skip

_TAG = re.compile(r"<[^>]*>")


def fetch(query: Query, context: Context) -> Iterator[Record | Gap]:
    """Pages of the window, newest first; the window shrinks where the API's ceiling would cut it."""
    start, end = _window(query)
    if start is not None and start > end:
        return
    first, last = _day(start or end, -1), _day(query.horizon, 1)
    while True:
        previous: list[Any] = []
        oldest: datetime | None = None
        for page in range(PAGES_PER_WINDOW):
            rows = _page(context, _parameters(query, first, last, page))
            records = [_record(row, query) for row in rows]
            yield from records
            # The whole page, not its ids: how many withheld rows have none, or were seen before, must not decide.
            if rows == previous and len(rows) == PAGE_SIZE:
                raise UpstreamError("paging")
            previous = rows
            oldest = min((r.available_at for r in records if r.available_at), default=oldest)
            if len(rows) < PAGE_SIZE:
                return
        # The zone of dateTo is undocumented: the day after the oldest one holds it in every zone.
        shrunk = last if oldest is None else _day(oldest, 1)
        if shrunk >= last:
            yield gap("provider_ceiling")
            return
        last = shrunk


def read(body: bytes, query: Query) -> Iterator[Record]:
    """The records of one raw reply: an array of articles, or ``{"items": […]}``."""
    reply = strict_json(body)
    if isinstance(reply, dict) and isinstance(reply.get("items"), list):
        reply = reply["items"]
    for row in _rows(reply):
        yield _record(row, query)


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
    phrases = (options["keywords"], tuple(word for name in options["themes"] or () for word in THEMES[name]))
    wanted = [words for words in phrases if words]
    return not wanted or _mentions(item, wanted)


def _shares(wanted: Iterable[str], present: Iterable[str]) -> bool:
    return not {name.casefold() for name in wanted}.isdisjoint(name.casefold() for name in present)


def _mentions(item: Mapping[str, Any], groups: Iterable[tuple[str, ...]]) -> bool:
    """Whether the article's text holds a phrase of every group, as whole words."""
    import html

    parts = (item["title"], item["teaser"], _TAG.sub(" ", item["body"]), " ; ".join(item["tags"]))
    text = html.unescape(" ; ".join(parts))
    return all(_phrases(words).search(text) for words in groups)


@lru_cache(maxsize=8)
def _phrases(words: tuple[str, ...]) -> re.Pattern[str]:
    spelled = (r"\s+".join(re.escape(part) for part in word.split()) for word in words)
    return re.compile(rf"(?<!\w)(?:{'|'.join(spelled)})(?!\w)", re.IGNORECASE)


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


def _page(context: Context, parameters: Mapping[str, str]) -> list[Any]:
    reply = context.http.get(
        "Benzinga",
        "/api/v2/news",
        {"token": context.credentials["token"], **parameters},
        {"Accept": "application/json"},
    )
    if reply.status == 404:
        return []
    if reply.status in (401, 403):
        raise _refused()
    body = None
    if reply.status != 200:
        with contextlib.suppress(UpstreamError):
            body = strict_json(reply.body)
        if _is_access_denied(body):
            raise _refused()
        raise UpstreamError("http_status", host="Benzinga", status=reply.status)
    return _rows(strict_json(reply.body))


def _rows(reply: Any) -> list[Any]:
    """The articles of a decoded reply. Errors come as a list of one string, too, which is no data."""
    if _is_access_denied(reply):
        raise _refused()
    if not isinstance(reply, list):
        raise UpstreamError("malformed", problem="it is no array of articles")
    if reply and all(isinstance(row, str) for row in reply):
        raise UpstreamError("malformed", problem="it holds a message and no articles")
    return reply


def _is_access_denied(reply: Any) -> bool:
    if isinstance(reply, dict) and isinstance(reply.get("errors"), list):
        return any(isinstance(error, dict) and error.get("code") == "auth_failed" for error in reply["errors"])
    return isinstance(reply, list) and len(reply) == 1 and str(reply[0]).startswith("Access denied")


def _refused() -> UpstreamError:
    return UpstreamError("credential_refused", host="Benzinga", variables=" or ".join(_TOKEN.variables))


def _record(row: Any, query: Query) -> Record:
    """One article. Without both stamps it is undated: an unknown revision may be one from after the PIT."""
    if not isinstance(row, dict) or isinstance(row.get("id"), bool) or not isinstance(row.get("id"), (int, str)):
        return Record("", None, "provider_metadata", {})
    created, updated = _instant(row.get("created"), query), _instant(row.get("updated"), query)
    dated = created is not None and updated is not None
    payload = {
        "title": _text(row.get("title")),
        "teaser": _text(row.get("teaser")),
        "body": _text(row.get("body")),
        "url": _text(row.get("url")),
        "symbols": _names(row.get("stocks")),
        "channels": _names(row.get("channels")),
        "tags": _names(row.get("tags")),
        "created": None if created is None else in_new_york(created),
        "updated": None if updated is None else in_new_york(updated),
    }
    available_at = created if dated or query.pit is None else None
    return Record(str(row["id"]), available_at, "provider_metadata", payload, updated if dated else None)


def _instant(text: Any, query: Query) -> datetime | None:
    """The stamp's instant. In open mode a stamp without an offset is read as New York time; under a PIT it is none."""
    moment = parse_rfc2822(text)
    if moment is None and query.pit is None and isinstance(text, str):
        try:
            moment = wall_clock(datetime.strptime(text.strip(), "%a, %d %b %Y %H:%M:%S"), NEW_YORK)  # noqa: DTZ007
        except ValueError:
            return None
    return moment


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _names(rows: Any) -> list[str]:
    """The names of ``[{"name": …}, …]``."""
    if not rows or not isinstance(rows, list):
        return []
    return [row["name"] for row in rows if isinstance(row, dict) and isinstance(row.get("name"), str)]


_TOKEN = Credential(
    name="token",
    variables=("BENZINGANEWS_API_KEY", "BENZINGA_API_KEY"),
    hint="Keys come from Benzinga's API console.",
)

PROVIDER = Provider(
    name="bz-news-api",
    summary="Benzinga news articles, by ticker, channel, tag, keyword or theme",
    aliases=("benzinga", "benzinga-news"),
    fetch=fetch,
    read=read,
    select=select,
    hosts=(Host("Benzinga", "https://api.benzinga.com", "PIT_FETCH_BENZINGA_URL", Rate(calls=50)),),
    credentials=(_TOKEN,),
    options=(
        Option("tickers", "articles on any of these symbols", kind="list", metavar="AAPL,MSFT"),
        Option("channels", "in any of these channels (names or ids)", kind="list", metavar="News,Earnings"),
        Option("tags", "with any of these tags", kind="list"),
        Option("keywords", "that mention any of these words or phrases, as whole words", kind="list"),
        Option("themes", f"on any of these themes: {', '.join(THEMES)}", kind="list", choices=tuple(THEMES)),
        Option(
            "lookback_minutes",
            f"how far the window reaches back from its end without --date-from ({DEFAULT_LOOKBACK_MINUTES})",
            kind="integer",
        ),
        Option("updated_since", "last revised at or after; widens no window, see --date-from", kind="instant"),
    ),
    newest_first=True,
    page_size=PAGE_SIZE,
    fields=("title", "teaser", "body", "url", "symbols", "channels", "tags", "created", "updated"),
    help="""\
available_at is the publication (created), revised_at the last revision (updated). Benzinga serves
the latest revision only: with --pit, an article that was revised after the PIT is withheld.
""",
)
