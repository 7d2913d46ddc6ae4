"""``pit_fetch doctor``: do this machine and this project really enforce the PIT?

Examines the interpreter, the wiring that a client would read, the hook files that it names, the
ceiling, the credentials and the client's version, and sends a planted leak through the very
commands that are wired. Every finding names its fix. Nothing is changed, and no credential's value
is shown.

What files say is never called enforced: only ``--prove``, which has the client itself run planted
leaks in this project (prove.py), can show that.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pit_fetch.claude_code import bundle, lint, readable_files, versions
from pit_fetch.claude_code.client_settings import (
    Settings,
    Wired,
    dropped,
    hooks_in,
    matches,
    odd_fields,
    read_settings,
    user_folder,
)
from pit_fetch.claude_code.mcp_servers import PROGRAM, USUAL_NAME, Server, neo4j_servers
from pit_fetch.claude_code.system import THIS_MACHINE, TIMED_OUT, Machine
from pit_fetch.cli.command import CommandResult, Parser
from pit_fetch.errors import ExitStatus
from pit_fetch.support.bundled import gate, load

guard = load("pit_guard")

Level = Literal["ok", "note", "warn", "fail"]

HOOK_PYTHON = (3, 9)
# The versions that brought the fields the hooks need (changelog; onFailure by bisecting, see docs/enforcement.md).
REPLACES_OUTPUT = (2, 1, 121)
ON_FAILURE = (2, 1, 295)

INIT = "run pit_fetch init"
RESOURCES = "ReadMcpResourceTool"


@dataclass(frozen=True)
class Finding:
    """One line of the report. "fail" means that the PIT is not enforced; "warn" that it may not be."""

    level: Level
    check: str
    message: str
    fix: str = ""


def run(argv: Sequence[str], environ: Mapping[str, str], folder: str, machine: Machine = THIS_MACHINE) -> CommandResult:
    """Examines the project in the working directory and reports."""
    parser = Parser("doctor", "Check whether this machine really enforces the PIT in this project.")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--prove",
        action="store_true",
        help="let Claude Code itself run planted leaks here, offline: it starts this project's own hooks and agents",
    )
    given = parser.parse_args(argv)
    if given.help:
        return CommandResult(parser.format_help())
    findings = list(examine(environ, Path(folder), machine))
    if given.prove:
        findings += _proof(environ, Path(folder), machine)
    fails = any(finding.level == "fail" for finding in findings)
    enforced = given.prove and not fails
    status = ExitStatus.OK if enforced else ExitStatus.FOUND
    if given.json:
        report = {"enforced": enforced, "verdict": _verdict(given.prove, fails), "findings": [*map(asdict, findings)]}
        return CommandResult(json.dumps(report, indent=2) + "\n", status)
    return CommandResult("".join(map(_line, findings)) + _verdict(given.prove, fails) + "\n", status)


def _verdict(proved: bool, fails: bool) -> str:
    if fails:
        return "The PIT is NOT enforced here."
    if proved:
        return "The PIT is enforced here: the client itself withheld every planted leak."
    return "Wired, not proved: run pit_fetch doctor --prove, with a ceiling, to have the client itself show it."


def examine(environ: Mapping[str, str], project: Path, machine: Machine = THIS_MACHINE) -> Iterator[Finding]:
    """Every finding on ``project`` that files and hooks alone can show. Child processes run side by side."""
    settings = read_settings(environ, project)
    wired = [hook for one in settings for hook in hooks_in(one)]
    with ThreadPoolExecutor() as pool:
        client = pool.submit(client_version, environ, machine)
        python = pool.submit(hook_python, environ, machine)
        zones = pool.submit(zone_database, environ, machine)
        trials = [pool.submit(try_out, hook, environ, machine) for hook in _distinct(wired)]
        gates = {hook.path.with_name("pit_gate.py") for hook in wired if hook.script and hook.path}
        caches = [pool.submit(check_cache, path, environ, machine) for path in sorted(gates)]
        yield Finding("ok", "pit_fetch", f"{_version()} on Python {_dotted(sys.version_info[:3])}")
        yield from check_command(environ)
        yield from check_working_directory(project)
        yield python.result()
        yield from zones.result()
        yield from check_settings(settings, environ, project)
        yield from check_wiring(wired)
        yield from check_servers(list(neo4j_servers(environ, project)), wired)
        for trial in trials:
            yield from trial.result()
        for cached in caches:
            yield from cached.result()
        yield from check_files(environ, project)
        yield from check_agents(environ, project)
        yield from check_ceiling(settings, environ)
        yield from check_files_of_operators(settings, environ, project)
        yield from check_credentials(environ, project)
        yield client.result()


# The proof.


def _proof(environ: Mapping[str, str], project: Path, machine: Machine) -> Iterator[Finding]:
    """What the client itself does with planted leaks in this project."""
    ceiling = gate.parse_pit(effective_ceiling(read_settings(environ, project), environ))
    client = machine.client(environ)
    if ceiling is None:
        fix = f"set {gate.CEILING_VARIABLE} in the environment that starts the client, and here"
        yield Finding("fail", "proof", "without a ceiling, a call without --pit is open mode: nothing to prove", fix)
    elif not client:
        fix = "install Claude Code, or claude-agent-sdk, whose wheel bundles it"
        yield Finding("fail", "proof", "no Claude Code client was found to prove it with", fix)
    else:
        machine.announce(f"starting {client} here with planted leaks, and with it this project's own hooks and agents")
        proof = machine.prove(client, environ, project, ceiling, _adapters(environ, project))
        for one in proof.outcomes:
            good = one.seen == one.step.expected and not one.leaked
            seen = f"{one.seen}, and what was planted reached the model" if one.leaked else one.seen
            message = f"{one.step.name}: {seen}" + ("" if good else f" instead of {one.step.expected}")
            yield Finding("ok" if good else "fail", "proof", message, "" if good else _PROOF_FIX)
        if proof.problem:
            yield Finding("fail", "proof", f"not proved: {proof.problem}", _PROOF_FIX)


_PROOF_FIX = "mend what the other findings name; settings of the user, a plugin or an administrator count as well"


def _line(finding: Finding) -> str:
    fix = f"\n      fix: {finding.fix}" if finding.fix else ""
    shown = finding.level.upper() if finding.level == "fail" else finding.level
    return f"{shown:<5} {finding.check}: {finding.message}{fix}\n"


def _version() -> str:
    from pit_fetch.support.version import __version__

    return __version__


def _dotted(version: Sequence[Any]) -> str:
    return ".".join(map(str, version))


# The machine.


def check_command(environ: Mapping[str, str]) -> Iterator[Finding]:
    found = shutil.which("pit_fetch", path=environ.get("PATH"))
    if found:
        yield Finding("ok", "command", f"pit_fetch is {found}")
    else:
        fix = "add the folder where pip installed it to PATH, or call pit_fetch.py by its path"
        yield Finding("warn", "command", "pit_fetch is not on PATH, but the bundled agents call it by that name", fix)


def check_working_directory(project: Path) -> Iterator[Finding]:
    ours = Path(__file__).resolve().parent.parent
    for name in ("pit_fetch", "pit_fetch.py"):
        if (project / name).exists() and (project / name).resolve() not in (ours, ours.parent / "pit_fetch.py"):
            fix = "call pit_fetch, not python3 -m pit_fetch, in this folder"
            yield Finding("warn", "folder", f"there is another {name} here, and python3 -m would run it", fix)


def hook_python(environ: Mapping[str, str], machine: Machine) -> Finding:
    """The ``python3`` that runs the hooks."""
    code = "import sys; print(*sys.version_info[:3])"
    python = shutil.which("python3", path=environ.get("PATH")) or "python3"
    printed = machine.output([python, "-I", "-S", "-c", code], environ)
    version = tuple(map(int, re.findall(r"\d+", printed)))
    if version >= HOOK_PYTHON:
        return Finding("ok", "python3", f"the hooks run on Python {_dotted(version)}")
    fix = f"put Python {_dotted(HOOK_PYTHON)} or later first on the client's PATH"
    return Finding("fail", "python3", f"the python3 on PATH is {_dotted(version) or 'missing or too slow'}", fix)


def client_version(environ: Mapping[str, str], machine: Machine) -> Finding:
    """The version of the client on PATH, or of the one bundled with the installed SDK."""
    program = machine.client(environ)
    told = Path(program).parent.parent / "_cli_version.py"  # the SDK says which client it bundles: no need to start it
    printed = told.read_text("utf-8") if told.is_file() else machine.output([program or "claude", "--version"], environ)
    version = tuple(map(int, re.findall(r"\d+", printed)[:3]))
    if not version:
        return Finding("note", "client", "no Claude Code client was found, so its version was not checked")
    shown = f"Claude Code {_dotted(version)}"
    if version < REPLACES_OUTPUT:
        message = f"{shown} cannot replace a tool's output, so nothing could be released to the model"
        return Finding("fail", "client", message, f"update it to {_dotted(ON_FAILURE)} or later")
    if version < ON_FAILURE:
        message = f"{shown} ignores onFailure, so a guard that cannot start lets the call run"
        return Finding("warn", "client", message, f"update it to {_dotted(ON_FAILURE)} or later")
    return Finding("ok", "client", shown)


def zone_database(environ: Mapping[str, str], machine: Machine) -> list[Finding]:
    """Whether the hooks can read a PIT that names its time zone: they run without the packages that the program has."""
    code = "import zoneinfo; print(zoneinfo.ZoneInfo('America/New_York'))"
    python = shutil.which("python3", path=environ.get("PATH")) or "python3"
    if machine.output([python, "-I", "-S", "-c", code], environ).strip():
        return []
    fix = "install the system's tzdata, or give PITs an offset"
    return [Finding("warn", "zones", "the hooks find no time zones here, and refuse a PIT that names one", fix)]


# The wiring.


# Switches of a settings file with which the client does not run a project's hooks. The last two are an administrator's.
_SWITCHES = ("disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization")


def check_settings(settings: Sequence[Settings], environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    for one in settings:
        fault = dropped(one)
        if fault:
            yield Finding(
                "fail", "settings", f"{one.path} {fault}: the client drops its hooks, and says nothing", "correct it"
            )
        for switch in _SWITCHES:
            if one.get(switch):
                yield Finding("fail", "settings", f"{one.path} sets {switch}", "remove it, or ask who administers it")
        if one.path == project / "hooks" / "hooks.json":
            fix = "start the client with --plugin-dir and this folder, or install the plugin"
            yield Finding("note", "settings", "this folder is the plugin: its hooks run where a session loads it", fix)
    here = project.resolve()
    if not (here / ".claude").is_dir():
        above = next((folder for folder in here.parents if (folder / ".claude" / "settings.json").is_file()), None)
        if above is not None and above / ".claude" != user_folder(environ).resolve():
            message = f"sessions that start here find the agents of {above}, but do not run the hooks of its settings"
            yield Finding("fail", "settings", message, f"start them in {above}, or install the plugin")
    if environ.get("CLAUDE_CODE_SIMPLE", "") not in ("", "0", "false"):
        yield Finding("fail", "settings", "CLAUDE_CODE_SIMPLE is set: the client runs no hooks", "unset it")


def check_wiring(wired: Sequence[Wired]) -> Iterator[Finding]:
    """Whether the gate and the guard are wired for every tool that the shipped wiring names."""
    for row in bundle.wiring():
        name = f"{row.script} at {row.event} on {row.matcher}"
        found = [hook for hook in wired if hook.event == row.event and hook.script == row.script]
        found = [hook for hook in found if all(matches(hook.matcher, tool) for tool in row.matcher.split("|"))]
        if found:
            yield Finding("ok", "wiring", f"{name} ({found[0].origin})")
        elif "Bash" in row.matcher.split("|"):
            yield Finding("fail", "wiring", f"{name} is not wired", f"{INIT}, or install the plugin")
        else:
            yield Finding("warn", "wiring", f"{name} is not wired", f"{INIT}, if a server of this name is in use")
        yield from (finding for hook in found for finding in _check_hook(hook))
    for hook in wired:
        if hook.script or hook.event not in _REWRITING or not matches(hook.matcher, "Bash"):
            continue
        what, field = _REWRITING[hook.event]
        message = f"{hook.origin} has another {hook.event} hook on Bash: if it rewrites {what}, the last to finish wins"
        yield Finding("warn", "wiring", message, f"make sure that it never prints {field}")


_REWRITING = {"PreToolUse": ("the command", "updatedInput"), "PostToolUse": ("output", "updatedToolOutput")}


def check_servers(servers: Sequence[Server], wired: Sequence[Wired]) -> Iterator[Finding]:
    """Whether the tools of Neo4j's MCP servers have the names that the hooks are wired for."""
    if not servers:
        yield Finding("note", "neo4j", f"no {PROGRAM} server is configured here, so its tools were not checked")
    wanted = [("PreToolUse", "pit_guard.py", name) for name in guard.NEO4J_TOOLS]
    wanted.append(("PostToolUse", "pit_gate.py", guard.NEO4J_READ))
    for server in servers:
        tools = [(event, script, server.tool(name)) for event, script, name in wanted]
        tools.append(("PreToolUse", "pit_guard.py", RESOURCES))
        missing = [f"{script} on {tool}" for event, script, tool in tools if not _runs(wired, event, script, tool)]
        if missing:
            message = f"server {server.name} of {server.origin}: {', '.join(missing)} is not wired"
            fix = f"call the server {USUAL_NAME}, without a namespace, and {INIT}"
            yield Finding("fail", "neo4j", message, fix)
        else:
            yield Finding("ok", "neo4j", f"the tools of server {server.name} ({server.origin}) match the wiring")


def _runs(wired: Iterable[Wired], event: str, script: str, tool: str) -> bool:
    return any(hook.event == event and hook.script == script and matches(hook.matcher, tool) for hook in wired)


def _check_hook(wired: Wired) -> Iterator[Finding]:
    if wired.hook.get("async"):
        yield Finding("fail", "wiring", f"{wired.script} is async, so nothing waits for it", "remove async")
    if wired.hook.get("if"):
        yield Finding("fail", "wiring", f"{wired.script} has an if filter that some calls slip past", "remove it")
    odd = odd_fields(wired.hook)
    if odd:
        message = f"{wired.script} has {odd}: the client may not run it each time, or not wait for it"
        yield Finding("fail", "wiring", message, f"remove {odd}")
    timeout = wired.hook.get("timeout")
    if isinstance(timeout, (int, float)) and timeout <= gate.ALARM_SECONDS + gate.LOG_SECONDS:
        message = f"{wired.script} has timeout {timeout!r}: the client kills it before its own alarm can answer"
        yield Finding("warn", "wiring", message, "set timeout to 10")
    if wired.event == "PreToolUse" and wired.hook.get("onFailure") != "block":
        message = f"{wired.script} lacks onFailure: a guard that cannot start lets the call run"
        yield Finding("warn", "wiring", message, 'add "onFailure": "block"')


# The planted leak.


def _distinct(wired: Iterable[Wired]) -> list[Wired]:
    ours = [hook for hook in wired if _SCRIPTS.get(hook.event) == hook.script]
    return list({(hook.event, hook.command, hook.root): hook for hook in reversed(ours)}.values())[::-1]


def try_out(wired: Wired, environ: Mapping[str, str], machine: Machine) -> list[Finding]:
    """Runs a wired command as the client does, on a call that it must not let through."""
    trial = _trial_of(wired)
    printed = machine.output(
        [shutil.which("sh") or "/bin/sh", "-c", wired.command],
        {**environ, **wired.variables, "PIT_GATE_LOG": "", **trial.variables},
        json.dumps(trial.hook),
    )
    try:
        answer = json.loads(printed)
        holds = trial.holds(answer)
    except (ValueError, KeyError, TypeError, AttributeError):
        holds = False
    what = trial.what
    name = f"{wired.script} of {wired.origin}"
    if holds:
        found = [Finding("ok", "trial", f"{name} {what}")]
    elif printed == TIMED_OUT:
        found = [
            Finding(
                "fail", "trial", f"{name} gave no answer in {machine.seconds} s", "run it again on a calmer machine"
            )
        ]
    else:
        found = [Finding("fail", "trial", f"{name} does not do this: {what}", f"{INIT} --upgrade")]
    if wired.path and wired.path.is_file() and not os.access(wired.path, os.X_OK):
        found.append(Finding("warn", "files", f"{wired.path} is not executable", f"chmod +x {wired.path}"))
    return found


def _withholds(answer: Any) -> bool:
    """Whether a gate's answer to a planted leak of another tool than Bash puts something else in its place."""
    said = answer["hookSpecificOutput"]["updatedToolOutput"]
    return bool(answer["decision"] == "block" and said and "planted" not in json.dumps(answer))


def _denies(answer: Any) -> bool:
    return bool(answer["hookSpecificOutput"]["permissionDecision"] == "deny")


@dataclass(frozen=True)
class Trial:
    """A call that a hook must not let through, under which variables; how its answer shows that, and in words."""

    hook: Mapping[str, Any]
    variables: Mapping[str, str]
    holds: Callable[[Any], bool]
    what: str


_SCRIPTS = {"PostToolUse": "pit_gate.py", "PreToolUse": "pit_guard.py"}
_UNDER_CEILING = {gate.CEILING_VARIABLE: "2024-01-01T00:00:00Z"}


def _trial_of(wired: Wired) -> Trial:
    """A call of a tool that the hook is wired for; one of Bash, if it is wired for that."""
    tool = "Bash" if matches(wired.matcher, "Bash") else re.split(r"\s*[|,]\s*", wired.matcher)[0]
    if wired.script == "pit_gate.py":
        leak = guard.planted_leak()
        if tool != "Bash":  # the ceiling is all that says how early it must be
            leak = {**leak, "tool_name": tool, "tool_input": {}, "tool_response": leak["tool_response"]["stdout"]}
            return Trial(leak, _UNDER_CEILING, _withholds, f"withholds a planted leak of {tool}")
        return Trial(leak, {}, guard.withholds, "withholds a planted leak")
    if tool == "Bash":
        call = {"tool_name": tool, "tool_input": {"command": "pit_fetch --help; cat /dev/null"}}
        return Trial(call, {guard.ONLY_VARIABLE: "1"}, _denies, "refuses a compound command")
    given = {"query": "RETURN 1 AS data", "server": USUAL_NAME}  # no PIT, though there is a ceiling
    return Trial(
        {"tool_name": tool, "tool_input": given}, _UNDER_CEILING, _denies, f"refuses a call of {tool} without a PIT"
    )


# The files.


def check_files(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """The version of each file that ``init`` installed, in the project and for the user."""
    folders = dict.fromkeys((project / ".claude", user_folder(environ)))
    for name, path in ((name, folder / name) for folder in folders for name in bundle.files()):
        if not path.is_file():
            continue
        version = versions.version_of(name, path.read_bytes())
        if version == versions.CURRENT:
            yield Finding("ok", "files", f"{path} is of version {_version()}")
        elif version:
            yield Finding("warn", "files", f"{path} is of version {version}, not {_version()}", f"{INIT} --upgrade")
        else:
            fix = f"compare it with this version ({INIT} --upgrade --dry-run), or replace it: {INIT} --force"
            yield Finding("warn", "files", f"{path} was edited: it is not the file of any version", fix)


# Python takes a compiled file for what it says it is: its own header decides whether the source is looked at, and how.
_COMPILED = """
import importlib.machinery, sys
path = sys.argv[1]
with open(path, "rb") as source:
    compiled = compile(source.read(), path, "exec", dont_inherit=True)
print(importlib.machinery.SourceFileLoader("pit_gate", path).get_code("pit_gate") == compiled)
"""


def check_cache(path: Path, environ: Mapping[str, str], machine: Machine) -> list[Finding]:
    """Whether the guard, which loads the compiled gate, loads what the gate's file says."""
    python = shutil.which("python3", path=environ.get("PATH")) or "python3"
    if machine.output([python, "-I", "-S", "-B", "-c", _COMPILED, str(path)], environ).strip() != "False":
        return []
    message = f"the compiled form of {path}, which the guard loads, is not what that file says"
    return [Finding("fail", "files", message, f"find out where it came from, and remove {path.parent / '__pycache__'}")]


def check_agents(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Whether the guard knows every agent of the project and of the user that is meant for pit_fetch alone."""
    for name in _adapters(environ, project):
        if name not in guard.ADAPTERS:
            fix = f"give it the name of a bundled one, or set {guard.ONLY_VARIABLE}=1 for the session"
            message = f"the agent {name} may run any command: the guard does not know its name"
            yield Finding("fail", "agents", message, fix)


def _adapters(environ: Mapping[str, str], project: Path) -> list[str]:
    return list(dict.fromkeys([*lint.adapters(project / ".claude"), *lint.adapters(user_folder(environ))]))


# The environment.


def effective_ceiling(settings: Sequence[Settings], environ: Mapping[str, str]) -> str | None:
    """The ceiling as a hook sees it: a variable in a settings file is stronger than the environment."""
    return readable_files.effective(settings, environ, gate.CEILING_VARIABLE)


def check_ceiling(settings: Sequence[Settings], environ: Mapping[str, str]) -> Iterator[Finding]:
    ceiling, given = effective_ceiling(settings, environ), environ.get(gate.CEILING_VARIABLE)
    moment, own = gate.parse_pit(ceiling), gate.parse_pit(given)
    if ceiling is None:
        fix = "for a back-test, set it in the environment that starts the client"
        yield Finding("warn", "ceiling", f"{gate.CEILING_VARIABLE} is not set: a call without --pit is open mode", fix)
    elif moment is None:
        fix = "write YYYY-MM-DDTHH:MM:SS with Z, an offset or a [Zone/Name], or unset it"
        yield Finding("fail", "ceiling", f"{gate.CEILING_VARIABLE} cannot be read, so every call is refused", fix)
    elif own is not None and moment > own:
        message = f"a settings file raises {gate.CEILING_VARIABLE} to {ceiling}, and is stronger than the environment"
        yield Finding("fail", "ceiling", message, "take it out of the env of that file")
    else:
        yield Finding("ok", "ceiling", f"every call needs a --pit at or before {ceiling}")
    if guard.is_wrapper_only({}, environ):
        yield Finding("ok", "scope", f"{guard.ONLY_VARIABLE} is set: Bash is for pit_fetch alone")
    else:
        agents = ", ".join(sorted(guard.ADAPTERS))
        yield Finding("note", "scope", f"Bash is for pit_fetch alone only in the subagents {agents}")


_FOR_OPERATORS = {
    "audit": ("PIT_FETCH_AUDIT", "names what was withheld"),
    "archive": ("PIT_FETCH_ARCHIVE", "holds what came after the PIT"),
}


def check_files_of_operators(
    settings: Sequence[Settings], environ: Mapping[str, str], project: Path
) -> Iterator[Finding]:
    """Whether an agent may read what the audit file and the archive hold."""
    for check, (variable, what) in _FOR_OPERATORS.items():
        name = readable_files.effective(settings, environ, variable, str(project))
        if not name:
            continue
        path = Path(project, name)
        why = readable_files.readable(path, settings, project, environ)
        if why:
            message = f"an agent may read the file of {variable}, which {what}: {why}"
            yield Finding("fail", check, message, "move it to a folder outside the project that no agent may read")
        elif readable_files.is_for_others(path):
            message = f"others on this machine may read the file of {variable}, which {what}"
            yield Finding("warn", check, message, f"chmod 600 {path}")
        else:
            yield Finding("ok", check, f"{path} is outside the project")


def check_credentials(environ: Mapping[str, str], project: Path) -> Iterator[Finding]:
    """Whether each source's credentials are set. A source without them cannot fetch, but it cannot leak either."""
    from pit_fetch.engine import registry
    from pit_fetch.engine.credentials import lookup

    for listing in registry.listings():
        if listing.provider is None:
            yield Finding("warn", "source", f"{listing.name} is not usable: {listing.problem}", "see --list-sources")
            continue
        for credential in listing.provider.credentials:
            names = " or ".join(credential.variables)
            if lookup(credential, environ, str(project))[1]:
                yield Finding("ok", "source", f"{listing.name}: {names} is set")
            else:
                fix = f"set {names} in the environment or in a .env file"
                yield Finding("note", "source", f"{listing.name}: {names} is not set", fix)
