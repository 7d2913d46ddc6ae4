"""Leaks of alphavantage: when a row was public, what of it is served, which reply is whose, what is asked for."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from pit_fetch_providers.alphavantage import client, news, rows, windows

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, parse_wall_clock
from tests.laws.mutants.leak import Mutant, fails, first
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.alphavantage"
_AV, _FAILURES, _CORPUS = ("alphavantage: non-interference",), ("alphavantage: failures",), ("corpus: no leak",)
_CLAIMED = ("alphavantage: claimed: non-interference",)
_NEWS, _REACH, _RUNNING = ("alphavantage: news",), ("alphavantage: reach",), ("archive: running",)


def _once_more_if_empty(real: Any) -> Any:
    def reading(function: Any, query: Any, context: Any, parameters: Any, *claimed: Any) -> Any:
        decoded = client.ask(context, function, parameters, query)
        if decoded.document.rows or decoded.document.message:
            records = tuple(rows.read(function, decoded.document, query, decoded.received_at))
            return windows.ReplyRecords(records, len(decoded.document.rows))
        return real(function, query, context, parameters, *claimed)

    return reading


# What is claimed of statements.


def _claimed(change: Callable[[Any, Any, Any], Any]) -> Make:
    """Each claimed statement is as ``change`` makes it, the last day of its period, and when that was reported."""

    def make(real: Any) -> Any:
        def claimed(records: Any, reported: Any, columns: Any) -> Any:
            for made in real(records, reported, columns):
                ends = parse_date(made.payload.get("fiscalDateEnding"))
                yield made if made.claimed_at is None else change(made, ends, reported[ends])

        return lambda records, reported, columns: tuple(claimed(records, reported, columns))

    return make


def _due(made: Any, ends: Any, reported: Any, days: int = 45) -> Any:
    due = end_of_day(ends + timedelta(days=days), NEW_YORK)
    return made._replace(claimed_at=max(reported, due))


def _at_its_deadline(real: Any) -> Any:
    return lambda records, reported, columns: real(
        records, {ends: end_of_day(ends, NEW_YORK) for ends in reported}, columns
    )


def _by_the_years_that_are_listed(real: Any) -> Any:
    def claimed(records: Any, reported: Any, columns: Any) -> Any:
        years = {made.payload.get("fiscalDateEnding") for made in records if _is_annual(made)}

        def change(made: Any, ends: Any, at: Any) -> Any:
            return made if made.payload.get("fiscalDateEnding") in years else _due(made, ends, at)

        return _claimed(change)(real)(records, reported, columns)

    return claimed


def _is_annual(made: Any) -> bool:
    return str(made.payload.get("record_type")).startswith("annual")


def _in_all_columns(real: Any) -> Any:
    return lambda records, reported, columns: real(records, reported, frozenset().union(*(r.payload for r in records)))


# When a row was public.


def _answered(change: Callable[[Any], Any]) -> Make:
    """Return the leak that reads the label of a bar as if ``change`` had been applied to the reply."""
    return lambda real: lambda row, function_reply: real(row, change(function_reply))


def _at_its_label(real: Any) -> Any:
    def ends(row: Any, function_reply: Any) -> Any:
        return real(row, function_reply) and parse_wall_clock(str(row["timestamp"]).strip(), NEW_YORK)

    return ends


def _in_utc(function_reply: Any) -> Any:
    return function_reply._replace(meta={**function_reply.meta, "time_zone": "UTC"})


def _in_the_first_zone(function_reply: Any) -> Any:
    return function_reply._replace(function=function_reply.function._replace(zones=function_reply.function.zones[:1]))


def _end_of_its_day(real: Any) -> Any:
    def records(function_reply: Any) -> Any:
        is_coin = function_reply.meta.get("time_zone") == "UTC" and "interval" not in function_reply.meta
        for made in real(function_reply):
            at = made.available_at
            yield made._replace(available_at=at - timedelta(hours=1)) if at and is_coin else made

    return records


def _at_its_period_s_end(real: Any) -> Any:
    def reported(row: Any, function_reply: Any) -> Any:
        return None if real(row, function_reply) is None else rows.day_ends(row.get("fiscalDateEnding"))

    return reported


def _by_the_last_report(real: Any) -> Any:
    def records(function_reply: Any) -> Any:
        every = [*real(function_reply)]
        reports: dict[Any, list[Any]] = {}
        for made in every:
            if made.id and made.claimed_at is not None and not _is_annual(made):
                reports.setdefault(made.payload["fiscalDateEnding"], []).append(made.claimed_at)
        for made in every:
            later = reports.get(made.payload.get("fiscalDateEnding")) if made.claimed_at and _is_annual(made) else None
            yield made._replace(claimed_at=max(later)) if later else made

    return records


def _by_all_rows(real: Any) -> Any:
    """Which annual rows are whole years is judged as if every quarter had been reported long ago."""

    def records(function_reply: Any) -> Any:
        rows = [(kind, row and {**row, "reportedDate": "1990-01-01"}) for kind, row in function_reply.rows]
        whole = {made.id for made in real(function_reply._replace(rows=rows))}
        return (made for made in real(function_reply) if made.id in whole)

    return records


def _without(column: str) -> Make:
    def make(real: Any) -> Any:
        def records(function_reply: Any) -> Any:
            bare = [
                (kind, row and {name: row[name] for name in row if name != column}) for kind, row in function_reply.rows
            ]
            return real(function_reply._replace(rows=bare))

        return records

    return make


# What of it is served.


def _all_but_adjusted(real: Any) -> Any:
    def served(row: Mapping[str, Any], passes: Any) -> Any:
        return {name: value for name, value in row.items() if not name.startswith("adjusted")}

    return served


def _with_volumes(real: Any) -> Any:
    def served(row: Mapping[str, Any], passes: Any) -> Any:
        return {**real(row, passes), **{name: row[name] for name in ("volume",) if name in row}}

    return served


# Which reply is whose, and which rows can be read.


def _readable_rows_alone(real: Any) -> Any:
    def decode(body: bytes, function: Any) -> Any:
        document = real(body, function)
        return document if all(row is not None for _, row in document.rows) else fails()

    return decode


def _whole_document(real: Any) -> Any:
    def decode(body: bytes, function: Any) -> Any:
        try:
            if body[:1] == b"{":
                json.loads(body)
        except (ValueError, RecursionError):
            fails()
        return real(body, function)

    return decode


def _strict_cells(real: Any) -> Any:
    def decode(body: bytes, function: Any) -> Any:
        try:
            if body[:1] not in (b"{", b"["):
                list(csv.reader(body.decode("utf-8", "replace").splitlines(), strict=True))
        except csv.Error:
            fails()
        return real(body, function)

    return decode


def _known_by(**names: Any) -> Make:
    """A reply is taken for the function's own whatever it names."""
    return lambda real: lambda body, function: real(body, function._replace(**names))


def _asked_without(name: str) -> Make:
    """Rows are compared with the request as if it did not have the option ``name``."""
    return lambda real: lambda document, query: real(document, query._replace(options={**query.options, name: None}))


# What is asked for, and what is said.


def _message_in_the_error(real: Any) -> Any:
    def check(message: str, function: Any, query: Any) -> None:
        try:
            real(message, function, query)
        except UpstreamError as error:
            raise UpstreamError(Code.THROTTLED, host="Alpha Vantage", limit=message) from error

    return check


MUTANTS = (
    Mutant(
        "av: a statement counts from its report",
        f"{_HERE}.statements:claimed",
        _claimed(lambda made, ends, at: made._replace(claimed_at=at)),
        _CLAIMED,
    ),
    Mutant(
        "av: a year counts from a quarter's deadline",
        f"{_HERE}.statements:claimed",
        _claimed(lambda made, ends, at: _due(made, ends, at) if _is_annual(made) else made),
        _CLAIMED,
    ),
    Mutant("av: a statement counts from its deadline", f"{_HERE}.statements:claimed", _at_its_deadline, _CLAIMED),
    Mutant("av: a deadline on a weekend", f"{_HERE}.statements:weekday_from", first, _CLAIMED),
    Mutant(
        "av: a year that is not public shows which quarter is its last",
        f"{_HERE}.statements:claimed",
        _by_the_years_that_are_listed,
        _CLAIMED,
    ),
    Mutant("av: a claimed statement in all its columns", f"{_HERE}.statements:claimed", _in_all_columns, _CLAIMED),
    Mutant(
        "av: an empty reply alone is asked for once more",
        f"{_HERE}.windows:read_reply",
        _once_more_if_empty,
        ("alphavantage: quota",),
    ),
    Mutant("av: a bar at its label", f"{_HERE}.bars:end_of_interval", _at_its_label, _AV),
    Mutant("av: an Eastern label read as UTC", f"{_HERE}.bars:end_of_interval", _answered(_in_utc), _AV),
    Mutant("av: the minutes of a CSV are UTC", f"{_HERE}.bars:end_of_interval", _answered(_in_the_first_zone), _CORPUS),
    Mutant(
        "av: a running row is a record",
        f"{_HERE}.rows:held_while_running",
        lambda real: lambda record, ends, function_reply: record,
        _RUNNING,
    ),
    Mutant(
        "av: a running period is over on its first day",
        f"{_HERE}.periods:last_of",
        lambda real: lambda first, interval: first,
        _RUNNING,
    ),
    Mutant("av: a day's bar at the close", f"{_HERE}.bars:EVENING", lambda real: timedelta(hours=16), _AV),
    Mutant("av: a running week's bar", f"{_HERE}.periods:friday", first, _AV),
    Mutant("av: a running month's bar", f"{_HERE}.periods:last_weekday_of_month", first, _CLAIMED),
    Mutant("av: a coin's day before the evening", f"{_HERE}.bars:records", _end_of_its_day, _CORPUS),
    Mutant(
        "av: a report at the end of its fiscal period", f"{_HERE}.earnings:reported", _at_its_period_s_end, _CLAIMED
    ),
    Mutant(
        "av: an expected report without a figure",
        f"{_HERE}.earnings:reported",
        lambda real: lambda row, function_reply: rows.day_ends(row.get("reportedDate")),
        _CLAIMED,
    ),
    Mutant("av: a report or a dividend of a weekend", f"{_HERE}.rows:is_weekend", lambda real: lambda day: False, _AV),
    Mutant("av: an article from the start of its minute", f"{_HERE}.news:end_of_minute", first, _AV),
    Mutant("av: a year by the later of two reports", f"{_HERE}.earnings:records", _by_the_last_report, _CLAIMED),
    Mutant(
        "av: a year by rows that were not public",
        f"{_HERE}.earnings:records",
        _by_all_rows,
        _CLAIMED,
    ),
    Mutant("av: a dividend by its ex-date", f"{_HERE}.rows:records", _without("declaration_date"), _AV),
    Mutant(
        "av: options at the end of their day",
        f"{_HERE}.rows:end_of_next_weekday",
        lambda real: lambda row, function_reply: rows.day_ends(row.get("date")),
        _AV,
    ),
    Mutant(
        "av: a date of publication is its midnight",
        f"{_HERE}.news:published",
        lambda real: lambda row, function_reply: news.stamped(row),
        _AV,
    ),
    Mutant(
        "av: columns that nobody has looked at are served",
        f"{_HERE}.rows:served",
        lambda real: lambda row, passes: row,
        _AV,
    ),
    Mutant("av: volumes that are restated are served", f"{_HERE}.rows:served", _with_volumes, _AV),
    Mutant("av: all but adjusted columns are served", f"{_HERE}.rows:served", _all_but_adjusted, _AV),
    Mutant(
        "av: columns with the names of our fields are served",
        f"{_HERE}.rows:served",
        lambda real: lambda row, passes: real(row, passes | {"adjustment_factor"}),
        _AV,
    ),
    Mutant(
        "av: summaries and scores under a PIT",
        f"{_HERE}.news:records",
        lambda real: lambda reply: real(reply._replace(query=reply.query._replace(pit=None))),
        _AV,
    ),
    Mutant("av: coins at the rate of the fetch", f"{_HERE}.function:MARKETS", lambda real: ("CNY", *real), _CORPUS),
    Mutant("av: a spoilt row fails the fetch", f"{_HERE}.reply:decode", _readable_rows_alone, _AV),
    Mutant("av: a deeply nested late row fails the fetch", f"{_HERE}.reply:decode", _whole_document, _AV),
    Mutant("av: a stray quote in a late row fails the fetch", f"{_HERE}.reply:decode", _strict_cells, _AV),
    Mutant("av: any series is the operation's own", f"{_HERE}.reply:decode", _known_by(series=""), _CORPUS),
    Mutant(
        "av: any header is the operation's own",
        f"{_HERE}.reply:decode",
        _known_by(header=(), columns=(), foreign=()),
        _CORPUS,
    ),
    Mutant(
        "av: rows on another subject are served",
        f"{_HERE}.subject:rows",
        lambda real: lambda document, query: document.rows,
        ("alphavantage: foreign",),
    ),
    Mutant(
        "av: rows on another day are served",
        f"{_HERE}.subject:rows",
        _asked_without("date"),
        _CORPUS,
    ),
    Mutant(
        "av: an article on one of several tickers",
        f"{_HERE}.subject:rows",
        _asked_without("tickers"),
        ("alphavantage: foreign",),
    ),
    Mutant(
        "av: a reply on another subject is served",
        f"{_HERE}.subject:check",
        lambda real: lambda document, function, query: real(document._replace(meta={}), function, query),
        _CORPUS,
    ),
    Mutant(
        "av: adjusted prices are asked for",
        f"{_HERE}.options:unadjusted_parameters",
        lambda real: lambda query: {**real(query), "adjusted": "true"},
        _AV,
    ),
    Mutant(
        "av: the compact size under a PIT",
        f"{_HERE}.options:parameters",
        lambda real: lambda query: real(query._replace(pit=None)),
        _REACH,
    ),
    Mutant(
        "av: an unknown symbol is an error",
        f"{_HERE}.client:check_message",
        lambda real: lambda message, function, query: real(message, function, query._replace(pit=None)),
        _FAILURES,
    ),
    Mutant("av: a message with the key is echoed", f"{_HERE}.client:check_message", _message_in_the_error, _FAILURES),
)
