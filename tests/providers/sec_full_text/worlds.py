"""Worlds of EDGAR: filings accepted later, after hours, released later, moved back, and unreadable ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from random import Random
from urllib.parse import urlsplit

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.laws.checks import non_interference
from tests.laws.refusals import Requests, partial_failure
from tests.laws.worlds import CANARY, NEW_YORK, PITS, Case, common, near, noise_count, options, run
from tests.loopback.broken import body_of, wreck
from tests.providers.sec_full_text import server as loopback
from tests.providers.sec_full_text.server import APPLE, TESLA, Filing, number

MODULE = "pit_fetch_providers.sec_full_text"
DAY = timedelta(days=1)
DISSEMINATION = timedelta(hours=1)
# Between the opening, the release of the night's filings, and when they count.
MORNINGS = ("2024-02-15T06:01:00-05:00", "2024-02-15T08:59:59-05:00")
ORDINARY = ("8-K", "10-K", "10-Q", "4", "10-K/A")
CHOICES: Mapping[str, Sequence[tuple[str, ...]]] = {
    "forms": [("--forms", "8-K,10-K"), ("--forms", "10-K"), ("--forms", "-4"), ("--forms", "UPLOAD,CORRESP"),
              ("--forms", "8-K,10-K,10-Q,4"), ("--forms", "8-K,10-K,10-Q,4")],
    "ciks": [("--ciks", str(APPLE)), ("--ciks", f"{TESLA},{APPLE}")],
    "tickers": [("--tickers", "AAPL"), ("--tickers", "NONE")],
    "exact": [("--exact",)],
    "entity": [("--entity", "Apple")],
    "fields": [("--fields", "form,filed"), ("--fields", "company_names,documents")],
}  # fmt: skip
BROKEN = (
    loopback.MISSING,
    loopback.NO_SUCH_KEY,
    loopback.BLOCKED,
    loopback.MAINTENANCE,
    Response(b""),
    Response(b"<html></html>"),
    Response(b"<SEC-HEADER>cut", 200),
    Response(f"<html>{CANARY}</html>".encode(), 404),
)


HEADERS = ("-index-headers.html", ".hdr.sgml", ".txt")


def make(rng: Random, most: int = 4, contradictions: float = 0.05, unlisted: float = 0.0, exact: bool = False) -> Case:
    """Make a case of filings around the PIT.

    ``contradictions`` is how often a header is of another day than the filing date, ``unlisted`` how often a filing
    that was sent out later has a header that does not show it. ``exact`` asks with --exact, where the files of some
    filings were written later than the rest of EDGAR tells.
    """
    pit = rng.choice((*PITS, *MORNINGS))
    moment = datetime.fromisoformat(pit)
    numbers = iter(rng.sample(range(1, 9_999), 80))
    public = [_public(rng, number(next(numbers)), moment, contradictions) for _ in range(rng.choice((0, 2, 5, 9)))]
    public = [filing for filing in public if _released(filing) <= moment]
    true_utc = rng.random() < 0.5
    gone, today = _days_without_index(rng, moment), moment.astimezone(NEW_YORK).date()
    swapped = [name for name in gone if rng.random() < 0.3]
    worlds = [loopback.app(_shuffled(rng, public), pages=_pages(gone), true_utc=true_utc)]
    spoilt = []
    for _ in range(3):
        noise = [_noise(rng, number(next(numbers)), moment) for _ in range(noise_count(rng))]
        broken = {f.accession: rng.choice(BROKEN) for f in noise if rng.random() < 0.4}
        # What its header would date before the PIT is not listed either, or it was public.
        undated = {f.accession for f in noise if _released(f) <= moment}
        noise = [replace(f, listed="never") if f.accession in undated else f for f in noise]
        noise += [_written_later(rng, number(next(numbers)), moment) for _ in range(rng.choice((0, 1, 2))) if exact]
        broken |= {accession: rng.choice(BROKEN) for accession in undated}
        noise += [_unlisted(rng, number(next(numbers)), moment, gone) for _ in range(2) if rng.random() < unlisted]
        noise += (paged := [_unlisted(rng, number(next(numbers)), moment, gone) for _ in range(rng.choice((0, 0, 1)))])
        broken |= {f"{filing.accession}{ending}": loopback.MISSING for filing in paged for ending in HEADERS}
        if noise and rng.random() < 0.1:  # the same withheld hit on page after page
            noise += [noise[0]] * rng.choice((4, 120, 220))
        # Whatever index is asked for in place of one that is gone, it is today's.
        todays = [replace(filing, listed=today.isoformat()) for filing in noise]
        broken |= gone | dict.fromkeys(swapped, Response(loopback.daily_index(today, todays).encode()))
        worlds.append(loopback.app(_shuffled(rng, [*public, *noise]), pages=_pages(broken), true_utc=true_utc))
        spoilt.append({f.accession: wreck(rng) for f in noise if rng.random() < 0.2})
    choices = {**common(moment, [filing.accession for filing in public], rng), **CHOICES}
    if exact:
        del choices["exact"]
    slices = [
        {
            f"{MODULE}.search:SLICE_MOST": n,
            f"{MODULE}.search:SLICE_AIM": max(2, n - 1),
            f"{MODULE}.schedule:MOST_AHEAD": most_ahead,
        }
        for n, most_ahead in ((2, 100), (5, 1), (300, 3))
    ]
    return Case(
        source="sec_full_text",
        pit=pit,
        words=("concern", *(["--exact"] if exact else []), *options(rng, choices, most)),
        worlds=tuple(_of_today(app, number, ({}, *spoilt)[number]) for number, app in enumerate(worlds)),
        sizes=rng.choice(slices),
        resized=tuple(rng.sample(slices, 2)),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
    )


def undisturbed(rng: Random) -> Case:
    case = make(rng, most=0)
    moment, numbers = case.moment, iter(range(1, 99))
    filings = [_public(rng, number(next(numbers)), moment + near(rng) * rng.choice((0, 1))) for _ in range(12)]
    words = (*case.words, "--limit", "1000", "--max-pages", "1000", *rng.choice(((), ("--exact",), ("--forms", "8-K"))))
    return case._replace(words=words, worlds=(loopback.app(filings),), resized=())


def ordered(rng: Random) -> Case:
    """Make ordinary forms, so that the search may end early; some filings contradict the order that it relies on."""
    case = make(rng, most=0, contradictions=0.4, unlisted=0.5)
    limit = rng.choice(((), ("--limit", "1"), ("--limit", "3")))
    sizes = {f"{MODULE}.search:SLICE_MOST": 2, f"{MODULE}.search:SLICE_AIM": 2}
    return case._replace(words=("concern", "--forms", "8-K,10-K,10-Q,4", *limit), sizes=sizes)


def ahead(rng: Random) -> Case:
    """Make a search that ends early: filings of the PIT's own day wait for some of the days before it.

    Some of these are withheld. Which indexes the search asks for, and keeps, shows how far back it went.
    """
    case = ordered(rng)._replace(pit="2024-02-15T16:00:00-05:00")
    moment, numbers = case.moment, iter(range(1, 99))
    days = [moment] * 6 + [moment - n * DAY for n in range(1, 9) if (moment - n * DAY).weekday() < 5]
    public = [_filing(rng, number(next(numbers)), "8-K", day - 3 * DISSEMINATION, "Apple Inc.") for day in days]
    worlds = [public]
    for _ in range(2):
        worlds.append([*public, *(_unlisted(rng, number(next(numbers)), moment, {}) for _ in range(rng.randint(1, 9)))])
    words = ("concern", "--forms", "8-K,10-K,10-Q,4", "--limit", str(rng.randint(2, 5)))
    return case._replace(words=words, worlds=tuple(map(loopback.app, worlds)))


def kept(rng: Random) -> int:
    """Check that what a fetch of an earlier day has left in the cache changes nothing.

    It holds no index of a day that was not over. The server's indexes hold what was sent out so far, and our own
    clock may have been a day ahead of the server's.
    """
    case = make(rng, most=0)
    day = date(2024, 2, 12) + rng.choice(range(3)) * DAY
    then = datetime.combine(day, time(rng.choice((9, 13, 19))), NEW_YORK)
    now = then + 2 * DAY
    numbers = iter(range(1, 99))
    filings = [
        _filing(rng, number(next(numbers)), rng.choice(ORDINARY), now - near(rng), "Apple Inc.") for _ in range(9)
    ]
    moments = (then + timedelta(minutes=n) for n in (-61, -1, 1, 61))
    filings += [_filing(rng, number(next(numbers)), rng.choice(("4", "8-K")), at, "Apple Inc.") for at in moments]
    words = ("concern", *rng.choice(((), ("--forms", "8-K,10-K,10-Q,4"))), "--limit", "500")
    app, earlier = loopback.app(filings, now=now), loopback.app(filings, now=then)
    case = case._replace(pit=now.isoformat(), words=words, worlds=(app,))
    expected = run(case, app, now=now)
    then += rng.choice((0, 0, 1)) * DAY
    run(case, earlier, pit=then.isoformat(), now=then)
    again = run(case, app, now=now, keep_files=True)
    assert replace(again, files=()) == replace(expected, files=())
    return 1


def ceiling(rng: Random) -> Case:
    """Make a question under a ceiling: today's tickers and names differ from world to world."""
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    numbers = iter(rng.sample(range(1, 9_999), 80))
    public = [_public(rng, number(next(numbers)), moment) for _ in range(rng.choice((2, 5)))]
    public = [filing for filing in public if _released(filing) <= moment]
    worlds = []
    for listed, name in (
        ({"AAPL": APPLE}, "Apple"),
        ({"AAPL": TESLA}, "Pear"),
        ({"AAPL": APPLE}, "Pear"),
        ({}, CANARY),
    ):
        later = [
            _filing(rng, number(next(numbers)), "8-K", moment + near(rng, 1), CANARY) for _ in range(noise_count(rng))
        ]
        worlds.append(loopback.app(_shuffled(rng, [*public, *later]), tickers=listed, entity=name))
    words = ("concern", *rng.choice((("--tickers", "AAPL"), ("--entity", "Apple"), ("--ciks", str(APPLE)), ())))
    return Case("sec_full_text", pit, words, tuple(worlds), ceiling=pit)


def failures(rng: Random) -> Case:
    """Make worlds in which the search fails alike with different texts, and those in which nothing is known."""
    case = make(rng)
    leak = f"{CANARY}: filed in March"

    def search_says(body: bytes, status: int = 200) -> App:
        def answer(request: HttpRequest) -> Response:
            if request.path == "/files/company_tickers.json":
                return as_json({"0": {"cik_str": APPLE, "ticker": "AAPL", "title": "Apple"}})
            return Response(body, status)

        return answer

    texts = (b"oops", leak.encode())
    apps: Sequence[App] = rng.choice(
        [
            [search_says(text, 500) for text in texts],
            [search_says(b"<html>Undeclared Automated Tool" + text, 403) for text in texts],
            [search_says(b"<html>Request Rate Threshold Exceeded" + text, 403) for text in texts],
            [search_says(b'{"hits": ' + text) for text in texts],
            [search_says(b'{"error": "' + text + b'"}') for text in texts],
        ]
    )
    return case._replace(worlds=tuple(apps))


def _of_today(app: App, number: int, spoilt: Mapping[str, str]) -> App:
    """Return ``app`` with names and codes of another world, and hits in another order, as the index is today's.

    ``spoilt`` are filings in whose hits an unreadable value stands.
    """

    def answer(request: HttpRequest) -> Response:
        response = app(request)
        if request.path != "/LATEST/search-index" or not number:
            return response
        reply = json.loads(response.body)
        for hit in reply["hits"]["hits"]:
            hit["_source"]["display_names"] = [f"{CANARY} of world {number}  ({CANARY})  (CIK 0000320193)"]
            hit["_source"]["sics"] = [f"{CANARY}{number}"]
            hit["_score"] = spoilt.get(hit["_source"]["adsh"], 8.9)
        reply["hits"]["hits"].reverse()
        return Response(body_of(reply))

    return answer


def _shuffled(rng: Random, filings: Sequence[Filing]) -> list[Filing]:
    return rng.sample(list(filings), len(filings))


def _pages(broken: Mapping[str, Response]) -> Callable[[str], Response | None]:
    """Return the server on which nothing of the archive of the named filings, or days, can be read."""

    def answer(path: str) -> Response | None:
        return next((reply for accession, reply in broken.items() if accession in path), None)

    return answer


def _days_without_index(rng: Random, moment: datetime) -> dict[str, Response]:
    """Return days whose index is missing or unreadable: the same in every world."""
    if rng.random() < 0.6:
        return {}
    today, often = moment.astimezone(NEW_YORK).date(), rng.choice((0.2, 1.0))
    days = [today - n * DAY for n in range(1, 60) if rng.random() < often]
    return {f"master.{day:%Y%m%d}.idx": rng.choice(BROKEN[:6]) for day in days}


def _midnight_after(day: date) -> datetime:
    return datetime.combine(day + DAY, time(0), NEW_YORK)


def _released(filing: Filing) -> datetime:
    """Return when a filing was public, from the rules of EDGAR."""
    filed, arrived = date.fromisoformat(filing.day), filing.accepted_instant
    opening = arrived.date() + (DAY if arrived.time() >= time(22) else timedelta(0))
    while filed < opening and opening.weekday() > 4:
        opening += DAY
    opening = max(filed, opening)
    bounds = [arrived.replace(fold=1) + DISSEMINATION]
    if arrived < datetime.combine(opening, time(6), NEW_YORK):
        bounds.append(datetime.combine(opening, time(9), NEW_YORK))
    if filing.private or (filing.released or filing.day) > filing.day:
        bounds.append(_midnight_after(date.fromisoformat(filing.released or filing.day)))
    return max(bounds, key=lambda bound: bound.timestamp())


def _filing(rng: Random, accession: str, form: str, accepted: datetime, text: str, **changes: str | bool) -> Filing:
    """Return a filing accepted at an instant: after 17:30, or on a weekend, it gets the next business day."""
    local = accepted.astimezone(NEW_YORK)
    filed = local.date() + (DAY if local.time() > time(17, 30) and form != "4" else timedelta(0))
    while filed.weekday() > 4:
        filed += DAY
    return Filing(
        accession,
        form,
        _wall(local),
        filed=filed.isoformat(),
        name=text,
        ciks=rng.choice(((APPLE,), (TESLA,), (APPLE, TESLA))),
        files=rng.choice(((("a.htm", ""),), (("a.htm", ""), ("b.htm", "EX-99.1")))),
        **changes,  # type: ignore[arg-type]
    )


def _public(rng: Random, accession: str, moment: datetime, contradictions: float = 0.0) -> Filing:
    accepted = moment - near(rng, 3_600)
    if rng.random() < 0.2:
        released = (moment.astimezone(NEW_YORK).date() - rng.choice((1, 1, 5)) * DAY).isoformat()
        return _filing(rng, accession, "UPLOAD", accepted - 60 * DAY, "Apple Inc.", released=released, private=True)
    if rng.random() < contradictions:  # an ordinary form whose header contradicts its filing date
        filed = (accepted.astimezone(NEW_YORK).date() - 2 * DAY).isoformat()
        return Filing(accession, "8-K", _wall(accepted), filed=filed)
    made = _filing(rng, accession, rng.choice(ORDINARY), accepted, "Apple Inc.")
    seconds = rng.choice((None, 0, 1, 20, 3_599))
    return made if seconds is None else replace(made, written=_wall(accepted + timedelta(seconds=seconds)))


def _noise(rng: Random, accession: str, moment: datetime) -> Filing:
    """Return a filing that was not public; if its own rule dates it before the PIT, its header must not be readable."""
    text, files = f"{CANARY} Inc.", ((CANARY + rng.choice((".htm", "\ud800.htm")), CANARY),)
    today = moment.astimezone(NEW_YORK).date()
    match rng.choice(
        ("late", "late", "fresh", "after hours", "letter", "unmarked letter", "back-dated", "moved back", "undated")
    ):
        case "fresh":
            made = _filing(
                rng, accession, rng.choice(ORDINARY), moment - timedelta(seconds=rng.choice((0, 1, 179, 3_599))), text
            )
        case "after hours":
            evening = datetime.combine(today - rng.choice((0, 0, 1, 1, 2)) * DAY, time(17, 30, 1), NEW_YORK)
            made = _filing(rng, accession, rng.choice(("8-K", "10-K")), evening, text)
        case "letter" | "unmarked letter" as kind:
            released = (today + rng.choice((0, 0, 1, 30)) * DAY).isoformat()
            early = moment - rng.choice((8, 60, 400)) * DAY
            made = _filing(rng, accession, "CORRESP", early, text, released=released, private=kind == "letter")
        case "back-dated":
            late = (moment + near(rng, 1)).astimezone(NEW_YORK)
            filed = (late.date() - rng.choice((1, 3, 86)) * DAY).isoformat()
            made = Filing(accession, "EFFECT", _wall(late), filed=filed, name=text)
        case "moved back":  # an ordinary form, days before it was accepted
            late = (moment + near(rng, 1)).astimezone(NEW_YORK)
            filed = (late.date() - rng.choice((1, 2, 3, 7, 102)) * DAY).isoformat()
            made = Filing(accession, rng.choice(ORDINARY), _wall(late), filed=filed, name=text)
        case "undated":
            made = _filing(rng, accession, "DRS", moment - near(rng), text)
        case _:
            made = _filing(rng, accession, rng.choice(ORDINARY), moment + near(rng), text)
    # Written when it was accepted (as an index page has it, which proves nothing), or after the PIT.
    written = rng.choice(("", made.accepted, _wall(moment + near(rng, 1))))
    made = replace(made, files=files, written=written if written >= made.accepted else "")
    # An ordinary filing without a header is dated by its other pages: one that was public is no noise.
    return made if made.form not in ORDINARY or _released(made) > moment else replace(made, form="DRS")


def _written_later(rng: Random, accession: str, moment: datetime) -> Filing:
    """Return a filing that was public by its header, and whose own files were written after the PIT."""
    made = _filing(rng, accession, rng.choice(ORDINARY), moment - near(rng, 3_600), f"{CANARY} Inc.")
    written = _wall(moment + near(rng, 1))
    return replace(made, files=((f"{CANARY}.htm", CANARY),), written=written, listed=max(made.sent, written[:10]))


def _wall(moment: datetime) -> str:
    return f"{moment.astimezone(NEW_YORK):%Y-%m-%d %H:%M:%S}"


def _unlisted(rng: Random, accession: str, moment: datetime, gone: Mapping[str, Response]) -> Filing:
    """Return an ordinary filing that was sent out after the PIT, though its header knows of its filing date only.

    No index lists it by then; where the header alone decides there is none such.
    """
    today = moment.astimezone(NEW_YORK).date()
    # A panel asks an hour before, too: on its own day, the header alone decides.
    days = [(moment - timedelta(hours=1)).astimezone(NEW_YORK).date() - n * DAY for n in range(1, 20)]
    days = [day for day in days if day.weekday() < 5 and f"master.{day:%Y%m%d}.idx" not in gone]
    if not days:
        return _noise(rng, accession, moment)
    accepted, text = f"{rng.choice(days)} {rng.choice(('09:30:00', '16:05:00'))}", f"{CANARY} Inc."
    files = ((f"{CANARY}.htm", CANARY),)
    listed = rng.choice(("never", (today + DAY).isoformat()))
    return Filing(accession, rng.choice(ORDINARY), accepted, name=text, files=files, listed=listed)


def _continues(asked: Sequence[HttpRequest]) -> bool:
    """Return whether the last request is for more of a search, or for evidence of a filing.

    The first of each is made in every world: of the search, and of www.sec.gov.
    """
    hosts = [urlsplit(request.url).netloc for request in asked if request.path != "/files/company_tickers.json"]
    return bool(hosts) and (hosts[-1] in hosts[:-1] or hosts[-1] == "data.sec.gov")


REQUESTS = Requests(_continues, notices=(loopback.BLOCKED,))
LAWS: Mapping[str, Callable[[Random], int]] = {
    "ordered": lambda rng: non_interference(ordered(rng)),
    "ahead": lambda rng: non_interference(ahead(rng)),
    "ceiling": lambda rng: non_interference(ceiling(rng)),
    "exact": lambda rng: non_interference(make(rng, exact=True)),
    "exact, partial failure": lambda rng: partial_failure(make(rng, exact=True), rng, REQUESTS),
    "kept": kept,
    "failures": lambda rng: non_interference(failures(rng)),
}
