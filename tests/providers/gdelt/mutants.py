"""Leaks of gdelt: the batch's own instant, titles without a claim, errors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tests.laws.mutants.leak import echoing, in_module

_leak = in_module("pit_fetch_providers.gdelt")
_NEWS, _FAILURES = ("gdelt: non-interference",), ("gdelt: failures",)


def _early(real: Any) -> Any:
    def records(row: Any) -> Any:
        at = real(row)[0].available_at
        return tuple(
            made._replace(**{name: at - timedelta(minutes=15)}) if at else made
            for made, name in zip(real(row), ("available_at", "claimed_at"), strict=True)
        )

    return records


def _dated_anyhow(real: Any) -> Any:
    def records(row: Any) -> Any:
        return real(row if real(row)[0].available_at else {**row, "seendate": "20200101T000000Z"})

    return records


MUTANTS = (
    _leak("gdelt: a link counts from the name of its batch", "records", _early, _NEWS),
    _leak("gdelt: a link without a batch is old", "records", _dated_anyhow, _NEWS),
    _leak("gdelt: the error's text is echoed", "read_window", echoing(), _FAILURES),
)
