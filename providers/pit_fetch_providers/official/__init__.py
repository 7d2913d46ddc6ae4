"""Official figures by the clock of their release: the Treasury's curve, the CFTC's positions, FINRA's short interest.

None of the three says when a figure was released or corrected, so all of it is a claim by a calendar, with the delays
that were announced. FRED proves the Treasury's rates, a day later.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.paging import numbered
from pit_fetch.provider import (
    Basis,
    Context,
    Dating,
    Host,
    Listing,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    Rate,
    Record,
    UpstreamError,
    Watermark,
)
from pit_fetch.times import NEW_YORK, parse_date, start_of_day
from pit_fetch.wire import body_of, check_rows, rows_in, text
from pit_fetch_providers import search_terms, symbols
from pit_fetch_providers.official.releases import cot_released, curve_released, short_interest_released
from pit_fetch_providers.shared import UNREADABLE, fields, new_york_day, parse_xml, refuse, with_a_pit

TREASURY = Host("US Treasury", "https://home.treasury.gov", "PIT_FETCH_TREASURY_URL", Rate(calls=2))
CFTC = Host("CFTC", "https://publicreporting.cftc.gov", "PIT_FETCH_COT_URL", Rate(calls=5))
FINRA = Host("FINRA", "https://api.finra.org", "PIT_FETCH_FINRA_URL", Rate(calls=5))
REPORTS = {"legacy": "6dca-aqww", "legacy_combined": "jun7-fc8e"}
ROWS = 1_000
_CURVE = "/resource-center/data-chart-center/interest-rates/pages/xmlview"
_FIRST_YEAR = 1990
_RATES = {
    **{f"m{name}": f"BC_{name}MONTH" for name in ("1", "1_5", "2", "3", "4", "6")},
    **{f"y{name}": f"BC_{name}YEAR" for name in ("1", "2", "3", "5", "7", "10", "20", "30")},
}
_POSITIONS = (
    "open_interest_all", "noncomm_positions_long_all", "noncomm_positions_short_all", "comm_positions_long_all",
    "comm_positions_short_all", "nonrept_positions_long_all", "nonrept_positions_short_all",
)  # fmt: skip
_SHORTS = {
    "short_interest": "currentShortPositionQuantity",
    "average_daily_volume": "averageDailyVolumeQuantity",
    "days_to_cover": "daysToCoverQuantity",
}


def curves(query: Query, context: Context) -> Iterator[Record | Watermark]:
    """Yield the curves of one year after the other, newest first."""
    last = new_york_day(min(query.horizon, query.started)).year
    first = max(_FIRST_YEAR, new_york_day(query.since).year if query.since else _FIRST_YEAR)
    for year in range(last, first - 1, -1):
        yield from parse_curves(read_year(context, year), query)
        begins = start_of_day(date(year, 1, 1), NEW_YORK)
        if begins is not None:
            yield Watermark(begins, max_empty_slices=3)


def read_year(context: Context, year: int) -> bytes:
    """Return the reply with the curves of a year."""
    asked = {"data": "daily_treasury_yield_curve", "field_tdr_date_value": str(year)}
    return body_of(context.http.get(TREASURY.name, _CURVE, asked), TREASURY.name, ()) or b""


def parse_curves(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the curves of one raw reply: an Atom feed, at times in a stray ``<pre>``."""
    root = parse_xml(re.sub(r"\A\s*<pre[^>]*>|</pre>\s*\Z", "", body.decode("utf-8-sig", "replace")))
    if root is None or not root.tag.endswith("}feed"):
        raise UpstreamError(Code.MALFORMED, problem="it is not an Atom feed")
    for entry in root.iterfind("{*}entry"):
        values = {child.tag.rpartition("}")[2]: child.text for child in entry.iterfind("{*}content/{*}properties/*")}
        yield curve(values)


def curve(row: Mapping[str, str | None]) -> Record:
    """Return the curve of a day, in percent."""
    day = parse_date((row.get("NEW_DATE") or "").removesuffix("T00:00:00"))
    if day is None:
        return UNREADABLE
    rates = {name: _number(row[column]) for name, column in _RATES.items() if column in row}
    return Record(f"treasury@{day}", None, {"date": day.isoformat(), **rates}, claimed_at=curve_released(day))


def _number(value: object) -> float | None:
    known = re.fullmatch(r"-?[0-9]{1,18}(\.[0-9]{1,9})?", str(value)) if not isinstance(value, bool) else None
    return float(known[0]) if known else None


def positions(query: Query, context: Context) -> Iterator[Page]:
    """Yield the reports about a market, newest first."""
    report, market = query.options["report"], query.options["market"]
    bound = f"report_date_as_yyyy_mm_dd <= '{new_york_day(query.horizon)}' AND cftc_contract_market_code = '{market}'"
    asked = {"$where": bound, "$order": "report_date_as_yyyy_mm_dd DESC", "$limit": str(ROWS)}

    def page(offset: int) -> list[Record]:
        reply = context.http.get(CFTC.name, f"/resource/{REPORTS[report]}.json", {**asked, "$offset": str(offset)})
        return list(parse_positions(body_of(reply, CFTC.name, ()) or b"", query))

    yield from numbered(page, size=ROWS, step=ROWS, newest_first=True)


def parse_positions(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the reports of one raw reply."""
    rows = list(rows_in(body))
    check_rows(rows, "report_date_as_yyyy_mm_dd")
    return (position(row, query.options["report"]) for row in rows)


def position(row: Mapping[str, Any], report: str) -> Record:
    """Return one report about a market. A figure that is not there is left out by the source, too."""
    day = parse_date(text(row.get("report_date_as_yyyy_mm_dd")).removesuffix("T00:00:00.000"))
    code = text(row.get("cftc_contract_market_code")).strip()
    if day is None or not code:
        return UNREADABLE
    figures = {name: _number(row[name]) for name in _POSITIONS if name in row}
    payload = {"report": report, "code": code, "report_date": day.isoformat(), **figures}
    return Record(f"{report}:{code}@{day}", None, payload, claimed_at=cot_released(day))


def shorts(query: Query, context: Context) -> Iterator[Page]:
    """Yield the short interest of the symbols, in whatever order it comes."""
    wanted = [{"fieldName": "symbolCode", "values": list(query.options["symbols"])}]
    names = ["settlementDate", "symbolCode", "marketClassCode", *_SHORTS.values(), "revisionFlag", "stockSplitFlag"]

    def page(offset: int) -> list[Record]:
        asked = {"fields": names, "domainFilters": wanted, "offset": offset, "limit": ROWS}
        reply = context.http.post(
            FINRA.name, "/data/group/otcMarket/name/consolidatedShortInterest", asked, repeatable=True
        )
        body = body_of(reply, FINRA.name, ()) or b""
        return list(parse_shorts(body, query)) if body.strip() else []

    yield from numbered(page, size=ROWS, step=ROWS)


def parse_shorts(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the short interest of one raw reply."""
    rows = list(rows_in(body))
    check_rows(rows, "settlementDate")
    return map(short_interest, rows)


def short_interest(row: Mapping[str, Any]) -> Record:
    """Return the short interest of a day. One that was corrected has no claim: the figure before it is gone."""
    day, symbol = parse_date(row.get("settlementDate")), text(row.get("symbolCode"))
    if day is None or not symbol:
        return UNREADABLE
    figures = {name: _number(row[column]) for name, column in _SHORTS.items() if column in row}
    payload = {"symbol": symbol, "settlement_date": day.isoformat(), **figures}
    is_first = "revisionFlag" in row and row["revisionFlag"] is None
    return Record(f"{symbol}@{day}", None, payload, claimed_at=short_interest_released(day) if is_first else None)


def _market(query: Query) -> Query:
    if not re.fullmatch(r"[0-9A-Z+]{6}", query.options["market"]):
        refuse("market is the CFTC's code of one, such as 13874A or 239747")
    return query


def _symbols(query: Query) -> Query:
    symbols.check("symbols", query.options["symbols"], r"[A-Z]{1,8}", "AAPL or BRKB")
    return query


_OVERWRITTEN = (
    "Figures are served as they stood when they were fetched: corrections are made without a mark, and the first print "
    "is not kept."
)
_DATING = Dating(rule="nothing proves when a figure was released, nor that it was not corrected since")
PROVIDER = Provider(
    name="official",
    summary="official figures by the clock of their release: Treasury yields, CFTC positions, FINRA short interest",
    hosts=(TREASURY, CFTC, FINRA),
    options=(
        Option("market", "the CFTC's code of a market", metavar="13874A", uppercase=True, search_terms="code contract"),
        Option("report", "futures alone, or with options", choices=tuple(REPORTS), default="legacy"),
        Option(
            "symbols",
            "of these symbols, without points",
            kind="list",
            metavar="AAPL,BRKB",
            uppercase=True,
            search_terms=search_terms.TICKERS,
        ),
    ),
    operations=(
        Operation(
            "treasury",
            fetch=curves,
            parse_reply=parse_curves,
            dating=_DATING._replace(
                why="the feed's own stamps are those of the request (recorded)",
                claims="20:00 New York of the day, 2 hours after the usual release; it may have been corrected since",
                basis=(Basis("NEW_DATE", "day"),),
            ),
            fields=fields(date="date", number=" ".join(_RATES)),
            window="date",
            period="date",
            caveats=with_a_pit(
                _OVERWRITTEN + " fred proves these rates, as DGS10 and so on, from the end of the next day on."
            ),
        ),
        Operation(
            "cot",
            fetch=positions,
            parse_reply=parse_positions,
            dating=_DATING._replace(
                why="no file has a date of release, and shutdowns delayed reports by up to 50 days",
                claims="the end of the fourth business day after the report's date in New York, or of the day that was "
                "announced for a late one; positions may have been corrected since",
                basis=(Basis("report_date_as_yyyy_mm_dd", "day"),),
            ),
            needs=("market",),
            takes=("report",),
            fields=fields("report code", date="report_date", number=" ".join(_POSITIONS)),
            window="report_date",
            period="report_date",
            caveats=with_a_pit(_OVERWRITTEN + " A delay that is not known here would make a report early."),
            normalize=_market,
        ),
        Operation(
            "short_interest",
            fetch=shorts,
            parse_reply=parse_shorts,
            dating=_DATING._replace(
                why="a row has no date of publication, and shows the last correction alone (documented)",
                claims="the end of the ninth business day after settlement, New York; a corrected figure has none",
                basis=(Basis("settlementDate", "day"),),
            ),
            needs=("symbols",),
            fields=fields("symbol", date="settlement_date", number=" ".join(_SHORTS)),
            window="settlement_date",
            period="settlement_date",
            caveats=with_a_pit(_OVERWRITTEN + " FINRA's figures may not be passed on."),
            normalize=_symbols,
        ),
    ),
    page_size=ROWS,
    listing=Listing(search_terms="treasury yields curve cot cftc finra short interest"),
    help="""\
All of it is served on a claim alone (--evidence claimed), by a calendar of releases with the delays that were
announced, or as an archive saw it.
""",
)
