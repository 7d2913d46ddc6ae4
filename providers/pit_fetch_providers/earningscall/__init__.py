"""EarningsCall (earningscall.biz): transcripts of earnings calls, and the calls themselves by company or by day.

No field states when a transcript appeared, and the time of a call can be hours early. So all that belongs to a call
counts from noon, New York, of the day after it. That is a convention: a transcript was recorded with texts from ten
months after its call. So with a PIT a transcript also needs the time at which its text was stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from functools import partial

from pit_fetch.paging import children
from pit_fetch.provider import (
    Basis,
    Caveat,
    Context,
    Dating,
    Field,
    Listing,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Record,
    UpstreamError,
)
from pit_fetch.times import parse_date
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.earningscall import api, calls
from pit_fetch_providers.shared import fields, refuse, require_one, views_of, with_a_pit

_NOON = (
    "No field says when EarningsCall had something of a call: noon of the next day, New York, is a convention, not a "
    "proof, and rests on a date of the call that can be wrong. "
)
_TEXT = (
    "Transcripts may be of later recordings, and are stored again years later (recorded: calls of January 2022 and "
    "2023, last modified in October and November 2024): one is served if its reply says that it was last modified by "
    "the PIT, or if an archive held it then. "
)
_FILE = "A saved transcript does not say when it was last modified: with a PIT, nothing of it is served. "
_HOLDER = "symbol means its holder on the day of the fetch."
_NAMES = "Which exchange and symbol a call is listed under is shown as it stood when it was fetched, too."
SYMBOL = r"[A-Z0-9][A-Z0-9.-]*"
# What others call an exchange.
_EXCHANGES = {
    **dict.fromkeys(("XNAS", "NMS", "NASDAQGS", "NASDAQGM", "NASDAQCM"), "NASDAQ"),
    **dict.fromkeys(("XNYS", "NYQ", "NYSE ARCA"), "NYSE"),
    **dict.fromkeys(("XLON", "LON"), "LSE"),
    **dict.fromkeys(("XTSE", "TSE"), "TSX"),
}


def fetch_events(query: Query, context: Context) -> Iterator[Record]:
    yield from _calls(query, context, _exchanges(query, context))


def fetch_calendar(query: Query, context: Context) -> Iterator[Record]:
    yield from calls.day_calls(api.day(context, query.options["date"]), query)


def _exchanges(query: Query, context: Context) -> list[str]:
    """Return the exchanges to ask, at least one: if they fail, it must not show whether the symbol is listed today."""
    exchange = query.options["exchange"]
    return [exchange] if exchange else api.exchanges_of(context, query.options["symbol"]) or [api.EXCHANGES[0]]


def _calls(query: Query, context: Context, exchanges: Iterable[str]) -> Iterator[Record]:
    symbol = query.options["symbol"]
    for exchange in exchanges:
        body = api.events(context, exchange, symbol)
        if body is not None:
            yield from calls.company_calls(body, query, exchange, symbol)


def _due(calls_of_company: Iterable[Record], query: Query) -> Sequence[Record]:
    """Return the calls whose transcripts are worth a request: in the window and possibly public, newest first.

    Without a PIT that includes those without a readable date. They come last, the newest fiscal period first.
    """

    def is_due(call: Record) -> bool:
        at = call.available_at
        is_possible = query.open_mode or (at is not None and at <= query.horizon)
        return bool(call.id) and is_possible and query.in_window(call) and select(query, call)

    due = {(call.available_at, call.id): call for call in calls_of_company if is_due(call)}
    return sorted(due.values(), key=calls.order, reverse=True)


def fetch_transcripts(query: Query, context: Context) -> Iterator[Page]:
    """Yield each transcript as a page of its own: the framework asks for no more of them than it needs.

    Raise UpstreamError at the end for one that could not be read: the others are not to be missing.
    """
    exchanges, options = _exchanges(query, context), query.options
    due = _due(_calls(query, context, exchanges), query)

    def read_stored(call: Record) -> api.Stored | None:
        return api.transcript(context, call.payload)

    def probe() -> None:
        # By the request alone: the one that it names or, if it names several, two of them.
        year, quarter = options["year"] or query.now.year, options["quarter"] or 1
        periods = {(year, quarter), (year, options["quarter"] or 2), (options["year"] or year - 1, quarter)}
        subject = {"exchange": exchanges[0], "symbol": options["symbol"]}
        require_one(
            partial(api.transcript, context, {**subject, "year": year, "quarter": quarter})
            for year, quarter in sorted(periods)
        )

    failure = None
    # With a PIT, a transcript that fails may be one that is withheld. Without, there is nothing to hide.
    for place, (call, stored) in enumerate(children(due, read_stored, probe=None if query.open_mode else probe)):
        try:
            records = () if stored is None else tuple(_transcript(stored, call, query))
        except UpstreamError as error:
            failure, records = failure or error, ()
        yield Page(records, newest_first=True, continues_previous=place > 0)
    if failure is not None:
        raise failure


def _transcript(stored: api.Stored, call: Record, query: Query) -> Iterator[Record]:
    try:
        for transcript in calls.transcripts(stored.body, query, *calls.company(call), call):
            made = calls.date_transcript(transcript, call, stored.at)
            # Without a PIT, the call's own time keeps the order.
            is_placed = query.open_mode and made.id
            yield made._replace(available_at=call.available_at, period=call.period) if is_placed else made
    except UpstreamError:
        # A malformed transcript that would be withheld must not fail the fetch.
        if calls.is_wanted(call, stored.at, query):
            raise


def parse_events(body: bytes, query: Query) -> Iterator[Record]:
    return calls.company_calls(body, query, query.options["exchange"], query.options["symbol"])


def parse_transcripts(body: bytes, query: Query) -> Iterator[Record]:
    """Return the transcripts of one raw reply, or of an array of replies."""
    transcripts = calls.transcripts(body, query, query.options["exchange"], query.options["symbol"])
    return transcripts if query.open_mode else map(calls.unproven, transcripts)


def select(query: Query, record: Record) -> bool:
    """Return whether a call is of the fiscal period asked for and, in a calendar, of its day."""
    wanted = ((name, query.options[name]) for name in ("year", "quarter"))
    return all(value is None or record.payload[name] == value for name, value in wanted) and (
        query.options["date"] is None or calls.may_be_on(record, query.options["date"])
    )


def _call_caveats(query: Query, more: str = "") -> Iterator[str | Caveat]:
    yield from exchange_caveats(query)
    yield from with_a_pit(_NOON + more + _HOLDER)(query)


def exchange_caveats(query: Query) -> Iterator[Caveat]:
    """Yield the option that keeps today's list of symbols out of the answer, where it is missing."""
    if query.options["symbol"] and not query.options["exchange"] and not query.open_mode and not query.offline:
        text = "Without exchange=, the list of the day of the fetch says where a symbol is listed (ids begin with it)"
        yield Caveat(f"{text}: give exchange=.", of_today=True)


def when_empty(query: Query) -> str:
    """Return how a symbol and an exchange are written; from the request alone."""
    if query.options["exchange"]:
        return f"The exchanges are {', '.join(api.EXCHANGES)}."
    return "A symbol is a ticker, such as MSFT." if query.options["symbol"] else ""


def _normalize(query: Query) -> Query:
    symbols.check("symbol", filter(None, [query.options["symbol"]]), SYMBOL, "MSFT, with exchange=NASDAQ if need be")
    if query.options["quarter"] is not None and query.options["quarter"] > 4:
        refuse("quarter is 1 to 4, of the fiscal year.")
    if query.options["year"] is not None and not 1900 <= query.options["year"] <= 9999:
        refuse("year is a fiscal year of four digits, e.g. 2023.")
    if query.options["date"] is not None and parse_date(query.options["date"]) is None:
        refuse("date is YYYY-MM-DD, the day of the calls.")
    return query


_CALL = fields("exchange symbol", integer="year quarter", instant="conference_date")
_EVENTS = Operation(
    name="events",
    fetch=fetch_events,
    parse_reply=parse_events,
    search_terms="calls call",
    dating=Dating(
        rule="noon, New York, of the day after the call's day there",
        why="a recorded call of 17:30 is dated 09:00 of its day, and no field says when something appeared",
        basis=(Basis("conference_date", "start", after=timedelta(hours=12)),),
    ),
    needs=("symbol",),
    takes=("exchange", "year", "quarter"),
    fields=_CALL,
    window="conference_date",
    caveats=_call_caveats,
    normalize=_normalize,
)


PROVIDER = Provider(
    views=views_of(__name__),
    name="earningscall",
    summary="EarningsCall: transcripts of earnings calls, calls by company and by day, addresses of slides and audio",
    aliases=("earnings-call", "ecall"),
    select=select,
    when_empty=when_empty,
    hosts=(api.HOST,),
    credentials=(api.KEY,),
    options=(
        Option("symbol", "the ticker", metavar="AAPL", uppercase=True, search_terms=search_terms.SYMBOL),
        Option(
            "exchange",
            "NASDAQ, NYSE, …; without it, every exchange that lists the symbol",
            metavar="NASDAQ",
            uppercase=True,
            synonyms=_EXCHANGES,
        ),
        Option("year", "the fiscal year", kind="integer", metavar="2024", affects_records=False, covered_by="superset"),
        Option("quarter", "the fiscal quarter, 1 to 4", kind="integer", affects_records=False, covered_by="superset"),
        Option("date", "calendar: the day of the calls", metavar="YYYY-MM-DD"),
    ),
    operations=(
        _EVENTS._replace(
            name="transcript",
            fetch=fetch_transcripts,
            parse_reply=parse_transcripts,
            search_terms="",
            fields=(*_CALL, *fields("text")),
            dating=_EVENTS.dating._replace(
                rule="events' rule, and the time at which the text was stored: undated where its reply does not say it",
                claims="noon, New York, of the day after the call's; the text may be of years later (all four recorded "
                "ones were last modified one to three years after their calls)",
            ),
            caveats=lambda query: _call_caveats(query, _FILE if query.offline else _TEXT),
        ),
        _EVENTS,
        _EVENTS._replace(
            name="calendar",
            fetch=fetch_calendar,
            parse_reply=calls.day_calls,
            search_terms="",
            needs=("date",),
            takes=(),
            fields=(*_CALL, Field("transcript_ready", "flag")),
            caveats=with_a_pit(_NOON + _NAMES),
        ),
        _EVENTS._replace(name="slides", search_terms="", fields=(*_CALL, *fields("slides_url audio_url"))),
    ),
    page_size=100,
    listing=Listing(search_terms="transcript transcripts calls"),
    help="""\
transcript serves whole transcripts, newest first, one request each: give year= and quarter=, or --limit 1.
With --pit, only those last modified by then: the recorded ones were stored again some two years after
their calls. A transcript longer than the output limit is continued with --after. --date-from and --date-to
compare the time of the call. slides gives addresses, which need a key of their own to open.
""",
)
