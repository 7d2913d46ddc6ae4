"""Examine whether this computer and a project really enforce the PIT.

Looks at the interpreter, the hooks that a client would run and their files, the ceiling, the credentials and the
client's version, and sends a planted leak through each wired command. Every finding names its fix. Nothing is changed,
and no credential's value is shown.

Files alone never show that the PIT is enforced: only the client can, when it runs planted leaks in this project
(:func:`try_client`).
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from pit_fetch.claude_code import bundle, hook_trials, mcp_check, versions
from pit_fetch.claude_code.client_settings import WiredHook, user_folder
from pit_fetch.claude_code.environment_check import (
    check_cache_folder,
    check_ceiling,
    check_credentials,
    check_operator_files,
)
from pit_fetch.claude_code.finding import Finding
from pit_fetch.claude_code.mcp_servers import Entry, neo4j_servers
from pit_fetch.claude_code.openings import advice
from pit_fetch.claude_code.session import Session
from pit_fetch.claude_code.system import THIS_SYSTEM, System
from pit_fetch.claude_code.wiring_check import INIT, check_dropped, check_servers, check_switches, check_wiring
from pit_fetch.support.bundled import gate, load
from pit_fetch.support.suggest import enumerate_names
from pit_fetch.support.version import __version__

guard = load("pit_guard")

HOOK_PYTHON = (3, 9)
# The versions that brought the fields the hooks need (changelog; onFailure by bisecting, see docs/guard-and-gate.md).
REPLACES_OUTPUT = (2, 1, 121)
ON_FAILURE = (2, 1, 295)


def examine(session: Session, system: System = THIS_SYSTEM) -> Iterator[Finding]:
    """Yield every finding on ``session`` that files and hooks alone can show. Child processes run side by side."""
    environ, project, settings = session.environ, session.project, session.settings
    with ThreadPoolExecutor() as pool:
        client = pool.submit(check_client, session, system)
        hooks = _start_hooks(session, system, pool) if session.uses_hooks else []
        yield Finding("ok", "pit_fetch", f"{__version__} on Python {_dotted(sys.version_info[:3])}")
        yield from check_command(session)
        yield from check_working_directory(project)
        yield from check_dropped(settings)
        if session.uses_hooks:
            yield from check_switches(settings, environ, project)
            yield from check_wiring(session)
            yield from check_servers(list(neo4j_servers(session.servers)), session.wired)
        else:
            yield Finding("note", "wiring", "no hook is wired here: what the servers answer is held, and nothing else")
        yield from _check_entries(session, system)
        for future in hooks:
            yield from future.result()
        yield from check_files(environ, project)
        yield from check_agents(session)
        yield from check_scope(session)
        yield from check_ceiling(session, system.now())
        yield from check_operator_files(settings, environ, project)
        yield from check_cache_folder(settings, environ, project)
        yield from check_credentials(environ, project)
        yield client.result()


def _start_hooks(session: Session, system: System, pool: ThreadPoolExecutor) -> list[Future[list[Finding]]]:
    """Start what shows whether the hooks that are wired do their work."""
    environ, wired = session.environ, session.wired
    gates = {hook.path.with_name("pit_gate.py") for hook in wired if hook.script and hook.path}
    return [
        pool.submit(check_python, environ, system),
        pool.submit(check_zones, environ, system),
        *(pool.submit(try_hook, hook, environ, system) for hook in _distinct(wired)),
        *(pool.submit(check_cache, path, environ, system) for path in sorted(gates)),
    ]


def _check_entries(session: Session, system: System) -> Iterator[Finding]:
    find = partial(shutil.which, path=session.variable("PATH"))
    variables = [name for file in session.settings if isinstance(env := file.get("env"), dict) for name in env]
    ceiling, now = session.variable(gate.CEILING_VARIABLE), system.now()
    yield from mcp_check.check_entries(session.servers, ceiling, now, mcp_check.installed_sdk, find, variables)


def try_client(session: Session, system: System = THIS_SYSTEM) -> Iterator[Finding]:
    """Run planted leaks through the client itself, and yield a finding for each."""
    ceiling = gate.parse_pit(session.variable(gate.CEILING_VARIABLE))
    if ceiling is None and session.uses_hooks:
        fix = f"set {gate.CEILING_VARIABLE} in the environment that starts the client, and here"
        yield Finding("fail", "proof", "without a ceiling, a call without --pit is open mode: nothing to prove", fix)
    served = [entry for entry in session.servers if mcp_check.is_served(entry)]
    if not served and (ceiling is None or not session.uses_hooks):
        return
    client = system.find_client(session.environ)
    if not client:
        fix = "install Claude Code, or claude-agent-sdk, whose wheel bundles it (pip install claude-agent-sdk)"
        yield Finding("warn", "proof", "not proved: no Claude Code client was found to prove it with", fix)
        return
    system.announce(f"starting {client} here with planted leaks, and with it this project's own hooks and agents")
    with ThreadPoolExecutor() as pool:
        servers = pool.submit(_prove_servers, client, session, ceiling, served)
        if ceiling is not None and session.uses_hooks:
            yield from _prove_hooks(client, session, ceiling)
        yield from servers.result()


def _prove_hooks(client: str, session: Session, ceiling: datetime) -> Iterator[Finding]:
    from pit_fetch.claude_code import prove  # an examination without a proof never loads it

    proof = prove.prove(client, session.environ, session.project, ceiling, session.held)
    fix = "mend what the other findings name; settings of the user, a plugin or an administrator count as well"
    for result in proof.results:
        if result.is_expected:
            yield Finding("ok", "proof", f"{result.step.name}: {result.seen}")
        else:
            seen = f"{result.seen}, and what was planted reached the model" if result.leaked else result.seen
            message = f"{result.step.name}: {seen} instead of {result.step.expected}"
            yield Finding("fail", "proof", message, fix)
    if proof.problem:
        yield Finding("fail", "proof", f"not proved: {proof.problem}", fix)


def _prove_servers(client: str, session: Session, ceiling: datetime | None, served: Sequence[Entry]) -> list[Finding]:
    if not served:
        return []
    from pit_fetch.claude_code.prove_mcp import prove_entries

    return list(prove_entries(client, session.environ, session.project, ceiling, served))


def _dotted(version: Sequence[Any]) -> str:
    return ".".join(map(str, version))


# The system.


def check_command(session: Session) -> Iterator[Finding]:
    program = shutil.which("pit_fetch", path=session.variable("PATH"))
    if program:
        yield Finding("ok", "command", f"pit_fetch is {program}")
        return
    fix = "activate the environment where pip installed it, or add its folder to PATH, here and where the client starts"
    if session.adapters:
        message = "pit_fetch is not on PATH, and the agents here call it by that name: none of them can ask anything"
        yield Finding("fail", "command", message, fix)
    else:
        yield Finding("warn", "command", "pit_fetch is not on PATH", fix)


def check_working_directory(project: Path) -> Iterator[Finding]:
    package = Path(__file__).resolve().parent.parent
    for name in ("pit_fetch", "pit_fetch.py"):
        if (project / name).exists() and (project / name).resolve() not in (package, package.parent / "pit_fetch.py"):
            fix = "call pit_fetch, not python3 -m pit_fetch, in this folder"
            yield Finding("warn", "folder", f"there is another {name} here, and python3 -m would run it", fix)


def check_python(environ: Mapping[str, str], system: System) -> list[Finding]:
    printed = system.python_output("import sys; print(*sys.version_info[:3])", environ)
    version = tuple(map(int, re.findall(r"\d+", printed)))
    if version >= HOOK_PYTHON:
        return [Finding("ok", "python3", f"the hooks run on Python {_dotted(version)}")]
    fix = f"put Python {_dotted(HOOK_PYTHON)} or later first on the client's PATH"
    return [Finding("fail", "python3", f"the python3 on PATH is {_dotted(version) or 'missing or too slow'}", fix)]


def check_zones(environ: Mapping[str, str], system: System) -> list[Finding]:
    """Return a warning if the hooks, which run without the program's packages, cannot read a PIT with a zone's name."""
    if system.python_output("import zoneinfo; print(zoneinfo.ZoneInfo('America/New_York'))", environ).strip():
        return []
    fix = "install the system's tzdata, or give PITs an offset"
    return [Finding("warn", "zones", "the hooks find no time zones here, and refuse a PIT that names one", fix)]


def check_client(session: Session, system: System) -> Finding:
    """Return a finding on the version of the client on PATH, or of the one that the installed SDK bundles."""
    program = system.find_client(session.environ)
    recorded = Path(program).parent.parent / "_cli_version.py"  # of the SDK's client, which need not be started then
    command = [program or "claude", "--version"]
    printed = recorded.read_text("utf-8") if recorded.is_file() else system.output(command, session.environ)
    version = tuple(map(int, re.findall(r"\d+", printed)[:3]))
    if not version:
        return Finding("note", "client", "no Claude Code client was found, so its version was not checked")
    name, fix = f"Claude Code {_dotted(version)}", f"update it to {_dotted(ON_FAILURE)} or later"
    if version < REPLACES_OUTPUT and session.uses_hooks:
        message = f"{name} cannot replace a tool's output, so nothing could be released to the model"
        return Finding("fail", "client", message, fix)
    if version < ON_FAILURE and session.uses_hooks:
        message = f"{name} ignores onFailure, so a guard that cannot start lets the call run"
        return Finding("warn", "client", message, fix)
    return Finding("ok", "client", name)


def _distinct(wired: Sequence[WiredHook]) -> list[WiredHook]:
    """Return the hooks of ours, each command once: the client runs a command once, however many entries name it."""
    ours = [hook for hook in wired if hook.script == bundle.SCRIPTS.get(hook.event)]
    return list({(hook.event, hook.command, hook.root): hook for hook in reversed(ours)}.values())[::-1]


def try_hook(hook: WiredHook, environ: Mapping[str, str], system: System) -> list[Finding]:
    """Run a wired command on a planted leak, which it must stop."""
    trial = hook_trials.trial_for(hook)
    passes = hook_trials.run(trial, hook, environ, system)
    name = f"{hook.script} of {hook.origin}"
    if passes:
        findings = [Finding("ok", "trial", f"{name} {trial.promise}")]
    elif passes is None:
        message = f"{name} gave no answer in {system.seconds} s"
        findings = [Finding("fail", "trial", message, "run it again on a calmer machine")]
    else:
        findings = [Finding("fail", "trial", f"{name} does not do this: {trial.promise}", f"{INIT} --upgrade")]
    if hook.path and hook.path.is_file() and not os.access(hook.path, os.X_OK):
        findings.append(Finding("warn", "files", f"{hook.path} is not executable", f"chmod +x {hook.path}"))
    return findings


# The files.


def check_files(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Yield a finding on each version of which ``init`` has installed files, in the project and for the user."""
    history = versions.recorded()
    for folder in dict.fromkeys((project / ".claude", user_folder(environ))):
        names: dict[str, list[str]] = {}
        for name in bundle.files():
            if (folder / name).is_file():
                names.setdefault(history.version_of(name, (folder / name).read_bytes()), []).append(name)
        yield from (_of_version(folder, version, installed) for version, installed in names.items())


def _of_version(folder: Path, version: str, names: Sequence[str]) -> Finding:
    count = f"{len(names)} file{'s' if names[1:] else ''} in {folder}"
    if version == versions.CURRENT:
        return Finding("ok", "files", f"{count}: of version {__version__}")
    if version:
        message = f"{count}: of version {version}, not {__version__} ({enumerate_names(names)})"
        return Finding("warn", "files", message, f"{INIT} --upgrade")
    fix = f"compare with this version ({INIT} --upgrade --dry-run), or replace what was edited: {INIT} --force"
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
    """Return a failure if the compiled gate, which the guard loads, is not that of the gate's source."""
    if system.python_output(_COMPILED, environ, str(path)).strip() != "False":
        return []
    message = f"the compiled form of {path}, which the guard loads, is not what that file says"
    return [Finding("fail", "files", message, f"find out where it came from, and remove {path.parent / '__pycache__'}")]


def check_agents(session: Session) -> Iterator[Finding]:
    """Yield a failure for each agent that the guard should know, and does not, and a warning for each open one."""
    unknown = [name for name in session.adapters if name not in guard.ADAPTERS]
    failing = [] if session.holds.is_wrapper_only else unknown
    for name in failing:
        message = f"the agent {name} may run any command: the guard does not know its name"
        fix = f"give it the name of a bundled one, or set {guard.ONLY_VARIABLE}=1 for the session"
        yield Finding("fail", "agents", message, fix)
    for opening in session.openings:
        if opening.agent and opening.agent not in failing:
            message = f"nothing holds {', '.join(opening.tools)} of the agent {opening.agent} to the PIT"
            yield Finding("warn", "agents", f"{message} ({opening.origin})", advice(opening, session.holds))


def check_scope(session: Session) -> Iterator[Finding]:
    """Yield a finding on the tools of the main session."""
    opening = next((opening for opening in session.openings if not opening.agent), None)
    if opening:
        message = f"nothing holds {', '.join(opening.tools)} of the main session to the PIT"
        yield Finding("warn", "scope", message, advice(opening, session.holds))
    else:
        yield Finding("ok", "scope", "each tool of the main session that may bring data is held to the PIT, or denied")
