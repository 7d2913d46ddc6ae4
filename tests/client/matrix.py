"""Measure what reaches the model: every way of calling the wrapper, under every way of installing the hooks.

``python -m tests.client.matrix`` runs a sample of the cells against the real client. It fails when a cell differs from
docs/enforcement-matrix.md, or when the canary gets through where everything is installed. The sample is every row
once, with everything installed, by settings, plugin and SDK in turn. Three of its rows run with nothing installed
and with the gate alone, too: a run that could not see the canary would prove nothing. ``--all`` runs every cell;
``--write`` does, too, and writes the table. ``ROW``s named on the command line are run in all columns.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pit_fetch.claude_code import sdk
from pit_fetch.claude_code.lint import blocks
from pit_fetch.claude_code.scripted_model import Script, Turn, final_answer, tool_call
from pit_fetch.cli.commands import init
from pit_fetch.support.bundled import gate
from tests.client import harness
from tests.client.harness import ROOT, Setting

SERVER = Path(__file__).resolve().with_name("mcp_server.py")
DOCS = ROOT / "docs" / "enforcement-matrix.md"
BEGIN, END = "<!-- begin matrix -->\n", "<!-- end matrix -->\n"

CANARY = "CANARY-2024-02-16"
PIT = "2024-02-15T16:00:00-05:00"
CALL = f"python3 pit_fetch.py --source x --pit {PIT}"
NAMED = f"pit_fetch --source x --pit {PIT}"  # where a file of the project does not run
AGENT = "bz-news-api"
BRIEF = "the brief of the subagent"

COLUMNS = ("nothing", "gate alone", "settings", "plugin", "SDK")
FULL = ("settings", "plugin", "SDK")  # guard, gate and ceiling


# Rows in which the canary may get through where everything is installed: docs/enforcement.md says why.
OPEN = frozenset(
    {
        "MCP tool, marked as an error",
        "subagent, session in a subfolder",
        "subagent, session elsewhere with --add-dir",
        "another hook puts the command back, non-zero exit",
        "disableAllHooks",
    }
)


def item(title: str, available_at: str = "2024-02-15T09:00:00-05:00") -> dict[str, str]:
    return {"available_at": available_at, "available_at_source": "provider_metadata", "title": title}


def envelope(*items: dict[str, str]) -> str:
    return json.dumps({"data": list(items), "gaps": []})


LATE = item(CANARY, "2024-02-16T09:00:00-05:00")
LEAK = envelope(item("public"), LATE)
CLEAN = envelope(item("public"))
FORGED = envelope(item(CANARY))  # what an agent's own program may state: the gate believes stamps


def wrapper(stdout: str, stderr: str = "", code: int = 0, seconds: float = 0) -> str:
    """Return a program in the wrapper's place that writes ``stdout`` wherever it can, which the real one never does."""
    return f"""import sys, time
time.sleep({seconds})
if "--release" in sys.argv:
    with open(sys.argv[sys.argv.index("--release") + 1], "w") as file:
        file.write({stdout!r})
print({stdout!r})
print({stderr!r}, end='', file=sys.stderr)
sys.exit({code})
"""


def run(command: str, **more: Any) -> list[Turn]:
    return [tool_call("Bash", command=command, description="fetch", **more), final_answer()]


def run_and_read(pattern: str, command: str, **more: Any) -> list[Turn]:
    """Return a call, then ``command`` with the path that the client named after the first, see ``pattern``."""

    def read(seen: str) -> list[dict[str, Any]]:
        path = re.search(pattern, seen)
        return tool_call("Bash", command=command.format(path[1]) if path else "echo no path", description="read")(seen)

    # The client may name the file of a call in the background only when that ends.
    return [*run(CALL, **more)[:1], tool_call("Bash", command="sleep 2", description="wait"), read, final_answer()]


# Where the client keeps the output of a call in the background, and how to read it.
IN_BACKGROUND = (r"(/\S+\.output)", "until test -s {0}; do sleep 0.1; done; cat {0}")


@dataclass(frozen=True)
class Row:
    """One way of calling."""

    turns: Sequence[Turn] = field(default_factory=lambda: run(CALL))
    program: str = wrapper(LEAK)  # in the wrapper's place
    installed: bool = False  # whether the program is on PATH, as pit_fetch, and not in the project
    files: Mapping[str, str] = field(default_factory=dict)  # other files of the project
    broken: tuple[str, str | None] | None = None  # a hook file, and what stands in its place (None: nothing)
    # What is wired in the gate's place after the guard has let the call run: a command, or a callback.
    gate: Any = ""
    beside: Sequence[tuple[str, str]] = ()  # other hooks in the project's settings: an event, and a command
    settings: Mapping[str, Any] = field(default_factory=dict)  # other settings of the project
    place: str = ""  # the session's folder: the project, a folder "sub" of it, or "beside" it (--add-dir)
    allowed: Sequence[str] = harness.ALLOWED  # the tools that the user allows
    again: bool = False  # a second session continues the first
    subagent: bool = False
    agent: str = ""  # the bundled subagent that calls, if it is not the usual one
    clean: bool = False  # the envelope must get through
    mcp: Mapping[str, Any] | None = None  # the result of an MCP server's tools; such a row does not call the wrapper
    env: Mapping[str, str] = field(default_factory=dict)  # variables beside the ceiling
    columns: tuple[str, ...] = COLUMNS  # where the row makes sense


PATTERN = next(  # one that ships: with a PIT the guard lets no other query run
    block.query
    for block in blocks((ROOT / "skills" / "news-patterns" / "SKILL.md").read_text(encoding="utf-8"))
    if block.is_pattern
)


def read(query: str = PATTERN, **params: Any) -> list[Turn]:
    return [tool_call(f"mcp__{harness.SERVER}__read_neo4j_cypher", query=query, params=params), final_answer()]


def texts(*texts: str) -> dict[str, Any]:
    """Return the result of an MCP server's tool."""
    return {"content": [{"type": "text", "text": text} for text in texts]}


PARAMS: dict[str, Any] = {"ticker": "NOG", "limit": 5}
READ = read(pit=PIT, **PARAMS)
# What a model may write to please the gate: everything there is, stamped with the PIT.
OWN = "MATCH (n:News) RETURN collect({available_at: $pit, available_at_source: 'neo4j_created', id: n.id}) AS data"
PLEASING = texts(envelope(item(CANARY, PIT)))
_CRASH = "raise RuntimeError('broken')\n"
_HANG = "import select\nselect.select([], [], [])\n"
_MANY = [item(f"public {number}") for number in range(100)]
_PRINTS = f"import sys\nprint({CANARY!r})\n"
_REWRITES, _QUOTES = "python3 other.py rewrites", "python3 other.py quotes"
_STOPS = 'echo \'{"continue": false, "stopReason": "enough"}\''
_PARTS = ("--with", "neo4j")
_HOOKED = ("gate alone", "settings", "plugin")
_GUARDED = ("settings", "plugin")


def _callback(answer: Callable[[], Any]) -> Any:
    async def callback(hook: Any, tool_use_id: Any, context: Any) -> Any:
        made = answer()
        return await made if asyncio.iscoroutine(made) else made

    return callback


def _block() -> dict[str, Any]:
    time.sleep(4)
    return {}


ROWS: dict[str, Row] = {
    "clean call": Row(program=wrapper(CLEAN), clean=True),
    "leaking wrapper": Row(),
    "violation in the middle of many items": Row(program=wrapper(envelope(*_MANY, LATE, *_MANY))),
    "stderr noise": Row(program=wrapper(CLEAN, stderr=f"fetched {CANARY}\n")),
    "non-zero exit": Row(program=wrapper(LEAK, code=3)),
    "compound command": Row(run(f"{CALL}; false")),
    "nested shell": Row(run(f"bash -c '{CALL}; false'")),
    "background run, then read": Row(run_and_read(*IN_BACKGROUND, run_in_background=True)),
    "a time limit of one second, then read": Row(
        run_and_read(*IN_BACKGROUND, timeout=1_000), program=wrapper(LEAK, seconds=2)
    ),
    "Monitor": Row([tool_call("Monitor", command=CALL, description="fetch"), *run("sleep 3")]),
    "a listing of another program": Row(
        run("./sub/pit_fetch --version"), files={"sub/pit_fetch": f"#!/usr/bin/env python3\n{_PRINTS}"}
    ),
    "a listing of another module": Row(run("python3 -m pit_fetch --version"), program=_PRINTS),
    "an envelope in an item's text": Row(program=wrapper(envelope({**item("public"), "body": envelope(LATE)}))),
    "redirect, then read": Row([*run(f"{CALL} > o.json")[:1], *run("cat o.json")]),
    "redirect, then the Read tool": Row(
        [*run(f"{CALL} > o.json")[:1], lambda seen: tool_call("Read", file_path="o.json")(seen), final_answer()]
    ),
    "over 30,000 characters, then read": Row(
        run_and_read(r"saved to: (\S+)", "tail -c 400 {0}"), program=wrapper(envelope(*_MANY * 3, LATE))
    ),
    "no --pit": Row(run("python3 pit_fetch.py --source x")),
    "subagent": Row(run(NAMED), installed=True, subagent=True),
    "subagent, non-zero exit": Row(run(NAMED), program=wrapper(LEAK, code=3), installed=True, subagent=True),
    "subagent, a program of its own": Row(program=wrapper(FORGED), subagent=True),
    "subagent, another command": Row(run("cat raw.json"), subagent=True),
    "PIT_FETCH_WRAPPER_ONLY=1, another command": Row(run("cat raw.json"), env={"PIT_FETCH_WRAPPER_ONLY": "1"}),
    "PIT_FETCH_WRAPPER_ONLY=1, a program of its own": Row(program=wrapper(FORGED), env={"PIT_FETCH_WRAPPER_ONLY": "1"}),
    "PIT_FETCH_WRAPPER_ONLY=1, an assignment for the wrapper": Row(
        run("X=/pit_fetch sh -c 'cat raw.json' --help"), env={"PIT_FETCH_WRAPPER_ONLY": "1"}
    ),
    "subagent, a file as its source": Row(run(f"{CALL} --input-file raw.json"), subagent=True),
    "subagent, session in a subfolder": Row(place="sub", subagent=True, columns=("settings",)),
    "subagent, session in a subfolder, Bash not allowed by the user": Row(
        place="sub", subagent=True, columns=("settings",), allowed=("Agent",)
    ),
    "subagent, session elsewhere with --add-dir": Row(place="beside", subagent=True, columns=_GUARDED),
    "gate not wired": Row(gate=None, columns=FULL),
    "gate wired, and crashing": Row(gate="python3 -c 1/0", columns=_GUARDED),
    "gate wired, and killed": Row(gate="kill -9 $$", columns=_GUARDED),
    "gate wired, and late": Row(gate="sleep 20", columns=_GUARDED),
    "gate wired, and silent": Row(gate="cat >/dev/null", columns=_GUARDED),
    "gate wired, and printing text": Row(gate="echo fine", columns=_GUARDED),
    "gate wired, and printing half its answer": Row(gate="echo '{\"hookSpecificOutput\": {'", columns=_GUARDED),
    "gate wired as async": Row(gate="async", columns=_GUARDED),
    "guard and gate wired twice": Row(gate="twice", columns=("plugin",)),
    "guard and gate wired twice, clean call": Row(
        gate="twice", columns=("plugin",), program=wrapper(CLEAN), clean=True
    ),
    "another hook puts the output back": Row(beside=[("PostToolUse", _REWRITES)], columns=FULL),
    "another hook quotes the output": Row(beside=[("PostToolUse", _QUOTES)], columns=FULL),
    "another hook ends the session, which is continued": Row(
        beside=[("PostToolUse", _STOPS)], columns=_GUARDED, again=True
    ),
    "another hook puts the command back": Row(beside=[("PreToolUse", _REWRITES)], columns=FULL),
    "another hook puts the command back, non-zero exit": Row(
        beside=[("PreToolUse", _REWRITES)], program=wrapper(LEAK, code=3), columns=FULL
    ),
    "disableAllHooks": Row(settings={"disableAllHooks": True}, columns=FULL),
    "gate missing": Row(broken=("pit_gate.py", None), columns=_HOOKED),
    "gate crashing": Row(broken=("pit_gate.py", _CRASH), columns=_HOOKED),
    "gate hanging": Row(broken=("pit_gate.py", _HANG), columns=_HOOKED),
    "guard missing": Row(broken=("pit_guard.py", None), columns=_GUARDED),
    "guard crashing": Row(broken=("pit_guard.py", _CRASH), columns=_GUARDED),
    "guard hanging": Row(broken=("pit_guard.py", _HANG), columns=_GUARDED),
    "gate raising in its callback": Row(broken=("respond", "raise"), columns=("SDK",)),
    "gate hanging in its callback": Row(broken=("respond", "hang"), columns=("SDK",)),
    "callback of the gate raising": Row(gate=_callback(lambda: 1 / 0), columns=("SDK",)),
    "callback of the gate answering nothing": Row(gate=_callback(lambda: None), columns=("SDK",)),
    "callback of the gate late": Row(gate=_callback(lambda: asyncio.sleep(4, {})), columns=("SDK",)),
    "callback of the gate late, the host's loop blocked": Row(gate=_callback(_block), columns=("SDK",)),
    "MCP tool": Row(READ, mcp=texts(LEAK)),
    "MCP tool, a clean block first": Row(READ, mcp=texts(envelope(), LEAK)),
    "MCP tool, structured": Row(READ, mcp={"content": [], "structuredContent": {"result": LEAK}}),
    "MCP tool, an empty PIT": Row(read(pit="", **PARAMS), mcp=texts(LEAK)),
    "MCP tool, clean": Row(READ, mcp=texts(CLEAN), clean=True),
    "MCP tool, a pattern by its name": Row(
        read("news: Latest", pit=PIT, **PARAMS), mcp=texts(CLEAN), clean=True, columns=FULL
    ),
    "MCP tool, no params.pit": Row(read(**PARAMS), mcp=texts(LEAK)),
    "MCP tool, a query of its own stamped with the PIT": Row(read(OWN, pit=PIT), mcp=PLEASING),
    "MCP tool, a query that loads a file": Row(read("LOAD CSV FROM 'file:///x' AS row RETURN row"), mcp=texts(CANARY)),
    "Neo4j subagent, clean": Row(READ, agent="neo4j-news", mcp=texts(CLEAN), clean=True),
    "Neo4j subagent, a leaking server": Row(READ, agent="neo4j-news", mcp=texts(LEAK)),
    "Neo4j subagent, no params.pit": Row(read(**PARAMS), agent="neo4j-news", mcp=texts(LEAK)),
    "Neo4j subagent, a query of its own stamped with the PIT": Row(
        read(OWN, pit=PIT), agent="neo4j-news", mcp=PLEASING
    ),
    "MCP tool, marked as an error": Row(READ, mcp={**texts(LEAK), "isError": True}),
    "MCP resource": Row(
        [tool_call("ReadMcpResourceTool", server=harness.SERVER, uri="graph://news"), final_answer()],
        mcp={"contents": [{"uri": "graph://news", "text": LEAK}]},
    ),
    "MCP resources, listed": Row(
        [tool_call("ListMcpResourcesTool", server=harness.SERVER), final_answer()],
        mcp={"resources": [{"uri": "graph://news", "name": CANARY}]},
    ),
    "MCP resources of every server, listed": Row(
        [tool_call("ListMcpResourcesTool"), final_answer()],
        mcp={"resources": [{"uri": "graph://news", "name": CANARY}]},
    ),
    "Neo4j write": Row(
        [tool_call(f"mcp__{harness.SERVER}__write_neo4j_cypher", query="CREATE (n)"), final_answer()],
        mcp=texts(f"{CANARY} was written"),
    ),
    "real pit_fetch, its source serves the canary": Row(
        run(f"pit_fetch --source bz-news-api --input-file raw.json --pit {PIT}"), clean=True
    ),
    "real pit_fetch, verbose, compound, exit 1": Row(
        run(f"pit_fetch --source bz-news-api --input-file raw.json --pit {PIT} -v 2>&1; false")
    ),
}
RAW = json.dumps([{"id": 1, "title": CANARY, "created": "Fri, 16 Feb 2024 09:00:00 -0400", "updated": "", "body": ""}])


# One cell.


def measure(name: str, column: str) -> str:
    """Return what reaches the model in one cell, in a few words."""
    row = ROWS[name]
    if column not in row.columns:
        return "–"
    with tempfile.TemporaryDirectory(prefix="pit-client-") as folder:
        project = Path(folder, "project")
        project.mkdir()
        installed = Path(folder, "bin", "pit_fetch")
        program = installed if row.installed else project / "pit_fetch.py"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!{sys.executable}\n{row.program}")
        program.chmod(0o755)
        (project / "raw.json").write_text(RAW)
        for path, text in {**row.files, **({"other.py": harness.OTHER_HOOK} if row.beside else {})}.items():
            (project / path).parent.mkdir(exist_ok=True)
            (project / path).write_text(text)
            (project / path).chmod(0o755)
        server = () if row.mcp is None else (sys.executable, str(SERVER), json.dumps(row.mcp))
        with _installed(row, column, project) as setting:
            setting = replace(setting, server=server, allowed=row.allowed, again=row.again)
            if row.installed:
                path = f"{installed.parent}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
                setting = replace(setting, env={**setting.env, "PATH": path})
            return describe(harness.converse(setting, _script(row, column)))


def describe(texts: Sequence[str]) -> str:
    """Return the first answer of a tool that reached the model; "canary" if that is anywhere in the texts."""
    if any(CANARY in text for text in texts):
        return "**canary**"
    for text in texts:
        withheld = re.search(r"(PIT_[A-Z_]+): [^\n]* \(output withheld\)", text)
        if withheld:
            return f"withheld, `{withheld[1]}`"
        if "hook error" in text or "hook did not respond" in text or sdk.guard.NOT_IN_MONITOR in text:
            return "refused"
        if gate.SENTINEL in text:
            return "not released"
        if '{"data": [' in text:
            return "the envelope"
    return "no output"


def _script(row: Row, column: str) -> Script:
    if not row.subagent and not row.agent:
        return {"main": row.turns}
    name = row.agent or AGENT
    of_plugin = name if row.agent else f"pit-fetch:{name}"
    agent = {"plugin": of_plugin, "settings": name, "SDK": name}.get(column, "general-purpose")
    brief = tool_call("Agent", subagent_type=agent, description="fetch", prompt=BRIEF, run_in_background=False)
    return {"main": [brief, final_answer()], BRIEF: row.turns}


@contextmanager
def _installed(row: Row, column: str, project: Path) -> Iterator[Setting]:
    """Install the hooks as ``column`` does. The guard knows subagents by their names: only the ceiling is set."""
    env = {"PIT_FETCH_CEILING": PIT, **row.env}
    claude = project / ".claude"
    if column == "nothing":
        yield Setting(project)
    elif column == "gate alone":
        init.run(_PARTS, {}, str(project))
        _keep_only(claude / "settings.json", "PostToolUse")
        shutil.rmtree(claude / "agents")
        _break(row, claude / "hooks", claude / "settings.json")
        yield Setting(project)
    elif column == "settings":
        init.run(_PARTS, {}, str(project))
        _break(row, claude / "hooks", claude / "settings.json")
        _rewire(row, claude / "settings.json")
        yield _placed(row, Setting(project, env))
    elif column == "plugin":
        plugin = project.parent / "plugin"
        harness.copy_plugin(plugin)
        _break(row, plugin / "hooks", plugin / "hooks" / "hooks.json")
        _rewire(row, plugin / "hooks" / "hooks.json")
        if row.gate == "twice" or row.agent:  # a plugin brings no agents of Neo4j
            init.run(_PARTS, {}, str(project))
        _write_settings(row, claude / "settings.json")
        yield _placed(row, Setting(project, env, ["--plugin-dir", str(plugin)]))
    else:
        init.run(_PARTS, {}, str(project))
        (claude / "settings.json").unlink()
        _write_settings(row, claude / "settings.json")
        shutil.rmtree(claude / "hooks")
        with _broken_callback(row):
            yield Setting(project, env, hooks=_callbacks(row, env))


def _placed(row: Row, setting: Setting) -> Setting:
    """Return the setting with the row's working directory."""
    project = setting.project
    if row.place == "sub":
        (project / "sub").mkdir()
        shutil.copy(project / "pit_fetch.py", project / "sub")
        return replace(setting, project=project / "sub", home=project.parent / "home")
    if row.place == "beside":
        (project.parent / "elsewhere").mkdir()
        shutil.copy(project / "pit_fetch.py", project.parent / "elsewhere")
        args = [*setting.args, "--add-dir", str(project)]
        return replace(setting, project=project.parent / "elsewhere", args=args)
    return setting


def _rewire(row: Row, wiring: Path) -> None:
    """Put the row's command in the gate's place, and its other hooks and settings beside."""
    settings = json.loads(wiring.read_text())
    entries = settings["hooks"]["PostToolUse"]
    if row.gate is None:
        del settings["hooks"]["PostToolUse"]
    for hook in [hook for entry in entries for hook in entry["hooks"] if entry["matcher"] == "Bash"]:
        if row.gate == "async":
            hook["async"] = True
        elif row.gate and row.gate != "twice":
            hook.update(command=row.gate, timeout=2)
    wiring.write_text(json.dumps(settings))
    if wiring.name == "settings.json":
        _write_settings(row, wiring)


def _write_settings(row: Row, path: Path) -> None:
    """Add the row's other hooks and settings to the project's own."""
    if not row.beside and not row.settings:
        return
    settings = json.loads(path.read_text()) if path.exists() else {}
    settings.update(row.settings)
    for event, command in row.beside:
        entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
        settings.setdefault("hooks", {}).setdefault(event, []).append(entry)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(settings))


def _callbacks(row: Row, env: Mapping[str, str]) -> Any:
    hooks = sdk.make_hooks(env)
    if row.gate is None:
        del hooks["PostToolUse"]
    elif row.gate:
        for matcher in hooks["PostToolUse"]:
            matcher.hooks, matcher.timeout = [row.gate], 2
    return hooks


def _keep_only(settings: Path, event: str) -> None:
    hooks = json.loads(settings.read_text())["hooks"]
    settings.write_text(json.dumps({"hooks": {event: hooks[event]}}))


def _break(row: Row, hooks: Path, wiring: Path) -> None:
    if row.broken is None:
        return
    name, text = row.broken
    if text is None:
        (hooks / name).unlink()
    else:
        (hooks / name).write_text(text)
        # So that a hanging hook is killed soon: the shipped wiring gives it 10 seconds.
        wiring.write_text(wiring.read_text().replace('"timeout": 10', '"timeout": 2'))


@contextmanager
def _broken_callback(row: Row) -> Iterator[None]:
    if row.broken is None:
        yield
        return
    honest, released = gate.respond, threading.Event()

    def broken(hook: Any, ceiling: Any = None) -> Any:
        if "planted" in str(hook):  # make_hooks tries the gate before it is broken
            return honest(hook, ceiling)
        if row.broken == ("respond", "raise"):
            raise RuntimeError
        released.wait(3)
        return {}

    with patch.object(gate, "respond", broken), patch.object(sdk, "JUDGE_SECONDS", 1.0):
        try:
            yield
        finally:
            released.set()


# The whole table.


def _changes_this_process(row: Row) -> bool:
    return row.broken is not None and row.broken[0] == "respond"


Cell = tuple[str, str]

# The rows of the sample in which the canary must be seen.
SEEN = ("leaking wrapper", "MCP tool", "subagent, another command")


def cells_of(names: Sequence[str]) -> list[Cell]:
    return [(name, column) for name in names for column in COLUMNS]


def sample() -> list[Cell]:
    """Return every row once, in one of the columns in which all is installed: the next row in the next of them."""
    chosen = []
    for turn, (name, row) in enumerate(ROWS.items()):
        full = [column for column in FULL if column in row.columns]
        chosen.append((name, full[turn % len(full)]))
    return chosen + [(name, column) for name in SEEN for column in COLUMNS if column not in FULL]


def measure_all(cells: Sequence[Cell]) -> dict[Cell, str]:
    """Measure two cells at a time, and after them each cell alone whose row changes this process."""
    apart = [cell for cell in cells if _changes_this_process(ROWS[cell[0]])]
    together = [cell for cell in cells if cell not in apart]
    with ThreadPoolExecutor(2) as pool:
        measured = dict(zip(together, pool.map(_measure, together), strict=True))
    return measured | {cell: _measure(cell) for cell in apart}


def _measure(cell: Cell) -> str:
    begun = time.monotonic()
    seen = measure(*cell)
    sys.stderr.write(f"{time.monotonic() - begun:5.1f} s  {cell[0]}, {cell[1]}: {seen}\n")
    return seen


def read_table(text: str) -> dict[Cell, str]:
    """Return the cells of a table as :func:`table` writes it."""
    lines = [line.strip("|").split("|") for line in text.split("\n") if line.startswith("|")]
    rows = [[cell.strip() for cell in line] for line in lines[2:]]  # after the heads and the rule below them
    return {(name, column): seen for name, *cells in rows for column, seen in zip(COLUMNS, cells, strict=True)}


def table(cells: dict[Cell, str]) -> str:
    heads = ("", "nothing installed", "gate alone", "all, by settings", "all, by plugin", "all, by SDK")
    lines = [heads, ("---",) * len(heads)]
    lines += [(name, *(cells[name, column] for column in COLUMNS)) for name in ROWS]
    rows = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return f"Measured on Claude Code {harness.version()}.\n\n{rows}"


def faults(cells: dict[Cell, str]) -> Iterator[str]:
    """Yield each cell with the canary where all is installed, or with a clean call that does not get through."""
    for (name, column), seen in cells.items():
        if column in FULL and seen == "**canary**" and name not in OPEN:
            yield f"{name}, {column}: the canary reaches the model"
        if ROWS[name].clean and seen not in ("the envelope", "–"):
            yield f"{name}, {column}: {seen}"


def main(argv: Sequence[str]) -> int:
    inside = harness.enter_namespace("tests.client.matrix")
    report: Callable[[str], object] = sys.stderr.write
    if not inside:
        report("no network namespace can be made here: the client runs with whatever network there is\n")
    begun = time.monotonic()
    names = [word for word in argv if word in ROWS]
    is_whole = not names and {"--all", "--write"} & {*argv}
    cells = measure_all(cells_of(names or list(ROWS)) if names or is_whole else sample())
    report(f"{len(cells)} cells in {time.monotonic() - begun:.0f} s\n")
    problems = list(faults(cells))
    before, rest = DOCS.read_text().split(BEGIN)
    old, after = rest.split(END)
    if "--write" in argv and is_whole:
        DOCS.write_text(before + BEGIN + table(cells) + END + after)
    else:
        documented = read_table(old)
        other = [cell for cell, seen in cells.items() if documented.get(cell) != seen]
        problems += [f"{', '.join(cell)}: {cells[cell]}; {DOCS.name} says {documented.get(cell)}" for cell in other]
        if f"Claude Code {harness.version()}." not in old or (is_whole and documented.keys() != cells.keys()):
            problems.append(f"{DOCS.name} is of another client or of other rows")
        if problems:
            problems.append("python -m tests.client.matrix --write measures all, and writes the table")
    for problem in problems:
        report(f"FAIL {problem}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
