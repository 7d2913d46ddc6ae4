"""Leaks of federal_register: days for instants, a text that was replaced, errors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pit_fetch.provider import Record
from pit_fetch.times import parse_rfc3339
from tests.laws.mutants.leak import changing, echoing, in_module, refusing_unreadable, without_revision

_leak = in_module("pit_fetch_providers.federal_register")
_LAW, _FAILURES = ("federal_register: non-interference",), ("federal_register: failures",)


def _earlier(hours: float) -> Any:
    return changing(
        lambda row, made: made._replace(available_at=made.available_at and made.available_at - timedelta(hours=hours))
    )


def _dated_anyhow(row: Any, made: Record) -> Record:
    return made._replace(available_at=made.available_at or parse_rfc3339(row.get("filed_at")))


MUTANTS = (
    _leak("federal_register: a document counts from the midnight of its issue", "document", _earlier(12), _LAW),
    _leak("federal_register: a filing counts from its stamp", "inspection", _earlier(1 / 12), _LAW),
    _leak("federal_register: a replaced text is not looked at", "inspection", changing(without_revision), _LAW),
    _leak("federal_register: without a last replacement it is dated", "inspection", changing(_dated_anyhow), _LAW),
    _leak("federal_register: a spoilt row fails the fetch", "document", refusing_unreadable, _LAW),
    _leak("federal_register: the error's text is echoed", "read", echoing(), _FAILURES),
)
