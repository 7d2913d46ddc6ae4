"""Leaks of earningscall: the day of a call, transcripts that are asked for too early, its errors."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

from pit_fetch_providers.earningscall import api, calls

from pit_fetch.times import NEW_YORK
from tests.laws.mutants.leak import Mutant, echoing, fails, readable_alone
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.earningscall"
_CALLS_OF = f"{_HERE}.calls"
_CORPUS = ("corpus: no leak",)
_CALLS, _FAILURES = ("earningscall: non-interference",), ("earningscall: failures",)


def _public(by: Any) -> Make:
    return lambda real: lambda starts: by(starts)


def _in_its_own_zone(real: Any) -> Any:
    def call(row: Any, query: Any, exchange: Any, symbol: Any) -> Any:
        made = real(row, query, exchange, symbol)
        if made.available_at is None:
            return made
        day = datetime.fromisoformat(row["conference_date"]).date() + timedelta(days=1)
        return made._replace(available_at=datetime.combine(day, time(12), NEW_YORK))

    return call


def _naive_is_new_york(real: Any) -> Any:
    def call(row: Any, query: Any, exchange: Any, symbol: Any) -> Any:
        made, text = real(row, query, exchange, symbol), row.get("conference_date")
        if made.available_at is not None or not isinstance(text, str) or not text[:4].isdigit():
            return made
        starts = datetime.fromisoformat(text.removesuffix("-00:00")).replace(tzinfo=NEW_YORK)
        return made._replace(available_at=starts + timedelta(hours=30))

    return call


def _stored_before(real: Any) -> Any:
    def date_transcript(transcript: Any, call: Any, stored: Any) -> Any:
        return real(transcript, call, None if stored is None else max(stored, call.available_at))

    return date_transcript


def _spoilt(real: Any) -> Any:
    def transcript(stored: Any, call: Any, query: Any) -> Any:
        list(calls.transcripts(stored.body, query, None, None))
        return real(stored, call, query)

    return transcript


def _with_later_ones(real: Any) -> Any:
    return lambda every, query: real(every, query._replace(horizon=datetime.max.replace(tzinfo=UTC)))


def _never_changed(real: Any) -> Any:
    return lambda transcript, call, stored: real(transcript, call, stored)._replace(revised_at=None)


def _claimed_whenever_it_was_stored(real: Any) -> Any:
    def date_transcript(transcript: Any, call: Any, stored: Any) -> Any:
        return real(transcript, call, stored)._replace(claimed_at=call.available_at)

    return date_transcript


MUTANTS = (
    Mutant(
        "earningscall: a transcript of another day has a claim",
        f"{_CALLS_OF}:date_transcript",
        _claimed_whenever_it_was_stored,
        ("earningscall: claimed: non-interference",),
    ),
    Mutant(
        "earningscall: today's exchange under a ceiling",
        f"{_HERE}:of_today",
        lambda real: lambda query: (),
        ("earningscall: ceiling",),
    ),
    Mutant(
        "earningscall: a call is public when it begins",
        f"{_HERE}.calls:noon_after",
        _public(lambda starts: starts),
        _CALLS,
    ),
    Mutant(
        "earningscall: a call is public at the end of its day",
        f"{_HERE}.calls:noon_after",
        _public(
            lambda starts: datetime.combine(starts.astimezone(NEW_YORK).date() + timedelta(days=1), time(0), NEW_YORK)
        ),
        _CALLS,
    ),
    Mutant("earningscall: a call's day is that of its offset", f"{_HERE}.calls:_call", _in_its_own_zone, _CALLS),
    Mutant("earningscall: a time without an offset is New York's", f"{_HERE}.calls:_call", _naive_is_new_york, _CALLS),
    Mutant(
        "earningscall: a transcript counts from what the list says",
        f"{_HERE}.calls:date_transcript",
        lambda real: lambda transcript, call, stored: transcript._replace(available_at=call.available_at),
        _CALLS,
    ),
    Mutant(
        "earningscall: a transcript needs no time at which it was stored",
        f"{_CALLS_OF}:unproven",
        lambda real: lambda transcript: transcript,
        _CALLS,
    ),
    Mutant(
        "earningscall: a transcript is stored before its call", f"{_CALLS_OF}:date_transcript", _stored_before, _CALLS
    ),
    Mutant(
        "earningscall: a spoilt transcript fails the fetch",
        f"{_HERE}:_transcript",
        _spoilt,
        _CALLS,
    ),
    Mutant(
        "earningscall: what was stored later has not changed", f"{_CALLS_OF}:date_transcript", _never_changed, _CALLS
    ),
    Mutant(
        "earningscall: a call of another day", f"{_CALLS_OF}:may_be_on", lambda real: lambda call, day: True, _CORPUS
    ),
    Mutant(
        "earningscall: a call of another company",
        f"{_CALLS_OF}:_is_on_another",
        lambda real: lambda row, symbol: False,
        _CORPUS,
    ),
    Mutant("earningscall: a spoilt call fails the fetch", f"{_HERE}.calls:company_calls", readable_alone, _CALLS),
    Mutant(
        "earningscall: a company without calls is an error",
        f"{_HERE}.api:_checked",
        lambda real: lambda reply, what: found if (found := real(reply, what)) is not None else fails("no such thing"),
        _FAILURES,
    ),
    Mutant(
        "earningscall: a symbol that is not listed is asked for nowhere",
        f"{_HERE}:_exchanges",
        lambda real: lambda query, context: api.exchanges_of(context, query.options["symbol"]),
        ("earningscall: partial failure", "earningscall: quota"),
    ),
    Mutant(
        "earningscall: transcripts of later calls are asked for",
        f"{_HERE}:_due",
        _with_later_ones,
        ("earningscall: quota",),
    ),
    Mutant("earningscall: the error's text is echoed", f"{_HERE}.api:_checked", echoing(), _FAILURES),
)
