"""Worlds of Wikipedia: later revisions, pages that got a title later, moves away, imports with stamps of long ago."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random
from typing import Any

from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.laws.checks import continued as check_continued
from tests.laws.checks import non_interference
from tests.laws.refusals import Requests, one_of_each
from tests.laws.worlds import CANARY, PITS, Case, always, common, near, noise_count, options
from tests.loopback.broken import wreck
from tests.providers.wikipedia import articles
from tests.providers.wikipedia import server as wikipedia
from tests.providers.wikipedia.server import Move, Page, Revision, Wiki, spelled

DAY, MARGIN = timedelta(days=1), timedelta(seconds=60)
_ASKED = (("title=Acme",), ("--title", "https://en.wikipedia.org/wiki/acme#History"), ("title=acme", "lang=en"))
_TEXTS = (
    "'''Acme''' is a [[company]].",
    "{{Infobox company\n| name = Acme\n| revenue = 4\n| founded = 1976\n}}\n== Past ==\n* [http://acme.example Site]",
    "Long. " * 900,
)


def make(rng: Random, most: int = 4, op: str = "") -> Case:
    pit = rng.choice(PITS)
    moment, op = datetime.fromisoformat(pit), op or rng.choice(("article", "article", "revisions"))
    public = _public(rng, moment)
    worlds = [wikipedia.app(Wiki([Page(7, "Acme", public), *_others(rng, moment)]))]
    worlds += [wikipedia.app(_later_wiki(rng, moment, public)) for _ in range(3)]
    ids = [f"en:7@{revision.revid}" for revision in public]
    choices = common(moment, ids, rng)
    if op == "article":
        choices |= {"as": [("as=wikitext",), ("--as", "text")], "fields": [("--fields", "title,text")]}
        del choices["date-from"], choices["date-to"]
    else:
        choices |= {"fields": [("--fields", "revision,comment")]}
    plain = ("--limit", "500", "--max-pages", "1000")
    is_plain = most > 0 and op == "revisions" and rng.random() < 0.3
    return Case(
        source="wikipedia",
        pit=pit,
        words=(op, *rng.choice(_ASKED), *(plain if is_plain else options(rng, choices, most))),
        worlds=tuple(worlds),
        sizes=_sizes(500),
        resized=(_sizes(1), _sizes(3)),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
        plain=frozenset(ids) if is_plain else None,
    )


def _sizes(rows: int) -> Mapping[str, int]:
    names = ("pit_fetch_providers.wikipedia:_PAGE_SIZE", "pit_fetch_providers.wikipedia.history:LATER_ROWS")
    return dict.fromkeys(names, rows)


def undisturbed(rng: Random) -> Case:
    """Make a list of revisions: a later PIT adds to it. A later article takes the place of an earlier one."""
    case = make(rng, most=0, op="revisions")
    return case._replace(words=(*case.words, "--limit", "1000", "--max-pages", "1000"), worlds=case.worlds[:1])


def continued(rng: Random) -> Case:
    """Make an article that is longer than an answer may be."""
    case = make(rng, most=0, op="article")
    pieces = ("word", "\n\n", "x" * 700, "\u20ac", '"', "[[link|text]]", "{{convert|5|km}}")
    text = "Long: " + " ".join(rng.choice(pieces) for _ in range(rng.choice((3, 200))))
    public = [Revision(50, spelled(case.moment - MARGIN), text)]
    worlds = [Wiki([Page(7, "Acme", public)]), *(_later_wiki(rng, case.moment, public) for _ in range(2))]
    words = ("article", "title=Acme", f"as={rng.choice(('text', 'wikitext'))}", "--limit", "50")
    return case._replace(words=words, worlds=tuple(map(wikipedia.app, worlds)), plain=None)


def resumed(rng: Random) -> Case:
    """Make a list that goes on below the one revision that shows what was imported after the PIT."""
    case = make(rng, most=0, op="revisions")
    shows = case.moment - MARGIN - near(rng)
    public = [Revision(40 + n, spelled(shows - (1 - n) * DAY), f"Text {n}") for n in range(2)]
    imported = Revision(5_000, spelled(shows - timedelta(seconds=rng.choice((601, 3_600)))), CANARY)
    after = ("--after", f"en:7@41@{spelled(shows + MARGIN)}")
    until = ("--date-to", spelled(shows - timedelta(seconds=1)))
    worlds = (Wiki([Page(7, "Acme", public)]), Wiki([Page(7, "Acme", [public[0], imported, public[1]])]))
    words = ("revisions", "title=Acme", *rng.choice((after, until)))
    return case._replace(words=words, worlds=tuple(map(wikipedia.app, worlds)), plain=None)


def imported(rng: Random) -> Case:
    """Make worlds in which a page's history was entered after the PIT, and only another page's numbers show it.

    Apart from :func:`make`, since what a reply shows to a PIT that is yet to come has been entered by then.
    """
    case = make(rng, most=0)
    public = _public(rng, case.moment)
    marker = Page(10, "Gamma", [Revision(70, spelled(case.moment + timedelta(minutes=rng.choice((9, 2_000)))), CANARY)])
    stamps = [case.moment - MARGIN - near(rng) for _ in range(rng.choice((1, 3)))]
    rows = [Revision(5_000 + n, spelled(at), CANARY) for n, at in enumerate(sorted(stamps))]
    worlds = (Wiki([Page(7, "Acme", public), marker]), Wiki([Page(7, "Acme", [*public, *rows]), marker]))
    return case._replace(worlds=tuple(map(wikipedia.app, worlds)), plain=None)


def failures(rng: Random) -> Case:
    """Make worlds that fail alike with other words. One kind: no page, none yet, deleted, hidden, moved there later."""
    case = make(rng)
    if rng.random() < 0.2:
        return case._replace(words=("article", "title=User:Acme"), worlds=_of_a_user(case.moment), plain=None)
    texts = ("A word of its own", f"{CANARY}: results on Thursday", "Waiting")
    same = rng.choice((b"maxlag", b"ratelimited", b"internal_api_error"))
    errors = [b'{"error":{"code":"%s","info":"%s"}}' % (same, text.encode()) for text in texts]
    later = Page(7, "Acme", [Revision(900, spelled(case.moment + DAY), CANARY)])
    hidden = Page(7, "Acme", [Revision(50, spelled(case.moment - DAY), CANARY, hidden=wikipedia.ALL)])
    apps: Sequence[App] = rng.choice(
        [
            [wikipedia.app(wiki) for wiki in (Wiki(), Wiki([later]), Wiki([hidden]), _arrived(rng, case.moment))],
            *([always(Response(text.encode(), status)) for text in texts] for status in (400, 403, 429, 500)),
            [always(Response(error)) for error in errors],
            [always(Response(f"<html>{text}".encode())) for text in texts],
        ]
    )
    return case._replace(worlds=tuple(apps), plain=None)


def _public(rng: Random, moment: datetime) -> list[Revision]:
    stamps = sorted({spelled(moment - MARGIN - near(rng)) for _ in range(rng.choice((0, 1, 3, 6)))})
    return [Revision(40 + n, at, f"{rng.choice(_TEXTS)} {n}", f"Edit {n}") for n, at in enumerate(stamps)]


def _others(rng: Random, moment: datetime) -> list[Page]:
    return [Page(8, "Beta", [Revision(60, spelled(moment - DAY), "Beta.")])] if rng.random() < 0.5 else []


def _later_wiki(rng: Random, moment: datetime, public: Sequence[Revision]) -> Wiki:
    """Return a wiki in which the page of ``public`` was edited, moved or replaced after ``moment``."""
    later = _edits(rng, moment, noise_count(rng))
    others = _others(rng, moment)
    if not public:  # there was no such page, and one that has the title now may be older than it
        wikis = (Wiki(others), Wiki([Page(7, "Acme", later), *others]), _arrived(rng, moment, others))
        return rng.choice(wikis)
    kind = rng.choice(("edited", "edited", "moved", "moved twice", "imported"))
    if kind == "imported":
        newest = datetime.fromisoformat(public[-1].at)
        stamp = spelled(newest + timedelta(seconds=rng.choice((-1, 0, 1, -601))))
        if len(public) == 1 and stamp < public[0].at and rng.random() < 0.7:  # a revision of before shows it
            imported = Revision(5_000, spelled(newest - timedelta(seconds=601)), CANARY)
            return Wiki([Page(7, "Acme", [imported, *public]), *others])
        marker = Revision(70, spelled(moment + DAY), CANARY)  # numbers show which came first
        imported = Revision(5_000, min(stamp, spelled(moment - MARGIN)), CANARY)
        return Wiki([Page(7, "Acme", [*public, imported, marker, *later]), *others])
    if kind == "edited":
        return Wiki([Page(7, "Acme", [*public, *later]), *others])
    at = spelled(moment + near(rng, 1))
    names = ["Acme", f"Acme {CANARY}", f"Other {CANARY}"][: 2 if kind == "moved" else 3]
    moves, rows = [], [*public]
    pause = rng.choice((DAY, timedelta(0)))  # scripts move pages twice in one second
    for number, (name, target) in enumerate(pairwise(names)):
        at = spelled(datetime.fromisoformat(at) + number * pause + timedelta(seconds=0 if number else 1))
        moves.append(Move(at, name, target, 7))
        rows.append(Revision(800 + number, at, rows[-1].text, f"X moved page [[{name}]] to [[{target}]]: why"))
    redirect = Page(9, "Acme", [Revision(801, moves[0].at, f"#REDIRECT [[{names[-1]}]]")])
    return Wiki([Page(7, names[-1], rows), *rng.choice(([redirect], [])), *others], moves)


def _edits(rng: Random, moment: datetime, count: int) -> list[Any]:
    """Return revisions after ``moment``, with comments that look like moves and like protections."""
    rows: list[Any] = []
    # Behind a revision that is hidden or unreadable, a comment that links two articles counts as a move.
    is_readable = rng.random() < 0.3
    linking = ("[[Other]] and [[Acme]] are linked",) if is_readable else ()
    for number in range(count):
        at = spelled(moment - MARGIN + timedelta(seconds=1) + near(rng))
        comment = rng.choice(
            ("", "+ [[Category:A]]; - [[Acme]]", 'Protected "[[Acme]]": [[WP:PP|why]]', CANARY, *linking)
        )
        extra = rng.choice(
            (
                {},
                {},
                {"revid": None},
                {"timestamp": rng.choice((wreck(rng), "9999-12-31T23:59:59Z"))},
                {"comment": wreck(rng)},
            )
        )
        hidden = rng.choice(((), (), (), (), wikipedia.ALL))
        row = Revision(700 + number, at, f"{CANARY} {number}", comment, hidden=hidden, extra=extra)
        rows.append(row._replace(hidden=(), extra={}) if is_readable else row)
    return rows if is_readable else [*rows, *rng.sample([None, 5, CANARY, [], {}], rng.choice((0, 0, 2)))]


def _arrived(rng: Random, moment: datetime, others: Sequence[Page] = ()) -> Wiki:
    """Return a wiki in which a page with an older history got the title after ``moment``."""
    draft, at = f"User:{CANARY}/draft", spelled(moment + DAY)
    rows = [Revision(30, spelled(moment - 9 * DAY), CANARY)]
    hidden = rng.choice(((), ("comment",), ("text",), wikipedia.ALL))
    rows.append(Revision(900, at, CANARY, f"X moved page [[{draft}]] to [[Acme]]", hidden=hidden))
    return Wiki([Page(12, "Acme", rows), *others], [Move(at, draft, "Acme", 12)])


def _of_a_user(moment: datetime) -> tuple[App, ...]:
    """Return wikis in which a user's page is there, is none, and became an article after ``moment``."""
    rows, at = [Revision(30, spelled(moment - 9 * DAY), CANARY)], spelled(moment + DAY)
    moved = Revision(900, at, CANARY, "X moved page [[User:Acme]] to [[Acme]]")
    article = Wiki([Page(12, "Acme", [*rows, moved])], [Move(at, "User:Acme", "Acme", 12, ns=2)])
    return tuple(map(wikipedia.app, (Wiki([Page(12, "User:Acme", rows, ns=2)]), Wiki(), article)))


def _direction(request: HttpRequest) -> str:
    """Return which of the two requests it is, of one path: for the title's page, or for its revisions."""
    return str(request.query.get("rvdir"))


# Each later move of a page is followed, and each revision with the stamp of an earlier time is passed over.
# The log of moves names the page.
REQUESTS = Requests(one_of_each(_direction), _direction, is_chosen=lambda case, request: True)
LAWS: Mapping[str, Callable[[Random], int]] = {
    "failures": lambda rng: non_interference(failures(rng)),
    "continued": lambda rng: check_continued(continued(rng), rng),
    "imported": lambda rng: non_interference(imported(rng)),
    "resumed": lambda rng: non_interference(resumed(rng)),
    "figures": articles.figures,
}
