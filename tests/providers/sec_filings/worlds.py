"""Worlds of a company's filings: later ones, letters released later, lists cut elsewhere, rows that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any

from pit_fetch.testing.server import App, Response
from tests.laws.checks import non_interference
from tests.laws.worlds import CANARY, NEW_YORK, PITS, Case, always, common, noise_count, options
from tests.loopback.broken import wreck
from tests.providers.sec_filings import server
from tests.providers.sec_filings.server import Document, Filed
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing

DAY = timedelta(days=1)
_FORMS = ("10-K", "10-Q", "8-K", "8-K", "4", "10-K/A", "UPLOAD", "DEFA14A")
_OPTIONS: Mapping[str, Sequence[tuple[str, ...]]] = {
    "forms": [("forms=8-K",), ("forms=10-K,10-Q",), ("forms=-4",), ("forms=UPLOAD,CORRESP",), ("forms=10-K/A",)],
    "exact": [("--exact",)],
}
_TEXT: Mapping[str, Sequence[tuple[str, ...]]] = {
    "document": [("document=EX-99.1",), ("document=EX-99",), ("document=primary",)],
    "find": [("find=going concern",), ("find=nothing like it",)],
    "exact": [("--exact",)],
}
_BODY = (
    "<html><body><ix:header>hidden</ix:header><p>Doubt about a <b>going</b>\nconcern.</p><table><tr><td>$<td>5</table>"
)


def make(rng: Random, most: int = 3) -> Case:
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    numbers = iter(rng.sample(range(1, 9_999), 60))
    public = [_filed(rng, _public(rng, sec.number(next(numbers)), moment)) for _ in range(rng.choice((0, 1, 3, 6)))]
    true_utc = rng.random() < 0.5
    worlds: list[App] = [server.app(public, true_utc=true_utc)]
    asked = sec.number(next(numbers))
    for _ in range(3):
        late = [_late(rng, sec.number(next(numbers)), moment) for _ in range(noise_count(rng))]
        late += [_late(rng, asked, moment)] if rng.random() < 0.7 else []
        filed = [*public, *(_filed(rng, filing, CANARY) for filing in late)]
        rng.shuffle(filed)
        worlds.append(server.app(filed, recent=rng.choice((2, 5, 1_000)), raw=_raw(rng, moment), true_utc=true_utc))
    words, choices = _question(rng, [*(entry.filing.accession for entry in public), asked])
    who = rng.choice((("cik=320193",), ("symbol=AAPL",), ("cik=CIK0000320193",)))
    return Case(
        source="sec_filings",
        pit=pit,
        words=(*words, *who, *options(rng, {**_common(words, moment, rng), **choices}, most)),
        worlds=tuple(worlds),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
        immutable=words == (),
    )


def undisturbed(rng: Random) -> Case:
    """Make a world whose filings all stay."""
    case = make(rng, most=0)
    return case._replace(words=("filings", "cik=320193", "--limit", "1000"), immutable=True)


def ceiling(rng: Random) -> Case:
    """Make a question under a ceiling: today's tickers differ from world to world."""
    case = make(rng)
    filed = [_filed(rng, _public(rng, sec.number(n), case.moment)) for n in range(1, 4)]
    lists: Sequence[Mapping[str, int]] = ({"AAPL": sec.APPLE}, {"AAPL": sec.TESLA}, {})
    words = (*_question(rng, [sec.number(1)])[0], rng.choice(("symbol=AAPL", "cik=320193")))
    worlds = tuple(server.app(filed, tickers=listed) for listed in lists)
    return case._replace(words=words, worlds=worlds, ceiling=case.pit, plain=None)


def failures(rng: Random) -> Case:
    """Make worlds that fail alike, whatever is public in them; not known, and all of it later, are one outcome."""
    case = make(rng)
    late = [_filed(rng, _late(rng, sec.number(9_990 + n), case.moment), CANARY) for n in range(4)]
    broken: Sequence[Response] = (sec.BLOCKED, sec.MAINTENANCE, Response(b"<html></html>"), Response(b"[]"))
    kinds: Sequence[Sequence[App]] = (
        [server.app([]), server.app(late), server.app(late, raw=_raw(rng, case.moment))],
        *([always(response)] * 2 for response in broken),
    )
    return case._replace(worlds=tuple(rng.choice(kinds)), plain=None)


def _question(
    rng: Random, accessions: Sequence[str]
) -> tuple[tuple[str, ...], Mapping[str, Sequence[tuple[str, ...]]]]:
    match rng.choice(("filings", "form", "accession")):
        case "form":
            return ("text", f"form={rng.choice(_FORMS[:4])}"), _TEXT
        case "accession":
            return ("text", f"accession={rng.choice(accessions)}"), _TEXT
        case _:
            return (), _OPTIONS


def _common(words: Sequence[str], moment: datetime, rng: Random) -> Mapping[str, Sequence[tuple[str, ...]]]:
    choices = common(moment, [], rng)
    return {name: choices[name] for name in choices if not words or name not in ("date-from", "date-to")}


def _filed(rng: Random, filing: Filing, words: str = "") -> Filed:
    main = Document(filing.form, rng.choice(("main.htm", "xsl/main.xml", "main.txt", "")), f"{_BODY}{words}")
    if not main.file:
        main = main._replace(
            source=f"<PAGE>\n\nDoubt about a going\n   concern. {words}\n<TABLE>\n<S>  <C>\nCash  5\n</TABLE>"
        )
    exhibits = [Document("EX-99.1", main.file and "ex991.htm", f"{_BODY}Sales. {words}")] if rng.random() < 0.5 else []
    return Filed(filing, (main, *exhibits), filing.day if rng.random() < 0.5 else "")


def _public(rng: Random, accession: str, moment: datetime) -> Filing:
    """Return a filing of an hour of business, at least two days old, or of the PIT's own day, some hours before it."""
    local = moment.astimezone(NEW_YORK)
    form = rng.choice(_FORMS)
    if rng.random() < 0.3 and local.weekday() < 5 and 11 <= local.hour < 17:
        accepted = local - timedelta(hours=2)
    else:
        day = _weekday(local.date() - rng.choice((3, 4, 30, 300)) * DAY)
        accepted = datetime.combine(day, time(rng.choice((9, 12, 16)), 30, rng.randrange(60)), NEW_YORK)
    items = ("2.02", "9.01") if form == "8-K" else ()
    return Filing(accession, form, f"{accepted:%Y-%m-%d %H:%M:%S}", items=items)


def _late(rng: Random, accession: str, moment: datetime) -> Filing:
    """Return a filing accepted after the PIT, or a letter of before that is released after it."""
    if rng.random() < 0.2:
        day, after = moment.astimezone(NEW_YORK).date() - 20 * DAY, moment.astimezone(NEW_YORK).date() + DAY
        return Filing(accession, "UPLOAD", f"{_weekday(day)} 12:00:00", released=after.isoformat(), private=True)
    seconds = rng.choice((1, 60, 3_600, 14_400, 18_000, 86_400, 3_000_000))
    accepted = (moment + timedelta(seconds=seconds)).astimezone(NEW_YORK)
    day = _weekday(accepted.date() + (accepted.hour >= 17) * DAY)
    form = rng.choice((*_FORMS, "DEF 14A"))
    return Filing(accession, form, f"{accepted:%Y-%m-%d %H:%M:%S}", filed=day.isoformat(), items=(CANARY,))


def _weekday(day: date) -> date:
    return day + timedelta(days=7 - day.weekday()) if day.weekday() > 4 else day


def _raw(rng: Random, moment: datetime) -> dict[str, list[Any]]:
    """Return rows that cannot be read, or whose release nothing shows."""
    good = {
        "accessionNumber": sec.number(99_999),
        "form": "8-K",
        "filingDate": moment.date().isoformat(),
        "acceptanceDateTime": f"{moment.date() - DAY}T00:00:00.000Z",
        "primaryDocument": CANARY,
    }
    rows: list[dict[str, Any]] = [
        good,
        {**good, "accessionNumber": rng.choice((None, "", 5, "0000320193", wreck(rng)))},
        {**good, "form": rng.choice((None, 8))},
        {**good, "filingDate": rng.choice((None, "", 20240215, "2024-02-30"))},
        {**good, "acceptanceDateTime": rng.choice((None, "soon", 5))},
        {},
    ]
    return server.raw_rows(rng.sample(rows, rng.choice((0, 1, 3))))


LAWS: Mapping[str, Callable[[Random], int]] = {
    "ceiling": lambda rng: non_interference(ceiling(rng)),
    "failures": lambda rng: non_interference(failures(rng)),
}
