"""The proof: how it judges what a client does with the planted calls, and what it answers for each MCP server."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pit_fetch.claude_code import prove
from pit_fetch.claude_code.mcp_servers import ServerEntry
from pit_fetch.claude_code.prove import ClientProof
from tests.unit.claude_code.fake_system import PATH, write_program

CEILING = datetime(2024, 2, 15, 21, tzinfo=UTC)

# A client that is a script: it makes every call that the model asks for, and sends back ``answer`` and ``beside``.

CLIENT = """
import json, os, subprocess, sys, urllib.request
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
def ask(messages):
    body = json.dumps({{"model": "m", "tools": [1], "messages": messages}}).encode()
    return json.load(urllib.request.urlopen(urllib.request.Request(url, body)))["content"]
first = [{{"role": "user", "content": sys.argv[2]}}]
blocks = ask(first)
results = []
for block in blocks:
    command = block["input"].get("command", "echo no")
    text = subprocess.run(command, shell=True, capture_output=True, text=True).stdout
    results.append({{"type": "tool_result", "tool_use_id": block["id"], "content": {answer}}})
    results += [{{"type": "text", "text": {beside}}}]
results.sort(key=lambda block: block["type"] == "text")
ask([*first, {{"role": "assistant", "content": blocks}}, {{"role": "user", "content": results}}])
"""


ENVIRON = {"PATH": PATH, "NO_PROXY": "127.0.0.1"}


def client_with(tmp_path: Path, answer: str, beside: str = "'x'") -> str:
    return write_program(tmp_path / "client", CLIENT.format(answer=answer, beside=beside), sys.executable)


def prove_with(tmp_path: Path, answer: str, beside: str = "'x'") -> ClientProof:
    return prove.prove(client_with(tmp_path, answer, beside), ENVIRON, tmp_path, CEILING, ["bz-news-api"])


def test_a_client_that_shows_everything_leaks(tmp_path: Path) -> None:
    proof = prove_with(tmp_path, "text")
    assert not proof.holds
    assert [result.leaked for result in proof.results[:3]] == [True, False, True]


def test_a_client_that_shows_nothing_leaks_nothing_and_proves_nothing(tmp_path: Path) -> None:
    proof = prove_with(tmp_path, "'no'")
    assert (proof.holds, any(result.leaked for result in proof.results)) == (False, False)
    assert {result.seen for result in proof.results} == {"something else"}
    assert proof.problem == "the client did not make every planted call"  # it has no agents


def test_a_leak_is_seen_wherever_it_reaches_the_model(tmp_path: Path) -> None:
    assert "reached the model" in prove_with(tmp_path, "'no'", beside="text").problem


def test_a_client_that_does_not_start_or_end_proves_nothing(tmp_path: Path) -> None:
    slow = write_program(tmp_path / "slow", "sleep 30")
    for client, problem in ((str(tmp_path / "gone"), "does not start"), (slow, "not done")):
        assert problem in prove.prove(client, {"PATH": PATH}, tmp_path, CEILING, [], seconds=0.2).problem


# The MCP servers.

EARLIER, AT, LATER = "2024-02-14T16:00:00-05:00", "2024-02-15T16:00:00-05:00", "2024-02-15T16:00:01-05:00"
REFUSED, ABSENT = '{"data": [], "gaps": []}', "Error: No such tool available"
# Which call a client answers, as the tables have it.
KIND = '("planted" if "planted" in block["name"] else "ours") + (" moved" if "pit" in block["input"] else "")'


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
    entry = ServerEntry("pit_fetch", tmp_path / ".mcp.json", ("pit_fetch", "mcp"))
    client = client_with(tmp_path, f"{answers}[{KIND}]")
    assert [found.level for found in prove.prove_entries(client, ENVIRON, tmp_path, CEILING, [entry])] == levels


def test_a_client_that_does_not_start_proves_nothing(tmp_path: Path) -> None:
    entry = ServerEntry("pit_fetch", tmp_path / ".mcp.json", ("pit_fetch", "mcp"))
    found = list(prove.prove_entries(str(tmp_path / "gone"), {"PATH": PATH}, tmp_path, CEILING, [entry]))
    assert [(finding.level, "does not start" in finding.message) for finding in found] == [("fail", True)] * 3


@pytest.mark.parametrize(
    ("plain", "moved", "levels"),
    [(instant(AT), REFUSED, ["ok"]), (instant(LATER), REFUSED, ["fail"]), (ABSENT, ABSENT, ["fail"])],
)
def test_without_a_ceiling_a_server_is_held_to_its_own_instant(
    tmp_path: Path, plain: str, moved: str, levels: list[str]
) -> None:
    entry = ServerEntry("pit_fetch", tmp_path / ".mcp.json", ("pit_fetch", "mcp", "--pit", AT))
    client = client_with(tmp_path, f"{ ({'ours': plain, 'ours moved': moved}) }[{KIND}]")
    assert [found.level for found in prove.prove_entries(client, ENVIRON, tmp_path, None, [entry])] == levels
