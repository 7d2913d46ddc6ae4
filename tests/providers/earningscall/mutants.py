"""Leaks of earningscall: the day of a call, transcripts that are asked for too early, its errors."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import Any

from pit_fetch_providers.earningscall import api

from pit_fetch.times import NEW_YORK
from tests.laws.mutants.leak import Mutant, echoing, readable_alone, refusing_unknown
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.earningscall"
_CALLS_OF = f"{_HERE}.calls"
_CORPUS = ("corpus: no leak",)
_CALLS, _FAILURES = ("earningscall: non-interference",), ("earningscall: failures",)


def _public(by: Any) -> Make:
    return lambda real: lambda starts: by(starts)


def _calls(change: Any) -> Make:
    """Each call is as ``change`` makes it and the time that it states."""

    def make(real: Any) -> Any:
        def read(*given: Any) -> Any:
            for made in real(*given):
                stated = made.payload.get("conference_date")
                yield change(made, stated) if made.id and isinstance(stated, str) else made

        return read

    return make


def _in_its_own_zone(made: Any, stated: str) -> Any:
    if made.available_at is None:
        return made
    day = datetime.fromisoformat(stated).date() + timedelta(days=1)
    return made._replace(available_at=datetime.combine(day, time(12), NEW_YORK))


def _naive_is_new_york(made: Any, stated: str) -> Any:
    if made.available_at is not None or not stated[:4].isdigit():
        return made
    starts = datetime.fromisoformat(stated.removesuffix("-00:00")).replace(tzinfo=NEW_YORK)
    return made._replace(available_at=starts + timedelta(hours=30))


def _stored_before(real: Any) -> Any:
    def date_transcript(transcript: Any, call: Any, stored: Any) -> Any:
        return real(transcript, call, None if stored is None else max(stored, call.available_at))

    return date_transcript


def _unasked_if_unlisted(real: Any) -> Any:
    def events(context: Any, exchange: str, symbol: str) -> Any:
        return real(context, exchange, symbol) if exchange in api.exchanges_of(context, symbol) else None

    return events


def _with_later_ones(real: Any) -> Any:
    return lambda query, context: real(query._replace(horizon=datetime.max.replace(tzinfo=UTC)), context)


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
        f"{_HERE}:exchange_caveats",
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
    Mutant(
        "earningscall: a call's day is that of its offset",
        f"{_CALLS_OF}:company_calls",
        _calls(_in_its_own_zone),
        _CALLS,
    ),
    Mutant(
        "earningscall: a time without an offset is New York's",
        f"{_CALLS_OF}:company_calls",
        _calls(_naive_is_new_york),
        _CALLS,
    ),
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
        f"{_CALLS_OF}:is_wanted",
        lambda real: lambda call, stored, query: True,
        _CALLS,
    ),
    Mutant(
        "earningscall: what was stored later has not changed", f"{_CALLS_OF}:date_transcript", _never_changed, _CALLS
    ),
    Mutant(
        "earningscall: a call of another day", f"{_CALLS_OF}:may_be_on", lambda real: lambda call, day: True, _CORPUS
    ),
    Mutant("earningscall: a spoilt call fails the fetch", f"{_HERE}.calls:company_calls", readable_alone, _CALLS),
    Mutant(
        "earningscall: a company without calls is an error",
        f"{_HERE}.api:events",
        refusing_unknown,
        _FAILURES,
    ),
    Mutant(
        "earningscall: a symbol that is not listed is asked for nowhere",
        f"{_HERE}.api:events",
        _unasked_if_unlisted,
        ("earningscall: partial failure", "earningscall: quota"),
    ),
    Mutant(
        "earningscall: transcripts of later calls are asked for",
        f"{_HERE}:fetch_transcripts",
        _with_later_ones,
        ("earningscall: quota",),
    ),
    Mutant("earningscall: the error's text is echoed", f"{_HERE}.api:events", echoing(), _FAILURES),
)
