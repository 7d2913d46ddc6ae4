"""When a filing became public: from what EDGAR says of its acceptance to an instant. Pure.

    available_at = max(acceptance + 3 minutes, 06:00 of the filing date, end of the header date if that is later)

All of it is New York wall clock. A filing accepted after 17:30 gets the next business day as its
filing date and is invisible until then (17 CFR 232.13): the acceptance time alone would be early by
up to 12 hours, over a weekend by 60. A letter or a draft carries ``<PRIVATE-TO-PUBLIC>``, or at
least a date in the first line of its header that is later than its filing date: the day on which it
was released (UPLOAD 0000000000-24-003505: accepted on 2 April 2024, released on 14 June).
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from pit_fetch.times import NEW_YORK, end_of_day, parse_date, wall_clock

# "Usually 1-3 minutes" after the EDGAR time stamp (SEC webmaster FAQ); recorded feeds list filings 24-74 s old.
DISSEMINATION = timedelta(minutes=3)
OPENING_HOUR = 6

_HEADER_DATE = re.compile(r"<SEC-(?:HEADER|DOCUMENT)>\s*[\w.-]+\s*:\s*([0-9]*)")
_ACCEPTED = re.compile(r"<ACCEPTANCE-DATETIME>\s*([0-9]*)")
_FILED = re.compile(r"(?:FILED AS OF DATE:|<FILING-DATE>)\s*([0-9]*)")
# At the start of a line: a letter's header also names a PUBLIC REFERENCE ACCESSION NUMBER, which is another filing.
_ACCESSION = re.compile(r"^(?:ACCESSION NUMBER:|<ACCESSION-NUMBER>)[ \t]*([0-9-]*)", re.MULTILINE)
_NAME = re.compile(r"^[ \t]*(?:COMPANY CONFORMED NAME:|<CONFORMED-NAME>)[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)
_HEADER_END = "</SEC-HEADER>"
_INDEX_FIELD = r'<div class="infoHead">\s*%s\s*</div>\s*<div class="info">\s*([^<]*?)\s*</div>'
_INDEX_ACCESSION = re.compile(r'id="secNum"[^>]*>.*?([0-9]{10}-[0-9]{2}-[0-9]{6})', re.DOTALL)
_SUBMISSIONS_DIGITS = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?Z?")


class Acceptance(NamedTuple):
    """What EDGAR says of one filing.

    accepted   the acceptance, naive New York wall clock; None where the header has none (before 2002)
    filed      the filing date
    released   the date in the header's first line: of the (last) dissemination; None from an index page
    private    the filing was not public at first
    names      the filers, subjects and issuers as the header names them
    coarse     ``accepted`` may be hours late: not to be shown
    """

    accepted: datetime | None
    filed: date
    released: date | None = None
    private: bool = False
    names: tuple[str, ...] = ()
    coarse: bool = False


def accepted_at(acceptance: Acceptance) -> datetime | None:
    """The UTC instant of the acceptance; an hour that the clock change repeats means its second pass."""
    return None if acceptance.accepted is None else wall_clock(acceptance.accepted, NEW_YORK)


def available_at(acceptance: Acceptance, filed: date) -> datetime | None:
    """The UTC instant from which the filing was public; None when that cannot be shown.

    ``filed`` is the filing date of the search index; where the two differ the later one counts.
    """
    filed, released = max(filed, acceptance.filed), acceptance.released
    bounds: list[datetime | None] = []
    if acceptance.accepted is not None:
        accepted = accepted_at(acceptance)
        bounds.append(accepted and accepted + DISSEMINATION)
        bounds.append(wall_clock(datetime(filed.year, filed.month, filed.day, OPENING_HOUR), NEW_YORK))  # noqa: DTZ001
    if acceptance.private or acceptance.accepted is None or (released is not None and released > filed):
        bounds.append(None if released is None else end_of_day(max(released, filed), NEW_YORK))
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


def parse_header(body: bytes, accession: str) -> Acceptance | None:
    """The SGML header of ``accession``: ``.hdr.sgml``, the head of ``.txt``, or ``-index-headers.html``.

    None for anything else: an error page, a header that is cut, of another filing, or unreadable in
    any of its dates. Where a value stands twice (the page repeats the header), the later one counts.
    """
    text = body.decode("utf-8", "replace")
    if re.match(r"\s*<html", text, re.IGNORECASE):
        text = html.unescape(text)
        text = text[: text.rfind(_HEADER_END)] if _HEADER_END in text else ""
    else:
        text = text.partition(_HEADER_END)[0] if _HEADER_END in text else ""
    if set(_ACCESSION.findall(text)) != {accession}:
        return None
    released, filed = _dates(_HEADER_DATE.findall(text)), _dates(_FILED.findall(text))
    accepted = [_digits(text, "%Y%m%d%H%M%S") for text in _ACCEPTED.findall(text)]
    if not released or not filed or None in accepted:
        return None
    return Acceptance(
        accepted=max((moment for moment in accepted if moment), default=None),
        filed=max(filed),
        released=max(released),
        private="<PRIVATE-TO-PUBLIC>" in text,
        names=tuple(dict.fromkeys(_NAME.findall(text))),
    )


def parse_index_page(body: bytes, accession: str) -> Acceptance | None:
    """The ``-index.htm`` page of ``accession``. It does not tell a release: for ordinary forms only."""
    text = body.decode("utf-8", "replace")
    filed, accepted = (re.search(_INDEX_FIELD % name, text) for name in ("Filing Date", "Accepted"))
    number = _INDEX_ACCESSION.search(text)
    if not filed or not accepted or not number or number[1] != accession:
        return None
    day, moment = parse_date(filed[1]), _digits(accepted[1], "%Y-%m-%d %H:%M:%S")
    return None if day is None or moment is None else Acceptance(moment, day)


def parse_submissions(columns: Any, accession: str) -> Acceptance | None:
    """The row of ``accession`` in a submissions file's columns. Only a bound: for ordinary forms only.

    ``2022-05-06T18:30:57.000Z`` is New York wall clock in some files and UTC in others, and the same
    filing has been seen both ways. Read as New York time it is exact or four to five hours late; read
    as UTC it would be early.
    """
    numbers, days, stamps = (_column(columns, n) for n in ("accessionNumber", "filingDate", "acceptanceDateTime"))
    if accession not in numbers:
        return None
    row = numbers.index(accession)
    if row >= min(len(days), len(stamps)):
        return None
    day, digits = parse_date(days[row]), _SUBMISSIONS_DIGITS.fullmatch(str(stamps[row]))
    moment = _digits(digits[1], "%Y-%m-%dT%H:%M:%S") if digits else None
    return None if day is None or moment is None else Acceptance(moment, day, coarse=True)


def _column(columns: Any, name: str) -> list[Any]:
    column = columns.get(name) if isinstance(columns, dict) else None
    return column if isinstance(column, list) else []


def _dates(texts: Sequence[str]) -> list[date]:
    """The dates of ``YYYYMMDD`` texts; none at all when one is unreadable."""
    moments = [_digits(text, "%Y%m%d") for text in texts]
    return [] if None in moments else [moment.date() for moment in moments if moment]


def _digits(text: str, form: str) -> datetime | None:
    """A naive wall clock reading. The length is checked: strptime also takes ``2024112`` for a date."""
    if len(text) != len(datetime(2000, 11, 11).strftime(form)):  # noqa: DTZ001 - for its length
        return None
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007 - a wall clock on purpose
    except ValueError:
        return None
