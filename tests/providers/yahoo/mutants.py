"""Leaks of yahoo: early hours, days that are not over, weekends, later splits, today's names, its errors."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from pit_fetch.times import NEW_YORK, end_of_minute, parse_rfc3339
from tests.laws.mutants.leak import Mutant, echoing, fails, first, readable_alone, refusing_unknown
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.yahoo"
_ROWS, _FAILURES = ("yahoo: non-interference",), ("yahoo: failures",)


_CLAIMED = ("yahoo: claimed: non-interference",)


def _records(change: Any) -> Make:
    """Each record of a reader is as ``change`` makes it."""
    return lambda real: lambda *given: [change(made) if made.id else made for made in real(*given)]


def _claimed_at_once(made: Any) -> Any:
    return made._replace(claimed_at=parse_rfc3339(made.payload.get("pubDate")))


def _claimed_in_the_morning(made: Any) -> Any:
    is_bar = made.claimed_at is not None and made.payload["record_type"] == "bar"
    return made._replace(claimed_at=made.claimed_at - timedelta(hours=10)) if is_bar else made


def _with_claimed(name: str) -> Make:
    def change(made: Any) -> Any:
        if made.claimed_payload is None or name not in made.payload:
            return made
        return made._replace(claimed_payload={**made.claimed_payload, name: made.payload[name]})

    return _records(change)


def _if_told(close: Any) -> Make:
    """Return the leak of another close in the place of each that can be told."""
    return lambda real: lambda adjusted, factor: None if real(adjusted, factor) is None else close(adjusted, factor)


def _always(value: Any) -> Make:
    return lambda real: value


def _by_one_time(name: str) -> Make:
    return _records(lambda made: made._replace(available_at=parse_rfc3339(made.payload.get(name))))


def _by_the_later(made: Any) -> Any:
    if made.available_at is None:
        return made
    stamps = [datetime.fromisoformat(made.payload[name]) for name in ("pubDate", "displayTime")]
    return made._replace(available_at=end_of_minute(max(stamps)))


def _hour(made: Any) -> datetime:
    return datetime.fromisoformat(made.payload["date"]).replace(tzinfo=NEW_YORK)


def _at_its_hour(made: Any) -> Any:
    return made if made.claimed_at is None else made._replace(claimed_at=_hour(made))


def _whoever(real: Any) -> Any:
    return lambda body, query, received: real(body, query._replace(options={**query.options, "symbol": None}), received)


def _as_it_came(real: Any) -> Any:
    def read(body: Any, query: Any, received: Any) -> Any:
        return [made._replace(available_at=received) if made.id else made for made in real(body, query, received)]

    return read


def _actions_by_their_time(real: Any) -> Any:
    def dated(record: Any) -> Any:
        graded = parse_rfc3339(record.payload.get("gradeDate"))
        return record._replace(available_at=graded, at_receipt=False) if graded else record

    def by_record(made: Any) -> Any:
        fetch = made.fetch
        return made._replace(
            fetch=lambda query, context: map(dated, fetch(query, context)), dating=made.dating._replace(by="record")
        )

    operations = [by_record(made) if made.name == "upgrades" else made for made in real.operations]
    return real._replace(operations=tuple(operations))


def _sections_alone(real: Any) -> Any:
    """Fail on a page with a marked section."""
    return lambda parser, text: fails() if "<![" in text else real(parser, text)


MUTANTS = (
    Mutant("yahoo: an article counts from pubDate", f"{_HERE}.news:read", _by_one_time("pubDate"), _ROWS),
    Mutant("yahoo: an article counts from displayTime", f"{_HERE}.news:read", _by_one_time("displayTime"), _ROWS),
    Mutant("yahoo: a report counts from its hour", f"{_HERE}.earnings:parse", _records(_at_its_hour), _CLAIMED),
    Mutant("yahoo: hours are never early", f"{_HERE}.earnings:EARLY", _always(timedelta(0)), _CLAIMED),
    Mutant(
        "yahoo: a date without a report is one",
        f"{_HERE}.earnings:parse",
        _records(lambda made: made._replace(claimed_at=_hour(made) + timedelta(days=2))),
        _CLAIMED,
    ),
    Mutant("yahoo: reports of another company", f"{_HERE}.earnings:parse", _whoever, _CLAIMED),
    Mutant(
        "yahoo: a running bar is a bar",
        f"{_HERE}.prices:read",
        _as_it_came,
        ("archive: running",),
    ),
    Mutant("yahoo: an article counts from the start of its minute", "pit_fetch.times:end_of_minute", first, _ROWS),
    Mutant("yahoo: the end of the later stamp's minute alone", f"{_HERE}.news:read", _records(_by_the_later), _ROWS),
    Mutant("yahoo: a report of a weekend", "pit_fetch.times:is_weekend", _always(lambda day: False), _CLAIMED),
    Mutant(
        "yahoo: today's name of a company",
        f"{_HERE}.earnings:parse",
        lambda real: lambda body, query, received: real(body, query._replace(pit=None), received),
        _CLAIMED,
    ),
    Mutant("yahoo: an action counts from its time", f"{_HERE}:PROVIDER", _actions_by_their_time, _ROWS),
    Mutant(
        "yahoo: a claim of a minute counts from its beginning",
        f"{_HERE}.news:read",
        _records(_claimed_at_once),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a claim of a day counts from its beginning",
        f"{_HERE}.ratings:end_of_day",
        lambda real: lambda day, zone: real(day - timedelta(days=1), zone),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a close stays divided by later splits",
        f"{_HERE}.traded:close",
        _if_told(lambda adjusted, factor: round(adjusted, 2)),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a close keeps the digits that a division left",
        f"{_HERE}.traded:close",
        _if_told(lambda adjusted, factor: adjusted * factor),
        _CLAIMED,
    ),
    Mutant("yahoo: prices of four decimals are within bounds", f"{_HERE}.traded:LEAST", _always(200), _CLAIMED),
    Mutant("yahoo: closes too large for cents are within bounds", f"{_HERE}.traded:MOST", _always(10**9), _CLAIMED),
    Mutant("yahoo: some later splits withhold a bar", f"{_HERE}.traded:MOST_DIVIDED", _always(100), _CLAIMED),
    Mutant("yahoo: parts of a dollar count as cents", f"{_HERE}.traded:QUOTED_IN_CENTS", _always(date.min), _CLAIMED),
    Mutant("yahoo: a high is claimed", f"{_HERE}.prices:read", _with_claimed("high"), _CLAIMED),
    Mutant("yahoo: a volume is claimed", f"{_HERE}.prices:read", _with_claimed("volume"), _CLAIMED),
    Mutant("yahoo: a bar counts in the morning", f"{_HERE}.prices:read", _records(_claimed_in_the_morning), _CLAIMED),
    Mutant(
        "yahoo: a later row of a chart that cannot be read fails the fetch",
        f"{_HERE}.prices:read",
        lambda real: lambda body, query, received: real(body, query._replace(accepts_claims=False), received),
        _CLAIMED,
    ),
    Mutant(
        "yahoo: a later price that no float holds fails the fetch", "pit_fetch.wire:MAX_DIGITS", _always(400), _CLAIMED
    ),
    Mutant("yahoo: a spoilt article fails the fetch", f"{_HERE}.news:read", readable_alone, _ROWS),
    Mutant("yahoo: a spoilt report fails the fetch", f"{_HERE}.earnings:parse", readable_alone, _CLAIMED),
    Mutant("yahoo: markup in a report fails the fetch", "pit_fetch.wire:read_html", _sections_alone, _CLAIMED),
    Mutant(
        "yahoo: an unknown symbol is an error",
        f"{_HERE}.api:chart",
        refusing_unknown,
        _FAILURES,
    ),
    Mutant("yahoo: the page's text is echoed", f"{_HERE}.api:news", echoing(), _FAILURES),
)
