"""Leaks of official: reports that count from their day or from the usual Friday, and errors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pit_fetch.provider import Record
from tests.laws.mutants.leak import in_module

_leak = in_module("pit_fetch_providers.official")
_CLAIMS = ("official: claimed: non-interference",)


def _earlier(days: float) -> Any:
    def make(real: Any) -> Any:
        def position(row: Any, report: str) -> Record:
            made: Record = real(row, report)
            return made._replace(claimed_at=made.claimed_at and made.claimed_at - timedelta(days=days))

        return position

    return make


MUTANTS = (
    _leak("official: a report counts from its day", "position", _earlier(7), _CLAIMS),
    _leak("official: a report counts from three days after it", "position", _earlier(2), _CLAIMS),
)
