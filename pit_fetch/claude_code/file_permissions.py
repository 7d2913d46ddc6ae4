"""Which files the client's settings let an agent read or edit.

A file that it may read must not hold withheld items. One that it may edit must not decide what a call shows.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pit_fetch.claude_code.client_settings import Settings
from pit_fetch.engine import settings_files
from pit_fetch.errors import UsageError

# A rule such as Read(~/captures/**): up to its first wildcard it names a folder or a file.
_REACH = r"(?:\(([^*?\[)]*)[^)]*\))?"
_READ = re.compile(rf"(?:Read|Grep|Glob){_REACH}")
_EDIT = re.compile(rf"(?:Edit|Write|MultiEdit|NotebookEdit){_REACH}")


def effective_value(
    settings: Sequence[Settings], environ: Mapping[str, str], name: str, folder: str = ""
) -> str | None:
    """Return a variable as a process of the client sees it: the client's settings are stronger than the environment.

    With ``folder``, the settings files of pit_fetch that count there are looked at last.
    """
    for file in settings:
        if name in file.variables:
            return str(file.variables[name])
    if name in environ or not folder:
        return environ.get(name)
    with contextlib.suppress(UsageError):  # with a broken file, nothing is fetched at all
        return settings_files.read_settings(environ, folder).environ.get(name)
    return None


def read_permission(path: Path, settings: Sequence[Settings], project: Path, environ: Mapping[str, str]) -> str:
    """Return the reason why an agent may read ``path``; "" if it may not."""
    return _permission(_READ, [path.resolve()], settings, project, environ)


def edit_permission(path: Path, settings: Sequence[Settings], project: Path, environ: Mapping[str, str]) -> str:
    """Return the reason why an agent may edit ``path``, in some ordinary permission mode; "" if it may not."""
    named = Path(os.path.abspath(path))  # a link may itself be replaced
    return _permission(_EDIT, [path.resolve(), named], settings, project, environ)


def _permission(
    rule: re.Pattern[str],
    paths: Sequence[Path],
    settings: Sequence[Settings],
    project: Path,
    environ: Mapping[str, str],
) -> str:
    inside = {place for path in paths for place in (path, *path.parents)}
    places = _open_places(rule, settings, project, environ)
    return next((reason for place, reason in places if not inside.isdisjoint((place, place.resolve()))), "")


def is_open_to_others(path: Path) -> bool:
    """Return whether other users of this machine may read or write the file."""
    try:
        return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
    except OSError:
        return False


def _open_places(
    rule: re.Pattern[str], settings: Sequence[Settings], project: Path, environ: Mapping[str, str]
) -> Iterator[tuple[Path, str]]:
    yield project, "it is inside the project"
    home = Path(environ.get("HOME") or Path.home())
    for file in settings:
        for text in file.rules("additionalDirectories"):
            yield _path(text, project, project, home), f"it is inside a folder that {file.path} adds to the session"
        for text in file.rules("allow"):
            match = rule.fullmatch(text)
            if match is not None:
                # "//x" is from the root of the file system, "/x" from the folder of the settings' project.
                named = match[1] or "//"
                root = Path(os.sep) if named.startswith("//") else file.root
                yield _path(named.lstrip("/"), root, project, home), f"{file.path} allows {text}"


def _path(text: str, root: Path, project: Path, home: Path) -> Path:
    if text == "~" or text.startswith("~/"):
        return home / text[2:]
    return (project if text.startswith("./") else root) / text
