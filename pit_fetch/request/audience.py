"""The reader of the output: a person, or an agent that its client or an operator's ceiling restricts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pit_fetch.runtime import Runtime

CEILING_VARIABLE = "PIT_FETCH_CEILING"
ONLY_VARIABLE = "PIT_FETCH_WRAPPER_ONLY"
CLIENT_VARIABLE = "CLAUDECODE"
# That client cuts a tool's output at 30,000 characters and then hands its hook broken JSON.
MAX_CHARS_UNDER_AGENT = 28_000
RESTRICTIONS = (CEILING_VARIABLE, ONLY_VARIABLE)
OFFLINE_VARIABLE = "PIT_FETCH_OFFLINE"


def is_for_an_agent(environ: Mapping[str, str]) -> bool:
    """Return whether the caller is an agent's client, or bound by the operator."""
    return bool(environ.get(CLIENT_VARIABLE)) or is_bound(environ)


def is_for_a_person(runtime: Runtime) -> bool:
    """Return whether a person reads the standard output. Agents and their operators read JSON."""
    return runtime.stdout is not None and runtime.stdout.isatty() and not is_for_an_agent(runtime.environ)


def is_bound(environ: Mapping[str, str]) -> bool:
    """Return whether the operator lets the caller see only what was public at a ceiling, or run nothing but a fetch."""
    if CEILING_VARIABLE in environ:
        return True
    return _is_set(environ, ONLY_VARIABLE)


def is_offline(environ: Mapping[str, str]) -> bool:
    """Return whether the operator lets the archive alone answer."""
    return _is_set(environ, OFFLINE_VARIABLE)


def _is_set(environ: Mapping[str, str], variable: str) -> bool:
    return environ.get(variable, "").strip().lower() not in ("", "0", "false", "no")
