"""lint: each rule finds its fault, in agents of the user and in bundled ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.claude_code import bundle
from pit_fetch.claude_code.agents import split_frontmatter
from pit_fetch.cli import command
from pit_fetch.cli.command import CommandResult
from tests.unit.claude_code.fake_system import install_into

AGENTS = sorted(Path(name).stem for name in bundle.files() if name.startswith("agents/"))
AGENT = """---
name: neo4j-news
description: "An agent: one, of mine"  # a comment
tools: mcp__neo4j-cypher__read_neo4j_cypher
skills:
  - pit-envelope
  - evidence-standards
hooks:
  PreToolUse:
    - matcher: "mcp__neo4j-cypher__write_neo4j_cypher"
      hooks:
        - type: command
          command: "echo '{\\"decision\\":\\"block\\",\\"reason\\":\\"Neo4j writes forbidden\\"}'"
  PostToolUse:
    - matcher: "mcp__neo4j-cypher__read_neo4j_cypher"
      hooks:
        - type: command
          command: "python3 $CLAUDE_PROJECT_DIR/.claude/hooks/pit_gate.py"
---
Body.
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    install_into(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def shared_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a project for many tests, which put back what they change."""
    folder = tmp_path_factory.mktemp("linted")
    install_into(folder)
    return folder


def lint(folder: Path, *argv: str) -> CommandResult:
    return command.run(["lint", *argv], {}, str(folder))


def problems_with(project: Path, text: str, name: str = "neo4j-news") -> list[str]:
    """Return the problems of a project whose only changed agent is ``name``."""
    path = project / ".claude" / "agents" / f"{name}.md"
    before = path.read_text() if path.exists() else None
    path.write_text(text)
    answer = lint(project)
    path.unlink() if before is None else path.write_text(before)
    *problems, summary = answer.text.splitlines()
    assert answer.status == any(problem.startswith(("ERROR", "OPEN")) for problem in problems)
    assert summary.startswith(("FAIL", "OPEN") if answer.status else "PASS")
    assert name in summary
    return problems


def test_the_bundled_agents_pass(run: Callable[..., Any], shared_project: Path) -> None:
    done = run("lint", str(shared_project))
    summary = f"PASS: 0 errors, 0 warnings, {len(AGENTS)} agents checked ({', '.join(AGENTS)})\n"
    assert (done.code, done.out.decode(), done.err) == (0, summary, b"")


def test_wrong_arguments_are_refused(run: Callable[..., Any], tmp_path: Path) -> None:
    for argv in (("a", "b"), ("no/such",)):
        answer = lint(tmp_path, *argv)
        assert (answer.text, answer.status) == ("", 2)
        assert answer.complaint
    refused = run("lint", "--bogus")
    assert (refused.code, refused.out) == (2, b"")
    assert b"see pit_fetch lint --help" in refused.err


FAULTS = [
    ("R1", "  - evidence-standards\n", ""),
    ("R2", '"mcp__neo4j-cypher__read_neo4j_cypher"', '"*"'),
    ("R2", '"mcp__neo4j-cypher__read_neo4j_cypher"', '""'),
    ("R2", '"mcp__neo4j-cypher__read_neo4j_cypher"', '"mcp__neo4j-cypher__.*"'),
    ("R2", '    - matcher: "mcp__neo4j-cypher__read_neo4j_cypher"\n      hooks', "    - hooks"),
    ("R3", "  - pit-envelope\n", ""),
    ("R3", "pit_gate.py", "other_gate.py"),
    ("R3", "PostToolUse", "PostToolUseFailure"),
    ("R3", 'matcher: "mcp__neo4j-cypher__read_neo4j_cypher"', 'matcher: "Bash"'),
    ("R9", "tools: mcp__neo4j-cypher__read_neo4j_cypher\n", ""),
    ("R9", "tools: mcp", "tools: Read, mcp"),
    ("R9", "tools: mcp__neo4j-cypher__read_neo4j_cypher", "tools: [WebFetch]"),
    ("R9", "tools: mcp__neo4j-cypher__read_neo4j_cypher", "tools: []"),
    ("R10", "tools: mcp", "tools: Bash, mcp"),
    ("R10", "tools: mcp__neo4j-cypher__read_neo4j_cypher\n", ""),
    ("R3", "write_neo4j_cypher", "drop_neo4j_cypher"),
    ("R3", 'echo \'{\\"decision\\":\\"block\\"', 'true \'{\\"decision\\":\\"allow\\"'),
    ("R3", "name: neo4j-news", "name: [unclosed"),
    ("R3", "---\nBody", "Body"),
    ("R5", "Body.", "Run `scripts/missing.py` first."),
    ("R5", "Body.", "See .claude/cookbooks/data/missing.md."),
    ("R5", "hooks/pit_gate.py", "hooks/old/pit_gate.py"),
    ("R6", "$CLAUDE_PROJECT_DIR/", ""),
    ("R7", "  - pit-envelope\n", "  - pit-envelope\n  - filtered-data\n"),
]
FAULTS_OF_ADAPTERS = [
    ("R3", "pit_guard.py", "other.py"),
    ("R3", "PreToolUse", "PostToolUseFailure"),
    ("R3", "pit_gate.py", "other.py"),
    ("R9", "  - Bash\n", "  - Bash\n  - Read\n"),
    ("R9", "  - Bash\n", "  - Bash\n  - WebFetch\n"),
    ("R9", "tools:\n  - Bash\n", ""),
    ("R9", "tools:\n  - Bash\n", 'tools: "*"\n'),
    ("R3", "onFailure: block", "onFailure: continue"),
    ("R3", "timeout: 10", "timeout: 3"),
    ("R3", "type: command", "type: command\n          async: true"),
    ("R3", "type: command", "type: command\n          asyncRewake: true"),
    ("R3", "type: command", "type: command\n          once: true"),
    ("R3", "type: command", "type: command\n          if: Bash(x)"),
    ("R3", "type: command", "type: prompt"),
    ("R3", 'command: "python3', 'command: "true # python3'),
]


@pytest.mark.parametrize(
    ("name", "rule", "old", "new"),
    [
        *(("neo4j-news", *fault) for fault in FAULTS),
        *(("bz-news-api", *fault) for fault in FAULTS_OF_ADAPTERS),
    ],
)
def test_each_rule_finds_its_fault(shared_project: Path, name: str, rule: str, old: str, new: str) -> None:
    good = AGENT if name == "neo4j-news" else bundle.files()[f"agents/{name}.md"].decode()
    assert old in good
    problems = problems_with(shared_project, good.replace(old, new), name)
    assert any(problem.startswith(f"ERROR [{rule}] .claude/agents/{name}.md: ") for problem in problems)


def test_an_adapter_under_another_name_is_found(shared_project: Path) -> None:
    text = bundle.files()["agents/bz-news-api.md"].decode().replace("name: bz-news-api", "name: my-news")
    problems = problems_with(shared_project, text, "my-news")
    assert any(problem.startswith("ERROR [R10] .claude/agents/my-news.md: ") for problem in problems)


@pytest.mark.parametrize(
    ("cypher", "problem"),
    [
        ("MATCH (n:News) WHERE n.created <= $pit RETURN n", "exactly as it is printed"),
        ("MATCH (n) DETACH DELETE n", "no word of reading"),
        ("MATCH (n) RETURN n", ""),
        ("RETURN $pit AS mine", ""),
    ],
)
def test_cypher_that_the_guard_would_refuse_is_a_warning(project: Path, cypher: str, problem: str) -> None:
    own = project / ".claude" / "hooks" / "cypher"
    own.mkdir()
    (own / "mine.cypher").write_text("RETURN $pit AS mine")
    problems = problems_with(project, AGENT + f"\n## Mine\n\n```cypher\n{cypher}\n```\n")
    assert len(problems) == bool(problem)
    assert all("WARN  [R8]" in line and "'Mine'" in line and problem in line for line in problems)


def test_a_skill_is_checked_with_its_agent_and_a_missing_one_is_a_warning(project: Path) -> None:
    skill = project / ".claude" / "skills" / "pit-envelope" / "SKILL.md"
    skill.write_text(skill.read_text() + "\nSee scripts/gone.py\n")
    (project / "scripts").mkdir()
    problems = problems_with(project, AGENT.replace("  - pit-envelope", "  - pit-envelope\n  - a:b\n  - nowhere"))
    assert "ERROR [R5] .claude/skills/pit-envelope/SKILL.md: scripts/gone.py does not exist" in problems
    assert [problem for problem in problems if problem.startswith("WARN")] == [
        "WARN  [R5] .claude/agents/neo4j-news.md: skill nowhere is not in this project: the client skips it silently"
    ]
    (project / "scripts" / "gone.py").touch()
    assert lint(project).status == 0


@pytest.mark.parametrize(
    ("front", "named"),
    [
        ("tools: mcp__pit_fetch__fred, mcp__graph__read, Read, TodoWrite", ""),
        ("tools: mcp__pit_fetch__fred, WebSearch", "WebSearch answers for today"),
        ("tools: mcp__pit_fetch__fred, mcp__alphavantage__NEWS", "mcp__alphavantage__NEWS is not known"),
        ("tools: mcp__pit_fetch\nmcpServers: raw", "the server raw may answer for today"),
        ("tools: Read\nmcpServers:\n  - own:\n      command: uvx\n", "the server own may answer for today"),
        ("", "any command can be run"),
    ],
)
def test_a_way_that_doctor_calls_open_is_no_pass(tmp_path: Path, front: str, named: str) -> None:
    agents = tmp_path / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "analyst.md").write_text(f"---\nname: analyst\n{front}\n---\nAsk.\n")
    gate = {"command": "pit_fetch", "args": ["mcp-gate", "--tools", "x.toml", "--", "y"]}
    servers = {"graph": gate, "raw": {"command": "uvx"}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    answer = lint(tmp_path)
    assert answer.status == bool(named)
    assert answer.text.splitlines()[-1].startswith("OPEN: " if named else "PASS: ")
    assert (f"OPEN  [R11] .claude/agents/analyst.md: {named}" in answer.text) == bool(named)
    assert lint(tmp_path, "--trust", "analyst").status == 0


def test_a_session_for_pit_fetch_alone_closes_commands(project: Path) -> None:
    (project / ".claude" / "agents" / "helper.md").write_text("---\nname: helper\ntools: Bash\n---\nHelp.\n")
    assert lint(project).status == 1
    assert command.run(["lint"], {"PIT_FETCH_WRAPPER_ONLY": "1"}, str(project)).status == 0


# The frontmatter of agents and skills is read as YAML reads it, or refused.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb:\n- x\n- y\n", {"a": "1", "b": ["x", "y"]}),
        ("a: 'it''s'\nb: \"q\\\"#\" # c\nc: x # d\n", {"a": "it's", "b": 'q"#', "c": "x"}),
        ("a: >\n  two\n  lines\nb: [p, 'q']\n", {"a": "two lines\n", "b": ["p", "q"]}),
        (
            "a:\n  b:\n    - c: 1\n      d:\n        - e\n    - c: 2\n",
            {"a": {"b": [{"c": "1", "d": ["e"]}, {"c": "2"}]}},
        ),
        ("a: http://x/y?z=1#f\nb:\n", {"a": "http://x/y?z=1#f", "b": ""}),
        ("a: one\n  two\n", {"a": "one two"}),
    ],
)
def test_frontmatter_is_read_as_yaml_reads_it(text: str, expected: dict[str, Any]) -> None:
    assert split_frontmatter(f"---\n{text}---\nbody") == (expected, "body")


@pytest.mark.parametrize(
    "text",
    [
        *("a: 1\na: 2\n", "a: [x\n", "\ta: 1\n", "a: &x\n", "a: !x y\n", "a: &x 1\nb: *x\n", 'a: "x\n', "- a\n"),
        *("a\n", " a: 1\nb: 2\n"),
    ],
)
def test_frontmatter_that_could_be_read_otherwise_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"line|mapping"):
        split_frontmatter(f"---\n{text}---\n")
