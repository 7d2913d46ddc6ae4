"""Find files that an agent may edit although they decide what a call runs, or as of which instant.

The guard sees the name of a program, and not what is in its file. The client itself protects ``.claude``, ``.mcp.json``
and ``.git`` in every permission mode but bypassPermissions (measured, 2.1.329).
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pit_fetch.claude_code.client_settings import Settings, WiredHook
from pit_fetch.claude_code.file_permissions import edit_permission, effective_value
from pit_fetch.claude_code.mcp_entry import NAME, start_of
from pit_fetch.claude_code.mcp_servers import ServerEntry
from pit_fetch.claude_code.reach import Scope, denial_fix, open_finding
from pit_fetch.claude_code.system import Finding
from pit_fetch.engine import settings_files

EDITS = ("Edit", "NotebookEdit", "Write")
_ELSEWHERE = "keep it where no agent may write"

# Variables that name code which a program loads: a shell before each command, Python, the system's linker.
_LOADED = re.compile(r"BASH_ENV|ENV|CLAUDE_ENV_FILE|CLAUDE_CODE_SHELL|(LD|DYLD|PYTHON)_?[A-Z_]*")


def editable_ways(
    scope: Scope,
    settings: Sequence[Settings],
    wired: Sequence[WiredHook],
    servers: Sequence[ServerEntry],
    environ: Mapping[str, str],
    project: Path,
) -> Iterator[Finding]:
    """Yield a finding for each file that an agent may edit and that a call depends on, with who may edit it."""
    users, deny = scope.users(*EDITS), denial_fix(*EDITS)
    named = set[str]()
    for what, path, fix in _deciding(settings, wired, servers, environ, project):
        reason = edit_permission(path, settings, project, environ)
        if reason and what not in named and _is_writable(path) and not _is_protected(path, project):
            named.add(what)
            yield from open_finding(f"{what} may be edited ({path}, {reason})", users, f"{fix}, or {deny}")
    for file in settings:
        if file.permission("defaultMode") == "bypassPermissions":
            way = f"hooks and settings may be edited ({file.path} sets bypassPermissions)"
            yield from open_finding(way, users, f"take defaultMode out of it, or {deny}")


def _deciding(
    settings: Sequence[Settings],
    wired: Sequence[WiredHook],
    servers: Sequence[ServerEntry],
    environ: Mapping[str, str],
    project: Path,
) -> Iterator[tuple[str, Path, str]]:
    """Yield what calls depend on: its name, its path, and what would close the way beside a rule."""
    install = "install it into an environment outside the project"
    path = effective_value(settings, environ, "PATH") or os.defpath
    program = shutil.which(NAME, path=path)
    if program:
        yield f"the program {NAME}", Path(program), install
    yield f"the program {NAME}", Path(__file__).parents[1], install  # the package, perhaps of a checkout
    for folder in path.split(os.pathsep):
        if program and folder == os.path.dirname(program):
            break  # what stands behind it there is not found
        yield "a folder of PATH", Path(project, folder, NAME), "take it out of PATH"
    set_by_client = {name: str(value) for file in reversed(settings) for name, value in file.variables.items()}
    variables = {**environ, **set_by_client}
    users = settings_files.user_file(variables)
    if users:  # even before it exists: it may name an archive
        yield "the settings of pit_fetch", Path(users), _ELSEWHERE
    projects = Path(project, settings_files.PROJECT_FILE)
    if projects.exists():  # whose ceiling could be taken out
        yield f"the project's {projects.name}", projects, _ELSEWHERE
    for entry in servers:
        start = start_of(entry.command)
        if start and Path(entry.command[0]).is_absolute():
            yield f"the program of the server {entry.name}", Path(entry.command[0]), install
        for option in ("--pit-file", "--tools", "--archive"):
            named = start.options.get(option, "") if start else ""
            if named and (option != "--tools" or Path(project, named).exists()):  # or it is a ready mapping
                file = Path(project, os.path.expanduser(named))
                yield f"the {option} file of the server {entry.name}", file, _ELSEWHERE
    archive = effective_value(settings, environ, "PIT_FETCH_ARCHIVE", str(project))
    if archive:
        yield "the archive", Path(project, os.path.expanduser(archive)), _ELSEWHERE
    for hook in wired:
        if hook.script and hook.path:
            yield f"the hook {hook.script}", hook.path, _ELSEWHERE
    for name in filter(_LOADED.fullmatch, sorted(variables)):
        for part in filter(None, variables[name].split(os.pathsep)):
            if "/" in part or Path(project, part).exists():
                yield f"what {name} names", Path(project, part), f"unset {name}"


def _is_writable(path: Path) -> bool:
    """Return whether this user may write the file, or make or replace it."""
    nearest = next((place for place in path.parents if place.exists()), path.parent)
    return os.access(path, os.W_OK) or os.access(nearest, os.W_OK)


def _is_protected(path: Path, project: Path) -> bool:
    """Return whether the client refuses edits of a file in every mode but bypassPermissions."""
    return ".claude" in path.parts or path == project / ".mcp.json"
