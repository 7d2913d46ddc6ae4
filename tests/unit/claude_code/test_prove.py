"""The proof: how it judges what a client does with the planted calls."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from pit_fetch.claude_code import prove
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


def prove_with(tmp_path: Path, answer: str, beside: str = "'x'") -> ClientProof:
    client = write_program(tmp_path / "client", CLIENT.format(answer=answer, beside=beside), sys.executable)
    return prove.prove(client, {"PATH": PATH, "NO_PROXY": "127.0.0.1"}, tmp_path, CEILING, ["bz-news-api"])


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
