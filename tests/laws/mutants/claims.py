"""Leaks of claims: who accepts them, what they date, how they are marked, and what is said of them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pit_fetch.provider import Record
from tests.laws.mutants.leak import Mutant, retold
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


def _claimed_first(real: Any) -> Any:
    def ordered(stream: Any) -> Any:
        every = list(stream)
        claimed = {part.id for part in every if isinstance(part, Record) and part.is_claimed}
        yield from real(
            part for part in every if not isinstance(part, Record) or part.is_claimed or part.id not in claimed
        )

    return ordered


def _unless_withheld(told: dict[str, Any], collected: Any) -> dict[str, Any] | None:
    is_setting, withheld = "PIT_FETCH_EVIDENCE=" in told["reason"], collected.withheld
    return told if not is_setting or withheld.late or withheld.undated else None


_ACCEPTOR = "pit_fetch.pipeline.claims:acceptor"

MUTANTS = (
    Mutant("a claim counts a day before its instant", _ACCEPTOR, _accepting(_a_day_early), _CLAIMED),
    Mutant("what has no claim is accepted by its first stamp", _ACCEPTOR, _accepting(_by_the_proof), _CLAIMED),
    Mutant("a claim is not marked", _ACCEPTOR, _accepting(_unmarked), _ADDS),
    Mutant(
        "claims are served that nobody accepted",
        "pit_fetch.request.operations:accepts_claims",
        lambda real: lambda query: bool(query.operation.dating.claims),
        _PROVED,
    ),
    Mutant(
        "a claim goes before a proof",
        "pit_fetch.pipeline.select:in_order",
        _claimed_first,
        ("bz-news-api: claimed: only adds", *_ADDS),
    ),
    Mutant(
        "the setting is named where something was withheld",
        "pit_fetch.engine.report:report",
        retold(_unless_withheld),
        _PROVED,
    ),
    Mutant(
        "explain judges a claimed item by its proof",
        "pit_fetch.inspect.verdict:judge",
        lambda real: lambda record, pit, operation, why, is_accepted=False: real(record, pit, operation, why),
        ("sample: claimed: explain",),
    ),
    Mutant(
        "whoever is bound may accept claims",
        "pit_fetch.request.evidence:granted",
        lambda real: lambda provider, asked, environ: asked or real(provider, asked, environ),
        ("command: refusals",),
    ),
)
