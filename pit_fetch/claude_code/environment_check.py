"""Examine the environment: the ceiling, and who may read the files that hold more than was public at it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from pit_fetch.claude_code.client_settings import Settings
from pit_fetch.claude_code.file_permissions import effective_value, is_open_to_others, read_permission
from pit_fetch.claude_code.mcp_entry import start_of
from pit_fetch.claude_code.mcp_servers import ServerEntry
from pit_fetch.claude_code.system import Finding
from pit_fetch.engine import settings_files
from pit_fetch.errors import UsageError
from pit_fetch.request import audience
from pit_fetch.support.bundled import gate


def check_ceiling(
    settings: Sequence[Settings], environ: Mapping[str, str], project: Path, now: datetime
) -> Iterator[Finding]:
    """Yield findings on the ceiling that a hook sees, and on one in a settings file of pit_fetch."""
    name = gate.CEILING_VARIABLE
    ceiling = effective_value(settings, environ, name)  # as a hook sees it
    pit, own_pit = gate.parse_pit(ceiling), gate.parse_pit(environ.get(name))
    if ceiling is None:
        yield _missing_ceiling(environ, project)
    elif pit is None:
        fix = f"write {gate.PIT_FORM}, or unset it"
        yield Finding("fail", "ceiling", f"{name} cannot be read, so every call is refused", fix)
    elif own_pit is not None and pit > own_pit:
        file = next(file.path for file in settings if name in file.variables)
        message = f"{file} raises {name} to {ceiling}, and is stronger than the environment"
        yield Finding("fail", "ceiling", message, "take it out of the env of that file")
    elif pit > now:
        message = f"the ceiling {ceiling} is yet to come: until then it holds nothing back"
        yield Finding("warn", "ceiling", message, f"correct {name}, unless you mean it")
    else:
        yield Finding("ok", "ceiling", f"every call needs a --pit at or before {ceiling}")
        lower = _file_of_ceiling({**environ, name: ceiling}, project)
        if lower is not None:
            message = f"{lower[0]} holds pit_fetch to the earlier {lower[1]}, and refuses a --pit between the two"
            yield Finding("note", "ceiling", message)


def _missing_ceiling(environ: Mapping[str, str], project: Path) -> Finding:
    name, file = gate.CEILING_VARIABLE, _file_of_ceiling(environ, project)
    fix = f"set {name} in the environment that starts the client"
    if file is None:
        message = f"{name} is not set: a call without --pit is open mode"
        return Finding("warn", "ceiling", message, f"for a back-test, {fix}")
    message = f"{file[0]} holds pit_fetch to {file[1]}, but guard and gate know only the variable {name}"
    return Finding("warn", "ceiling", message, f"{fix} as well")


def _file_of_ceiling(environ: Mapping[str, str], project: Path) -> tuple[str, str] | None:
    """Return the settings file of pit_fetch that sets the ceiling, or lowers it, with that ceiling; None for none."""
    with contextlib.suppress(UsageError):  # with a broken file, nothing is fetched at all
        found = settings_files.read_settings(environ, str(project))
        if gate.CEILING_VARIABLE in found.origins:
            return found.origins[gate.CEILING_VARIABLE], found.environ[gate.CEILING_VARIABLE]
    return None


def check_names(settings: Sequence[Settings], environ: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding on each variable whose name is probably misspelt, in the environment or the client's settings."""
    names = [*environ, *(name for file in settings for name in file.variables)]
    for name, meant in dict.fromkeys(gate.misspelt_variables(names, audience.RESTRICTIONS)):
        message = f"{name} restricts nothing, and every call is refused because of it"
        yield Finding("fail", "variable", message, f"write {meant}, or unset it")
    for name, meant in dict.fromkeys(settings_files.misspelt(names)):
        yield Finding("warn", "variable", f"{name} is not a variable of pit_fetch", f"write {meant}, or unset it")


_OPERATOR_FILES = {
    "PIT_FETCH_AUDIT": ("audit", "names what was withheld"),
    "PIT_FETCH_ARCHIVE": ("archive", "holds what came after the PIT"),
    "PIT_FETCH_RECORD": ("record", "holds what others were shown"),
}


def check_operator_files(
    settings: Sequence[Settings], environ: Mapping[str, str], project: Path, servers: Sequence[ServerEntry]
) -> Iterator[Finding]:
    """Yield a finding on who may read the audit file and the archives, also of a server."""
    starts = [(f"--archive of the server {entry.name}", start_of(entry.command)) for entry in servers]
    files = [
        *((variable, effective_value(settings, environ, variable, str(project))) for variable in _OPERATOR_FILES),
        *((what, start.options.get("--archive")) for what, start in starts if start),
    ]
    for variable, name in files:
        if not name:
            continue
        check, content = _OPERATOR_FILES.get(variable, _OPERATOR_FILES["PIT_FETCH_ARCHIVE"])
        path = Path(project, os.path.expanduser(name))
        permission = read_permission(path, settings, project, environ)
        if permission:
            message = f"an agent may read the file of {variable}, which {content}: {permission}"
            yield Finding("fail", check, message, "move it to a folder outside the project that no agent may read")
        elif is_open_to_others(path):
            message = f"others on this machine may read the file of {variable}, which {content}"
            yield Finding("warn", check, message, f"chmod 600 {path}")
        else:
            yield Finding("ok", check, f"{path} is outside the project")


def check_cache_folder(settings: Sequence[Settings], environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Yield a finding if an agent may read the cache, which holds today's lists, not those of the PIT."""
    from pit_fetch.net import cache

    names = ("HOME", "XDG_CACHE_HOME")
    values = {name: effective_value(settings, environ, name) or "" for name in names}
    folder = cache.location(values)
    permission = read_permission(Path(project, folder), settings, project, environ) if folder else ""
    if permission:
        message = f"an agent may read the cache folder, which holds today's lists of companies: {permission}"
        yield Finding("warn", "cache", message, "set XDG_CACHE_HOME to a folder that no agent may read")


def check_credentials(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Yield findings on the sources' credentials. A source without them cannot fetch, and cannot leak."""
    from pit_fetch.engine import registry
    from pit_fetch.engine.credentials import lookup
    from pit_fetch.errors import ConfigError

    lacking = []
    for listing in registry.listings():
        if listing.provider is None:
            yield Finding("warn", "source", f"{listing.name} is not usable: {listing.problem}", "see --list-sources")
            continue
        for credential in listing.provider.credentials:
            names = " or ".join(credential.variables)
            try:
                is_set = bool(lookup(credential, environ, str(project))[1])
            except ConfigError as error:
                problem, _, fix = error.gap.reason.rpartition(": ")
                yield Finding("warn", "source", f"{listing.name}: {problem}", fix)
                continue
            if is_set:
                yield Finding("ok", "source", f"{listing.name}: {names} is set")
            else:
                lacking.append(f"{listing.name} ({names})")
    if lacking:
        fix = "of those in use, set it in the environment or in a .env file"
        yield Finding("note", "source", f"without a key: {', '.join(lacking)}", fix)
