"""One call of a tool: arguments in, an answer out. Runs on a thread of its own, and knows nothing of the protocol."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable, Mapping
from queue import Empty, LifoQueue
from typing import Any, NamedTuple, Protocol

from pit_fetch.courtesy.fronts import reword
from pit_fetch.engine import registry
from pit_fetch.engine.catalog import describe
from pit_fetch.engine.progress import Progress
from pit_fetch.engine.run import run
from pit_fetch.engine.settings_files import Settings
from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.mcp.answers import Answer, in_columns, plain, refuse, release_answer
from pit_fetch.mcp.instant import Moment
from pit_fetch.mcp.tools import SOURCES, Shape, Tool, dated_operations
from pit_fetch.provider import Provider
from pit_fetch.request.audience import CEILING_VARIABLE, MAX_CHARS_UNDER_AGENT
from pit_fetch.request.fetch_request import build
from pit_fetch.request.operations import OPTION
from pit_fetch.request.values import flag_of
from pit_fetch.runs.shown import recording
from pit_fetch.runtime import Runtime

# A client gives up after 60 s. A fetch ends before that with what it has by then.
FETCH_SECONDS = 45.0

# The options whose defaults the operator's settings may set.
_SETTINGS = ("limit", "max_pages", "fields", "max_chars")


class InstantSource(Protocol):
    """The instant of a server: that of a call that begins now, and in words."""

    def now(self) -> Moment:
        """Return the instant of a call. Raise UsageError if it may not be answered."""

    @property
    def phrase(self) -> str: ...


class Server(NamedTuple):
    """What is fixed when a server starts.

    tools    the tools by name; idle: those left out, with the reason
    instant  the instant of every answer
    settings  the operator's
    runtimes  the surroundings of calls
    offline   the archive alone answers
    shape     "items": an answer is an envelope; "columns": a table of it, in fewer characters
    """

    tools: Mapping[str, Tool]
    instant: InstantSource
    settings: Settings
    runtimes: Runtimes
    idle: Mapping[str, str] = {}
    offline: bool = False
    shape: Shape = "items"


class Runtimes:
    """Runtimes that are handed out to one call at a time. One that comes back keeps its connections open."""

    def __init__(self, make: Callable[[], Runtime]) -> None:
        self._make = make
        self._free: LifoQueue[Runtime] = LifoQueue()

    def take(self) -> Runtime:
        try:
            return self._free.get_nowait()
        except Empty:
            return self._make()

    def give_back(self, runtime: Runtime) -> None:
        self._free.put(runtime)


def answer(server: Server, name: str, arguments: Mapping[str, Any], stop: threading.Event) -> Answer:
    """Return the answer to a call, whatever goes wrong. ``stop``: its caller has gone."""
    tool = server.tools.get(name)
    try:
        moment = server.instant.now()
        if tool is None:
            raise UsageError(Code.USAGE, text=f"there is no such tool: the tools are {', '.join(server.tools)}")
        _check_names(tool, arguments)
        if tool.provider is None:
            return plain(_description(server, arguments.get("name"), moment))
        provider = tool.provide(stop) if tool.provide else tool.provider
        return _fetch_answer(server, provider, tool.values(arguments, moment), moment, stop)
    except BaseException as error:  # noqa: BLE001 - nothing but an answer leaves
        refused = refuse(_name_arguments(tool, error) if tool and isinstance(error, UsageError) else error)
        return shaped(server, refused)


def shaped(server: Server, envelope: Answer) -> Answer:
    """Return an envelope of the program's own in the shape of the server's answers."""
    return in_columns(envelope, None) if server.shape == "columns" else envelope


def _name_arguments(tool: Tool, error: UsageError) -> UsageError:
    """Return a refusal that names arguments, as a caller of the tool writes them, in the place of options."""

    def write(name: str) -> str:
        return name if name in tool.arguments else f"`{SOURCES}`" if name == "help" else flag_of(name)

    return UsageError(Code.USAGE, text=reword(str(error), write))


def _check_names(tool: Tool, arguments: Mapping[str, Any]) -> None:
    for name in arguments:
        if name not in tool.arguments:
            from pit_fetch.courtesy.names import closest
            from pit_fetch.support.wording import truncate

            if name == "pit":
                text = "pit is no argument: whoever started this server has fixed the instant"
                raise UsageError(Code.USAGE, text=text)
            close = closest(name, tool.arguments)
            hint = f"did you mean {close}?" if close else f"its arguments are {', '.join(tool.arguments)}"
            text = f"{truncate(name)} is not an argument of {tool.name} ({hint})"
            raise UsageError(Code.USAGE, text=text)
    missing = [name for name in tool.schema.get("required", ()) if arguments.get(name) is None]
    if missing and tool.provide is None:  # the tool of another server refuses what it needs itself
        raise UsageError(Code.USAGE, text=f"{tool.name} needs {missing[0]}: `{SOURCES}` says what each operation needs")


def _fetch_answer(
    server: Server, provider: Provider, arguments: Mapping[str, Any], moment: Moment, stop: threading.Event
) -> Answer:
    given = {name: value for name, value in arguments.items() if value is not None}
    defaults = {name: value for name, value in server.settings.options.items() if name in _SETTINGS}
    values = {**defaults, **given, "pit": moment.text, "timeout": FETCH_SECONDS}
    if server.offline:
        values["offline"] = True
    # A server with an instant is a ceiling, whatever its environment says: no name of today's stands for a company.
    ceiling = {CEILING_VARIABLE: moment.text}
    request = build(values, provider, {**server.settings.environ, **ceiling}, MAX_CHARS_UNDER_AGENT)
    runtime = server.runtimes.take()
    try:
        asked = runtime.stoppable(stop)._replace(environ={**runtime.environ, **ceiling})
        with recording(request, asked, server.shape) as record:
            result = run(request, asked, Progress(), shlex.split(request.canonical))
            released = release_answer(str(result.text), moment.at, is_error=result.is_failure)
            shown = released
            if server.shape == "columns":
                shown = in_columns(released, moment.text, result.gaps, request.fields)
            record(result, shown.text)
    finally:
        server.runtimes.give_back(runtime)
    return shown


def _description(server: Server, name: object, moment: Moment) -> dict[str, Any]:
    """Return what can be asked: of one source everything, without a name a line of each."""
    of_sources = {tool.name: tool.provider for tool in server.tools.values() if tool.provider is not None}
    if name is None:
        lines = {tool: provider.summary for tool, provider in of_sources.items()}
        return {"instant": moment.text, "tools": lines, "unusable": dict(server.idle)}
    tool = server.tools.get(str(name))
    provider = tool and tool.provider
    if tool is None or provider is None:
        raise UsageError(Code.USAGE, text=f"name is one of {', '.join(of_sources)}")
    source = describe(registry.Listing(provider.name, provider), server.settings.environ, "")
    names = [operation.name for operation in dated_operations(provider)]
    operations = [
        {
            "op": row["name"],
            "dated": row["rule"],
            "needs": row["needs"],
            "takes": row["takes"],
            "fields": [field["name"] for field in row["fields"]],
        }
        for row in source["operations"]
        if row["name"] in names
    ]
    arguments = {
        option.name: f"{option.help} ({', '.join(option.choices)})" if option.choices else option.help
        for option in provider.all_options
        if option.name in tool.arguments and option.name != OPTION
    }
    row = {"instant": moment.text, "tool": name, "summary": provider.summary, "arguments": arguments}
    return {**row, "operations": operations}
