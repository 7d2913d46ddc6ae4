"""doctor: each fault of a wiring is found and named with its fix, and only a client's proof counts as enforcement."""

from __future__ import annotations

import importlib.util
import json
import marshal
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.claude_code import client_settings, doctor, machine_check, prove
from pit_fetch.claude_code.prove import TOO_SLOW, ClientProof, Step, StepResult
from pit_fetch.claude_code.system import THIS_SYSTEM
from pit_fetch.cli.command import CommandResult
from pit_fetch.cli.commands import doctor as doctor_command
from pit_fetch.support.bundled import gate
from tests.client.wirings import (
    WIRINGS,
    Change,
    Session,
    adding_entry,
    hook_file,
    make,
    replacing,
    rewriting,
    with_fields,
    with_local_settings,
    with_matcher,
    with_settings,
    with_user_settings,
    with_variables,
)
from tests.unit.claude_code.fake_system import PATH, fake_system, write_program

GATE, GUARD = "pit_gate.py", "pit_guard.py"

Findings = Mapping[str, list[str]]


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Return a session in a project as ``init`` leaves it."""
    return make(tmp_path, lambda session: None)


def diagnose(session: Session, *argv: str, **replaced: Any) -> CommandResult:
    """Run ``doctor`` in a session, on a system of which parts are replaced."""
    environ = {"PATH": PATH, "HOME": str(session.root / "home"), **session.environ}
    return doctor_command.run(argv, environ, str(session.folder), fake_system(session.root, **replaced))


def report(session: Session, *argv: str, **replaced: Any) -> dict[str, Any]:
    answer = diagnose(session, "--json", *argv, **replaced)
    report: dict[str, Any] = json.loads(answer.text)
    assert report.keys() == {"enforced", "verdict", "findings"}
    assert report["enforced"] == (answer.status == 0)
    return report


def examine(session: Session, **replaced: Any) -> Findings:
    """Return the messages by level. Every finding but "ok" and "note" must name a fix."""
    examined = report(session, **replaced)
    assert not examined["enforced"]  # files alone never show it
    levels: dict[str, list[str]] = {"ok": [], "note": [], "warn": [], "open": [], "fail": []}
    for finding in examined["findings"]:
        levels[finding["level"]].append(f"{finding['check']}: {finding['message']}")
        assert finding["fix"] or finding["level"] in ("ok", "note")
    assert examined["verdict"].startswith("The PIT is NOT" if levels["fail"] else "Wired, not proved")
    return levels


def has(messages: list[str], *texts: str) -> bool:
    """Return whether one message contains all texts."""
    return any(all(text in message for text in texts) for message in messages)


# The truth: what the real client does.

# Run always, and not only with the thorough tests.
QUICK = {"as init leaves it", "init in the user's home"}.union(
    name for name in WIRINGS if "plugin" in name or "matcher" in name
)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.thorough) for name in WIRINGS]
)
def test_files_alone_never_show_that_the_pit_is_enforced(name: str, tmp_path: Path) -> None:
    truth, change = WIRINGS[name]
    findings = examine(make(tmp_path, change))
    if truth == "holds":
        assert findings["fail"] == []
    else:
        assert findings["fail"] + findings["warn"], name
    if truth == "leaks" and name not in ("no ceiling", "another hook puts the command back"):
        assert findings["fail"]


# The proof.


class FakeClient:
    """A client with a given proof. It records the announcement and the arguments of each proof."""

    def __init__(self, proof: ClientProof) -> None:
        self.proof, self.calls = proof, list[Any]()

    def prove(self, *args: Any) -> ClientProof:
        self.calls.append(args)
        return self.proof

    def is_enforced(self, session: Session, *argv: str, **replaced: Any) -> bool:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(prove, "prove", self.prove)
            return bool(report(session, "--prove", *argv, announce=self.calls.append, **replaced)["enforced"])


# What has to be set beside the hooks, so that nothing goes past pit_fetch.
ALONE = {"PIT_FETCH_WRAPPER_ONLY": "1"}
NO_WEB = {"permissions": {"deny": ["WebFetch", "WebSearch"]}}

STEP = Step("a program that leaks", "Bash", "pit_fetch", "withheld")
HOLDS = ClientProof((StepResult(STEP, "withheld", False),))


def put_on_path(session: Session, name: str, text: str) -> None:
    program = write_program(session.root / "bin" / name, text)
    session.environ["PATH"] = f"{Path(program).parent}:{PATH}"


@pytest.mark.parametrize(
    ("proof", "is_enforced"),
    [
        (HOLDS, True),
        (ClientProof((StepResult(STEP, "withheld", True),)), False),
        (ClientProof((StepResult(STEP, "shown", False),)), False),
        (ClientProof((StepResult(STEP, "not released", False),)), False),
        (ClientProof((StepResult(STEP, "withheld", False),), "the client was not done after 16 s"), False),
        (ClientProof((), "the client does not start"), False),
    ],
)
def test_enforced_is_what_the_client_has_shown(session: Session, proof: ClientProof, is_enforced: bool) -> None:
    put_on_path(session, "claude", "echo '2.1.329 (Claude Code)'")
    session.environ |= ALONE
    with_local_settings(**NO_WEB)(session)
    client = FakeClient(proof)
    assert client.is_enforced(session) is is_enforced
    announcement, arguments = client.calls
    assert "starting" in announcement
    assert arguments[4] == ["", *sorted(doctor.guard.ADAPTERS)]  # "": the session itself
    session.settings.write_text(json.dumps({**json.loads(session.settings.read_text()), "disableAllHooks": True}))
    assert not client.is_enforced(session)  # a proof does not outweigh a fault


def test_a_client_that_was_only_slow_has_not_shown_that_anything_is_open(session: Session) -> None:
    put_on_path(session, "claude", "echo '2.1.329 (Claude Code)'")
    session.environ |= ALONE
    with_local_settings(**NO_WEB)(session)
    slow = ClientProof((StepResult(STEP, "withheld", False),), f"{TOO_SLOW} after 16 s")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pit_fetch.claude_code.prove.prove", lambda *_: slow)
        assert report(session, "--prove", announce=print)["verdict"].startswith("Not proved: the client was too slow")


def test_without_a_ceiling_or_a_client_nothing_is_proved(session: Session) -> None:
    client = FakeClient(HOLDS)
    assert not client.is_enforced(session, find_client=lambda environ: "")
    put_on_path(session, "claude", "echo '2.1.329 (Claude Code)'")
    del session.environ["PIT_FETCH_CEILING"]
    assert not client.is_enforced(session)
    assert client.calls == []


# What goes past pit_fetch.

AGENT = "---\nname: {}\ndescription: x\n{}---\nLook it up.\n"


def open_ways(session: Session, *argv: str) -> dict[str, str]:
    """Return who can go each open way. With one, no proof is enforcement."""
    put_on_path(session, "claude", "echo '2.1.329 (Claude Code)'")
    found = [finding["message"] for finding in report(session, *argv)["findings"] if finding["level"] == "open"]
    assert FakeClient(HOLDS).is_enforced(session, *argv) is (not found)
    return dict(message.split(": ") for message in found)


def with_agent(name: str, line: str = "") -> Change:
    def change(session: Session) -> None:
        (session.claude / "agents").mkdir(exist_ok=True)
        (session.claude / "agents" / f"{name}.md").write_text(AGENT.format(name, line))

    return change


def test_after_init_a_session_has_ways_past_it(session: Session) -> None:
    ways = ["any command can be run", "WebFetch answers for today", "WebSearch answers for today"]
    assert open_ways(session) == dict.fromkeys(ways, "this session")
    session.environ |= ALONE
    assert open_ways(session) == dict.fromkeys(ways[1:], "this session")
    with_local_settings(**NO_WEB)(session)
    assert open_ways(session) == {}


@pytest.mark.parametrize(
    ("change", "ways"),
    [
        (with_agent("unreadable", "tools: [\n"), {"any command can be run", "WebFetch answers for today"}),
        (with_agent("exa-user", "tools: mcp__exa__search\n"), {"the server exa may answer for today"}),
        # It has the tools of a server that it brings or names, whatever it lists.
        (with_agent("far", "tools: Read\nmcpServers:\n  - news: {url: x}\n"), {"the server news may answer for today"}),
        (with_agent("names", "tools: Read\nmcpServers: [exa]\n"), {"the server exa may answer for today"}),
        (with_agent("asks", "tools: SendMessage, ListAgents\n"), set()),  # a warning
        (with_agent("all-servers", "tools: mcp__*\n"), {"the server exa may answer for today"}),
        (with_agent("powerful", "tools: PowerShell\n"), {"PowerShell is not known to be held to the PIT"}),
        (
            with_agent("connected", "tools: mcp__news__search\n"),
            {"mcp__news__search is not known to be held to the PIT"},
        ),
        (with_agent("ours", "tools: mcp__pit_fetch__fred, mcp__neo4j-cypher__read_neo4j_cypher\n"), set()),
        (lambda session: (session.claude / "agents" / "README.md").write_text("What the agents are for."), set()),
    ],
)
def test_an_agent_that_has_a_way_past_it_is_named(session: Session, change: Change, ways: set[str]) -> None:
    (session.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"exa": {"command": "npx"}}}))
    change(session)
    named = open_ways(session, "--trust", "session")
    assert ways <= named.keys()
    assert bool(named) is bool(ways)
    assert all(users.startswith("the agent ") for users in named.values())


def test_a_server_of_one_agent_is_open_to_that_agent_alone(session: Session) -> None:
    session.environ |= ALONE
    with_local_settings(**NO_WEB)(session)
    with_agent("own", "tools: Read\nmcpServers:\n  - news: {command: npx}\n")(session)
    with_agent("all", "disallowedTools: Bash\n")(session)
    way = "the server news may answer for today"
    assert open_ways(session) == {way: "the agent own"}
    assert open_ways(session, "--trust", "session,all") == {way: "the agent own"}
    assert open_ways(session, "--trust", "own") == {}


def test_who_may_ask_another_session_is_warned_of(session: Session) -> None:
    asks = "SendMessage may ask another session"
    with_agent("all")(session)
    assert has(examine(session)["warn"], asks, ": this session, the agent all")
    with_local_settings(permissions={"deny": ["SendMessage"]})(session)
    assert not has(examine(session)["warn"], asks)


# What an agent may edit, and whose hooks run.


def _written(*path: str, text: str = "") -> Change:
    def change(session: Session) -> None:
        file = Path(session.project, *path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)

    return change


def _with(*changes: Change) -> Change:
    def change(session: Session) -> None:
        for each in changes:
            each(session)

    return change


def _with_path(*folders: str) -> Change:
    def change(session: Session) -> None:
        session.environ["PATH"] = ":".join([*(folder.format(session=session) for folder in folders), PATH])

    return change


def _allowing(rule: str) -> Change:
    return with_local_settings(permissions={"allow": [rule], **NO_WEB["permissions"]})


_SERVER = {"command": "pit_fetch", "args": ["mcp", "--pit-file", "instant"]}
_GATE = ["mcp-gate", "--tools", "news.toml", "--", "news-server"]
EDITABLE: dict[str, tuple[Change, str]] = {
    "the program": (
        _with(_written(".venv", "bin", "pit_fetch"), _with_path("{session.project}/.venv/bin")),
        "the program pit_fetch",
    ),
    "a link to it": (
        _with(
            lambda session: (session.project / "bin").symlink_to(Path(PATH.split(":")[0])),
            _with_path("{session.project}/bin"),
        ),
        "the program pit_fetch",
    ),
    "a folder before it": (_with_path("{session.project}/tools"), "a folder of PATH"),
    "a relative folder": (_with_path("tools"), "a folder of PATH"),
    "an added folder": (
        _with(
            _with_path("{session.root}/added"),
            lambda session: with_local_settings(
                permissions={"additionalDirectories": [str(session.root / "added")], **NO_WEB["permissions"]}
            )(session),
        ),
        "a folder of PATH",
    ),
    "a rule for all files": (_with(_with_path("{session.root}/bin"), _allowing("Write")), "a folder of PATH"),
    "a rule for the folder": (
        _with(
            _with_path("{session.root}/bin"),
            lambda session: _allowing(f"Edit(/{session.root}/bin/**)")(session),
        ),
        "a folder of PATH",
    ),
    "modules": (with_variables(PYTHONPATH="/nowhere:lib/"), "what PYTHONPATH names"),
    "a script of the shell": (with_variables(BASH_ENV="./env.sh"), "what BASH_ENV names"),
    "a script of the shell, in settings": (
        with_local_settings(**NO_WEB, env={"CLAUDE_ENV_FILE": "./env.sh"}),
        "what CLAUDE_ENV_FILE names",
    ),
    "the instant": (
        _written(".mcp.json", text=json.dumps({"mcpServers": {"pit_fetch": _SERVER}})),
        "the --pit-file file of the server pit_fetch",
    ),
    "the mapping of a gate": (
        _with(
            _written("news.toml"),
            _written(".mcp.json", text=json.dumps({"mcpServers": {"news": {"command": "pit_fetch", "args": _GATE}}})),
        ),
        "the --tools file of the server news",
    ),
    "an archive": (
        _with(
            lambda session: with_variables(PIT_FETCH_ARCHIVE=f"{session.root}/kept/a.db")(session),
            lambda session: _allowing(f"Write(/{session.root}/kept/**)")(session),
        ),
        "the archive",
    ),
    "the program of a server": (
        lambda session: _written(
            ".mcp.json",
            text=json.dumps({"mcpServers": {"x": {"command": f"{session.project}/v/pit_fetch", "args": ["mcp"]}}}),
        )(session),
        "the program of the server x",
    ),
    "the hooks": (
        _with(
            replacing("$CLAUDE_PROJECT_DIR/.claude/hooks", "$CLAUDE_PROJECT_DIR/hooks"),
            lambda session: shutil.copytree(session.claude / "hooks", session.project / "hooks"),
        ),
        "the hook pit_g",
    ),
    "the settings": (
        with_user_settings(permissions={"allow": ["Edit(~/.config/**)"]}),
        "the settings of pit_fetch",
    ),
    "the project's settings": (_written("pit_fetch.toml", text="limit = 5"), "the project's pit_fetch.toml"),
    "everything": (
        lambda session: (session.user / "settings.json").write_text(
            json.dumps({"permissions": {"defaultMode": "bypassPermissions"}})
        ),
        "hooks and settings",
    ),
}


@pytest.mark.parametrize("name", EDITABLE)
def test_what_decides_and_may_be_edited_is_a_way_past_it(session: Session, name: str) -> None:
    change, what = EDITABLE[name]
    session.environ |= ALONE
    with_local_settings(**NO_WEB)(session)
    assert examine(session)["open"] == []
    change(session)
    ways = [message for message in examine(session)["open"] if message.startswith(f"scope: {what}")]
    assert ways
    assert all(" may be edited (" in way and way.endswith(": this session") for way in ways)
    with_user_settings(permissions={"deny": ["Write", "Edit", "NotebookEdit"]})(session)
    assert examine(session)["open"] == []


_REWRITES = "hooks: {PreToolUse: [{matcher: %s, hooks: [{type: command, command: x.sh}]}]}\n"


@pytest.mark.parametrize(
    ("change", "way", "trusted"),
    [
        (with_agent("desk", "tools: Bash\n" + _REWRITES % "Bash"), "a hook of the agent desk may put back", "desk"),
        (with_agent("desk", "tools: Bash\n" + _REWRITES % "'*'"), "a hook of the agent desk may put back", "desk"),
        (with_agent("desk", "tools: Bash\n" + _REWRITES % "Read"), "", ""),
        (
            _written(".claude", "skills", "plot", "SKILL.md", text=AGENT.format("plot", _REWRITES % "Bash")),
            "a hook of the skill plot may put back",
            "plot",
        ),
        (
            _written(".claude", "skills", "plot", "SKILL.md", text="---\nhooks: [\n---\n"),
            "a hook of the skill plot may put back",
            "session",
        ),
        (_written(".claude", "skills", "plot", "SKILL.md", text="---\nname: [\n---\n"), "", ""),
        (
            _written(".claude", "skills", "plot", "SKILL.md", text="Today: !`date`"),
            "the skill plot runs a command as it is loaded",
            "session",
        ),
        (
            _written(".claude", "commands", "news.md", text="```!\ndate\n```"),
            "the skill news runs a command as it is loaded",
            "news",
        ),
        (_written(".claude", "skills", "plot", "SKILL.md", text="Do not panic!\n`date`"), "", ""),
        (
            adding_entry("PermissionRequest", matcher="Bash", hooks=[{"type": "command", "command": "x.sh"}]),
            "a PermissionRequest hook of",
            "session",
        ),
    ],
)
def test_a_hook_that_no_proof_tries_and_a_command_that_no_hook_sees_are_named(
    session: Session, change: Change, way: str, trusted: str
) -> None:
    session.environ |= ALONE
    with_local_settings(**NO_WEB)(session)
    change(session)
    found = examine(session)["open"]
    assert [message.removeprefix("scope: ").startswith(way) for message in found] == [True] * bool(way)
    if way:
        assert open_ways(session, "--trust", trusted) == {}
        with_local_settings(permissions={"deny": ["Bash", *NO_WEB["permissions"]["deny"]]})(session)
        assert examine(session)["open"] == []


def test_a_folder_that_nobody_has_trusted_is_named(session: Session) -> None:
    untrusted = "this folder is not trusted yet: claude -p ignores the rules"
    assert has(examine(session)["warn"], untrusted)
    known = session.root / "home" / ".claude.json"
    for folder, is_named in ((session.project / "sub", True), (session.project, False), (session.root, False)):
        known.write_text(json.dumps({"projects": {str(folder): {"hasTrustDialogAccepted": True}}}))
        assert has(examine(session)["warn"], untrusted) is is_named
    known.unlink()
    with_user_settings(permissions={"allow": ["Bash(pit_fetch *)"]})(session)  # which hold in any folder
    assert not has(examine(session)["warn"], untrusted)


def test_each_agent_that_is_said_to_be_held_is_tried(session: Session) -> None:
    put_on_path(session, "claude", "echo '2.1.329 (Claude Code)'")
    with_agent("researcher", "tools: Bash\n")(session)
    with_agent("reader", "tools: Read\n")(session)
    session.environ |= ALONE
    client = FakeClient(HOLDS)
    client.is_enforced(session)
    assert client.calls[1][4] == ["", *sorted([*doctor.guard.ADAPTERS, "researcher"])]


def test_only_a_hook_that_is_wired_holds_a_session(session: Session) -> None:
    session.environ |= ALONE
    with_local_settings(**NO_WEB)(session)
    with_matcher(GUARD, "Write")(session)
    assert has(examine(session)["open"], "any command can be run: this session")


def test_who_is_trusted_is_not_asked_about_and_named(session: Session) -> None:
    put_on_path(session, "claude", "echo '2.1.329 (Claude Code)'")
    with_agent("researcher", "tools: Bash\n")(session)
    assert open_ways(session, "--trust", "session") == {"any command can be run": "the agent researcher"}
    assert open_ways(session, "--trust", "session, researcher") == {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prove, "prove", FakeClient(HOLDS).prove)
        verdict = report(session, "--prove", "--trust", "researcher,session", announce=print)["verdict"]
    assert verdict.endswith("Trusted to see more: researcher, session.")


def test_a_project_with_a_server_alone_needs_no_hooks(session: Session) -> None:
    shutil.rmtree(session.claude / "hooks")
    entry = {"command": "pit_fetch", "args": ["mcp", "--pit", "2024-02-15T16:00:00-05:00"]}
    (session.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"pit_fetch": entry}}))
    session.settings.write_text(json.dumps({"permissions": {"deny": ["Bash", "Monitor", "WebFetch", "WebSearch"]}}))
    levels = examine(session)
    assert (levels["fail"], levels["open"]) == ([], [])
    assert not has(levels["ok"] + levels["warn"], "wiring: ")
    session.settings.write_text("{}")
    assert has(examine(session)["fail"], "is not wired")  # agents of ours that run commands do need them
    shutil.rmtree(session.claude / "agents")
    levels = examine(session)
    assert levels["fail"] == []
    assert has(levels["open"], "any command can be run: this session")


# The wiring.


def test_a_project_after_init_is_wired(session: Session) -> None:
    session.environ["PIT_FETCH_WRAPPER_ONLY"] = "1"
    findings = examine(session)
    assert findings["fail"] == []
    assert has(findings["ok"], GATE, "withholds a planted leak")
    assert has(findings["ok"], GUARD, "refuses a compound command")
    assert has(findings["ok"], "ceiling: ")
    assert not has(findings["warn"], "zones: ")
    text = diagnose(session).text
    assert "Wired, not proved" in text
    assert "The PIT is enforced" not in text


def test_a_project_without_anything_does_not_hold(session: Session) -> None:
    shutil.rmtree(session.claude)
    assert examine(session)["fail"] == [
        "wiring: pit_guard.py at PreToolUse on Bash|Monitor is not wired",
        "wiring: pit_gate.py at PostToolUse on Bash is not wired",
    ]
    assert "FAIL  wiring" in diagnose(session).text


@pytest.mark.parametrize(
    ("change", "level", "message"),
    [
        (with_matcher(GUARD, "Bash"), "fail", "pit_guard.py at PreToolUse on Bash|Monitor is not wired"),
        (replacing('"PostToolUse"', '"PostToolUseFailure"'), "fail", "pit_gate.py at PostToolUse on Bash is not wired"),
        (with_fields(GUARD, timeout="ten"), "fail", "a timeout that is not a positive number: the client drops its"),
        (with_fields(GUARD, timeout=0), "fail", "a timeout that is not a positive number: the client drops its hooks"),
        (with_fields(GUARD, asyncRewake=True), "fail", "has asyncRewake"),
        (with_fields(GUARD, once=True, args=["x"]), "fail", "has args, once"),
        (with_fields(GUARD, type="prompt", prompt="x"), "fail", "is not wired"),
        (with_fields(GUARD, onFailure="deny"), "fail", "an onFailure that is neither block nor continue"),
        (with_fields(GUARD, **{"if": "Bash(pit_fetch *)"}), "fail", "has an if filter"),
        (with_fields(GUARD, **{"async": True}), "fail", "is async"),
        (replacing("hooks/pit_gate.py", "hooks/gone/pit_gate.py"), "fail", "pit_gate.py of"),
        (with_settings(disableAllHooks=True), "fail", "sets disableAllHooks"),
        (rewriting(lambda text: text[:-20]), "fail", "is not a JSON object"),
        (with_fields(GUARD, onFailure="continue"), "warn", "lacks onFailure"),
        (with_fields(GUARD, timeout=5), "warn", "has timeout 5"),
        (replacing("__perplexity_ask", "__perplexity_asks"), "warn", "perplexity_ask is not wired"),
        (
            adding_entry("PostToolUse", matcher="*", hooks=[{"type": "command", "command": "./mine.sh"}]),
            "warn",
            "another PostToolUse hook",
        ),
        (lambda session: (session.claude / "hooks" / GATE).chmod(0o644), "warn", "not executable"),
    ],
)
def test_what_does_not_or_may_not_enforce_is_found(session: Session, change: Change, level: str, message: str) -> None:
    change(session)
    findings = examine(session)
    assert has(findings[level], message)
    assert level == "fail" or findings["fail"] == []


@pytest.mark.parametrize("name", [GATE, GUARD])
@pytest.mark.parametrize("text", ["", "raise SystemExit(1)", "print('{}')", 'print(\'{"decision": "block"}\')'])
def test_a_hook_file_that_does_not_do_its_work_is_found(session: Session, name: str, text: str) -> None:
    hook_file(name, text)(session)
    findings = examine(session)
    assert has(findings["fail"], "does not do this", name)
    assert has(findings["warn"], "1 file in ", ": edited, as no version has them (hooks/", name)


def test_a_hook_that_hangs_is_found_in_time(session: Session) -> None:
    hook_file(GATE, "import select\nselect.select([], [], [])")(session)
    assert has(examine(session, seconds=0.2)["fail"], GATE, "gave no answer in 0.2 s")


@pytest.mark.parametrize(
    ("event", "tool", "before"),
    [
        ("PreToolUse", "mcp__neo4j-cypher__read_neo4j_cypher", "env -u PIT_FETCH_CEILING "),
        ("PreToolUse", "mcp__neo4j-cypher__get_neo4j_schema", "PIT_FETCH_CEILING=2030-01-01T00:00:00Z true; : "),
        ("PreToolUse", "ReadMcpResourceTool", "env -i PATH=/usr/bin:/bin "),
        ("PreToolUse", "ListMcpResourcesTool", "env -i PATH=/usr/bin:/bin "),
        ("PostToolUse", "mcp__neo4j-cypher__read_neo4j_cypher", "PIT_FETCH_CEILING=2030-01-01T00:00:00Z "),
        ("PostToolUse", "mcp__perplexity__perplexity_ask", "env -u PIT_FETCH_CEILING "),
    ],
)
def test_a_hook_that_is_run_otherwise_for_one_tool_is_found(
    session: Session, event: str, tool: str, before: str
) -> None:
    settings = json.loads(session.settings.read_text())
    for entry in settings["hooks"][event]:
        if entry["matcher"] == tool:
            entry["hooks"][0]["command"] = before + entry["hooks"][0]["command"]
    session.settings.write_text(json.dumps(settings))
    assert has(examine(session)["fail"], "does not do this", tool)


@pytest.mark.parametrize("switch", ["disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization"])
@pytest.mark.parametrize("name", ["managed-settings.json", "managed-settings.d/10-mine.json"])
def test_an_administrators_switch_is_found(
    session: Session, monkeypatch: pytest.MonkeyPatch, switch: str, name: str
) -> None:
    path = session.root / "etc" / name
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({switch: True}))
    monkeypatch.setattr(client_settings, "MANAGED", (session.root / "etc",))
    assert has(examine(session)["fail"], f"sets {switch}")


# MCP servers and agents.


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
    session: Session, name: str, settings: dict[str, Any], level: str
) -> None:
    (session.project / ".mcp.json").write_text(json.dumps({"mcpServers": {name: settings}}))
    findings = examine(session)
    assert has(findings[level], "neo4j: ")
    assert (findings["fail"] == []) == (level != "fail")


def test_an_mcp_server_is_found_wherever_it_is_configured(session: Session) -> None:
    servers = {"mcpServers": {"graph": {"command": "mcp-neo4j-cypher"}}}
    shared, own = session.project / ".mcp.json", session.root / "home" / ".claude.json"
    of_project = {"projects": {str(session.project.resolve()): servers}}
    for path, content in ((shared, servers), (own, servers), (own, of_project)):
        path.write_text(json.dumps(content))
        assert has(examine(session)["fail"], "server graph of")
        path.unlink()
    shared.write_text("{")
    assert examine(session)["fail"] == []


def test_a_server_without_a_guard_on_its_resources_is_found(session: Session) -> None:
    servers = {"mcpServers": {"neo4j-cypher": {"url": "http://127.0.0.1:1/mcp"}}}
    (session.project / ".mcp.json").write_text(json.dumps(servers))
    assert examine(session)["fail"] == []
    for tool in ("ReadMcpResourceTool", "ListMcpResourcesTool"):
        replacing(f'"{tool}"', f'"{tool}s"')(session)
        assert has(examine(session)["fail"], f"pit_guard.py on {tool} is not wired")
        replacing(f'"{tool}s"', f'"{tool}"')(session)


# The environment.


def findings_of(check: str, session: Session, **variables: str) -> Findings:
    """Return the messages of one check that needs no program."""
    session.environ.update(variables)
    levels = examine(session, run=lambda *args: "")
    mine = {level: [text for text in texts if text.startswith(f"{check}: ")] for level, texts in levels.items()}
    return {level: texts for level, texts in mine.items() if texts}


def in_file(session: Session, ceiling: str) -> None:
    (session.project / "pit_fetch.toml").write_text(f'ceiling = "{ceiling}"\n')


def test_a_ceiling_in_a_settings_file_of_pit_fetch_is_named_with_what_it_does_not_bind(session: Session) -> None:
    in_file(session, "2024-02-01T00:00:00Z")
    (message,) = findings_of("ceiling", session)["note"]
    assert "pit_fetch.toml holds pit_fetch to the earlier 2024-02-01T00:00:00Z" in message
    in_file(session, "2025-02-01T00:00:00Z")
    assert list(findings_of("ceiling", session)) == ["ok"]
    del session.environ["PIT_FETCH_CEILING"]
    (message,) = findings_of("ceiling", session)["warn"]
    assert "guard and gate know only the variable" in message


def test_a_file_that_raises_the_ceiling_is_named(session: Session) -> None:
    with_local_settings(env={"PIT_FETCH_CEILING": "2025-01-01T00:00:00Z"})(session)
    (message,) = findings_of("ceiling", session, PIT_FETCH_CEILING="2024-02-15T16:00:00Z")["fail"]
    assert f"{session.claude / 'settings.local.json'} raises" in message


def test_a_misspelt_variable_is_found_in_the_environment_and_in_the_clients_settings(session: Session) -> None:
    assert not findings_of("variable", session, PIT_FETCH_CEILING_URL="x")
    (message,) = findings_of("variable", session, PIT_FETCH_ARCHVE="a.db")["warn"]
    assert "PIT_FETCH_ARCHVE is not a variable" in message
    with_local_settings(env={"PIT_FETCH_WRAPPERS_ONLY": "1"})(session)
    (message,) = findings_of("variable", session)["fail"]
    assert "PIT_FETCH_WRAPPERS_ONLY restricts nothing" in message
    assert len(findings_of("variable", session, PIT_FETCH_CELING="2024-02-15T16:00:00Z")["fail"]) == 2


@pytest.mark.parametrize("ceiling", ["", "2024-02-15"])
def test_a_ceiling_that_cannot_be_read_is_found(session: Session, ceiling: str) -> None:
    (message,) = findings_of("ceiling", session, PIT_FETCH_CEILING=ceiling)["fail"]
    assert "cannot be read" in message


def test_the_strongest_file_decides_on_the_ceiling(session: Session) -> None:
    earlier = "2024-01-01T00:00:00Z"
    with_settings(env={"PIT_FETCH_CEILING": "2030-01-01T00:00:00Z"})(session)
    with_local_settings(env={"PIT_FETCH_CEILING": earlier})(session)
    (message,) = findings_of("ceiling", session)["ok"]
    assert f"at or before {earlier}" in message


def test_an_audit_file_in_the_agents_reach_is_found(session: Session) -> None:
    (message,) = findings_of("audit", session, PIT_FETCH_AUDIT="logs/audit.jsonl")["fail"]
    assert "PIT_FETCH_AUDIT" in message
    assert list(findings_of("audit", session, PIT_FETCH_AUDIT=str(session.root / "audit.jsonl"))) == ["ok"]


def test_a_cache_in_the_agents_reach_is_found(session: Session) -> None:
    (message,) = findings_of("cache", session, XDG_CACHE_HOME=str(session.project / "cache"))["warn"]
    assert "today's lists" in message
    assert findings_of("cache", session, XDG_CACHE_HOME=str(session.root / "cache")) == {}


def test_an_archive_in_the_agents_reach_is_found(session: Session) -> None:
    apart, project = session.root / "apart", session.project
    apart.mkdir()
    (project / "link").symlink_to(apart)
    archive = apart / "a.db"
    assert findings_of("archive", session) == {}
    for inside in ("a.db", str(project / "deep" / "a.db"), str(apart / ".." / "project" / "a.db")):
        (message,) = findings_of("archive", session, PIT_FETCH_ARCHIVE=inside)["fail"]
        served = {"command": "pit_fetch", "args": ["mcp", "--archive", inside]}
        _written(".mcp.json", text=json.dumps({"mcpServers": {"desk": served}}))(session)
        _, message_of_server = findings_of("archive", session)["fail"]
        assert "--archive of the server desk" in message_of_server
        (session.project / ".mcp.json").unlink()
        assert "inside the project" in message
    for outside in ("link/a.db", str(archive)):
        assert list(findings_of("archive", session, PIT_FETCH_ARCHIVE=outside)) == ["ok"]
    archive.touch(mode=0o644)
    assert list(findings_of("archive", session)) == ["warn"]


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
def test_what_settings_allow_to_be_read_counts(session: Session, permissions: Any, is_readable: bool) -> None:
    apart = session.root / "apart"
    apart.mkdir()
    text = json.dumps({"permissions": permissions}).replace("{apart}", str(apart))
    (session.claude / "settings.local.json").write_text(text)
    findings = findings_of("archive", session, PIT_FETCH_ARCHIVE=str(apart / "a.db"))
    assert list(findings) == ["fail" if is_readable else "ok"]


def test_a_credential_is_named_and_never_shown(session: Session) -> None:
    secret = "a-secret-of-some-length"
    session.environ["BENZINGANEWS_API_KEY"] = secret
    text = diagnose(session, run=lambda *args: "").text
    assert "BENZINGANEWS_API_KEY or BENZINGA_API_KEY is set" in text
    assert secret not in text


# The programs.


def test_agents_that_cannot_call_pit_fetch_are_found(session: Session) -> None:
    session.environ["PATH"] = "/usr/bin:/bin"
    assert has(examine(session)["fail"], "command: pit_fetch is not on PATH, so the bundled agents can ask nothing")
    shutil.rmtree(session.claude / "agents")
    assert has(examine(session)["warn"], "command: pit_fetch is not on PATH")


@pytest.mark.parametrize(
    ("name", "text", "level", "message"),
    [
        ("claude", "echo '2.1.329 (Claude Code)'", "ok", "client: Claude Code 2.1.329"),
        ("claude", "echo '2.1.197 (Claude Code)'", "warn", "ignores onFailure"),
        ("claude", "echo '2.1.9 (Claude Code)'", "fail", "cannot replace"),
        ("python3", "echo 3 8 18", "fail", "python3 on PATH is 3.8.18"),
        ("python3", "exit 1", "fail", "python3 on PATH is missing or too slow"),
        ("python3", "exit 1", "warn", "zones: the hooks find no time zones here"),
    ],
)
def test_a_program_that_the_hooks_cannot_use_is_found(
    session: Session, name: str, text: str, level: str, message: str
) -> None:
    put_on_path(session, name, text)
    assert has(examine(session)[level], message)


def test_a_compiled_gate_that_is_not_its_source_is_found(tmp_path: Path) -> None:
    path = tmp_path / GATE
    path.write_bytes(Path(str(gate.__file__)).read_bytes())
    assert machine_check.check_cache(path, os.environ, THIS_SYSTEM) == []
    honest = "def runs_wrapper(command: str) -> bool:"
    evil = path.read_text().replace(honest, "def runs_wrapper(_):\n    return False")
    assert evil != path.read_text()
    cached = Path(importlib.util.cache_from_source(str(path)))
    cached.parent.mkdir()
    # Not checked against its source (PEP 552), so that it may come with a repository, whose files have no times.
    code = marshal.dumps(compile(evil, str(path), "exec"))
    cached.write_bytes(importlib.util.MAGIC_NUMBER + bytes([1]) + bytes(11) + code)
    environ = {**os.environ, "PATH": PATH}
    (finding,) = machine_check.check_cache(path, environ, THIS_SYSTEM)
    assert (finding.level, finding.check) == ("fail", "files")
    cached.unlink()
    assert machine_check.check_cache(path, environ, THIS_SYSTEM) == []
