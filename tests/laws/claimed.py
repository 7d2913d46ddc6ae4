"""The laws in the other grade: worlds that agree on every record whose proof or claim is at or before the PIT."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from random import Random

from pit_fetch.request.evidence import VARIABLE
from pit_fetch.testing import claims
from tests.laws.checks import differences, non_interference, paging
from tests.laws.worlds import Case, operation_of, provider_of, run

ACCEPTED = ("--evidence", "claimed")


def laws(make: Callable[[Random], Case], make_any: Callable[[Random], Case]) -> Mapping[str, Callable[[Random], int]]:
    """Return the laws of a source with claims. ``make`` makes cases in this grade, ``make_any`` those of any kind."""

    def either(rng: Random) -> Case:
        return rng.choice((make, make_any))(rng)

    return {
        "claimed: non-interference": lambda rng: non_interference(_accepting(make(rng))),
        "claimed: paging": lambda rng: paging(_accepting(_whole(make(rng))), rng),
        "claimed: only adds": lambda rng: only_adds(either(rng)),
        "claimed: as proofs": lambda rng: as_proofs(make(rng)),
        "claimed: setting": lambda rng: names_the_setting(either(rng)),
        "claimed: diff": lambda rng: differences(_accepting(make(rng)), rng),
        "claimed: explain": lambda rng: verdicts(make(rng)),
    }


def _accepting(case: Case) -> Case:
    return case._replace(words=(*case.words, *ACCEPTED))


# What cuts an answer, lays it out otherwise, or computes across its items.
_WITH_VALUE = frozenset({"--limit", "--max-results", "--max-pages", "--max-chars", "--after", "--format", "--fields"})
_FLAGS = frozenset({"--numbered", "--pretty", "-v", "--fail"})


# What compares the stamps of records, of which a proved one has another than its claim.
_DATES = frozenset({"--date-from", "--date-to"})
_REVISIONS = frozenset({"--updated-since"})


def _whole(case: Case) -> Case:
    """Return the case with all of its answer, in one world."""
    words = (*_without(case.words, _WITH_VALUE, _FLAGS), "--limit", "1000", "--max-pages", "1000")
    return case._replace(words=words, worlds=case.worlds[-1:], terminal=False)


def _without(words: Sequence[str], with_value: Set[str], flags: Set[str] = frozenset()) -> tuple[str, ...]:
    pairs = zip(("", *words), words, strict=False)
    return tuple(word for before, word in pairs if word not in with_value | flags and before not in with_value)


def only_adds(case: Case) -> int:
    """A proved item is the same in both grades, and what comes to them is marked, whoever accepts it."""
    case, (world,) = _whole(case), _whole(case).worlds
    plain, accepted = run(case, world), run(_accepting(case), world)
    if accepted.gap_types.count("upstream_error") > plain.gap_types.count("upstream_error"):
        return 0  # of pages that repeat what was claimed only so many are read
    assert [item for item in accepted.data if "evidence" not in item] == plain.data
    assert {item["evidence"] for item in accepted.data if "evidence" in item} <= {"claimed"}
    assert run(case, world, environ={VARIABLE: "claimed"}).out == accepted.out
    return 2


def as_proofs(case: Case) -> int:
    """What is served besides what is proved is what a source that proved its claims would serve."""
    case, (world,) = _whole(case), _whole(case).worlds
    compares = _REVISIONS | (_DATES if operation_of(case).window in ("", "available_on") else set())
    case = case._replace(words=_without(case.words, compares))
    accepted = run(_accepting(case), world)
    model = run(case._replace(provider=claims.proving(provider_of(case))), world)
    assert set(accepted.ids) ^ set(model.ids) <= set(run(case, world).ids)
    return 1


def names_the_setting(case: Case) -> int:
    """Without the grade, an answer without items names the setting if there are claims, and no other answer does."""
    case, (world,) = _whole(case), _whole(case).worlds
    left = run(case, world)
    is_empty = not left.data and "no_data" in left.gap_types
    assert (f"{VARIABLE}=" in left.out) == (is_empty and bool(operation_of(case).dating.claims))
    return 1


def verdicts(case: Case) -> int:
    """What explain calls public on a claim is what a fetch serves on one, whatever narrows the request."""
    case, (world,) = _whole(case), _whole(case).worlds
    case = _accepting(case)
    fetched, explained = (run(case, world, command=command) for command in ("", "explain"))
    if explained.code or {"upstream_error", "truncated"} & {*fetched.gap_types, *explained.gap_types}:
        return 0
    on_claims = [{item["id"] for item in left.data if "evidence" in item} for left in (fetched, explained)]
    assert on_claims[0] == on_claims[1]
    return 1
