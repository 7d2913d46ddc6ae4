"""``pit_fetch init [DIR]``: install hooks, agents and skills in a project's ``.claude`` folder, or remove them."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path

from pit_fetch.claude_code import bundle, install, mcp_entry, versions
from pit_fetch.claude_code.reach import TOOLS
from pit_fetch.cli.command import CommandResult, Parser, refusal
from pit_fetch.cli.parser import StoreOnce
from pit_fetch.courtesy.names import closest as name
from pit_fetch.errors import ExitStatus
from pit_fetch.support.bundled import gate

# Each action in the report, and in the report of a dry run.
_REPORTED: Mapping[install.Action, tuple[str, str]] = {
    "create": ("created", "would create"),
    "replace": ("replaced", "would replace"),
    "merge": ("merged", "would merge"),
    "remove": ("removed", "would remove"),
    "same": ("unchanged", "unchanged"),
    "keep": ("KEPT", "would keep"),
}
_NEXT = "Next: pit_fetch doctor, and with a ceiling pit_fetch doctor --prove.\n"
_NO_INSTANT = f"It does not start yet: set {gate.CEILING_VARIABLE} where the client starts, or give --pit here.\n"
_HOOKS_MISSING = "The hooks are missing, without which nothing runs: pit_fetch init --only hooks\n"


def run(
    argv: Sequence[str], environ: Mapping[str, str], folder: str, released: versions.ReleasedFiles | None = None
) -> CommandResult:
    """Plan, write unless ``--dry-run`` is given, and report. ``released``: other older versions than the recorded."""
    arguments = _parser(folder).parse_args(argv)
    project = Path(folder, arguments.dir)
    if arguments.dir in (*TOOLS, *bundle.PARTS) and not project.is_dir():
        rule = "the values of --deny, --only and --without have commas between them"
        return refusal(f"{arguments.dir} is not a folder: {rule}")
    if not project.is_dir():
        return refusal(f"{arguments.dir} is not a folder: name an existing project")
    if not arguments.mcp and (arguments.pit or arguments.pit_file):
        return refusal("--pit and --pit-file are for --mcp: add it")
    if arguments.mcp:
        return _run_mcp(arguments, project, environ)
    options = install.Options(
        only=_chosen_parts(arguments, project),
        without=arguments.without,
        model=arguments.model,
        upgrade=arguments.upgrade,
        force=arguments.force,
        deny=arguments.deny,
        hooks=bundle.USER_HOOKS if _is_home(project, environ) else bundle.PROJECT_HOOKS,
        released=released or versions.released_files(),
    )
    try:
        steps = (install.plan_removal if arguments.uninstall else install.plan)(project, options)
    except ValueError as error:
        return refusal(f"{error}; nothing was changed")
    if not arguments.dry_run:
        install.carry_out(steps, project)
    text = "".join(_line(step, project, arguments.dry_run) for step in steps)
    text = (text or "nothing to take out\n") if arguments.uninstall else text + _advice(project, steps)
    is_partial = any(step.action == "keep" for step in steps)
    return CommandResult(text, ExitStatus.FOUND if is_partial else ExitStatus.OK)


def _run_mcp(arguments: argparse.Namespace, project: Path, environ: Mapping[str, str]) -> CommandResult:
    """Put the entry of the MCP server into the project's file, or take it out, and show it for other clients."""
    if arguments.pit and gate.parse_pit(arguments.pit) is None:
        return refusal("--pit is an instant such as 2024-02-15T16:00:00-05:00")
    given = {"--pit": arguments.pit, "--pit-file": arguments.pit_file}
    words = [word for flag, value in given.items() if value for word in (flag, value)]
    try:
        step = (
            mcp_entry.plan_removal(project)
            if arguments.uninstall
            else mcp_entry.plan(project, mcp_entry.entry(words), force=arguments.force)
        )
        denials = install.Options(only=(), deny=arguments.deny)
        steps = [step, install.plan_settings(project, denials)] if step and arguments.deny else [step] if step else []
    except ValueError as error:
        return refusal(f"{error}; nothing was changed")
    if not steps:
        return CommandResult("nothing to take out\n")
    if not arguments.dry_run:
        install.carry_out(steps, project)
    text = "".join(_line(step, project, arguments.dry_run) for step in steps)
    is_kept = steps[0].action == "keep"
    if is_kept:  # what was asked for would look as if it were done
        text += f"The kept entry answers as of {mcp_entry.present_instant(project)}.\n"
    elif not arguments.uninstall:
        text += _show_entry(words, environ)
    return CommandResult(text, ExitStatus.FOUND if is_kept else ExitStatus.OK)


def _show_entry(words: Sequence[str], environ: Mapping[str, str]) -> str:
    beside = Path(sys.executable).with_name("pit_fetch")  # where pip put it, on PATH or not
    program = shutil.which("pit_fetch", path=environ.get("PATH")) or (str(beside) if beside.exists() else "pit_fetch")
    servers = {"mcpServers": {mcp_entry.NAME: mcp_entry.entry(words, program)}}
    lead = "The instant is the ceiling of the client's environment.\n" if not words else ""
    lead = lead if words or environ.get(gate.CEILING_VARIABLE) else f"{lead}{_NO_INSTANT}"
    return f"{lead}For another client:\n{json.dumps(servers, indent=2)}\nNext: pit_fetch doctor.\n"


def _parser(folder: str) -> Parser:
    parser = Parser("init", "Install the gate, the guard, agents and skills in a project's .claude folder.")
    parts, direction = parser.add_mutually_exclusive_group(), parser.add_mutually_exclusive_group()
    parser.add_argument(
        "dir", nargs="?", default=folder, metavar="DIR", help="the project (default: working directory), or ~ for all"
    )
    direction.add_argument(
        "--upgrade", action="store_true", help="replace files of older versions, and keep edited ones"
    )
    direction.add_argument("--uninstall", action="store_true", help="remove what init installed, and keep edited files")
    names = ",".join(bundle.PARTS)
    parts.add_argument("--only", type=_parts, metavar="PARTS", help=f"only these of {names}")
    parts.add_argument("--without", type=_parts, default=(), metavar="PARTS", help="all parts but these")
    parts.add_argument("--with", dest="also", choices=("neo4j",), help="the agents and skills of a Neo4j graph, too")
    parser.add_argument("--mcp", action="store_true", help="instead, the entry of pit_fetch mcp in .mcp.json")
    once = partial(parser.add_argument, action=StoreOnce)
    once("--pit", metavar="ISO8601", help="with --mcp: the instant (default: the client's ceiling)")
    once("--pit-file", metavar="FILE", help="with --mcp: a file with the instant")
    parser.add_argument(
        "--deny",
        type=_tools,
        default=(),
        metavar="TOOLS",
        help="tools that no session and no agent here may use: WebFetch,WebSearch; --uninstall keeps these rules",
    )
    parser.add_argument("--model", metavar="NAME", help="the model that the agents run on (default: the session's)")
    parser.add_argument("--dry-run", action="store_true", help="show what would be done, and do nothing")
    parser.add_argument("--force", action="store_true", help="also replace or remove edited files")
    return parser


def _chosen_parts(arguments: argparse.Namespace, project: Path) -> Collection[str]:
    """Return the parts to install or remove. Neo4j's are installed where asked for, or kept up where they are."""
    if arguments.only:
        return tuple(arguments.only)
    has_neo4j = any(bundle.is_neo4j(name) and (project / ".claude" / name).exists() for name in bundle.files())
    return bundle.PARTS if arguments.also or arguments.uninstall or has_neo4j else bundle.USUAL_PARTS


def _parts(text: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    if not parts or not set(parts).issubset(bundle.PARTS):
        raise argparse.ArgumentTypeError(f"PARTS are {', '.join(bundle.PARTS)}, separated by commas")
    return parts


def _tools(text: str) -> tuple[str, ...]:
    tools = tuple(tool.strip() for tool in text.split(",") if tool.strip())
    if not tools or not all(tool.replace("_", "").replace("-", "").isalnum() for tool in tools):
        raise argparse.ArgumentTypeError("TOOLS are names of the client's tools: WebFetch,WebSearch")
    for tool in tools:
        # The client takes a rule on a name that it does not know, and denies nothing.
        if tool not in TOOLS and not tool.startswith("mcp__"):
            close = name(tool, TOOLS)
            if close:
                raise argparse.ArgumentTypeError(f"{tool} is not a tool of the client: write {close}")
            if not tool[0].isupper():
                raise argparse.ArgumentTypeError(f"{tool} is not a tool of the client: a server's are mcp__{tool}")
    return tools


def _is_home(project: Path, environ: Mapping[str, str]) -> bool:
    """Return whether the installation is for all sessions of the user, whose settings are in ``~/.claude``."""
    return bool(environ.get("HOME")) and project.resolve() == Path(environ["HOME"]).resolve()


def _line(step: install.Step, project: Path, is_dry_run: bool) -> str:
    note = f" ({step.note})" if step.note else ""
    return f"{_REPORTED[step.action][is_dry_run]:<13} {step.path.relative_to(project)}{note}\n"


def _advice(project: Path, steps: Sequence[install.Step]) -> str:
    guard = project / ".claude" / "hooks" / "pit_guard.py"
    return _NEXT if guard.is_file() or any(step.path == guard for step in steps) else _HOOKS_MISSING
