"""``pit_fetch mcp``: a server of the sources for agents that call tools, with an instant that none of them can move."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pit_fetch.cli.command import CommandResult, Parser, refusal
from pit_fetch.cli.parser import StoreOnce
from pit_fetch.errors import ConfigError, PitFetchError
from pit_fetch.gaps import Code

if TYPE_CHECKING:
    from pit_fetch.mcp.calls import Server
    from pit_fetch.runtime import Runtime

_EPILOG = "It talks the Model Context Protocol on stdin and stdout, until its client ends; docs/mcp.md."


def run(argv: Sequence[str], runtime: Runtime) -> CommandResult:
    """Serve until the client ends. What keeps the server from starting is one line on stderr."""
    parser = _parser()
    arguments = parser.parse_args(list(argv))
    try:
        server = _server(arguments, runtime)
        serve, take_standard_streams = protocol()
    except PitFetchError as error:
        return refusal(error.gap.reason)
    serve(server, take_standard_streams())
    return CommandResult("")


def _parser() -> Parser:
    parser = Parser("mcp", "Serve the sources to an agent through MCP, as of an instant that no message moves.")
    parser.epilog = _EPILOG
    add_instant(parser)
    parser.add_argument("--sources", metavar="A,B", help="only these (default: all whose keys are set)")
    parser.add_argument("--archive", metavar="PATH", help="record every reply in this file, and answer from it too")
    parser.add_argument("--offline", action="store_true", help="answer from the archive alone, and ask no source")
    text = "an answer is a table, in few characters, or the envelope of the command"
    parser.add_argument("--shape", choices=("columns", "items"), default="columns", help=f"{text} (default: columns)")
    return parser


def add_instant(parser: Parser) -> None:
    """Add the options that fix a server's instant."""
    once = partial(parser.add_argument, action=StoreOnce)
    once("--pit", metavar="ISO8601", help="the instant of every answer (default: the ceiling)")
    once("--pit-file", metavar="FILE", help="a file with the instant, read again for each call")
    text = "a conversation may go on after the file moved: stop the agent before you move it"
    parser.add_argument("--moving", action="store_true", help=text)


def _server(arguments: Any, runtime: Runtime) -> Server:
    """Return the server of a command line. Raise PitFetchError if it cannot be."""
    from pit_fetch.mcp.prepare import prepare_server

    names = None if arguments.sources is None else [name.strip() for name in arguments.sources.split(",")]
    how = {"offline": arguments.offline, "moving": arguments.moving, "shape": arguments.shape}
    return prepare_server(runtime, arguments.pit, arguments.pit_file, names, arguments.archive, **how)


def protocol() -> Any:
    """Return the functions that need the SDK. Raise ConfigError if it is not installed."""
    try:
        from pit_fetch.mcp.server import serve
        from pit_fetch.mcp.streams import take_standard_streams
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="mcp>=2") from None
    return serve, take_standard_streams
