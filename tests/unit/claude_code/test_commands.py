"""init, lint and doctor: what they write, what they find, and that they say how to mend it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.claude_code import bundle, client_settings, doctor, frontmatter, lint
from pit_fetch.cli import command
from pit_fetch.cli.command import CommandResult
from pit_fetch.support.bundled import gate
from tests.unit.claude_code.fake_system import PATH, install_into, machine

AGENTS = [name for name in bundle.files() if name.startswith("agents/")]
WORKS = ("agents/alphavantage.md", "skills/pit-envelope/SKILL.md", "hooks/pit_gate.py", "hooks/pit_guard.py")


def answer(folder: Path, *argv: str, **environ: str) -> CommandResult:
    bare = {"PATH": PATH, "HOME": str(folder / "home"), **environ}
    return command.run(argv, bare, str(folder))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    install_into(folder)
    return folder


@pytest.fixture(scope="module")
def linted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for many tests: they put back what they change."""
    folder = tmp_path_factory.mktemp("linted")
    install_into(folder)
    return folder


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# What ships.


def test_the_wiring_names_tools_and_withstands_failure() -> None:
    rows = {(row.event, row.matcher): row for row in bundle.wiring()}
    assert set(rows) == {
        ("PreToolUse", "Bash|Monitor"),
        ("PreToolUse", "ReadMcpResourceTool"),
        *(
            ("PreToolUse", f"mcp__neo4j-cypher__{name}")
            for name in ("write_neo4j_cypher", "read_neo4j_cypher", "get_neo4j_schema")
        ),
        ("PostToolUse", "Bash"),
        ("PostToolUse", "mcp__neo4j-cypher__read_neo4j_cypher"),
        *(("PostToolUse", f"mcp__perplexity__perplexity_{name}") for name in ("search", "ask", "research", "reason")),
    }
    for (event, _), row in rows.items():
        assert row.script == {"PreToolUse": "pit_guard.py", "PostToolUse": "pit_gate.py"}[event]
        assert row.command["command"] == f'python3 -I -S "$CLAUDE_PROJECT_DIR/.claude/hooks/{row.script}"'
        assert (row.command["timeout"], row.command["onFailure"]) == (10, "block")
        assert gate.ALARM_SECONDS + gate.LOG_SECONDS < 10


def test_an_agent_and_the_settings_run_a_hook_by_the_same_words() -> None:
    """The client runs one command once, however many places name it."""
    for name in AGENTS:
        front, _ = frontmatter.split(bundle.files()[name].decode())
        said = {entry["hooks"][0]["command"] for entries in front["hooks"].values() for entry in entries}
        assert said == {row.command["command"] for row in bundle.wiring()}


def test_the_bundled_agents_are_those_that_the_guard_rules() -> None:
    others = {Path(name).stem for name in AGENTS if not Path(name).match("neo4j-*")}
    assert others == doctor.guard.ADAPTERS


def test_what_neo4j_needs_is_named_in_one_list() -> None:
    """And nothing else needs it."""
    named = {name for name in bundle.files() if bundle.is_neo4j(name)}
    assert {Path(name).stem for name in named if name in AGENTS} == {name for name in lint.PIT_DONE if "neo4j" in name}
    skills = {
        agent: set(frontmatter.split(bundle.files()[agent].decode())[0]["skills"])
        - {"pit-envelope", "evidence-standards"}
        for agent in AGENTS
    }
    of_neo4j = {Path(name).parent.name for name in named if name.startswith("skills/")}
    assert of_neo4j == {skill for agent, needed in skills.items() if agent in named for skill in needed}
    assert not of_neo4j & {skill for agent, needed in skills.items() if agent not in named for skill in needed}
    assert {row.matcher for row in bundle.wiring() if bundle.is_neo4j(row.matcher)} == {
        f"mcp__neo4j-cypher__{tool}" for tool in ("read_neo4j_cypher", "write_neo4j_cypher", "get_neo4j_schema")
    }


# init


def test_init_writes_a_project_once(tmp_path: Path) -> None:
    dry = answer(tmp_path, "init", "--dry-run")
    assert dry.text.count("would create") == len(bundle.files()) + 1
    assert snapshot(tmp_path) == {}
    assert answer(tmp_path, "init").text.count("created") == len(bundle.files()) + 1
    before = snapshot(tmp_path)
    assert {f".claude/{name}" for name in WORKS} < set(before)
    assert os.access(tmp_path / ".claude" / "hooks" / "pit_gate.py", os.X_OK)
    again = answer(tmp_path, "init")
    assert (again.text.count("unchanged"), again.status) == (len(bundle.files()) + 1, 0)
    assert snapshot(tmp_path) == before


def test_init_merges_settings_and_keeps_what_is_there(tmp_path: Path) -> None:
    own = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo"}]}
    wired = {"matcher": "Bash", "hooks": [{"type": "command", "command": "python3 old/pit_gate.py", "timeout": 30}]}
    settings = {"model": "opus", "hooks": {"Stop": [own], "PostToolUse": [own, wired]}, "permissions": {"allow": ["x"]}}
    (tmp_path / ".claude").mkdir()
    path = tmp_path / ".claude" / "settings.json"
    path.write_text(json.dumps(settings))
    assert "merged" in answer(tmp_path, "init").text
    merged = json.loads(path.read_text())
    assert list(merged) == ["model", "hooks", "permissions"]
    assert merged["hooks"]["Stop"] == [own]
    assert merged["hooks"]["PostToolUse"][:2] == [own, wired]
    assert [entry["matcher"] for entry in merged["hooks"]["PostToolUse"]].count("Bash") == 2
    assert len(merged["hooks"]["PreToolUse"]) == sum(row.event == "PreToolUse" for row in bundle.wiring())
    before = path.read_bytes()
    assert "merged" not in answer(tmp_path, "init").text
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hooks": 5}', '{"hooks": {"PreToolUse": [7]}}'])
def test_init_leaves_settings_that_it_cannot_read(tmp_path: Path, text: str) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(text)
    before = snapshot(tmp_path)
    done = answer(tmp_path, "init")
    assert (done.text, done.status) == ("", 2)
    assert "nothing was changed" in done.complaint
    assert snapshot(tmp_path) == before


def test_init_keeps_a_file_that_differs_unless_forced(project: Path) -> None:
    agent = project / ".claude" / "agents" / "alphavantage.md"
    agent.write_text("mine")
    kept = answer(project, "init")
    assert (kept.status, agent.read_text()) == (1, "mine")
    assert "KEPT" in kept.text
    assert "--force" in kept.text
    assert answer(project, "init", "--force").status == 0
    assert agent.read_bytes() == bundle.files()["agents/alphavantage.md"]


def test_init_writes_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real = tmp_path / "dotfiles" / "settings.json"
    real.write_text("{}")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").symlink_to(real)
    answer(tmp_path, "init")
    assert (tmp_path / ".claude" / "settings.json").is_symlink()
    assert "hooks" in json.loads(real.read_text())


@pytest.mark.parametrize("argv", [("init", "no/such"), ("init", "--bogus"), ("lint", "a", "b"), ("lint", "no/such")])
def test_a_command_that_cannot_be_carried_out_is_refused(tmp_path: Path, argv: tuple[str, ...]) -> None:
    done = answer(tmp_path, *argv)
    assert (done.text, done.status) == ("", 2)
    assert done.complaint


@pytest.mark.parametrize("name", ["init", "lint", "doctor"])
def test_each_command_has_help(tmp_path: Path, name: str) -> None:
    done = answer(tmp_path, name, "--help")
    assert done.status == 0
    assert done.text.startswith(f"usage: pit_fetch {name}")


def test_the_command_line_reaches_them(run: Callable[..., Any], project: Path) -> None:
    done = run("lint", str(project))
    assert (done.code, done.err) == (0, b"")
    assert done.out.startswith(b"PASS")
    refused = run("lint", "--bogus")
    assert (refused.code, refused.out) == (2, b"")
    assert b"see pit_fetch lint --help" in refused.err


# lint

AGENT = """---
name: {name}
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
          command: "echo '{{\\"decision\\":\\"block\\",\\"reason\\":\\"Neo4j writes forbidden\\"}}'"
  PostToolUse:
    - matcher: "mcp__neo4j-cypher__read_neo4j_cypher"
      hooks:
        - type: command
          command: "python3 $CLAUDE_PROJECT_DIR/.claude/hooks/pit_gate.py"
---
Body.
"""


def lint_one(project: Path, text: str, name: str = "neo4j-news") -> tuple[int, list[str]]:
    """The exit status and the problems of a project whose only changed agent is ``name``."""
    path = project / ".claude" / "agents" / f"{name}.md"
    before = path.read_text() if path.exists() else None
    path.write_text(text)
    done = answer(project, "lint")
    path.unlink() if before is None else path.write_text(before)
    *problems, summary = done.text.splitlines()
    assert summary.startswith("FAIL" if done.status else "PASS")
    assert name in summary
    return done.status, problems


def test_the_bundled_agents_pass(linted: Path) -> None:
    done = answer(linted, "lint")
    names = sorted(Path(name).stem for name in AGENTS)
    assert done.text == f"PASS: 0 errors, 0 warnings, {len(names)} agents checked ({', '.join(names)})\n"
    assert done.status == 0


def test_an_agent_of_the_template_passes(linted: Path) -> None:
    assert lint_one(linted, AGENT.format(name="neo4j-news")) == (0, [])


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
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
    ],
)
def test_each_rule_finds_its_fault(linted: Path, rule: str, old: str, new: str) -> None:
    good = AGENT.format(name="neo4j-news")
    assert old in good
    status, problems = lint_one(linted, good.replace(old, new))
    assert status == 1
    assert any(line.startswith(f"ERROR [{rule}] .claude/agents/neo4j-news.md: ") for line in problems)


@pytest.mark.parametrize(
    ("cypher", "problem"),
    [
        ("MATCH (n:News) WHERE n.created <= $pit RETURN n", "exactly as it is printed"),
        ("MATCH (n) DETACH DELETE n", "writes are forbidden"),
        ("MATCH (n) RETURN n", ""),
        ("RETURN $pit AS mine", ""),
    ],
)
def test_cypher_that_the_guard_would_refuse_is_a_warning(project: Path, cypher: str, problem: str) -> None:
    own = project / ".claude" / "hooks" / "cypher"
    own.mkdir()
    (own / "mine.cypher").write_text("RETURN $pit AS mine")
    text = AGENT.format(name="neo4j-news") + f"\n## Mine\n\n```cypher\n{cypher}\n```\n"
    status, problems = lint_one(project, text)
    assert status == 0
    assert len(problems) == bool(problem)
    assert all("WARN  [R8]" in line and "'Mine'" in line and problem in line for line in problems)


def test_a_skill_is_checked_with_its_agent_and_a_missing_one_is_a_warning(project: Path) -> None:
    skill = project / ".claude" / "skills" / "pit-envelope" / "SKILL.md"
    skill.write_text(skill.read_text() + "\nSee scripts/gone.py\n")
    (project / "scripts").mkdir()
    text = AGENT.format(name="neo4j-news").replace("  - pit-envelope", "  - pit-envelope\n  - a:b\n  - nowhere")
    status, problems = lint_one(project, text)
    assert status == 1
    assert "ERROR [R5] .claude/skills/pit-envelope/SKILL.md: scripts/gone.py does not exist" in problems
    assert [line for line in problems if line.startswith("WARN")] == [
        "WARN  [R5] .claude/agents/neo4j-news.md: skill nowhere is not in this project: the client skips it silently"
    ]
    (project / "scripts" / "gone.py").touch()
    assert answer(project, "lint").status == 0


def test_other_agents_are_left_alone_and_data_agents_are_found_by_what_they_use(project: Path) -> None:
    agents = project / ".claude" / "agents"
    (agents / "writer.md").write_text("---\nname: writer\nhooks: {}\n---\n")
    (agents / "notes.md").write_text("no frontmatter")
    (agents / "mine.md").write_text("---\nname: mine\nskills: pit-envelope, evidence-standards\n---\n")
    names = sorted([*(Path(name).stem for name in AGENTS), "mine"])
    assert f"{len(names)} agents checked ({', '.join(names)})" in answer(project, "lint").text


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
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
    ],
)
def test_a_bundled_adapter_that_was_widened_is_found(linted: Path, rule: str, old: str, new: str) -> None:
    good = (linted / ".claude" / "agents" / "bz-news-api.md").read_text()
    assert old in good
    status, problems = lint_one(linted, good.replace(old, new), "bz-news-api")
    assert status == 1
    assert any(line.startswith(f"ERROR [{rule}] .claude/agents/bz-news-api.md: ") for line in problems)


def test_an_agent_in_a_subfolder_is_checked(project: Path) -> None:
    agents = project / ".claude" / "agents"
    (agents / "more").mkdir()
    widened = (agents / "fred.md").read_text().replace("  - Bash\n", "  - Bash\n  - Read\n", 1)
    (agents / "more" / "fred.md").write_text(widened)
    text = answer(project, "lint").text
    assert "ERROR [R9] .claude/agents/more/fred.md" in text
    assert "ERROR [R10] .claude/agents/more/fred.md: .claude/agents/fred.md is an agent of this name, too" in text


def test_an_adapter_under_another_name_is_found(linted: Path) -> None:
    good = (linted / ".claude" / "agents" / "bz-news-api.md").read_text()
    status, problems = lint_one(linted, good.replace("name: bz-news-api", "name: my-news"), "my-news")
    assert status == 1
    assert any(line.startswith("ERROR [R10] .claude/agents/my-news.md: ") for line in problems)


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
    assert frontmatter.split(f"---\n{text}---\nbody") == (expected, "body")


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\na: 2\n",
        "a: [x\n",
        "\ta: 1\n",
        "a: &x\n",
        "a: !x y\n",
        "a: &x 1\nb: *x\n",
        'a: "x\n',
        "- a\n",
        "a\n",
        " a: 1\nb: 2\n",
    ],
)
def test_frontmatter_that_could_be_read_otherwise_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"line|mapping"):
        frontmatter.split(f"---\n{text}---\n")


# doctor


def diagnose(folder: Path, *argv: str, environ: Mapping[str, str] = {}, **replaced: Any) -> CommandResult:
    """What ``doctor`` says of a folder, on a machine of which parts are replaced."""
    root = folder.parent if folder.name == "project" else folder
    bare = {"PATH": PATH, "HOME": str(folder / "home"), **environ}
    return doctor.run(argv, bare, str(folder), machine(root, **replaced))


def examine(folder: Path, replaced: Mapping[str, Any] = {}, **environ: str) -> dict[str, list[str]]:
    """The messages of the report by level; every finding but "ok" and a missing client must name a fix."""
    done = diagnose(folder, "--json", environ=environ, **replaced)
    report = json.loads(done.text)
    assert (report["enforced"], done.status) == (False, 1)  # files alone never show that it is
    levels: dict[str, list[str]] = {"ok": [], "note": [], "warn": [], "fail": []}
    for finding in report["findings"]:
        levels[finding["level"]].append(f"{finding['check']}: {finding['message']}")
        assert finding["fix"] or finding["level"] in ("ok", "note")
    assert report["verdict"].startswith("The PIT is NOT" if levels["fail"] else "Wired, not proved")
    return levels


def settings_of(project: Path) -> Path:
    return project / ".claude" / "settings.json"


def rewire(project: Path, old: str, new: str) -> None:
    text = settings_of(project).read_text()
    assert old in text
    settings_of(project).write_text(text.replace(old, new))


def test_a_project_after_init_is_wired(project: Path) -> None:
    found = examine(project, PIT_FETCH_CEILING="2024-02-15T16:00:00-05:00", PIT_FETCH_WRAPPER_ONLY="1")
    assert found["fail"] == []
    assert any("pit_gate.py" in line and "withholds a planted leak" in line for line in found["ok"])
    assert any("pit_guard.py" in line and "refuses a compound command" in line for line in found["ok"])
    assert any(line.startswith("ceiling") for line in found["ok"])
    text = diagnose(project).text
    assert "Wired, not proved" in text
    assert "The PIT is enforced" not in text


def test_a_project_without_anything_does_not_hold(tmp_path: Path) -> None:
    found = examine(tmp_path)
    assert found["fail"] == [
        "wiring: pit_guard.py at PreToolUse on Bash|Monitor is not wired",
        "wiring: pit_gate.py at PostToolUse on Bash is not wired",
    ]
    assert "FAIL  wiring" in diagnose(tmp_path).text


def test_an_installed_plugins_wiring_counts_until_it_is_switched_off(tmp_path: Path) -> None:
    plugin = tmp_path / "cache" / "pit-fetch"
    for name, content in bundle.files().items():
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
        (plugin / name).write_bytes(content)
    hooks: dict[str, Any] = {}
    for row in bundle.wiring():
        command = row.command["command"].replace(bundle.PROJECT_HOOKS, "${CLAUDE_PLUGIN_ROOT}/hooks")
        hooks.setdefault(row.event, []).append({"matcher": row.matcher, "hooks": [{**row.command, "command": command}]})
    (plugin / "hooks" / "hooks.json").write_text(json.dumps({"hooks": hooks}))
    config = tmp_path / "home" / ".claude"
    (config / "plugins").mkdir(parents=True)
    register = {"plugins": {"pit-fetch@somewhere": [{"installPath": str(plugin)}]}}
    (config / "plugins" / "installed_plugins.json").write_text(json.dumps(register))
    assert any("is not wired" in line for line in examine(tmp_path)["fail"])
    (config / "settings.json").write_text(json.dumps({"enabledPlugins": {"pit-fetch@somewhere": True}}))
    assert examine(tmp_path)["fail"] == []
    (config / "settings.json").write_text(json.dumps({"enabledPlugins": {"pit-fetch@somewhere": False}}))
    assert any("is not wired" in line for line in examine(tmp_path)["fail"])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"matcher": "Bash"', '"matcher": "bash"', "is not wired"),
        ('"matcher": "Bash"', '"matcher": "Bash(python3:*)"', "is not wired"),
        ('"matcher": "Bash|Monitor"', '"matcher": "Bash"', "is not wired"),
        ('"PostToolUse"', '"PostToolUseFailure"', "pit_gate.py at PostToolUse on Bash is not wired"),
        ('"timeout": 10', '"timeout": "ten"', "a timeout that is not a positive number: the client drops its hooks"),
        ('"timeout": 10', '"timeout": 0', "a timeout that is not a positive number: the client drops its hooks"),
        ('"timeout": 10', '"asyncRewake": true', "has asyncRewake"),
        ('"timeout": 10', '"once": true, "args": ["x"]', "has args, once"),
        ('"type": "command"', '"type": "prompt", "prompt": "x"', "is not wired"),
        ('"onFailure": "block"', '"onFailure": "deny"', "an onFailure that is neither block nor continue"),
        ('"timeout": 10', '"if": "Bash(pit_fetch *)"', "has an if filter"),
        ('"timeout": 10', '"async": true', "is async"),
        ("hooks/pit_gate.py", "hooks/gone/pit_gate.py", "does not do this: withholds a planted leak"),
        ('{\n  "hooks"', '{\n  "disableAllHooks": true,\n  "hooks"', "sets disableAllHooks"),
        ('{\n  "hooks"', '{\n  "hooks', "is not a JSON object"),
    ],
)
def test_wiring_that_does_not_enforce_is_found(project: Path, old: str, new: str, expected: str) -> None:
    rewire(project, old, new)
    assert any(expected in line for line in examine(project)["fail"])


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('"onFailure": "block"', '"onFailure": "continue"', "lacks onFailure"),
        ('"timeout": 10', '"timeout": 5', "has timeout 5"),
        ("mcp__perplexity__perplexity_ask", "mcp__perplexity__perplexity_asks", "perplexity_ask is not wired"),
    ],
)
def test_wiring_that_may_not_enforce_is_a_warning(project: Path, old: str, new: str, expected: str) -> None:
    rewire(project, old, new)
    found = examine(project)
    assert found["fail"] == []
    assert any(expected in line for line in found["warn"])


@pytest.mark.parametrize(
    ("name", "settings", "level"),
    [
        ("neo4j-cypher", {"command": "uvx", "args": ["mcp-neo4j-cypher@0.5.3"]}, "ok"),
        ("neo4j-cypher", {"url": "http://127.0.0.1:8000/mcp/"}, "ok"),
        ("graph", {"command": "uvx", "args": ["mcp-neo4j-cypher@0.5.3"]}, "fail"),
        ("neo4j-cypher", {"command": "mcp-neo4j-cypher", "args": ["--namespace", "graph"]}, "fail"),
        ("neo4j-cypher", {"command": "mcp-neo4j-cypher", "args": ["--namespace=graph"]}, "fail"),
        ("neo4j-cypher", {"command": "mcp-neo4j-cypher", "env": {"NEO4J_NAMESPACE": "graph-"}}, "fail"),
        ("graph", {"command": "docker", "args": ["run", "-i", "mcp/neo4j-cypher:latest"]}, "fail"),
        ("neo4j-cypher", {"command": "docker", "args": ["run", "-i", "mcp/neo4j-cypher"]}, "ok"),
        ("graph", {"command": "python3", "args": ["-m", "mcp_neo4j_cypher"]}, "fail"),
        ("graph", {"type": "http", "url": "https://Neo4j.example.com/mcp/"}, "fail"),
        ("cypher", {"url": "http://127.0.0.1:8000/mcp/"}, "fail"),
        ("files", {"url": "http://127.0.0.1:8000/mcp/"}, "note"),
        ("files", {"command": "mcp-files"}, "note"),
    ],
)
def test_an_mcp_server_whose_tools_no_matcher_knows_is_found(
    project: Path, name: str, settings: dict[str, Any], level: str
) -> None:
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {name: settings}}))
    found = examine(project)
    assert any(line.startswith("neo4j:") for line in found[level])
    assert (found["fail"] == []) == (level != "fail")


def test_an_mcp_server_is_found_wherever_it_is_configured(project: Path) -> None:
    home = project / "home"
    home.mkdir()
    servers = {"mcpServers": {"graph": {"command": "mcp-neo4j-cypher"}}}
    for path, content in (
        (project / ".mcp.json", servers),
        (home / ".claude.json", servers),
        (home / ".claude.json", {"projects": {str(project.resolve()): servers}}),
    ):
        path.write_text(json.dumps(content))
        assert any("server graph of" in line for line in examine(project)["fail"])
        path.unlink()
    (project / ".mcp.json").write_text("{")
    assert examine(project)["fail"] == []


@pytest.mark.parametrize(
    ("event", "tool", "before"),
    [
        ("PreToolUse", "mcp__neo4j-cypher__read_neo4j_cypher", "env -u PIT_FETCH_CEILING "),
        ("PreToolUse", "mcp__neo4j-cypher__get_neo4j_schema", "PIT_FETCH_CEILING=2030-01-01T00:00:00Z true; : "),
        ("PreToolUse", "ReadMcpResourceTool", "env -i PATH=/usr/bin:/bin "),
        ("PostToolUse", "mcp__neo4j-cypher__read_neo4j_cypher", "PIT_FETCH_CEILING=2030-01-01T00:00:00Z "),
        ("PostToolUse", "mcp__perplexity__perplexity_ask", "env -u PIT_FETCH_CEILING "),
    ],
)
def test_a_hook_that_is_run_otherwise_for_one_tool_is_found(project: Path, event: str, tool: str, before: str) -> None:
    settings = json.loads(settings_of(project).read_text())
    for entry in settings["hooks"][event]:
        if entry["matcher"] == tool:
            entry["hooks"][0]["command"] = before + entry["hooks"][0]["command"]
    settings_of(project).write_text(json.dumps(settings))
    found = examine(project, PIT_FETCH_CEILING="2024-02-15T16:00:00-05:00")["fail"]
    assert any("does not do this" in line and tool in line for line in found)


def test_a_server_without_a_guard_on_its_resources_is_found(project: Path) -> None:
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"neo4j-cypher": {"url": "http://127.0.0.1:1/mcp"}}}))
    assert examine(project)["fail"] == []
    rewire(project, '"ReadMcpResourceTool"', '"ReadMcpResourceTools"')
    assert any("pit_guard.py on ReadMcpResourceTool is not wired" in line for line in examine(project)["fail"])


def test_an_adapter_of_the_users_under_another_name_is_found(project: Path) -> None:
    agents = project.parent / "home" / ".claude" / "agents"
    agents.mkdir(parents=True)
    text = (project / ".claude" / "agents" / "fred.md").read_text()
    (agents / "fred.md").write_text(text)
    assert examine(project, HOME=str(agents.parent.parent))["fail"] == []
    (agents / "mine.md").write_text(text.replace("name: fred", "name: mine"))
    assert any("the agent mine may run" in line for line in examine(project, HOME=str(agents.parent.parent))["fail"])


def test_another_hook_that_could_put_the_output_back_is_a_warning(project: Path) -> None:
    settings = json.loads(settings_of(project).read_text())
    settings["hooks"]["PostToolUse"].append({"matcher": "*", "hooks": [{"type": "command", "command": "./mine.sh"}]})
    settings_of(project).write_text(json.dumps(settings))
    assert any("another PostToolUse hook" in line for line in examine(project)["warn"])


@pytest.mark.parametrize("name", ["pit_gate.py", "pit_guard.py"])
@pytest.mark.parametrize("text", ["", "raise SystemExit(1)", "print('{}')", 'print(\'{"decision": "block"}\')'])
def test_a_hook_file_that_does_not_do_its_work_is_found(project: Path, name: str, text: str) -> None:
    (project / ".claude" / "hooks" / name).write_text(text)
    found = examine(project)
    assert any("does not do this" in line and name in line for line in found["fail"])
    assert any("was edited" in line and name in line for line in found["warn"])


def test_a_hook_that_hangs_is_found_in_time(project: Path) -> None:
    (project / ".claude" / "hooks" / "pit_gate.py").write_text("import select\nselect.select([], [], [])")
    found = examine(project, {"seconds": 0.2})["fail"]
    assert any("pit_gate.py" in line and "gave no answer in 0.2 s" in line for line in found)


def test_a_hook_file_that_is_not_executable_is_a_warning(project: Path) -> None:
    (project / ".claude" / "hooks" / "pit_gate.py").chmod(0o644)
    assert any("not executable" in line for line in examine(project)["warn"])


def said_of(check: str, project: Path, **environ: str) -> dict[str, list[str]]:
    """What is said of one thing, where no program runs: it rests on files and variables alone."""
    found = examine(project, {"run": lambda *given: ""}, **environ)
    mine = {level: [line for line in lines if line.startswith(f"{check}: ")] for level, lines in found.items()}
    return {level: lines for level, lines in mine.items() if lines}


@pytest.mark.parametrize("ceiling", ["", "2024-02-15"])
def test_a_ceiling_that_cannot_be_read_is_found(project: Path, ceiling: str) -> None:
    (line,) = said_of("ceiling", project, PIT_FETCH_CEILING=ceiling)["fail"]
    assert "cannot be read" in line


def test_an_audit_file_in_the_agents_reach_is_found(project: Path) -> None:
    (line,) = said_of("audit", project, PIT_FETCH_AUDIT="logs/audit.jsonl")["fail"]
    assert "PIT_FETCH_AUDIT" in line
    assert list(said_of("audit", project, PIT_FETCH_AUDIT=str(project.parent / "audit.jsonl"))) == ["ok"]


def test_an_archive_in_the_agents_reach_is_found(project: Path) -> None:
    apart = project.parent / "apart"
    apart.mkdir()
    (project / "link").symlink_to(apart)
    archive = apart / "a.db"
    for inside in ("a.db", str(project / "deep" / "a.db"), str(apart / ".." / "project" / "a.db")):
        (line,) = said_of("archive", project, PIT_FETCH_ARCHIVE=inside)["fail"]
        assert "inside the project" in line
    assert list(said_of("archive", project, PIT_FETCH_ARCHIVE=str(archive))) == ["ok"]
    assert list(said_of("archive", project, PIT_FETCH_ARCHIVE="link/a.db")) == ["ok"]
    assert said_of("archive", project) == {}
    archive.touch(mode=0o644)
    assert list(said_of("archive", project, PIT_FETCH_ARCHIVE=str(archive))) == ["warn"]


@pytest.mark.parametrize(
    ("permissions", "is_readable"),
    [
        ({"additionalDirectories": ["../apart"]}, True),
        ({"additionalDirectories": ["~/elsewhere", 5]}, False),
        ({"additionalDirectories": "../apart"}, False),
        ({"allow": ["Read"]}, True),
        ({"allow": ["Read(/{apart}/**)"]}, True),
        ({"allow": ["Read(/{apart}/a.db)"]}, True),
        ({"allow": ["Grep(../apart/**)"]}, True),
        ({"allow": ["Read(/{apart}/b.db)", "Bash(pit_fetch *)", "Read(~/notes/**)"]}, False),
        ({"deny": ["Read"]}, False),
    ],
)
def test_what_settings_allow_to_be_read_counts(project: Path, permissions: Any, is_readable: bool) -> None:
    apart = project.parent / "apart"
    apart.mkdir()
    archive = apart / "a.db"
    text = json.dumps({"permissions": permissions}).replace("{apart}", str(apart))
    (project / ".claude" / "settings.local.json").write_text(text)
    found = said_of("archive", project, PIT_FETCH_ARCHIVE=str(archive))
    assert list(found) == ["fail" if is_readable else "ok"]


def test_an_archive_counts_wherever_it_is_set(project: Path) -> None:
    config = project.parent / "home" / ".config" / "pit_fetch"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(f'archive = "{project}/a.db"')
    home = {"HOME": str(project.parent / "home")}
    assert "fail" in said_of("archive", project, **home)
    assert "ok" in said_of("archive", project, PIT_FETCH_ARCHIVE=str(project.parent / "b.db"), **home)
    text = json.dumps({"env": {"PIT_FETCH_ARCHIVE": "c.db"}})
    (project / ".claude" / "settings.local.json").write_text(text)
    assert "fail" in said_of("archive", project, PIT_FETCH_ARCHIVE=str(project.parent / "b.db"), **home)


def test_a_credential_is_named_and_never_shown(project: Path) -> None:
    secret = "a-secret-of-some-length"
    done = diagnose(project, environ={"BENZINGANEWS_API_KEY": secret}, run=lambda *given: "")
    assert "BENZINGANEWS_API_KEY or BENZINGA_API_KEY is set" in done.text
    assert secret not in done.text


@pytest.mark.parametrize(
    ("printed", "level", "expected"),
    [
        ("2.1.329 (Claude Code)", "ok", "Claude Code 2.1.329"),
        ("2.1.197 (Claude Code)", "warn", "ignores onFailure"),
        ("2.1.9 (Claude Code)", "fail", "cannot replace"),
    ],
)
def test_the_clients_version_is_held_against_what_the_hooks_need(
    project: Path, printed: str, level: str, expected: str
) -> None:
    programs = project.parent / "bin"
    programs.mkdir()
    (programs / "claude").write_text(f"#!/bin/sh\necho '{printed}'\n")
    (programs / "claude").chmod(0o755)
    found = examine(project, PATH=f"{programs}:{PATH}")
    assert any(expected in line for line in found[level])


def test_an_old_python_for_the_hooks_is_found(project: Path) -> None:
    programs = project.parent / "bin"
    programs.mkdir()
    (programs / "python3").write_text("#!/bin/sh\necho 3 8 18\n")
    (programs / "python3").chmod(0o755)
    found = examine(project, PATH=f"{programs}:{PATH}")
    assert any("python3 on PATH is 3.8.18" in line for line in found["fail"])


def test_a_foreign_package_in_the_folder_is_a_warning(project: Path) -> None:
    (project / "pit_fetch").mkdir()
    assert any("there is another pit_fetch here" in line for line in examine(project)["warn"])


@pytest.mark.parametrize(
    ("matcher", "tool", "expected"),
    [
        ("Bash", "Bash", True),
        ("Write|Bash", "Bash", True),
        ("Write, Bash", "Bash", True),
        ("*", "Bash", True),
        ("", "Bash", True),
        ("mcp__perplexity__.*", "mcp__perplexity__perplexity_ask", True),
        ("bash", "Bash", False),
        ("Bas", "Bash", False),
        ("Bash(python3:*)", "Bash", False),
        ("(", "Bash", False),
    ],
)
def test_matchers_are_read_as_the_client_reads_them(matcher: str, tool: str, expected: bool) -> None:
    assert client_settings.matches(matcher, tool) is expected
