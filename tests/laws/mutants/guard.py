"""Leaks of the guard: options that are not an adapter's to choose."""

from __future__ import annotations

from typing import Any

from tests.laws.mutants.leak import Mutant
from tests.laws.plant import Make

_OPTIONS = ("guard: options",)


def _also(name: str) -> Make:
    return lambda real: lambda environ: real(environ) | {name}


def _by_flag_alone(real: Any) -> Any:
    def refuse(options: list[str], allowed: Any) -> Any:
        return real([word for word in options if word.startswith("-") or "=" not in word] or ["--source"], allowed)

    return refuse


MUTANTS = (
    Mutant("an adapter chooses the time", "pit_guard:adapter_options", _also("timeout"), _OPTIONS),
    Mutant("an adapter reads a file", "pit_guard:adapter_options", _also("input-file"), _OPTIONS),
    Mutant("an adapter chooses by name=value", "pit_guard:_refuse_unknown", _by_flag_alone, _OPTIONS),
)
