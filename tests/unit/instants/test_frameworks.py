"""The page of frameworks: each snippet, with the real package, where that is installed (``make test-frameworks``)."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive_admin import sample
from pit_fetch.engine.real_runtime import real_runtime

PAGE = (Path(__file__).parents[3] / "docs" / "frameworks.md").read_text(encoding="utf-8")
SNIPPETS = dict(re.findall(r"<!-- run: (\S+) -->\n```python\n(.*?)```", PAGE, re.DOTALL))
[BEGINNING] = re.findall(r"```python\n(import pit_fetch\n.*?)```", PAGE, re.DOTALL)
QUESTION = {"concept": ["EarningsPerShareDiluted"], "cik": "9000001", "period": "annual", "fields": ["end", "value"]}


def _of_server(made: Mapping[str, Any]) -> str:
    from mcp.client import Client

    async def ask() -> str:
        async with Client(made["options"].mcp_servers["pit_fetch"]["instance"]) as client:
            answered = await client.call_tool("sec_facts", QUESTION)
            return str(getattr(answered.content[0], "text", ""))

    return asyncio.run(ask())


async def _awaited(waiting: Any) -> Any:
    return await waiting


# How each framework calls its first tool.
CALLS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "agents.tool": lambda made: asyncio.run(made["tools"][0].on_invoke_tool(None, json.dumps(QUESTION))),
    "langchain_core": lambda made: made["tools"][0].invoke(QUESTION),
    "pydantic_ai": lambda made: asyncio.run(made["tools"][0].function(**QUESTION)),
    "llama_index.core": lambda made: asyncio.run(made["tools"][0].acall(**QUESTION)).content,
    "smolagents": lambda made: made["tools"][0](**QUESTION),
    "inspect_ai": lambda made: asyncio.run(_awaited(made["tools"][0](**QUESTION))),
    "claude_agent_sdk": _of_server,
}


def test_each_snippet_is_called() -> None:
    assert CALLS.keys() == SNIPPETS.keys()


@pytest.mark.parametrize("package", CALLS)
def test_the_snippet_makes_a_tool_that_answers(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(package)
    for name in ("PIT_FETCH_CEILING", "PIT_FETCH_RECORD", "PIT_FETCH_ARCHIVE", "CLAUDECODE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    sample.make(os.fspath(tmp_path / "sample.db"), real_runtime())
    made: dict[str, Any] = {}
    exec(BEGINNING + SNIPPETS[package], made)
    assert json.loads(CALLS[package](made))["rows"] == [["2022-12-31", 3.6], ["2021-12-31", 2.95]]
