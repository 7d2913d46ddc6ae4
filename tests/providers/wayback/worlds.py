"""Worlds of the Wayback Machine: captures of later, wrong stamps, redirects whose targets were captured later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import App, Response
from tests.laws.archived import archive, environ
from tests.laws.checks import continued as check_continued
from tests.laws.checks import non_interference
from tests.laws.refusals import Requests, one_of_each
from tests.laws.worlds import CANARY, PITS, SECRETS, Case, always, common, near, noise_count, options, run
from tests.providers.wayback import server as wayback
from tests.providers.wayback.server import Capture, digits, http_date
from tests.worlds import same_bytes

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
# The end of a capture's second, the second until the origin's date, and five minutes.
_UNTIL_PUBLIC = timedelta(seconds=302)
_SPELLINGS = ("https://www.example.com/news", "http://example.com:80/news/", "https://example.com/News")
_TARGET = "https://www.example.com/latest"
_ASKED = (
    ("url=www.example.com/news",),
    ("--url", "HTTPS://Example.com/news?utm_source=x#top"),
    ("url=example.com/news",),
)
_FIRST = datetime(1996, 1, 2, tzinfo=UTC)
_ROWS, _TRIES = "pit_fetch_providers.wayback.index:ROWS", "pit_fetch_providers.wayback.page:MOST_TRIES"
_PAGES = (
    b"<html><title>News</title><main><h1>News</h1><p>Something <a href=/a>happened</a>.</main>",
    b"<html><title>News</title><nav>Home</nav><p>" + b"Word by word. " * 300,
    "<html><meta charset=windows-1252><title>Caf\xe9</title><p>Gr\xfc\xdfe".encode("cp1252"),
)


def make(rng: Random, most: int = 4, op: str = "page") -> Case:
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    public = _public(rng, moment)
    worlds = []
    for number in range(4):
        captures: list[Any] = [*public, *(_later(rng, moment, op) for _ in range(noise_count(rng) if number else 0))]
        lines = [_malformed(rng) for _ in range(rng.choice((0, 0, 1, 4)) if number else 0)]
        rng.shuffle(captures)
        worlds.append(wayback.app(captures, lines=lines))
    ids = [f"{capture.stamp}/{capture.url}" for capture in public]
    choices = common(moment, ids, rng)
    if op == "page":
        choices |= {"as": [("as=markdown",), ("--as", "html")], "fields": [("--fields", "url,text,shows")]}
        del choices["date-from"], choices["date-to"]
    else:
        choices |= {"match": [("match=prefix",), ("--match", "host")], "fields": [("--fields", "status,digest")]}
    return Case(
        source="wayback",
        pit=pit,
        words=(op, *rng.choice(_ASKED), *options(rng, choices, most)),
        worlds=tuple(worlds),
        sizes={_ROWS: 10_000, _TRIES: rng.choice((1, 2, 8))},
        resized=({_ROWS: 2}, {_ROWS: 5}),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
    )


def undisturbed(rng: Random) -> Case:
    """Make a list of captures: a later PIT adds to it. A later page takes the place of an earlier one."""
    case = make(rng, most=0, op="captures")
    words = (*case.words, "--limit", "1000", "--max-pages", "1000", "--evidence", "claimed")
    return case._replace(words=words, worlds=case.worlds[:1])


def claimed(rng: Random) -> Case:
    """Make a list of captures, which the stamps of the index claim."""
    return make(rng, op="captures")


def continued(rng: Random) -> Case:
    """Make a page that is longer than an answer may be."""
    case = make(rng, most=0)
    pieces = ("word", "<p>", "x" * 700, "\u20ac", "&quot;", "<a href='/{}'>link</a>")
    text = " ".join(rng.choice(pieces).format(number) for number in range(rng.choice((3, 300))))
    page = Capture(_stamp(case.moment, timedelta(0)), body=f"<meta charset=utf-8><title>Long</title>{text}".encode())
    worlds = [[page], *([page, *(_later(rng, case.moment, "page") for _ in range(noise_count(rng)))] for _ in range(2))]
    words = ("page", "url=example.com/news", f"as={rng.choice(('text', 'markdown', 'html'))}", "--limit", "50")
    return case._replace(words=words, worlds=tuple(map(wayback.app, worlds)))


def failures(rng: Random) -> Case:
    """Make worlds that fail alike with other words. One kind: nothing, blocked since, and all of it later."""
    case = make(rng)
    later = [_later(rng, case.moment, "captures") for _ in range(9)]
    texts = ("A word of its own", f"{CANARY}: results on Thursday", "Sorry")
    apps: Sequence[App] = rng.choice(
        [
            [wayback.app(later), wayback.app([]), wayback.app(later, blocked=True), wayback.app([], lines=[CANARY])],
            *([always(Response(text.encode(), status)) for text in texts] for status in (400, 429, 500, 503)),
            [always(Response(f"<html>{text}".encode())) for text in texts],
        ]
    )
    return case._replace(worlds=tuple(apps))


def _stamp(moment: datetime, before: timedelta) -> str:
    """Return the stamp of a capture that is public at ``moment``, as late as can be or ``before`` that."""
    at = moment - _UNTIL_PUBLIC - before
    return digits(max(at, _FIRST))


def _public(rng: Random, moment: datetime) -> list[Capture]:
    stamps = {_stamp(moment, near(rng)) for _ in range(rng.choice((0, 1, 1, 3, 6)))}
    captures = []
    for stamp in sorted(stamps):
        page = Capture(stamp, rng.choice(_SPELLINGS), rng.choice(_PAGES), date=rng.choice(("", "", None)))
        captures.append(_varied(rng, page))
    if rng.random() < 0.5:
        captures.append(Capture(_stamp(moment, near(rng)), _TARGET, b"<title>Latest</title><p>The latest."))
    return captures


def _varied(rng: Random, page: Capture) -> Capture:
    match rng.choice(
        ("page", "page", "gone", "refused", "redirect", "alias", "unplayable", "unreadable", "revisit", "old")
    ):
        case "gone":
            return page._replace(status=rng.choice((404, 410)))
        case "refused":
            return page._replace(status=rng.choice((403, 429, 503)), listed_status=rng.choice(("", "-")))
        case "redirect":
            return page._replace(status=rng.choice((301, 302)), location=_TARGET, body=b"")
        case "alias":
            return page._replace(status=301, location=rng.choice(_SPELLINGS), body=b"")
        case "unplayable":
            return page._replace(plays=False)
        case "unreadable":
            return page._replace(encoding="gzip")
        case "revisit":
            return page._replace(listed_status="-")
        case "old":
            return page._replace(modified=http_date(page.at - 100 * DAY))
        case _:
            return page


def _later(rng: Random, moment: datetime, op: str) -> Capture:
    """Return a capture that was not public at ``moment``: by its stamp, or by what its origin says."""
    body = f"<title>{CANARY}</title><p>{CANARY}".encode()
    url = rng.choice((*_SPELLINGS, _TARGET, f"https://example.com/{CANARY}"))
    stamp = digits(moment - timedelta(seconds=300) + near(rng))
    late = Capture(stamp, url, body, plays=rng.random() < 0.8, listed=rng.random() < 0.8)
    kind = rng.choice(("late", "late", "redirect", "gone", "misdated", "misdated"))
    if kind == "redirect":
        return late._replace(status=302, location=f"https://example.com/{CANARY}")
    if kind == "gone":
        return late._replace(status=rng.choice((403, 404, 429)))
    if kind == "misdated" and op == "page":
        return _misdated(rng, moment, late)
    return late


def _misdated(rng: Random, moment: datetime, late: Capture) -> Capture:
    """Return a capture whose stamp is before the PIT, and which proves to be of a later time, or of an unknown one."""
    # Not in the second of a public capture, for which the archive could show it.
    at = moment - _UNTIL_PUBLIC - near(rng, 1) - rng.choice((10, 300)) * DAY - timedelta(microseconds=1)
    capture = late._replace(stamp=digits(max(at, _FIRST)), listed=True)
    if rng.random() < 0.3:
        day = f"{capture.at + 3 * DAY:%Y-%m-%d}"
        before = rng.choice(("", "<meta name=date content=2001-01-01>", "<meta name=date content=0001-01-01>"))
        return capture._replace(body=f"{before}<meta name=pubdate content={day}>".encode() + late.body)
    shown = http_date(rng.choice((moment - timedelta(seconds=299) + near(rng), capture.at + 25 * timedelta(hours=1))))
    dates = ((shown, None), (None, shown), ("soon", None), (None, f"{moment:%c}"), ("", shown))
    date, modified = rng.choice(dates)
    status = rng.choice((200, 200, 404, 302, 429, 503))
    return capture._replace(
        date=date,
        modified=modified,
        status=status,
        encoding=rng.choice(("", "", "gzip")),  # which its body is not
        location=f"https://example.com/{CANARY}" if status == 302 else "",
        listed_status="-" if status > 404 and rng.random() < 0.5 else "",
    )


def _malformed(rng: Random) -> str:
    """Return a line that the index has, and that is no capture: real ones, and one with a canary in it."""
    return rng.choice(
        (
            "com,example)/news 20000800241623 https://www.example.com/news text/html 200 PAJWSPCRQMVBTYWV4NPJPNDQ 61",
            "com,example)/news 20200418140810 http://mailto:sampling@example.com/ unk 301 3I42H3S6NNFQ2MSVX7XZKYAY 32",
            f"com,example)/news 20200418005903 some/not/even/url/{CANARY} text/html 200 X2TRC5YOLWHW7YKTFSLAEELR 20",
            f"com,example)/news {CANARY}",
            'com,example)/news 20200418005903 data:image/jpeg;base64,/9j/"4aaq text/html 200 X2TRC5YOLWHW7 20',
            "com,example)/news 99991231235959 https://www.example.com/news text/html 200 X2TRC5YOLWHW7 20",
            "com,example)/news 2020041800590 https://www.example.com/news text/html 200 X2TRC5YOLWHW7 20",
        )
    )


def captured_later(case: Case) -> int:
    """What a capture returned that was made after the PIT tells nothing of later captures at the PIT."""
    later = case.moment + timedelta(days=900)

    def ask(app: App) -> Left:
        with archive() as path:
            file = path.with_suffix(".toml")
            file.write_text('[[request]]\nsource = "wayback"\nop = "page"\nurl = "example.com/news"\n')
            run(case, app, line=("capture", str(file)), now=later, environ=environ(path))
            asked = ("page", "url=example.com/news", "--offline")
            return replace(run(case, app, environ=environ(path), words=asked), files=())

    same_bytes(ask, case.worlds, SECRETS)
    return len(case.worlds) - 1


# A window of the index, or a capture that it lists, whose stamp may be wrong.
# Its rows before the PIT are public by the rule of captures.
REQUESTS = Requests(
    one_of_each(lambda request: request.path == "/cdx/search/cdx"),
    endpoint=lambda request: request.path[:5],
    is_chosen=lambda case, request: request.path.startswith("/web/"),
)
LAWS: Mapping[str, Callable[[Random], int]] = {
    "captured later": lambda rng: captured_later(make(rng)),
    "failures": lambda rng: non_interference(failures(rng)),
    "continued": lambda rng: check_continued(continued(rng), rng),
}
