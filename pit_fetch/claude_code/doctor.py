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
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from pit_fetch.claude_code import bundle, hook_trials, lint, mcp_check, versions
from pit_fetch.claude_code.client_settings import (
    Settings,
    WiredHook,
    drop_reason,
    hooks_in,
    matches,
    read_settings,
    unreliable_fields,
    user_folder,
)
from pit_fetch.claude_code.finding import Finding
from pit_fetch.claude_code.mcp_servers import PROGRAM, USUAL_NAME, Entry, Server, entries, neo4j_servers
from pit_fetch.claude_code.readable_files import effective_value, is_open_to_others, read_permission
from pit_fetch.claude_code.system import THIS_SYSTEM, System
from pit_fetch.support.bundled import gate, load
from pit_fetch.support.suggest import enumerate_names
from pit_fetch.support.version import __version__

guard = load("pit_guard")

HOOK_PYTHON = (3, 9)
# The versions that brought the fields the hooks need (changelog; onFailure by bisecting, see docs/guard-and-gate.md).
REPLACES_OUTPUT = (2, 1, 121)
ON_FAILURE = (2, 1, 295)

INIT = "run pit_fetch init"


def examine(environ: Mapping[str, str], project: Path, system: System = THIS_SYSTEM) -> Iterator[Finding]:
    """Yield every finding on ``project`` that files and hooks alone can show. Child processes run side by side."""
    settings = read_settings(environ, project)
    wired = [hook for file in settings for hook in hooks_in(file)]
    with ThreadPoolExecutor() as pool:
        client = pool.submit(check_client, environ, system)
        python = pool.submit(check_python, environ, system)
        zones = pool.submit(check_zones, environ, system)
        trials = [pool.submit(try_hook, hook, environ, system) for hook in _distinct(wired)]
        gates = {hook.path.with_name("pit_gate.py") for hook in wired if hook.script and hook.path}
        caches = [pool.submit(check_cache, path, environ, system) for path in sorted(gates)]
        yield Finding("ok", "pit_fetch", f"{__version__} on Python {_dotted(sys.version_info[:3])}")
        yield from check_command(environ)
        yield from check_working_directory(project)
        yield python.result()
        yield from zones.result()
        yield from check_settings(settings, environ, project)
        yield from check_wiring(wired)
        servers = list(entries(environ, project))
        yield from check_servers(list(neo4j_servers(servers)), wired)
        ceiling = effective_value(settings, environ, gate.CEILING_VARIABLE)
        find = partial(shutil.which, path=effective_value(settings, environ, "PATH"))
        variables = [name for file in settings if isinstance(env := file.get("env"), dict) for name in env]
        yield from mcp_check.check_entries(servers, ceiling, mcp_check.installed_sdk, find, variables)
        for future in [*trials, *caches]:
            yield from future.result()
        yield from check_files(environ, project)
        yield from check_agents(environ, project)
        yield from check_ceiling(settings, environ)
        yield from check_operator_files(settings, environ, project)
        yield from check_cache_folder(settings, environ, project)
        yield from check_credentials(environ, project)
        yield client.result()


def try_client(environ: Mapping[str, str], project: Path, system: System = THIS_SYSTEM) -> Iterator[Finding]:
    """Run planted leaks through the client itself, and yield a finding for each."""
    from pit_fetch.claude_code import prove  # an examination without a proof never loads it

    ceiling = gate.parse_pit(effective_value(read_settings(environ, project), environ, gate.CEILING_VARIABLE))
    client = system.find_client(environ)
    if ceiling is None:
        fix = f"set {gate.CEILING_VARIABLE} in the environment that starts the client, and here"
        yield Finding("fail", "proof", "without a ceiling, a call without --pit is open mode: nothing to prove", fix)
        return
    if not client:
        fix = "install Claude Code, or claude-agent-sdk, whose wheel bundles it"
        yield Finding("fail", "proof", "no Claude Code client was found to prove it with", fix)
        return
    system.announce(f"starting {client} here with planted leaks, and with it this project's own hooks and agents")
    ours = [entry for entry in entries(environ, project) if mcp_check.is_served(entry)]
    with ThreadPoolExecutor() as pool:
        served = pool.submit(_prove_entries, client, environ, project, ceiling, ours)
        proof = prove.prove(client, environ, project, ceiling, _adapters(environ, project))
        findings = served.result()
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
    yield from findings


def _prove_entries(
    client: str, environ: Mapping[str, str], project: Path, ceiling: datetime, ours: Sequence[Entry]
) -> list[Finding]:
    if not ours:
        return []
    from pit_fetch.claude_code.prove_mcp import prove_entries

    return list(prove_entries(client, environ, project, ceiling, ours))


def _dotted(version: Sequence[Any]) -> str:
    return ".".join(map(str, version))


# The system.


def check_command(environ: Mapping[str, str]) -> Iterator[Finding]:
    program = shutil.which("pit_fetch", path=environ.get("PATH"))
    if program:
        yield Finding("ok", "command", f"pit_fetch is {program}")
    else:
        fix = "add the folder where pip installed it to PATH, or call pit_fetch.py by its path"
        yield Finding("warn", "command", "pit_fetch is not on PATH, but the bundled agents call it by that name", fix)


def check_working_directory(project: Path) -> Iterator[Finding]:
    package = Path(__file__).resolve().parent.parent
    for name in ("pit_fetch", "pit_fetch.py"):
        if (project / name).exists() and (project / name).resolve() not in (package, package.parent / "pit_fetch.py"):
            fix = "call pit_fetch, not python3 -m pit_fetch, in this folder"
            yield Finding("warn", "folder", f"there is another {name} here, and python3 -m would run it", fix)


def check_python(environ: Mapping[str, str], system: System) -> Finding:
    printed = system.python_output("import sys; print(*sys.version_info[:3])", environ)
    version = tuple(map(int, re.findall(r"\d+", printed)))
    if version >= HOOK_PYTHON:
        return Finding("ok", "python3", f"the hooks run on Python {_dotted(version)}")
    fix = f"put Python {_dotted(HOOK_PYTHON)} or later first on the client's PATH"
    return Finding("fail", "python3", f"the python3 on PATH is {_dotted(version) or 'missing or too slow'}", fix)


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
    name, fix = f"Claude Code {_dotted(version)}", f"update it to {_dotted(ON_FAILURE)} or later"
    if version < REPLACES_OUTPUT:
        message = f"{name} cannot replace a tool's output, so nothing could be released to the model"
        return Finding("fail", "client", message, fix)
    if version < ON_FAILURE:
        message = f"{name} ignores onFailure, so a guard that cannot start lets the call run"
        return Finding("warn", "client", message, fix)
    return Finding("ok", "client", name)


# The wiring.

# Switches of a settings file with which the client does not run a project's hooks. The last two are an administrator's.
_SWITCHES = ("disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization")

# What another hook could undo at each event, and by which field of its answer.
_REWRITING = {"PreToolUse": ("the command", "updatedInput"), "PostToolUse": ("output", "updatedToolOutput")}


def check_settings(settings: Sequence[Settings], environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    for file in settings:
        fault = drop_reason(file)
        if fault:
            message = f"{file.path} {fault}: the client drops its hooks, and says nothing"
            yield Finding("fail", "settings", message, "correct it")
        for switch in _SWITCHES:
            if file.get(switch):
                yield Finding("fail", "settings", f"{file.path} sets {switch}", "remove it, or ask who administers it")
        if file.path == project / "hooks" / "hooks.json":
            fix = "start the client with --plugin-dir and this folder, or install the plugin"
            yield Finding("note", "settings", "this folder is the plugin: its hooks run where a session loads it", fix)
    folder = project.resolve()
    if not (folder / ".claude").is_dir():
        above = next((parent for parent in folder.parents if (parent / ".claude" / "settings.json").is_file()), None)
        if above is not None and above / ".claude" != user_folder(environ).resolve():
            message = f"sessions that start here find the agents of {above}, but do not run the hooks of its settings"
            yield Finding("fail", "settings", message, f"start them in {above}, or install the plugin")
    if environ.get("CLAUDE_CODE_SIMPLE", "") not in ("", "0", "false"):
        yield Finding("fail", "settings", "CLAUDE_CODE_SIMPLE is set: the client runs no hooks", "unset it")


def check_wiring(wired: Sequence[WiredHook]) -> Iterator[Finding]:
    """Yield a finding for each row of the shipped wiring, and for each other hook that could undo what ours do."""
    for row in bundle.wiring():
        name, tools = f"{row.script} at {row.event} on {row.matcher}", row.matcher.split("|")
        hooks = [hook for hook in wired if all(hook.runs_for(row.event, row.script, tool) for tool in tools)]
        if hooks:
            yield Finding("ok", "wiring", f"{name} ({hooks[0].origin})")
        elif "Bash" in tools:
            yield Finding("fail", "wiring", f"{name} is not wired", f"{INIT}, or install the plugin")
        else:
            yield Finding("warn", "wiring", f"{name} is not wired", f"{INIT}, if a server of this name is in use")
        for hook in hooks:
            yield from _check_hook(hook)
    for hook in wired:
        if not hook.script and hook.event in _REWRITING and matches(hook.matcher, "Bash"):
            target, field = _REWRITING[hook.event]
            other = f"{hook.origin} has another {hook.event} hook on Bash"
            fix = f"make sure that it never prints {field}"
            yield Finding("warn", "wiring", f"{other}: if it rewrites {target}, the last to finish wins", fix)


def _check_hook(wired: WiredHook) -> Iterator[Finding]:
    if wired.hook.get("async"):
        yield Finding("fail", "wiring", f"{wired.script} is async, so nothing waits for it", "remove async")
    if wired.hook.get("if"):
        yield Finding("fail", "wiring", f"{wired.script} has an if filter that some calls slip past", "remove it")
    fields = unreliable_fields(wired.hook)
    if fields:
        message = f"{wired.script} has {fields}: the client may not run it each time, or not wait for it"
        yield Finding("fail", "wiring", message, f"remove {fields}")
    timeout = wired.hook.get("timeout")
    if isinstance(timeout, (int, float)) and timeout <= gate.ALARM_SECONDS + gate.LOG_SECONDS:
        message = f"{wired.script} has timeout {timeout!r}: the client kills it before its own alarm can answer"
        yield Finding("warn", "wiring", message, "set timeout to 10")
    if wired.event == "PreToolUse" and wired.hook.get("onFailure") != "block":
        message = f"{wired.script} lacks onFailure: a guard that cannot start lets the call run"
        yield Finding("warn", "wiring", message, 'add "onFailure": "block"')


def check_servers(servers: Sequence[Server], wired: Sequence[WiredHook]) -> Iterator[Finding]:
    """Yield a finding for each MCP server of Neo4j: its tools must have the names that the hooks are wired for."""
    if not servers:
        yield Finding("note", "neo4j", f"no {PROGRAM} server is configured here, so its tools were not checked")
    for server in servers:
        needed = [("PreToolUse", server.tool(name)) for name in guard.NEO4J_TOOLS]
        needed.append(("PostToolUse", server.tool(guard.NEO4J_READ)))
        needed += [("PreToolUse", tool) for tool in guard.RESOURCE_TOOLS]
        missing = [
            f"{bundle.SCRIPTS[event]} on {tool}"
            for event, tool in needed
            if not any(hook.runs_for(event, bundle.SCRIPTS[event], tool) for hook in wired)
        ]
        if missing:
            message = f"server {server.name} of {server.origin}: {', '.join(missing)} is not wired"
            fix = f"call the server {USUAL_NAME}, without a namespace, and {INIT}"
            yield Finding("fail", "neo4j", message, fix)
        else:
            yield Finding("ok", "neo4j", f"the tools of server {server.name} ({server.origin}) match the wiring")


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


def check_agents(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Yield a failure for each agent of the project and of the user that the guard should know, and does not."""
    for name in _adapters(environ, project):
        if name not in guard.ADAPTERS:
            message = f"the agent {name} may run any command: the guard does not know its name"
            fix = f"give it the name of a bundled one, or set {guard.ONLY_VARIABLE}=1 for the session"
            yield Finding("fail", "agents", message, fix)


def _adapters(environ: Mapping[str, str], project: Path) -> list[str]:
    return list(dict.fromkeys([*lint.adapters(project / ".claude"), *lint.adapters(user_folder(environ))]))


# The environment.


def check_ceiling(settings: Sequence[Settings], environ: Mapping[str, str]) -> Iterator[Finding]:
    name = gate.CEILING_VARIABLE
    ceiling = effective_value(settings, environ, name)  # as a hook sees it
    pit, own_pit = gate.parse_pit(ceiling), gate.parse_pit(environ.get(name))
    if ceiling is None:
        fix = "for a back-test, set it in the environment that starts the client"
        yield Finding("warn", "ceiling", f"{name} is not set: a call without --pit is open mode", fix)
    elif pit is None:
        fix = "write YYYY-MM-DDTHH:MM:SS with Z, an offset or a [Zone/Name], or unset it"
        yield Finding("fail", "ceiling", f"{name} cannot be read, so every call is refused", fix)
    elif own_pit is not None and pit > own_pit:
        message = f"a settings file raises {name} to {ceiling}, and is stronger than the environment"
        yield Finding("fail", "ceiling", message, "take it out of the env of that file")
    else:
        yield Finding("ok", "ceiling", f"every call needs a --pit at or before {ceiling}")
    if guard.is_wrapper_only({}, environ):
        yield Finding("ok", "scope", f"{guard.ONLY_VARIABLE} is set: Bash is for pit_fetch alone")
    else:
        agents = ", ".join(sorted(guard.ADAPTERS))
        yield Finding("note", "scope", f"Bash is for pit_fetch alone only in the subagents {agents}")


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
    """Yield a finding for each source's credentials. A source without them cannot fetch, and cannot leak."""
    from pit_fetch.engine import registry
    from pit_fetch.engine.credentials import lookup
    from pit_fetch.errors import ConfigError

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
                fix = f"set {names} in the environment or in a .env file"
                yield Finding("note", "source", f"{listing.name}: {names} is not set", fix)
