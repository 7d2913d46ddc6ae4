"""Examine what the hooks need of this machine: the interpreter, the client, the installed files."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pit_fetch.claude_code import bundle, versions
from pit_fetch.claude_code.client_settings import user_folder
from pit_fetch.claude_code.system import Finding, System
from pit_fetch.support.version import __version__
from pit_fetch.support.wording import enumerate_names

HOOK_PYTHON = (3, 9)
# The versions that brought the fields the hooks need (changelog; onFailure by bisecting, see docs/guard-and-gate.md).
REPLACES_OUTPUT = (2, 1, 121)
ON_FAILURE = (2, 1, 295)


def check_command(environ: Mapping[str, str], adapters: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding on the command on PATH, which ``adapters`` call by its name."""
    program = shutil.which("pit_fetch", path=environ.get("PATH"))
    if program:
        yield Finding("ok", "command", f"pit_fetch is {program}")
    else:
        fix = "activate its environment where the client starts, or add the folder where pip installed it to PATH"
        message = "pit_fetch is not on PATH" + ", so the bundled agents can ask nothing" * bool(adapters)
        yield Finding("fail" if adapters else "warn", "command", message, fix)


def check_python(environ: Mapping[str, str], system: System) -> Finding:
    printed = system.python_output("import sys; print(*sys.version_info[:3])", environ)
    version = tuple(map(int, re.findall(r"\d+", printed)))
    if version >= HOOK_PYTHON:
        return Finding("ok", "python3", f"the hooks run on Python {dotted(version)}")
    fix = f"put Python {dotted(HOOK_PYTHON)} or later first on the client's PATH"
    return Finding("fail", "python3", f"the python3 on PATH is {dotted(version) or 'missing or too slow'}", fix)


def check_zones(environ: Mapping[str, str], system: System) -> list[Finding]:
    """Return a warning if the hooks, which run without the program's packages, cannot read a PIT with a zone's name."""
    if system.python_output("import zoneinfo; print(zoneinfo.ZoneInfo('America/New_York'))", environ).strip():
        return []
    fix = "install the system's tzdata, or give PITs an offset"
    return [Finding("warn", "zones", "the hooks find no time zones here, and refuse a PIT that names one", fix)]


def check_client(environ: Mapping[str, str], system: System) -> Finding:
    """Return a finding on the version of the client on PATH, or of the one that the installed SDK bundles."""
    program = system.find_client(environ)
    recorded = Path(program).parent.parent / "_cli_version.py"  # of the SDK's client, which need not be started then
    command = [program or "claude", "--version"]
    printed = recorded.read_text("utf-8") if recorded.is_file() else system.output(command, environ)
    version = tuple(map(int, re.findall(r"\d+", printed)[:3]))
    if not version:
        return Finding("note", "client", "no Claude Code client was found, so its version was not checked")
    name, fix = f"Claude Code {dotted(version)}", f"update it to {dotted(ON_FAILURE)} or later"
    if version < REPLACES_OUTPUT:
        message = f"{name} cannot replace a tool's output, so nothing could be released to the model"
        return Finding("fail", "client", message, fix)
    if version < ON_FAILURE:
        message = f"{name} ignores onFailure, so a guard that cannot start lets the call run"
        return Finding("warn", "client", message, fix)
    return Finding("ok", "client", name)


def check_files(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Yield a finding on each version that the installed files come from, in the project and for the user."""
    released = versions.released_files()
    for folder in dict.fromkeys((project / ".claude", user_folder(environ))):
        names: dict[str, list[str]] = {}
        for name in bundle.files():
            if (folder / name).is_file():
                names.setdefault(released.version_of(name, (folder / name).read_bytes()), []).append(name)
        yield from (_report_version(folder, version, installed) for version, installed in names.items())


def _report_version(folder: Path, version: str, names: Sequence[str]) -> Finding:
    count = f"{len(names)} file{'s' if names[1:] else ''} in {folder}"
    if version == versions.CURRENT:
        return Finding("ok", "files", f"{count}: of version {__version__}")
    if version:
        message = f"{count}: of version {version}, not {__version__} ({enumerate_names(names)})"
        return Finding("warn", "files", message, "run pit_fetch init --upgrade")
    fix = "compare with this version (pit_fetch init --upgrade --dry-run), or replace it (pit_fetch init --force)"
    return Finding("warn", "files", f"{count}: edited, as no version has them ({enumerate_names(names)})", fix)


# Python trusts a compiled file's header, which may even say that the source is not to be checked.
_COMPILED = """
import importlib.machinery, sys
path = sys.argv[1]
with open(path, "rb") as source:
    compiled = compile(source.read(), path, "exec", dont_inherit=True)
print(importlib.machinery.SourceFileLoader("pit_gate", path).get_code("pit_gate") == compiled)
"""


def check_cache(path: Path, environ: Mapping[str, str], system: System) -> list[Finding]:
    """Return a failure if the compiled gate, which the guard loads, does not match the gate's source."""
    if system.python_output(_COMPILED, environ, str(path)).strip() != "False":
        return []
    message = f"the compiled form of {path}, which the guard loads, is not what that file says"
    return [Finding("fail", "files", message, f"find out where it came from, and remove {path.parent / '__pycache__'}")]


def dotted(version: Sequence[Any]) -> str:
    """Return a version with dots between its numbers."""
    return ".".join(map(str, version))
