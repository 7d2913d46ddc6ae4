"""What a provider makes of its recorded reply as it is. If that is nothing, the error names what its records lack."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from pit_fetch.errors import PitFetchError
from pit_fetch.gaps import FAILURES, Gap
from pit_fetch.provider import ENVELOPE_FIELDS, Page, Record, Watermark
from pit_fetch.support.bundled import gate
from pit_fetch.support.misuse import Misuse
from pit_fetch.testing.observe import Case, ObservedRun, failure, observe, public_from

_IMPOSSIBLE_ROW = (
    "correct that first: what cannot be used of a row is a record without a stamp, and never an exception. Read with "
    "row.get and isinstance"
)


def observe_baseline(case: Case) -> ObservedRun:
    """Run the recorded reply as it is, all of it public. Raise AssertionError when there is nothing to test on."""
    baseline = observe(case, case.now)
    check_stream(baseline)
    if baseline.asked_too_often:
        raise failure(
            f"the recorded reply makes the provider ask more than {case.max_requests} times",
            "let paging.numbered or paging.follow run the loop, which ends with the last page; if the source has "
            "pages, say in the recording how they are asked for: pages = Pages(…)",
        )
    if not baseline.stamps:
        raise nothing_served(baseline)
    return baseline


def check_stream(run: ObservedRun) -> None:
    """Check that the provider yields what it may on its own recorded reply, and does not fail."""
    for item in run.yielded:
        odd = [record for record in (item.records if isinstance(item, Page) else ()) if not isinstance(record, Record)]
        if odd or not isinstance(item, (Record, Page, Gap, Watermark)):
            raise failure(
                f"the provider yields a {type(odd[0] if odd else item).__name__}{' in a page' if odd else ''}",
                "yield records, pages, watermarks and gaps from fetch; a page holds only records, so a function that "
                "paging calls returns records, and what else there is to say comes after the loop",
            )
    if run.crash:
        _check_form(run)  # a record that is none makes the program fail, too
        raise failure(f"the provider fails on its own recorded reply: {run.crash}", advice_on(run, _IMPOSSIBLE_ROW))


def advice_on(run: ObservedRun, otherwise: str) -> str:
    """Return what to do about a provider that fails, by its exception; ``otherwise`` where that does not show it."""
    error = next((error for error in run.raised if not isinstance(error, PitFetchError)), None)
    if error is None or isinstance(error, Misuse):
        return "correct that line first"
    options = {option.name for option in run.provider.all_options}
    if isinstance(error, KeyError) and "options[" in run.crash and error.args[0] not in options:
        return f'declare Option("{error.args[0]}", "…") in Provider.options, which has {_listed(options)}'
    return otherwise


def nothing_served(run: ObservedRun) -> AssertionError:
    """Return the error of a run in which nothing was public after everything, by what its records lack."""
    records, now = run.records, run.audit["time"]
    failed = [gap["reason"] for gap in run.envelope["gaps"] if gap["type"] in FAILURES]
    every = f"of its {len(records)} records none has" if len(records) > 1 else "its record has not"
    stamps = [stamp for record in records if (stamp := public_from(record)) is not None]
    if not records and failed:
        return failure(f"the recorded reply does not come to be read: {failed[0]}", "correct that first")
    if not records:
        return failure(
            "the provider makes no record of the recorded reply",
            "check that parse_reply looks where the rows are, and that options are those of the reply's request",
        )
    for name, fault, advice in _faults(run):
        return failure(f"record {name!r}: {fault}", advice)
    if not any(record.id for record in records):
        return failure(
            f'{every} an id (id="")',
            'give each the source\'s own id as a text, str(row["id"]); without ids, make one of what never changes: '
            "a symbol and a day, say",
        )
    if not stamps and any(record.claimed_at is not None for record in records):
        return failure(
            f"{every} an available_at: they have claims alone (claimed_at)",
            "say in Dating.claims which rule a claim rests on and what may have changed since: the tests then take "
            "claims for proofs",
        )
    if not stamps:
        return failure(
            f"{every} an available_at: all are None, and withheld for ever",
            "check the name of the field in the reply, and that the function that parses it takes its form: "
            "parse_rfc3339 wants an offset, parse_wall_clock a reading in a zone, end_of_day(parse_date(…)) a day. If "
            "what is served may have changed since without a mark, give the instant as claimed_at; if nothing shows "
            'when it was public, declare Dating(by="never", why="…")',
        )
    if min(stamps) > datetime.fromisoformat(now):
        return failure(
            f"its records are public from {min(stamps)} on, which is after the reply was recorded ({now})",
            "take available_at from the reply, and never from a clock; where a reply was recorded later than its "
            "stamps, set recorded_at in the test",
        )
    return failure(
        f"its records are dated, and the request of the test shows none of them{f': {failed[0]}' if failed else ''}",
        "check the options of the test (a look-back, a symbol, date_from), and what select() leaves out",
    )


def check_records(run: ObservedRun) -> None:
    """Check that ids, stamps, tags and payloads have the form that the framework takes, and nothing is printed."""
    _check_form(run)
    if run.printed:
        raise failure(f"the provider prints ({run.printed[:40]!r})", "take the print out: stdout is the envelope's")


def _check_form(run: ObservedRun) -> None:
    for name, fault, advice in _faults(run):
        raise failure(f"record {name!r}: {fault}", advice)


def _faults(run: ObservedRun) -> Iterator[tuple[str, str, str]]:
    """Yield what is wrong with records: the id of each, what the framework does not take in it, and advice."""
    for record in run.records:
        for fault, advice in _faults_of(record):
            yield record.id, fault, advice
    declared = [] if run.query is None else [field.name for field in run.query.operation.fields]
    for item in run.data if declared and not run.crash else ():
        if others := {*item} - {*declared, *ENVELOPE_FIELDS}:
            yield (
                item["id"],
                f"{_listed(others)} in its payload is not among Operation.fields",
                f'declare it there, as Field("{min(others)}"), or leave it out: --fields, tables and --help know the '
                f"declared fields only ({', '.join(declared)})",
            )


def _faults_of(record: Record) -> Iterator[tuple[str, str]]:
    """Yield what the framework does not take in a record, each with advice."""
    if not isinstance(record.id, str):
        yield f"its id is of type {type(record.id).__name__}", 'make it a text: str(row["id"])'
    for field in ("available_at", "revised_at"):
        stamp: Any = getattr(record, field)
        if stamp is not None and not isinstance(stamp, datetime):
            yield f"{field} is of type {type(stamp).__name__}", "parse it with a function of pit_fetch.times"
        elif stamp is not None and stamp.utcoffset() is None:
            yield (
                f"{field} is naive, so nothing shows when it was public, and the record is withheld for ever",
                "parse it with a function of pit_fetch.times (wall_clock(naive, zone) for a reading without an offset)",
            )
    if record.available_at_source not in gate.VALID_SOURCES:
        yield f"available_at_source is {record.available_at_source!r}", "leave it out"
    try:
        json.dumps(dict(record.payload), allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"its payload is not JSON ({error})", "put text, numbers, lists and dicts into it; no NaN, no datetime"
    if hidden := {key for key in record.payload if key.lower() in gate.FORBIDDEN_KEYS}:
        yield f"{_listed(hidden)} in its payload is hindsight and never leaves in PIT mode", "leave the field out"
    if shadowed := {"id", "available_at", "available_at_source", "revised_at"} & set(record.payload):
        yield f"{_listed(shadowed)} in its payload is the framework's own", "rename the field, or leave it out"


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "none"
