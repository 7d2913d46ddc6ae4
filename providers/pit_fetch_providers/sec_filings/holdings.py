"""The operation ``holdings``: the positions that a manager had reported on Form 13F for a quarter.

A RESTATEMENT replaces the reports before it, and NEW HOLDINGS add to them. :func:`derive` decides which reports make
up the book, among those that were public.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Context, Field, Query, Record, Stage, UpstreamError
from pit_fetch.times import parse_date
from pit_fetch_providers.edgar.release import ListedFiling
from pit_fetch_providers.edgar.submissions import Row
from pit_fetch_providers.sec_filings import elements, files, releases
from pit_fetch_providers.sec_filings.documents import Document
from pit_fetch_providers.sec_filings.releases import DatedRow
from pit_fetch_providers.shared import fields

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

FORMS = ("13F-HR", "13F-HR/A")
FIELDS = (
    *fields("accession form amendment manager_cik", date="period"),
    *fields("issuer cusip class", number="value shares"),
    *fields("share_type put_call discretion other_managers"),
    Field("is_unit_doubtful", "flag"),
)
# Values are in thousands of dollars in reports that were filed before this day, and in dollars since, whatever the
# quarter and the schema (facts of MetLife's report for 2021, filed in 2023).
_IN_DOLLARS = date(2023, 1, 3)
_THOUSAND = 1_000
# Dollars that the median share of a manager plausibly costs. Otherwise the manager may have used the other unit: one
# reported 3M at 0.12 in February 2023.
_PLAUSIBLE = 1, 5_000
_ADDED = "NEW HOLDINGS"
_AMENDMENTS = ("RESTATEMENT", _ADDED)
# A report in plain text does not show what it does to the book.
_UNREAD = "UNREAD"
# The root elements of the cover and of the table of a report in XML.
_IN_XML = ("edgarSubmission", "informationTable")
_TABLE = "INFORMATION TABLE"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class _Report(NamedTuple):
    """The facts of a report that decide whether it is part of the book."""

    at: datetime | None
    form: str
    accession: str
    amendment: str | None

    @classmethod
    def from_record(cls, position: Record) -> _Report:
        payload = position.payload
        return cls(position.available_at, payload["form"], payload["accession"], payload["amendment"])


def nearest_quarters(day: date) -> list[date]:
    """Return the last days of the two nearest quarters, the nearest to ``day`` first."""
    years = {max(day.year - 1, 1), day.year}
    ends = (date(year, month, 30 + (month in (3, 12))) for year in years for month in (3, 6, 9, 12))
    return sorted(ends, key=lambda end: abs(end - day))[:2]


def fetch(query: Query, context: Context, cik: int) -> Iterator[Record]:
    """Yield the positions in all public reports on the quarter, and one record for each report in plain text.

    Raise UpstreamError, before anything is yielded, if one of the reports cannot be fetched: the others are no book.
    """

    def is_report(row: Row) -> bool:
        return row.form in FORMS and query.options["period"] in (None, row.period)

    named = parse_date(query.options["period"]) or date.min

    def end(row: Row | None) -> date:
        return (row and _quarter(row)) or named

    reports = [
        _check_quarter(made.row, _fetch_positions(context, cik, made)) or [_unread_report(made)]
        for made in reports_on_newest_quarter(releases.public_releases(query, context, cik, is_report, end), named)
    ]
    for positions in reports:
        yield from positions


def parse_reply(body: bytes, query: Query) -> Iterator[Record | Gap]:
    """Yield the positions of a saved full submission, dated by its header. Raise UpstreamError for anything else."""
    filing, at, found, cik = files.parse_saved(body, query)
    if filing.form in FORMS and releases.is_public(query, at):
        positions = list(records(found, filing, at, cik))
        yield from positions
        if not positions:
            yield files.not_data_gap(filing.form, filing.accession)


def derive(query: Query) -> Stage:
    """Return the stage that makes one book of the public reports on the quarter, or on the newest quarter.

    If a part of the book is missing, or in plain text, it yields a gap and no book.
    """

    def stage(records: Iterator[Record]) -> Iterator[Record | Gap]:
        every = list(records)
        newest = query.options["period"] or max((record.payload["period"] for record in every), default="")
        book = standing_reports(_Report.from_record(record) for record in every if record.payload["period"] == newest)
        missing = () if query.offline else _gaps_in_book(book)  # a saved file is served as what it is
        yield from missing
        if missing:
            return
        standing = {report.accession for report in book}
        positions = (record for record in every if record.payload["accession"] in standing)
        yield from (record for record in positions if record.payload["issuer"] is not None)

    return stage


def records(found: Iterable[Document], filing: ListedFiling, at: datetime | None, cik: int | None) -> Iterator[Record]:
    """Yield a record of the report itself, then its positions; nothing for a report that is not in XML.

    Raise UpstreamError if its cover or its table cannot be read, or if an amendment does not say what it does to the
    book: without the report, all its positions would seem to be sold.
    """
    with elements.malformed_if_unreadable(f"report {filing.accession}"):
        payloads = list(_payloads(found, filing, cik))
    for number, payload in enumerate(payloads):
        yield Record(f"{filing.accession}:{number:05d}", at, payload, available_at_source="edgar_accepted")


def _payloads(found: Iterable[Document], filing: ListedFiling, cik: int | None) -> Iterator[dict[str, Any]]:
    parsed = [(document, elements.parse_xml(document.text or "")) for document in found]
    cover = next((root for _, root in parsed if root is not None and elements.name(root) == "edgarSubmission"), None)
    page = elements.find(cover, "formData/coverPage")
    period = elements.parse_value(page, "reportCalendarOrQuarter", _parse_period)
    if period is None:
        if any(name in (document.text or "") for name in _IN_XML for document, _ in parsed):
            raise UpstreamError(Code.MALFORMED, problem=f"report {filing.accession} has no cover that can be read")
        return
    report = {
        "accession": filing.accession,
        "form": filing.form,
        "amendment": _amendment(page, filing),
        "manager_cik": None if cik is None else f"{cik:010d}",
        "period": period,
    }
    yield {**report, "issuer": None}
    rows = filter(_is_position, _rows(parsed, cover, filing.accession))
    yield from ({**report, **row} for row in _convert_to_dollars(list(rows), filing.filed))


def _amendment(page: Element | None, filing: ListedFiling) -> str | None:
    """Return what an amendment does to the book; None for a first report. Raise UpstreamError if it does not say."""
    if not filing.form.endswith("/A"):
        return None
    amendment = elements.text(page, "amendmentInfo/amendmentType")
    if amendment not in _AMENDMENTS:
        problem = f"amendment {filing.accession} is neither {' nor '.join(_AMENDMENTS)}"
        raise UpstreamError(Code.MALFORMED, problem=problem)
    return amendment


def _rows(
    parsed: Sequence[tuple[Document, Element | None]], cover: Element | None, accession: str
) -> list[dict[str, Any]]:
    """Return the rows of a report's tables. Raise UpstreamError if one cannot be read, or if there is none."""
    tables = [root for _, root in parsed if root is not None and _is_table(root)]
    # Only a cover that says so makes an empty book. No other number on a cover is compared, since they can be wrong.
    is_lost = any(document.type == _TABLE and not _is_table(root) for document, root in parsed)
    found = [row for table in tables for row in elements.table_rows(table, (table,), "infoTable")]
    if is_lost or (not found and elements.number(cover, "formData/summaryPage/tableEntryTotal") != 0):
        problem = f"report {accession} has no table of positions that can be read"
        raise UpstreamError(Code.MALFORMED, problem=problem)
    rows = [_row(row) for row in found]
    if any(None in (row["value"], row["shares"]) for row in rows):
        problem = f"report {accession} has a position whose value or shares cannot be read"
        raise UpstreamError(Code.MALFORMED, problem=problem)
    return rows


def _is_table(root: Element | None) -> bool:
    """Return whether a document is a table of positions, and no web page in its place."""
    return root is not None and elements.name(root) == "informationTable"


def _fetch_positions(context: Context, cik: int, made: DatedRow) -> Iterator[Record]:
    return records(files.fetch_submission(context, cik, made.row.accession), releases.filing_in(made.row), made.at, cik)


def _unread_report(made: DatedRow) -> Record:
    """Return the record of a report in plain text. No book that it may be part of is served."""
    row = made.row
    report = {"accession": row.accession, "form": row.form, "amendment": _UNREAD, "period": row.period, "issuer": None}
    return Record(f"{row.accession}:{0:05d}", made.at, report, available_at_source="edgar_accepted")


def reports_on_newest_quarter(public: Iterable[DatedRow], newest: date) -> Iterator[DatedRow]:
    """Return the public reports on their newest quarter, if it did not end before ``newest``.

    What was filed before a quarter's last day is no report on it, whatever else was filed.
    """
    reports: list[tuple[date, DatedRow]] = []
    for report in public:
        end = _quarter(report.row)
        if end is not None and report.row.filed >= newest:
            reports.append((end, report))
            newest = max(newest, end)
    return (report for end, report in reports if end == newest)


def _quarter(row: Row) -> date | None:
    """Return the last day of a report's quarter; None if it ended after the report was filed."""
    end = parse_date(row.period)
    return end if end is not None and end <= row.filed else None


def _check_quarter(row: Row, positions: Iterable[Record]) -> list[Record]:
    """Return the records of a report. Raise UpstreamError if they are on another quarter than the list says."""
    every = list(positions)
    if any(record.payload["period"] != row.period for record in every):
        raise UpstreamError(Code.MALFORMED, problem=f"report {row.accession} is on another quarter than the list says")
    return every


def standing_reports(reports: Iterable[_Report]) -> list[_Report]:
    """Return those reports on one quarter that make up its book, the oldest first."""
    book: list[_Report] = []
    for report in sorted(set(reports), key=order_of_release):
        book = [*(book if report.amendment in (_ADDED, _UNREAD) else ()), report]
    return book


def _gaps_in_book(book: Sequence[_Report]) -> Sequence[Gap]:
    """Return a gap for each part of a book in plain text, or for an addition to a report that is missing."""
    unread = [files.not_data_gap(report.form, report.accession) for report in book if report.amendment == _UNREAD]
    if unread or not book or book[0].amendment != _ADDED:
        return unread
    return [gap(Code.MALFORMED, problem=f"amendment {book[0].accession} adds to a report that is not there")]


def order_of_release(report: _Report) -> tuple[datetime, bool, str]:
    """Return the key that orders reports. Several can be released at one opening, with numbers of several agents."""
    return report.at or _LONG_AGO, report.form.endswith("/A"), report.accession


def _row(row: Element) -> dict[str, Any]:
    return {
        "issuer": elements.text(row, "nameOfIssuer") or "",
        "cusip": elements.text(row, "cusip"),
        "class": elements.text(row, "titleOfClass"),
        "value": elements.number(row, "value"),
        "shares": elements.number(row, "shrsOrPrnAmt/sshPrnamt"),
        "share_type": elements.text(row, "shrsOrPrnAmt/sshPrnamtType"),
        "put_call": elements.text(row, "putCall"),
        "discretion": elements.text(row, "investmentDiscretion"),
        "other_managers": elements.text(row, "otherManager"),
    }


def _is_position(row: dict[str, Any]) -> bool:
    """Return whether a row is a position: a manager empties a book by a row of zeros."""
    return bool(row["value"] or row["shares"])


def _convert_to_dollars(rows: list[dict[str, Any]], filed: date) -> Iterator[dict[str, Any]]:
    """Yield rows with their values in dollars, and whether the unit is in doubt."""
    from statistics import median  # imported here, which takes longer than to read a book

    factor = 1 if filed >= _IN_DOLLARS else _THOUSAND
    prices = [
        row["value"] * factor / row["shares"]
        for row in rows
        if row["value"] and row["shares"] and row["share_type"] == "SH" and not row["put_call"]
    ]
    lowest, highest = _PLAUSIBLE
    doubtful = bool(prices) and not lowest <= median(prices) <= highest
    for row in rows:
        value = None if row["value"] is None else row["value"] * factor
        yield {**row, "value": value, "is_unit_doubtful": doubtful}


def _parse_period(words: str) -> str | None:
    """Return the date of a cover page, such as 03-31-2025, in ISO 8601."""
    parts = words.split("-")
    day = parse_date("-".join((parts[2], *parts[:2]))) if len(parts) == 3 else None
    return None if day is None else day.isoformat()
