"""``pit_fetch.fetch`` from Python."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

import pit_fetch
from pit_fetch.errors import UsageError
from tests.loopback import benzinga
from tests.loopback.server import serve

PIT = datetime.fromisoformat("2024-02-15T16:00:00-05:00")
ARTICLES = [benzinga.article(1, PIT), benzinga.article(2, PIT, PIT), benzinga.article(3, PIT - timedelta(hours=1))]


def test_the_gated_envelope_as_a_dict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    path = tmp_path / "reply.json"
    path.write_text(json.dumps(ARTICLES))
    envelope = pit_fetch.fetch("bz-news-api", pit=PIT, input_file=path, tickers=["AAPL"], limit=1)
    assert [item["id"] for item in envelope["data"]] == ["2"]
    assert [gap["type"] for gap in envelope["gaps"]] == ["pit_excluded", "unverifiable", "truncated"]


def test_over_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(benzinga.app(ARTICLES)) as server:
        monkeypatch.setenv("PIT_FETCH_BENZINGA_URL", server.url)
        monkeypatch.setenv("BENZINGA_API_KEY", benzinga.TOKEN)
        monkeypatch.delenv("BENZINGANEWS_API_KEY", raising=False)
        assert len(pit_fetch.fetch("benzinga", pit=PIT.isoformat())["data"]) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: pit_fetch.fetch("nope"),
        lambda: pit_fetch.fetch("benzinga", pit="2024-02-15"),
        lambda: pit_fetch.fetch("benzinga", pit=PIT.replace(tzinfo=None)),
        lambda: pit_fetch.fetch("benzinga", pit=PIT, colour="red"),
    ],
)
def test_a_refused_request_raises(call) -> None:
    with pytest.raises(UsageError):
        call()


def test_a_ceiling_binds_python_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIT_FETCH_CEILING", "2024-02-15T15:00:00-05:00")
    with pytest.raises(ValueError, match="after PIT_FETCH_CEILING"):
        pit_fetch.fetch("benzinga", pit=PIT)
