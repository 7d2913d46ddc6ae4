"""``PIT_FETCH_OFFLINE``: whatever a call asks for, no source is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pit_fetch.testing.server import Response
from tests.conftest import Run
from tests.serving import serve
from tests.unit.test_api import ARTICLES

AT_PIT = ("--source", "bz-news-api", "--pit", "2024-02-15T16:00:00-05:00")


@pytest.mark.parametrize(
    ("value", "words", "requests"),
    [
        ("1", (), 0),
        ("true", ("--archive", "a.db"), 0),
        ("1", ("--offline",), 0),
        ("0", (), 1),
        ("", (), 1),
    ],
)
def test_the_archive_alone_answers(run: Run, value: str, words: tuple[str, ...], requests: int) -> None:
    with serve(lambda request: Response(body=b"[]")) as server:
        env = {"PIT_FETCH_BENZINGA_URL": server.url, "BENZINGA_API_KEY": "sesame-0123456789"}
        answer = run(*AT_PIT, *words, env={**env, "PIT_FETCH_OFFLINE": value})
    assert (answer.envelope["data"], len(server.requests)) == ([], requests)


def test_a_saved_reply_is_read_all_the_same(run: Run, tmp_path: Path) -> None:
    reply = tmp_path / "reply.json"
    reply.write_text(json.dumps(ARTICLES))
    assert run(*AT_PIT, "--input-file", str(reply), env={"PIT_FETCH_OFFLINE": "1"}).ids == ["2", "3"]


def test_a_capture_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.toml").write_text('[[request]]\nsource = "bz-news-api"\n')
    refused = run("capture", str(tmp_path / "list.toml"), "--archive", "a.db", env={"PIT_FETCH_OFFLINE": "1"})
    assert (refused.code, b"PIT_FETCH_OFFLINE is set" in refused.err) == (2, True)


def test_a_server_needs_an_archive(run: Run) -> None:
    refused = run("mcp", *AT_PIT[2:], env={"PIT_FETCH_OFFLINE": "1"})
    assert (refused.code, b"needs an archive" in refused.err) == (2, True)
