"""Documents as of an instant: Wikipedia's API and pages, and any page of the web, in worlds that differ after it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from pit_fetch.testing.server import App
from tests.providers.wayback import server as wayback
from tests.providers.wikipedia import server as wikipedia
from tests.providers.wikipedia.server import Page, Revision, Wiki
from tests.unit.views.test_views import AGENT, ask

AT = "2024-02-01T10:00:00Z"
OLD = Revision(11, "2023-02-01T10:00:00Z", "'''Acme''' was small.", parentid=10)
THEN = Revision(12, AT, "'''Acme''' is a [[company]] of 5,000.\n\n== History ==\nFounded.", parentid=11)
LATER = Revision(13, "2024-05-01T10:00:00Z", "'''Acme''' is bankrupt.", parentid=12)


def wiki(*revisions: Revision) -> App:
    return wikipedia.app(Wiki([Page(7, "Acme", revisions)]))


def both(target: str) -> tuple[int, str]:
    """Return the status and the text that a program gets in both worlds."""
    answers = [
        ask(app, target, "en.wikipedia.org", sources=("wikipedia",), headers=[AGENT])
        for app in (wiki(THEN, OLD), wiki(LATER, THEN, OLD))
    ]
    assert answers[0][:3] == answers[1][:3]
    return answers[0].status, answers[0].body.decode()


API = "/w/api.php?action=query&format=json&titles="


def test_the_api_has_the_text_that_stood() -> None:
    _, text = both(f"{API}acme&prop=revisions%7Cinfo&rvprop=ids%7Ctimestamp%7Ccontent&rvslots=main&formatversion=2")
    query = json.loads(text)["query"]
    (page,) = query["pages"]
    content = {"contentmodel": "wikitext", "contentformat": "text/x-wiki", "content": THEN.text}
    assert page["revisions"] == [{"revid": 12, "parentid": 11, "timestamp": AT, "slots": {"main": content}}]
    assert (page["lastrevid"], page["touched"], query["normalized"]) == (12, AT, [{"from": "acme", "to": "Acme"}])


def test_the_older_form_of_the_api_and_its_extracts() -> None:
    _, text = both(f"{API}Acme%7CNothing&prop=extracts%7Crevisions&explaintext=1&exintro=1&rvprop=content")
    pages = json.loads(text)["query"]["pages"]
    assert pages["7"]["extract"] == "Acme is a company of 5,000."
    assert pages["7"]["revisions"] == [{"contentmodel": "wikitext", "contentformat": "text/x-wiki", "*": THEN.text}]
    assert pages["-2"] == {"ns": 0, "title": "Nothing", "missing": ""}


def test_a_history_goes_on_where_it_ended() -> None:
    _, text = both(f"{API}Acme&prop=revisions&rvlimit=1&rvprop=ids&formatversion=2&rvstart=2023-12-01T00:00:00Z")
    assert [row["revid"] for row in json.loads(text)["query"]["pages"][0]["revisions"]] == [11]
    _, text = both(f"{API}Acme&prop=revisions&rvlimit=2&rvprop=ids&formatversion=2")
    assert [row["revid"] for row in json.loads(text)["query"]["pages"][0]["revisions"]] == [12, 11]
    _, text = both(f"{API}Acme&prop=revisions&rvlimit=5&rvprop=ids&formatversion=2&rvcontinue=20230201100000%7C11")
    assert [row["revid"] for row in json.loads(text)["query"]["pages"][0]["revisions"]] == [11]


def test_a_page_and_its_wikitext() -> None:
    assert both("/w/index.php?title=Acme&action=raw") == (200, THEN.text)
    status, text = both("/wiki/Acme")
    assert status == 200
    assert "<p>Acme is a company of 5,000.</p>" in text
    assert both("/wiki/Nothing")[0] == 404
    assert both("/wiki/Acme?oldid=13")[0] == 403


@pytest.mark.parametrize(
    "asked", ["list=search&srsearch=x", "generator=links", "revids=13", "prop=links", "rvdir=newer"]
)
def test_what_has_no_axis_of_time_is_refused(asked: str) -> None:
    assert both(f"{API}Acme&{asked}")[0] == 403


def test_a_page_of_the_web_is_its_capture_of_then() -> None:
    public = wayback.Capture("20240201120000", body=b"<p>News \xe9 of then</p>")
    late = wayback.Capture("20240301120000", body=b"<p>News of later</p>")
    for captures in ([public], [public, late]):
        given = ask(
            wayback.app(captures), "/news", "www.example.com", sources=("wayback",), web="wayback", headers=[AGENT]
        )
        stated = datetime(2024, 2, 1, 12, tzinfo=UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")
        assert (given.status, given.body, given.verdict) == (200, public.body, "web")
        assert dict(given.headers)["memento-datetime"] == stated
    gone = ask(wayback.app([late]), "/news", "www.example.com", sources=("wayback",), web="wayback", headers=[AGENT])
    assert gone.status == 404
