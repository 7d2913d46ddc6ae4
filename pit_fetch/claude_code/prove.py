"""Run planted leaks through the client itself: the only proof that this project's wiring enforces the PIT.

Starts the installed client in the project, with its own settings, hooks and agents, and a scripted
model on a loopback port in the place of the real one. The model asks for calls of a program that
writes an item from after the ceiling wherever it can, and everything that the client sends back is
searched for that item. The client's MCP servers are not started, and its requests to any other
host go to a proxy that is not there.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType

from pit_fetch.claude_code.mcp_entry import start_of
from pit_fetch.claude_code.mcp_servers import ServerEntry, tool_prefix
from pit_fetch.claude_code.scripted_model import Model, Turn, final_answer, serve_model, tool_call
from pit_fetch.claude_code.system import Finding
from pit_fetch.support.bundled import gate, load

guard = load("pit_guard")

SECONDS = 16.0
# How a problem begins that shows nothing of the wiring.
TOO_SLOW = "the client was not done"

# How the guard refuses a call, and how the client reports a guard that failed.
_REFUSALS = (guard.FORM, guard.NOT_IN_MONITOR, "hook error", "hook did not respond")

# Variables that could send a request to another server than the scripted model, or make the client join a session.
_ELSEWHERE = (
    "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_USE_VERTEX", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR",
)  # fmt: skip
_NO_PROXY_THERE = "http://127.0.0.1:9"

_PROGRAM = """#!{python} -IS
import os, sys
name = sys.argv[sys.argv.index("--source") + 1] if "--source" in sys.argv else {leak!r}
text = open(os.path.join({folder!r}, name + ".json")).read()
if "--release" in sys.argv:
    with open(sys.argv[sys.argv.index("--release") + 1], "w") as file:
        file.write(text)
print(text)
print(text, file=sys.stderr)
sys.exit(3 if name == {leak!r} else 0)
"""
_LEAK, _CLEAN = "planted-leak", "planted-clean"  # its sources


@dataclass(frozen=True)
class Step:
    """One planted call: ``agent``, or the session itself, runs it, and the client must answer as ``expected``."""

    name: str
    tool: str
    command: str
    expected: str  # "withheld", "shown" or "refused"
    agent: str = ""


@dataclass(frozen=True)
class StepResult:
    """The client's answer to one step, as one word, and whether the planted item reached the model with it."""

    step: Step
    seen: str
    leaked: bool

    @property
    def is_expected(self) -> bool:
        return self.seen == self.step.expected and not self.leaked


@dataclass(frozen=True)
class ClientProof:
    """Every result, in order; ``problem`` is why the client did not take every step, or how else an item leaked."""

    results: tuple[StepResult, ...] = ()
    problem: str = ""

    @property
    def holds(self) -> bool:
        return not self.problem and all(result.is_expected for result in self.results)


def prove(
    client: str,
    environ: Mapping[str, str],
    project: Path,
    ceiling: datetime,
    agents: Sequence[str],
    seconds: float = SECONDS,
) -> ClientProof:
    """Run the planted calls through ``client``.

    agents  those that may run only pit_fetch; "" is the session itself
    """
    with tempfile.TemporaryDirectory(prefix="pit-prove-") as folder:
        secret = f"planted-{os.urandom(12).hex()}"
        steps = list(_steps(Path(folder), secret, ceiling, agents))
        path = os.pathsep.join([folder, environ.get("PATH", os.defpath)])  # there it is the installed program
        with serve_model(_script(steps)) as model:
            problem = run_client(client, environ, project, model.url, seconds, variables={"PATH": path})
            return _judge(steps, model, secret, problem)


def _steps(folder: Path, secret: str, ceiling: datetime, agents: Sequence[str]) -> Iterator[Step]:
    late = {"available_at": (ceiling + timedelta(days=1)).isoformat(), "available_at_source": "provider_metadata"}
    early = {**late, "available_at": (ceiling - timedelta(days=1)).isoformat()}
    for source, stamps, title in ((_LEAK, late, secret), (_CLEAN, early, "public")):
        envelope = {"data": [{**stamps, "title": title}], "gaps": []}
        (folder / f"{source}.json").write_text(json.dumps(envelope), encoding="utf-8")
    program, other = _plant(folder, folder), _plant(folder / "written-by-an-agent", folder)
    leak, clean = (f"{program} --source {source}" for source in (_LEAK, _CLEAN))
    pit, after = (f"--pit {moment.isoformat()}" for moment in (ceiling, ceiling + timedelta(days=2)))
    read = f"cat {folder / _LEAK}.json"
    yield Step("a program that prints what came after the PIT, and fails", "Bash", f"{leak} {pit}", "withheld")
    yield Step("a clean call", "Bash", f"{clean} {pit}", "shown")
    yield Step("a call without --pit", "Bash", leak, "refused")
    yield Step("a call with a --pit after the ceiling", "Bash", f"{leak} {after}", "refused")
    yield Step("a call and another command", "Bash", f"{leak} {pit}; {read}", "refused")
    yield Step("a call in Monitor", "Monitor", f"{leak} {pit}", "refused")
    for number, agent in enumerate(agents):
        who = f"the agent {agent}" if agent else "the main session"
        yield Step(f"{who}, another command", "Bash", read, "refused", agent)
        if number == 0:  # the guard holds all of them to one rule
            call = f"{other} --source {_CLEAN} {pit}"
            yield Step(f"{who}, another program called pit_fetch", "Bash", call, "refused", agent)


def _plant(folder: Path, outputs: Path) -> str:
    """Write a program called pit_fetch, which writes what is in ``outputs`` wherever it can; return its path."""
    folder.mkdir(exist_ok=True)
    program = folder / "pit_fetch"
    text = _PROGRAM.format(python=sys.executable, folder=str(outputs), leak=_LEAK)
    program.write_text(text, encoding="utf-8")
    program.chmod(0o700)
    return str(program)


def _script(steps: Sequence[Step]) -> dict[str, list[Turn]]:
    """Return all calls, numbered, as one turn of the model. An agent's calls are turns of its own."""
    script: dict[str, list[Turn]] = {}
    calls = []
    for number, step in enumerate(steps):
        turn = tool_call(step.tool, command=step.command, description=_mark(number))
        if step.agent:
            script[_mark(number)] = [turn, final_answer()]
            agent = {"subagent_type": step.agent, "prompt": _mark(number), "run_in_background": False}
            turn = tool_call("Agent", description=_mark(number), **agent)
        calls.append(turn)
    return {**script, "main": [lambda seen: [block for turn in calls for block in turn(seen)], final_answer()]}


def _mark(number: int) -> str:
    return f"planted call {number:03}"


def _environ(environ: Mapping[str, str], url: str) -> dict[str, str]:
    own = {name: value for name, value in environ.items() if name not in _ELSEWHERE}
    proxies = dict.fromkeys(("HTTPS_PROXY", "HTTP_PROXY", "https_proxy", "http_proxy"), _NO_PROXY_THERE)
    return {**own, **proxies, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", **client_variables(url)}


def client_variables(url: str) -> dict[str, str]:
    """Return the variables with which the client asks the scripted model at ``url``, and nobody else."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "sk-none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        gate.LOG_VARIABLE: "",
    }


def run_client(
    client: str,
    environ: Mapping[str, str],
    project: Path,
    url: str,
    seconds: float,
    allowed: str = "Bash,Monitor,Agent",
    more: Sequence[str] = (),
    variables: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Run the client until it exits, with the scripted model at ``url``. Return what went wrong; "" if nothing did.

    ``variables`` are set for it, whatever its settings say.
    """
    # Variables in a settings file are stronger than the environment, but weaker than --settings.
    settings = json.dumps({"env": {**client_variables(url), **variables}})
    command = [client, "-p", "planted calls", "--model", "claude-sonnet-4-5", "--settings", settings]
    command += ["--strict-mcp-config", "--no-session-persistence", "--allowedTools", allowed, *more]
    nowhere = subprocess.DEVNULL
    try:
        child = subprocess.Popen(  # noqa: S603 - the client of this machine
            command,
            cwd=project,
            env={**_environ(environ, url), **variables},
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,
        )
    except OSError as error:
        return f"the client does not start ({error.strerror})"
    with child:
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return f"{TOO_SLOW} after {seconds:g} s"
    return ""


def _judge(steps: Sequence[Step], model: Model, secret: str, problem: str) -> ClientProof:
    answers = {(block["name"], block["input"].get("description")): text for block, text in model.answers}
    texts = [(step, answers.get((step.tool, _mark(number)))) for number, step in enumerate(steps)]
    results = tuple(StepResult(step, _outcome_of(text), secret in text) for step, text in texts if text is not None)
    if any(secret.encode() in body for body in model.bodies) and not any(result.leaked for result in results):
        problem = "what was planted reached the model beside the answers"
    if len(results) < len(steps):
        problem = problem or "the client did not make every planted call"
    return ClientProof(results, problem)


def _outcome_of(answer: str) -> str:
    if "(output withheld)" in answer:
        return "withheld"
    if gate.SENTINEL in answer:
        return "not released"
    if '{"data": [' in answer:
        return "shown"
    return "refused" if any(text in answer for text in _REFUSALS) else "something else"


# The instant of each of our MCP servers stays where it is: the model asks for it, plainly and with an argument that
# would move it. Under a ceiling two more entries are planted, as a project's file may have them: one with an instant
# after the ceiling, and one whose environment raises the ceiling. The tool that is asked reaches no source.

_PLANTED, _RAISED = "planted_after_the_ceiling", "raised_ceiling"
_LATER = "9000-01-01T00:00:00Z"
_INSTANT = re.compile(r'\\?"instant\\?":\s*\\?"([^"\\]+)')


def prove_entries(
    client: str,
    environ: Mapping[str, str],
    project: Path,
    ceiling: datetime | None,
    entries: Sequence[ServerEntry],
    seconds: float = SECONDS,
) -> Iterator[Finding]:
    """Yield a finding for each entry of ours, and one for each planted one; none without an entry."""
    if not entries:
        return
    asked = [*entries, *(_planted_entries(project, ceiling) if ceiling else ())]
    servers = {
        each.name: {"command": each.command[0], "args": [*each.command[1:]], "env": dict(each.environ)}
        for each in asked
    }
    calls = [tool_call(_sources_tool(each), **arguments) for each in asked for arguments in ({}, {"pit": _LATER})]
    script = {"main": [lambda seen: [block for turn in calls for block in turn(seen)], final_answer()]}
    with serve_model(script) as model:
        more = ["--mcp-config", json.dumps({"mcpServers": servers})]
        allowed = ",".join(f"mcp__{each.name}" for each in asked)
        problem = run_client(client, environ, project, model.url, seconds, allowed, more)
        for each in asked:
            answers = ((block["input"], text) for block, text in model.answers if block["name"] == _sources_tool(each))
            yield _entry_finding(each, {"pit" in given: text for given, text in answers}, ceiling, problem)


def unproved_finding(what: str, problem: str, fix: str) -> Finding:
    """Return the finding of a proof that was not completed: a failure, unless the client was only slow."""
    if problem.startswith(TOO_SLOW):
        return Finding("warn", "proof", f"{what}: {problem}", "try again when the machine is idle")
    return Finding("fail", "proof", f"{what}: {problem}", fix)


def _planted_entries(project: Path, ceiling: datetime) -> Iterator[ServerEntry]:
    later = (ceiling + timedelta(days=2)).isoformat()
    yield ServerEntry(_PLANTED, project, ("pit_fetch", "mcp", "--pit", later))
    words = ("pit_fetch", "mcp", "--pit", ceiling.isoformat())
    yield ServerEntry(_RAISED, project, words, {gate.CEILING_VARIABLE: later})


def _sources_tool(each: ServerEntry) -> str:
    return f"{tool_prefix(each.name)}__sources"


def _entry_finding(each: ServerEntry, answers: Mapping[bool, str], ceiling: datetime | None, problem: str) -> Finding:
    """Judge the client's answers to the plain call, and to the one with an argument that would move the instant."""
    plain, moved = answers.get(False), answers.get(True)
    instants = [gate.parse_pit(text) for answer in (plain, moved) for text in _INSTANT.findall(answer or "")]
    fix = "see what the other findings say of the entry, and what starts when you run its command"
    name = f"server {each.name}"
    if problem or plain is None or moved is None:
        return unproved_finding(f"{name}: not proved", problem or "the client did not make the calls", fix)
    start = start_of(each.command)
    own = gate.parse_pit(start.options.get("--pit")) if start else None
    bound, whose = (ceiling, "the ceiling") if ceiling else (own, "its own")
    if any(instant is None or (bound is not None and instant > bound) for instant in instants):
        return Finding("fail", "proof", f"{name}: it answers as of an instant after {whose}", fix)
    if each.name == _PLANTED:
        return Finding("ok", "proof", "an entry with an instant after the ceiling: it does not start")
    if len(instants) != 1 or _INSTANT.search(moved):
        return Finding("fail", "proof", f"{name}: it does not say its instant once, and refuse to move it", fix)
    if each.name == _RAISED:
        return Finding("ok", "proof", "an entry whose environment raises the ceiling: its --pit stays")
    return Finding("ok", "proof", f"{name}: no argument moves its instant")
