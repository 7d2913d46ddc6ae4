"""Examine the environment of a session: the ceiling, the files and credentials of the operator."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from pit_fetch.claude_code.client_settings import Settings
from pit_fetch.claude_code.finding import Finding
from pit_fetch.claude_code.readable_files import effective_value, is_open_to_others, read_permission
from pit_fetch.claude_code.session import Session
from pit_fetch.engine import registry, settings_files
from pit_fetch.engine.credentials import lookup
from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.support.bundled import gate


def check_ceiling(session: Session, now: datetime) -> Iterator[Finding]:
    """Yield a finding on the ceiling as hooks see it, and on one of a settings file, which only the program sees."""
    name = gate.CEILING_VARIABLE
    ceiling = session.variable(name)
    pit, own_pit = gate.parse_pit(ceiling), gate.parse_pit(session.environ.get(name))
    file = next((file.path for file in session.settings if name in (file.get("env") or {})), None)
    if ceiling is None:
        if session.uses_hooks:
            fix = "for a back-test, set it in the environment that starts the client"
            message = f"{name} is not set: neither guard nor gate knows a PIT that a call forgot"
            yield Finding("warn", "ceiling", message, fix)
    elif pit is None:
        fix = "write YYYY-MM-DDTHH:MM:SS with Z, an offset or a [Zone/Name], or unset it"
        yield Finding("fail", "ceiling", f"{name} cannot be read, so every call is refused", fix)
    elif own_pit is not None and pit > own_pit:
        message = f"{file} raises {name} to {ceiling}, and is stronger than the environment"
        yield Finding("fail", "ceiling", message, "take it out of the env of that file")
    elif pit > now:
        message = f"the ceiling {ceiling} is yet to come: it withholds nothing that is public today"
        yield Finding("warn", "ceiling", message, "correct its year, if it is for a back-test")
    else:
        origin = f" ({file})" if file else ""
        yield Finding("ok", "ceiling", f"every call needs a --pit at or before {ceiling}{origin}")
    yield from _on_file(session, ceiling)


def _on_file(session: Session, ceiling: str | None) -> Iterator[Finding]:
    """Yield a finding on a ceiling in a settings file of pit_fetch that bounds the program more than the variable."""
    name = gate.CEILING_VARIABLE
    known = {**session.environ, **({} if ceiling is None else {name: ceiling})}
    try:
        settings = settings_files.read(known, str(session.project))
    except UsageError as error:
        yield Finding("warn", "ceiling", f"every call is refused: {error}", "correct that file, or remove it")
        return
    if name in settings.origins:
        file, own = settings.origins[name], settings.environ[name]
        message = f"{file} bounds the program at {own}, and a server as well: the guard and the gate do not know it"
        yield Finding("warn", "ceiling", message, f"set {name}={own}, too (pit_fetch config shows which one counts)")


_OPERATOR_FILES = {
    "audit": ("PIT_FETCH_AUDIT", "names what was withheld"),
    "archive": ("PIT_FETCH_ARCHIVE", "holds what came after the PIT"),
}


def check_operator_files(settings: Sequence[Settings], environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Yield a finding on who may read the audit file and the archive."""
    for check, (variable, content) in _OPERATOR_FILES.items():
        name = effective_value(settings, environ, variable, str(project))
        if not name:
            continue
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
    """Yield a finding if an agent may read the cache, which holds today's lists whatever the PIT."""
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
    missing: dict[str, str] = {}
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
                missing[listing.name] = names
    if missing:
        sources = ", ".join(f"{name} ({names})" for name, names in missing.items())
        fix = "set those that are to be used, in the environment or in a .env file"
        yield Finding("note", "source", f"without a key: {sources}", fix)
