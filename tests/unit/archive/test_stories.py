"""What an archive is for, told with the command: a source changes, and the past stays as it was seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, articles, at, estimates

ESTIMATES = "alphavantage EARNINGS_ESTIMATES symbol=IBM"
NEWS = "bz-news-api --tickers AAPL"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


def verdicts(answer: Any) -> dict[tuple[str, str], str]:
    return {(item["id"], item["title"]): item["verdict"] for item in answer.data}


def test_what_only_the_archive_proves_is_explained(archive: Archive) -> None:
    archive.app = articles(
        benzinga.article(1, at("2026-06-01 14:00"), title="first"),
        benzinga.article(2, at("2026-06-01 13:00"), title="without a mark"),
    )
    archive.fetch(NEWS, "2026-06-01 15:00")
    archive.app = articles(
        benzinga.article(1, at("2026-06-01 14:00"), at("2026-06-01 18:00"), title="second"),
        benzinga.article(2, at("2026-06-01 13:00"), title="changed since"),
        benzinga.article(3, at("2026-06-01 17:00"), title="late"),
    )
    shown = archive.fetch(NEWS, "2026-06-04 12:00", pit="2026-06-01 16:00", command="explain")
    assert verdicts(shown) == {
        ("3", "late"): "late",
        ("1", "second"): "revised",
        ("1", "first"): "public",
        ("2", "changed since"): "revised",
        ("2", "without a mark"): "public",
    }
    because = {item["title"]: item["because"] for item in shown.data}
    assert because["second"].endswith("; the archive holds what it said before")
    assert because["changed since"] == "changed since without a mark; the archive holds what it said before"
    public = archive.fetch(NEWS, "2026-06-04 12:00", pit="2026-06-01 16:00")
    assert {item["title"] for item in public.data} == {
        item["title"] for item in shown.data if item["verdict"] == "public"
    }
    offline = archive.offline(NEWS, "2026-06-04 12:00", pit="2026-06-01 16:00", command="explain")
    assert verdicts(offline)["1", "first"] == "public"
    assert "no_data" not in offline.gap_types


def test_a_held_snapshot_is_explained(archive: Archive) -> None:
    archive.app = estimates(("2026-06-30", "2.50"))
    archive.fetch(ESTIMATES, "2026-06-01 15:00")
    held = archive.fetch(ESTIMATES, "2026-07-01 12:00", pit="2026-06-02 00:00", command="explain")
    assert [(item["verdict"], item["because"]) for item in held.data] == [
        ("public", "in the archive since Monday 2026-06-01 11:00:00 in New York (-04:00)")
    ]
    assert "latest complete reply that an archive held" in held.reasons
    before = archive.fetch(ESTIMATES, "2026-07-01 12:00", pit="2026-06-01 14:59", command="explain")
    assert [item["verdict"] for item in before.data] == ["late"]
    assert before.data[0]["because"].startswith("first seen 1 minute after the PIT, on Monday 2026-06-01 11:00:00")
