"""``pit_fetch mcp-gate``: another server's tools, of which only what was public at an instant passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pit_fetch.cli.command import CommandResult, Parser, refusal
from pit_fetch.cli.commands.mcp import add_instant, protocol
from pit_fetch.engine import settings_files
from pit_fetch.errors import PitFetchError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.request import audience
from pit_fetch.times import in_new_york, is_aware

if TYPE_CHECKING:
    from pit_fetch.mcp.mapping import Mapped
    from pit_fetch.runtime import Runtime

_SERVER = "write the server's command behind --, as in -- uvx some-server"
_EPILOG = "The mapping says where the items of each tool are, and what dates them; docs/mcp.md."


def run(argv: Sequence[str], runtime: Runtime) -> CommandResult:
    """Serve until the client ends, or check a mapping on a recorded result."""
    words = list(argv)
    end = words.index("--") if "--" in words else len(words)
    parser = _parser()
    arguments, command = parser.parse_args(words[:end]), words[end + 1 :]
    try:
        mapped = _mapping(arguments.tools, runtime)
        if arguments.check:
            return CommandResult("".join(_verdicts(arguments, mapped, runtime)))
        if not command:
            raise UsageError(Code.USAGE, text=_SERVER)
        serve, take_standard_streams = protocol()
        from pit_fetch.mcp.prepare import prepare_gate

        pit, file = arguments.pit, arguments.pit_file
        server, upstream = prepare_gate(runtime, mapped.values(), command, pit, file, moving=arguments.moving)
    except PitFetchError as error:
        return refusal(error.gap.reason)
    try:
        serve(server, take_standard_streams())
    finally:
        upstream.close()
    return CommandResult("")


def _parser() -> Parser:
    parser = Parser("mcp-gate", "Stand in front of another MCP server: what was public at an instant passes.")
    parser.usage = "pit_fetch mcp-gate --pit ISO8601 --tools FILE -- COMMAND ..."
    parser.epilog = _EPILOG
    parser.advice = _SERVER
    add_instant(parser)
    parser.add_argument("--tools", metavar="FILE", help="the mapping, a TOML file, or the name of a ready one")
    parser.add_argument(
        "--check", metavar="NAME=RESULT.json", help="show what of a recorded result would pass, and why; serve nothing"
    )
    return parser


def _mapping(name: str | None, runtime: Runtime) -> dict[str, Mapped]:
    from pit_fetch.mcp import mapping

    ready = {path.stem: path for path in (Path(mapping.__file__).parent / "mappings").glob("*.toml")}
    if name is None or (name not in ready and not Path(runtime.path(name)).exists()):
        raise UsageError(Code.USAGE, text=f"--tools names a mapping: a file, or one of {', '.join(sorted(ready))}")
    return mapping.parse_mapping(_text(str(ready.get(name) or runtime.path(name)), "--tools"))


def _text(path: str, option: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError):
        raise UsageError(Code.USAGE, text=f"{option}: the file cannot be read") from None


def _verdicts(arguments: Any, mapped: Mapping[str, Mapped], runtime: Runtime) -> list[str]:
    """Return the lines of a check. Raise UsageError: for an agent, since they name what was withheld."""
    from pit_fetch.mcp import instant
    from pit_fetch.mcp.upstream import parse_message

    runtime, _ = settings_files.with_settings(runtime)
    if audience.is_for_an_agent(runtime.environ):
        raise UsageError(Code.OPERATORS_ONLY, what="--check shows what is withheld")
    name, _, path = arguments.check.partition("=")
    if name not in mapped:
        raise UsageError(Code.USAGE, text=f"--check: the mapping has no tool {name}; it has {', '.join(mapped)}")
    answer = parse_message(_text(runtime.path(path), "--check").encode())
    result = answer.get("result", answer)
    if not isinstance(result, dict) or result.keys().isdisjoint(("content", "structuredContent")):
        text = "--check: the file is no result of tools/call in JSON, which has content or structuredContent"
        raise UsageError(Code.USAGE, text=text)
    file = None if arguments.pit_file is None else runtime.path(arguments.pit_file)
    at = instant.make_instant(arguments.pit, file, runtime.environ).now().at
    return list(verdicts(result, mapped[name], at))


_WHY = {
    "public": "passes",
    "late": "is withheld: it became public, or was revised, after the instant",
    "undated": "is withheld: {stamp} cannot be read, or has a value that is not let through",
    "unusable": "is withheld: it is no object",
}
NOTHING = "no item is at {path}: nothing would pass\n"


def verdicts(result: Mapping[str, Any], mapped: Mapped, at: datetime) -> Iterator[str]:
    """Yield a line for each item of a ``tools/call`` result, and one if there is none."""
    from pit_fetch.mcp.upstream_items import records
    from pit_fetch.pipeline.select import visibility

    shown = list(records(result, mapped))
    if not shown:
        yield NOTHING.format(path=mapped.items)
    names = " or ".join(path for path in (mapped.available_at, mapped.revised_at, *mapped.only) if path)
    for record in shown:
        stamps = [in_new_york(stamp) for stamp in (record.available_at, record.revised_at) if is_aware(stamp)]
        why = _WHY[visibility(record, at)].format(stamp=names)
        fields = ", ".join(record.payload)
        name = " ".join(record.id.split())  # on one line, whatever an id is
        yield f"{name or '(no id)'}  {why} [{', revised '.join(stamps) or 'undated'}; {fields}]\n"
