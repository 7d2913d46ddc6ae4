"""Read EDGAR's account of one filing's acceptance: its header, its index page, a submissions file. Pure.

>>> str(submitted("0000320193-24-000123", "2024-11-01", "2024-11-01T06:01:36.000Z").accepted)
'2024-11-01 06:01:36'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

from pit_fetch.times import parse_date
from pit_fetch.wire import unescape
from pit_fetch_providers.edgar.acceptance import Acceptance
from pit_fetch_providers.edgar.numbers import ACCESSION, PAPER

# EDGAR began in it.
FIRST_YEAR = 1993
# What a full submission and its header are called. Until 1996 it was IMS.
ENVELOPE = "(?:SEC|IMS)"
_HEADER_DATE = re.compile(rf"<{ENVELOPE}-(?:HEADER|DOCUMENT)>\s*[\w.-]+\s*:\s*([0-9]*)")
HEADER_OF = re.compile(rf"<{ENVELOPE}-(?:HEADER|DOCUMENT)>\s*({ACCESSION})\b")
_ACCEPTED = re.compile(r"<ACCEPTANCE-DATETIME>\s*([0-9]*)")
_FILED = re.compile(r"(?:FILED AS OF DATE:|<FILING-DATE>)\s*([0-9]*)")
# At the start of a line: a letter's header also has a PUBLIC REFERENCE ACCESSION NUMBER, of another filing.
_ACCESSION = re.compile(r"^(?:ACCESSION NUMBER:|<ACCESSION-NUMBER>)[ \t]*([0-9-]*)", re.MULTILINE)
_NAME = re.compile(r"^[ \t]*(?:COMPANY CONFORMED NAME:|<CONFORMED-NAME>)(.*)", re.MULTILINE)
_FORM = re.compile(r"^(?:CONFORMED SUBMISSION TYPE:|<TYPE>)[ \t]*([^\r\n<]*)", re.MULTILINE)
_HEADER_END = re.compile(f"</{ENVELOPE}-HEADER>")
_MULTIPLE = "<MULTI-ACCESSION-NUMBERS>"
_MIDNIGHTS_IN_UTC = (time(4), time(5))
_INDEX_FIELD = r'<div class="infoHead">\s*%s\s*</div>\s*<div class="info">([^<]*)</div>'
# Between them there is a label, of about 100 characters with its markup.
_INDEX_ACCESSION = re.compile(rf'id="secNum".{{0,300}}?({ACCESSION})', re.DOTALL)
_SUBMISSIONS_DIGITS = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?Z?")


def parse_header(body: bytes, accession: str) -> Acceptance | None:
    """Return the SGML header of ``accession``: ``.hdr.sgml``, the head of ``.txt``, or ``-index-headers.html``.

    None for anything else: an error page, or a header that is cut off, of another filing, or unreadable in any of its
    dates. If a value appears twice (the page repeats the header), the later one counts.
    """
    text = body.decode("utf-8", "replace")
    is_page = re.match(r"\s*<html", text, re.IGNORECASE) is not None
    text = unescape(text) if is_page else text
    ends = [end.start() for end in _HEADER_END.finditer(text)]
    text = text[: ends[-1 if is_page else 0]] if ends else ""
    # With <MULTI-ACCESSION-NUMBERS>, its own number is followed by those of filings submitted with it.
    numbers = set(_ACCESSION.findall(text)) if _MULTIPLE not in text else set(HEADER_OF.findall(text))
    if numbers != {accession} or accession not in _ACCESSION.findall(text):
        return None
    released, filed = _dates(_HEADER_DATE.findall(text)), _dates(_FILED.findall(text))
    accepted = [_digits(text, "%Y%m%d%H%M%S") for text in _ACCEPTED.findall(text)]
    if not released or not filed or None in accepted:
        return None
    latest = max((moment for moment in accepted if moment), default=None)
    return Acceptance(
        accepted=latest,
        filed=max(filed),
        released=max(released),
        private="<PRIVATE-TO-PUBLIC>" in text,
        day_only=latest is not None and _tells_the_day_only(latest, accession),
        names=tuple(dict.fromkeys(name.strip() for name in _NAME.findall(text))),
        form=next(iter(_FORM.findall(text)), "").strip().upper(),
    )


def parse_index_page(body: bytes, accession: str) -> Acceptance | None:
    """Return the ``-index.htm`` page of ``accession``. It does not show a later release: for ordinary forms only."""
    text = body.decode("utf-8", "replace")
    filed, accepted = (re.search(_INDEX_FIELD % name, text) for name in ("Filing Date", "Accepted"))
    number = _INDEX_ACCESSION.search(text)
    if not filed or not accepted or not number or number[1] != accession:
        return None
    day, moment = parse_date(filed[1].strip()), _digits(accepted[1].strip(), "%Y-%m-%d %H:%M:%S")
    if day is None or moment is None or _tells_the_day_only(moment, accession):
        return None
    return Acceptance(moment, day)


def parse_submissions(columns: Any, accession: str) -> Acceptance | None:
    """Return the row of ``accession`` in a submissions file's columns, as :func:`submitted` reads it."""
    numbers, days, stamps = (column(columns, n) for n in ("accessionNumber", "filingDate", "acceptanceDateTime"))
    if accession not in numbers:
        return None
    row = numbers.index(accession)
    return submitted(accession, days[row], stamps[row]) if row < min(len(days), len(stamps)) else None


def submitted(accession: str, filed: Any, stamp: Any) -> Acceptance | None:
    """Return the acceptance in a row of a submissions file. Only a bound: for ordinary forms only.

    ``2022-05-06T18:30:57.000Z`` is New York wall clock in some files and UTC in others, and the same filing has been
    seen both ways. Read as New York time it is exact or four to five hours late; read as UTC it would be early. For
    filings before 2003 it is midnight of the filing date, in either convention (``T05:00:00``): merely the filing
    date in other words.
    """
    day, digits = parse_date(filed), _SUBMISSIONS_DIGITS.fullmatch(str(stamp))
    moment = _digits(digits[1], "%Y-%m-%dT%H:%M:%S") if digits else None
    if day is None or moment is None or moment.year < FIRST_YEAR or _tells_the_day_only(moment, accession):
        return None
    return None if moment.time() in _MIDNIGHTS_IN_UTC else Acceptance(moment, day, coarse=True)


def column(columns: Any, name: str) -> list[Any]:
    """Return a column of a submissions file; an empty one if there is none."""
    values = columns.get(name) if isinstance(columns, dict) else None
    return values if isinstance(values, list) else []


def _tells_the_day_only(accepted: datetime, accession: str) -> bool:
    """Return whether an acceptance has no real time of day: midnight is how a date looks once turned into a time."""
    return accepted.time() == time(0) or accession.startswith(PAPER)


def _dates(texts: Sequence[str]) -> list[date]:
    moments = [_digits(text, "%Y%m%d") for text in texts]
    return [] if None in moments else [moment.date() for moment in moments if moment]


def _digits(text: str, form: str) -> datetime | None:
    """Return a naive wall-clock reading. The length is checked: strptime also accepts ``2024112`` as a date."""
    if len(text) != len(datetime(2000, 11, 11).strftime(form)):  # noqa: DTZ001 - for its length
        return None
    try:
        return datetime.strptime(text, form)  # noqa: DTZ007 - a wall clock on purpose
    except ValueError:
        return None
