"""Leaks between instants side by side: what one of them sets, another one is answered by."""

from __future__ import annotations

import threading
from typing import Any

from pit_fetch.request.audience import CEILING_VARIABLE
from tests.laws.mutants.leak import Mutant, in_module


def _kept_by_thread(real: Any) -> Any:
    """A thread that has answered one instant goes on with it."""
    kept = threading.local()

    def fetch(call: Any, runtime: Any = None) -> Any:
        kept.pit = getattr(kept, "pit", call.options.get("pit"))
        return real(call._replace(options={**call.options, "pit": kept.pit}), runtime)

    return fetch


def _latest_of_process(real: Any) -> Any:
    """The latest instant of a process is the ceiling of all."""
    kept: dict[str, str] = {}

    def bound_runtime(runtime: Any, variables: Any) -> Any:
        kept[CEILING_VARIABLE] = max(kept.get(CEILING_VARIABLE, ""), variables.get(CEILING_VARIABLE, ""))
        return real(runtime, {**variables, **kept} if variables else variables)

    return bound_runtime


def _for_first_page(real: Any) -> Any:
    """What binds an instant does not bind the page after its first answer."""

    def fetch(call: Any, runtime: Any = None) -> Any:
        return real(call._replace(bound={}) if "after" in call.options else call, runtime)

    return fetch


_answers = in_module("pit_fetch.answers")
_LAWS = ("library: instants",)

MUTANTS: tuple[Mutant, ...] = (
    _answers("a thread keeps the instant of its first call", "fetch", _kept_by_thread, _LAWS),
    _answers("the latest instant of a process is the ceiling of all", "bound_runtime", _latest_of_process, _LAWS),
    _answers("an instant does not bind the next page", "fetch", _for_first_page, _LAWS),
    _answers("an instant binds nothing", "bound_runtime", lambda real: lambda runtime, variables: runtime, _LAWS),
)
