"""Turn Yahoo's earnings calendar of one company, a table in a page, into records. Pure.

The hour of a row is not a time of publication. It has been seen five hours early (New York read as UTC: Apple's
report of 2022-07-28, 16:30, at "12 PMEDT"), and as midnight UTC of a day without a time, which is the evening before
(Microsoft's of 2024-10-30 at 20:00 of the 29th, in a report of yfinance's users). So the day is the one five hours
after the hour, and its end is what counts. No report appears on a weekend, so a date on one is no evidence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from html.parser import HTMLParser
from typing import NamedTuple

from pit_fetch.gaps import Code
from pit_fetch.provider import Query, Record, UpstreamError
from pit_fetch.times import NEW_YORK, delayed, end_of_day, is_weekend
from pit_fetch.wire import read_html
from pit_fetch_providers.shared import UNREADABLE

# How much too early an hour can be: the difference of New York from UTC, in winter.
EARLY = timedelta(hours=5)

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
# "October 30, 2025 at 4 PM EDT", and until 2024 "Oct 26, 2022, 4 PMEDT".
_STAMP = re.compile(
    r"([A-Z][a-z]{2,8}) ([0-9]{1,2}), ([0-9]{4})(?: at|,) ([0-9]{1,2})(?::[0-9]{2})? ([AP]M) ?(EDT|EST)"
)
_NUMBER = re.compile(r"[+-]?[0-9][0-9,]*(?:\.[0-9]+)?|[+-]?\.[0-9]+")
_NOTHING = ("", "-", "--", "N/A", "NaN")

_NAMES = {
    "Symbol": "symbol",
    "Company": "company",
    "Earnings Date": "date",
    "EPS Estimate": "epsEstimate",
    "Reported EPS": "reportedEPS",
    "Surprise (%)": "surprisePercent",
    "Surprise(%)": "surprisePercent",
}
TITLES = tuple(list(_NAMES)[:6])
_NEEDED = ("symbol", "date", "epsEstimate", "reportedEPS")
# The heading of Yahoo's page above its table, and also without a table (yfinance recognizes an empty calendar by it).
HEADING = "Showing Earnings for"


class _Table(NamedTuple):
    """A table: the cells of its header row, and of every row, each cell in pieces of text."""

    heading: list[list[str]]
    rows: list[list[list[str]]]


def parse(body: bytes, query: Query, received: datetime) -> list[Record]:
    """Return one record for each row of the page. Raise UpstreamError if it is not a page of the calendar."""
    page = _Page()
    read_html(page, body.decode("utf-8", "replace"))
    if page.depth:
        raise UpstreamError(Code.MALFORMED, problem="its table breaks off")
    tables = [([_text(cell) for cell in table.heading], table.rows[1:]) for table in page.tables]
    table = next((table for table in tables if "Earnings Date" in table[0]), None)
    if table is None:
        if page.tables or HEADING not in "".join(page.texts):
            raise UpstreamError(Code.MALFORMED, problem="it is not a page of the earnings calendar")
        return []
    heading, rows = table
    names = [_NAMES.get(title) for title in heading]
    if any(names.count(name) != 1 for name in _NEEDED):
        raise UpstreamError(Code.MALFORMED, problem="the columns of the earnings calendar have changed")
    return [_record([_text(cell) for cell in row], names, query, received) for row in rows]


def _text(pieces: Sequence[str]) -> str:
    return " ".join("".join(pieces).split())


def _record(row: Sequence[str], names: Sequence[str | None], query: Query, received: datetime) -> Record:
    """Return the record of a row. Without reported EPS its date is yet to come, or was never filled in: no claim."""
    if len(row) != len(names):
        return UNREADABLE
    texts = {name: text for name, text in zip(names, row, strict=True) if name}
    hour, symbol = _hour(texts["date"]), query.options["symbol"]
    numbers = {name: _number(texts.get(name, "")) for name in ("epsEstimate", "reportedEPS", "surprisePercent")}
    # A row of another company is off the subject, and a broken number leaves the row without meaning.
    if hour is None or (symbol is not None and texts["symbol"].upper() != symbol) or _BROKEN in numbers.values():
        return UNREADABLE
    late = delayed(hour, EARLY)
    payload: Mapping[str, object] = {
        "symbol": texts["symbol"],
        **({"company": texts.get("company")} if query.open_mode else {}),  # today's name, of each of its rows
        "date": f"{hour:%Y-%m-%dT%H:%M}",
        **numbers,
    }
    return Record(
        id=f"{texts['symbol']}@{hour:%Y-%m-%dT%H}",
        available_at=received,
        payload=payload,
        at_receipt=True,
        claimed_at=None if numbers["reportedEPS"] is None else _end_of_business_day(late),
    )


def _end_of_business_day(late: datetime | None) -> datetime | None:
    return None if late is None or is_weekend(late.date()) else end_of_day(late.date(), NEW_YORK)


def _hour(text: str) -> datetime | None:
    """Return the hour of a row by New York's clock; None for any other text. Its end is as good as its beginning."""
    match = _STAMP.fullmatch(" ".join(text.split()))
    if match is None:
        return None
    month, day, year, clock, half, _ = match.groups()
    known = [place for place, name in enumerate(_MONTHS, 1) if name == month or name[:3] == month]
    if not known or not 1 <= int(clock) <= 12:
        return None
    try:
        return datetime(int(year), known[0], int(day), int(clock) % 12 + (12 if half == "PM" else 0))  # noqa: DTZ001
    except ValueError:
        return None


_BROKEN = "?"


def _number(text: str) -> str | None:
    """Return a figure as the source writes it; None for nothing."""
    text = text.strip().rstrip("%").strip()
    if text in _NOTHING:
        return None
    return text.replace(",", "") if _NUMBER.fullmatch(text) else _BROKEN


class _Page(HTMLParser):
    """Parse the tables of a page, as texts, and all its texts. A table within a cell belongs to the cell."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[_Table] = []
        self.texts: list[str] = []
        self.depth = 0
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.depth += tag == "table"
        if self.depth != 1:
            return
        if tag == "table":
            self.tables.append(_Table([], []))
        elif tag == "tr":
            self._cell = None
            self.tables[-1].rows.append([])
        elif tag in ("td", "th") and self.tables[-1].rows:
            self._cell = []
            row = self.tables[-1].rows[-1]
            (self.tables[-1].heading if tag == "th" and len(self.tables[-1].rows) == 1 else row).append(self._cell)

    def handle_endtag(self, tag: str) -> None:
        if self.depth == 1 and tag in ("td", "th", "tr", "table"):
            self._cell = None
        self.depth -= tag == "table" and self.depth > 0

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._cell is not None:
            self._cell.append(data)
