"""A provider run as one whose claims are its proofs: what is not public on a claim must then change no byte, too."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from pit_fetch.provider import Page, Provider, Query, Record
from pit_fetch.request.operations import Run, candidate_operations, wrap_operations
from pit_fetch.testing.observe import Case, Refused, observe, public_from


def has_claims(case: Case) -> bool:
    return any(operation.dating.claims for operation in candidate_operations(case.provider, case.options))


def has_claims_alone(case: Case) -> bool:
    """Return whether records of the recorded reply have claims, and none has a proof."""
    if not has_claims(case):
        return False
    with contextlib.suppress(Refused):  # a test of its own reports that
        records = observe(as_accepted(case), case.now).records
        return any(record.claimed_at is not None for record in records) and not any(map(public_from, records))
    return False


def as_accepted(case: Case) -> Case:
    """Return the case whose provider is told that its claims are accepted, as far as it has some."""
    return replace(case, provider=_changed(case.provider, lambda record: record)) if has_claims(case) else case


def as_proofs(case: Case) -> Case:
    """Return the case whose provider yields what it claims as what it proves."""
    return replace(case, provider=proving(case.provider), stamp="claimed_at")


def proving(provider: Provider) -> Provider:
    """Return the provider that yields what it claims as what it proves."""

    def on_its_claim(record: Record) -> Record:
        if record.claimed_at is None:
            return record
        payload = record.payload if record.claimed_payload is None else record.claimed_payload
        return Record(
            record.id, record.claimed_at, payload, period=record.period, available_at_source=record.available_at_source
        )

    operations = tuple(
        operation._replace(dating=operation.dating._replace(by="record", claims=""))
        if operation.dating.claims
        else operation
        for operation in provider.operations
    )
    return _changed(provider._replace(operations=operations), on_its_claim)


def _changed(provider: Provider, change: Callable[[Record], Record]) -> Provider:
    def changed(run: Run, query: Query) -> Iterator[Any]:
        for part in run(query._replace(accepts_claims=True)):
            if isinstance(part, Page):
                yield part._replace(records=tuple(change(record) for record in part.records))
            else:
                yield change(part) if isinstance(part, Record) else part

    return wrap_operations(provider, changed)
