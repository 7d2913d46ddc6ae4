"""Worlds of normalize: saved pages and the items that a transformer made of them, true, false, and of later pages."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from html import escape
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any, NamedTuple

from pit_fetch.testing import inprocess
from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.inprocess import Left, TestClock
from pit_fetch.transport import HttpReply, HttpRequest
from tests.laws.worlds import NEW_YORK, PITS, SECRETS, near, noise_count, options
from tests.loopback.broken import body_of, wreck
from tests.worlds import same_bytes

_ZONES = (UTC, NEW_YORK, timezone(timedelta(hours=-12)), timezone(timedelta(hours=14)))
_HOUR = timedelta(hours=1)
_PLACES = (
    ("meta", "article:published_time"),
    ("meta", "date"),
    ("meta", "datePublished"),
    ("json-ld", "datePublished"),
    ("json-ld", "uploadDate"),
    ("header", "Date"),
)
_LIES = (
    *("late", "changed", "form", "odd", "day", "naive", "minute"),
    *("claim", "change", "place", "other", "gone", "outside", "broken", "captured", "captured"),
)
# Where a page shows that it was changed, "AT" a time in one of the forms below. They are tried each with each.
_LD = '<script type="application/ld+json">%s</script>'
CHANGED_PLACES = (
    _LD % '{"dateModified": {"@type": "DateTime", "@value": "AT"}}',
    _LD % '{"http://schema.org/dateModified": [["AT"]]}',
    _LD % '{"@type": "LiveBlogPosting", "coverageEndTime": "AT"}',
    _LD % '{"comment": [{"@type": "Comment", "dateCreated": "AT"}]}',
    _LD % '{"articleBody": "Sales rose. (Updated on AT) They fell."}',
    '<time itemprop="datePublished dateModified" datetime="AT">today</time>',
    '<span property="schema:dateModified">AT</span>',
    '<time class="updated" datetime="AT">today</time>',
    "<time>AT</time>",
    '<i class="entry-date updated" title="AT">now</i>',
    '<span class="date-modified"><b>AT</b></span>',
    "<last-updated>AT</last-updated>",
    '<ins datetime="AT">more</ins>',
    '<meta name="cXenseParse:modtime" content="AT"><meta name="x" content="">',
    '<meta name="DC.date.updated" content="AT">',
    '<meta name="page-date" content="AT">',
    '<meta name="parsely-metadata" content=\'{"lastmod": "AT"}\'>',
    '<div data-last-updated="AT"></div>',
    '<div data-ts="AT"></div>',
    '<div data-props=\'{"modifiedAt":"AT"}\'></div>',
    '<live-post updated-at="AT"></live-post>',
    '<island props="{&quot;updatedAt&quot;:[0,&quot;AT&quot;]}"></island>',
    '<div wire:snapshot="{&quot;updated_at&quot;:&quot;AT&quot;}"></div>',
    "<div x-data=\"{updatedAt: 'AT'}\"></div>",
    '<span aria-label="Updated AT">x</span>',
    '<script type="application/json">{"props": [{"lastUpdatedDate": "AT"}]}</script>',
    '<script type="application/json">{"updated": {"date": "AT"}}</script>',
    '<script type="application/json">{"updated": [\n "AT"]}</script>',
    "<script>var page = {dateModified: 'AT', id: 5};</script>",
    '<script>var lastModified = new Date("AT")</script>',
    '<script>push("{\\"updated_at\\":\\"AT\\"}")</script>',
    "<!-- last updated AT -->",
    '<script>var page = JSON.parse("{\\x22updatedAt\\x22:\\x22AT\\x22}")</script>',
    "<p>Updated AT</p>",
    "<p>Up&shy;dated:&nbsp;AT</p>",
    "<p>Updated&ensp;/ AT</p>",
    "<p>Last updated &raquo;\u200b AT</p>",
    "<p>Last updated: <span>10:15 AM ET, Tue AT</span></p>",
    "<dl><dt>Last modified<dd>AT</dl>",
    "<p>Content last reviewed by Ann Lee on AT</p>",
)
TIME_FORMS: Sequence[Callable[[datetime], str]] = (
    lambda at: at.isoformat(),
    lambda at: f"{at:%Y-%m-%d %H:%M:%S%z}",
    lambda at: f"{at:%Y-%m-%dT%H:%MZ}",
    lambda at: f"{at:%Y-%m-%d}",
    lambda at: f"{at:%Y-%m-%dT%H:%M:%S}",
    lambda at: f"{at:%Y%m%d}",
    lambda at: f"{at:%Y%m%dT%H%M%SZ}",
    lambda at: f"{at:%d/%m/%Y}",
    lambda at: f"{at:%B %d, %Y}",
    lambda at: f"{at:%B}\u00a0{at:%d}, {at:%Y}",
    lambda at: f"{at:%Y}\u2011{at:%m}\u2011{at:%d}",
    lambda at: f"{at:%A, %B %d, %Y} 10:15 AM ET",
    lambda at: f"{at:%d %b %Y}, 10:15",
    lambda at: f"{at:%a, %d %b %Y %H:%M:%S} GMT",
    lambda at: f"{at:%a %b %d %H:%M:%S} UTC {at:%Y}",
    lambda at: f"{at:%a %b %d %Y %H:%M:%S} GMT+0000 (UTC)",
    lambda at: str(int(at.timestamp())),
    lambda at: f"{int(at.timestamp())}000",
)
_HIDING = ("<div hidden>", "<div popover>", "<div style='color:transparent'>", "<div><details>", "<div><svg><desc>",
           "<div style='width:1px;height:1px;overflow:hidden'>")  # fmt: skip
# Marks of a change whose time no reader can tell.
UNCLEAR = (
    '<time class="updated" datetime="soon">today</time>',
    "<time>20. Februar 2024</time>",
    "<time>2 hours ago</time>",
    '<div data-updated="3 hours ago"></div>',
    '<script type="application/json">{"lastUpdated": "Yesterday"}</script>',
    '<script type="application/json">{"updatedAt": [2024, 2, 20, 10, 0]}</script>',
    *(
        f"<p>{words}</p>"
        for words in (
            "Updated yesterday", "Updated 02/20/24", "Updated 20.02.24", "Updated Feb. 20, 10:15 a.m.",
            "Updated on Tuesday", "Updated 10:15 AM ET", "Updated a few minutes ago", "Updated 3h ago",
            "Page last reviewed: today", "Acme rose. Corrected 2 hrs. ago", "This story was updated Tuesday",
            "Updated (2/20)",
        )
    ),
)  # fmt: skip
Statement = tuple[str, str, str]


class World(NamedTuple):
    """The saved pages by name, and the items."""

    pages: Mapping[str, str]
    items: Sequence[Any]


class _SavedItem(NamedTuple):
    """A page, and the item that was made of it."""

    pages: Mapping[str, str]
    item: Any


def law(rng: Random) -> int:
    """Check that items that their pages date at or before the PIT give the same bytes, whatever else there is."""
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    public = [_public(rng, moment, n) for n in range(rng.choice((0, 1, 3, 6)))]
    worlds = [_world(rng, public)]
    for _ in range(3):
        noise = [_withheld(rng, moment, n) for n in range(noise_count(rng))]
        worlds.append(_world(rng, [*(_with_additions(rng, page, moment) for page in public), *noise]))
    choices: dict[str, Sequence[tuple[str, ...]]] = {
        "limit": [("--limit", "1"), ("--limit", "3"), ("--limit", "500")],
        "fields": [("--fields", "title"), ("--fields", "url,quotes")],
        "size": [("--max-chars", "4000")],
        "from": [("--date-from", "2024-01-01")],
        "fail": [("--fail",)],
        "verbose": [("-v",)],
    }
    words = options(rng, choices)
    expected = same_bytes(lambda world: _run(world, pit, words, moment), worlds, SECRETS)
    assert words or len(expected.ids) == len(public), "what was public is missing"
    return len(worlds) - 1


def _run(world: World, pit: str, words: Sequence[str], moment: datetime) -> Left:
    root = _root()
    shutil.rmtree(root)
    pages, home = root / "pages", root / "home"
    home.mkdir(parents=True)
    pages.mkdir()
    for name, text in {"../beside.html": _outside(moment), **world.pages}.items():
        (pages / name).write_text(text)
    return inprocess.run(
        ["normalize", "--pages", str(pages), "--pit", pit, *words],
        transport=_NoNetwork(),
        clock=TestClock(moment + timedelta(days=900)).value(),
        environ={"HOME": str(home)},
        folder=home,
        stdin=body_of(world.items),
    )


class _NoNetwork:
    def send(self, request: HttpRequest) -> HttpReply:
        raise AssertionError("normalize asks nobody")


@cache
def _root() -> Path:
    return Path(mkdtemp(prefix="laws-"))


def _world(rng: Random, saved: Sequence[_SavedItem]) -> World:
    pages = {name: text for page in saved for name, text in page.pages.items()}
    items = [page.item for page in saved]
    rng.shuffle(items)
    return World(pages, items)


def _public(rng: Random, moment: datetime, number: int) -> _SavedItem:
    at = moment - near(rng) - timedelta(seconds=1)  # what a form cuts off is not beyond the PIT
    kind, name = rng.choice(_PLACES)
    text = _written(rng, kind, at)
    # A page that says a day was public at that day's end, wherever that is.
    if name == "date" and rng.random() < 0.5:
        text = f"{_last_whole_day(moment):%Y-%m-%d}"
    shift = 1 if name == "Date" else -1  # what a page that was received by then states besides does not matter
    count = rng.choice((0, 1, 3))
    others = [(*rng.choice(_PLACES[:5]), _written(rng, "meta", at + shift * near(rng))) for _ in range(count)]
    page = _saved_item(f"page{number}", (kind, name, text), others, "Acme rose.", rng)
    captured_at = moment - near(rng)
    return _captured(rng, page, captured_at) if kind != "header" and rng.random() < 0.3 else page


def _captured(rng: Random, page: _SavedItem, at: datetime) -> _SavedItem:
    """Return the item with its page in a saved envelope, which may be its evidence as well."""
    (name, html), stamp = next(iter(page.pages.items())), at.astimezone(rng.choice(_ZONES)).isoformat()
    capture = {"available_at": stamp, "url": page.item["url"], "captured_at": stamp, "shows": "page", "text": html}
    redirect = {**capture, "shows": "redirect", "text": None, "available_at": "2100-01-01T00:00:00Z"}
    other = {**capture, "url": "https://news.example/", "text": CANARY}
    items = [capture, *rng.sample([redirect, other, {}], rng.choice((0, 1, 3)))]
    rng.shuffle(items)
    named = {"published_at": stamp, "evidence": {"kind": "capture", "name": "available_at"}}
    item = {**page.item, **(named if rng.random() < 0.5 else {})}
    return page._replace(pages={name: json.dumps({"data": items, "gaps": []})}, item=item)


def _with_additions(rng: Random, page: _SavedItem, moment: datetime) -> _SavedItem:
    """Return the same item with additions of a model, and its page as received later, which changes nothing."""
    added = {"text": CANARY, CANARY: "1", "author": [CANARY], "section": 5}
    item = {**page.item, **({key: added[key] for key in rng.sample(sorted(added), 2)})}
    if rng.random() < 0.5:
        item["quotes"] = [*item["quotes"], rng.choice((CANARY, "ose.", "Acm"))]  # of no page, and of parts of words
    hidden = f"{rng.choice(_HIDING)}{CANARY}<p>{CANARY}</p></div></body>"
    pages = {name: text.replace("</body>", hidden) for name, text in page.pages.items()}
    page = page._replace(pages=page.pages if next(iter(pages.values())).startswith("{") else pages)
    received = f"HTTP/1.1 200 OK\r\nDate: {_header(moment + near(rng, 1))}\r\n\r\n"
    pages = {name: text if text.startswith(("HTTP/", "{")) else received + text for name, text in page.pages.items()}
    return page._replace(item=item, pages=pages if rng.random() < 0.5 else page.pages)


def _withheld(rng: Random, moment: datetime, number: int) -> _SavedItem:
    """Return an item that its page does not date at or before the PIT."""
    before, after = moment - _HOUR, moment + near(rng, 1)
    lie = rng.choice(_LIES)
    # A page that was received by then is proved, whatever else it states.
    place = rng.choice([place for place in _PLACES if place[1] != "Date" or lie not in ("changed", "form", "odd")])
    good: Statement = (*place, _written(rng, place[0], before))
    late: Statement = (*place, _written(rng, place[0], after))
    name, here = f"other{number}", rng.choice(_PLACES[:5])
    exact = after.astimezone(UTC).isoformat()
    match lie:
        case "late":
            return _saved_item(name, (*place, _header(after) if place[0] == "header" else exact), [], CANARY, rng)
        case "changed":
            return _saved_item(name, good, [(*here, exact)], CANARY, rng)
        case "form":
            page = _saved_item(name, good, [], CANARY, rng)
            stated = rng.choice(CHANGED_PLACES).replace("AT", rng.choice(TIME_FORMS)(after.astimezone(UTC)))
            changed = f"{rng.choice((stated, stated, rng.choice(UNCLEAR)))}</body>"
            return page._replace(pages={key: text.replace("</body>", changed) for key, text in page.pages.items()})
        case "odd":
            return _saved_item(name, good, [(*here, rng.choice(("soon", "Feb. 15", "17080")))], CANARY, rng)
        case "day":
            today = f"{moment.astimezone(NEW_YORK):%Y-%m-%d}"
            return _saved_item(name, ("meta", "date", today), [], CANARY, rng)
        case "naive":
            return _saved_item(name, ("meta", "date", f"{before:%Y-%m-%dT%H:%M:%S}"), [], CANARY, rng)
        case "minute" if moment.second < 59:
            return _saved_item(name, ("meta", "date", f"{moment:%Y-%m-%dT%H:%M%z}"), [], CANARY, rng)
        case "claim":  # what the model says, and the page does not
            page = _saved_item(name, late, [], CANARY, rng)
            return page._replace(item={**page.item, "published_at": good[2]})
        case "change":  # as EDGAR's index pages, which repeat the time of acceptance
            page = _saved_item(name, ("header", "Last-Modified", _header(before)), [], CANARY, rng)
            return page._replace(item={**page.item, "published_at": _header(before)})
        case "place":
            page = _saved_item(name, ("meta", "event-date", before.isoformat()), [], CANARY, rng)
            wrong = {"kind": rng.choice(("meta", "json-ld", "header")), "name": rng.choice(("event-date", "date", "x"))}
            return page._replace(item={**page.item, "evidence": wrong})
        case "other":  # the page of another address
            page = _saved_item(name, good, [], CANARY, rng)
            return page._replace(item={**page.item, "url": f"https://news.example/{CANARY}"})
        case "captured":  # later, whatever the page states; or so a model says
            page = _captured(rng, _saved_item(name, ("meta", "date", before.isoformat()), [], CANARY, rng), after)
            claims = {"published_at": before.isoformat()} if rng.random() < 0.5 else {}
            return page._replace(item={**page.item, **claims})
        case "gone":
            return _saved_item(name, good, [], CANARY, rng)._replace(pages={})
        case "outside":
            page = _saved_item(name, ("meta", "date", before.isoformat()), [], CANARY, rng)
            beside = {"page": "../beside.html", "url": "https://news.example/beside", "published_at": _OUTSIDE}
            return page._replace(item={**page.item, **beside})
        case _:
            evidence = {"url": f"https://news.example/{name}", "page": CANARY, "evidence": wreck(rng)}
            return _SavedItem({}, rng.choice((None, 5, CANARY, [], {}, evidence, {"url": CANARY}, {"url": 5})))


_OUTSIDE = "2020-01-01T00:00:00Z"


def _outside(moment: datetime) -> str:
    return _page("https://news.example/beside", [("meta", "date", _OUTSIDE)], f"{CANARY} Acme rose.")


def _saved_item(name: str, claimed: Statement, others: Sequence[Statement], words: str, rng: Random) -> _SavedItem:
    url, (kind, place, text) = f"https://news.example/{name}", claimed
    everything = [claimed, *others]
    rng.shuffle(everything)
    page, evidence = _page(url, everything, words), {"kind": kind, "name": place}
    item = {"url": url, "page": f"{name}.html", "published_at": text, "evidence": evidence}
    item |= {"title": f"Of {name}", "quotes": [words]}
    return _SavedItem({f"{name}.html": page}, item)


def _page(url: str, statements: Sequence[Statement], text: str) -> str:
    headers = [f"{name}: {at}" for kind, name, at in statements if kind == "header"]
    head = [f'<link rel="canonical" href="{url}">', f"<title>Of {url.rpartition('/')[2]}</title>"]
    for kind, name, at in statements:
        if kind == "meta":
            named = "itemprop" if name == "datePublished" else "property" if ":" in name else "name"
            head.append(f'<meta {named}="{name}" content="{escape(at)}">')
        elif kind == "json-ld":
            head.append(f'<script type="application/ld+json">{json.dumps([{"a": {name: at}}])}</script>')
    html = f"<!doctype html><html><head>{''.join(head)}</head><body><p>{text}</p></body></html>"
    return "\r\n".join(["HTTP/2 200", *headers, "", html]) if headers else html


def _written(rng: Random, kind: str, at: datetime) -> str:
    """Return ``at``, at most a second later, in a form that pages have."""
    local = at.astimezone(rng.choice(_ZONES))
    forms: Sequence[Callable[[datetime], str]] = (
        lambda moment: moment.isoformat(),
        lambda moment: f"{moment:%Y-%m-%d %H:%M:%S%z}",
        lambda moment: moment.isoformat(timespec="milliseconds"),
    )
    return _header(at) if kind == "header" else rng.choice(forms)(local)


def _header(at: datetime) -> str:
    up = at.astimezone(UTC) + timedelta(microseconds=999_999)
    return f"{up:%a, %d %b %Y %H:%M:%S} GMT"


def _last_whole_day(moment: datetime) -> datetime:
    """Return the last day that is over everywhere."""
    return moment.astimezone(timezone(timedelta(hours=-12))) - timedelta(days=1)
