"""The life of an installation: put in, upgraded, left in part, taken out, and no edit lost on the way."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.claude_code import bundle, install, versions
from pit_fetch.cli import command
from pit_fetch.cli.command import CommandResult
from pit_fetch.cli.commands import init
from pit_fetch.support.bundled import load

OLD = b"#!/usr/bin/env python3\n# an older version\n"
LABEL = "0.0.9"
OLDER = versions.ReleasedFiles(
    files={LABEL: {name: versions.digest(name, OLD) for name in ("hooks/pit_gate.py", "agents/gone.md")}},
    matchers={"PreToolUse": ["Bash"]},
)
USUAL = [name for name in bundle.files() if not bundle.is_neo4j(name)]
ALL = len(USUAL) + 2  # with the settings, and the paths of the program


def run(folder: Path, *argv: str, **environ: str) -> CommandResult:
    return command.run(["init", *argv], environ, str(folder))


def run_after_older(folder: Path, *argv: str) -> CommandResult:
    """Run ``init`` as a version that knows :data:`OLDER`."""
    return init.run(argv, {}, str(folder), OLDER)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def settings_of(claude: Path) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads((claude / "settings.json").read_text())
    return settings


def write_settings(project: Path, settings: object) -> Path:
    """Write the settings of a project, as JSON or as the text that is given; return their path."""
    path = project / ".claude" / "settings.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(settings if isinstance(settings, str) else json.dumps(settings))
    return path


@pytest.fixture
def claude(tmp_path: Path) -> Path:
    """Return the ``.claude`` folder of a project after ``init``."""
    assert run(tmp_path).status == 0
    return tmp_path / ".claude"


@pytest.fixture
def older(claude: Path) -> Path:
    """Return one with an older gate, and with a file that this version no longer has."""
    (claude / "hooks" / "pit_gate.py").write_bytes(OLD)
    (claude / "agents" / "gone.md").write_bytes(OLD)
    return claude


# Putting in.


def test_a_project_is_installed_once(tmp_path: Path) -> None:
    assert run(tmp_path, "--dry-run").text.count("would create") == ALL
    assert snapshot(tmp_path) == {}
    assert run(tmp_path).text.count("created") == ALL
    before = snapshot(tmp_path)
    assert {f".claude/{name}" for name in USUAL} < set(before)
    assert os.access(tmp_path / ".claude" / "hooks" / "pit_gate.py", os.X_OK)
    again = run(tmp_path)
    assert (again.text.count("unchanged"), again.status) == (ALL, 0)
    assert snapshot(tmp_path) == before


def test_settings_are_merged_and_keep_what_is_there(tmp_path: Path) -> None:
    own = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo"}]}
    wired = {"matcher": "Bash", "hooks": [{"type": "command", "command": "python3 old/pit_gate.py", "timeout": 30}]}
    settings = {"model": "opus", "hooks": {"Stop": [own], "PostToolUse": [own, wired]}, "permissions": {"allow": ["x"]}}
    path = write_settings(tmp_path, settings)
    assert "merged" in run(tmp_path).text
    merged = json.loads(path.read_text())
    assert list(merged) == ["model", "hooks", "permissions"]
    assert merged["hooks"]["Stop"] == [own]
    assert merged["hooks"]["PostToolUse"][:2] == [own, wired]
    assert [entry["matcher"] for entry in merged["hooks"]["PostToolUse"]].count("Bash") == 2
    assert len(merged["hooks"]["PreToolUse"]) == sum(row.event == "PreToolUse" for row in bundle.wiring())
    before = path.read_bytes()
    assert "merged" not in run(tmp_path).text
    assert path.read_bytes() == before


@pytest.mark.parametrize("words", ["", "--mcp --pit 2024-02-15T16:00:00Z"])
def test_tools_are_denied_beside_what_is_there(tmp_path: Path, words: str) -> None:
    path = write_settings(tmp_path, {"permissions": {"deny": ["Write", "WebFetch"], "ask": ["Edit"]}})
    for _ in range(2):
        assert run(tmp_path, *words.split(), "--deny", "WebFetch, WebSearch").status == 0
        permissions = json.loads(path.read_text())["permissions"]
        assert permissions["deny"] == ["Write", "WebFetch", "WebSearch"]
        assert permissions["ask"] == ["Edit"]
    assert ("hooks" in json.loads(path.read_text())) is (not words)
    run(tmp_path, *words.split(), "--uninstall")
    assert json.loads(path.read_text())["permissions"]["deny"] == ["Write", "WebFetch", "WebSearch"]


NOT_OF_THE_CLIENT = "not of the form that the client reads"


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ("", "it is empty"),
        ("{", "line 1 is not JSON"),
        ('{"a": 1,\n // b\n}', "line 2 is not JSON"),
        ("[]", "it is not a JSON object"),
        ({"hooks": 5}, NOT_OF_THE_CLIENT),
        ({"hooks": {"PreToolUse": [7]}}, NOT_OF_THE_CLIENT),
        ({"permissions": {"allow": "Bash"}}, NOT_OF_THE_CLIENT),
        ({"permissions": ["Bash"]}, NOT_OF_THE_CLIENT),
    ],
)
@pytest.mark.parametrize("argv", [(), ("--upgrade",), ("--uninstall",)])
def test_settings_that_cannot_be_read_stop_everything(
    tmp_path: Path, settings: object, problem: str, argv: tuple[str, ...]
) -> None:
    if argv == ("--uninstall",) and "permissions" in str(settings):
        return  # they contain nothing of ours
    run(tmp_path, "--only", "agents")
    write_settings(tmp_path, settings)
    before = snapshot(tmp_path)
    refused = run(tmp_path, *argv)
    assert (refused.text, refused.status) == ("", 2)
    assert problem in refused.complaint
    assert "nothing was changed" in refused.complaint
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize(
    "words",
    [
        "no/such",
        "--bogus",
        "--only hook",
        "--without ''",
        "--only hooks --without agents",
        "--upgrade --uninstall",
        "--deny ,",
        "--deny 'Bash(x)'",
    ],
)
def test_wrong_arguments_are_refused(tmp_path: Path, words: str) -> None:
    refused = run(tmp_path, *shlex.split(words))
    assert (refused.text, refused.status) == ("", 2)
    assert refused.complaint
    assert snapshot(tmp_path) == {}


# Links.


@pytest.mark.parametrize("content", [b"somebody's\n", None])
def test_nothing_is_written_through_a_link(tmp_path: Path, content: bytes | None) -> None:
    elsewhere, project = tmp_path / "elsewhere", tmp_path / "project"
    link = project / ".claude" / "hooks" / "pit_gate.py"
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    if content is not None:
        elsewhere.write_bytes(content)
    answer = run(project)
    assert (answer.status, "KEPT" in answer.text, "is a link" in answer.text) == (1, True, True)
    assert link.is_symlink()
    assert run(project, "--force").status == 0
    assert not link.is_symlink()
    assert link.with_name("pit_gate.py.bak").is_symlink()
    assert (elsewhere.read_bytes() if elsewhere.exists() else None) == content


# Upgrading.


def test_the_versions_that_users_have_are_known() -> None:
    released = versions.released_files()
    assert any("d7229f4" in label for label in released.files)
    for name, content in bundle.files().items():
        assert released.version_of(name, content) == versions.CURRENT
        assert released.version_of(name, content + b"mine") == ""


def test_an_older_file_is_kept_until_it_is_upgraded(older: Path) -> None:
    before = snapshot(older)
    kept = run_after_older(older.parent)
    assert f"is of version {LABEL}: --upgrade replaces it" in kept.text
    dry = run_after_older(older.parent, "--upgrade", "--dry-run")
    assert "would replace" in dry.text
    assert "would remove  .claude/agents/gone.md" in dry.text
    assert (kept.status, snapshot(older)) == (1, before)
    done = run_after_older(older.parent, "--upgrade")
    assert (done.status, done.text.count("replaced"), done.text.count("removed")) == (0, 1, 1)
    assert (older / "hooks" / "pit_gate.py").read_bytes() == bundle.files()["hooks/pit_gate.py"]
    assert (older / "hooks" / "pit_gate.py.bak").read_bytes() == OLD
    assert not (older / "agents" / "gone.md").exists()
    after = snapshot(older)
    assert run_after_older(older.parent, "--upgrade").text.count("unchanged") == ALL
    assert snapshot(older) == after


def test_an_edited_file_is_kept_unless_forced(claude: Path) -> None:
    agent = claude / "agents" / "alphavantage.md"
    original = agent.read_bytes()
    edited = original + b"Mine.\n"
    for copy, force in (("bak", ("--force",)), ("bak2", ("--upgrade", "--force"))):
        agent.write_bytes(edited)
        for argv in ((), ("--upgrade",)):
            kept = run(claude.parent, *argv)
            assert (kept.status, agent.read_bytes()) == (1, edited)
            assert "KEPT          .claude/agents/alphavantage.md (was edited: --force" in kept.text
        assert run(claude.parent, *force).status == 0
        assert agent.read_bytes() == original
        assert agent.with_name(f"alphavantage.md.{copy}").read_bytes() == edited


def test_an_upgrade_renews_the_wiring_and_leaves_other_entries(older: Path) -> None:
    settings = settings_of(older)
    entries = settings["hooks"]["PreToolUse"]
    entries[0]["matcher"] = "Bash"
    own = {"matcher": "Bash", "hooks": [*entries[0]["hooks"], {"type": "command", "command": "mine"}]}
    entries.insert(0, own)
    write_settings(older.parent, settings)
    assert run_after_older(older.parent, "--upgrade").status == 0
    renewed = settings_of(older)["hooks"]["PreToolUse"]
    assert renewed[0] == own
    wired = [row.matcher for row in bundle.wiring() if row.event == "PreToolUse"]
    assert [entry["matcher"] for entry in renewed[1:]] == [*wired[1:], wired[0]]


# Parts, and all sessions of a user.


@pytest.mark.parametrize(
    ("argv", "folders", "has_rule", "has_hooks"),
    [
        ((), {"hooks", "agents", "skills"}, True, True),
        (("--only", "hooks"), {"hooks"}, False, True),
        (("--only", "agents,skills"), {"agents", "skills"}, True, False),
        (("--without", "hooks"), {"agents", "skills"}, True, False),
        (("--without", "agents"), {"hooks", "skills"}, False, True),
    ],
)
def test_only_the_chosen_parts_are_installed(
    tmp_path: Path, argv: tuple[str, ...], folders: set[str], has_rule: bool, has_hooks: bool
) -> None:
    answer, claude = run(tmp_path, *argv), tmp_path / ".claude"
    assert answer.status == 0
    assert ("pit_fetch init --only hooks" in answer.text) == (not has_hooks)  # without hooks, nothing runs
    assert {path.name for path in claude.iterdir() if path.is_dir()} == folders
    settings = settings_of(claude)
    assert (install.PERMISSION in settings.get("permissions", {}).get("allow", [])) == has_rule
    assert ("hooks" in settings) == has_hooks


def test_neo4j_is_a_part_of_its_own(tmp_path: Path) -> None:
    assert run(tmp_path, "--without", "neo4j").status == 0
    assert "neo4j" not in "".join(snapshot(tmp_path)) + (tmp_path / ".claude" / "settings.json").read_text()
    assert run(tmp_path).status == 0
    assert "neo4j-cypher" in (tmp_path / ".claude" / "settings.json").read_text()  # its server is guarded in any case
    assert "neo4j" not in "".join(snapshot(tmp_path))
    added = run(tmp_path, "--with", "neo4j")
    assert added.text.count("created") == sum(map(bundle.is_neo4j, bundle.files()))
    assert added.text.endswith("pit_fetch doctor --prove.\n")  # the hooks are there


@pytest.mark.parametrize("argv", [("--with", "neo4j"), ("--only", "hooks,neo4j")])
def test_neo4j_is_kept_up_where_it_is_and_taken_out_with_the_rest(tmp_path: Path, argv: tuple[str, ...]) -> None:
    run(tmp_path, *argv)
    agent = tmp_path / ".claude" / "agents" / "neo4j-news.md"
    current = agent.read_bytes()
    agent.write_bytes(OLD)
    older = versions.ReleasedFiles({LABEL: {"agents/neo4j-news.md": versions.digest("agents/neo4j-news.md", OLD)}}, {})
    assert init.run(["--upgrade"], {}, str(tmp_path), older).text.count("replaced") == 1
    assert agent.read_bytes() == current
    (agent.parent / "neo4j-news.md.bak").unlink()
    assert run(tmp_path, "--uninstall").status == 0
    assert list(tmp_path.iterdir()) == []


def test_an_upgrade_removes_the_agents_that_another_supersedes(claude: Path) -> None:
    """Up to 0.2.0, Perplexity had five agents: they are one now. An edited one is kept, as narrow as it was."""
    former = load("pit_guard").FORMER_ADAPTERS
    shipped = {f"agents/{name}.md" for name in former}
    assert shipped <= set(versions.released_files().removed_files())
    released = versions.ReleasedFiles({LABEL: {name: versions.digest(name, OLD) for name in shipped}}, {})
    for name in shipped:
        (claude / name).write_bytes(OLD)
    (claude / "agents" / "perplexity-ask.md").write_bytes(OLD + b"mine")
    upgraded = init.run(["--upgrade"], {}, str(claude.parent), released)
    assert (upgraded.text.count("removed"), upgraded.text.count("KEPT")) == (len(former) - 1, 1)
    assert load("pit_guard").is_wrapper_only({"agent_type": "perplexity-ask"}, {})


def test_a_home_gets_hooks_that_hold_in_every_folder(tmp_path: Path) -> None:
    assert run(tmp_path, HOME=str(tmp_path)).status == 0
    for path in (tmp_path / ".claude" / "settings.json", tmp_path / ".claude" / "agents" / "bz-news-api.md"):
        assert "$CLAUDE_PROJECT_DIR" not in path.read_text()
        assert "$HOME/.claude/hooks/pit_guard.py" in path.read_text()
    assert run(tmp_path, "--upgrade", HOME=str(tmp_path)).text.count("unchanged") == ALL
    assert run(tmp_path, "--uninstall", HOME=str(tmp_path)).status == 0
    assert list(tmp_path.iterdir()) == []


# Taking out.


def test_what_was_put_in_is_taken_out(tmp_path: Path) -> None:
    run(tmp_path, "--model", "haiku")
    hooks = tmp_path / ".claude" / "hooks"
    (hooks / "pit_gate.log").write_text("a line\n")
    (hooks / "__pycache__").mkdir()
    (hooks / "__pycache__" / "pit_gate.cpython-311.pyc").touch()
    assert run(tmp_path, "--uninstall", "--dry-run").text.count("would remove") == ALL + 2
    assert run(tmp_path, "--uninstall").status == 0
    assert list(tmp_path.iterdir()) == []
    again = run(tmp_path, "--uninstall")
    assert (again.text, again.status) == ("nothing to take out\n", 0)


def test_what_is_the_users_stays(claude: Path) -> None:
    settings = settings_of(claude)
    own = {"matcher": "Bash", "hooks": [{"type": "command", "command": "python3 mine/pit_gate.py"}]}
    settings["hooks"]["PostToolUse"].append(own)
    settings["hooks"]["PostToolUse"][0]["hooks"].append({"type": "command", "command": "mine"})
    settings["permissions"] = {"allow": ["Read", install.PERMISSION], "deny": ["Write"]}
    settings["model"] = "opus"
    write_settings(claude.parent, settings)
    (claude / "agents" / "mine.md").write_text("mine")
    edited = claude / "agents" / "alphavantage.md"
    edited.write_text(edited.read_text() + "Mine.\n")
    done = run(claude.parent, "--uninstall")
    assert done.status == 1
    assert "KEPT          .claude/agents/alphavantage.md (was edited: --force removes it)" in done.text
    left = settings_of(claude)
    assert left["model"] == "opus"
    assert left["permissions"] == {"allow": ["Read"], "deny": ["Write"]}
    mine = {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}
    assert left["hooks"] == {"PostToolUse": [mine, own]}
    assert {path.name for path in (claude / "agents").iterdir()} == {"mine.md", "alphavantage.md"}
    assert run(claude.parent, "--uninstall", "--force").status == 0
    assert {path.name for path in (claude / "agents").iterdir()} == {"mine.md"}
