"""The life of an installation: put in, upgraded, left in part, taken out, and no edit lost on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.claude_code import bundle, install, versions
from pit_fetch.cli import command
from pit_fetch.cli.command import CommandResult

OLD = b"#!/usr/bin/env python3\n# an older version\n"
LABEL = "0.0.9"
OLDER: versions.Older = {
    "files": {name: {versions.digest(name, OLD): LABEL} for name in ("hooks/pit_gate.py", "agents/gone.md")},
    "matchers": {"PreToolUse": {"pit_guard.py": ["Bash"]}},
}
ALL = len(bundle.files()) + 1  # with the settings
AGENTS = sum(name.startswith("agents/") for name in bundle.files())


def answer(folder: Path, *argv: str) -> CommandResult:
    return command.run(["init", *argv], {}, str(folder))


def renew(folder: Path, *argv: str) -> CommandResult:
    """The same, where that was an older version."""
    return install.run(argv, {}, str(folder), OLDER)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    assert answer(tmp_path).status == 0
    return tmp_path / ".claude"


@pytest.fixture
def older(project: Path) -> Path:
    """A project with an older gate, and with a file that this version no longer has."""
    (project / "hooks" / "pit_gate.py").write_bytes(OLD)
    (project / "agents" / "gone.md").write_bytes(OLD)
    return project


def settings_of(claude: Path) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads((claude / "settings.json").read_text())
    return settings


# Versions.


def test_the_versions_that_users_have_are_known() -> None:
    older = json.loads(Path(versions.__file__).with_suffix(".json").read_text())
    labels = {label for files in older["files"].values() for label in files.values()}
    assert any("d7229f4" in label for label in labels)
    for name, content in bundle.files().items():
        assert versions.version_of(name, content) == versions.CURRENT
        assert versions.version_of(name, content + b"mine") == ""


def test_the_model_is_the_users() -> None:
    name = "agents/alphavantage.md"
    content = bundle.files()[name]
    assert versions.model_of(content) == b""
    chosen = versions.with_model(content, b"model: haiku\n")
    assert b"\nmodel: haiku\n" in chosen
    assert versions.version_of(name, chosen) == versions.CURRENT
    assert versions.without_model(chosen) == content


# Upgrade.


def test_an_older_file_is_kept_until_it_is_upgraded(older: Path) -> None:
    kept = renew(older.parent)
    assert (kept.status, (older / "hooks" / "pit_gate.py").read_bytes()) == (1, OLD)
    assert f"is of version {LABEL}: --upgrade replaces it" in kept.text


def test_an_upgrade_replaces_older_files_and_keeps_a_copy(older: Path) -> None:
    before = snapshot(older)
    dry = renew(older.parent, "--upgrade", "--dry-run")
    assert "would replace" in dry.text
    assert "would remove  .claude/agents/gone.md" in dry.text
    assert snapshot(older) == before
    done = renew(older.parent, "--upgrade")
    assert (done.status, done.text.count("replaced"), done.text.count("removed")) == (0, 1, 1)
    assert (older / "hooks" / "pit_gate.py").read_bytes() == bundle.files()["hooks/pit_gate.py"]
    assert (older / "hooks" / "pit_gate.py.bak").read_bytes() == OLD
    assert not (older / "agents" / "gone.md").exists()
    after = snapshot(older)
    assert renew(older.parent, "--upgrade").text.count("unchanged") == ALL
    assert snapshot(older) == after


def test_an_upgrade_keeps_edited_files_and_says_so(older: Path) -> None:
    agent = older / "agents" / "alphavantage.md"
    agent.write_text(agent.read_text() + "Mine.\n")
    mine = agent.read_bytes()
    kept = renew(older.parent, "--upgrade")
    assert (kept.status, agent.read_bytes()) == (1, mine)
    assert "KEPT          .claude/agents/alphavantage.md (was edited" in kept.text
    assert renew(older.parent, "--upgrade", "--force").status == 0
    assert agent.with_name("alphavantage.md.bak").read_bytes() == mine
    agent.write_bytes(mine)
    assert renew(older.parent, "--force").status == 0
    assert agent.with_name("alphavantage.md.bak2").read_bytes() == mine


def test_an_upgrade_renews_the_wiring_and_leaves_other_entries(older: Path) -> None:
    settings = settings_of(older)
    entries = settings["hooks"]["PreToolUse"]
    entries[0]["matcher"] = "Bash"
    own = {"matcher": "Bash", "hooks": [*entries[0]["hooks"], {"type": "command", "command": "mine"}]}
    entries.insert(0, own)
    (older / "settings.json").write_text(json.dumps(settings))
    assert renew(older.parent, "--upgrade").status == 0
    renewed = settings_of(older)["hooks"]["PreToolUse"]
    assert renewed[0] == own
    wired = [row.matcher for row in bundle.wiring() if row.event == "PreToolUse"]
    assert [entry["matcher"] for entry in renewed[1:]] == [*wired[1:], wired[0]]


# The model.


def test_agents_get_a_model_only_where_one_is_named(tmp_path: Path) -> None:
    agent = tmp_path / ".claude" / "agents" / "bz-news-api.md"
    answer(tmp_path)
    assert b"model:" not in agent.read_bytes()
    assert answer(tmp_path, "--model", "haiku").text.count("replaced") == AGENTS
    assert b"\nmodel: haiku\n" in agent.read_bytes()
    assert answer(tmp_path).text.count("unchanged") == ALL  # a second run leaves the model as it is
    agent.write_text(agent.read_text().replace("haiku", "opus"))
    assert answer(tmp_path, "--upgrade").status == 0
    assert b"\nmodel: opus\n" in agent.read_bytes()


# Parts.


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
    assert answer(tmp_path, *argv).status == 0
    claude = tmp_path / ".claude"
    assert {path.name for path in claude.iterdir() if path.is_dir()} == folders
    settings = settings_of(claude)
    assert (install.PERMISSION in settings.get("permissions", {}).get("allow", [])) == has_rule
    assert ("hooks" in settings) == has_hooks


def test_neo4j_is_a_part_of_its_own(tmp_path: Path) -> None:
    assert answer(tmp_path, "--without", "neo4j").status == 0
    assert "neo4j" not in "".join(snapshot(tmp_path)) + (tmp_path / ".claude" / "settings.json").read_text()
    assert answer(tmp_path, "--only", "neo4j").text.count("created") == sum(map(bundle.is_neo4j, bundle.files()))
    assert "neo4j-cypher" in (tmp_path / ".claude" / "settings.json").read_text()


@pytest.mark.parametrize("argv", [("--only", "hook"), ("--without", ""), ("--only", "hooks", "--without", "agents")])
def test_parts_that_there_are_not_are_refused(tmp_path: Path, argv: tuple[str, ...]) -> None:
    assert answer(tmp_path, *argv).status == 2
    assert snapshot(tmp_path) == {}


# For all sessions of a user.


def test_a_home_gets_hooks_that_hold_in_every_folder(tmp_path: Path) -> None:
    def run(*argv: str) -> CommandResult:
        return command.run(["init", *argv], {"HOME": str(tmp_path)}, str(tmp_path))

    assert run().status == 0
    text = (tmp_path / ".claude" / "settings.json").read_text()
    agent = (tmp_path / ".claude" / "agents" / "bz-news-api.md").read_text()
    assert "$CLAUDE_PROJECT_DIR" not in text + agent
    assert "$HOME/.claude/hooks/pit_guard.py" in text
    assert "$HOME/.claude/hooks/pit_guard.py" in agent
    assert run("--upgrade").text.count("unchanged") == ALL
    assert run("--uninstall").status == 0
    assert list(tmp_path.iterdir()) == []


# Uninstall.


def test_what_was_put_in_is_taken_out(tmp_path: Path) -> None:
    answer(tmp_path, "--model", "haiku")
    (tmp_path / ".claude" / "hooks" / "pit_gate.log").write_text("a line\n")
    (tmp_path / ".claude" / "hooks" / "__pycache__").mkdir()
    (tmp_path / ".claude" / "hooks" / "__pycache__" / "pit_gate.cpython-311.pyc").touch()
    dry = answer(tmp_path, "--uninstall", "--dry-run")
    assert dry.text.count("would remove") == ALL + 2
    assert answer(tmp_path, "--uninstall").status == 0
    assert list(tmp_path.iterdir()) == []
    assert (answer(tmp_path, "--uninstall").text, answer(tmp_path, "--uninstall").status) == (
        "nothing to take out\n",
        0,
    )


def test_what_is_the_users_stays(project: Path) -> None:
    settings = settings_of(project)
    own = {"matcher": "Bash", "hooks": [{"type": "command", "command": "python3 mine/pit_gate.py"}]}
    settings["hooks"]["PostToolUse"].append(own)
    settings["hooks"]["PostToolUse"][0]["hooks"].append({"type": "command", "command": "mine"})
    settings["permissions"] = {"allow": ["Read", install.PERMISSION], "deny": ["Write"]}
    settings["model"] = "opus"
    (project / "settings.json").write_text(json.dumps(settings))
    (project / "agents" / "mine.md").write_text("mine")
    edited = project / "agents" / "alphavantage.md"
    edited.write_text(edited.read_text() + "Mine.\n")
    done = answer(project.parent, "--uninstall")
    assert done.status == 1
    assert "KEPT          .claude/agents/alphavantage.md (was edited: --force removes it)" in done.text
    left = settings_of(project)
    assert left["model"] == "opus"
    assert left["permissions"] == {"allow": ["Read"], "deny": ["Write"]}
    assert left["hooks"] == {
        "PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "mine"}]}, own]
    }
    assert {path.name for path in (project / "agents").iterdir()} == {"mine.md", "alphavantage.md"}
    assert answer(project.parent, "--uninstall", "--force").status == 0
    assert {path.name for path in (project / "agents").iterdir()} == {"mine.md"}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"hooks": 5}', '{"permissions": {"allow": "Bash"}}'])
@pytest.mark.parametrize("argv", [(), ("--uninstall",), ("--upgrade",)])
def test_settings_that_cannot_be_read_stop_everything(tmp_path: Path, text: str, argv: tuple[str, ...]) -> None:
    answer(tmp_path, "--only", "agents")
    (tmp_path / ".claude" / "settings.json").write_text(text)
    before = snapshot(tmp_path)
    done = answer(tmp_path, *argv)
    if "--uninstall" in argv and text.startswith('{"permissions"'):
        return  # there is nothing of ours in it
    assert (done.text, done.status) == ("", 2)
    assert "nothing was changed" in done.complaint
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("content", [b"somebody's\n", None])
def test_nothing_is_written_through_a_link(tmp_path: Path, content: bytes | None) -> None:
    elsewhere, project = tmp_path / "elsewhere", tmp_path / "project"
    link = project / ".claude" / "hooks" / "pit_gate.py"
    link.parent.mkdir(parents=True)
    link.symlink_to(elsewhere)
    if content is not None:
        elsewhere.write_bytes(content)
    said = answer(project)
    assert (said.status, "KEPT" in said.text, "is a link" in said.text) == (1, True, True)
    assert link.is_symlink()
    assert answer(project, "--force").status == 0
    assert not link.is_symlink()
    assert link.with_name("pit_gate.py.bak").is_symlink()
    assert (elsewhere.read_bytes() if elsewhere.exists() else None) == content


def test_a_link_to_what_would_be_written_is_left_alone(tmp_path: Path) -> None:
    elsewhere, link = tmp_path / "elsewhere", tmp_path / "project" / ".claude" / "hooks" / "pit_gate.py"
    link.parent.mkdir(parents=True)
    elsewhere.write_bytes(bundle.files()["hooks/pit_gate.py"])
    link.symlink_to(elsewhere)
    assert answer(tmp_path / "project").status == 0
    assert link.is_symlink()


def test_settings_may_be_a_link_into_dotfiles(tmp_path: Path) -> None:
    dotfiles, project = tmp_path / "dotfiles.json", tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    dotfiles.write_text('\ufeff{"model": "opus"}')
    (project / ".claude" / "settings.json").symlink_to(dotfiles)
    assert answer(project).status == 0
    assert (project / ".claude" / "settings.json").is_symlink()
    assert json.loads(dotfiles.read_text())["model"] == "opus"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ('{"a": 1,\n // b\n}', "line 2 is not JSON"),
        ("[]", "not a JSON object"),
        ('{"hooks": 5}', "form"),
    ],
)
def test_settings_that_cannot_be_merged_are_said_to_be_why(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(text)
    assert why in answer(tmp_path).complaint


@pytest.mark.parametrize("place", ["agents", "hooks", "skills/fred-queries", "settings.json", "hooks/pit_gate.py"])
def test_what_is_in_the_way_is_found_before_anything_is_written(tmp_path: Path, place: str) -> None:
    path = tmp_path / ".claude" / place
    path.parent.mkdir(parents=True)
    path.mkdir() if "." in place else path.touch()
    before = sorted(tmp_path.rglob("*"))
    said = answer(tmp_path)
    assert (said.status, "is in the way" in said.complaint) == (2, True)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_part_without_its_hooks_says_so(tmp_path: Path) -> None:
    assert "pit_fetch init --only hooks" in answer(tmp_path, "--only", "neo4j").text
    assert answer(tmp_path, "--only", "hooks").text.endswith("pit_fetch doctor --prove.\n")
    assert answer(tmp_path, "--only", "neo4j").text.endswith("pit_fetch doctor --prove.\n")


def test_in_or_out_but_not_both(tmp_path: Path) -> None:
    assert answer(tmp_path, "--upgrade", "--uninstall").status == 2
