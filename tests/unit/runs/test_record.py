"""The record of what was shown, and the commands on it."""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import zlib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.runs.record import entries
from tests.conftest import Run
from tests.providers.bz_news_api import server as benzinga
from tests.serving import serve
from tests.unit.mcp.wire_client import call as wire_call
from tests.unit.mcp.wire_client import started

PIT = "2024-02-15T16:00:00-05:00"
EPS = ("--source", "sec_facts", "--pit", PIT, "concept=EarningsPerShareDiluted", "cik=9000001", "period=annual")


@pytest.fixture
def sample(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "sample.db"
    assert run("archive", "sample", str(path)).code == 0
    return path


@pytest.fixture
def env(sample: Path, tmp_path: Path) -> dict[str, str]:
    record = str(tmp_path / "runs.db")
    return {"PIT_FETCH_ARCHIVE": str(sample), "PIT_FETCH_OFFLINE": "1", "PIT_FETCH_RECORD": record}


def rows(run: Run, env: dict[str, str], name: str = "default") -> list[dict[str, Any]]:
    shown = run("runs", "show", name, "--json", env={"PIT_FETCH_RECORD": env["PIT_FETCH_RECORD"]})
    listed: list[dict[str, Any]] = json.loads(shown.out)
    return listed


def test_a_row_says_what_was_shown_and_to_whom(run: Run, env: dict[str, str]) -> None:
    names = {"PIT_FETCH_RUN": "momentum", "PIT_FETCH_STEP": "2024-02", "PIT_FETCH_AGENT": "news"}
    for words in ((), ("--format", "csv"), ("--pretty",), ("--max-chars", "4000")):
        run(*EPS, *words, env={**env, **names})
    shown = run(*EPS, env={**env, **names}).out.removesuffix(b"\n")
    row = rows(run, env, "momentum")[-1]
    assert len(rows(run, env, "momentum")) == 5
    assert (row["run"], row["step"], row["agent"], row["pit"]) == ("momentum", "2024-02", "news", PIT)
    assert (row["sha256"], row["bytes"]) == (hashlib.sha256(shown).hexdigest(), len(shown))
    assert row["items"] == [item["id"] for item in json.loads(shown)["data"]]
    assert "--concept EarningsPerShareDiluted" in row["request"]
    exported = run("runs", "export", "momentum", env=env).out.splitlines()
    assert json.loads(exported[-1])["answer"].encode() == shown
    assert json.loads(run("runs", "list", "--json", env=env).out)[0]["calls"] == 5
    verified = run("runs", "verify", "momentum", "--json", env=env)
    assert (verified.code, json.loads(verified.out)["same"]) == (0, 5)


def test_python_and_its_tools_are_recorded_alike(run: Run, env: dict[str, str], tmp_path: Path) -> None:
    code = f"""
import asyncio, pit_fetch
with pit_fetch.as_of("{PIT}", archive="{env["PIT_FETCH_ARCHIVE"]}", offline=True, record="{env["PIT_FETCH_RECORD"]}",
                     step="1") as then:
    question = dict(concept="EarningsPerShareDiluted", cik="9000001", period="annual")
    then.fetch("sec_facts", **question)
    asyncio.run(then.afetch("sec_facts", **question))
    for shape in ("columns", "items"):
        tool = then.tools(["sec_facts"], shape=shape)[0]
        print(asyncio.run(tool.call(**question)))
"""
    printed = run("-c", code, command=(sys.executable,), cwd=tmp_path).out.decode().splitlines()
    listed = rows(run, env)
    assert [row["sha256"] for row in listed[2:]] == [hashlib.sha256(text.encode()).hexdigest() for text in printed]
    assert listed[0]["sha256"] == listed[1]["sha256"] == listed[3]["sha256"] != listed[2]["sha256"]
    assert run("runs", "verify", "default", env=env).code == 0


def test_two_runs_differ_where_an_answer_does(run: Run, env: dict[str, str]) -> None:
    for name, words in (("a", ()), ("b", ()), ("c", ("--format", "csv"))):
        run(*EPS, *words, env={**env, "PIT_FETCH_RUN": name})
    assert run("runs", "diff", "a", "b", env=env).code == 0
    differing = run("runs", "diff", "a", "c", "--json", env=env)
    assert (differing.code, [row["change"] for row in json.loads(differing.out)]) == (1, ["answer"])


def test_verify_names_what_an_archive_cannot_answer_and_what_it_answers_otherwise(
    run: Run, env: dict[str, str], tmp_path: Path
) -> None:
    other = shutil.copy(env["PIT_FETCH_ARCHIVE"], tmp_path / "other.db")
    run(*EPS, env=env)
    run("archive", "drop", "--source", "sec_facts", "--before", "2030-01-01", "--archive", str(other))
    report = run("runs", "verify", "default", "--json", "--archive", str(other), env=env)
    found = json.loads(report.out)
    assert (report.code, found["calls"], found["same"]) == (1, 1, 0)
    assert [row["call"] for row in found["not_answerable"]] == [1]
    with sqlite3.connect(env["PIT_FETCH_RECORD"]) as record:
        record.execute("UPDATE calls SET shown = ?", (zlib.compress(b"other"),))
    found = json.loads(run("runs", "verify", "default", "--json", env=env).out)
    assert [row["call"] for row in found["different"]] == [1]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("missing/runs.db", None, "no such file or directory"),
        ("runs.db", b"not a database at all, and long enough to be none: " * 30, "not a record"),
        ("folder", "folder", "regular file"),
    ],
)
def test_nothing_is_asked_or_shown_that_cannot_be_recorded(
    run: Run, env: dict[str, str], tmp_path: Path, name: str, content: bytes | str | None, problem: str
) -> None:
    path = tmp_path / "place" / name
    (tmp_path / "place").mkdir()
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        path.mkdir()
    refused = run(*EPS, env={**env, "PIT_FETCH_RECORD": str(path)})
    assert (refused.code, refused.envelope["data"]) == (2, [])
    assert problem in refused.envelope["gaps"][0]["reason"]
    assert not isinstance(content, bytes) or path.read_bytes() == content


def test_an_archive_is_no_record(run: Run, env: dict[str, str], sample: Path) -> None:
    before = sample.read_bytes()
    assert "not a record" in run(*EPS, env={**env, "PIT_FETCH_RECORD": str(sample)}).envelope["gaps"][0]["reason"]
    assert sample.read_bytes() == before


@pytest.mark.parametrize("words", [("list",), ("show", "default"), ("verify", "default"), ("export", "default")])
@pytest.mark.parametrize("bound", [{"PIT_FETCH_CEILING": PIT}, {"PIT_FETCH_WRAPPER_ONLY": "1"}])
def test_a_record_is_for_operators(
    run: Run, env: dict[str, str], words: tuple[str, ...], bound: dict[str, str]
) -> None:
    run(*EPS, env=env)
    refused = run("runs", *words, env={**env, **bound})
    assert (refused.code, b"9000001" in refused.out + refused.err) == (2, False)


WRITER = """
import sys
from datetime import UTC, datetime
from pit_fetch.runs.record import Entry, Record
name, path = sys.argv[1:]
number = 0
while number < 40:
    with Record(path) as record:
        now = datetime.now(UTC).isoformat()
        call = Entry(name, str(number), None, None, now, "s", "q", {}, [], "", b"x" * 9000, "1")
        record.append(call)
    print(number, flush=True)
    number += 1
"""


def test_many_processes_append_and_a_killed_one_loses_at_most_its_call(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    command = [sys.executable, "-c", WRITER]
    writers = {
        name: subprocess.Popen([*command, name, str(path)], stdout=subprocess.PIPE, text=True) for name in "abcdef"
    }
    assert writers["a"].stdout
    assert writers["a"].stdout.readline() == "0\n"
    writers["a"].send_signal(signal.SIGKILL)
    said = {name: writer.communicate(timeout=120)[0].split() for name, writer in writers.items()}
    said["a"] = ["0", *said["a"]]
    for name, numbers in said.items():
        held = [call.step for call in entries(str(path), name)]
        assert held[: len(numbers)] == numbers
        assert len(held) <= len(numbers) + 1
    assert [len(numbers) for name, numbers in said.items() if name != "a"] == [40] * 5
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_record_holds_no_key(run: Run, tmp_path: Path) -> None:
    record = str(tmp_path / "runs.db")
    key = "sesame-0123456789"
    env = {"PIT_FETCH_RECORD": record, "FRED_API_KEY": key, "PIT_FETCH_FRED_URL": "http://127.0.0.1:9"}
    run("--source", "fred", "--pit", PIT, "--timeout", "2", f"series_id={key}", env=env)
    assert len(entries(record)) == 1
    assert key not in repr(entries(record))
    assert key.encode() not in Path(record).read_bytes()


def test_each_call_of_a_served_tool_has_a_row(run: Run, env: dict[str, str], tmp_path: Path) -> None:
    question = {"concept": ["EarningsPerShareDiluted"], "cik": "9000001"}
    with started(tmp_path, "http://127.0.0.1:9", ("--pit", PIT, "--sources", "sec_facts"), env) as client:
        client.open()
        answer = client.ask(wire_call("sec_facts", question))
    text = answer["result"]["content"][0]["text"]
    assert [row["sha256"] for row in rows(run, env)] == [hashlib.sha256(text.encode()).hexdigest()]


def test_standard_input_is_not_asked_for_again(run: Run, env: dict[str, str]) -> None:
    variables = {name: value for name, value in env.items() if name != "PIT_FETCH_OFFLINE"}
    words = ("--source", "bz-news-api", "--pit", PIT, "--input-file", "-")
    assert run(*words, env=variables, stdin=b"[]").code == 0
    found = json.loads(run("runs", "verify", "default", "--json", env=env).out)
    assert "standard input is not recorded" in str(found["not_answerable"])


def test_a_row_says_that_a_gate_may_have_withheld_it(run: Run, env: dict[str, str]) -> None:
    run(*EPS, env=env)
    run(*EPS, env={**env, "CLAUDECODE": "1"})
    assert ["gated" in row for row in rows(run, env)] == [False, True]
    assert (
        "may have withheld what these calls showed (PIT_GATE_LOG says it): 2"
        in run("runs", "show", "default", env=env).out.decode()
    )


def test_what_no_client_could_decode_is_verified_as_it_was_shown(run: Run, tmp_path: Path) -> None:
    """Half of a surrogate pair, which a tool mends and the command prints."""
    record, archive = str(tmp_path / "runs.db"), str(tmp_path / "a.db")
    at = datetime.fromisoformat(PIT) - timedelta(hours=1)
    with serve(benzinga.app([benzinga.article(1, at, title="half \ud83d")])) as server:
        env = {
            "PIT_FETCH_RECORD": record,
            "PIT_FETCH_BENZINGA_URL": server.url,
            "BENZINGA_API_KEY": benzinga.TOKEN,
        }
        run("--source", "bz-news-api", "--pit", PIT, "--archive", archive, env=env)
        for shape in ("items", "columns"):
            words = ("--pit", PIT, "--archive", archive, "--shape", shape)
            with started(tmp_path, server.url, words, {"PIT_FETCH_RECORD": record}) as client:
                client.open()
                client.call("bz_news_api")
    report = run("runs", "verify", "default", "--json", "--archive", archive, env=env)
    assert json.loads(report.out) == {"run": "default", "calls": 3, "same": 3, "different": [], "not_answerable": []}
