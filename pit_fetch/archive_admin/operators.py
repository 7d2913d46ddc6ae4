"""What every command on an archive checks first: that an operator may run it, and which archive it is about."""

from __future__ import annotations

from pit_fetch.engine import settings_files
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.request import audience
from pit_fetch.runtime import Runtime

VARIABLE = settings_files.VARIABLES["archive"]


def require_operator(runtime: Runtime, command: str) -> Runtime:
    """Return the runtime with the settings of files. Raise UsageError where an agent might make this call."""
    runtime, _ = settings_files.with_settings(runtime)
    if audience.is_bound(runtime.environ):
        raise UsageError(Code.PEOPLE_ONLY, command=command)
    return runtime


def path_of(option: str | None, runtime: Runtime, how: str = "--archive PATH") -> str:
    """Return the path of the archive, from the option or the environment. Raise UsageError if neither has one.

    ``how`` is how the option is written.
    """
    path = option or runtime.environ.get(VARIABLE)
    if not path:
        raise UsageError(Code.USAGE, text=f"which archive? Set {VARIABLE}, or give {how}")
    return runtime.path(path)
