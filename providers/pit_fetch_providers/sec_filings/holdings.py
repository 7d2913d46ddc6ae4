"""The operation ``holdings``: the positions that a manager had reported on Form 13F for a quarter.

A report stands until a RESTATEMENT replaces it; NEW HOLDINGS are added to it. Which reports count is decided among
those that were public, in :func:`derive`.
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
from pit_fetch_providers.sec_filings.releases import Release
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
# Values are in thousands before, and in dollars from then on, whatever the period and the schema.
_IN_DOLLARS = date(2023, 1, 3)
_THOUSAND = 1_000
# What the median share of a manager costs, in dollars. Outside, the manager took the other unit.
_PLAUSIBLE = 1, 5_000
_ADDED = "NEW HOLDINGS"
_AMENDMENTS = ("RESTATEMENT", _ADDED)
# Of a report in plain text, nothing shows what it does to the book.
_UNREAD = "UNREAD"
# What a report in XML holds: the root of its cover, and of its table.
_IN_XML = ("edgarSubmission", "informationTable")
_TABLE = "INFORMATION TABLE"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


class _Report(NamedTuple):
    """A report by what decides of which ones a book is made."""

    at: datetime | None
    form: str
    accession: str
    amendment: str | None

    @classmethod
    def of(cls, position: Record) -> _Report:
        payload = position.payload
        return cls(position.available_at, payload["form"], payload["accession"], payload["amendment"])


def nearest_quarters(day: date) -> list[date]:
    """Return the last days of two quarters, the nearest to ``day`` first: ``day`` itself if it is one."""
    years = {max(day.year - 1, 1), day.year}
    ends = (date(year, month, 30 + (month in (3, 12))) for year in years for month in (3, 6, 9, 12))
    return sorted(ends, key=lambda end: abs(end - day))[:2]


def fetch(query: Query, context: Context, cik: int) -> Iterator[Record]:
    """Yield the positions in all public reports on the quarter, and one record for each that is plain text.

    Raise UpstreamError, before anything is yielded, if one of the reports cannot be had: the others are no book.
    """

    def is_report(row: Row) -> bool:
        return row.form in FORMS and query.options["period"] in (None, row.period)

    named = parse_date(query.options["period"]) or date.min

    def end(row: Row | None) -> date:
        return (row and _quarter(row)) or named

    reports = [
        _of_its_quarter(made.row, _positions(context, cik, made)) or [_plain_text(made)]
        for made in _newest_quarter(releases.public(query, context, cik, is_report, end), named)
    ]
    for positions in reports:
        yield from positions


def read(body: bytes, query: Query) -> Iterator[Record | Gap]:
    """Yield the positions of a saved full submission, whose header dates it. Raise UpstreamError for anything else."""
    filing, at, found, cik = files.saved(body, query)
    if filing.form in FORMS and releases.is_public(query, at):
        positions = list(records(found, filing, at, cik))
        yield from positions
        if not positions:
            yield files.not_data(filing.form, filing.accession)


def derive(query: Query) -> Stage:
    """Return the stage that makes one book of the public reports on the quarter, or on the newest one.

    Where a part of it is plain text, or missing, it yields the gap that says so, and no book.
    """

    def stage(records: Iterator[Record]) -> Iterator[Record | Gap]:
        every = list(records)
        newest = query.options["period"] or max((record.payload["period"] for record in every), default="")
        book = _standing(_Report.of(record) for record in every if record.payload["period"] == newest)
        missing = () if query.offline else _missing(book)  # a saved file is served as what it is
        yield from missing
        if missing:
            return
        standing = {report.accession for report in book}
        positions = (record for record in every if record.payload["accession"] in standing)
        yield from (record for record in positions if record.payload["issuer"] is not None)

    return stage


def records(found: Iterable[Document], filing: ListedFiling, at: datetime | None, cik: int | None) -> Iterator[Record]:
    """Yield the positions of a report, after one record of the report itself; nothing for one that is not in XML.

    Raise UpstreamError for one whose cover or table cannot be read: without it, all would seem to be sold. So for an
    amendment that does not say what it does to the book.
    """
    with elements.told(f"report {filing.accession}"):
        payloads = list(_payloads(found, filing, cik))
    for number, payload in enumerate(payloads):
        yield Record(f"{filing.accession}:{number:05d}", at, "edgar_accepted", payload)


def _payloads(found: Iterable[Document], filing: ListedFiling, cik: int | None) -> Iterator[dict[str, Any]]:
    parsed = [(document, elements.parse(document.text or "")) for document in found]
    cover = next((root for _, root in parsed if root is not None and elements.name(root) == "edgarSubmission"), None)
    page = elements.at(cover, "formData/coverPage")
    period = elements.read(page, "reportCalendarOrQuarter", _period)
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
    yield from ({**report, **row} for row in _in_dollars(list(rows), filing.filed))


def _amendment(page: Element | None, filing: ListedFiling) -> str | None:
    """Return what an amendment does to the book. Raise UpstreamError for one that does not say it."""
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
    """Return the rows of a report's tables. Raise UpstreamError if one cannot be read, or if there is none.

    A report of nothing says so on its cover. No other number on it is compared: it is typed by hand.
    """
    tables = [root for _, root in parsed if root is not None and _is_table(root)]
    is_lost = any(document.type == _TABLE and not _is_table(root) for document, root in parsed)
    found = [row for table in tables for row in elements.rows(table, (table,), "infoTable")]
    if is_lost or (not found and elements.number(cover, "formData/summaryPage/tableEntryTotal") != 0):
        problem = f"report {accession} has no table of positions that can be read"
        raise UpstreamError(Code.MALFORMED, problem=problem)
    rows = [_row(row) for row in found]
    if any(None in (row["value"], row["shares"]) for row in rows):  # which is not zero
        problem = f"report {accession} has a position whose value or shares cannot be read"
        raise UpstreamError(Code.MALFORMED, problem=problem)
    return rows


def _is_table(root: Element | None) -> bool:
    """Return whether a document is a table of positions, and no page in its place."""
    return root is not None and elements.name(root) == "informationTable"


def _positions(context: Context, cik: int, made: Release) -> Iterator[Record]:
    return records(files.submission(context, cik, made.row.accession), releases.listed(made.row), made.at, cik)


def _plain_text(made: Release) -> Record:
    """Return what stands for a report that cannot be read. No book that it may be a part of is served."""
    row = made.row
    report = {"accession": row.accession, "form": row.form, "amendment": _UNREAD, "period": row.period, "issuer": None}
    return Record(f"{row.accession}:{0:05d}", made.at, "edgar_accepted", report)


def _newest_quarter(public: Iterable[Release], newest: date) -> Iterator[Release]:
    """Return the public reports on the newest quarter that a report is about, but on none that ended before ``newest``.

    What was filed before the last day of the quarter is no report on it, whatever else was filed.
    """
    reports: list[tuple[date, Release]] = []
    for report in public:
        end = _quarter(report.row)
        if end is not None and report.row.filed >= newest:
            reports.append((end, report))
            newest = max(newest, end)
    return (report for end, report in reports if end == newest)


def _quarter(row: Row) -> date | None:
    """Return the last day of the quarter that a report is on; None for one that it cannot be on, since it is later."""
    end = parse_date(row.period)
    return end if end is not None and end <= row.filed else None


def _of_its_quarter(row: Row, positions: Iterable[Record]) -> list[Record]:
    """Return the records of a report. Raise UpstreamError if it is not on the quarter by which it was found."""
    every = list(positions)
    if any(record.payload["period"] != row.period for record in every):
        raise UpstreamError(Code.MALFORMED, problem=f"report {row.accession} is on another quarter than the list says")
    return every


def _standing(reports: Iterable[_Report]) -> list[_Report]:
    """Return the reports that make up a book, oldest first, of those on one quarter."""
    book: list[_Report] = []
    for report in sorted(set(reports), key=_age):
        book = [*(book if report.amendment in (_ADDED, _UNREAD) else ()), report]
    return book


def _missing(book: Sequence[_Report]) -> Sequence[Gap]:
    """Return a gap for each part of a book that is plain text, or for a first part that adds to nothing."""
    unread = [files.not_data(report.form, report.accession) for report in book if report.amendment == _UNREAD]
    if unread or not book or book[0].amendment != _ADDED:
        return unread
    return [gap(Code.MALFORMED, problem=f"amendment {book[0].accession} adds to a report that is not there")]


def _age(report: _Report) -> tuple[datetime, bool, str]:
    """Return what orders reports: those that wait for one morning can have numbers of several agents."""
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
    """Return whether a row is one: a book is emptied by a row of zeros."""
    return bool(row["value"] or row["shares"])


def _in_dollars(rows: list[dict[str, Any]], filed: date) -> Iterator[dict[str, Any]]:
    """Yield rows with their values in dollars, and whether that unit is in doubt."""
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


def _period(words: str) -> str | None:
    """Return the date of a cover page, ``03-31-2025``, as ISO writes it."""
    parts = words.split("-")
    day = parse_date("-".join((parts[2], *parts[:2]))) if len(parts) == 3 else None
    return None if day is None else day.isoformat()
