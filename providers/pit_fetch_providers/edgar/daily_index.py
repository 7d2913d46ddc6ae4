"""EDGAR's daily index: which filings were disseminated on a day. Pure.

The "Daily Index of EDGAR Dissemination Feed", as it calls itself, is written shortly after 22:00 New York on each
business day. A filing that it lists was sent out on that day, whatever its filing date; of 9,009 recorded rows, 176
carry an earlier one (letters, drafts, EFFECT, an S-8). There is none for weekends and holidays.

The same rows come in four layouts (form, master, company, crawler). The master index is the smallest, and separates
its columns with bars; the first three layouts are read here.

>>> path(date(2024, 2, 15)), path(date(2024, 2, 17))
('/Archives/edgar/daily-index/2024/QTR1/master.20240215.idx', None)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from pit_fetch.times import NEW_YORK, end_of_day, is_weekend, parse_http_date

# Accession number -> the names under which an index lists the filing. The bars of the master index alone part them from
# the rest of their rows; from the other layouts there are none.
Listed = Mapping[str, tuple[str, ...]]

_TITLE = re.compile(r"Description:\s+Daily Index of EDGAR Dissemination Feed\b")
_LAST_DATA = re.compile(r"^Last Data Received:\s+([A-Z][a-z]{2})[a-z]*\s+([0-9]{1,2}),\s+([0-9]{4})\s*$", re.MULTILINE)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
# "1000228|HENRY SCHEIN INC|4|20181231|edgar/data/1000228/0001209191-18-064398.txt": the end is the same in all layouts.
_ROW = re.compile(
    r"[ |][0-9]{4}-?[0-9]{2}-?[0-9]{2}[ |]+edgar/data/[0-9]{1,10}/([0-9]{10}-[0-9]{2}-[0-9]{6})\.txt[ \t\r]*$",
    re.MULTILINE,
)


def path(day: date) -> str | None:
    """Return the path of the index of ``day``; None for a weekend, which has none."""
    if is_weekend(day):
        return None
    quarter = (day.month + 2) // 3
    return f"/Archives/edgar/daily-index/{day.year}/QTR{quarter}/master.{day:%Y%m%d}.idx"


def parse(body: bytes, day: date) -> Listed | None:
    """Return the filings that the index of ``day`` lists; None if ``body`` is not that index.

    An unreadable row is left out, and its filing counts as not listed.
    """
    text = body.decode("latin-1")
    last = _LAST_DATA.search(text[:2_000])
    if not _TITLE.match(text) or last is None or last[1] not in _MONTHS:
        return None
    if (int(last[3]), _MONTHS.index(last[1]) + 1, int(last[2])) != (day.year, day.month, day.day):
        return None
    listed: dict[str, tuple[str, ...]] = {}
    for row in _ROW.finditer(text):
        name, names = _name(text[text.rfind("\n", 0, row.start()) + 1 : row.start()]), listed.get(row[1], ())
        listed[row[1]] = names if name in ("", *names) else (*names, name)
    return listed


def _name(head: str) -> str:
    """Return the name in the head of a row, ``1000228|HENRY SCHEIN INC|4``; "" in another layout."""
    columns = head.split("|")
    return columns[1].strip() if len(columns) == 3 and columns[0].isdigit() else ""


def is_complete(day: date, sent: str | None) -> bool:
    """Return whether a reply sent at ``sent`` (an HTTP ``Date``) can cover the whole of ``day``.

    The wall clock that led to the request may be wrong, and a file fetched too early would be kept for good. Without
    a readable date, the wall clock has to do.
    """
    moment = parse_http_date(sent)
    over = end_of_day(day, NEW_YORK)
    return over is not None and (moment is None or moment >= over)
