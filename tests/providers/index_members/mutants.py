"""Leaks of index_members: the margin, later revisions, errors."""

from __future__ import annotations

from typing import Any

from tests.laws.mutants.leak import echoing, in_module

_leak = in_module("pit_fetch_providers.index_members")
_LAW, _FAILURES = ("index_members: non-interference",), ("index_members: failures",)


def _of_any_revision(real: Any) -> Any:
    def listing_of(row: Any) -> Any:
        made = real(row)
        return made or real({**row, "timestamp": "2020-01-01T00:00:00Z"})

    return listing_of


MUTANTS = (
    _leak("index_members: a revision counts from its stamp", "MARGIN", lambda real: real * 0, _LAW),
    _leak("index_members: a revision without a stamp is old", "listing_of", _of_any_revision, _LAW),
    _leak("index_members: the error's text is echoed", "read_listings", echoing(), _FAILURES),
)
