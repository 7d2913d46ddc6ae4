"""Answers with claims: what they hold, what they say, and that every format sets a claim apart."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pit_fetch import answers
from pit_fetch.provider import Context, Dating, Field, Operation, Provider, Query, Record
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import TestClock
from pit_fetch.testing.server import Answering
from tests import inprocess
from tests.demo_source import AT_PIT, PIT, PIT_TEXT, ask, at_pit, demo, nobody, record
from tests.inprocess import NOW, Answer
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive

ACCEPTED = ("--evidence", "claimed")
CLAIMS = "by its first stamp; the text may be of later"
TITLE = Field("title")
WITH_CLAIMS = Operation(dating=Dating(claims=CLAIMS), fields=(TITLE, Field("updated", "instant")))


def claim(name: str, minutes: float, **payload: Any) -> Record:
    """A record that was revised after the PIT, and claims to be so many minutes older than it."""
    edited = record(name, minutes, revised=-1, **payload)
    return edited._replace(claimed_at=edited.available_at)


ROWS = [
    record("proved", 5, title="p"),
    claim("edited", 3, title="e", updated="2030-01-01T00:00:00Z"),
    claim("late", -2),
]
DEMO = demo(ROWS, operations=(WITH_CLAIMS,))


def marks(answer: Answer) -> dict[str, Any]:
    return {item["id"]: item.get("evidence") for item in answer.data}


def test_a_claimed_item_is_marked_and_a_gap_says_what_that_means(tmp_path: Path) -> None:
    answer = at_pit(tmp_path, DEMO, *ACCEPTED)
    edited, proved = answer.data
    stamps = {"available_at": "2024-02-15T15:57:00-05:00", "available_at_source": "provider_metadata"}
    assert edited == {**stamps, "evidence": "claimed", "id": "edited", "title": "e"}
    assert proved == at_pit(tmp_path, DEMO).data[0]
    (said,) = [gap for gap in answer.envelope["gaps"] if "evidence" in gap]
    assert (said["type"], said["evidence"]) == ("unverifiable", "claimed")
    assert CLAIMS in said["reason"]
    assert "2030" not in answer.text


def test_nothing_else_names_the_setting(tmp_path: Path) -> None:
    for answer in (
        at_pit(tmp_path, DEMO),
        at_pit(tmp_path, demo([])),
        at_pit(tmp_path, demo([], operations=(WITH_CLAIMS,)), *ACCEPTED),
        ask(tmp_path, demo([], operations=(WITH_CLAIMS,))),
    ):
        assert "PIT_FETCH_EVIDENCE=" not in answer.text


def _unasked(query: Query, context: Context) -> Iterator[Record]:
    raise AssertionError("nothing of it could be served")


@pytest.mark.parametrize("dating", ["receipt", "never"])
def test_what_is_never_proved_is_asked_for_its_claims(tmp_path: Path, dating: Any) -> None:
    def fetch(query: Query, context: Context) -> Iterator[Record]:
        assert query.accepts_claims
        yield record("a")._replace(available_at=NOW, at_receipt=True, claimed_at=PIT, claimed_payload={"title": "then"})
        yield record("b")._replace(available_at=NOW, at_receipt=True, claimed_at=PIT + timedelta(seconds=1))

    source = demo(fetch, operations=(WITH_CLAIMS._replace(dating=WITH_CLAIMS.dating._replace(by=dating)),))
    answer = at_pit(tmp_path, source, *ACCEPTED)
    assert [(item["id"], item["title"], item["evidence"]) for item in answer.data] == [("a", "then", "claimed")]
    assert "or nothing" not in answer.reasons
    plain = at_pit(tmp_path, demo(_unasked, operations=source.operations))
    assert plain.data == []
    assert "is served, or nothing" in plain.reasons


# The mark.


def test_no_payload_sets_the_mark_or_takes_it_away(tmp_path: Path) -> None:
    rows = [record("proved", 5, evidence="claimed"), claim("edited", 3, evidence="proved")]
    assert marks(at_pit(tmp_path, demo(rows, operations=(Operation(dating=Dating(claims=CLAIMS)),)), *ACCEPTED)) == {
        "proved": None,
        "edited": "claimed",
    }


def test_rows_say_their_grade_once_claims_are_accepted(tmp_path: Path) -> None:
    def column(*words: str) -> list[str | None]:
        rows = csv.DictReader(io.StringIO(at_pit(tmp_path, DEMO, *words, "--format", "csv").out))
        return [row.get("evidence") for row in rows]

    assert column(*ACCEPTED) == ["claimed", "proved"]
    assert column() == [None]
    assert "claimed" in at_pit(tmp_path, DEMO, *ACCEPTED, "--format", "table").out.splitlines()[2]


def test_frames_have_a_column_once_claims_are_accepted(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")

    def envelope(**options: Any) -> answers.Envelope:
        clock = TestClock(NOW)
        runtime = Runtime({}, str(tmp_path), clock.value(), Answering(nobody, clock.now), lambda _: DEMO, lambda _: b"")
        return answers.fetch(answers.FetchCall("demo", {"pit": PIT_TEXT, **options}), runtime)

    claimed, plain = envelope(evidence="claimed"), envelope()
    assert list(claimed.to_df()["evidence"]) == claimed.to_arrow()["evidence"].to_pylist() == ["claimed", "proved"]
    assert "evidence" not in plain.to_df().columns
    assert list(claimed.to_df(question=("pit", "evidence"))["evidence"]) == ["claimed", "proved"]
    empty = envelope(evidence="claimed", date_to="2001-01-01")
    assert (empty.data, "evidence" in empty.to_df().columns, "evidence" in empty.to_arrow().column_names) == (
        [],
        True,
        True,
    )


def test_a_page_draws_claims_apart_and_says_what_they_are(tmp_path: Path) -> None:
    page = at_pit(tmp_path, DEMO, *ACCEPTED, "--format", "html").out
    assert page.count('class="claimed"') >= 2  # the row, and the legend
    assert 'class="bar claimed"' in page
    assert "nothing proves it" in page
    assert 'class="bar claimed"' not in at_pit(tmp_path, DEMO, "--format", "html").out


# The commands that look at answers.


def _command(name: str, folder: Path, source: Provider, *words: str) -> Answer:
    return inprocess.fetch(folder, name, *words, provider=source, transport=Answering(nobody, lambda: NOW))


def test_explain_gives_each_verdict_its_grade(tmp_path: Path) -> None:
    accepted, plain = (_command("explain", tmp_path, DEMO, *AT_PIT, *words) for words in (ACCEPTED, ()))
    verdicts = {item["id"]: (item["verdict"], item.get("evidence")) for item in accepted.data}
    assert verdicts == {"late": ("late", None), "edited": ("public", "claimed"), "proved": ("public", None)}
    (edited,) = [item for item in accepted.data if item["id"] == "edited"]
    assert edited["rule"] == CLAIMS
    (withheld,) = [item for item in plain.data if item["id"] == "edited"]
    assert withheld["verdict"] == "revised"
    assert "--evidence claimed" in withheld["because"]


def test_diff_keeps_the_grades_apart(tmp_path: Path) -> None:
    later = (PIT + timedelta(minutes=2)).isoformat()
    answer = _command("diff", tmp_path, DEMO, *AT_PIT, "--pit", later, *ACCEPTED)
    changes = {item["id"]: (item["change"], item.get("evidence"), item.get("before")) for item in answer.data}
    proved_since = {"updated": None, "revised_at": None, "evidence": "claimed"}
    assert changes == {"edited": ("changed", None, proved_since), "late": ("new", None, None)}


# An archive: what it saw itself is a proof.

NEWS = "bz-news-api --date-from 2026-05-01"


def _articles(*rows: dict[str, Any]) -> Any:
    return benzinga.app(list(rows))


def _at(text: str) -> datetime:
    return datetime.fromisoformat(f"2026-{text}+00:00")


def _article(name: int, created: str, updated: str = "", title: str = "t") -> dict[str, Any]:
    return benzinga.article(name, _at(created), _at(updated or created), title=title)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path, env={"PIT_FETCH_EVIDENCE": "claimed"})


def seen(answer: Answer) -> list[tuple[str, str, str | None]]:
    return [(item["id"], item["title"], item.get("evidence")) for item in answer.data]


def test_what_an_archive_saw_takes_the_place_of_a_claim(archive: Archive) -> None:
    archive.app = _articles(_article(1, "06-01 10:00", title="first"))
    archive.fetch(NEWS, "2026-06-01 12:00", pit="2026-06-01 12:00")
    archive.app = _articles(
        _article(1, "06-01 10:00", "06-20 10:00", "edited"), _article(2, "06-03 10:00", "06-20 10:00", "unseen")
    )
    then = archive.fetch(NEWS, "2026-07-01 12:00", pit="2026-06-05 12:00")
    assert seen(then) == [("2", "unseen", "claimed"), ("1", "first", None)]
    alone = archive.fetch(NEWS, "2026-07-01 12:00", pit="2026-06-05 12:00", archive=False)
    assert seen(alone) == [("2", "unseen", "claimed"), ("1", "edited", "claimed")]


def test_what_an_archive_saw_to_be_absent_refutes_a_claim(archive: Archive) -> None:
    archive.app = _articles(_article(1, "06-01 10:00"))
    archive.fetch(NEWS, "2026-06-04 12:00", pit="2026-06-04 12:00")
    archive.app = _articles(
        _article(1, "06-01 10:00"), _article(2, "06-03 10:00", "06-20 10:00", "back-dated"),
        _article(3, "06-04 13:00", "06-20 10:00", "after that"),
    )  # fmt: skip
    then = archive.fetch(NEWS, "2026-07-01 12:00", pit="2026-06-05 12:00")
    assert seen(then) == [("3", "after that", "claimed"), ("1", "t", None)]


@pytest.mark.parametrize("pit", ["2026-06-05 12:00", "2026-06-19 12:00"])
def test_a_capture_answers_later_with_its_claims(archive: Archive, pit: str) -> None:
    app = _articles(_article(1, "06-01 10:00"), _article(2, "06-03 10:00", "06-20 10:00", "edited"))
    archive.app = app
    requests = archive.folder / "requests.toml"
    requests.write_text('[[request]]\nsource = "bz-news-api"\ndate_from = "2026-05-01"\n')
    assert archive.command(f"capture {requests}", "2026-07-01 12:00").code == 0
    offline = archive.offline(NEWS, "2026-07-02 12:00", pit=pit)
    assert seen(offline) == [("2", "edited", "claimed"), ("1", "t", None)]
    archive.app = app
    assert offline.data == archive.fetch(NEWS, "2026-07-02 12:00", pit=pit, archive=False).data
