"""What an archive is for, told with the command: a source changes, and the past stays as it was seen."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pit_fetch.testing.server import Answering
from tests import inprocess
from tests.examples import examples
from tests.memory_folder import scratch
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import KEYS, UNLIMITED, Archive, alpha, articles, at, estimates

ESTIMATES = "alphavantage EARNINGS_ESTIMATES symbol=IBM"
BARS = "alphavantage TIME_SERIES_INTRADAY symbol=IBM interval=1min"
NEWS = "bz-news-api --tickers AAPL"


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


def averages(answer: Any) -> dict[str, str]:
    return {item["date"]: item["eps_estimate_average"] for item in answer.data}


def test_a_snapshot_is_what_stood_there_then(archive: Archive) -> None:
    archive.app = estimates(("2026-06-30", "2.50"), ("2026-09-30", "2.80"))
    archive.fetch(ESTIMATES, "2026-06-01 15:00")
    archive.app = estimates(("2026-09-30", "2.95"), ("2026-12-31", "3.10"))
    archive.fetch(ESTIMATES, "2026-06-20 15:00")

    then = archive.fetch(ESTIMATES, "2026-07-01 12:00", pit="2026-06-02 00:00")
    assert averages(then) == {"2026-06-30": "2.50", "2026-09-30": "2.80"}
    assert {item["first_seen_at"] for item in then.data} == {"2026-06-01T11:00:00-04:00"}
    assert "latest complete reply that the archive held" in then.reasons
    # A row that was dropped is not served from the older reply.
    later = archive.fetch(ESTIMATES, "2026-07-01 12:00", pit="2026-06-25 00:00")
    assert averages(later) == {"2026-09-30": "2.95", "2026-12-31": "3.10"}
    assert len(archive.asked) == 2, "the past was asked of the network"


def test_an_operation_that_cannot_be_verified_is_answered_with_what_was_held(archive: Archive) -> None:
    gdp = "alphavantage REAL_GDP"
    document = {"name": "Real GDP", "interval": "annual", "unit": "bn", "data": [{"date": "2025-01-01", "value": "9"}]}
    archive.app = alpha(REAL_GDP=document)
    archive.fetch(gdp, "2026-06-01 15:00")
    archive.app = alpha(REAL_GDP={**document, "data": [{"date": "2025-01-01", "value": "10"}]})
    archive.fetch(gdp, "2026-08-01 15:00")
    assert [item["value"] for item in archive.fetch(gdp, "2026-09-01 12:00", pit="2026-07-01 00:00").data] == ["9"]


def article(number: int, created: str, updated: str | None = None, **changes: Any) -> dict[str, Any]:
    return benzinga.article(number, at(created), at(updated or created), **changes)


def titles(answer: Any) -> list[str]:
    return [item["title"] for item in answer.data]


@pytest.mark.parametrize("pit", ["2026-06-01 15:59:30", "2026-06-09 00:00"])
def test_a_bar_that_ends_between_two_replies_was_running_in_the_first(archive: Archive, pit: str) -> None:
    """The last minute before noon, read half a minute before its end; the month before is read after it."""

    def fetch(began: str, close: str) -> None:
        june = [alphavantage.bar("2026-06-01 11:59:00", close), alphavantage.bar("2026-06-01 11:58:00", "6")]
        bars = [*june, alphavantage.bar("2026-05-29 15:00:00", "5")]
        app = alphavantage.app(alphavantage.Store({"TIME_SERIES_INTRADAY": bars}))
        served: Answering = Answering(app, lambda: at(began) + timedelta(minutes=len(served.exchanges) - 1))
        env = {**KEYS, **UNLIMITED, "PIT_FETCH_ARCHIVE": str(archive.path)}
        words = ("--source", *BARS.split(), "--pit", at(max(pit, began)).isoformat(), "--date-from", "2026-05-28")
        inprocess.fetch(archive.folder, *words, env=env, now=at(began), transport=served)
        assert len(served.exchanges) == 2

    def closes() -> list[str]:
        return [item["close"] for item in archive.offline(BARS, "2026-06-09 00:00", "2026-06-09 00:00").data]

    fetch("2026-06-01 15:59:30", "1")
    assert closes() == ["6", "5"]
    fetch("2026-06-01 16:00:00", "9")
    assert closes() == ["9", "6", "5"]
    archive.command("archive rebuild")
    assert closes() == ["9", "6", "5"]


def test_an_edited_article_is_served_in_its_words_of_then(archive: Archive) -> None:
    archive.app = articles(article(1, "2026-06-01 14:30", title="first words"))
    archive.fetch(NEWS, "2026-06-01 15:00")
    archive.app = articles(article(1, "2026-06-01 14:30", "2026-06-01 17:00", title="edited"))

    alone = archive.fetch(NEWS, "2026-06-01 18:00", pit="2026-06-01 16:00", archive=False)
    assert titles(alone) == []
    then = archive.fetch(NEWS, "2026-06-01 18:00", pit="2026-06-01 16:00")
    assert titles(then) == ["first words"]
    assert "first_seen_at" not in then.data[0], "its own stamps prove it"
    assert titles(archive.fetch(NEWS, "2026-06-01 18:00", pit="2026-06-01 17:30")) == ["edited"]
    assert titles(archive.offline(NEWS, "2026-06-02 18:00", pit="2026-06-01 16:00")) == ["first words"]


def test_an_edit_without_a_mark_is_known_by_sight(archive: Archive) -> None:
    archive.app = articles(article(1, "2026-06-01 14:30", title="first words"))
    archive.fetch(NEWS, "2026-06-01 15:00")
    archive.app = articles(article(1, "2026-06-01 14:30", title="quietly changed"))
    archive.fetch(NEWS, "2026-06-01 18:00")

    assert titles(archive.fetch(NEWS, "2026-06-01 20:00", pit="2026-06-01 16:00")) == ["first words"]
    later = archive.fetch(NEWS, "2026-06-01 20:00", pit="2026-06-01 19:00")
    assert titles(later) == ["quietly changed"]
    assert later.data[0]["first_seen_at"] == "2026-06-01T14:00:00-04:00"


def test_a_deleted_article_is_served_until_a_complete_read_lacks_it(archive: Archive) -> None:
    both = [article(1, "2026-06-01 13:00", title="goes"), article(2, "2026-06-01 14:00", title="stays")]
    archive.app = articles(*both)
    archive.fetch(NEWS, "2026-06-01 15:00")
    archive.app = articles(both[1])

    assert titles(archive.fetch(NEWS, "2026-06-01 18:00", pit="2026-06-01 16:00")) == ["stays", "goes"]
    # That fetch was a complete read, so from then on it is known to be gone.
    assert titles(archive.offline(NEWS, "2026-06-02 10:00", pit="2026-06-01 17:00")) == ["stays", "goes"]
    archive.fetch(NEWS, "2026-06-01 19:00")
    assert titles(archive.offline(NEWS, "2026-06-02 10:00", pit="2026-06-01 20:00")) == ["stays"]


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
    assert "latest complete reply that the archive held" in held.reasons
    before = archive.fetch(ESTIMATES, "2026-07-01 12:00", pit="2026-06-01 14:59", command="explain")
    assert [item["verdict"] for item in before.data] == ["late"]
    assert before.data[0]["because"].startswith("first seen 1 minute after the PIT, on Monday 2026-06-01 11:00:00")


_STATES = st.lists(
    st.tuples(st.integers(1, 3), st.sampled_from([10, 13, 16]), st.sampled_from([None, 15, 19]), st.sampled_from("ab")),
    max_size=3,
    unique_by=lambda row: row[0],
)


@examples(0.25)
@example([[(1, 10, None, "b")], [(1, 10, 15, "b")], []], 14, False)  # two versions, one title
@given(st.lists(_STATES, min_size=2, max_size=3), st.sampled_from([14, 17, 20]), st.booleans())
def test_explain_calls_public_what_a_fetch_shows_whatever_was_captured(
    states: list[list[tuple[int, int, int | None, str]]], hour: int, is_offline: bool
) -> None:
    """Each state is what the source served when it was captured; an article may change with and without a mark."""
    with scratch("archive-") as folder:
        archive = Archive(Path(folder))
        for place, rows in enumerate(states):
            archive.app = articles(
                *(
                    benzinga.article(
                        number,
                        at(f"2026-06-01 {published}:00"),
                        None if revised is None else at(f"2026-06-01 {revised}:00"),
                        title=f"{number}{title}",
                    )
                    for number, published, revised, title in rows
                )
            )
            if place + 1 < len(states):
                archive.fetch(NEWS, f"2026-06-01 {12 + 4 * place}:00")
        asked, pit = (archive.offline if is_offline else archive.fetch), f"2026-06-01 {hour}:30"
        explained = asked(NEWS, "2026-06-04 12:00", pit=pit, command="explain")
        shown = asked(NEWS, "2026-06-04 12:00", pit=pit)
        public = [item for item in explained.data if item["verdict"] == "public"]  # another version may say the same
        assert sorted(map(_named, public)) == sorted(map(_named, shown.data))


def _named(item: dict[str, Any]) -> tuple[str, str]:
    return item["id"], item["title"]
