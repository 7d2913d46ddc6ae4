"""The entry of our MCP server: put in and taken out with nothing else changed, and what doctor says of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.claude_code import mcp_check
from pit_fetch.claude_code.mcp_entry import is_ours
from pit_fetch.claude_code.mcp_servers import Entry
from pit_fetch.cli import command
from pit_fetch.cli.command import CommandResult

PIT, LATER = "2024-02-15T16:00:00-05:00", "2024-02-15T16:00:01-05:00"
OURS = {"command": "pit_fetch", "args": ["mcp", "--pit", PIT]}
OTHERS = {"command": "other", "args": ["--pit_fetch", "mcp-files"]}


def init(folder: Path, *words: str) -> CommandResult:
    return command.run(["init", "--mcp", *words], {}, str(folder))


def servers(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / ".mcp.json").read_text())
    return content["mcpServers"] if set(content) == {"mcpServers"} else content


def write(folder: Path, content: object) -> None:
    (folder / ".mcp.json").write_text(content if isinstance(content, str) else json.dumps(content))


def test_the_entry_is_written_once_and_shown_for_other_clients(tmp_path: Path) -> None:
    assert "would create" in init(tmp_path, "--pit", PIT, "--dry-run").text
    assert list(tmp_path.iterdir()) == []
    made = init(tmp_path, "--pit", PIT)
    assert servers(tmp_path) == {"pit_fetch": OURS}
    shown = json.loads(made.text[made.text.index("{") : made.text.rindex("}") + 1])
    assert shown["mcpServers"]["pit_fetch"]["args"] == OURS["args"]
    assert "unchanged" in init(tmp_path, "--pit", PIT).text
    assert [path.name for path in tmp_path.iterdir()] == [".mcp.json"]


def test_what_else_is_in_the_file_stays(tmp_path: Path) -> None:
    write(tmp_path, {"mcpServers": {"other": OTHERS}, "more": 1})
    init(tmp_path, "--pit-file", "instant")
    assert servers(tmp_path)["mcpServers"]["pit_fetch"]["args"] == ["mcp", "--pit-file", "instant"]
    init(tmp_path, "--uninstall")
    assert servers(tmp_path) == {"mcpServers": {"other": OTHERS}, "more": 1}
    assert init(tmp_path, "--uninstall").text == "nothing to take out\n"


def test_an_entry_of_another_instant_is_kept_unless_forced(tmp_path: Path) -> None:
    init(tmp_path, "--pit", PIT)
    kept = init(tmp_path)
    assert (kept.status, "KEPT" in kept.text, servers(tmp_path)["pit_fetch"]) == (1, True, OURS)
    assert init(tmp_path, "--force").status == 0
    assert servers(tmp_path)["pit_fetch"] == {"command": "pit_fetch", "args": ["mcp"]}
    assert init(tmp_path, "--uninstall").status == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "[]", "{", '{"mcpServers": []}'])
def test_a_file_that_cannot_be_merged_is_left_alone(tmp_path: Path, content: str) -> None:
    write(tmp_path, content)
    for words in ((), ("--uninstall",)):
        refused = init(tmp_path, *words)
        assert (refused.status, "nothing was changed" in refused.complaint) == (2, True)
    assert (tmp_path / ".mcp.json").read_text() == content


@pytest.mark.parametrize(("words", "fix"), [(["--mcp", "--pit", "2024-02-15"], "such as"), (["--pit", PIT], "--mcp")])
def test_an_instant_that_cannot_be_used_is_refused(tmp_path: Path, words: list[str], fix: str) -> None:
    refused = command.run(["init", *words], {}, str(tmp_path))
    assert (refused.status, fix in refused.complaint, list(tmp_path.iterdir())) == (2, True, [])


@pytest.mark.parametrize(
    ("words", "ours"),
    [
        ("pit_fetch mcp", True),
        ("/opt/bin/pit_fetch mcp --pit-file x", True),
        ("python3 -m pit_fetch mcp", True),
        ("python3 /src/pit_fetch.py mcp", True),
        ("uv run pit_fetch mcp", True),
        ("pit_fetch mcp-gate --tools neo4j -- mcp-neo4j-cypher", True),
        ("env A=1 pit_fetch mcp", True),
        ("other mcp", False),
        ("pit_fetch --source mcp", False),
        ("None", False),
    ],
)
def test_our_server_is_known_by_its_command(words: str, ours: bool) -> None:
    assert is_ours(words.split()) is ours


def _findings(ceiling: str | None, *commands: str, sdk: str = "2.3.0", **environ: str) -> list[tuple[str, str]]:
    entries = [Entry(f"s{n}", Path(".mcp.json"), tuple(words.split()), environ) for n, words in enumerate(commands)]
    return [(finding.level, finding.message) for finding in mcp_check.check_entries(entries, ceiling, lambda: sdk, str)]


@pytest.mark.parametrize(
    ("ceiling", "words", "environ", "level", "says"),
    [
        (PIT, "pit_fetch mcp", {}, "ok", f"as of {PIT}"),
        (LATER, f"pit_fetch mcp --pit {PIT}", {}, "ok", f"as of {PIT}, and of nothing after {LATER}"),
        (PIT, "pit_fetch mcp --pit-file=now", {}, "ok", "the instant in now"),
        (PIT, "pit_fetch mcp", {"PIT_FETCH_CEILING": PIT}, "ok", ""),
        (None, f"pit_fetch mcp --pit {PIT}", {}, "warn", "who may write .mcp.json"),
        (None, "pit_fetch mcp --pit-file now", {}, "warn", "who may write .mcp.json and now"),
        (None, "pit_fetch mcp", {}, "fail", "no instant"),
        (PIT, f"pit_fetch mcp --pit {LATER}", {}, "fail", "above the ceiling"),
        (PIT, "pit_fetch mcp --pit today", {}, "fail", "no instant"),
        (PIT, "pit_fetch mcp", {"PIT_FETCH_CEILING": LATER}, "fail", "of its own"),
        (PIT, "pit_fetch mcp", {"PIT_FETCH_CEILING": ""}, "fail", "of its own"),
        (PIT, f"env PIT_FETCH_CEILING={LATER} pit_fetch mcp", {}, "fail", "through another program"),
        (PIT, f"env -u PIT_FETCH_CEILING pit_fetch mcp --pit {PIT}", {}, "fail", "through another program"),
        (PIT, "uv run --env-file e pit_fetch mcp", {}, "fail", "through another program"),
        (PIT, "uv run pit_fetch mcp", {}, "ok", f"as of {PIT}"),
        (PIT, "python3 -m pit_fetch mcp", {}, "ok", f"as of {PIT}"),
        (PIT, f"pit_fetch mcp --pit {PIT} --pit-file x", {}, "fail", "both"),
        (None, f"pit_fetch mcp-gate --tools neo4j -- other --pit {PIT}", {}, "fail", "no instant"),
    ],
)
def test_an_entry_is_judged_by_what_fixes_its_instant(
    ceiling: str | None, words: str, environ: dict[str, str], level: str, says: str
) -> None:
    [(found, message)] = _findings(ceiling, words, **environ)
    assert (found, says in message) == (level, True)


@pytest.mark.parametrize("command", [("bash", "-c", "A=1 pit_fetch mcp"), ("pit_fetch mcp",)])
def test_a_server_that_a_shell_starts_is_not_judged_by_its_words(command: tuple[str, ...]) -> None:
    found = mcp_check.check_entries([Entry("s", Path(".mcp.json"), command)], PIT, lambda: "2.3.0", str)
    assert [(finding.level, "through another program" in finding.message) for finding in found] == [("fail", True)]


def test_a_program_that_is_not_there_is_found() -> None:
    ours = Entry("s", Path(".mcp.json"), ("pit_fetch", "mcp"))
    found = list(mcp_check.check_entries([ours], PIT, lambda: "2.3.0", {"other": "/bin/other"}.get))
    assert ("warn", True) in [(finding.level, "no program pit_fetch on PATH" in finding.message) for finding in found]


def test_servers_of_different_instants_are_named() -> None:
    found = _findings(LATER, "pit_fetch mcp", f"pit_fetch mcp --pit {PIT}")
    assert [level for level, _ in found] == ["ok", "ok", "warn"]
    assert _findings(PIT, "other mcp") == []


@pytest.mark.parametrize("sdk", ["", "1.30.0"])
def test_a_missing_or_older_sdk_is_found(sdk: str) -> None:
    [(level, message), _] = _findings(PIT, "pit_fetch mcp", sdk=sdk)
    assert (level, "does not start" in message) == ("fail", True)
