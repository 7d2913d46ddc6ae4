"""Leaks of alpaca_news: revisions, stamps, rows that cannot be read, errors."""

from __future__ import annotations

from typing import Any

from pit_fetch.provider import Record
from pit_fetch.times import parse_rfc3339
from tests.laws.mutants.leak import changing, echoing, in_module, refusing_unreadable, without_revision

_leak = in_module("pit_fetch_providers.alpaca_news")
_NEWS, _FAILURES = ("alpaca_news: non-interference",), ("alpaca_news: failures",)


def _dated_anyhow(row: Any, made: Record) -> Record:
    return made._replace(available_at=made.available_at or parse_rfc3339(row.get("created_at")))


MUTANTS = (
    _leak("alpaca_news: the last edit is not looked at", "record", changing(without_revision), _NEWS),
    _leak("alpaca_news: an article without a last edit is dated", "record", changing(_dated_anyhow), _NEWS),
    _leak("alpaca_news: a spoilt row fails the fetch", "record", refusing_unreadable, _NEWS),
    _leak("alpaca_news: the error's text is echoed", "read_page", echoing(), _FAILURES),
)
