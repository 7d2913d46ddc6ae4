"""bz-news-api end to end: the command, in process, against Benzinga's API."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pit_fetch_providers import bz_news_api

import pit_fetch
from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.inprocess import Answer
from tests.provider_harness import run_command
from tests.providers.bz_news_api import server as benzinga
from tests.providers.bz_news_api.server import article

PIT = datetime.fromisoformat("2024-02-15T16:00:00-05:00")
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)


def at_pit(folder: Path, served: App | Sequence[dict[str, Any]], *words: str) -> Answer:
    app = served if callable(served) else benzinga.app(served)
    return run_command("bz-news-api", folder, app, "--pit", PIT.isoformat(), *words)


def read_file(folder: Path, document: Any, source: str = "bz-news-api", **options: Any) -> pit_fetch.Envelope:
    """Read ``document``, a text or what is written as JSON, at the PIT."""
    path = folder / "saved.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return pit_fetch.fetch(source, **{"pit": PIT, "input_file": path, **options})


def test_what_was_public_at_the_pit_is_kept_and_nothing_else(tmp_path: Path) -> None:
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
    done = at_pit(tmp_path, articles)
    assert done.ids == ["2", "5", "1"]
    assert done.gap_types == ["pit_excluded", "unverifiable"]
    assert (done.code, done.err) == (0, "")
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


def test_a_window_of_more_than_the_api_serves_is_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bz_news_api, "PAGES_PER_WINDOW", 10)
    # 1,200 articles over 30 days; the API answers no page beyond the 1,000th.
    app = benzinga.app([article(n, PIT - n * timedelta(minutes=30)) for n in range(1, 1_201)], cap=1_000)
    pages = []

    def counting(request: HttpRequest) -> Response:
        pages.append(int(request.query["page"]))
        return app(request)

    words = ("--date-from", "2024-01-01", "--limit", "20000", "--max-pages", "200", "--fields", "title")
    done = at_pit(tmp_path, counting, *words, "--tickers", "AAPL")
    assert done.ids == [str(n) for n in range(1, 1_201)]
    assert "truncated" not in done.gap_types
    assert max(pages) == 9


def test_a_single_day_above_the_cap_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bz_news_api, "PAGES_PER_WINDOW", 3)
    articles = [article(n, PIT - n * SECOND) for n in range(1, 401)]
    done = at_pit(tmp_path, articles, "--limit", "20000", "--max-pages", "200", "--fields", "title")
    assert len(done.ids) == 300
    assert done.gap_types[-1] == "truncated"


def test_an_order_that_is_broken_among_public_articles_is_an_error(tmp_path: Path) -> None:
    first = [article(n, PIT - n * MINUTE) for n in range(1, 101)]
    pages = [first, [article(500, PIT - 50 * MINUTE)]]
    done = at_pit(tmp_path, lambda request: as_json(pages[int(request.query["page"])]), "--fail", "--limit", "500")
    assert (done.code, done.ids) == (5, [str(n) for n in range(1, 99)])  # a page's last minute waits for the next page
    assert done.gap_types == ["pit_excluded", "unverifiable", "upstream_error"]


EXPORT = {
    "id": "77",
    "title": "Exported",
    "teaser": None,
    "body": None,
    "url": "https://www.benzinga.com/news/77",
    "created": "2024-02-15T15:59:00.000Z",
    "updated": "2024-02-15T16:00:00-05:00",
    "symbols": [{"symbol": "AAPL", "exchange": "NASDAQ"}, {"ticker": "MSFT"}, {"name": "T"}],
    "channels": ["News", "WIIM"],
    "tags": ["M&A"],
}


@pytest.mark.parametrize(
    "row",
    [
        EXPORT,
        {**EXPORT, "symbols": ["AAPL", "MSFT", "T"], "stocks": []},
        {**EXPORT, "symbols": None, "securities": [{"symbol": "AAPL"}, {"symbol": "MSFT"}, {"symbol": "T"}]},
        {**{k: v for k, v in EXPORT.items() if k not in ("created", "updated")},
         "created_at": EXPORT["created"], "updated_at": EXPORT["updated"]},
        {**EXPORT, "symbols": "AAPL, MSFT,T", "channels": "News,WIIM", "tags": "M&A", "stocks": ""},
    ],
    ids=["export", "plain symbols", "securities", "dump", "cells"],
)  # fmt: skip
@pytest.mark.parametrize("wrap", ["%s", '{"items": %s}', '\ufeff {"data": %s, "gaps": []}'])
def test_exports_and_dumps_are_read(tmp_path: Path, row: dict[str, Any], wrap: str) -> None:
    text = wrap % json.dumps([row])
    (item,) = read_file(tmp_path, text)["data"]
    assert item == {
        "available_at": "2024-02-15T10:59:00-05:00",
        "available_at_source": "provider_metadata",
        "revised_at": "2024-02-15T16:00:00-05:00",
        "id": "77",
        "title": "Exported",
        "teaser": None,
        "body": None,
        "url": "https://www.benzinga.com/news/77",
        "symbols": ["AAPL", "MSFT", "T"],
        "channels": ["News", "WIIM"],
        "tags": ["M&A"],
        "created": "2024-02-15T10:59:00-05:00",
        "updated": "2024-02-15T16:00:00-05:00",
    }
    assert read_file(tmp_path, text, pit=PIT - SECOND)["data"] == []
    assert read_file(tmp_path, text, keywords="m&a", tickers="msft", channels="wiim")["data"]


@pytest.mark.parametrize(
    ("text", "ids"),
    [("available_at: 2030-01-01T00:00:00Z", ["1", "2"]), ('{"available_at": "2030-01-01T00:00:00Z"}', ["1"])],
    ids=["prose", "JSON"],
)
def test_a_request_may_quote_a_later_stamp(tmp_path: Path, text: str, ids: list[str]) -> None:
    """An article whose title is a JSON document with a later stamp is left out, and the request is shown as it is."""
    articles = [article(1, PIT - MINUTE), article(2, PIT - MINUTE, title=text)]
    answer = read_file(tmp_path, articles, keywords=["Body", text])
    assert [item["id"] for item in answer.data] == ids
    assert all("2030-01-01T00:00:00Z" in gap["query"] for gap in answer.gaps)


@pytest.mark.parametrize(
    "document",
    [
        [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}],
        [{"id": 1, "title": "An issue", "opened": "2024-02-15T10:00:00Z"}],
        [{"date": "2024-02-15", "close": 1.5}],
        [1, 2, 3],
        [["a", "b"]],
        ["a", "b"],
        {"items": [{"id": 1}]},
        {"hits": []},
        7,
        None,
    ],
)
@pytest.mark.parametrize("pit", [PIT, "open"])
def test_an_array_of_something_else_is_an_input_error(tmp_path: Path, document: Any, pit: datetime | str) -> None:
    answer = read_file(tmp_path, json.dumps(document), pit=pit, on_gap="keep")
    assert answer["data"] == []
    assert answer["gaps"][-1]["type"] == "input_error"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ((), "the PIT were searched: use --date-from or --lookback-minutes to go further back."),
        (("--tickers", "NONE"), "Only the 24 hours before the PIT were searched"),
        (("--date-to", "2024-02-10"), "Only the 24 hours before --date-to were searched"),
        (("--date-to", "2024-02-20"), "Only the 24 hours before the PIT were searched"),
        (("--date-from", "2024-02-14"), ""),
        (("--lookback-minutes", "1440"), ""),
    ],
)
def test_the_default_window_is_said_where_it_left_nothing(tmp_path: Path, words: Sequence[str], hint: str) -> None:
    late = [article(1, PIT + MINUTE), article(2, PIT - MINUTE, PIT + MINUTE)]
    old = article(3, PIT - timedelta(days=30))
    reasons = []
    for articles in ([], [old], [*late, old]):
        gaps = at_pit(tmp_path, articles, *words).envelope["gaps"]
        assert [gap["type"] for gap in gaps] == ["pit_excluded", "unverifiable", "unverifiable", "no_data"]
        reasons.append(gaps[-1]["reason"])
    assert reasons[0] == reasons[1] == reasons[2]
    assert ("were searched" in reasons[0]) is bool(hint)
    assert hint in reasons[0]
    assert at_pit(tmp_path, [article(1, PIT - MINUTE)]).gap_types == ["pit_excluded", "unverifiable"]


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
    ("option", "value", "is_kept"),
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
        ("themes", "OIL", True),
        ("themes", "waits", True),
        ("themes", "absent,trims", True),
        ("themes", "absent", False),
        ("keywords", "markets", True),
        ("keywords", "market", False),
        ("updated-since", "1708030800", True),
        ("updated-since", "1708030801", False),
        ("updated-since", "2024-02-15T16:00:00-05:00", True),
        ("updated-since", "2024-02-15T16:00:01-05:00", False),
    ],
)
def test_local_filters(tmp_path: Path, option: str, value: str, is_kept: bool) -> None:
    options = {option.replace("-", "_"): value}
    assert bool(read_file(tmp_path, {"items": [RICH]}, **options)["data"]) is is_kept


@pytest.mark.parametrize(
    ("title", "theme"),
    [
        ("Natural gas slips", "oil"),
        ("The economy grows", "macro"),
        ("Natural  gas slips", "natural gas"),
        ("Energy stocks fall", "energy"),
    ],
)
def test_themes_are_words_and_an_unknown_theme_is_one_itself(tmp_path: Path, title: str, theme: str) -> None:
    articles = [article(1, PIT, PIT, title=title, channels=[])]
    assert read_file(tmp_path, articles, themes=theme)["data"]
    assert not read_file(tmp_path, articles, themes="gold")["data"]


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
        (404, [], "Nothing public matched"),
        (404, {"ok": False, "errors": [{"code": "auth_failed"}]}, "refused the credential"),
        (404, {"ok": False, "errors": [{"code": "no_such_route"}]}, "check PIT_FETCH_BENZINGA_URL if it is set"),
        (404, "Not Found", "check PIT_FETCH_BENZINGA_URL if it is set"),
        (404, None, "check PIT_FETCH_BENZINGA_URL if it is set"),
        (200, {"ok": False, "errors": [{"code": "auth_failed"}]}, "refused the credential"),
        (200, ['Access denied for user 0 "anonymous"'], "refused the credential"),
        (200, {"ok": True}, "unreadable reply"),
    ],
)
def test_recorded_errors(tmp_path: Path, status: int, body: Any, gap: str) -> None:
    done = at_pit(tmp_path, lambda _: as_json(body, status))
    assert (done.code, done.envelope["data"]) == (0 if "Nothing" in gap else 5, [])
    assert gap in done.envelope["gaps"][-1]["reason"]
