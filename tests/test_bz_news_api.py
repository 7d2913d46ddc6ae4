"""bz-news-api end to end: the real command against a loopback server that speaks Benzinga's API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest

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
