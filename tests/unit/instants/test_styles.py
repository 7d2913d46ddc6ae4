"""The tools of an instant in the forms of frameworks, and its hooks and its server for the Claude Agent SDK."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pit_fetch
from pit_fetch.archive_admin import sample
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.errors import UsageError
from pit_fetch.instants.as_of import AsOf

PIT = "2024-02-15T16:00:00[America/New_York]"
QUESTION = {"concept": ["EarningsPerShareDiluted"], "cik": "9000001", "period": "annual", "fields": ["end", "value"]}
ROWS = [["2022-12-31", 3.6], ["2021-12-31", 2.95]]


@pytest.fixture
def then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AsOf]:
    for name in ("PIT_FETCH_CEILING", "PIT_FETCH_RECORD", "PIT_FETCH_ARCHIVE", "CLAUDECODE"):
        monkeypatch.delenv(name, raising=False)
    archive = tmp_path / "sample.db"
    sample.make(os.fspath(archive), real_runtime())
    with pit_fetch.as_of(PIT, archive=archive, offline=True, sources="sec_facts") as made:
        yield made


def rows(text: str) -> list[list[Any]]:
    answered: list[list[Any]] = json.loads(text)["rows"]
    return answered


@pytest.mark.parametrize(
    ("style", "keys", "place"),
    [
        ("openai", {"name", "description", "parameters"}, "function"),
        ("anthropic", {"name", "description", "input_schema"}, ""),
    ],
)
def test_what_an_api_takes_is_a_plain_dict_that_can_be_called(
    then: AsOf, style: Any, keys: set[str], place: str
) -> None:
    tool = then.tools(style=style)[0]
    content = json.loads(json.dumps(tool))
    if place:
        assert (content.keys(), content["type"]) == ({"type", place}, place)
        content = content[place]
    assert (content.keys(), content["name"]) == (keys, tool.name)
    assert rows(asyncio.run(tool.call(**QUESTION))) == ROWS


def test_langchain_has_a_structured_tool(then: AsOf) -> None:
    pytest.importorskip("langchain_core")
    tool = then.tools(style="langchain")[0]
    assert tool.args.keys() >= QUESTION.keys()
    assert rows(tool.invoke(QUESTION)) == ROWS
    assert rows(asyncio.run(tool.ainvoke(QUESTION))) == ROWS


def test_pydantic_ai_has_a_tool_that_its_agent_calls(then: AsOf) -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    messages = pytest.importorskip("pydantic_ai.messages")
    function = pytest.importorskip("pydantic_ai.models.function")

    def model(said: Any, info: Any) -> Any:
        returned = [part for message in said for part in message.parts if part.part_kind == "tool-return"]
        if returned:
            return messages.ModelResponse([messages.TextPart(returned[0].content)])
        return messages.ModelResponse([messages.ToolCallPart(info.function_tools[0].name, QUESTION)])

    agent = pydantic_ai.Agent(function.FunctionModel(model), tools=then.tools(style="pydantic-ai"))
    assert rows(asyncio.run(agent.run("What were the earnings?")).output) == ROWS


def test_the_hooks_have_the_instant_as_their_ceiling(then: AsOf) -> None:
    pytest.importorskip("claude_agent_sdk")
    guard = then.hooks()["PreToolUse"][0].hooks[0]
    late = {"hook_event_name": "PreToolUse", "tool_name": "Bash"}
    command = "pit_fetch --source sec_facts --pit 2024-02-16T16:00:00-05:00 cik=9000001 concept=Assets"
    answer = asyncio.run(guard({**late, "tool_input": {"command": command}}, "toolu_1", {"signal": None}))
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert then.variables["PIT_FETCH_CEILING"] == PIT


def test_the_server_in_the_process_answers_until_its_block_is_left(then: AsOf) -> None:
    from mcp.client import Client

    server = then.mcp_server(["sec_facts"])

    async def ask() -> Any:
        async with Client(server["instance"]) as client:
            first = await client.call_tool("sec_facts", QUESTION)
            await then.__aexit__()
            return first, await client.call_tool("sec_facts", QUESTION)

    first, second = asyncio.run(ask())
    assert (server["type"], rows(first.content[0].text)) == ("sdk", ROWS)
    assert (second.is_error, "has ended" in second.content[0].text) == (True, True)
    with pytest.raises(UsageError, match="has ended"):
        then.mcp_server()
