"""wayback: which capture is the page, when it counts, what of the archive's answers is no capture, and its errors."""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.testing.server import App, Response
from pit_fetch.transport import MAX_BODY_BYTES, HttpRequest
from tests.conftest import Run
from tests.provider_harness import Fetched, run_command
from tests.provider_harness import ask as ask_source
from tests.providers.wayback import server as wayback
from tests.providers.wayback.server import Capture
from tests.serving import serve

PIT = "2017-11-23T12:00:00Z"
URL = "https://www.example.com/news"
OLD = Capture("20170929002712", body=b"<title>Old</title><p>The old page.")
PAGE = Capture("20171120101500", body=b"<title>New</title><p>The new page.")
LATER = Capture("20171124151315", body=b"<title>Later</title><p>SECRET")
_command = partial(run_command, "wayback")


def ask(captures: Sequence[Any] | App, *, pit: str | None = PIT, op: str = "page", **options: Any) -> Fetched:
    app = captures if callable(captures) else wayback.app(captures)
    accepted = {"evidence": "claimed"} if op == "captures" else {}  # the index alone dates a list
    return ask_source("wayback", app, pit=pit, op=op, **{"url": "example.com/news", **accepted, **options})


def shown(fetched: Fetched) -> list[tuple[str, str]]:
    return [(record.payload["captured_at"][:10], record.payload["shows"]) for record in fetched.records]


def captures_asked(fetched: Fetched) -> list[str]:
    return [path[5:19] for path in fetched.paths("/web/")]


# Which capture it is, and when it counts.


def test_the_page_is_its_newest_capture_that_was_public() -> None:
    fetched = ask([OLD, PAGE, LATER])
    (item,) = fetched.items
    assert item[:3] == (f"20171120101500/{URL}", datetime(2017, 11, 20, 10, 20, 2, tzinfo=UTC), "provider_metadata")
    assert item[3] == {
        "url": URL,
        "captured_at": "2017-11-20T10:15:00Z",
        "status": 200,
        "shows": "page",
        "redirects_to": None,
        "content_type": "text/html",
        "title": "New",
        "published": None,
        "modified": None,
        "digest": wayback.digest_of(PAGE.body),
        "digest_matches": True,
        "links": "",
        "text": "The new page.",
    }
    assert captures_asked(fetched) == ["20171120101500"]


@pytest.mark.parametrize(
    "changes",
    [
        {"body": b"<meta property='article:published_time' content='2017-11-22T08:00:00Z'>SECRET"},
        {"body": b'<script type=\'application/ld+json\'>{"dateModified": "2017-11-30"}</script>SECRET'},
        {"body": b"<meta name=date content=2010-01-01><meta name=pubdate content=2017-11-30>SECRET"},
    ],
)
def test_a_capture_whose_stamp_is_shown_to_be_wrong_is_withheld_and_the_one_before_is_read(
    changes: Mapping[str, Any],
) -> None:
    wrong = PAGE._replace(**changes)
    fetched = ask([OLD, wrong, LATER])
    assert (fetched.ids, fetched.withheld.undated) == ([f"{OLD.stamp}/{URL}"], [f"{wrong.stamp}/{URL}"])


# What the archive answers in the place of a capture.


def test_two_lines_of_content_encoding_are_read(near: Run) -> None:
    import gzip

    body = gzip.compress(PAGE.body)

    def answer(request: HttpRequest) -> Response:
        made = wayback.app([PAGE])(request)
        if not request.path.startswith("/web/"):
            return made
        return Response(body, 200, {**made.headers, "content-encoding": "", "Content-Encoding": "gzip"})

    with serve(answer) as server:
        env = {**wayback.VARIABLES, "PIT_FETCH_WAYBACK_URL": server.url}
        left = near("--source", "wayback", "--pit", PIT, "page", f"url={URL}?utm_source=x", env=env)
    assert [item["title"] for item in left.envelope["data"]] == ["New"]
    agents = {request.header("User-Agent") for request in server.requests}
    assert len(agents) == 1
    assert agents.pop().endswith("(tests@example.com)")


# Captures that show something else.


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_was_gone_is_said_to_be_and_the_one_before_is_read(status: int) -> None:
    gone = [PAGE._replace(stamp=f"201711201015{n:02}", status=status, body=f"{n}".encode()) for n in range(30)]
    fetched = ask([OLD, *gone])
    assert shown(fetched) == [("2017-11-20", "error"), ("2017-09-29", "page")]
    assert fetched.records[0].payload["status"] == status
    assert len(captures_asked(fetched)) == 2


@pytest.mark.parametrize("status", [403, 429, 500, 503])
def test_what_the_origin_told_a_robot_is_not_the_page(status: int) -> None:
    refused = PAGE._replace(status=status)
    fetched = ask([OLD, refused])
    assert (shown(fetched), captures_asked(fetched)) == ([("2017-09-29", "page")], [OLD.stamp])
    # A revisit does not say its status in the index. The reply does, and is a reply: it is not asked for again.
    fetched = ask([OLD, refused._replace(listed_status="-")])
    assert shown(fetched) == [("2017-11-20", "error"), ("2017-09-29", "page")]
    assert len(captures_asked(fetched)) == 2


@pytest.mark.parametrize(
    ("body", "shows"),
    [
        (b"<title>Page not found | Example</title><p>Sorry.", "missing"),
        (b"<title>Example - 404</title>", "missing"),
        (b"<title>Just a moment...</title><p>Checking", "wall"),
        (b"<title>Example</title><p>Are you a robot? Please enable cookies", "wall"),
        (b"<title>Before you continue</title>", "wall"),
        (b"<title>App</title><div id=root></div><script src=/app.js></script>", "script"),
        (b"<title>App</title><noscript>You need to enable JavaScript to run this app.</noscript>", "script"),
        (b"<meta http-equiv=refresh content='0; url=/'>", "redirect"),
        (b"<title>One moment</title><meta http-equiv=refresh content='3; url=/news'>", "wall"),
        (b"", "empty"),
        (b"<html><head></head><body><nav>Menu</nav></body></html>", "empty"),
    ],
)
def test_a_page_in_the_place_of_the_page_is_said_to_be_one(body: bytes, shows: str) -> None:
    assert shown(ask([OLD, PAGE._replace(body=body)])) == [("2017-11-20", shows), ("2017-09-29", "page")]


def test_a_page_of_frames_links_to_them() -> None:
    body = b"<title>Acme</title><frameset><frame src=menu.html><frame src=/main.html></frameset>"
    (record,) = ask([PAGE._replace(body=body)]).records
    assert (record.payload["shows"], record.payload["text"]) == ("page", "")
    assert record.payload["links"] == "https://www.example.com/menu.html\nhttps://www.example.com/main.html"


def test_a_file_is_shown_by_its_digest() -> None:
    (item,) = ask([PAGE._replace(body=b"%PDF-1.4 \xff", content_type="application/pdf")]).items
    assert (item[3]["shows"], item[3]["text"], item[3]["digest_matches"]) == ("file", None, True)


@pytest.mark.parametrize("encoding", ["gzip", "br"])
def test_a_capture_that_cannot_be_received_is_none_and_the_one_before_is_read(encoding: str, tmp_path: Path) -> None:
    bomb = gzip.compress(bytes(MAX_BODY_BYTES + 1), 1)
    for body in (b"<p>Not compressed as it says.", gzip.compress(b"broken off")[:20], bomb):
        app = wayback.app([OLD, PAGE._replace(body=body, encoding=encoding)])
        assert shown(ask(app)) == [("2017-09-29", "page")]
    env, words = {"PIT_FETCH_ARCHIVE": str(tmp_path / "a.db")}, ("--pit", PIT, "url=example.com/news")
    for offline in ((), ("--offline",)):
        assert _command(tmp_path, app, *words, *offline, env=env).ids == [f"{OLD.stamp}/{URL}"]


@pytest.mark.parametrize(
    ("body", "shows", "text"),
    [
        (gzip.compress(b"<title>Acme</title><p>The text."), "page", "The text."),
        (gzip.compress(b"<p>Broken off.")[:-4], "file", None),
        (b"%PDF-1.4 text", "file", None),
        (b"\x89PNG\r\n", "file", None),
    ],
    ids=["compressed", "broken off", "pdf", "png"],
)
def test_what_an_origin_calls_a_page_may_be_compressed_or_a_file(body: bytes, shows: str, text: str | None) -> None:
    (record,) = ask([PAGE._replace(body=body)]).records
    assert (record.payload["shows"], record.payload["text"]) == (shows, text)
    assert record.payload["digest_matches"]


def test_the_search_ends_after_some_captures_that_show_nothing() -> None:
    nothing = [PAGE._replace(stamp=f"201711201015{n:02}", body=b"<title>404</title>%d" % n) for n in range(20)]
    fetched = ask([OLD, *nothing])
    assert {shows for _, shows in shown(fetched)} == {"missing"}
    assert len(captures_asked(fetched)) == 8


def test_captures_that_cannot_be_read_use_up_none_of_these_and_have_a_limit_of_their_own() -> None:
    lost = [PAGE._replace(stamp=f"201711{day:02}1015{n:02}", plays=False) for day in (10, 11) for n in range(25)]
    assert shown(ask([OLD, *lost[1:]])) == [("2017-09-29", "page")]
    fetched = ask([OLD, *lost])
    assert (shown(fetched), len(captures_asked(fetched))) == ([], 50)


# Redirects.

MOVED = PAGE._replace(status=301, location="https://www.example.com/latest", body=b"")
TARGET = Capture("20171010000000", "https://www.example.com/latest", b"<title>Latest</title>The latest.")


def test_a_captured_redirect_leads_to_what_its_target_showed_at_the_pit() -> None:
    late = TARGET._replace(stamp="20171124000000", body=b"SECRET")
    fetched = ask([OLD, MOVED, TARGET, late])
    assert fetched.ids == [f"{TARGET.stamp}/{TARGET.url}"]
    # That the address led there was not known before its redirect was captured.
    assert fetched.records[0].available_at == datetime(2017, 11, 20, 10, 20, 2, tzinfo=UTC)
    assert captures_asked(fetched) == [MOVED.stamp, TARGET.stamp]


def test_a_target_that_was_captured_later_is_not_shown_and_the_page_before_the_redirect_is() -> None:
    # Recorded: the target of a captured redirect leads to a capture six minutes later.
    fetched = ask([OLD, MOVED, TARGET._replace(stamp="20171124000000")])
    assert shown(fetched) == [("2017-11-20", "redirect"), ("2017-09-29", "page")]
    assert fetched.records[0].payload["redirects_to"] == TARGET.url


@pytest.mark.parametrize("location", ["//www.example.com/latest", "http://example.com:80/latest#top"])
def test_a_location_may_be_written_in_several_ways(location: str) -> None:
    assert "Latest" in [record.payload["title"] for record in ask([MOVED._replace(location=location), TARGET]).records]


def test_redirects_that_lead_in_a_circle_end() -> None:
    # Recorded: a page that asks for cookies leads to a log-in, which leads back.
    log_in = TARGET._replace(status=302, location=URL, body=b"")
    fetched = ask([OLD, MOVED, log_in])
    assert [record.payload["url"] for record in fetched.records] == [TARGET.url, URL, URL]
    assert [record.payload["shows"] for record in fetched.records] == ["redirect", "redirect", "page"]
    assert captures_asked(fetched) == [MOVED.stamp, TARGET.stamp, OLD.stamp]


# The index.

MALFORMED = (
    "com,example)/news 20000800241623 https://www.example.com/news text/html 200 PAJWSPCRQMVBTYWV4NPJPNDQHKWJC3OO 61",
    "com,example)/news 99991231235959 https://www.example.com/news text/html 200 PAJWSPCRQMVBTYWV4NPJPNDQHKWJC3OO 61",
    "com,example)/news 20171121140810 http://mailto:sampling@example.com/ unk 301 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ 32",
    'com,example)/"data:image/jpeg;base64,/9j/4aaq 20171121140810 data:image/jpeg;base64,/9j/ - 200 X2TRC5YO 20',
    "com,example)/news 20171121005903 some/not/even/url/thing text/html 200 X2TRC5YOLWHW7YKTFSLAEELR3IZAQUSB 20",
    "com,other)/news 20171121005903 https://other.example/news text/html 200 X2TRC5YOLWHW7YKTFSLAEELR3IZAQUSB 20",
    "com,example)/news",
)


def test_an_index_that_is_cut_is_read_to_the_end_of_its_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pit_fetch_providers.wayback.index.ROWS", 3)
    many = [PAGE._replace(stamp=f"201711200000{n:02}") for n in range(10)]
    fetched = ask([*many, *many, OLD])  # recorded: each row up to three times
    assert fetched.ids == [f"20171120000009/{URL}"]
    assert len(ask([*many, *many, OLD], op="captures").ids) == 11


def test_an_index_that_goes_round_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    line = f"{PAGE.row}\n\nkey\n".encode()
    assert ask(lambda request: Response(line), op="captures").error_code == "paging"


def test_nothing_is_asked_for_from_after_the_pit() -> None:
    fetched = ask([PAGE, LATER], op="captures")
    asked = [(request.query["from"], request.query["to"]) for request in fetched.requests]
    assert asked[0] == ("20171113115500", "20171123115459")
    assert [last for _, last in asked] == sorted((last for _, last in asked), reverse=True)
    assert asked[-1][0] == "19960101000000"
    assert {*fetched.requests[0].query} == {"url", "matchType", "fl", "limit", "showResumeKey", "from", "to"}
    assert ask([PAGE], pit="1995-06-01T00:00:00Z").requests == []


def test_captures_are_listed_with_redirects_revisits_and_refusals() -> None:
    revisit = PAGE._replace(listed_status="-")
    fetched = ask([OLD._replace(status=403), revisit, MOVED._replace(stamp="20171101000000"), LATER], op="captures")
    rows = [(record.payload["captured_at"], record.payload["status"]) for record in fetched.records]
    assert rows == [("2017-11-20T10:15:00Z", None), ("2017-11-01T00:00:00Z", 301), ("2017-09-29T00:27:12Z", 403)]
    assert fetched.records[0].available_at == datetime(2017, 11, 20, 10, 20, 1, tzinfo=UTC)
    assert ask([OLD, PAGE], op="captures", date_from="2017-11-01").ids == [f"{PAGE.stamp}/{URL}"]
    assert ask([OLD, PAGE], op="captures", evidence="proved").ids == []


# Errors, and the call.


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (Response(b"SECRET", 400), "http_status"),
        (Response(b"SECRET", 429), "throttled"),
        (Response(b"SECRET", 503), "http_status"),
        (Response(b"SECRET", 404), "moved"),
        (wayback.OFFLINE, "http_status"),
    ],
)
@pytest.mark.parametrize("at", ["/cdx", "/web"])
def test_what_the_archive_says_instead(response: Response, code: str, at: str) -> None:
    def answer(request: HttpRequest) -> Response:
        return response if request.path.startswith(at) else wayback.app([PAGE])(request)

    # A capture that is missing is none, and no error.
    assert ask(answer).error_code == ("" if (response.status, at) == (404, "/web") else code)


def test_after_a_429_a_minute_goes_by() -> None:
    asked: list[str] = []

    def answer(request: HttpRequest) -> Response:
        asked.append(request.path)
        return Response(b"", 429) if len(asked) == 1 else wayback.app([PAGE])(request)

    assert ask(answer, timeout=180.0).ids == [f"{PAGE.stamp}/{URL}"]


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("https://WWW.Example.com:443/News?utm_source=x&id=3&fbclid=9#top", "www.example.com/News?id=3"),
        ("example.com", "example.com/"),
        ("//example.com/a?gclid=1", "example.com/a"),
        ("HTTP://user:pw@ex\xe4mple.com/\xe4 b", "xn--exmple-cua.com/%C3%A4%20b"),
        (" www.sec.gov/ix?doc=/Archives/a.htm ", "www.sec.gov/ix?doc=/Archives/a.htm"),
        ("example.com:8080/a%20b", "example.com:8080/a%20b"),
        ("https://example.com:0443/a", "example.com/a"),
        ("example.com:/a", "example.com/a"),
        ("archive.org/web/petabox.php", "archive.org/web/petabox.php"),
        ("//me@example.com/@me?by=you@example.com", "example.com/@me?by=you@example.com"),
    ],
)
def test_an_address_is_asked_for_as_people_write_it(written: str, asked: str) -> None:
    assert ask([], url=written).requests[0].query["url"] == asked


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("example.com/*", "match=prefix"),
        ("*.example.com", "match=prefix"),
        ("https://web.archive.org/web/2017/http://example.com", "leave out"),
        ("archive.org/web/2017/http://example.com", "leave out"),
        ("https://web.archive.org", "leave out"),
        ("mailto:a@example.com", "http or https"),
        ("a@example.com", "not of mail"),
        ("me:pw@example.com/a", "not of mail"),
        ("http://example.com\\@other.example/a", "write /"),
        ("ftp://example.com/a", "http or https"),
        ("localhost", "e.g. www.example.com/news"),
        ("", "e.g. www.example.com/news"),
        ("http://[::1", "can be read"),
    ],
)
def test_what_is_no_address_of_a_page_is_refused(url: str, reason: str) -> None:
    with pytest.raises(UsageError, match=re.escape(reason)):
        ask([], url=url)


def test_saved_replies() -> None:
    lines = "\n".join((LATER.row, PAGE.row, *MALFORMED[:2])).encode()
    assert ask([], body=lines, op="captures").ids == [f"{PAGE.stamp}/{URL}"]
    for body in (b"<html>", b"[]"):
        assert "input_malformed" in [gap.code for gap in ask([], body=body, op="captures").selection.gaps]
    with pytest.raises(ConfigError, match="page reads no saved reply"):
        ask([], body=PAGE.body, op="page")


# The archive.


def test_an_archive_keeps_what_proves_a_capture_and_chooses_among_those_that_it_holds(tmp_path: Path) -> None:
    env = {"PIT_FETCH_ARCHIVE": str(tmp_path / "a.db")}
    app, asked = wayback.app([OLD, PAGE, LATER]), ("page", "url=example.com/news")
    for words in (("--pit", "2017-10-01T00:00:00Z"), ("--pit", PIT), ()):  # the last one without a PIT
        assert len(_command(tmp_path, app, *words, *asked, env=env).ids) == 1
    nobody = wayback.app([])

    def held(pit: str) -> list[str]:
        return _command(tmp_path, nobody, "--pit", pit, *asked, "--offline", env=env).ids

    assert held("2017-09-30T00:00:00Z") == []  # the read of October says nothing of September
    assert held("2017-10-02T00:00:00Z") == [f"{OLD.stamp}/{URL}"]
    assert held(PIT) == [f"{PAGE.stamp}/{URL}"]
    assert held("2026-06-01T16:00:00Z") == [f"{LATER.stamp}/{URL}"]


def test_a_page_that_only_the_archive_dates_hides_no_capture_that_proves_its_time(tmp_path: Path) -> None:
    env, asked = {"PIT_FETCH_ARCHIVE": str(tmp_path / "a.db")}, ("page", "url=example.com/news")
    wrong = PAGE._replace(stamp="20171122101500", date="Fri, 01 Jun 2018 10:00:00 GMT")
    pit = "2026-06-01T16:00:00Z"
    assert _command(tmp_path, wayback.app([OLD, wrong]), "--pit", pit, *asked, env=env).ids[-1] == f"{OLD.stamp}/{URL}"
    answer = _command(tmp_path, wayback.app([]), "--pit", pit, *asked, "--offline", env=env)
    assert answer.ids == [f"{wrong.stamp}/{URL}", f"{OLD.stamp}/{URL}"]
    assert [item.get("first_seen_at") is None for item in answer.data] == [False, True]


def test_an_index_with_more_rows_than_were_asked_for_is_malformed() -> None:
    every = "".join(f"{PAGE.row}\n" for _ in range(10_003)).encode()
    assert ask(lambda request: Response(every), op="captures").error_code == "malformed"


def test_a_digest_that_differs_proves_nothing() -> None:
    (item,) = ask([PAGE._replace(digest="BHLZ7SUEFN34VPG6MPYVQWOQHT3B7TXJ")]).items
    assert (item[3]["shows"], item[3]["digest_matches"]) == ("page", False)


@pytest.mark.parametrize("contact", ["", "me", "me@", "\u4e2d@example.com"])
def test_a_contact_is_needed(contact: str, tmp_path: Path) -> None:
    left = _command(tmp_path, wayback.app([PAGE]), "url=example.com", env={"PIT_FETCH_CONTACT": contact})
    assert (left.gap_types, "PIT_FETCH_CONTACT" in left.out) == (["config"], True)
