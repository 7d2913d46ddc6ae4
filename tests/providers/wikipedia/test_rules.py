"""wikipedia: which page had a title, which revision stood, what its text says, its errors."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from pit_fetch_providers.wikipedia import wikitext

from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.testing.server import App, Response, as_json
from tests.provider_harness import Fetched, run_command
from tests.provider_harness import ask as ask_source
from tests.providers.wikipedia import server as wikipedia
from tests.providers.wikipedia.server import Move, Page, Revision, Wiki

PIT = "2020-06-01T00:00:00Z"
OLD, STOOD = Revision(100, "2019-01-01T00:00:00Z", "Old."), Revision(200, "2020-01-01T00:00:00Z", "As it stood.")
LATER = Revision(300, "2020-06-02T00:00:00Z", "SECRET")
ACME = Page(7, "Acme", [OLD, STOOD, LATER])
_command = partial(run_command, "wikipedia")


def ask(source: Sequence[Page] | Wiki | App, *, pit: str | None = PIT, op: str = "article", **options: Any) -> Fetched:
    app = source if callable(source) else wikipedia.app(source if isinstance(source, Wiki) else Wiki(source))
    return ask_source("wikipedia", app, pit=pit, op=op, **{"title": "Acme", **options})


def texts(fetched: Fetched) -> list[str]:
    return [record.payload["text"] for record in fetched.records]


# Which revision.


def test_an_article_is_the_revision_that_stood() -> None:
    fetched = ask([ACME])
    assert fetched.items == [
        (
            "en:7@200",
            datetime(2020, 1, 1, 0, 1, tzinfo=UTC),
            "provider_metadata",
            {
                "title": "Acme",
                "pageid": 7,
                "revision": 200,
                "edited_at": "2020-01-01T00:00:00Z",
                "url": "https://en.wikipedia.org/w/index.php?oldid=200",
                "links": "",
                "text": "As it stood.",
            },
        )
    ]
    assert texts(ask([ACME], pit="2020-01-01T00:00:59Z")) == ["Old."]
    assert texts(ask([ACME], pit="2018-01-01T00:00:00Z")) == []
    assert texts(ask([ACME], pit=None)) == ["SECRET"]
    assert ask([ACME], pit="1999-01-01T00:00:00Z").requests == []


def test_revisions_are_those_that_there_were() -> None:
    fetched = ask([ACME], op="revisions")
    assert fetched.ids == ["en:7@200", "en:7@100"]
    assert {"tags", "user"}.isdisjoint(fetched.records[0].payload)  # a tag says that it was reverted later
    assert ask([ACME], op="revisions", date_to="2019-12-30").ids == ["en:7@100"]
    many = Page(7, "Acme", [Revision(n, f"2019-01-01T{n // 60:02}:{n % 60:02}:00Z") for n in range(1, 1200)])
    assert len(ask([many], op="revisions", limit=2_000).ids) == 1199


def test_of_two_revisions_in_one_second_the_higher_number_stood() -> None:
    # Recorded: a page that was moved at 2019-11-09T00:28:08Z has two.
    assert texts(ask([Page(7, "Acme", [STOOD, STOOD._replace(revid=201, text="Second.")])])) == ["Second."]


def test_a_revision_that_was_entered_later_with_a_stamp_of_before_is_withheld() -> None:
    imported = Revision(900, "2020-02-01T00:00:00Z", "SECRET")
    assert texts(ask([Page(7, "Acme", [*ACME.revisions, imported])])) == ["As it stood."]
    assert ask([Page(7, "Acme", [*ACME.revisions, imported])], op="revisions").ids == ["en:7@200", "en:7@100"]
    # Recorded: numbers are in another order than stamps by four seconds.
    near = [
        STOOD._replace(revid=63095995, at="2020-05-31T23:58:59Z"),
        LATER._replace(revid=63095994, at="2020-05-31T23:59:03Z"),
    ]
    assert texts(ask([Page(7, "Acme", near)])) == ["As it stood."]


def test_a_text_that_is_not_that_of_its_revision_is_an_error() -> None:
    other = STOOD._replace(extra={"sha1": "0" * 40})
    assert ask([Page(7, "Acme", [other])]).error_code == "malformed"


# Which page.


def test_a_page_that_was_moved_later_is_found_under_its_title_of_then() -> None:
    moved = Revision(290, "2021-01-01T00:00:00Z", "As it stood.", "X moved page [[Acme]] to [[Acme Inc.]]: name")
    page = Page(7, "Acme Inc.", [OLD, STOOD, moved])
    redirect = Page(9, "Acme", [Revision(291, "2021-01-01T00:00:00Z", "#REDIRECT [[Acme Inc.]]")])
    moves = [Move("2021-01-01T00:00:00Z", "Acme", "Acme Inc.", 7)]
    for pages in ([page, redirect], [page]):
        (item,) = ask(Wiki(pages, moves)).items
        assert (item[0], item[3]["title"]) == ("en:7@200", "Acme")
    assert ask(Wiki([page, redirect], moves), title="Acme Inc.").ids == []  # that was no title then
    assert ask(Wiki([page, redirect], moves), title="Acme Inc.", pit="2022-01-01T00:00:00Z").ids == ["en:7@290"]


def _busy(edits: int, moved_at: str = "2021-10-28T00:00:00Z", number: int = 7) -> Wiki:
    """Return a wiki whose page was edited often after the PIT, and then moved from Acme to Beta."""
    later = [Revision(300 + n, f"2020-07-01T{n // 60:02}:{n % 60:02}:00Z", f"Edit {n}") for n in range(edits)]
    moved = Revision(9000, moved_at, (later or [STOOD])[-1].text, "X moved page [[Acme]] to [[Beta]]: renamed")
    redirect = Page(9, "Acme", [Revision(9001, moved_at, "#REDIRECT [[Beta]]")])
    return Wiki([Page(7, "Beta", [OLD, STOOD, *later, moved]), redirect], [Move(moved_at, "Acme", "Beta", number)])


@pytest.mark.parametrize("edits", [0, 600, 1100])
def test_a_page_has_its_title_of_then_however_often_it_was_edited_before_it_was_moved(edits: int) -> None:
    assert ask(_busy(edits)).ids == ["en:7@200"]
    assert ask(_busy(edits), title="Beta").ids == []


def test_the_log_alone_shows_the_title_of_a_page_with_more_edits_than_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pit_fetch_providers.wikipedia.history.MOST_LATER", 500)
    fetched = ask(_busy(600))
    assert (fetched.ids, len(fetched.requests)) == (["en:7@200"], 3)
    assert ask(_busy(600, number=8)).ids == []  # another page was moved


def test_an_old_log_numbers_the_redirect_and_not_the_page() -> None:
    # MediaWiki's T59084, until December 2013.
    moved_at = "2013-01-01T00:00:00Z"
    moved = Revision(290, moved_at, "Old.", "X moved page [[Acme]] to [[Beta]]: renamed")
    page = Page(7, "Beta", [OLD._replace(at="2010-01-01T00:00:00Z"), moved])
    wiki = Wiki([page], [Move(moved_at, "Acme", "Beta", 9)])
    assert texts(ask(wiki, pit="2012-01-01T00:00:00Z")) == ["Old."]
    other = Page(7, "Beta", [OLD._replace(at="2010-01-01T00:00:00Z"), moved._replace(comment="An edit")])
    assert ask(Wiki([other], wiki.moves), pit="2012-01-01T00:00:00Z").ids == []


def test_pages_that_changed_places_in_one_second_are_found_under_their_titles_of_then() -> None:
    # As the scripts of page movers do it, and more slowly.
    names = (("Acme", "Acme (0)", 7), ("Acme Inc.", "Acme", 8), ("Acme (0)", "Acme Inc.", 7))
    other = OLD._replace(text="The other.")
    for seconds in (0, 1, 5):
        stamps = [f"2020-07-01T00:00:{n * seconds:02}Z" for n in range(3)]
        moves = [Move(at, *move) for at, move in zip(stamps, names, strict=True)]
        rows = {7: [OLD], 8: [other]}
        for revid, move in enumerate(moves, 300):
            comment = f"X moved page [[{move.title}]] to [[{move.target}]]: swap"
            rows[move.pageid].append(Revision(revid, move.at, rows[move.pageid][0].text, comment))
        wiki = Wiki([Page(7, "Acme Inc.", rows[7]), Page(8, "Acme", rows[8])], moves)
        assert texts(ask(wiki)) == ["Old."]
        assert texts(ask(wiki, title="Acme Inc.")) == ["The other."]
        assert ask(wiki, title="Acme (0)").ids == []


@pytest.mark.parametrize("hidden", [("comment",), ("text",), wikipedia.ALL])
def test_a_page_that_got_the_title_by_a_move_that_is_hidden_is_not_it(hidden: Sequence[str]) -> None:
    moved = Revision(300, "2020-07-01T00:00:00Z", "Old.", "X moved page [[Acme]] to [[Meta Acme]]", hidden=hidden)
    wiki = Wiki([Page(7, "Meta Acme", [OLD, moved])], [Move(str(moved.at), "Acme", "Meta Acme", 7)])
    assert ask(wiki, title="Meta Acme").ids == []
    assert texts(ask(wiki)) == ["Old."]
    for size in (0, None):  # as of a revision whose text is lost
        unsized = Page(7, "Meta Acme", [OLD, moved._replace(extra={"size": size})])
        assert ask([unsized], title="Meta Acme").ids == []
    covered = moved._replace(revid=299, at="2020-06-30T00:00:00Z", text="Vandals!", comment="Edit")  # and its neighbour
    moved = moved._replace(text="Vandals!")
    assert ask([Page(7, "Meta Acme", [OLD, covered, moved])], title="Meta Acme").ids == []


def test_what_was_hidden_of_an_edit_later_hides_no_article() -> None:
    vandal = LATER._replace(text="Vandals!", hidden=wikipedia.ALL)
    minor = vandal._replace(extra={"minor": True})
    same = vandal._replace(text=STOOD.text)  # of the same size, but no move
    for edit in (vandal, minor, same):
        assert texts(ask([Page(7, "Acme", [OLD, STOOD, edit])])) == ["As it stood."]


def test_what_was_an_article_counts_and_not_what_is_one() -> None:
    moved = Revision(300, "2020-07-01T00:00:00Z", "Old.", "X moved page [[User:Acme]] to [[Acme]]")
    became = Wiki([Page(7, "Acme", [OLD, moved])], [Move(str(moved.at), "User:Acme", "Acme", 7, ns=2)])
    for wiki in (became, Wiki([Page(7, "User:Acme", [OLD], ns=2)])):
        assert ask(wiki, title="User:Acme").ids == []
    back = moved._replace(comment="X moved page [[Acme]] to [[Draft:Acme]]")
    was = Wiki([Page(7, "Draft:Acme", [OLD, back], ns=118)], [Move(str(moved.at), "Acme", "Draft:Acme", 7)])
    assert texts(ask(was)) == ["Old."]


def test_a_page_that_got_the_title_behind_a_hidden_revision_is_not_it() -> None:
    hidden = Revision(300, "2021-01-01T00:00:00Z", "What it held is not known.", hidden=wikipedia.ALL)
    moved = Revision(301, "2021-01-02T00:00:00Z", hidden.text, "X moved page [[Draft:Acme]] to [[Acme]]")
    assert ask([Page(7, "Acme", [OLD, STOOD, hidden, moved])]).ids == []


@pytest.mark.parametrize(
    ("title", "asked"),
    [("საქართველო", "საქართველო"), ("Cafe\u0301", "Caf\u00e9"), ("AT&amp;T", "AT&T"), ("\u200eacme", "Acme")],
)
def test_a_title_is_found_as_wikipedia_spells_it(title: str, asked: str) -> None:
    assert ask([Page(7, asked, [STOOD])], title=title).ids == ["en:7@200"]


@pytest.mark.parametrize(
    "comment",
    ["+cat [[Category:1490s]]; -cat [[Category:15th]]", 'Protected "[[Acme]]": [[WP:PP|why]]', "moved to [[Acme]]", ""],
)
def test_a_later_comment_that_is_of_no_move_changes_nothing(comment: str) -> None:
    for text in ("SECRET", STOOD.text):
        assert texts(ask([Page(7, "Acme", [OLD, STOOD, LATER._replace(text=text, comment=comment)])])) == [
            "As it stood."
        ]


def test_a_redirect_leads_to_what_it_led_to_then() -> None:
    early = Revision(50, "2019-06-01T00:00:00Z", "#WEITERLEITUNG [[Beta]] <!-- -->")
    other = Page(
        8, "Beta", [Revision(60, "2019-03-01T00:00:00Z", "Of Beta."), Revision(400, "2021-01-01T00:00:00Z", "SECRET")]
    )
    names = Page(7, "Acme", [early, Revision(70, "2020-07-01T00:00:00Z", "#REDIRECT [[Gamma]]")])
    (item,) = ask([names, other]).items
    assert (item[0], item[1], item[3]["title"]) == ("en:8@60", datetime(2019, 6, 1, 0, 1, tzinfo=UTC), "Beta")
    assert texts(ask([names])) == ["#WEITERLEITUNG Beta"] or ask([names]).ids == ["en:7@50"]
    circle = Page(8, "Beta", [Revision(60, "2019-03-01T00:00:00Z", "#REDIRECT [[Acme]]")])
    assert ask([names, circle]).ids == ["en:8@60"]


# The text.

SOURCE = """{{short description|A company}}
{{Infobox company
| name = Acme Corp
| revenue = {{increase}} {{US$|4.2 billion|link=yes}} (2019)<ref>{{cite web|title=T|url=http://ref.example/a}}</ref>
| founded = {{start date and age|1976|4|1}}
| logo =
}}
'''Acme''' is a [[company (law)|company]] in [[Ohio]], {{nowrap|5 km}} from here.<ref name="a">No</ref>
[[File:x.jpg|thumb|A caption of [[Ohio]]]]It&nbsp;makes<!-- not said --> ''things''.

== History ==
* one [http://acme.example/news its page]
* two
{| class="wikitable"
! Year !! Sales
|-
| 2019 || 4
|}
{{Reflist}}
[[Category:Companies]]"""


def test_the_text_of_an_article() -> None:
    assert wikitext.plain_text(wikitext.parse(SOURCE)).split("\n") == [
        "Infobox company",
        "name: Acme Corp",
        "revenue: {{increase}} {{US$|4.2 billion|link=yes}} (2019)",
        "founded: {{start date and age|1976|4|1}}",
        "",
        "Acme is a company in Ohio, 5 km from here.",
        "It\xa0makes things.",
        "",
        "History",
        "",
        "- one its page",
        "- two",
        "Year | Sales",
        "2019 | 4",
    ]
    (item,) = ask([Page(7, "Acme", [STOOD._replace(text=SOURCE)])], **{"as": "wikitext"}).items
    assert item[3]["text"] == SOURCE
    assert item[3]["links"].split("\n") == ["http://ref.example/a", "http://acme.example/news"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("l'''Amour'' of '''a'''", "l'Amour of a"),
        ("''a\nb''", "a\nb"),
        ("{{nowrap|''5 km}}''", "5 km"),
        ("a {{convert|5|km", "a {{convert|5|km"),
        ("{{{nowrap|5 km}}", "{5 km"),
        ("{{convert|[[a|5}}", "{{convert|[[a|5}}"),
        ("[[a|b <b> c]]</b>", "[[a|b  c]]"),
        ("[http://a.example b\n[[c]]", "[http://a.example b\nc"),
        ("{{a|<nowiki>}}</nowiki>|b}}", "{{a|}}|b}}"),
        ("<!-- {{ --> a <!-- b", "a <!-- b"),
        ("<ref name=a>[[b</ref>c<br />d</br>e", "c\nd\ne"),
        ("\n{|\n| a\n", "{|\n| a"),
    ],
)
def test_what_is_opened_and_not_closed_is_text(source: str, text: str) -> None:
    assert wikitext.plain_text(wikitext.parse(source)) == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("{{val|1.9885|e=30|u=kg}} 5{{frac|1|2}} 10{{sup|6}} {{e|6}}",) * 2,
        (
            "{{end}}a{{End date|2020|5|6}}, {{decrease}} 13, {{coord|51|N|0|W}}, {{convert|5|km|disp=out}}",
            "a{{End date|2020|5|6}}, {{decrease}} 13, {{coord|51|N|0|W}}, {{convert|5|km|disp=out}}",
        ),
        ("up {{{1|5}}} points", "up 5 points"),
        ("2019{{ndash}}20 5{{Snd}}6 5{{spaced ndash}}6 a{{mdash}}b", "2019–20 5 – 6 5 – 6 a—b"),
        ("5{{nbsp}}km a{{!}}b {{sic}} {{sic|a}}", "5\xa0km a|b [sic] {{sic|a}}"),
        ("{{formatnum:1234}} {{#expr:5*3}} {{DEFAULTSORT:Acme}}", "{{formatnum:1234}} {{#expr:5*3}}"),
        ("{{nowrap|5 km}} {{nowrap|1=x = 5}} {{Small|''x''}} {{lang|de|5}} {{lang|de}}", "5 km x = 5 x 5 {{lang|de}}"),
        ("{{percentage|5|20}} {{convert|5|km}} {{hlist|5|6}} {{height|ft=6|in=5}}",) * 2,
        ("5{{su|p=1|b=2}} 5{{dash}}6 {{yes}}",) * 2,
        ("5{{a|[[Ohio|6]]<sup>7</sup><ref>x</ref>}}", "5{{a|6^7}}"),
        ("5<math>\\times 10^6</math> kg", "5<math>\\times 10^6</math> kg"),
        ("5,234<ref>x</ref>4 5,234{{efn|a}}4 in 2019.<ref>x</ref>5 men", "5,234 4 5,234 4 in 2019. 5 men"),
        ("Acme<ref>x</ref>, 5<ref>x</ref>% 5[[File:a.png]]6", "Acme, 5% 5 6"),
        ("5<span style='display:none'>6</span>7 <s>5</s>6", "5 7 5 6"),
        ("5<span style='--x-display:none'>6</span>7", "567"),
        ("a<p>5</p><p>6</p><div>7</div>8<li>9</li>", "a\n5\n\n6\n\n7\n8\n- 9"),
    ],
)
def test_what_a_template_or_a_tag_shows_that_is_not_expanded(source: str, text: str) -> None:
    assert wikitext.plain_text(wikitext.parse(source)).strip() == text


@pytest.mark.parametrize(
    "source",
    [
        *(
            "",
            "{{",
            "[[",
            "{|",
            "<ref>",
            "'''",
            "\x00",
            "\ud800",
            "{{a|" * 3_000,
            "[[a|" * 3_000,
            "{" * 9_000 + "}" * 9_000,
        ),
        *("{{a|" * 3_000 + "}}" * 3_000, "[[http://a" * 40 + "]]" * 40, "<b a={{b|" * 3_000),
        *("<b " * 9_000, "[http://a b " * 9_000, "[[a {{b ]] c}} " * 3_000, "<b>" * 20_000),
    ],
    ids=lambda source: source[:10],
)
def test_any_source_has_a_text(source: str) -> None:
    assert isinstance(wikitext.plain_text(wikitext.parse(source)), str)


@pytest.mark.parametrize(
    "before",
    ["", "{{short description|A company}} ", "Acme.\n  ", "{{pp}}<!-- c -->\t{{Use mdy dates|date=May 2020}} "],
)
@pytest.mark.parametrize("box", ["{{Infobox company|name=Acme}}", "{{Ficha\n|name=Acme\n|sales=4\n|since=1976\n}}"])
def test_the_values_of_an_infobox_are_shown_wherever_a_line_begins_with_it(before: str, box: str) -> None:
    assert "name: Acme" in wikitext.plain_text(wikitext.parse(f"{before}{box} It makes things."))


# The call, and errors.


@pytest.mark.parametrize(
    ("title", "lang", "asked", "host"),
    [
        ("apple_Inc.", "en", "Apple Inc.", "en"),
        ("  :Acme   (company)#History ", "en", "Acme (company)", "en"),
        ("https://de.m.wikipedia.org/wiki/Stra%C3%9Fe_X?action=view", "de", "Stra\xdfe X", "de"),
        ("en.wikipedia.org/w/index.php?title=Acme_Corp", "en", "Acme Corp", "en"),
        ("\u03b2-carotene", "ZH-min-nan", "\u0392-carotene", "zh-min-nan"),
    ],
)
def test_a_title_is_asked_for_as_people_write_it(title: str, lang: str, asked: str, host: str) -> None:
    fetched = ask([], title=title, lang=lang)
    assert fetched.requests[0].query["titles"] == asked
    assert fetched.requests[0].host == f"{host}.wikipedia.org"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"title": "A|B"}, "one article's title"),
        ({"title": ""}, "one article's title"),
        ({"title": "https://en.wikipedia.org/w/index.php?title=A&oldid=5"}, "its address"),
        ({"title": "https://www.evil.example/wikipedia.org/wiki/A"}, "its address"),
        ({"lang": "en.evil"}, "the first part of a Wikipedia's address"),
        ({"lang": "en/x"}, "the first part of a Wikipedia's address"),
        ({"title": "https://de.wikipedia.org/wiki/A"}, "give lang=de"),
    ],
)
def test_a_call_that_makes_no_sense_asks_nothing(options: dict[str, Any], reason: str) -> None:
    with pytest.raises((UsageError, ConfigError), match=reason):
        ask([], **options)


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (Response(b"<html>SECRET", 403), "credential_refused"),
        (Response(b"<html>SECRET", 429), "throttled"),
        (Response(b"<html>SECRET", 404), "moved"),
        (Response(b"<html>SECRET"), "malformed"),
        (wikipedia.LAG, "throttled"),
        (as_json({"error": {"code": "badtoken", "info": "SECRET"}}), "malformed"),
        (as_json([]), "malformed"),
        (as_json({"query": []}), "malformed"),
        (as_json({"batchcomplete": True}), "malformed"),
        (as_json({"query": {"badrevids": {}}}), ""),
        (as_json({"error": {"code": "invalidtitle", "info": "SECRET"}}), ""),
        (as_json({"query": {"pages": [{"title": "Acme", "invalid": True}]}}), ""),
    ],
)
def test_what_wikipedia_says_instead(response: Response, code: str) -> None:
    for op in ("article", "revisions"):
        assert ask(lambda request: response, op=op).error_code == code


def test_a_lag_is_waited_for() -> None:
    replies = iter([wikipedia.LAG])
    assert texts(ask(lambda request: next(replies, None) or wikipedia.app(Wiki([ACME]))(request))) == ["As it stood."]


def test_saved_replies() -> None:
    import json

    page = {
        "pageid": 7,
        "ns": 0,
        "title": "Acme Inc.",
        "revisions": [row.row(with_text=True) for row in (LATER, STOOD)],
    }
    body = json.dumps({"query": {"pages": [page]}}).encode()
    fetched = ask([], body=body)
    assert (fetched.ids, fetched.records[0].payload["title"]) == (["en:7@200"], None)
    assert ask([], body=body, op="revisions").ids == ["en:7@200"]
    assert "input_malformed" in [gap.code for gap in ask([], body=b'{"query": 5}').selection.gaps]
