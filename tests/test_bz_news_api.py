"""bz-news-api end to end: the real command against a loopback server that speaks Benzinga's API."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import pit_fetch
from tests.conftest import Finished, Run
from tests.loopback import benzinga
from tests.loopback.benzinga import TOKEN, article
from tests.loopback.server import App, Request, Response, Server, as_json, serve

PIT = datetime.fromisoformat("2024-02-15T16:00:00-05:00")
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


class World:
    """The command against one server."""

    def __init__(self, server: Server, run: Run) -> None:
        self.server, self.run = server, run

    def fetch(self, *words: str, env: dict[str, str] | None = None) -> Finished:
        variables = {"PIT_FETCH_BENZINGA_URL": self.server.url, "BENZINGANEWS_API_KEY": TOKEN, **(env or {})}
        return self.run("--source", "bz-news-api", *words, env=variables)

    def at_pit(self, *words: str, env: dict[str, str] | None = None) -> Finished:
        return self.fetch("--pit", PIT.isoformat(), *words, env=env)


@contextmanager
def world(run: Run, articles: Sequence[dict[str, Any]] = (), app: App | None = None) -> Iterator[World]:
    with serve(app or benzinga.app(articles)) as server:
        yield World(server, run)


def test_what_was_public_at_the_pit_is_kept_and_nothing_else(run: Run) -> None:
    articles = [
        article(1, PIT - 2 * MINUTE),
        article(2, PIT, PIT),
        article(3, PIT + SECOND),
        article(4, PIT - MINUTE, PIT + SECOND, title="edited after the PIT"),
        article(5, PIT - MINUTE, PIT),
        article(6, PIT - MINUTE, created="yesterday"),
        article(7, PIT - MINUTE, updated=None),
        article(8, PIT - MINUTE) | {"updated": "Thu, 15 Feb 2024 15:00:00"},
    ]
    with world(run, articles) as bz:
        done = bz.at_pit()
    assert done.ids == ["2", "5", "1"]
    assert done.gap_types == ["pit_excluded", "unverifiable"]
    assert (done.code, done.err) == (0, b"")
    assert done.envelope["data"][0] == {
        "available_at": "2024-02-15T16:00:00-05:00",
        "available_at_source": "provider_metadata",
        "revised_at": "2024-02-15T16:00:00-05:00",
        "id": "2",
        "title": "Title 2",
        "teaser": " ",
        "body": "<p>Body of 2</p>",
        "url": "https://www.benzinga.com/news/2",
        "symbols": ["AAPL"],
        "channels": ["News"],
        "tags": [],
        "created": "2024-02-15T16:00:00-05:00",
        "updated": "2024-02-15T16:00:00-05:00",
    }


def test_late_items_in_front_do_not_use_up_the_limit(run: Run) -> None:
    late = [article(100 + n, PIT + SECOND * (n + 1)) for n in range(150)]
    with world(run, [*late, article(1, PIT - MINUTE), article(2, PIT - 2 * MINUTE)]) as bz:
        done = bz.at_pit("--limit", "2")
    assert done.ids == ["1", "2"]
    assert "truncated" not in done.gap_types


def test_pages_are_followed_to_the_end_of_the_window(run: Run) -> None:
    with world(run, [article(n, PIT - n * SECOND) for n in range(1, 261)]) as bz:
        done = bz.at_pit("--limit", "1000")
        assert done.ids == [str(n) for n in range(1, 261)]
        assert [request.query["page"] for request in bz.server.requests] == ["0", "1", "2"]


def test_a_limit_that_cut_says_how_to_continue(run: Run) -> None:
    with world(run, [article(n, PIT - n * MINUTE) for n in range(1, 8)]) as bz:
        first = bz.at_pit("--limit", "3")
        cursor = first.envelope["gaps"][-1]["reason"].split("--after ")[1]
        second = bz.at_pit("--limit", "100", "--after", cursor)
    assert first.ids == ["1", "2", "3"]
    assert first.gap_types[-1] == "truncated"
    assert second.ids == ["4", "5", "6", "7"]


@pytest.mark.parametrize(
    ("failures", "data"),
    [([500, 500], True), ([503, 429], True), ([500] * 4, False)],
    ids=["two 500s", "a 503 and a 429", "a 500 that stays"],
)
def test_server_errors_are_tried_again(run: Run, failures: list[int], data: bool) -> None:
    answer, pending = benzinga.app([article(1, PIT - MINUTE)]), list(failures)

    def app(request: Request) -> Response:
        return as_json({"error": "SECRET DETAIL"}, pending.pop()) if pending else answer(request)

    with world(run, app=app) as bz:
        done = bz.at_pit()
    assert done.ids == (["1"] if data else [])
    assert ("upstream_error" in done.gap_types) is not data
    assert b"SECRET" not in done.out + done.err


def test_one_string_in_an_array_is_an_error_and_no_data(run: Run) -> None:
    with world(run, app=lambda _: as_json(['Access denied for user 0 "anonymous"'])) as bz:
        done = bz.at_pit("--fail")
    assert done.gap_types == ["pit_excluded", "unverifiable", "upstream_error"]
    assert done.code == 5
    assert b"BENZINGANEWS_API_KEY" in done.err


def test_a_refused_token_does_not_get_out(run: Run) -> None:
    with world(run, [article(1, PIT)]) as bz:
        done = bz.at_pit("--fail", "-v", env={"BENZINGANEWS_API_KEY": "wrong-token-123456"})
    assert done.code == 5
    assert b"wrong-token" not in done.out + done.err


def test_a_window_of_more_than_the_api_serves_is_split(run: Run) -> None:
    # 12,000 articles over 30 days; the API answers no page beyond the 10,000th.
    articles = [article(n, PIT - n * timedelta(minutes=3)) for n in range(1, 12_001)]
    with world(run, articles) as bz:
        done = bz.at_pit(
            "--date-from",
            "2024-01-01",
            "--limit",
            "20000",
            "--max-pages",
            "200",
            "--fields",
            "title",
            "--tickers",
            "AAPL",
        )
        pages = [int(request.query["page"]) for request in bz.server.requests]
    assert done.ids == [str(n) for n in range(1, 12_001)]
    assert "truncated" not in done.gap_types
    assert max(pages) == 99


def test_a_single_day_above_the_ceiling_is_said(run: Run) -> None:
    articles = [article(n, PIT - n * SECOND) for n in range(1, 10_101)]
    with world(run, articles) as bz:
        done = bz.at_pit("--limit", "20000", "--max-pages", "200", "--fields", "title")
    assert len(done.ids) == 10_000
    assert done.gap_types[-1] == "truncated"


def test_an_order_that_is_broken_among_public_articles_is_an_error(run: Run) -> None:
    shuffled = [article(1, PIT - MINUTE), article(2, PIT - 3 * MINUTE), article(3, PIT - 2 * MINUTE)]
    with world(run, app=lambda _: as_json(shuffled)) as bz:
        done = bz.at_pit("--fail")
    assert (done.code, done.ids) == (5, ["1", "2"])
    assert done.gap_types == ["pit_excluded", "unverifiable", "upstream_error"]


def test_the_same_page_again_and_again_is_an_error(run: Run) -> None:
    page = as_json([article(n, PIT - n * SECOND) for n in range(1, 101)])
    with world(run, app=lambda _: page) as bz:
        done = bz.at_pit("--limit", "500")
        assert len(bz.server.requests) == 2
    assert done.gap_types == ["pit_excluded", "unverifiable", "upstream_error"]


def test_pages_of_withheld_rows_without_identity_are_no_repeated_page(run: Run) -> None:
    spoilt = [article(n, PIT + n * SECOND) | {"id": None} for n in range(1, 251)]
    with world(run, [article(1, PIT - MINUTE)]) as bz:
        expected = bz.at_pit()
    with world(run, [*spoilt, article(1, PIT - MINUTE)]) as bz:
        assert bz.at_pit().out == expected.out


def test_the_window_is_asked_for_a_day_wider_and_counted_from_the_pit(run: Run) -> None:
    with world(run, [article(1, PIT - timedelta(hours=23)), article(2, PIT - timedelta(hours=25))]) as bz:
        assert bz.at_pit().ids == ["1"]
        assert bz.at_pit("--lookback-minutes", "1560").ids == ["1", "2"]
        assert bz.at_pit("--date-from", "2024-02-14").ids == ["1", "2"]
        assert bz.at_pit("--date-to", "2024-02-14").ids == ["1", "2"]
        assert bz.at_pit("--date-to", "2024-02-14T16:00:00-05:00").ids == ["2"]
        asked = [(r.query["dateFrom"], r.query["dateTo"], r.query["sort"]) for r in bz.server.requests]
    assert asked[0] == ("2024-02-13", "2024-02-16", "created:desc")


def test_open_mode_looks_back_from_now_and_serves_what_it_cannot_date(run: Run, tmp_path: Path) -> None:
    naive = article(2, PIT) | {"created": "Thu, 15 Feb 2024 16:00:00", "updated": "Thu, 15 Feb 2024 16:00:00"}
    path = tmp_path / "reply.json"
    path.write_text(
        json.dumps([article(1, PIT + SECOND), naive, article(3, PIT) | {"created": "?"}, {"title": "no id"}])
    )
    done = run("--source", "bz-news-api", "--input-file", str(path))
    stamps = {item["id"]: item["available_at"] for item in done.envelope["data"]}
    assert stamps == {"1": "2024-02-15T16:00:01-05:00", "2": "2024-02-15T16:00:00-05:00", "3": None}
    assert [gap["reason"] for gap in done.envelope["gaps"]] == [
        "Items without a provable publication time: 1. With --pit they are withheld.",
        "Rows without an identity, which are left out: 1.",
    ]
    with world(run, [article(1, PIT)]) as bz:
        assert bz.fetch().ids == []
        assert bz.server.requests[0].query["dateTo"] > "2025"


RICH = article(
    1,
    PIT,
    PIT,
    title="OPEC+ trims output; AT&amp;T rallies",
    teaser="The U.S. Federal\n Reserve waits",
    body="<p>Brent is up.</p><b>Ford</b>",
    channels=[{"name": "Markets"}, {"name": "WIIM"}],
    stocks=[{"name": "T"}, {"name": "XOM"}],
    tags=[{"name": "why it's moving"}],
)


@pytest.mark.parametrize(
    ("option", "value", "kept"),
    [
        ("tickers", "xom", True),
        ("tickers", "MSFT,T", True),
        ("tickers", "MSFT", False),
        ("channels", "wiim,News", True),
        ("channels", "News", False),
        ("tags", "Why It's Moving", True),
        ("tags", "moving", False),
        ("keywords", "opec+", True),
        ("keywords", "opec", True),
        ("keywords", "AT&T", True),
        ("keywords", "federal reserve", True),
        ("keywords", "rally", False),
        ("keywords", "ford", True),
        ("keywords", "rent", False),
        ("keywords", "p", False),
        ("keywords", "nothing,BRENT", True),
        ("keywords", "moving", True),
        ("themes", "oil", True),
        ("themes", "macro", True),
        ("updated-since", "2024-02-15T16:00:00-05:00", True),
        ("updated-since", "2024-02-15T16:00:01-05:00", False),
    ],
)
def test_local_filters(tmp_path: Path, option: str, value: str, kept: bool) -> None:
    path = tmp_path / "reply.json"
    path.write_text(json.dumps({"items": [RICH]}))
    options = {option.replace("-", "_"): value}
    envelope = pit_fetch.fetch("bz-news-api", pit=PIT, input_file=path, **options)
    assert bool(envelope["data"]) is kept


def test_filters_of_different_options_must_all_hold(tmp_path: Path) -> None:
    path = tmp_path / "reply.json"
    path.write_text(json.dumps([RICH]))
    assert pit_fetch.fetch("benzinga", pit=PIT, input_file=path, themes="oil", keywords="brent")["data"]
    assert not pit_fetch.fetch("benzinga", pit=PIT, input_file=path, themes="oil", keywords="absent")["data"]


@pytest.mark.parametrize("name", ["bz-news-api", "benzinga", "benzinga-news", "BENZINGA", "bz_news_api"])
def test_aliases(tmp_path: Path, name: str) -> None:
    path = tmp_path / "reply.json"
    path.write_text(json.dumps([RICH]))
    gaps = pit_fetch.fetch(name, pit=PIT, input_file=path)["gaps"]
    assert gaps[0]["query"].startswith("--source bz-news-api ")


@pytest.mark.parametrize(
    ("status", "body", "gap"),
    [
        (400, ['Access denied for user 0 "anonymous"'], "refused the credential"),
        (401, {"ok": False, "errors": [{"code": "auth_failed"}]}, "refused the credential"),
        (403, {}, "refused the credential"),
        (400, "Invalid or Missing Query Parameters", "answered with HTTP 400"),
        (400, {"message": "Invalid page size"}, "answered with HTTP 400"),
        (499, {}, "answered with HTTP 499"),
        (404, {"ok": False, "errors": [{"code": "no_data_found"}]}, "Nothing public matched"),
        (200, {"ok": False, "errors": [{"code": "auth_failed"}]}, "refused the credential"),
        (200, {"ok": True}, "unknown shape"),
    ],
)
def test_recorded_errors(run: Run, status: int, body: Any, gap: str) -> None:
    with world(run, app=lambda _: as_json(body, status)) as bz:
        done = bz.at_pit()
    assert (done.code, done.envelope["data"]) == (0, [])
    assert gap in done.envelope["gaps"][-1]["reason"]
