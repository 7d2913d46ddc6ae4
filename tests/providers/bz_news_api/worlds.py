"""Worlds of Benzinga news: late, revised, undated and spoilt articles around the same public ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.times import parse_rfc2822, parse_rfc3339
from pit_fetch.transport import HttpRequest
from tests.laws.checks import files as check_files
from tests.laws.checks import non_interference
from tests.laws.hostile import harmless_text, refused_text
from tests.laws.hostile import hostile as check_hostile
from tests.laws.refusals import Requests
from tests.laws.worlds import CANARY, PITS, Case, always, common, near, noise_count, options
from tests.loopback.broken import body_of, spoilt, wreck
from tests.providers.bz_news_api import server as benzinga
from tests.providers.bz_news_api.server import article

MODULE = "pit_fetch_providers.bz_news_api"
CHOICES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "keywords": [("--keywords", "oil"), ("--keywords", "merger"), ("--keywords", "gas,oil")],
    "themes": [("--themes", "oil"), ("--themes", "macro,oil"), ("--themes", "merger")],
    "tickers": [("--tickers", "AAPL"), ("--tickers", "MSFT,AAPL"), ("--tickers", "NONE")],
    "channels": [("--channels", "News"), ("--channels", "WIIM")],
    "tags": [("--tags", "M&A")],
    "lookback": [("--lookback-minutes", "1"), ("--lookback-minutes", "120"), ("--lookback-minutes", "90000")],
    "fields": [("--fields", "title"), ("--fields", "symbols,created")],
}
# Stamps without a provable instant: no offset, an unknown one, a name, a weekday that is another one, another form.
UNDATED = (
    "%a, %d %b %Y %H:%M:%S",
    "%a, %d %b %Y %H:%M:%S -0000",
    "%a, %d %b %Y %H:%M:%S EST",
    "%a, %d %b %Y %H:%M:%S GMT",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%S-00:00",
    "%Y-%m-%d",
    "Xyz, %d %b %Y %H:%M:%S -0400",
)


def make(rng: Random) -> Case:
    case, worlds = _case(rng)
    return case._replace(worlds=tuple(benzinga.app(served) for served in worlds))


def viewed(rng: Random) -> Case:
    """Make worlds of a source that has an order of its own among articles of one instant, and each article once."""
    case, worlds = _case(rng)
    public = {str(row.get("id")): row for row in worlds[0]}
    served = [sorted(({str(row.get("id")): row for row in rows} | public).values(), key=str) for rows in worlds]
    return case._replace(worlds=tuple(map(benzinga.app, served)))


def claimed(rng: Random) -> Case:
    """Make worlds that agree on what was created by the PIT, whenever it was revised."""
    case, worlds = _case(rng)
    second = case.moment.replace(microsecond=0)
    agreed = [*worlds[0], *(_created(rng, 500 + number, second) for number in range(rng.choice((0, 1, 4))))]
    served = [agreed]
    for _ in range(3):
        noise = (_noise(rng, 1_000 + number, second, ()) for number in range(noise_count(rng)))
        served.append([*agreed, *(row for row in noise if not _is_created_by(row, case.moment))])
    for rows in served:
        rng.shuffle(rows)
    ids = frozenset(str(row["id"]) for row in agreed)
    return case._replace(worlds=tuple(map(benzinga.app, served)), plain=None if case.plain is None else ids)


def _created(rng: Random, number: int, second: datetime) -> dict[str, Any]:
    """Return an article that was revised after ``second``, or of which nothing says when."""
    row = article(number, second - near(rng), second + near(rng, 1), **_texts(rng, ("Oil, since edited", "A merger")))
    return row if rng.random() < 0.7 else {**row, "updated": rng.choice((None, "soon"))}


def _is_created_by(row: Mapping[str, Any], moment: datetime) -> bool:
    created = parse_rfc2822(row.get("created")) or parse_rfc3339(row.get("created"))
    return created is not None and created <= moment


def files(rng: Random) -> tuple[Case, Sequence[bytes]]:
    """Make worlds as files: a saved reply, or an export, in the order in which it was written."""
    case, worlds = _case(rng)
    shape = rng.choice((dict, benzinga.exported))
    wrap = rng.choice((b"%s", b'{"items": %s}', b'\xef\xbb\xbf{"data": %s, "gaps": []}'))
    bodies = [wrap % body_of([shape(row) for row in served]) for served in worlds]
    return case._replace(words=(*case.words, "--input-file", "-"), plain=None), bodies


def _case(rng: Random) -> tuple[Case, Sequence[Sequence[dict[str, Any]]]]:
    """Return a question without its worlds, and the articles of each of them."""
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    second = moment.replace(microsecond=0)
    count = rng.choice((0, 1, 2, 4, 8, 12))
    public = [_public(rng, number, second) for number in rng.sample(range(1, 400), count)]
    # Two revisions of one article, both public: which of them is shown must not depend on their order.
    public += [{**row, "updated": row["created"], "title": "First"} for row in public if rng.random() < 0.1]
    worlds = [public]
    for _ in range(3):
        noise = [_noise(rng, 1_000 + number, second, public) for number in range(noise_count(rng))]
        if noise and rng.random() < 0.3:  # the same withheld article on page after page
            noise += [noise[0]] * rng.choice((4, 20, 60))
        worlds.append([*noise, *public])
    for served in worlds:
        rng.shuffle(served)
    ids = [str(row["id"]) for row in public]
    choices = {
        **common(moment, ids, rng),
        **CHOICES,
        "updated": [("--updated-since", text) for text in _spellings(second - near(rng))],
    }
    sizes = [{f"{MODULE}:PAGE_SIZE": size, "pit_fetch.pipeline.select:MOST_REPEATED": 10} for size in (2, 3, 7, 100)]
    plain = ("--lookback-minutes", "90000", "--limit", "500", "--max-pages", "1000")
    is_plain = rng.random() < 0.2
    case = Case(
        source="bz-news-api",
        pit=pit,
        words=plain if is_plain else options(rng, choices),
        worlds=(),
        sizes=rng.choice(sizes),
        resized=tuple(rng.sample(sizes, 2)),
        page_size=rng.choice((1, 2, 5, 100)),
        terminal=rng.random() < 0.2,
        plain=frozenset(ids) if is_plain and pit == second.isoformat() else None,
        immutable=False,
    )
    return case, worlds


def _spellings(moment: datetime) -> tuple[str, ...]:
    return moment.isoformat(), str(int(moment.timestamp()))


def undisturbed(rng: Random) -> Case:
    """Make a world whose articles are never revised, so that a public one stays public."""
    case = make(rng)
    second = case.moment.replace(microsecond=0)
    served = [_public(rng, number, second + near(rng) * rng.choice((-1, 1)), unrevised=True) for number in range(12)]
    words = ("--lookback-minutes", "900000", "--limit", "1000", "--max-pages", "1000")
    return case._replace(words=words, worlds=(benzinga.app(served),), immutable=True, plain=None)


def versions(rng: Random) -> Case:
    """Make articles with earlier revisions beside the newest public one, as while a page shifts."""
    case, worlds = _case(rng)
    newest = [row for row in worlds[0] if row["title"] != "First"]
    older = [
        {**row, "updated": row["created"], "title": f"Oil {CANARY}"}
        for row in newest
        if row["updated"] != row["created"]
    ]
    served = [newest, *([*newest, *rng.sample(older, rng.randint(0, len(older)))] for _ in range(2))]
    for rows in served:
        rng.shuffle(rows)
    return case._replace(worlds=tuple(map(benzinga.app, served)))


def crowded(rng: Random) -> Case:
    """Make worlds at the cap: the pages of one window do not hold the late articles, so the window has to shrink."""
    case = make(rng)
    second = datetime.fromisoformat("2024-02-15T16:00:00-05:00")
    public = [_public(rng, n, second - n * timedelta(hours=9), far=False) for n in range(1, 14)]
    worlds = [public]
    for _ in range(2):
        late = [article(1_000 + n, second + n * timedelta(hours=3), title=CANARY) for n in range(1, rng.randint(2, 14))]
        worlds.append([*late, *public])
    sizes = {f"{MODULE}:PAGE_SIZE": 3, f"{MODULE}:PAGES_PER_WINDOW": 7}
    words = ("--lookback-minutes", "90000", *rng.choice(((), ("--limit", "4"), ("--max-pages", "2"))))
    apps = tuple(benzinga.app(served) for served in worlds)
    return case._replace(
        pit=second.isoformat(), words=words, worlds=apps, sizes=sizes, resized=(), page_size=5, plain=None
    )


def hostile_texts(rng: Random) -> tuple[Case, Mapping[str, str]]:
    """Make worlds whose articles have bodies of people who mean harm; return those that are harmless."""
    case, _ = _case(rng)
    second = case.moment.replace(microsecond=0)
    tagged = {"tags": [{"name": "oil"}]}
    public = [article(100 + n, second - n * timedelta(minutes=5), **tagged) for n in range(1, rng.choice((3, 6)))]
    harmless = {}
    for row in public:
        if rng.random() < 0.6:
            harmless[str(row["id"])] = row["body"] = harmless_text(rng, case.moment)
        else:
            row[rng.choice(("title", "teaser", "body", "url"))] = refused_text(rng, case.moment)
    noise = [_noise(rng, 1_000 + number, second, public) for number in range(noise_count(rng))]
    keywords = rng.choice(((), ("--keywords", "oil"), ("--themes", "oil")))
    apps = tuple(benzinga.app(rng.sample(rows, len(rows))) for rows in (public, [*public, *noise]))
    words = ("--lookback-minutes", "90000", *keywords)
    return case._replace(words=words, worlds=apps, resized=(), plain=None, terminal=False), harmless


def failures(rng: Random) -> Case:
    """Make worlds that fail alike with different texts. One kind: nothing is known, or all of it is later."""
    case = make(rng)
    late = [article(n, case.moment + timedelta(hours=n + 1), title=CANARY) for n in range(3)]
    texts = ("Invalid page size", f"{CANARY}: published in March", f"Bad token {benzinga.TOKEN}")
    apps: Sequence[App] = rng.choice(
        [
            [
                benzinga.app([]),
                benzinga.app(late),
                benzinga.app([row | {"body": spoilt("depth")} for row in late]),
                benzinga.app([{name: row[name] for name in row if name != "title"} for row in late]),
                always(as_json([], 404)),
                always(as_json({"ok": False, "errors": [{"code": "no_data_found", "value": texts[1]}]}, 404)),
                always(Response(b"[]")),
                always(Response(b"[NaN]")),
                always(Response(b"[{}]")),
            ],
            [always(Response(f"<h1>{text}</h1>".encode(), 404)) for text in texts],
            [always(as_json({"message": text}, 400)) for text in texts],
            [always(as_json({"message": text}, 503)) for text in texts],
            [always(as_json({"message": text}, 429, **{"X-Later": text})) for text in texts],
            [always(as_json([text])) for text in texts],
            [always(as_json([f'Access denied for user 0 "{text}"'], 400)) for text in texts],
            [always(as_json({"ok": False, "errors": [{"code": "auth_failed", "value": text}]}, 401)) for text in texts],
            [always(Response(text.encode())) for text in texts],
            [always(as_json({"news": text})) for text in texts],
        ]
    )
    return case._replace(worlds=tuple(apps), plain=None)


def _public(rng: Random, number: int, second: datetime, *, unrevised: bool = False, far: bool = True) -> dict[str, Any]:
    created = second - (near(rng) if far else timedelta(0))
    updated = created if unrevised else max(created, second - near(rng))
    return article(number, created, updated, **_texts(rng, ("Oil", "Gas &amp; oil", "A merger")))


def _texts(rng: Random, titles: Sequence[str]) -> dict[str, Any]:
    body = "x" * rng.choice((10, 10, 10, 3_000))
    return {
        "title": rng.choice(titles),
        "body": body,
        "stocks": [{"name": name} for name in rng.choice((("AAPL",), ("MSFT",), ()))],
        "channels": [{"name": rng.choice(("News", "WIIM"))}],
        "tags": [{"name": "M&A"}] if rng.random() < 0.3 else [],
    }


def _noise(rng: Random, number: int, second: datetime, public: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    texts = _texts(rng, (CANARY, f"Oil {CANARY}", f"Merger {CANARY}", f"Gas {CANARY}"))
    before, after = second - near(rng), second + near(rng, 1)
    match rng.choice(("late", "late", "revised", "undated", "spoilt", "copy", "unreadable")):
        case "late":
            return article(number, after, after + near(rng), **texts)
        case "revised":
            return article(number, before, after, **texts)
        case "undated":
            stamp = before.astimezone(UTC).strftime(rng.choice(UNDATED))
            return article(number, before, before, **texts) | rng.choice(
                ({"created": stamp}, {"updated": stamp}, {"updated": None}, {"created": None, "updated": None})
            )
        case "unreadable":
            created, updated = rng.choice(((after, after), (before, after)))
            field = rng.choice(("body", "image", "author", "id", "stocks"))
            return article(number, created, updated, **texts) | {field: wreck(rng)}
        case "copy" if public:
            # A later revision of what is public, seen because a page shifted while it was read.
            original = rng.choice(public)
            return {**original, **texts, "updated": benzinga.stamp(after)}
        case _:
            odd: dict[str, Any] = rng.choice(
                ({"id": None}, {"id": True}, {"created": {}, "updated": []}, {"stocks": 5, "tags": "x"}, {"title": 7})
            )
            return article(number, after, after, **texts) | odd


def _continues(asked: Sequence[HttpRequest]) -> bool:
    """Return whether the last request is for a further page, or for a window that ends where those before it did."""
    last, first = asked[-1].query, asked[0].query
    return int(last["page"]) > 0 or bool(last["dateTo"] != first["dateTo"])


REQUESTS = Requests(_continues)
LAWS: Mapping[str, Callable[[Random], int]] = {
    "versions": lambda rng: non_interference(versions(rng)),
    "cap": lambda rng: non_interference(crowded(rng)),
    "files": lambda rng: check_files(*files(rng)),
    "failures": lambda rng: non_interference(failures(rng)),
    "hostile texts": lambda rng: check_hostile(*hostile_texts(rng), "body", rng),
}
