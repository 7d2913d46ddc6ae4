"""Which files an agent may read without being asked: what holds withheld items must be none of them."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pit_fetch.claude_code.client_settings import Settings
from pit_fetch.engine import settings_files
from pit_fetch.errors import UsageError

# A rule such as Read(~/captures/**): up to its first wildcard it names a folder or a file.
_RULE = re.compile(r"(?:Read|Grep|Glob)(?:\(([^*?\[)]*)[^)]*\))?")


def effective(settings: Sequence[Settings], environ: Mapping[str, str], name: str, folder: str = "") -> str | None:
    """A variable as a process of the client sees it: one in its settings is stronger than the environment.

    With ``folder``, the settings files of pit_fetch that count there are looked at last.
    """
    said = [one.get("env") for one in settings]
    values = [env[name] for env in said if isinstance(env, dict) and name in env]
    if values:
        return str(values[0])
    if name in environ or not folder:
        return environ.get(name)
    with contextlib.suppress(UsageError):  # a broken file: nothing is fetched at all
        return settings_files.read(environ, folder).environ.get(name)
    return None


def readable(path: Path, settings: Sequence[Settings], project: Path, environ: Mapping[str, str]) -> str:
    """What lets an agent read ``path``; "" if nothing does."""
    place = path.resolve()
    for folder, why in _places(settings, project, environ):
        if folder.resolve() in (place, *place.parents):
            return why
    return ""


def is_for_others(path: Path) -> bool:
    """Whether somebody else on this machine may read or write the file."""
    try:
        return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
    except OSError:
        return False


def _places(settings: Sequence[Settings], project: Path, environ: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    yield project, "it is inside the project"
    home = Path(environ.get("HOME") or Path.home())
    for one in settings:
        permissions: Any = one.get("permissions")
        if not isinstance(permissions, dict):
            continue
        for text in _texts(permissions.get("additionalDirectories")):
            yield _path(text, project, project, home), f"it is inside a folder that {one.path} adds to the session"
        for text in _texts(permissions.get("allow")):
            match = _RULE.fullmatch(text)
            if match is not None:
                # "//x" is from the root of the file system, "/x" from the folder of the settings' project.
                named = match[1] or "//"
                root = Path(os.sep) if named.startswith("//") else one.root
                yield _path(named.lstrip("/"), root, project, home), f"{one.path} allows {text}"


def _texts(value: object) -> Iterator[str]:
    yield from (one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _path(text: str, root: Path, project: Path, home: Path) -> Path:
    if text == "~" or text.startswith("~/"):
        return home / text[2:]
    return (project if text.startswith("./") else root) / text
