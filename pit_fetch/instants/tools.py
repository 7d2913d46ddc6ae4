"""The tools that a program gives a model: those of the MCP server, called in this process, in a framework's form."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.mcp.answers import Answer
from pit_fetch.mcp.calls import answer
from pit_fetch.mcp.prepare import prepare_server
from pit_fetch.mcp.tools import SOURCES, Shape, form_of_answers
from pit_fetch.runtime import Runtime

OnThread = Callable[[Callable[[threading.Event], Answer]], Awaitable[Answer]]


class AgentTool(NamedTuple):
    """A tool. ``schema`` is the JSON Schema of the arguments of ``call``, whose answer, also of a refusal, is text."""

    name: str
    description: str
    schema: Mapping[str, Any]
    call: Callable[..., Awaitable[str]]


def agent_tools(
    runtime: Runtime, pit: str, sources: Sequence[str] | None, shape: Shape, on_thread: OnThread
) -> list[AgentTool]:
    """Return the tools of these sources as of ``pit``. ``on_thread`` runs a call."""
    server = prepare_server(runtime, pit, None, sources, shape=shape)
    # A server says it in its instructions.
    described = {SOURCES: f" {form_of_answers(shape)}"}

    async def call(tool: str, /, **arguments: Any) -> str:
        answered = await on_thread(partial(answer, server, tool, arguments))
        return answered.text

    return [
        AgentTool(name, tool.description + described.get(name, ""), tool.schema, partial(call, name))
        for name, tool in server.tools.items()
    ]


def styled(tools: Sequence[AgentTool], style: str) -> list[Any]:
    """Return the tools in a framework's form. Raise UsageError for another style."""
    if style not in _STYLES:
        raise UsageError(Code.USAGE, text=f"style is one of {', '.join(_STYLES)}")
    return [_STYLES[style](tool) for tool in tools]


_STYLES: Mapping[str, Callable[[AgentTool], Any]] = {"plain": lambda tool: tool}
