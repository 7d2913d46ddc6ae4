"""Leaks of arxiv: submissions for announcements, the latest version alone, errors."""

from __future__ import annotations

from typing import Any

from pit_fetch.provider import Record
from pit_fetch.times import parse_rfc3339
from tests.laws.mutants.leak import changing, echoing, in_module

_leak = in_module("pit_fetch_providers.arxiv")
_CLAIMS, _FAILURES = ("arxiv: claimed: non-interference",), ("arxiv: failures",)


def _submitted(name: str) -> Any:
    return changing(lambda entry, made: made._replace(claimed_at=parse_rfc3339(made.payload[name])))


def _of_its_first_version(entry: Any, made: Record) -> Record:
    return made._replace(claimed_at=min(filter(None, (made.claimed_at, parse_rfc3339(made.payload["published"])))))


MUTANTS = (
    _leak("arxiv: a version counts from its submission", "paper", _submitted("updated"), _CLAIMS),
    _leak("arxiv: a version counts from the first one's", "paper", changing(_of_its_first_version), _CLAIMS),
    _leak("arxiv: the error's text is echoed", "read_feed", echoing(), _FAILURES),
)
