"""What ships for Claude Code, and that its parts agree with each other."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.agents import split_frontmatter
from pit_fetch.support.bundled import gate, load

AGENTS = [name for name in bundle.files() if name.startswith("agents/")]
NEO4J_TOOLS = {f"mcp__neo4j-cypher__{name}" for name in ("read_neo4j_cypher", "write_neo4j_cypher", "get_neo4j_schema")}


def test_the_page_names_the_agents_that_the_guard_knows() -> None:
    page = Path(__file__, "../../../../docs/enforcement.md").resolve().read_text(encoding="utf-8")
    (listed,) = re.findall(r"in any session: the\s+subagents (.*?), including", page, re.DOTALL)
    assert set(re.findall(r"`([\w-]+)`", listed)) == load("pit_guard").ADAPTERS


def test_the_plugin_brings_the_adapters_and_not_neo4js_agents() -> None:
    """A list of agents in the manifest stands in the place of the folder (measured on Claude Code 2.1.329)."""
    plugin = json.loads(Path(__file__, "../../../../.claude-plugin/plugin.json").resolve().read_text(encoding="utf-8"))
    assert {Path(name).stem for name in plugin["agents"]} == load("pit_guard").ADAPTERS


def test_the_wiring_names_tools_and_withstands_failure() -> None:
    rows = {(row.event, row.matcher): row for row in bundle.wiring()}
    assert set(rows) == {
        ("PreToolUse", "Bash|Monitor"),
        ("PreToolUse", "ReadMcpResourceTool"),
        ("PreToolUse", "ListMcpResourcesTool"),
        *(("PreToolUse", tool) for tool in NEO4J_TOOLS),
        ("PostToolUse", "Bash"),
        ("PostToolUse", "mcp__neo4j-cypher__read_neo4j_cypher"),
        *(("PostToolUse", f"mcp__perplexity__perplexity_{name}") for name in ("search", "ask", "research", "reason")),
    }
    for (event, _), row in rows.items():
        assert row.script == {"PreToolUse": "pit_guard.py", "PostToolUse": "pit_gate.py"}[event]
        assert row.command["command"] == f'python3 -I -S "$CLAUDE_PROJECT_DIR/.claude/hooks/{row.script}"'
        assert (row.command["timeout"], row.command["onFailure"]) == (10, "block")
        assert gate.ALARM_SECONDS + gate.LOG_SECONDS < 10


def test_agents_and_settings_run_a_hook_by_the_same_command() -> None:
    """The client runs one command once, however many files name it."""
    for name in AGENTS:
        front, _ = split_frontmatter(bundle.files()[name].decode())
        commands = {entry["hooks"][0]["command"] for entries in front["hooks"].values() for entry in entries}
        assert commands == {row.command["command"] for row in bundle.wiring()}


def test_the_bundled_adapters_are_those_that_the_guard_knows() -> None:
    assert {Path(name).stem for name in AGENTS if not bundle.is_neo4j(name)} == load("pit_guard").ADAPTERS


@pytest.mark.parametrize("name", AGENTS)
def test_what_an_agent_loads_is_short_and_has_it_retype_nothing(name: str) -> None:
    """An agent reads its own file and its skills before each task, and types its answer after the gate."""
    text = bundle.files()[name].decode()
    skills = [bundle.files()[f"skills/{skill}/SKILL.md"].decode() for skill in split_frontmatter(text)[0]["skills"]]
    loaded = "\n".join((text, *skills))
    assert len(loaded.encode()) < (14_000 if bundle.is_neo4j(name) else 10_000)
    assert "--fields" in loaded
    assert not re.search(r"[Rr]eturn the envelope", loaded)
