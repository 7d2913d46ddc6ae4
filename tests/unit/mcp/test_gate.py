"""The gate as a process in front of a server that leaks wherever the protocol lets it: nothing of that passes."""

from __future__ import annotations

import json
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.laws.mcp import requests_of
from tests.unit.mcp import upstream_server
from tests.unit.mcp.wire_client import PIT, WireClient, environment, running

CANARY = "CANARY"
MAPPING = """
[tools.news]
description = "News by topic."
items = "feed"
id = "id"
available_at = "at"
revised_at = "changed"
keep = ["title", "text"]
pin = { secret = "pinned" }
clamp = { until = "instant" }

[tools.envelopes]
envelope = true
items = "0.data"

[tools.fails]
available_at = "at"
"""

STAMPS = {"available_at_source": "neo4j_created"}
PUBLIC = [{"id": f"p{n}", "at": f"2024-02-15T1{n}:00:00-05:00", "title": f"Title {n}"} for n in range(3)]
LATE = [
    {"id": "l1", "at": "2024-02-15T16:00:00.000001-05:00", "title": CANARY},
    {"id": "l2", "at": "2024-02-15T10:00:00-05:00", "changed": "2024-02-16T10:00:00-05:00", "title": CANARY},
    {"id": "l3", "at": "yesterday", "title": CANARY},
    {"id": "l4", "title": CANARY},
    {"id": "l5", "at": "2024-02-15T10:00:00-05:00", "changed": CANARY, "title": CANARY},
    {"id": "l6", "at": "2024-03-15T10:00:00-05:00", "title": float("nan")},
    {"id": "l7", "at": "2024-03-15T10:00:00-05:00", "title": [float("inf")]},
    CANARY,
    None,
]
CLEAN = [{"available_at": "2024-02-15T10:00:00-05:00", **STAMPS, "id": "e1", "title": "early"}]
LEAK = [
    {"available_at": "2024-02-16T10:00:00-05:00", **STAMPS, "id": "e2", "title": CANARY},
    {"available_at": "2024-02-15T10:00:00-05:00", "available_at_source": CANARY, "id": "e3", "title": CANARY},
]


def _world(folder: Path, loud: bool) -> Path:
    news = {"feed": [*(LATE if loud else ()), *PUBLIC], **({"total": 10, "newest": CANARY} if loud else {})}
    envelopes = [{"data": [*CLEAN, *(LEAK if loud else ())], "gaps": [{"type": "x", "reason": CANARY}] if loud else []}]
    world = {
        "noise": CANARY if loud else "",
        "news": news,
        "envelopes": envelopes,
        "structured": True,
        "log": str(folder / "asked.json"),
    }
    path = folder / "world.json"
    path.write_text(json.dumps(world))
    return path


def _gate(folder: Path, *words: str, loud: bool = True) -> AbstractContextManager[WireClient]:
    """Start the gate in front of the other server."""
    mapping = folder / "mapping.toml"
    mapping.write_text(MAPPING)
    gate = ["mcp-gate", *(words or ("--pit", PIT)), "--tools", str(mapping)]
    other = ["--", sys.executable, upstream_server.__file__, str(_world(folder, loud))]
    return running([*gate, *other], folder, environment(folder, ""))


def _session(folder: Path, *, loud: bool) -> tuple[bytes, bytes, int]:
    """Return every byte of a session, and the exit status."""
    calls: list[tuple[str, dict[str, Any]]] = [("news", {"topic": "oil"}), ("envelopes", {"topic": "oil"})]
    calls += [("fails", {"topic": "oil"}), ("news", {"topic": "refuse"}), ("unmapped", {"topic": "oil"})]
    calls += [("news", {"topic": "oil", "pit": "2100-01-01T00:00:00Z"}), ("news", {"topic": "oil", "secret": "mine"})]
    with _gate(folder, loud=loud) as client:
        for message in requests_of(calls, modern=True):
            client.send(message)
            if "id" in message:
                client.receive()
        return client.close()


def _envelopes(out: bytes) -> list[dict[str, Any]]:
    results = [json.loads(line).get("result", {}) for line in out.splitlines()]
    return [json.loads(result["content"][0]["text"]) for result in results if "content" in result]


def test_a_loud_server_leaves_the_bytes_of_a_quiet_one(tmp_path: Path) -> None:
    quiet = _session(tmp_path, loud=False)
    assert (quiet[1:], CANARY.encode() in quiet[0]) == ((b"", 0), False)
    assert _session(tmp_path, loud=True) == quiet
    news, envelopes, fails, refused, *others = _envelopes(quiet[0])
    assert [(item["id"], item["title"]) for item in news["data"]] == [(f"p{n}", f"Title {n}") for n in (2, 1, 0)]
    assert [(item["id"], item["available_at_source"]) for item in envelopes["data"]] == [("e1", "neo4j_created")]
    for failed in (fails, refused):
        assert (failed["data"], failed["gaps"][-1]["type"]) == ([], "upstream_error")
    assert [envelope["gaps"][0]["type"] for envelope in others] == ["config"] * 3


def test_a_server_that_dies_costs_the_answer_and_not_the_gate(tmp_path: Path) -> None:
    with _gate(tmp_path) as client:
        client.open()
        for topic in ("die", "oil"):
            envelope = client.call("news", {"topic": topic})
            assert (envelope["data"], envelope["gaps"][-1]["type"]) == ([], "upstream_error")
        assert client.close()[1:] == (b"", 0)


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [("[tools.nothing]\navailable_at = 'at'", "has no tool nothing"), ("[tools", "not TOML")],
)
def test_what_cannot_start_says_why_in_a_line(run: Run, tmp_path: Path, mapping: str, reason: str) -> None:
    path = tmp_path / "mapping.toml"
    path.write_text(mapping)
    command = ("--", sys.executable, upstream_server.__file__, str(_world(tmp_path, True)))
    done = run("mcp-gate", "--pit", PIT, "--tools", str(path), *command)
    assert (done.code, done.out, done.err.count(b"\n"), CANARY.encode() in done.err) == (2, b"", 1, False)
    assert reason in done.err.decode()


def test_a_server_that_does_not_start_is_named_as_the_reason(run: Run, tmp_path: Path) -> None:
    for command in ((), ("--", "/no/such/server"), ("--", sys.executable, "-c", "pass")):
        done = run("mcp-gate", "--pit", PIT, "--tools", "alphavantage", *command)
        assert (done.code, done.out, b"server" in done.err) == (2, b"", True)


def test_the_other_server_is_not_started_before_the_instant_is_known(run: Run, tmp_path: Path) -> None:
    mark = tmp_path / "started"
    command = ("--", sys.executable, "-c", f"open({str(mark)!r}, 'w')")
    for words in ((), ("--pit", "2024-02-15"), ("--pit-file", "missing")):
        done = run("mcp-gate", *words, "--tools", "alphavantage", *command)
        assert (done.code, mark.exists()) == (2, False)


def test_offline_it_does_not_start_since_it_has_no_archive(run: Run, tmp_path: Path) -> None:
    words = ("--pit", PIT, "--tools", "alphavantage", "--", sys.executable, "-c", "")
    done = run("mcp-gate", *words, env={"PIT_FETCH_OFFLINE": "1", "PIT_FETCH_ARCHIVE": str(tmp_path / "a.db")})
    assert (done.code, b"in no archive" in done.err) == (2, True)


def test_a_conversation_ends_where_the_file_moves(tmp_path: Path) -> None:
    file = tmp_path / "instant"
    file.write_text(PIT)
    with _gate(tmp_path, "--pit-file", str(file)) as client:
        client.open()
        assert len(client.call("news", {"topic": "oil"})["data"]) == 3
        file.write_text("2024-02-16T16:00:00-05:00")
        [gap] = client.call("news", {"topic": "oil"})["gaps"]
        assert (gap["type"], "begin a new conversation" in gap["reason"]) == ("config", True)
        client.close()


def test_a_check_shows_what_of_a_recorded_result_would_pass_and_why(near: Run, tmp_path: Path) -> None:
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"content": [{"type": "text", "text": json.dumps({"feed": [*LATE, *PUBLIC]})}]}))
    mapping = tmp_path / "mapping.toml"
    mapping.write_text(MAPPING)
    words = ("mcp-gate", "--pit", PIT, "--tools", str(mapping), "--check", f"news={result}")
    lines = near(*words).out.decode().splitlines()
    assert len(lines) == len(LATE) + len(PUBLIC)
    assert [line.split()[0] for line in lines if "  passes " in line] == ["p0", "p1", "p2"]
    assert "l1  is withheld: it became public, or was revised, after the instant" in lines[0]
    assert "l3  is withheld: at or changed cannot be read" in lines[2]
    assert all("  is withheld: it is no object" in line for line in lines if line.startswith("(no id)"))
    assert near(*words[:-1], f"envelopes={result}").out == b"no item is at 0.data: nothing would pass\n"
    for environ in ({"PIT_FETCH_CEILING": PIT}, {"CLAUDECODE": "1"}):
        refused = near(*words, env=environ)
        assert (refused.code, refused.out) == (2, b"")
    for name, text in (("list", "[]"), ("number", '{"result": 5}'), ("items", '{"feed": []}'), ("deep", "[" * 100_000)):
        (tmp_path / name).write_text(text)
        assert near(*words[:-1], f"news={tmp_path / name}").code == 2
    for bad in ("other=x", "news=missing", f"news={mapping}"):
        assert near(*words[:-1], bad).code == 2
