"""Worlds of EarningsCall: calls of later days, calls without a day, transcripts that are later than their lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, time, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.laws.checks import continued as check_continued
from tests.laws.checks import non_interference
from tests.laws.refusals import Requests
from tests.laws.worlds import CANARY, NEW_YORK, PITS, Case, always, common, near, noise_count, options
from tests.loopback.broken import wreck
from tests.providers.earningscall import server as earningscall
from tests.providers.earningscall.server import Call

DAY = timedelta(days=1)
LATER = range(2023, 2040)  # the fiscal years of calls after the PIT
_ZONES = tuple(map(ZoneInfo, ("America/New_York", "America/Los_Angeles", "UTC", "Asia/Tokyo")))
_COMPANY = (("symbol=MSFT",), ("symbol=msft", "exchange=NASDAQ"), ("--symbol", "MSFT", "--exchange", "nasdaq"))
_OPS = ("transcript", "transcript", "events", "slides", "calendar")


def make(rng: Random, most: int = 4) -> Case:
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    op = rng.choice(_OPS)
    day = _last_day(moment)
    public = _public(rng, moment, day if op == "calendar" else None)
    worlds = []
    for number in range(4):
        calls: list[Any] = [*public, *(_later(rng, n, moment) for n in range(noise_count(rng) if number else 0))]
        if number and op != "calendar":
            # Not public by what the transcript says; and one of another company, which is not asked for.
            if op == "transcript":
                calls += [_dated_later(moment, n) for n in range(rng.choice((0, 0, 1)))]
                calls += [_stored_later(rng, moment, n) for n in range(rng.choice((0, 0, 1, 3)))]
            calls.append(Call(2020, 1, _time_on(rng, day - 30 * DAY), CANARY, symbol="AAPL"))
        rng.shuffle(calls)
        worlds.append(earningscall.app(calls))
    ids = [f"{call.exchange}:{call.symbol}:{call.year}Q{call.quarter}" for call in public]
    choices = {**common(moment, ids, rng), "fields": [("--fields", "year,quarter"), ("--fields", "conference_date")]}
    if op != "calendar":
        choices |= {"year": [("year=2021",), ("--year", "2022")], "quarter": [("quarter=1",), ("quarter=4",)]}
    subject = (f"date={day.date()}",) if op == "calendar" else rng.choice(_COMPANY)
    plain = ("--limit", "500", "--max-pages", "1000")
    is_plain = most > 0 and rng.random() < 0.2
    return Case(
        source="earningscall",
        pit=pit,
        words=(op, *subject, *(plain if is_plain else options(rng, choices, most))),
        worlds=tuple(worlds),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
        plain=frozenset(ids) if is_plain else None,
    )


def undisturbed(rng: Random) -> Case:
    case = make(rng, most=0)
    return case._replace(words=(*case.words, "--limit", "1000", "--max-pages", "1000"), worlds=case.worlds[:1])


def claimed(rng: Random) -> Case:
    """Make worlds that agree on the transcripts of all calls whose next day is past noon, whenever they were stored."""
    case = make(rng)
    op, *rest = case.words
    words = (rng.choice(("transcript", "transcript", op)), *rest) if op != "calendar" else case.words
    public = _public(rng, case.moment, _last_day(case.moment) if op == "calendar" else None)
    agreed = [call._replace(stored=_any_time_since(rng, case.moment, call)) for call in public]
    worlds = [agreed]
    for _ in range(3):
        calls: list[Any] = [*agreed, *(_later(rng, n, case.moment) for n in range(noise_count(rng)))]
        if op != "calendar":
            calls += (
                [_dated_later(case.moment, n) for n in range(rng.choice((0, 1)))] if words[0] == "transcript" else []
            )
            calls += (
                [_stored_before(rng, case.moment, n) for n in range(rng.choice((0, 1)))]
                if words[0] == "transcript"
                else []
            )
        rng.shuffle(calls)
        worlds.append(calls)
    ids = [f"{call.exchange}:{call.symbol}:{call.year}Q{call.quarter}" for call in agreed]
    is_plain = case.plain is not None
    return case._replace(
        words=words, worlds=tuple(map(earningscall.app, worlds)), plain=frozenset(ids) if is_plain else None
    )


def _any_time_since(rng: Random, moment: datetime, call: Call) -> str | None:
    """Return a time of storage that leaves a claim: none, one that cannot be read, before the PIT or after it."""
    return rng.choice((None, "soon", call.stored, earningscall.http_date(moment, near(rng, 1))))


def _stored_before(rng: Random, moment: datetime, number: int) -> Call:
    """Return a call whose transcript was stored before it: not its own, so that there is no claim."""
    starts = _last_day(moment) - rng.choice((0, 1, 100)) * DAY
    text: Any = rng.choice((CANARY, 5, None, wreck(rng), {}))
    return Call(2050 + number, 1, starts.isoformat(), text, stored=earningscall.http_date(starts, -2 * DAY))


def continued(rng: Random) -> Case:
    """Make transcripts that are longer than an answer may be."""
    case = make(rng, most=0)
    day = _last_day(case.moment)
    pieces = ("word", "\n", "x" * 700, "\u20ac", '"', earningscall.KEY)
    public = [
        Call(
            2020 + n,
            1,
            _time_on(rng, day - n * 90 * DAY),
            " ".join(rng.choice(pieces) for _ in range(rng.choice((3, 60)))),
        )
        for n in range(rng.choice((1, 2, 3)))
    ]
    worlds = [public, *([*public, *(_later(rng, n, case.moment) for n in range(noise_count(rng)))] for _ in range(2))]
    chosen = ("transcript", "symbol=MSFT", "exchange=NASDAQ", "--limit", rng.choice(("1", "50")))
    return case._replace(words=chosen, worlds=tuple(map(earningscall.app, worlds)), plain=None)


def ceiling(rng: Random) -> Case:
    """Make a question under a ceiling: today's list of symbols differs from world to world."""
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    public = _public(rng, moment, None)
    lists = [[("NASDAQ", "MSFT")], [("NYSE", "MSFT")], [("NASDAQ", "MSFT"), ("NYSE", "MSFT")], []]
    worlds = []
    for listed in rng.sample(lists, len(lists)):
        later = (_later(rng, n, moment) for n in range(noise_count(rng)))
        worlds.append(earningscall.app([*public, *later], listed=listed))
    words = (rng.choice(("transcript", "events", "slides")), *rng.choice(_COMPANY), "--limit", "50")
    return Case("earningscall", pit, words, tuple(worlds), ceiling=pit)


def failures(rng: Random) -> Case:
    """Make worlds that fail alike with different texts. One kind: unknown, no calls yet, and all of them later."""
    case = make(rng)
    later = [call for call in (_later(rng, n, case.moment) for n in range(9)) if isinstance(call, Call)]
    texts = ("A word of its own", f"{CANARY}: results on Thursday", f"Your key is {earningscall.KEY}")
    empty = as_json([] if case.words[0] == "calendar" else {"events": []})
    named = ("exchange=NASDAQ",) if case.words[0] != "calendar" and len(case.words) < 3 else ()
    listed = [earningscall.app(later), earningscall.app([]), _but_symbols(earningscall.MISSING)]
    apps: Sequence[App] = rng.choice(
        [
            [*listed, _but_symbols(earningscall.FORBIDDEN), _but_symbols(empty)],
            *([always(Response(text.encode(), status)) for text in texts] for status in (400, 401, 429, 500)),
            [always(Response(text.encode(), 403, {"X-Plan-Name": text.replace("\n", " ")})) for text in texts],
            [_but_symbols(Response(text.encode())) for text in texts],
            [_but_symbols(as_json({"message": text})) for text in texts],
        ]
    )
    return case._replace(words=(*case.words, *named), worlds=tuple(apps), plain=None)


def _but_symbols(response: Response) -> App:
    def answer(request: HttpRequest) -> Response:
        return Response(b"1\tMSFT\tA Company\t1\t2") if request.path == "/symbols-v2.txt" else response

    return answer


def _last_day(moment: datetime) -> datetime:
    """Return the New York midnight of the last day whose calls count at ``moment``: noon of the next day is over."""
    local = moment.astimezone(NEW_YORK)
    shift = DAY if local.time() >= time(12) else 2 * DAY
    return datetime.combine(local.date() - shift, time(0), NEW_YORK)


def _time_on(rng: Random, day: datetime) -> str:
    """Return a time on a New York day, as some zone writes it."""
    at = datetime.combine(day.date(), time(rng.choice((0, 9, 17, 23)), rng.choice((0, 30, 59))), NEW_YORK)
    return at.astimezone(rng.choice(_ZONES)).isoformat(timespec=rng.choice(("milliseconds", "seconds")))


def _public(rng: Random, moment: datetime, day: datetime | None) -> list[Call]:
    last = _last_day(moment)
    periods = rng.sample(
        [(year, quarter) for year in (2021, 2022) for quarter in (1, 2, 3, 4)], rng.choice((0, 1, 3, 6))
    )
    calls = []
    for year, quarter in periods:
        on = day or last - rng.choice((0, 0, 1, 90, 400)) * DAY
        symbol = "MSFT" if day is None else f"S{year}{quarter}"
        text, own_date = rng.choice(("Good afternoon.", "x" * 3_000)), rng.choice((None, None, False))
        calls.append(Call(year, quarter, _time_on(rng, on), text, symbol=symbol, own_date=own_date))
    return calls


def _later(rng: Random, number: int, moment: datetime) -> Any:
    last = _last_day(moment)
    after = _time_on(rng, last + rng.choice((1, 1, 2, 90)) * DAY)
    starts = last.replace(hour=17)
    undated = rng.choice(
        (None, "", "soon", 5, f"{starts:%Y-%m-%dT%H:%M:%S}", f"{starts:%Y-%m-%d}", f"{starts:%Y-%m-%dT%H:%M:%S}-00:00")
    )
    late = Call(
        LATER[number], rng.choice((1, 2)), after, f"{CANARY}{number}", symbol=rng.choice(("MSFT", "MSFT", CANARY))
    )
    match rng.choice(("late", "late", "undated", "unreadable")):
        case "late":
            return late
        case "undated":
            return late._replace(starts=undated)
        case _:
            odd = {"year": rng.choice((None, "2024", 1.5)), "quarter": 1, "conference_date": after}
            return rng.choice((None, 5, CANARY, [], odd, {**odd, "year": 2029, "x": wreck(rng)}))


def _dated_later(moment: datetime, number: int) -> Call:
    """Return a call whose transcript names a later day than its list does."""
    last = _last_day(moment)
    own_date = (last + (1 + number) * DAY).isoformat()
    return Call(2060, 1, (last - DAY).isoformat(), CANARY, own_date=own_date)


def _stored_later(rng: Random, moment: datetime, number: int) -> Call:
    """Return a call before the PIT whose transcript was stored later, or carries no time of storage."""
    starts = _last_day(moment) - rng.choice((0, 1, 100)) * DAY
    header = earningscall.http_date
    stored = rng.choice((None, "soon", header(moment, near(rng, 1)), header(starts, -2 * DAY), f"{moment:%c}"))
    text: Any = rng.choice((CANARY, 5, None, wreck(rng), {}))
    return Call(2040 + number, 1, starts.isoformat(), text, stored=stored, own_date=rng.choice((None, False)))


def _continues(asked: Sequence[HttpRequest]) -> bool:
    """Return whether the last request is for a further transcript: the first is asked for in every world.

    None is asked for of a call that the list itself dates after the PIT.
    """
    transcripts = [request.query for request in asked if request.path == "/transcript"]
    return asked[-1].path == "/transcript" and len(transcripts) > 1 and int(transcripts[-1]["year"]) not in LATER


def _is_chosen(case: Case, request: HttpRequest) -> bool:
    """Return whether the list of symbols has chosen the exchange, which the words do not name."""
    return "exchange" in request.query and not any("exchange" in word for word in case.words)


REQUESTS = Requests(_continues, is_chosen=_is_chosen)
LAWS: Mapping[str, Callable[[Random], int]] = {
    "ceiling": lambda rng: non_interference(ceiling(rng)),
    "failures": lambda rng: non_interference(failures(rng)),
    "continued": lambda rng: check_continued(continued(rng), rng),
}
