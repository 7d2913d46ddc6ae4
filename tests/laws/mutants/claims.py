"""Leaks of claims: who accepts them, what they date, how they are marked, and what is said of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pit_fetch.gaps import Code
from tests.laws.mutants.leak import Mutant
from tests.laws.plant import Make

_CLAIMED = ("sample: claimed: non-interference", "bz-news-api: claimed: non-interference")
_ADDS = ("sample: claimed: only adds",)
_PROVED = ("bz-news-api: non-interference", "earningscall: non-interference")


def _accepting(change: Any) -> Make:
    """Return the leak of an acceptor that takes the record, and makes the outcome, that ``change`` says."""

    def make(real: Any) -> Any:
        def acceptor(operation: Any) -> Any:
            accept = real(operation)
            return lambda record, cutoff: change(accept, record, cutoff)

        return acceptor

    return make


def _a_day_early(accept: Any, record: Any, cutoff: Any) -> Any:
    at = record.claimed_at
    return accept(record._replace(claimed_at=at and at - timedelta(days=1)), cutoff)


def _by_the_proof(accept: Any, record: Any, cutoff: Any) -> Any:
    return accept(record._replace(claimed_at=record.claimed_at or record.available_at), cutoff)


def _unmarked(accept: Any, record: Any, cutoff: Any) -> Any:
    made = accept(record, cutoff)
    return None if made is None else made._replace(is_claimed=False)


def _named_where_something_was_withheld(real: Any) -> Any:
    def gaps(request: Any, collected: Any, shown: Any) -> Any:
        made, withheld = real(request, collected, shown), collected.withheld
        return [gap for gap in made if gap.code is not Code.CLAIMS_NOT_ACCEPTED or withheld.late or withheld.undated]

    return gaps


_ACCEPTOR = "pit_fetch.pipeline.claims:acceptor"

MUTANTS = (
    Mutant("a claim counts a day before its instant", _ACCEPTOR, _accepting(_a_day_early), _CLAIMED),
    Mutant("what has no claim is accepted by its first stamp", _ACCEPTOR, _accepting(_by_the_proof), _CLAIMED),
    Mutant("a claim is not marked", _ACCEPTOR, _accepting(_unmarked), _ADDS),
    Mutant(
        "claims are served that nobody accepted",
        "pit_fetch.request.operations:accepts_claims",
        lambda real: lambda query: bool(query.operation.claims),
        _PROVED,
    ),
    Mutant(
        "a claim goes before a proof",
        "pit_fetch.pipeline.select:_version",
        lambda real: lambda record: (record.is_claimed, *real(record)[1:]),
        ("bz-news-api: claimed: only adds", *_ADDS),
    ),
    Mutant(
        "the setting is named where something was withheld",
        "pit_fetch.engine.report:_gaps",
        _named_where_something_was_withheld,
        _PROVED,
    ),
    Mutant(
        "explain compares a claimed item's proof with the window",
        "pit_fetch.inspect.explain:_served_record",
        lambda real: lambda record, **_: record,
        ("sample: claimed: explain",),
    ),
    Mutant(
        "whoever is bound may accept claims",
        "pit_fetch.request.evidence:granted",
        lambda real: lambda provider, asked, environ: asked or real(provider, asked, environ),
        ("command: refusals",),
    ),
)
