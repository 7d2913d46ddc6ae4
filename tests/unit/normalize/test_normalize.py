"""``pit_fetch normalize``: what a page says is read again, and nothing else is believed."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.normalize.items import keep_quoted
from pit_fetch.normalize.saved import SavedPage, capture_of, is_envelope, page_of, plain_address
from pit_fetch.normalize.stamps import PageStamp, date_claim
from pit_fetch.support.bundled import gate
from tests.conftest import Finished, Run
from tests.unit.normalize.worlds import CHANGED_PLACES, TIME_FORMS, UNCLEAR

PIT = "2024-02-15T16:00:00-05:00"
URL = "https://news.example/acme"
AT = "2024-02-15T09:30:00-05:00"
RECEIVED = "Thu, 15 Feb 2024 20:00:00 GMT"
HEAD = f'<link rel="canonical" href="{URL}">'
PUBLISHED = f'<meta property="article:published_time" content="{AT}">'
BODY = "<h1>Acme &amp; Co beats</h1><p>Revenue <b>rose</b> 4%, \u201cthe best year\u201d.</p>"
META = {"kind": "meta", "name": "article:published_time"}


def item(**changed: Any) -> dict[str, Any]:
    made = {"url": URL, "page": "acme.html", "published_at": AT, "evidence": META, "title": "Acme & Co beats"}
    return {name: value for name, value in {**made, **changed}.items() if value is not None}


def normalize(run: Run, folder: Path, items: Any, *words: str, pit: str = PIT, **pages: str) -> Finished:
    pages = pages or {"acme": HEAD + PUBLISHED + BODY}
    saved = folder / "saved"
    saved.mkdir(exist_ok=True)
    for name, text in pages.items():
        (saved / f"{name}.html").write_text(text)
    pits = ("--pit", pit) if pit else ()
    stdin = items if isinstance(items, bytes) else json.dumps(items).encode()
    return run("normalize", *pits, "--pages", str(saved), *words, stdin=stdin)


def read_page(content: str | bytes) -> SavedPage:
    page = page_of(content.encode() if isinstance(content, str) else content)
    assert page is not None
    return page


# The process.


def test_an_item_is_dated_by_its_page(run: Run, tmp_path: Path) -> None:
    left = normalize(run, tmp_path, [item(quotes=["Revenue rose 4%", "fell"], text="It will fall.")])
    (served,) = left.envelope["data"]
    assert (left.code, left.err, gate.check(left.out.decode(), datetime.fromisoformat(PIT))) == (0, b"", None)
    assert served.pop("id").startswith(f"{URL}#")
    assert served == {
        "available_at": AT,
        "available_at_source": "provider_metadata",
        "url": URL,
        "title": "Acme & Co beats",
        "quotes": ["Revenue rose 4%"],
        "dated_by": "meta article:published_time",
    }
    assert left.gap_types == ["pit_excluded", "unverifiable", "unverifiable"]


@pytest.mark.parametrize(
    ("changed", "page"),
    [
        ({"published_at": "2024-02-15T09:29:00-05:00"}, PUBLISHED),  # it says something else
        ({"published_at": None}, PUBLISHED),
        ({"evidence": {"kind": "json-ld", "name": "datePublished"}}, PUBLISHED),  # it says it elsewhere
        ({"evidence": {"kind": "meta", "name": "event-date"}}, f'<meta name="event-date" content="{AT}">'),
        ({"evidence": "meta"}, PUBLISHED),
        ({}, '<meta property="article:published_time" content="2024-02-15T16:00:01-05:00">'),
        ({}, PUBLISHED + '<meta property="article:modified_time" content="2024-02-16T09:00:00Z">'),
        ({}, PUBLISHED + '<script type="application/ld+json">{"dateModified": "2024-02-15"}</script>'),
        ({}, PUBLISHED + '<script type="application/ld+json">{"dateModified": "yesterday"}</script>'),
        ({}, PUBLISHED + '<script type="application/ld+json">{"dateModified": </script>'),
        ({}, PUBLISHED + '<script type="application/ld+json">{"dateModified": "2024-02-16"'),
        ({}, PUBLISHED + "<time class=updated datetime=2024-02-20>"),
        ({}, PUBLISHED + "<p>Updated February 20, 2024"),
        ({}, PUBLISHED + "<script>{page: {lastUpdatedDate: '2024-02-20'}}</script>"),
        ({"page": "other.html"}, PUBLISHED),
        ({"page": "../acme.html"}, PUBLISHED),
        ({"page": None}, PUBLISHED),
        ({"url": "https://news.example/other"}, PUBLISHED),
        ({"url": "javascript:alert(1)"}, PUBLISHED),
        ({"url": 5}, PUBLISHED),
    ],
)
def test_what_the_page_does_not_say_is_not_served(
    near: Run, tmp_path: Path, changed: dict[str, Any], page: str
) -> None:
    (tmp_path / "acme.html").write_text(HEAD + PUBLISHED + BODY)
    left = normalize(near, tmp_path, [item(**changed)], acme=HEAD + page + BODY)
    nothing = normalize(near, tmp_path, [])
    assert (left.code, left.out, left.err) == (0, nothing.out, nothing.err)
    assert left.gap_types == ["pit_excluded", "unverifiable", "unverifiable", "no_data"]


def test_a_link_does_not_lead_out_of_the_folder(near: Run, tmp_path: Path) -> None:
    (tmp_path / "beside.html").write_text(HEAD + PUBLISHED + BODY)
    (tmp_path / "saved").mkdir()
    os.symlink(tmp_path / "beside.html", tmp_path / "saved" / "link.html")
    os.mkfifo(tmp_path / "saved" / "pipe.html")
    (tmp_path / "saved" / "folder.html").mkdir()
    names = ("link.html", "pipe.html", "folder.html", str(tmp_path / "beside.html"), "nul\0.html", "a" * 5_000)
    left = normalize(near, tmp_path, [item(page=name) for name in names])
    assert (left.code, left.ids) == (0, [])


def test_a_script_without_an_end_of_its_own_is_unreadable() -> None:
    assert page_of(b'<script type="application/ld+json"/>{"dateModified": "2024-02-20"}</script>') is None
    assert page_of(b'<script src="a.js"/><p>text<br/></p>') is not None


def test_a_change_dates_no_item(near: Run, tmp_path: Path) -> None:
    """EDGAR's index pages have the time of acceptance as their Last-Modified, and are changed later."""
    head = "HTTP/1.1 301 Moved\r\nLast-Modified: x\r\n\r\nHTTP/2 200\r\nDate: Thu, 15 Feb 2024 20:00:00 GMT\r\n"
    changed = "Last-Modified: Thu, 15 Feb 2024 14:30:00 GMT\r\n"
    on_receipt = item(published_at="Thu, 15 Feb 2024 20:00:00 GMT", evidence={"kind": "header", "name": "Date"})
    on_change = item(published_at="Thu, 15 Feb 2024 14:30:00 GMT", evidence={"kind": "header", "name": "Last-Modified"})
    left = normalize(near, tmp_path, [on_change, on_receipt], acme=head + changed + "\r\n" + HEAD + BODY)
    (served,) = left.envelope["data"]
    assert (served["available_at"], served["dated_by"]) == ("2024-02-15T15:00:00-05:00", "header date")
    names = ("article:modified_time", "dateModified", "last-modified")
    metas = HEAD + BODY + "".join(f'<meta name="{name}" content="{AT}">' for name in names)
    items = [item(evidence={"kind": "meta", "name": name}) for name in names]
    assert normalize(near, tmp_path, items, acme=metas).ids == []


@pytest.mark.parametrize(
    ("headers", "stated", "revised"),
    [
        ((RECEIVED,), "", None),
        ((RECEIVED,), "<time>yesterday</time>", RECEIVED),  # nothing was changed after the page was received
        ((RECEIVED,), "<time datetime=2024-03-01>The deadline</time>", RECEIVED),
        ((RECEIVED,), "<time datetime=2024-02-15T17:00Z></time>", "Thu, 15 Feb 2024 17:00:59 GMT"),
        ((RECEIVED, "Thu, 15 Feb 2024 20:30:00 GMT"), "<time>now</time>", "Thu, 15 Feb 2024 20:30:00 GMT"),
    ],
)
def test_nothing_of_a_page_was_changed_after_it_was_received(
    headers: tuple[str, ...], stated: str, revised: str | None
) -> None:
    head = "".join(f"Date: {header}\r\n" for header in headers)
    page = read_page(f"HTTP/2 200\r\n{head}\r\n{PUBLISHED}{stated}")
    dating = date_claim("meta", "article:published_time", AT, page.stamps)
    assert dating is not None
    assert (dating.revised_at and f"{dating.revised_at:%a, %d %b %Y %H:%M:%S GMT}") == revised


def test_of_two_receipts_the_later_counts(near: Run, tmp_path: Path) -> None:
    head = f"HTTP/2 200\r\nDate: {RECEIVED}\r\nDate: Fri, 16 Feb 2024 14:30:00 GMT\r\n\r\n"
    on_receipt = item(published_at=RECEIVED, evidence={"kind": "header", "name": "Date"})
    assert normalize(near, tmp_path, [on_receipt], acme=head + HEAD + BODY).ids == []


def test_a_page_that_was_received_by_then_is_proved_unless_another_header_is_later(near: Run, tmp_path: Path) -> None:
    on_receipt = item(published_at=RECEIVED, evidence={"kind": "header", "name": "Date"})
    page = HEAD + BODY + "<time datetime=2024-03-01>The deadline</time>"
    for header, served in (("Expires", 1), ("Last-Modified", 0)):
        head = f"HTTP/2 200\r\nDate: {RECEIVED}\r\n{header}: Fri, 16 Feb 2024 14:30:00 GMT\r\n\r\n"
        assert len(normalize(near, tmp_path, [on_receipt], acme=head + page).ids) == served


def envelope(stamp: str, html: str = BODY, **changed: Any) -> str:
    capture = {"available_at": stamp, "url": URL, "captured_at": stamp, "shows": "page", "text": html, **changed}
    return json.dumps({"data": [{**capture, "shows": "error", "text": "Gone"}, capture], "gaps": []})


CAPTURE = {"kind": "capture", "name": "available_at"}


@pytest.mark.parametrize(
    ("stamp", "changed", "html", "revised"),
    [
        # It need not say when it was published, and what it says does not matter.
        (AT, {"evidence": CAPTURE}, BODY, None),
        (
            AT,
            {"evidence": CAPTURE, "published_at": "2024-02-15T14:30:00Z"},
            "<meta name=date content=soon>" + BODY,
            None,
        ),
        ("2024-02-15T15:00:00-05:00", {}, PUBLISHED + BODY, "2024-02-15T15:00:00-05:00"),
        ("2024-02-15T09:00:00-05:00", {}, PUBLISHED + BODY, None),
    ],
)
def test_a_page_is_proved_by_its_capture(
    near: Run, tmp_path: Path, stamp: str, changed: dict[str, Any], html: str, revised: str | None
) -> None:
    left = normalize(near, tmp_path, [item(**changed)], acme=envelope(stamp, html))
    assert [(served["available_at"], served.get("revised_at")) for served in left.envelope["data"]] == [(AT, revised)]
    assert [served["title"] for served in left.envelope["data"]] == ["Acme & Co beats"]


@pytest.mark.parametrize(
    ("saved", "changed"),
    [
        (envelope("2024-02-15T16:00:01-05:00"), {"evidence": CAPTURE, "published_at": "2024-02-15T16:00:01-05:00"}),
        (envelope("2024-02-15T16:00:01-05:00", PUBLISHED + BODY), {}),  # a later capture of an earlier text
        (envelope(AT), {"evidence": CAPTURE, "published_at": "2024-02-15T09:00:00-05:00"}),
        (envelope(AT), {"evidence": CAPTURE, "url": "https://news.example/other"}),
        (envelope(AT, shows="redirect"), {"evidence": CAPTURE}),
        (envelope(AT, available_at=None), {"evidence": CAPTURE}),
        ('{"data": 5}', {"evidence": CAPTURE}),
        (HEAD + BODY, {"evidence": CAPTURE}),
    ],
)
def test_what_no_capture_proves_is_withheld(near: Run, tmp_path: Path, saved: str, changed: dict[str, Any]) -> None:
    assert normalize(near, tmp_path, [item(**changed)], acme=saved).ids == []


def test_a_saved_answer_of_the_web_archive_is_a_page(near: Run, tmp_path: Path) -> None:
    from tests.provider_harness import run_command
    from tests.providers.wayback import server as wayback

    capture = wayback.Capture("20240215140000", URL, BODY.encode())
    words = ("--pit", PIT, "page", f"url={URL}", "as=html")
    left = run_command("wayback", tmp_path, wayback.app([capture]), *words)
    claim = item(evidence=CAPTURE, published_at=left.data[0]["available_at"])
    assert len(normalize(near, tmp_path, [claim], acme=left.out).ids) == 1


def test_without_a_pit_items_are_served_as_they_are(near: Run, tmp_path: Path) -> None:
    left = normalize(near, tmp_path, {"data": [item(text="It will fall."), item(page="x"), 5]}, pit="")
    assert [(entry["available_at"], entry.get("text")) for entry in left.envelope["data"]] == [
        (AT, "It will fall."),
        (None, None),
    ]
    assert left.gap_types == ["unverifiable", "unverifiable"]


@pytest.mark.parametrize(
    ("items", "words", "code", "kind", "reason"),
    [
        (b"", (), 4, "input_error", "standard input is empty"),
        (b"{", (), 4, "input_error", "not valid JSON"),
        (b'"x"', (), 4, "input_error", "not a JSON array"),
        (b"[]", ("--pages", "nowhere"), 2, "config", "more than once"),
        (b"[]", ("--source", "fred"), 2, "config", "--source"),
        (b"[]", ("--archive", "x"), 2, "config", "--archive"),
        (b"[]", ("--offline",), 2, "config", "--offline"),
        (b"[]", ("--frobnicate",), 2, "config", "--frobnicate"),
        (b"[]", ("--fields", "summary"), 2, "config", "is not one of url, title"),
        (b"[]", ("word",), 2, "config", "takes no bare words"),
    ],
)
def test_what_is_refused(
    near: Run, tmp_path: Path, items: bytes, words: tuple[str, ...], code: int, kind: str, reason: str
) -> None:
    left = normalize(near, tmp_path, items, "--fail", *words)
    (refusal,) = [gap for gap in left.envelope["gaps"] if gap["type"] == kind]
    assert (left.code, left.ids, reason in refusal["reason"]) == (code, [], True)
    assert left.err.decode().count("\n") == 1


@pytest.mark.parametrize("words", [(), ("--pit", "2024-02-15T16:00:01-05:00"), ("--pit", "today")])
def test_a_ceiling_holds_here_too(near: Run, words: tuple[str, ...]) -> None:
    left = near("normalize", *words, stdin=b"[]", env={"PIT_FETCH_CEILING": PIT})
    assert (left.code, left.gap_types) == (2, ["invalid_pit"])


# What stamps prove.

OTHER = PageStamp("json-ld", "datemodified", "2024-02-14")


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2024-02-15T14:30:00Z", "2024-02-15 14:30:00"),
        ("2024-02-15T09:30:00.000-05:00", "2024-02-15 14:30:00"),
        ("2024-02-15 09:30:00-0500", "2024-02-15 14:30:00"),
        ("2024-02-15T09:30:00 -0500", "2024-02-15 14:30:00"),
        ("2024-02-15T14:30Z", "2024-02-15 14:30:59.999999"),
        ("Thu, 15 Feb 2024 09:30:00 -0500", "2024-02-15 14:30:00"),
        ("Thu, 15 Feb 2024 14:30:00 GMT", "2024-02-15 14:30:00"),
        ("2024-02-15", "2024-02-16 12:00:00"),
        ("2024-02-15T09:30:00", "2024-02-16 12:00:00"),  # somewhere on that day
        ("2024-02-15T09:30:00-00:00", "2024-02-16 12:00:00"),
        ("2024-02-15T09:30:00+0000", "2024-02-15 09:30:00"),
        ("2024-02-15T09:30:00-0000", "2024-02-16 12:00:00"),
        ("Thu, 15 Feb 2024 09:30:00 EST", "2024-02-16 12:00:00"),
        ("2024-02-30", None),
        ("15/02/2024", "2024-02-16 12:00:00"),
        ("2/3/2024", "2024-03-03 12:00:00"),  # the 2nd of March comes after the 3rd of February
        ("2024/02/15", "2024-02-16 12:00:00"),
        ("20240215", "2024-02-16 12:00:00"),
        ("Feb. 15th, 2024", "2024-02-16 12:00:00"),
        ("15 February 2024", "2024-02-16 12:00:00"),
        ("1708000000", "2024-02-15 12:26:40.999999"),
        ("1708000000123", "2024-02-15 12:26:40.999999"),
        ("February 2024", "2024-03-01 12:00:00"),
        ("Feb. 15", None),
        ("yesterday", None),
        ("9999-12-31", None),
    ],
)
def test_a_time_means_the_latest_instant_that_it_could_mean(text: str, utc: str | None) -> None:
    dating = date_claim("meta", "date", text, [PageStamp("meta", "date", f" {text} "), OTHER])
    assert (dating and dating.available_at) == (utc and datetime.fromisoformat(utc).replace(tzinfo=UTC))


@pytest.mark.parametrize("place", CHANGED_PLACES)
def test_a_time_is_read_in_every_form_wherever_it_stands(place: str) -> None:
    """What ``moment_of`` can read counts in all places: an item is as late as its page says, or undated."""
    at = datetime(2024, 2, 20, 10, 5, tzinfo=UTC)
    for form in TIME_FORMS:
        page = read_page(f'<meta name="date" content="{AT}">' + place.replace("AT", form(at)))
        dating = date_claim("meta", "date", AT, page.stamps)
        is_number = form(at).isdecimal()  # in words it may be unclear
        assert (dating is None) <= is_number, form(at)
        assert dating is None or (dating.revised_at or dating.available_at) >= at, form(at)


@pytest.mark.parametrize("mark", UNCLEAR)
def test_a_change_whose_time_cannot_be_read_may_be_of_any_time(mark: str) -> None:
    assert date_claim("meta", "date", AT, read_page(f'<meta name="date" content="{AT}">' + mark).stamps) is None


@pytest.mark.parametrize(
    "member",
    [
        '"edited": 1708423500.0',
        '"updated": 1708423500.123',
        '"updated": "1708423500000000"',
        '"updatedAt": {"_seconds": 1708423500, "_nanoseconds": 0}',
        r'"lastModified": "\/Date(1708423500000+0000)\/"',
    ],
)
def test_a_number_under_the_name_of_a_time_is_one_in_every_form(member: str) -> None:
    page = read_page(f'<meta name="date" content="{AT}"><script type="application/json">{{{member}}}</script>')
    dating = date_claim("meta", "date", AT, page.stamps)
    assert dating is not None
    assert dating.revised_at is not None
    assert dating.revised_at.replace(microsecond=0) == datetime(2024, 2, 20, 10, 5, tzinfo=UTC)


# What a page says.


@pytest.mark.parametrize(
    "html",
    [
        f"<LINK REL='alternate canonical' HREF='{URL}#top'>",
        f'<meta property="og:url" content="{URL}">',
        f"<!-- saved from url=(0024){URL} -->",
        f"HTTP/1.1 200 OK\nContent-Location: {URL}\n\n<p>",
        f'HTTP/1.1 200 OK\r\nLink: <{URL}>; rel="canonical"\r\n\r\n<p>',
        '<script type="application/ld+json">{"mainEntityOfPage": "' + URL + '"}</script>',
        '<script type="application/ld+json">{"@graph": [{"mainEntityOfPage": {"@id": "' + URL + '"}}]}</script>',
        '<script type="application/ld+json">\n//<![CDATA[\n[{"mainEntityOfPage": "' + URL + '"}]\n//]]>\n</script>',
    ],
)
def test_a_page_says_which_address_it_is_of(html: str) -> None:
    assert read_page(html).addresses == {URL}


@pytest.mark.parametrize(
    ("html", "stamps"),
    [
        (f'<meta name="DATE" content="{AT}">', [("meta", "date")]),
        (f'<time itemprop="datePublished" datetime="{AT}">now</time>', [("meta", "datepublished")]),
        (f'<meta itemprop="dateModified" content="{AT}">', [("meta", "datemodified")]),
        (f'<meta http-equiv="last-modified" content="{AT}">', [("meta", "last-modified")]),
        (f'<!-- <meta name="date" content="{AT}"> -->', [("comment", "content")]),
        (f'<time datetime="{AT}">an event</time>', [("time", "datetime")]),
        ("\ufeff\r\nHTTP/1.1 200 OK\r\nLast-Modified: x\r\n\r\n<p>", [("header", "last-modified")]),
        ('<meta name="date" content="">', []),
        ('<script type="application/ld+json">{"dateModified": "a", "dateModified": "b"}</script>', [
            ("json-ld", "datemodified"),
            ("json-ld", "datemodified"),
        ]),
        ('<script type="application/ld+json; charset=utf-8">[{"a": [{"schema:datePublished": ["a"]}]}]</script>', [
            ("json-ld", "datepublished"),
        ]),
        ("<script>{\"datePublished\": 1}</script>", []),
        *((f'<script type="application/ld+json">{text}</script>', [("json-ld", "datemodified")]) for text in (
            '{"dateModified": {"@type": "DateTime", "@value": "a"}}',
            '{"dateModified": 1708500000}',
        )),
        ('<script type="application/ld+json">{"http://schema.org/datePublished": [{"@value": "a"}]}</script>', [
            ("json-ld", "datepublished"),
        ]),
        ('<script type="application/ld+json">{"dateModified": null, "event:date": "a"}</script>', []),
        (f'<time itemprop="datePublished dateModified" datetime="{AT}">', [
            ("meta", "datepublished"),
            ("meta", "datemodified"),
        ]),
        (f'<i itemprop="https://schema.org/datePublished" content="{AT}">', [("meta", "datepublished")]),
        (f'<i property="schema:datePublished" content="{AT}" datetime="later">', [("meta", "datepublished")] * 2),
        (f"<time itemprop='dateModified'>{AT}</time>", [("meta", "datemodified"), ("text", "")]),
        ("<span itemprop='dateModified'><b>Feb</b> 20</span> and more", [("meta", "datemodified")]),
        ("<span itemprop='dateModified'></span><p>and more</p>", []),
        (f"<span itemprop='dateModified'><time datetime='{AT}'>Feb 20</time></span>", [
            ("time", "datetime"),
            ("meta", "datemodified"),
        ]),
        ("<input name='date'><p>Search</p>", []),
        (f'<meta property="og:article:modified_time" content="{AT}">', [("meta", "og:article:modified_time")]),
        (f'<meta property="event:date" content="{AT}">', [("meta", "event:date")]),
        (f'<meta property="article:expiration_time" content="{AT}">', []),
    ],
)  # fmt: skip
def test_the_times_of_a_page(html: str, stamps: list[tuple[str, str]]) -> None:
    assert [(stamp.kind, stamp.name) for stamp in read_page(html).stamps] == stamps


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "windows-1252", "utf-16"])
def test_a_page_in_another_encoding(encoding: str) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=" + encoding.encode() + b"\r\n\r\n"
    assert read_page(head + "<p>caf\u00e9</p>".encode(encoding)).texts[0].startswith("caf\u00e9")
    assert page_of(b'<meta charset="no such thing"><p>x') is not None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("head", ["", "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=iso-8859-1\r\n\r\n"])
def test_a_page_as_windows_saves_it(encoding: str, head: str) -> None:
    """The whole file is in UTF-16, whatever the page declares: some editors leave out the mark."""
    html = f'<meta charset="windows-1252"><meta property="article:modified_time" content="{AT}"><p>caf\u00e9</p>'
    page = read_page((head + html).encode(encoding))
    assert ("caf\u00e9" in page.texts[0], [stamp.text for stamp in page.stamps]) == (True, [AT])
    assert read_page(f"<meta charset={encoding}><p>caf\u00e9</p>").texts[0].startswith("caf\u00e9")
    capture = {"shows": "page", "available_at": AT, "text": html, "url": URL}
    envelope = json.dumps({"data": [capture]}).encode(encoding)
    assert is_envelope(envelope)
    captured = capture_of(envelope, URL)
    assert captured is not None
    assert URL in captured.addresses


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [
        ("Acme & Co beats", True),
        ("Acme", True),
        ("4%", True),
        ("ose 4%", False),
        ("Acme & C", False),
        ("Rev enue", False),
        ("Revenuerose", False),
        ("fell by 0.5%", True),
        ("5%", False),
        ("14% more H2O", True),
        ("14%\nmore H 2 O", True),
        ("0.5% in The East", True),
        ("we can", False),
        ("\u58f2\u4e0a", True),
        ("  Revenue\nrose 4% ", True),
        ('Revenue rose 4%, "the best year".', True),
        ("Revenue rose 5%", False),
        ("alert", False),
        (" ", False),
        (5, False),
    ],
)
def test_only_what_the_page_holds_is_quoted(text: Any, is_kept: bool) -> None:
    more = "<p>It fell by -0.5%, it fell by 0.5%<p>in <b>T</b>he East: 14% more H<sub>2</sub>O, "
    more += "we can\u2019t; \u58f2\u4e0a\u9ad8"
    page = read_page(BODY + more + "<script>alert</script><style>alert</style>")
    assert keep_quoted({"title": text}, page) == ({"title": text} if is_kept else {})


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>Sales <b>fell</b></p>",
        "<div style='color: red; DISPLAY : none'><div>x</div>Sales fell</div>",
        "<span style=visibility:hidden>Sales fell</span>",
        "<span style=font-size:0px>Sales fell</span>",
        "<template>Sales fell</template>",
        "<noscript>Sales fell</noscript>",
        "<!-- Sales fell -->",
        "<dialog>Sales fell</dialog>",
        "<details><summary>More</summary>Sales fell</details>",
        "<div popover>Sales fell</div>",
        *(f"<{tag}>Sales fell</{tag}>" for tag in ("canvas", "video", "audio", "meter", "object", "title", "rp")),
        *(f"<svg><{tag}>Sales fell</{tag}></svg>" for tag in ("desc", "title", "defs", "metadata", "symbol")),
        *(
            f'<div style="{style}">Sales fell</div>'
            for style in (
                "display:/**/none!important",
                "content-visibility:hidden",
                "position:absolute;clip:rect(0 0 0 0)",
                "position:absolute; left: -9999px",
                "text-indent:-9999px",
                "margin-left:-100vw",
                "height:0;overflow:hidden",
                "overflow: hidden; max-height: 0px",
                "color:transparent",
                "color: rgba(0, 0, 0, 0)",
                "transform:scale(0)",
                "opacity:0%",
                "clip-path: inset(50%)",
                "transform: translateX(-9999px)",
            )
        ),
        "<span hidden><p></span>Sales fell</p></span>",  # an end tag of a line does not end a paragraph
        "<div hidden><table><td></div>Sales fell</table></div>",
        "<div hidden><br><img></p>Sales fell</div>",
        "<meta name=description content='Sales fell'>",
        '<script type="application/ld+json">{"articleBody": "Sales fell"}</script>',
    ],
)
def test_a_quote_is_shown_by_the_page(hidden: str) -> None:
    payload = {"text": "Sales fell", "quotes": ["Sales fell", "Sales rose"]}
    assert keep_quoted(payload, read_page(hidden + "<p>Sales rose")) == {"quotes": ["Sales rose"]}
    shown = read_page(hidden + '<p style="opacity:0.5;font-size:large;color:rgb(9,0,0);left:-9px;width:0">Sales fell')
    assert keep_quoted(payload, shown) == {**payload, "quotes": ["Sales fell"]}


def test_a_label_is_enough_for_a_title() -> None:
    page = read_page("<meta name=author content='Ann Lee'>")
    assert keep_quoted({"author": "Ann Lee", "text": "Ann Lee"}, page) == {"author": "Ann Lee"}


@pytest.mark.parametrize(
    "html",
    [
        "<p>Acme updated its guidance. Revised outlook for the year ending March 31, 2025.</p>",
        "<p>It will be published in 2025</p><p>Posted May 5</p>",
        '<meta name="twitter:data1" content="5 minutes"><meta property="article:publisher" content="https://x.example">',
        '<div data-update-url="/a/2024" data-updated="true" data-id="1708500000"></div>',
        "<script>a.lastModified = b || 0; var updated = 5, id = '20-240';</script>",
        "<script>{until: '2030-01-01', phone: 1708423200, updatedText: 'Last updated'}</script>",
        '<script type="application/ld+json">{"publisher": "Acme", "priceValidUntil": "2099-01-01"}</script>',
    ],
)
def test_a_page_that_shows_no_time_of_a_change_is_not_suspected(html: str) -> None:
    assert read_page(html).stamps == ()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("HTTPS://A.example", "https://a.example/"),
        ("https://a.example/X?y=1#z", "https://a.example/X?y=1"),
        ("https://user:secret@a.example/", None),
        ("https://", None),
        ("https://[", None),
        ("/relative", None),
        (None, None),
    ],
)
def test_addresses_are_compared_in_one_form(text: Any, plain: str | None) -> None:
    assert plain_address(text) == plain
