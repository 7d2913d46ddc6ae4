"""Worlds of Perplexity: pages published or updated later, pages without days, unreadable results, other answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.times import parse_date
from tests.laws.checks import non_interference
from tests.laws.worlds import CANARY, PITS, Case, always, common, noise_count, options
from tests.loopback.broken import wreck
from tests.providers.perplexity import server as perplexity
from tests.providers.perplexity.server import Page, page

DAY = timedelta(days=1)
_QUERIES = (("query=oil",), ("--query", "oil, gas"), ("--query", "oil", "--query", "gas, coal"))
_OPS = ("search", "search", "ask", "reason", "research")


def viewed(rng: Random) -> Case:
    """Make worlds of a source that keeps to its filters and to one form: what a program asks is its own."""
    return make(rng, careless=0.0)


def make(rng: Random, most: int = 4, careless: float = 0.5) -> Case:
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    public = [_public(rng, f"p{number}", moment) for number in range(rng.choice((0, 1, 3, 6)))]
    op, crowded = rng.choice(_OPS), rng.random() < 0.4
    urls = [page["url"] for page in public]
    # Alike in all worlds: a server that ignores --after-date sends more of what was public, which counts as read.
    is_careless = not crowded and rng.random() < careless
    worlds = []
    for number in range(4):
        served: list[Any] = list(public)
        for n in range(noise_count(rng) if number else 0):  # the order of what was public is the engine's
            served.insert(rng.randrange(len(served) + 1), _later(rng, f"n{n}", moment, public))
        named = [page["url"] for page in served if isinstance(page, dict) and isinstance(page.get("url"), str)]
        cited = [*urls, *named]
        rng.shuffle(cited)
        text, nested = f"{CANARY}: the answer of world {number}", rng.random() < 0.6 * careless
        worlds.append(perplexity.app(served, careless=is_careless, nested=nested, cited=cited, text=text))
    choices = {
        **common(moment, urls, rng),
        "fields": [("--fields", "title"), ("--fields", "date,last_updated")],
        "domains": [("--domains", "example.com"), ("--domains=-example.com",), ("--domains", "other.org,.com")],
        "after-date": [("--after-date", _text(moment - 3 * DAY)), ("--after-date", "2001-01-01")],
    }
    if crowded and op == "search":  # what was not public must take no place among the first results
        choices["max-results"] = [("--max-results", "1"), ("--max-results", "3")]
    words = (op, *(rng.choice(_QUERIES) if op == "search" else _QUERIES[rng.randrange(2)]))
    plain = ("--limit", "500", "--max-pages", "1000")
    is_plain = most > 0 and rng.random() < 0.2
    return Case(
        source="perplexity",
        pit=pit,
        words=(*words, *(plain if is_plain else options(rng, choices, most))),
        worlds=tuple(worlds),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
        plain=frozenset(urls) if is_plain else None,
    )


def claimed(rng: Random) -> Case:
    """Make worlds that agree on the pages whose date was over at the PIT, whenever they were updated."""
    case = make(rng, most=0)
    last = _last_day(case.moment)
    agreed = [_public(rng, f"p{n}", case.moment) for n in range(rng.choice((0, 1, 3)))]
    for n in range(rng.choice((0, 1, 3))):
        updated = rng.choice((_text(last + rng.choice((1, 2, 400)) * DAY), None, "soon"))
        date = _text(last - rng.choice((0, 0, 1, 400)) * DAY)
        agreed.append(page(f"c{n}", date, updated, **_texts(rng, f"c{n}")))
    urls, worlds, careless = [page["url"] for page in agreed], [], rng.random() < 0.5
    for number in range(4):
        noise = [_later(rng, f"n{n}", case.moment, []) for n in range(noise_count(rng) if number else 0)]
        served = list(agreed)
        for row in noise:
            if not _is_dated_by(row, last):
                served.insert(rng.randrange(len(served) + 1), row)
        cited = [*urls, *(row["url"] for row in noise if isinstance(row, dict) and isinstance(row.get("url"), str))]
        worlds.append(perplexity.app(served, careless=careless, cited=cited, text=f"{CANARY}: world {number}"))
    is_plain = rng.random() < 0.5
    choices = common(case.moment, urls, rng)
    words = ("--limit", "500", "--max-pages", "1000") if is_plain else options(rng, choices, 3)
    ids = frozenset(urls) if is_plain else None
    return case._replace(words=(*case.words, *words), worlds=tuple(worlds), plain=ids)


def _is_dated_by(row: Any, last: datetime) -> bool:
    day = parse_date(row.get("date")) if isinstance(row, dict) else None
    return day is not None and day <= last.date()


def undisturbed(rng: Random) -> Case:
    case = make(rng, most=0)
    fewer = ("--max-results", "3") if case.words[0] == "search" and rng.random() < 0.5 else ()
    # Of so many results, a page that becomes public takes the place of another.
    ahead = (0,) if fewer else (0, 0, 3)
    pages = [_public(rng, f"p{n}", case.moment + rng.choice(ahead) * DAY) for n in range(rng.choice((1, 8, 14)))]
    words = (*case.words, *fewer, "--limit", "1000", "--max-pages", "1000")
    return case._replace(words=words, worlds=(perplexity.app(pages),))


def failures(rng: Random) -> Case:
    """Make worlds that fail alike with different texts. One kind: nothing found, and all of it later."""
    case = make(rng)
    later = [_later(rng, f"n{number}", case.moment, []) for number in range(5)]
    texts = ("A word of its own", f"{CANARY}: oil rises in March", f"Your key is {perplexity.KEY}")
    apps: Sequence[App]
    if case.words[0] == "search":
        empty = [perplexity.search_reply([]), perplexity.search_reply([None, 5, {}]), perplexity.search_reply([[], []])]
        apps = [always(as_json(reply)) for reply in empty]
    else:
        apps = [always(as_json(perplexity.agent_reply([], [], text))) for text in texts]
        apps += [always(as_json({"output": [], "status": "completed"}))]
    apps = rng.choice(
        [
            [*apps, perplexity.app([]), perplexity.app(later), perplexity.app(later, careless=True)],
            [always(perplexity.error({**perplexity.BAD_KEY, "message": text}, 401)) for text in texts],
            [always(perplexity.error({**perplexity.RETIRED, "message": text}, 403)) for text in texts],
            [always(perplexity.error({"message": text, "type": "other"}, 403)) for text in texts],
            *(
                [always(perplexity.error({"message": text, "type": text}, status)) for text in texts]
                for status in (400, 404, 422, 429, 500)
            ),
            [always(Response(text.encode())) for text in texts],
            [always(as_json({"error": {"message": text}})) for text in texts],
            [always(as_json({"status": "failed", "error": {"message": text}, "output": 5})) for text in texts],
        ]
    )
    return case._replace(worlds=tuple(apps), plain=None)


def _last_day(moment: datetime) -> datetime:
    """Return a time on the last day that was over at ``moment`` where days end last, 12 hours behind UTC."""
    return moment.astimezone(UTC) - timedelta(hours=12) - DAY


def _public(rng: Random, name: str, moment: datetime) -> Page:
    last = _last_day(moment)
    updated = last - rng.choice((0, 0, 1, 7, 400)) * DAY
    created = rng.choice((updated, updated, updated - rng.choice((1, 30, 4000)) * DAY))
    days = _text(created), _text(updated)
    return page(name, *(days if rng.random() < 0.9 else reversed(days)), **_texts(rng, name))


def _later(rng: Random, name: str, moment: datetime, public: Sequence[Page]) -> Any:
    last = _last_day(moment)
    before, after = _text(last - rng.choice((0, 1, 400)) * DAY), _text(last + rng.choice((1, 1, 2, 30)) * DAY)
    late = page(name, before, after, title=CANARY, snippet=f"Oil {CANARY}", url=f"https://example.com/{CANARY}{name}")
    bad: Any = rng.choice(
        (None, "", "soon", 5, [], after.replace("-", ""), f"{before}T10:00:00Z", wreck(rng), "2024-02-30")
    )
    match rng.choice(("late", "late", "created", "both", "undated", "version", "spoilt", "unreadable")):
        case "late":
            return late
        case "spoilt":
            return {**late, rng.choice((*late, "x")): wreck(rng)}
        case "created":
            return {**late, "date": after, "last_updated": before}
        case "both":
            return {**late, "date": after}
        case "undated":
            name = rng.choice(("date", "last_updated"))
            dated = {**late, "last_updated": before}
            return rng.choice(({**dated, name: bad}, {key: dated[key] for key in dated if key != name}))
        case "version" if public:
            return {**rng.choice(public), "last_updated": after, "title": CANARY, "snippet": CANARY}
        case _:
            return rng.choice((None, 5, CANARY, {}, {**late, "url": rng.choice((None, 5, wreck(rng)))}))


def _texts(rng: Random, name: str) -> dict[str, str]:
    host = rng.choice(("www.example.com", "sub.example.com", "example.com", "other.org"))
    return {"url": f"https://{host}/{name}", "snippet": "x" * rng.choice((10, 10, 3_000))}


def _text(moment: datetime) -> str:
    return moment.date().isoformat()


LAWS: Mapping[str, Callable[[Random], int]] = {"failures": lambda rng: non_interference(failures(rng))}
