"""docs/mcp.md: what it shows is what the program takes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.claude_code.mcp_entry import is_ours
from pit_fetch.cli.command import run
from pit_fetch.errors import UsageError
from pit_fetch.mcp import mapping
from pit_fetch.mcp.instant import Instant
from pit_fetch.mcp.tools import SOURCES
from tests.demo_source import PIT_TEXT
from tests.unit.mcp.test_mapping import READY
from tests.unit.mcp.test_tools import CHOOSING, TOOLS

PAGE = (Path(__file__).parents[3] / "docs" / "mcp.md").read_text()
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL)


def test_its_mapping_is_read_and_each_key_is_described() -> None:
    [text] = [body for kind, body in BLOCKS if kind == "toml"]
    assert [mapped.name for mapped in mapping.parse_mapping(text).values()] == ["search_news"]
    table = PAGE[PAGE.index("| key of a table |") : PAGE.index("Each result takes")]
    with pytest.raises(UsageError, match="none of") as refused:
        mapping.parse_mapping("[tools.a]\nunknown = 1")
    keys = str(refused.value).rpartition("none of ")[2].split(", ")
    assert [key for key in keys if f"`{key}" not in table] == []


def test_its_entry_starts_the_server() -> None:
    [text] = [body for kind, body in BLOCKS if kind == "json"]
    entry = json.loads(text)["mcpServers"]["pit_fetch"]
    assert is_ours([entry["command"], *entry["args"]])


def test_its_harness_moves_the_instant(tmp_path: Path) -> None:
    [text] = [body for kind, body in BLOCKS if kind == "python"]
    assert "/run/user/1000/instant" in text
    file, seen = tmp_path / "instant", list[str]()
    scope: dict[str, Any] = {"ask_the_agent": lambda: seen.append(Instant("", str(file), {}).now().text)}
    exec(compile(text.replace("/run/user/1000/instant", str(file)), "docs/mcp.md", "exec"), scope)
    assert seen == [f"2024-02-{day}T16:00:00-05:00" for day in (13, 14, 15)]
    assert PIT_TEXT in seen


def test_its_commands_and_names_are_those_of_the_program() -> None:
    commands = re.findall(r"^pit_fetch (mcp(?:-gate)?|init --mcp|doctor)([^\n]*)", PAGE, re.MULTILINE)
    helps = {name: run([name, "--help"], None).text for name in ("mcp", "mcp-gate")}
    for name, words in commands:
        flags = re.findall(r"--[a-z-]+", words.partition(" -- ")[0])
        assert [flag for flag in flags if flag not in helps.get(name, words)] == []
    assert all(f"`{name}`" in PAGE for name in (SOURCES, *CHOOSING, *READY))
    assert {"bz_news_api", "sec_facts"} <= set(TOOLS)
