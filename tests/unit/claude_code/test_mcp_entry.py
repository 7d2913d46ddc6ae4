"""The entry of our MCP server: put in and taken out with nothing else changed, and what doctor says of one."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.claude_code import mcp_check
from pit_fetch.claude_code.mcp_entry import is_ours
from pit_fetch.claude_code.mcp_servers import ServerEntry
from pit_fetch.cli import command
from pit_fetch.cli.command import CommandResult

PIT, LATER = "2024-02-15T16:00:00-05:00", "2024-02-15T16:00:01-05:00"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
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
    assert kept.text.endswith(f"The kept entry answers as of {PIT}.\n")  # and no other instant is shown
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
        ("pit_fetch mcp-gate --tools news.toml -- news-server", True),
        ("env A=1 pit_fetch mcp", True),
        ("${PF:-pit_fetch} mcp", True),
        ("pit_fetch ${S:-mcp}", True),
        ("bash -c x=pit_fetch;$x 'mcp'", True),
        ('bash -c "pit_fetch" mcp', True),
        ("python3 /src/pit_fetch/__main__.py mcp", True),
        ("uvx pit-fetch@late mcp", True),
        ("other mcp", False),
        ("mcp-files /home/me/pit_fetch", False),
        ("pit_fetch fred", False),
        ("None", False),
    ],
)
def test_our_server_is_known_by_its_command(words: str, ours: bool) -> None:
    assert is_ours(words.split()) is ours


# The program that doctor is part of, as it is found on PATH.
PROGRAM = str(Path(sys.executable).with_name("pit_fetch"))


def _find(program: str) -> str | None:
    return {"pit_fetch": PROGRAM}.get(program, program)


def _findings(
    ceiling: str | None,
    *commands: str | Sequence[str],
    sdk: str = "2.3.0",
    inherited: Sequence[str] = (),
    **environ: str,
) -> list[tuple[str, str]]:
    words = [tuple(command.split()) if isinstance(command, str) else tuple(command) for command in commands]
    entries = [ServerEntry(f"s{number}", Path(".mcp.json"), command, environ) for number, command in enumerate(words)]
    found = mcp_check.check_entries(entries, ceiling, NOW, lambda: sdk, _find, inherited)
    return [(finding.level, finding.message) for finding in found]


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
        (None, "pit_fetch mcp --pit 2124-02-15T16:00:00Z", {}, "warn", "which is yet to come"),
        (PIT, "pit_fetch mcp --pit 2024-02-15", {}, "fail", "a --pit that is no instant (2024-02-15)"),
        (PIT, f"pit_fetch mcp --pit {LATER}", {}, "fail", f"has the --pit {LATER}, which is after the ceiling, {PIT}"),
        (PIT, "pit_fetch mcp --pit today", {}, "fail", "no instant"),
        (PIT, "pit_fetch mcp", {"PIT_FETCH_CEILING": LATER}, "fail", "of its own"),
        (PIT, "pit_fetch mcp", {"PIT_FETCH_CEILING": ""}, "fail", "of its own"),
        (PIT, f"{PROGRAM} mcp --pit={PIT} --sources fred", {"FRED_API_KEY": "k"}, "ok", f"as of {PIT}"),
        (PIT, "pit_fetch mcp-gate --tools news.toml -- uvx --from $X other", {"NEO4J_URI": "x"}, "ok", f"as of {PIT}"),
        (PIT, f"pit_fetch mcp --pit {PIT} --pit-file x", {}, "fail", "both"),
        (None, f"pit_fetch mcp-gate --tools news.toml -- other --pit {PIT}", {}, "fail", "no instant"),
    ],
)
def test_an_entry_is_judged_by_what_fixes_its_instant(
    ceiling: str | None, words: str, environ: dict[str, str], level: str, says: str
) -> None:
    [(found, message)] = _findings(ceiling, words, **environ)
    assert (found, says in message) == (level, True)


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHOME", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"])
def test_a_variable_that_decides_what_runs_is_found_wherever_it_is_set(name: str) -> None:
    for found in (_findings(PIT, "pit_fetch mcp", **{name: "x"}), _findings(PIT, "pit_fetch mcp", inherited=[name])):
        assert [(level, f"cannot be judged: {name} in its" in text) for level, text in found] == [("fail", True)]


def test_servers_of_different_instants_are_named() -> None:
    found = _findings(LATER, "pit_fetch mcp", f"pit_fetch mcp --pit {PIT}")
    assert [level for level, _ in found] == ["ok", "ok", "warn"]
    assert _findings(PIT, "other mcp") == []
