"""Tell by the filings that give a line several values which of its concepts are other measures there. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import groupby
from typing import Any

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.cells import Judged, Known, Omission, Public, known_of
from pit_fetch_providers.sec_facts.lines import Line
from pit_fetch_providers.sec_facts.versions import accession_of, age


def of_one_measure(line: Line, known: Known) -> Known | Omission:
    """Return the histories of the line for a period, less those of concepts that are other measures of it.

    If a filing has several values of the line, that of the defining concept is the line's, and the others are of other
    measures. If there is none, or if a filing without it has a value that neither had, the facts do not tell which of
    them the statement shows. What tells is the version since which it is so.
    """
    if not is_contested(known):
        return known
    by_instant = judged(line, known)
    now = since = by_instant[-1]
    for then in reversed(by_instant):
        if not then.is_judged_alike(now):
            break
        since = then
    if now.ranks is None:
        return Omission("two_values", (since.newest,))
    left = known_of({rank: history for rank, history in known.histories.items() if rank in now.ranks})
    return left._replace(shown=(since.newest,), told=by_instant)


def is_contested(known: Known) -> bool:
    """Return whether a filing has several values of the line."""
    return len(known.histories) > 1 and _has_contest(known.versions)  # a filing has one value of a concept


def judged(line: Line, known: Known) -> list[Judged]:
    """Return what the public versions told at each instant at which there were new ones, oldest first."""
    every = [(rank, version) for rank, history in known.histories.items() for version in history.versions]
    in_order = sorted(every, key=lambda made: age(made[1]))
    public, by_instant = list[tuple[int, Record]](), list[Judged]()
    for _, together in groupby(in_order, key=lambda made: age(made[1])[0]):
        public = [*public, *together]
        by_instant.append(Judged(public, _of_the_line(line, public)))
    return by_instant


def _of_the_line(line: Line, public: Public) -> Set[int] | None:
    """Return the ranks of the concepts that are the line by its public versions; None if these do not tell."""
    ranks = {rank for rank, _ in public}
    if not _has_contest(made for _, made in public):
        return ranks
    said = {accession_of(made): _value(made) for rank, made in public if line.concepts[rank] == line.defining}
    others: dict[int, set[Any]] = {rank: set() for rank in ranks}
    for rank, made in public:
        if _value(made) != said.get(accession_of(made), _value(made)):
            others[rank].add(_value(made))
    kept = {rank for rank in ranks if not others[rank]}
    is_clear = all(
        accession_of(made) in said or _value(made) in {*others[rank], *said.values()} for rank, made in public
    )
    return kept if is_clear and not _has_contest(made for rank, made in public if rank in kept) else None


def _has_contest(versions: Iterable[Record]) -> bool:
    """Return whether a filing has several values."""
    values: dict[str, Any] = {}
    return any(values.setdefault(accession_of(made), _value(made)) != _value(made) for made in versions)


def _value(version: Record) -> Any:
    return version.payload["value"]
