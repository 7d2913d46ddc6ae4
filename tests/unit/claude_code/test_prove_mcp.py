"""The proof of the MCP servers: how it judges what a client answers for each entry."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pit_fetch.claude_code.mcp_servers import ServerEntry
from pit_fetch.claude_code.prove import prove_entries
from tests.unit.claude_code.fake_system import PATH, write_program

CEILING = datetime(2024, 2, 15, 21, tzinfo=UTC)
EARLIER, AT, LATER = "2024-02-14T16:00:00-05:00", "2024-02-15T16:00:00-05:00", "2024-02-15T16:00:01-05:00"
REFUSED, ABSENT = '{"data": [], "gaps": []}', "Error: No such tool available"

# A client that is a script: it makes every call, and answers as the table has it.
CLIENT = """
import json, os, sys, urllib.request
answers = {answers}
def ask(messages):
    body = json.dumps({{"model": "m", "tools": [1], "messages": messages}}).encode()
    url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
    return json.load(urllib.request.urlopen(urllib.request.Request(url, body)))["content"]
first = [{{"role": "user", "content": sys.argv[2]}}]
blocks = ask(first)
results = []
for block in blocks:
    kind = ("planted" if "planted" in block["name"] else "ours") + (" moved" if "pit" in block["input"] else "")
    results.append({{"type": "tool_result", "tool_use_id": block["id"], "content": answers[kind]}})
ask([*first, {{"role": "assistant", "content": blocks}}, {{"role": "user", "content": results}}])
"""


def instant(text: str) -> str:
    return json.dumps({"instant": text})


@pytest.mark.parametrize(
    ("plain", "moved", "planted", "levels"),
    [
        (instant(AT), REFUSED, ABSENT, ["ok", "ok", "ok"]),
        (json.dumps(instant(AT)), REFUSED, ABSENT, ["ok", "ok", "ok"]),
        (instant(EARLIER), REFUSED, ABSENT, ["ok", "ok", "ok"]),
        (instant(LATER), REFUSED, ABSENT, ["fail", "ok", "fail"]),
        (instant(AT), instant(LATER), ABSENT, ["fail", "ok", "fail"]),
        (instant(AT), instant(AT), ABSENT, ["fail", "ok", "fail"]),
        (instant("soon"), REFUSED, ABSENT, ["fail", "ok", "fail"]),
        (ABSENT, ABSENT, ABSENT, ["fail", "ok", "fail"]),
        (instant(AT), REFUSED, instant(LATER), ["ok", "fail", "ok"]),
    ],
)
def test_a_server_is_proved_by_what_the_client_answers(
    tmp_path: Path, plain: str, moved: str, planted: str, levels: list[str]
) -> None:
    answers = {"ours": plain, "ours moved": moved, "planted": planted, "planted moved": planted}
    client = write_program(tmp_path / "client", CLIENT.format(answers=answers), sys.executable)
    entry = ServerEntry("pit_fetch", tmp_path / ".mcp.json", ("pit_fetch", "mcp"))
    environ = {"PATH": PATH, "NO_PROXY": "127.0.0.1"}
    assert [found.level for found in prove_entries(client, environ, tmp_path, CEILING, [entry])] == levels


def test_a_client_that_does_not_start_proves_nothing(tmp_path: Path) -> None:
    entry = ServerEntry("pit_fetch", tmp_path / ".mcp.json", ("pit_fetch", "mcp"))
    found = list(prove_entries(str(tmp_path / "gone"), {"PATH": PATH}, tmp_path, CEILING, [entry]))
    assert [(finding.level, "does not start" in finding.message) for finding in found] == [("fail", True)] * 3


@pytest.mark.parametrize(
    ("plain", "moved", "levels"),
    [(instant(AT), REFUSED, ["ok"]), (instant(LATER), REFUSED, ["fail"]), (ABSENT, ABSENT, ["fail"])],
)
def test_without_a_ceiling_a_server_is_held_to_its_own_instant(
    tmp_path: Path, plain: str, moved: str, levels: list[str]
) -> None:
    client = write_program(
        tmp_path / "client", CLIENT.format(answers={"ours": plain, "ours moved": moved}), sys.executable
    )
    entry = ServerEntry("pit_fetch", tmp_path / ".mcp.json", ("pit_fetch", "mcp", "--pit", AT))
    environ = {"PATH": PATH, "NO_PROXY": "127.0.0.1"}
    assert [found.level for found in prove_entries(client, environ, tmp_path, None, [entry])] == levels
