"""Leaks of perplexity: its two days, answers, filters, its errors."""

from __future__ import annotations

from datetime import timedelta, tzinfo
from typing import Any

from pit_fetch.times import NEW_YORK, end_of_day, end_of_day_anywhere, parse_date
from tests.laws.mutants.leak import Mutant, echoing, fails, readable_alone, redated
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.perplexity"
_PAGES, _FAILURES, _PAGING = ("perplexity: non-interference",), ("perplexity: failures",), ("perplexity: paging",)


def _pages(change: Any) -> Make:
    return redated(lambda rows: rows, change)


def _claimed_at_midnight(row: Any, made: Any) -> Any:
    return made._replace(claimed_at=made.claimed_at and made.claimed_at - timedelta(days=1))


def _by(*names: str, zone: tzinfo | None = None) -> Make:
    """Return the leak that dates a page by those of these days that it has, of which the later ends in ``zone``."""

    def change(row: Any, made: Any) -> Any:
        days = [day for name in names if (day := parse_date(row.get(name))) is not None]
        if not days or (zone is not None and made.available_at is None):
            return made
        ends = end_of_day_anywhere(max(days)) if zone is None else end_of_day(max(days), zone)
        return made._replace(available_at=ends)

    return _pages(change)


def _with_the_answer(real: Any) -> Any:
    return lambda body, query, received: real(body, query._replace(pit=None), query.pit or received)


def _uncited(real: Any) -> Any:
    def read(body: Any, query: Any, received: Any) -> Any:
        records = list(real(body, query, received))
        return records if records else fails("it cites nothing that is known")

    return read


MUTANTS = (
    Mutant("perplexity: a page is dated by its creation", f"{_HERE}.pages:records", _by("date"), _PAGES),
    Mutant("perplexity: a page is dated by its update", f"{_HERE}.pages:records", _by("last_updated"), _PAGES),
    Mutant("perplexity: one day is enough", f"{_HERE}.pages:records", _by("date", "last_updated"), _PAGES),
    Mutant(
        "perplexity: a day ends in New York",
        f"{_HERE}.pages:records",
        _by("date", "last_updated", zone=NEW_YORK),
        _PAGES,
    ),
    Mutant("perplexity: the answer is served at the PIT", f"{_HERE}.pages:parse_answer", _with_the_answer, _PAGES),
    Mutant("perplexity: an answer that cites nothing is an error", f"{_HERE}.pages:parse_answer", _uncited, _FAILURES),
    Mutant("perplexity: a spoilt result fails the fetch", f"{_HERE}.pages:records", readable_alone, _PAGES),
    Mutant("perplexity: the error's text is echoed", f"{_HERE}:ask_search", echoing(), _FAILURES),
    Mutant(
        "perplexity: a cursor narrows the search",
        f"{_HERE}.request:last_day",
        lambda real: lambda query: real(query._replace(now=query.horizon)),
        _PAGING,
    ),
    Mutant(
        "perplexity: a page claims to be of the beginning of its day",
        f"{_HERE}.pages:records",
        _pages(_claimed_at_midnight),
        ("perplexity: claimed: non-interference",),
    ),
    Mutant(
        "perplexity: the day of the PIT is asked for",
        f"{_HERE}.request:last_day",
        lambda real: lambda query: (last := real(query)) and last + timedelta(days=2),
        _PAGES,
    ),
)
