"""The server: the protocol by the official SDK, every answer by hand.

The SDK would quote an exception, and the value that does not fit a schema, to the client. So it is given nothing to
check and nothing to catch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server as ProtocolServer

from pit_fetch.gaps import Code, gap
from pit_fetch.mcp import calls
from pit_fetch.mcp.answers import Answer, refusal
from pit_fetch.mcp.instant import ConnectionInstant, Instant
from pit_fetch.mcp.streams import Wire, messages
from pit_fetch.mcp.tools import SOURCES, Tool, form_of_answers
from pit_fetch.support.version import __version__

CONCURRENT_CALLS = 32

_INSTRUCTIONS = (
    "{subject} as of {phrase}: every answer holds what was public then and nothing later, whatever is asked.{advice}\n"
    "{form}"
)

Context: TypeAlias = ServerRequestContext[Any, Any]


class Pace(NamedTuple):
    """Seconds: by ``answer`` a call is answered, whatever its thread is doing, since clients give up after 60;
    ``progress`` passes between two signs of life.
    """

    answer: float = 50.0
    progress: float = 5.0


PACE = Pace()


def serve(server: calls.Server, wire: Wire, pace: Pace = PACE) -> None:
    """Serve one connection, until the client closes the wire."""
    if isinstance(server.instant, Instant):
        server = server._replace(instant=ConnectionInstant(server.instant))
    anyio.run(_serve, server, wire, pace)


async def _serve(server: calls.Server, wire: Wire, pace: Pace) -> None:
    protocol = protocol_server(server, pace)
    async with messages(wire) as streams:
        await protocol.run(streams.incoming, streams.outgoing, protocol.create_initialization_options())


def protocol_server(server: calls.Server, pace: Pace = PACE) -> ProtocolServer[Any]:
    """Return the SDK's server of ``server``, for one connection."""
    tools = [protocol_tool(tool) for tool in server.tools.values()]
    limiter = anyio.CapacityLimiter(CONCURRENT_CALLS)

    async def list_tools(context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools, ttl_ms=0, cache_scope="private")

    async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        ask = partial(calls.answer, server, params.name, params.arguments or {})
        return _result(await _answer_in_time(ask, limiter, context, pace, partial(calls.shaped, server)))

    protocol = ProtocolServer(
        "pit_fetch",
        version=__version__,
        instructions=_instructions(server),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    protocol.middleware.clear()  # it would report calls to whichever collector the environment names
    return protocol


def _instructions(server: calls.Server) -> str:
    is_gate = all(tool.provider is not None for tool in server.tools.values())
    subject = "Another server's tools" if is_gate else "Financial and web sources"
    advice = "" if is_gate else f" Call `{SOURCES}` for what can be asked."
    form = form_of_answers(server.shape, of_sources=not is_gate)
    return _INSTRUCTIONS.format(subject=subject, phrase=server.instant.phrase, advice=advice, form=form)


async def _answer_in_time(
    ask: partial[Answer],
    limiter: anyio.CapacityLimiter,
    context: Context,
    pace: Pace,
    late: Callable[[Answer], Answer],
) -> Answer:
    """Return what ``ask`` answers on a thread, or ``late`` of a refusal. A cancelled call asks no more."""
    stop, begun = threading.Event(), threading.Event()

    def work() -> Answer:
        begun.set()
        return ask(stop)

    answer = None
    try:
        with anyio.move_on_after(pace.answer):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_progress, context, pace.progress)
                answer = await anyio.to_thread.run_sync(work, limiter=limiter, abandon_on_cancel=True)
                tasks.cancel_scope.cancel()
    finally:
        stop.set()
    host = "the source" if begun.is_set() else f"this server, which has {CONCURRENT_CALLS} other calls to answer,"
    return answer or late(refusal(gap(Code.TIMEOUT, host=host, timeout=pace.answer)))


async def _progress(context: Context, seconds: float) -> None:
    """Tell a client that waits that time passes, and nothing else."""
    for signs in count(1):
        await anyio.sleep(seconds)
        await context.session.report_progress(signs * seconds)


def protocol_tool(tool: Tool) -> types.Tool:
    """Return a tool as it is listed."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.schema),
        annotations=types.ToolAnnotations(read_only_hint=True),
    )


def _result(answer: Answer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structured_content=answer.content,
        is_error=answer.is_error,
    )
