"""The tools that a program gives a model: those of the MCP server, called in this process, in a framework's form."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.mcp.answers import Answer
from pit_fetch.mcp.calls import Server, answer
from pit_fetch.mcp.instant import Moment
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


class Declaration(dict[str, Any]):
    """A tool as a model's API takes it, a plain dict; ``name`` and ``call`` of :class:`AgentTool` are attributes."""

    def __init__(self, tool: AgentTool, content: Mapping[str, Any]) -> None:
        super().__init__(content)
        self.name, self.call = tool.name, tool.call


class EndingInstant(NamedTuple):
    """An instant that answers as long as ``check`` raises nothing."""

    moment: Moment
    check: Callable[[], object]

    @property
    def phrase(self) -> str:
        return self.moment.text

    def now(self) -> Moment:
        self.check()
        return self.moment


def server_of(
    runtime: Runtime, pit: str, sources: Sequence[str] | None, shape: Shape, check: Callable[[], object]
) -> Server:
    """Return a server of these sources as of ``pit``, as long as ``check`` raises nothing. Raise PitFetchError."""
    server = prepare_server(runtime, pit, None, sources, shape=shape)
    return server._replace(instant=EndingInstant(server.instant.now(), check))


def agent_tools(server: Server, on_thread: OnThread) -> list[AgentTool]:
    """Return the tools of a server. ``on_thread`` runs a call."""
    # A server says it in its instructions.
    described = {SOURCES: f" {form_of_answers(server.shape)}"}

    async def call(tool: str, /, **arguments: Any) -> str:
        answered = await on_thread(partial(answer, server, tool, arguments))
        return answered.text

    return [
        AgentTool(name, tool.description + described.get(name, ""), tool.schema, partial(call, name))
        for name, tool in server.tools.items()
    ]


def styled(tools: Sequence[AgentTool], style: str) -> list[Any]:
    """Return the tools in a framework's form. Raise UsageError for another style, ConfigError without the framework."""
    if style not in _STYLES:
        raise UsageError(Code.USAGE, text=f"style is one of {', '.join(_STYLES)}")
    return [_STYLES[style](tool) for tool in tools]


def _openai(tool: AgentTool) -> Declaration:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return Declaration(tool, {"type": "function", "function": function})


def _anthropic(tool: AgentTool) -> Declaration:
    content = {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
    return Declaration(tool, content)


def _langchain(tool: AgentTool) -> Any:
    make = _imported("langchain_core.tools", "langchain-core").StructuredTool

    def call_from_no_loop(**arguments: Any) -> str:
        import asyncio

        async def answered() -> str:
            return await tool.call(**arguments)

        return asyncio.run(answered())

    return make(
        name=tool.name,
        description=tool.description,
        args_schema=dict(tool.schema),
        func=call_from_no_loop,
        coroutine=tool.call,
    )


def _pydantic_ai(tool: AgentTool) -> Any:
    make = _imported("pydantic_ai", "pydantic-ai-slim").Tool.from_schema
    return make(tool.call, tool.name, tool.description, dict(tool.schema))


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package=package) from None


_STYLES: Mapping[str, Callable[[AgentTool], Any]] = {
    "plain": lambda tool: tool,
    "openai": _openai,
    "anthropic": _anthropic,
    "langchain": _langchain,
    "pydantic-ai": _pydantic_ai,
}
