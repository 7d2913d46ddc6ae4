"""Leaks of finnhub: news without a claim or a margin, a calendar that is dated by itself, errors."""

from __future__ import annotations

from typing import Any

from pit_fetch.provider import Record
from pit_fetch.times import parse_unix
from tests.laws.mutants.leak import changing, echoing, in_module

_leak = in_module("pit_fetch_providers.finnhub")
_CLAIMS, _FAILURES = ("finnhub: claimed: non-interference",), ("finnhub: failures",)


def _without_margin(row: Any, made: Record) -> Record:
    return made._replace(claimed_at=parse_unix(row.get("datetime")))


def _proved(row: Any, made: Record) -> Record:
    return made._replace(available_at=made.claimed_at)


MUTANTS = (
    _leak("finnhub: an article counts from its stamp", "article", changing(_without_margin), _CLAIMS),
    _leak("finnhub: an article is proved", "article", changing(_proved), ("corpus: no leak",)),
    _leak("finnhub: the error's text is echoed", "read_day", echoing(), _FAILURES),
)
