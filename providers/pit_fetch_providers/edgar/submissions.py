"""A company's list of filings (``/submissions/CIK….json``): the newest thousand or so, and files of older ones.

The list is today's, and grows at its head. Which filings its files hold therefore depends on later filings, so the
rows are put in order here, and where a file ends means nothing. Names, tickers and the like in it are today's, too, and
not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, HttpReply, UpstreamError
from pit_fetch.times import parse_date
from pit_fetch.wire import lenient_json
from pit_fetch_providers.edgar import client
from pit_fetch_providers.edgar.acceptance import Acceptance
from pit_fetch_providers.edgar.header import column, submitted
from pit_fetch_providers.edgar.numbers import ACCESSION, CIK

_ACCESSION = re.compile(ACCESSION)
_CIK = re.compile(CIK)
# A file of older filings, by its name.
_OLDER_FILE = re.compile(r"CIK[0-9]{10}-submissions-[0-9]{3}\.json")
# A file of older filings was recorded that holds one of the day after its last.
_OVERLAP = timedelta(days=7)
# What of a row is read. The first three date it, and every reader needs them.
_COLUMNS = (
    "accessionNumber", "filingDate", "acceptanceDateTime", "form", "items", "reportDate", "primaryDocument"
)  # fmt: skip
_DATING = _COLUMNS[:3]


class Row(NamedTuple):
    """A filing as the list has it."""

    accession: str
    form: str  # as filed, "10-K/A"
    filed: date
    submitted: Acceptance | None = None  # a bound, for ordinary forms only
    items: tuple[str, ...] = ()  # of an 8-K
    period: str | None = None
    document: str | None = None  # the primary one, below the filing's folder


def file_of(cik: int) -> str:
    """Return the name of the file with a company's newest filings."""
    return f"CIK{cik:010d}.json"


def document(body: bytes) -> dict[str, Any]:
    """Return a decoded file of the list. Raise UpstreamError for any other document, and for one with torn rows."""
    decoded = lenient_json(body, 4)  # {"filings": {"recent": {"form": [row, ...]}}}
    if not isinstance(decoded, dict):
        raise UpstreamError(Code.MALFORMED, problem="it is not a list of filings")
    _check_rows(_held(decoded))
    return decoded


def _held(listed: Mapping[str, Any]) -> Any:
    """Return the columns that a decoded file holds itself: a company's list below ``recent``, an older file at once."""
    filings = listed.get("filings", {"recent": listed})
    return filings.get("recent") if isinstance(filings, dict) else None


def _check_rows(columns: Any) -> None:
    """Raise UpstreamError for columns that differ in length: nothing shows which of their values are one row."""
    held = columns if isinstance(columns, dict) else {}
    lengths = {len(column(held, name)) for name in _COLUMNS if name in _DATING or name in held}
    if len(lengths) > 1:
        raise UpstreamError(Code.MALFORMED, problem="its columns are not of one length")


class OlderFile(NamedTuple):
    """A file of older filings, by the filing dates that it says to hold. One without a readable name has ""."""

    last: date
    name: str
    first: date

    def begins_by(self, day: date) -> bool:
        """Return whether it may hold what was filed by ``day``: one whose first date is unknown may hold anything."""
        return self.first <= day

    def ends_before(self, day: date) -> bool:
        """Return whether it holds nothing that was filed on ``day`` or later."""
        return day - self.last > _OVERLAP


def newest_first(
    context: Context, cik: int, last: date, first: Callable[[], date] = lambda: date.min
) -> Iterator[Row | None]:
    """Yield the rows of a company's list by filing date, newest first; None for an unreadable one.

    Rows filed from ``first()`` to ``last`` are wanted. A file of older filings that begins later is left alone, since
    its failure would tell that there are later filings. Any other one is read when its rows are due, unless it ends
    before, and its failure is an error. A company without a list has none. Raise UpstreamError.
    """
    reply = client.get(context, client.DATA, f"/submissions/{file_of(cik)}")
    if client.is_missing(reply, client.DATA):
        return
    listed = document_of(cik, reply.body)
    filings = listed.get("filings")
    filings = filings if isinstance(filings, dict) else {}
    waiting = list(rows(_columns(filings.get("recent"))))
    for older in sorted((file for file in older_files(filings.get("files")) if file.begins_by(last)), reverse=True):
        due = [row for row in waiting if row is None or older.ends_before(row.filed)]
        waiting = [row for row in waiting if row is not None and not older.ends_before(row.filed)]
        yield from _by_date(due)
        if older.ends_before(first()):
            break
        waiting += rows(_columns(document(_older(context, older).body)))
    yield from _by_date(waiting)


class Saved(NamedTuple):
    """A saved reply: the company's number, and its rows. A file of older filings does not show the number."""

    cik: int | None
    rows: Iterator[Row | None]


def saved(body: bytes) -> Saved:
    """Return a saved reply, be it a company's list or a file of older filings. Raise UpstreamError."""
    listed = document(body)
    return Saved(_number(listed), _by_date(rows(_columns(_held(listed)))))


def rows(columns: Mapping[str, Sequence[Any]]) -> Iterator[Row | None]:
    """Yield the rows of one file's columns, in its order; None for one that is unreadable."""
    return (_row(*values) for values in zip(*(columns[name] for name in _COLUMNS), strict=True))


def row_in(columns: Mapping[str, Any]) -> Row | None:
    """Return the row that one cell of each column makes; None for an unreadable one."""
    return _row(*(columns.get(name) for name in _COLUMNS))


def _row(number: Any, filed: Any, stamp: Any, form: Any, items: Any, period: Any, document: Any) -> Row | None:
    day = parse_date(filed)
    if not isinstance(number, str) or not _ACCESSION.fullmatch(number) or not isinstance(form, str) or day is None:
        return None
    return Row(
        accession=number,
        form=form.upper(),
        filed=day,
        submitted=submitted(number, filed, stamp),
        items=tuple(filter(None, items.split(","))) if isinstance(items, str) else (),
        period=period if parse_date(period) else None,
        document=document if isinstance(document, str) and document else None,
    )


def _by_date(some: Iterable[Row | None]) -> Iterator[Row | None]:
    every = list(some)
    yield from (None for row in every if row is None)
    readable = (row for row in every if row is not None)
    yield from sorted(readable, key=lambda row: (row.filed, row.accession), reverse=True)


def older_files(files: Any) -> Iterator[OlderFile]:
    """Yield the files of older filings that a company's list names. A date that cannot be read rules nothing out.

    A list that does not tell them has one without a name: something may be in it.
    """
    for file in files if isinstance(files, list) else [None]:
        entry = file if isinstance(file, dict) else {}
        name = str(entry.get("name"))
        yield OlderFile(
            last=parse_date(entry.get("filingTo")) or date.max,
            name=name if _OLDER_FILE.fullmatch(name) else "",
            first=parse_date(entry.get("filingFrom")) or date.min,
        )


def _older(context: Context, older: OlderFile) -> HttpReply:
    if not older.name:
        raise UpstreamError(Code.MALFORMED, problem="its older files cannot be told")
    reply = client.get(context, client.DATA, f"/submissions/{older.name}")
    if client.is_missing(reply, client.DATA):
        raise UpstreamError(Code.INCOMPLETE, host=client.DATA)
    return reply


def document_of(cik: int, body: bytes) -> dict[str, Any]:
    """Return a decoded file of a company's. Raise UpstreamError for any other document, also of another company."""
    listed = document(body)
    if _number(listed) not in (cik, None):  # a file of older filings does not show it
        raise UpstreamError(Code.MALFORMED, problem="it is of another company")
    return listed


def _number(listed: Mapping[str, Any]) -> int | None:
    """Return the number of the company whose list it is; None if it does not show one."""
    cik = str(listed.get("cik"))
    return int(cik) if _CIK.fullmatch(cik) else None


def _columns(columns: Any) -> dict[str, Any]:
    """Return the columns of a file. Raise UpstreamError if one is missing: all its filings would seem to be."""
    if not isinstance(columns, dict) or not all(isinstance(columns.get(name), list) for name in _COLUMNS):
        raise UpstreamError(Code.MALFORMED, problem="it has no list of filings")
    return columns
