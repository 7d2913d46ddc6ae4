"""Leaks of hackernews: the last write, the margin, counters, an item without a claim, errors."""

from __future__ import annotations

from typing import Any

from pit_fetch.provider import Record
from pit_fetch.times import parse_unix
from tests.laws.mutants.leak import changing, echoing, in_module, refusing_unreadable, without_revision

_leak = in_module("pit_fetch_providers.hackernews")
_NEWS, _FAILURES = ("hackernews: non-interference",), ("hackernews: failures",)


def _dated_anyhow(row: Any, made: Record) -> Record:
    return made._replace(available_at=made.claimed_at)


def _without_margin(row: Any, made: Record) -> Record:
    at = parse_unix(row.get("created_at_i"))
    return made._replace(available_at=at and made.available_at and at, revised_at=at)


MUTANTS = (
    _leak("hackernews: the last write is not looked at", "hit", changing(without_revision), _NEWS),
    _leak("hackernews: a post without a last write is dated", "hit", changing(_dated_anyhow), _NEWS),
    _leak("hackernews: a post counts from its creation", "hit", changing(_without_margin), _NEWS),
    _leak("hackernews: an item is proved", "item", changing(_dated_anyhow), ("corpus: no leak",)),
    _leak("hackernews: a spoilt row fails the fetch", "hit", refusing_unreadable, _NEWS),
    _leak("hackernews: the error's text is echoed", "read_hits", echoing(), _FAILURES),
)
