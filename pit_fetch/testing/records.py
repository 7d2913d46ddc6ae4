"""Checks of what a provider yields of its recorded reply as it is: records of the right form, in order, with claims."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any

from pit_fetch.errors import PitFetchError
from pit_fetch.gaps import FAILURES, Code, Gap, gap
from pit_fetch.provider import ENVELOPE_FIELDS, Page, Record, Watermark
from pit_fetch.request.operations import candidate_operations
from pit_fetch.support.bundled import gate
from pit_fetch.support.misuse import Misuse
from pit_fetch.testing.claims import as_accepted
from pit_fetch.testing.observe import Case, ObservedRun, observe, public_from
from pit_fetch.testing.report import failure
from pit_fetch.times import is_aware


def observe_baseline(case: Case) -> ObservedRun:
    """Run the recorded reply as it is, all of it public. Raise AssertionError when there is nothing to test on."""
    baseline = observe(case, case.now)
    check_stream(baseline)
    if baseline.asked_too_often:
        problem = f"the recorded reply makes the provider ask more than {case.max_requests} times"
        raise failure(problem, "pages-without-end")
    if not baseline.stamps:
        raise nothing_served(baseline)
    return baseline


def check_stream(run: ObservedRun) -> None:
    """Check that the provider yields what it may on its own recorded reply, and does not fail."""
    for item in run.yielded:
        odd = [record for record in (item.records if isinstance(item, Page) else ()) if not isinstance(record, Record)]
        if odd or not isinstance(item, (Record, Page, Gap, Watermark)):
            kind = type(odd[0] if odd else item).__name__
            raise failure(f"the provider yields a {kind}{' in a page' if odd else ''}", "what-fetch-yields")
    if run.crash:
        _check_form(run)  # a record that is none makes the program fail, too
        raise crashed(run, "the provider fails on its own recorded reply", "a-row-fails-alone")


def crashed(run: ObservedRun, event: str, advice: str) -> AssertionError:
    """Return the error of a provider that fails, with ``advice`` where its exception does not show what to do."""
    problem = f"{event}: {run.crash}"
    error = next((error for error in run.raised if not isinstance(error, PitFetchError)), None)
    if error is None or isinstance(error, Misuse):
        return failure(problem, "correct-that-line")
    options = {option.name for option in run.provider.all_options}
    if isinstance(error, KeyError) and "options[" in run.crash and error.args[0] not in options:
        return failure(problem, "option-not-declared", name=error.args[0], known=_listed(options))
    return failure(problem, advice)


def nothing_served(run: ObservedRun) -> AssertionError:
    """Return the error of a run in which nothing was public after everything, by what its records lack."""
    records, now = run.records, run.audit["time"]
    failed = [gap["reason"] for gap in run.envelope["gaps"] if gap["type"] in FAILURES]
    stamps = [stamp for record in records if (stamp := public_from(record)) is not None]
    if not records and failed:
        return failure(f"the recorded reply does not come to be read: {failed[0]}", "correct-that-first")
    if not records:
        return failure("the provider makes no record of the recorded reply", "nothing-read")
    for error in _faults(run):
        return error
    every = f"of its {len(records)} records none has" if len(records) > 1 else "its record has not"
    if not any(record.id for record in records):
        return failure(f'{every} an id (id="")', "id-missing")
    if not stamps and any(record.claimed_at is not None for record in records):
        return failure(f"{every} an available_at: they have claims alone (claimed_at)", "claim-without-words")
    if not stamps:
        return failure(f"{every} an available_at: all are None, and withheld for ever", "stamp-missing")
    if min(stamps) > datetime.fromisoformat(now):
        problem = f"its records are public from {min(stamps)} on, which is after the reply was recorded ({now})"
        return failure(problem, "recorded-before-its-stamps")
    why = f": {failed[0]}" if failed else ""
    return failure(f"its records are dated, and the request of the test shows none of them{why}", "nothing-shown")


# --- form


def check_records(case: Case) -> None:
    """Check that ids, stamps, tags and payloads have the form that the framework takes, and nothing is printed."""
    run = observe(case, case.now)
    _check_form(run)
    if run.printed:
        raise failure(f"the provider prints ({run.printed[:40]!r})", "it-prints")


def _check_form(run: ObservedRun) -> None:
    for error in _faults(run):
        raise error


def _faults(run: ObservedRun) -> Iterator[AssertionError]:
    for record in run.records:
        for fault, advice in _faults_in(record):
            yield failure(f"record {record.id!r}: {fault}", advice)
    declared = [] if run.query is None else [field.name for field in run.query.operation.fields]
    for item in run.data if declared and not run.crash else ():
        if others := {*item} - {*declared, *ENVELOPE_FIELDS}:
            problem = f"record {item['id']!r}: {_listed(others)} in its payload is not among Operation.fields"
            yield failure(problem, "field-not-declared", field=min(others), known=", ".join(declared))


def _faults_in(record: Record) -> Iterator[tuple[str, str]]:
    """Yield what the framework does not take in a record, each with advice."""
    if not isinstance(record.id, str):
        yield f"its id is of type {type(record.id).__name__}", "id-of-another-type"
    for field in ("available_at", "revised_at"):
        stamp: Any = getattr(record, field)
        if stamp is not None and not isinstance(stamp, datetime):
            yield f"{field} is of type {type(stamp).__name__}", "stamp-of-another-type"
        elif stamp is not None and stamp.utcoffset() is None:
            problem = "is naive, so nothing shows when it was public, and the record is withheld for ever"
            yield f"{field} {problem}", "stamp-of-another-type"
    if record.available_at_source not in gate.VALID_SOURCES:
        yield f"available_at_source is {record.available_at_source!r}", "leave-it-out"
    try:
        json.dumps(dict(record.payload), allow_nan=False)
    except (TypeError, ValueError) as error:
        yield f"its payload is not JSON ({error})", "form-of-a-payload"
    if hidden := {key for key in record.payload if key.lower() in gate.FORBIDDEN_KEYS}:
        yield f"{_listed(hidden)} in its payload is hindsight and never leaves in PIT mode", "leave-it-out"
    if shadowed := {"id", "available_at", "available_at_source", "revised_at"} & set(record.payload):
        yield f"{_listed(shadowed)} in its payload is the framework's own", "name-in-a-payload"


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "none"


# --- order


def check_order(case: Case) -> None:
    """Check that pages come in the order that they promise."""
    run = observe(case, case.now)
    for page in run.yielded:  # before the baseline, which would only report that a broken order gave nothing
        if isinstance(page, Page) and page.newest_first:
            _check_page(page)
    if gap(Code.ORDER_BROKEN).reason in run.reasons:
        raise failure("records come that are newer than what was promised of them", "order-as-promised")
    if not all(is_aware(instant) for instant in run.watermarks):
        raise failure("a Watermark is naive", "naive-watermark")


def _check_page(page: Page) -> None:
    """Check that the promise holds after each row: a page may end after any of them."""
    oldest: datetime | None = None
    for record in page.records:
        stamp = record.available_at
        if not is_aware(stamp):
            continue
        oldest = oldest or stamp
        if stamp - oldest > page.slack:
            problem = f"record {record.id!r} ({stamp}) comes after one of {oldest}, and the page promises another order"
            raise failure(problem, "order-as-promised")
        oldest = min(oldest, stamp)


# --- claims


def check_claims(case: Case) -> None:
    """Check the claims of the recorded reply, and that the operation says what they are."""
    operations = candidate_operations(case.provider, case.options)
    claimed = [record for record in observe(as_accepted(case), case.now).records if record.claimed_at is not None]
    for record in claimed:
        if not is_aware(record.claimed_at):
            raise failure(f"the claim of item {record.id!r} has no offset", "stamp-of-another-type")
        proof = public_from(record)
        if proof is not None and record.claimed_at > proof:
            problem = f"item {record.id!r} is proved from {proof} on, and claims only {record.claimed_at}"
            raise failure(problem, "claim-later-than-proof")
    if len(operations) == 1 and bool(claimed) != bool(operations[0].dating.claims):
        no_words = "records have a claim, and Dating.claims has no words for it"
        no_claim = "Dating.claims has words for a claim, and no record of the recorded reply has one"
        raise failure(no_words if claimed else no_claim, "claim-without-words")


def check_never(case: Case) -> None:
    """Check that an operation declared to be without proof has records, and serves none at a PIT."""
    for pit in (None, case.now):
        run = observe(case, pit)
        check_stream(run)
        if pit is None and not run.ids:
            raise failure("the recorded reply gives no record without a PIT", "never-without-records")
        if pit is not None and run.ids:
            problem = (
                f"item {run.ids[0]!r} is served at {pit}, though by the operation nothing shows when it was public"
            )
            raise failure(problem, "never-served")
