"""Documents that several requests of a capture need are asked for once, and count as received when they were."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.testing.server import as_json
from tests.providers.bz_news_api import server as benzinga
from tests.providers.sec_facts import server as sec_facts
from tests.providers.sec_facts.server import Reported
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing
from tests.unit.archive.scene import Archive, articles, at
from tests.unit.archive.test_capture_parallel import FAST

_UNLIMITED = {f"PIT_FETCH_RATE_{host}": "10000/0.001" for host in ("DATA_SEC_GOV", "WWW_SEC_GOV")}


def listed(archive: Archive, *tags: str) -> None:
    """Write a list of requests that the source answers alike: tags are compared here."""
    tables = [f"[[request]]\nsource = 'benzinga'\nlookback_minutes = 1440\ntags = ['{tag}']\n" for tag in tags]
    (archive.folder / "list.toml").write_text("may_be_empty = true\n".join([*tables, ""]))


def capture(archive: Archive, words: str = "") -> int:
    return archive.command(f"capture list.toml --again {words}", "2026-06-01 15:00", env=FAST).code


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    archive = Archive(tmp_path, app=articles(benzinga.article(1, at("2026-06-01 14:00"), tags=[{"name": "a"}])))
    listed(archive, *"abcde")
    return archive


def test_what_five_requests_need_is_asked_for_once(archive: Archive) -> None:
    assert capture(archive) == 0
    assert len(archive.asked) == 1
    assert capture(archive) == 0
    assert len(archive.asked) == 2, "another run asks anew"
    with closing(archive.open()) as connection:
        assert connection.execute("SELECT count(*) FROM exchanges").fetchone() == (10,)
        assert connection.execute("SELECT count(DISTINCT seen) FROM exchanges").fetchone() == (1,)
    assert archive.command("archive verify").code == 0
    archive.asked.clear()
    assert capture(archive, "--parallel 1") == 0
    assert len(archive.asked) == 5


def test_a_request_that_fails_is_asked_for_by_each(archive: Archive) -> None:
    archive.app = lambda request: as_json({"error": "no"}, status=400)
    assert capture(archive) == 1
    assert len(archive.asked) == 5


def test_a_shared_reply_counts_as_received_when_it_was(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another reply is recorded between the two recordings of one."""
    from pit_fetch.archive.store import journal

    real, seen = journal.Writer.append_exchange, list[int]()

    def append(writer: Any, fetch: Any, exchange: Any) -> int:
        if len(seen) == 1:
            other = exchange._replace(url="https://example.com/another", seen=exchange.seen + 5_000_000)
            seen.append(real(writer, fetch, other))
        seen.append(real(writer, fetch, exchange))
        return seen[-1]

    monkeypatch.setattr(journal.Writer, "append_exchange", append)
    listed(archive, "a", "b")
    assert capture(archive) == 0
    first, other, second = seen
    assert first == second < other


def test_five_concepts_of_one_company_download_its_documents_once(tmp_path: Path) -> None:
    concepts = ["Assets", "Liabilities", "NetIncomeLoss", "Revenues", "StockholdersEquity"]
    filing = Filing(sec.number(1), "10-Q", "2024-02-01 16:30:01")
    facts = [Reported(filing, concept, "2023-12-30", number) for number, concept in enumerate(concepts)]
    archive = Archive(tmp_path, app=sec_facts.app(facts), env={**sec_facts.VARIABLES, **_UNLIMITED})
    over = f"over.concept = {concepts}"
    (tmp_path / "list.toml").write_text(f"[[request]]\nsource = 'sec_facts'\nop = 'facts'\ncik = '320193'\n{over}\n")
    left = archive.command("capture list.toml --json", "2024-02-20 15:00")
    assert [row["items"] for row in json.loads(left.out)["requests"]] == [1] * 5, left.out
    paths = [request.path for request in archive.asked]
    assert len(paths) == len(set(paths))
    assert archive.command("archive verify", "2024-02-20 16:00").code == 0
