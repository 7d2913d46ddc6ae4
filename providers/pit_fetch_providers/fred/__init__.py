"""FRED (``GET /fred/series/observations``): the observations of a series, every vintage a version of its date.

FRED keeps each value with the day on which it became current (``realtime_start``). ``available_at`` is the end of
that day in US Central time: no time of day is kept, and FRED's own day is Central (an answer of 2026-09-19T04:09:58Z
named 2026-09-18 as today). A revision is another version of ``SERIES@date``, and so is a missing value (``.``). The
framework serves the newest version that was public.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pit_fetch.gaps import Code
from pit_fetch.provider import (
    Archiving,
    Basis,
    Context,
    Dating,
    Gap,
    Listing,
    Operation,
    Option,
    Provider,
    Query,
    Record,
    gap,
)
from pit_fetch.wire import lenient_json
from pit_fetch_providers.fred import api, vintages
from pit_fetch_providers.fred.vintages import RealTimePeriod, real_time_period, split
from pit_fetch_providers.shared import fields, refuse, views_of

_SERIES = re.compile(r"[A-Z0-9][A-Z0-9_.^-]*")
# As others name one: FRED:GDP, FRED/GDP, or its page.
_ADDRESS = r"(?:(?:HTTPS://)?FRED\.STLOUISFED\.ORG/SERIES/|(?:AL)?FRED[:/])([A-Z0-9_]+)/?"
_ID = "series_id is an id such as UNRATE, not a name."
_DATED_BY_DAY = (
    "FRED keeps the day of a vintage, by its own account: a value that was entered later under an earlier day "
    "cannot be told from one that was entered then."
)
_FILE = (
    "A reply in a file does not name its series: it is taken to be the one of the request. Values that were current "
    "before the file's real-time period began count from its first day. One with the period to 9999-12-31 does not say "
    "when it was saved: what was published since is missing. One page of several may lack the newest value of its "
    "last date."
)
_WITHOUT_VINTAGES = (
    "Series without vintages, such as SP500, are withheld with --pit: nothing shows when their values were public."
)


def fetch(query: Query, context: Context) -> Iterator[Record]:
    """Yield every vintage of the series that was complete at the PIT.

    All requests are made before the first record is yielded: without its later vintages, an old value would pass for
    the current one.
    """
    period = real_time_period(query)
    if period is None:
        return
    try:
        yield from _vintages(query, context, period)
    except api.NoVintages:
        if query.may_report_today:  # ask for the values current today, where an unknown series is an error
            current = map(vintages.undated, _records(query, context, None))
            yield from current if query.open_mode else ()


def _vintages(query: Query, context: Context, period: RealTimePeriod) -> list[Record]:
    """Return the vintages of ``period``, in several requests if there are too many for one."""
    try:
        return _records(query, context, period)
    except api.TooManyVintages:
        records: list[Record] = []
        for part in split(period, api.vintage_days(context, query, period)):
            records = vintages.joined(records, _records(query, context, part), part.first)
        return records


def _records(query: Query, context: Context, period: RealTimePeriod | None) -> list[Record]:
    return [record for reply in api.observations(context, query, period) for record in vintages.records(reply, query)]


def parse_reply(body: bytes, query: Query) -> Iterator[Record | Gap]:
    """Yield the vintages of one raw reply (``file_type=json``, ``output_type=1``).

    If its real-time period ends before the PIT, it has none: a value may have been revised since.
    """
    reply = vintages.document(lenient_json(body, 2))
    period = None if query.open_mode else real_time_period(query)
    if period is not None and vintages.last_day(reply) < period.last:
        yield gap(Code.INPUT_ENDS_EARLY, day=vintages.last_day(reply), field="realtime_end")
        return
    rows, total = len(reply["observations"]), reply.get("count")
    if query.open_mode and type(total) is int and total > rows:
        yield gap(Code.PARTIAL_FILE, held=rows, total=total)
    yield from vintages.records(reply, query)


def when_empty(query: Query) -> str:
    """Return what a series is named by, and that one without vintages is withheld; from the request alone."""
    return "" if query.offline else _ID if query.open_mode else f"{_WITHOUT_VINTAGES} {_ID}"


def _normalize(query: Query) -> Query:
    series = query.options["series_id"]
    if series is not None and not _SERIES.fullmatch(series):
        own = re.fullmatch(_ADDRESS, series)
        refuse(
            f"series_id: write {own[1]}." if own else "series_id is the id of one FRED series, such as GNP or T10Y2Y"
        )
    return query


def _caveats(query: Query) -> Iterator[str]:
    if not query.open_mode:
        yield f"{_DATED_BY_DAY} {_FILE}" if query.offline else _DATED_BY_DAY


PROVIDER = Provider(
    views=views_of(__name__),
    name="fred",
    summary="FRED (St. Louis Fed): economic series as they stood, with every revision at its own time",
    aliases=("alfred",),
    when_empty=when_empty,
    hosts=(api.HOST,),
    credentials=(api.KEY,),
    options=(
        Option(
            "series_id",
            "the series, such as GNP, UNRATE or DGS10",
            metavar="GNP",
            positional="one",
            uppercase=True,
            search_terms="series id symbol ticker code indicator",
        ),
    ),
    operations=(
        Operation(
            fetch=fetch,
            parse_reply=parse_reply,
            dating=Dating(
                rule="the end of realtime_start, the day on which a value became current, in US Central time",
                why="FRED keeps days without a time, and its day is Central (recorded)",
                basis=(Basis("realtime_start"),),
            ),
            needs=("series_id",),
            fields=(*fields(date="date", number="value"), *fields(date="realtime_start realtime_end")),
            window="date",
            period="date",
            archiving=Archiving(versions=True, as_of_pit=True),
            caveats=_caveats,
            normalize=_normalize,
        ),
    ),
    # One reply is a page.
    page_size=api.ROWS,
    listing=Listing(search_terms="stlouisfed st-louis-fed economic"),
    help="""\
Each item is one observation: date is the first day of its period, value the source's text ("." is a
missing value), realtime_start the day on which that value became current. With --pit, the value is
the one that was current then. --date-from and --date-to compare date.
""",
)
