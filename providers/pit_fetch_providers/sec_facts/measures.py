"""Tell by the filings that give a line several values which of its concepts are other measures there. Pure."""

from __future__ import annotations

from typing import Any

from pit_fetch.provider import Record
from pit_fetch_providers.sec_facts.cells import Known, Omission, known_of
from pit_fetch_providers.sec_facts.lines import Line


def of_one_measure(line: Line, known: Known) -> Known | Omission:
    """Return the histories of the line for a period, less those of concepts that are other measures of it.

    If a filing has several values of the line, that of the defining concept is the line's, and the others are of other
    measures. If there is none, or if a filing without it has a value that neither had, the facts do not tell which of
    them the statement shows.
    """
    contest = _contest(known)
    if contest is None:
        return known
    said = {
        _filing(version): _value(version)
        for rank, history in known.histories.items()
        if line.concepts[rank] == line.defining
        for version in history.versions
    }
    kept, unclear = dict(known.histories), list[Record]()
    for rank, history in known.histories.items():
        others = {_value(made) for made in history.versions if _value(made) != said.get(_filing(made), _value(made))}
        if others:
            del kept[rank]
        told = others.union(said.values())
        unclear += (made for made in history.versions if _filing(made) not in said and _value(made) not in told)
    left = known_of(kept)
    return Omission("two_values", (contest, *unclear)) if unclear or _contest(left) else left


def _contest(known: Known) -> Record | None:
    """Return the first version beside which its filing has another value of the line."""
    if len(known.histories) < 2:
        return None  # in most cases: a filing has one value of a concept
    values: dict[str, Any] = {}
    differing = (made for made in known.versions if values.setdefault(_filing(made), _value(made)) != _value(made))
    return next(differing, None)


def _filing(version: Record) -> str:
    return str(version.payload["accession"])


def _value(version: Record) -> Any:
    return version.payload["value"]
