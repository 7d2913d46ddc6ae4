"""Leaks of perplexity: its two days, answers, filters, its errors."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch_providers.perplexity.pages import _record as _a_page

from tests.laws.mutants.leak import Mutant, echoing, fails
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.perplexity"
_PAGES, _FAILURES, _PAGING = ("perplexity: non-interference",), ("perplexity: failures",), ("perplexity: paging",)


def _claimed_at_midnight(real: Any) -> Any:
    def record(row: Any) -> Any:
        made = real(row)
        return made._replace(claimed_at=made.claimed_at and made.claimed_at - timedelta(days=1))

    return record


def _by(*names: str) -> Make:
    """Return the leak that dates a page by these of its fields alone."""

    def make(real: Any) -> Any:
        def public_from(row: Any) -> Any:
            known = [row[name] for name in names if isinstance(row.get(name), str)]
            return real({"date": max(known), "last_updated": max(known)}) if known else None

        return public_from

    return make


def _ends(zone: str) -> Make:
    """Return the leak of a day that ends where the server may stand."""

    def make(real: Any) -> Any:
        def public_from(row: Any) -> Any:
            if real(row) is None:
                return None
            day = max(date.fromisoformat(row["date"]), date.fromisoformat(row["last_updated"]))
            return datetime.combine(day + timedelta(days=1), time(0), ZoneInfo(zone))

        return public_from

    return make


def _with_the_answer(real: Any) -> Any:
    return lambda body, query, received: real(body, query._replace(pit=None), query.pit or received)


def _uncited(real: Any) -> Any:
    def read(body: Any, query: Any, received: Any) -> Any:
        records = list(real(body, query, received))
        return records if records else fails("it cites nothing that is known")

    return read


def _readable_alone(real: Any) -> Any:
    def records(rows: Any) -> Any:
        rows = list(rows)
        return real(rows) if all(isinstance(row, dict) and _a_page(row).id for row in rows) else fails()

    return records


MUTANTS = (
    Mutant("perplexity: a page is dated by its creation", f"{_HERE}.pages:_public_from", _by("date"), _PAGES),
    Mutant("perplexity: a page is dated by its update", f"{_HERE}.pages:_public_from", _by("last_updated"), _PAGES),
    Mutant("perplexity: one day is enough", f"{_HERE}.pages:_public_from", _by("date", "last_updated"), _PAGES),
    Mutant("perplexity: a day ends in New York", f"{_HERE}.pages:_public_from", _ends("America/New_York"), _PAGES),
    Mutant("perplexity: a day ends in UTC", f"{_HERE}.pages:_public_from", _ends("UTC"), _PAGES),
    Mutant("perplexity: the answer is served at the PIT", f"{_HERE}.pages:parse_answer", _with_the_answer, _PAGES),
    Mutant("perplexity: an answer that cites nothing is an error", f"{_HERE}.pages:parse_answer", _uncited, _FAILURES),
    Mutant("perplexity: a spoilt result fails the fetch", f"{_HERE}.pages:records", _readable_alone, _PAGES),
    Mutant("perplexity: the error's text is echoed", f"{_HERE}.api:_checked", echoing(), _FAILURES),
    Mutant(
        "perplexity: a cursor narrows the search",
        f"{_HERE}.request:last_day",
        lambda real: lambda query: real(query._replace(now=query.horizon)),
        _PAGING,
    ),
    Mutant(
        "perplexity: a page claims to be of the beginning of its day",
        f"{_HERE}.pages:_record",
        _claimed_at_midnight,
        ("perplexity: claimed: non-interference",),
    ),
    Mutant(
        "perplexity: the day of the PIT is asked for",
        f"{_HERE}.request:last_day",
        lambda real: lambda query: (last := real(query)) and last + timedelta(days=2),
        _PAGES,
    ),
)
