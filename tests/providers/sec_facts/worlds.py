"""Worlds of company facts: later filings that restate, rename and add facts, and rows that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import partial
from random import Random
from typing import Any

from pit_fetch.testing.server import App, Response
from pit_fetch.times import NEW_YORK
from pit_fetch.transport import HttpRequest
from tests.laws.archived import archive, environ
from tests.laws.checks import non_interference
from tests.laws.refusals import Requests
from tests.laws.worlds import PITS, Case, always, common, noise_count, options, run
from tests.loopback.broken import wreck
from tests.providers.sec_facts import companies, server
from tests.providers.sec_facts.server import Reported
from tests.providers.sec_filings.worlds import endpoint, gone
from tests.providers.sec_full_text import hours, lists
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing

_FORMS = ("10-K", "10-Q", "8-K", "10-K/A", "20-F")
_CONCEPTS = (
    *(("us-gaap", "NetIncomeLoss"),) * 3,  # without it, a period is none of the company's own
    ("us-gaap", "Revenues"),
    ("us-gaap", "SalesRevenueNet"),
    ("us-gaap", "Assets"),
    ("ifrs-full", "Assets"),
    ("us-gaap", "NetCashProvidedByUsedInOperatingActivities"),
    ("us-gaap", "EarningsPerShareDiluted"),
)
_PERIODS = (("2023-01-01", "2023-03-31"), ("2023-01-01", "2023-06-30"), ("2023-04-01", "2023-06-30"),
            ("2023-01-01", "2023-09-30"), ("2022-01-01", "2022-12-31"), ("2022-01-01", "2022-03-31"))  # fmt: skip
_SPANS = (*_PERIODS, ("2022-04-01", "2022-12-31"), ("2022-10-01", "2022-12-31"))
_OF_A_YEAR = (("2022-01-01", "2022-12-31"), ("2022-01-01", "2022-09-30"), ("2022-07-01", "2022-12-31"),
              ("2022-07-01", "2022-09-30"))  # fmt: skip
_INSTANTS = ("Assets", "LongTermDebtNoncurrent", "LongTermDebtCurrent", "DebtCurrent", "LongTermDebt", "Liabilities")
_OF_STATEMENTS = (
    *("NetIncomeLoss", "NetIncomeLoss", "Revenues", "SalesRevenueNet", "CostOfRevenue", "GrossProfit"),
    *("DepreciationAndAmortization", "DepreciationAmortizationAndAccretionNet", "PaymentsOfDividends"),
    *_INSTANTS,
)
_OPTIONS: Mapping[str, Sequence[tuple[str, ...]]] = {
    "vintage": [("vintage=first",), ("vintage=all",), ("vintage=latest",)],
    "period": [("period=annual",), ("period=quarter",), ("period=instant",), ("period=ytd",)],
    "unit": [("unit=USD",)],
}
_QUESTIONS: Sequence[tuple[tuple[str, ...], Mapping[str, Sequence[tuple[str, ...]]]]] = (
    (("concept=NetIncomeLoss,assets",), _OPTIONS),
    (("concept=Revenues,us-gaap:SalesRevenueNet",), _OPTIONS),
    (("concepts",), {}),
    *(
        (("statement", f"statement={name}", f"period={period}"), {"vintage": _OPTIONS["vintage"][::2]})
        for name in ("income", "balance", "cashflow")
        for period in ("annual", "quarter", "ttm")
    ),
)


def make(rng: Random, most: int = 4) -> Case:
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    numbers = iter(rng.sample(range(1, 9_999), 60))
    filings = [_public(rng, sec.number(next(numbers)), moment) for _ in range(rng.choice((0, 1, 3, 3, 5)))]
    public = [_reported(rng, filing) for filing in filings for _ in range(rng.choice((1, 4, 9)))]
    public = list({(fact.filing, *_fact(fact)): fact for fact in public}.values())
    true_utc = rng.random() < 0.5
    worlds: list[App] = [server.app(public, true_utc=true_utc)]
    for _ in range(3):
        late = [_late(rng, sec.number(next(numbers)), moment) for _ in range(noise_count(rng) // 2)]
        noise = [_disguised(rng, _reported(rng, filing), public) for filing in late for _ in range(rng.choice((1, 4)))]
        facts = [*public, *noise]
        rng.shuffle(facts)
        raw, recent, today = _raw(rng, moment, noise), rng.choice((1, 2, 1_000)), lists.day_of(moment)
        worlds.append(server.app(facts, raw=raw, others=filings, true_utc=true_utc, recent=recent, public_until=today))
    words, choices = rng.choice(_QUESTIONS)
    who = rng.choice((("cik=320193",), ("symbol=AAPL",), ("cik=CIK0000320193",)))
    return Case(
        source="sec_facts",
        pit=pit,
        words=(*words, *who, *options(rng, {**common(moment, [], rng), **choices}, most)),
        worlds=tuple(worlds),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
        immutable=False,
    )


def undisturbed(rng: Random) -> Case:
    """Make a world whose facts all stay, in every version."""
    case = make(rng, most=0)
    return case._replace(words=("concept=NetIncomeLoss", "vintage=all", "cik=320193", "--limit", "1000"))


def ceiling(rng: Random) -> Case:
    """Make a question under a ceiling: today's tickers differ from world to world."""
    case = make(rng)
    filings = [_public(rng, sec.number(n), case.moment) for n in range(1, 4)]
    facts = [_reported(rng, filing) for filing in filings for _ in range(3)]
    lists: Sequence[Mapping[str, int]] = ({"AAPL": sec.APPLE}, {"AAPL": sec.TESLA}, {})
    who = rng.choice(("symbol=AAPL", "cik=320193"))
    words = (*rng.choice(_QUESTIONS)[0], who)
    worlds = tuple(server.app(facts, tickers=listed) for listed in lists)
    return case._replace(words=words, worlds=worlds, ceiling=case.pit, plain=None)


def failures(rng: Random) -> Case:
    """Make worlds that fail alike, whatever is public in them."""
    case = make(rng)
    late = [_reported(rng, _late(rng, sec.number(9_999), case.moment)) for _ in range(4)]
    broken: Sequence[Response] = (
        sec.BLOCKED,
        sec.MAINTENANCE,
        Response(b"<html></html>"),
        Response(b'{"cik": 320193}'),
    )
    kinds: Sequence[Sequence[App]] = (
        [server.app([]), server.app(late), server.app(late, raw=_raw(rng, case.moment, late))],
        *([always(response)] * 2 for response in broken),
    )
    return case._replace(worlds=tuple(rng.choice(kinds)), plain=None)


def statements(rng: Random) -> int:
    """A statement that changes is as new as what changes it: its item of an earlier instant is what it was then."""
    days = sorted(rng.sample([f"2024-0{month}-1{day}" for month in range(1, 7) for day in (0, 7)], 5))
    filings = [Filing(sec.number(n), rng.choice(_FORMS[:4]), f"{day} 12:00:00") for n, day in enumerate(days, 1)]
    # A fourth quarter can be the year less nine months, or a half less the third quarter.
    concepts, spans = rng.choice(((_OF_STATEMENTS, _SPANS), (("NetIncomeLoss", "Revenues"), _OF_A_YEAR)))
    euros = rng.choice((0, 0.4))
    every = (
        _of_a_statement(rng, rng.choice(filings), rng.choice(concepts), rng.choice(spans), euros)
        for _ in range(rng.choice((20, 60)))
    )
    facts = list({(fact.filing, *_fact(fact)): fact for fact in every}.values())
    words = ["statement", f"statement={rng.choice(('income', 'balance', 'cashflow'))}", "--limit", "1000"]
    words += [f"period={rng.choice(('annual', 'quarter', 'ttm'))}", f"vintage={rng.choice(('latest', 'first'))}"]
    # Of a cash flow, another period can have had its figures first.
    is_shown = "statement=cashflow" not in words
    profits = [
        (fact.filing.day, fact.start, fact.end) for fact in facts if is_shown and fact.concept == "NetIncomeLoss"
    ]
    return len([*_on_each_day(server.app(facts), words, days, profits)])


def _on_each_day(
    app: App, words: Sequence[str], days: Sequence[str], profits: Sequence[tuple[str, str, str]] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Yield the items of each day, which are those of the day before where the day's filing has not changed them.

    ``profits`` are the days on which there was a profit of a period. One without it can lose its place to one that is
    the company's own. None if all have one.
    """
    case = Case("sec_facts", PITS[0], (*words, "cik=320193"), (app,))
    before: dict[str, Any] = {}
    for day in days:
        public = datetime.fromisoformat(f"{day} 13:00:00").replace(tzinfo=NEW_YORK).isoformat()
        answer = run(case, app, pit=public)
        assert "upstream_error" not in answer.gap_types
        now = {item["id"]: item for item in answer.data}
        assert before.keys() <= now.keys(), "an item is gone"
        assert len({item["period_end"] for item in now.values()}) == len(now), "two items are of one end"
        for name, item in now.items():
            assert item["available_at"] == public or item == before.get(name), "an item is older than what changed it"
            old = before.get(name, item)
            own = None if profits is None else {(start, end) for at, start, end in profits if at < day}
            if own is None or (old["period_start"], old["period_end"]) in own:
                assert item["period_start"] == old["period_start"], "a period begins on another day"
            _check_kept(old, item, "vintage=first" in words)
        before = now
        yield [*now.values()]


def _check_kept(before: Mapping[str, Any], now: Mapping[str, Any], is_first: bool) -> None:
    """No figure of a period goes without a reason. What was first reported stays."""
    if (now["currency"], now["period_start"]) != (before["currency"], before["period_start"]):  # that of most figures
        return
    known = {cell for cell, value in before.items() if value is not None}
    assert all(now[cell] is not None or cell in now["omitted"] for cell in known), "a figure is gone"
    reported = [item["sources"].keys() - {*item["derived"]} for item in (before, now)]
    first = reported[0] & reported[1] if is_first else ()
    assert all((before[cell], before["sources"][cell]) == (now[cell], now["sources"][cell]) for cell in first)


def renamed(rng: Random) -> int:
    """A restatement under another name of a line counts as one under its own.

    What is computed of figures under several names is what it would be if all of them were under one.
    """
    filings = [Filing(sec.number(n), "10-Q", f"2024-0{n}-10 12:00:00") for n in range(1, 6)]
    spans = (*_SPANS, ("2022-01-01", "2022-09-30"))
    figures = {
        (filing, span): 100 * place + (rng.random() < 0.1)
        for place, span in enumerate(spans, 1)
        for filing in rng.sample(filings, rng.choice((1, 2, 3)))
    }
    names = rng.sample(("Revenues", "SalesRevenueNet", "SalesRevenueGoodsNet"), 2)
    every = [
        Reported(filing, rng.choice(names), end, value, start) for (filing, (start, end)), value in figures.items()
    ]
    anchors = [Reported(replace(filings[0], form="10-K"), "NetIncomeLoss", end, 1, start) for start, end in spans]
    words = ("statement", f"period={rng.choice(('quarter', 'ttm'))}", "cik=320193", "--limit", "1000")
    app, alike = (
        server.app([*anchors, *facts]) for facts in (every, [fact._replace(concept=names[0]) for fact in every])
    )
    case = Case("sec_facts", PITS[0], words, (app,))
    for filing in filings:
        public = filing.accepted_instant + hours.HOUR
        expected = {item["id"]: item["revenue"] for item in run(case, alike, pit=public.isoformat()).data}
        for item in run(case, app, pit=public.isoformat()).data:
            assert item["revenue"] in (None, expected[item["id"]]), "a restatement under another name is not seen"
    return len(filings)


def unreadable(rng: Random) -> int:
    """No other version takes the place of one whose value cannot be read: the fact is left out, and a gap says so."""
    case = make(rng, most=0)
    filings = [_public(rng, sec.number(n), case.moment) for n in range(1, 4)]
    reported = (_reported(rng, filing) for filing in filings for _ in range(5))
    facts = [*{(fact.filing, *_fact(fact)): fact for fact in reported if fact.taxonomy == "us-gaap"}.values()]
    if not facts:
        return 0
    lost = rng.choice(facts)
    value: Any = rng.choice((None, "7", int("9" * 400), [], {"val": 5}))
    spoilt = [fact._replace(value=value) if fact is lost else fact for fact in facts]
    words = (f"concept={lost.concept}", rng.choice(("vintage=first", "vintage=all", "vintage=latest")))
    case = case._replace(words=(*words, "cik=320193", "--limit", "1000", "--max-chars", "0"), terminal=False)
    whole, left = (run(case, server.app(every)) for every in (facts, spoilt))
    name = f"{sec.APPLE:010d}:{lost.taxonomy}:{lost.concept}:{lost.unit}:{lost.start}:{lost.end}"
    assert left.data == [item for item in whole.data if not item["id"].startswith(name)], "an older version is served"
    assert "upstream_error" in left.gap_types
    return 1


def undatable(rng: Random) -> int:
    """No older version takes the place of one that nothing dates any more, from a month after its filing date."""
    case = make(rng, most=0)
    case = case._replace(words=("concept=Revenues", "vintage=all", "cik=320193", "--max-chars", "0"), terminal=False)
    ages = sorted(rng.sample((3, 10, 29, 34, 50, 200, 400, 900), 3))
    days = [hours.weekday(case.moment.date() - age * hours.DAY) for age in ages]
    filings = [
        Filing(f"0001193125-{day:%y}-{n:06d}", rng.choice(_FORMS), f"{day} 12:00:00") for n, day in enumerate(days)
    ]
    facts = [Reported(filing, "Revenues", "2020-12-31", n, "2020-01-01") for n, filing in enumerate(filings)]
    lost, apps = rng.choice(facts), [server.app(facts, recent=1)]
    apps.append(gone(lists.without_older_files(apps[0], rng), {lost.filing.accession}, sec.MISSING))
    whole, left = (run(case, app) for app in apps)
    age = case.moment.date() - date.fromisoformat(lost.filing.day)
    is_listed, is_told = lost is facts[0], lost is not facts[0] and age > timedelta(days=32)
    expected = [] if is_told else [fact.value for fact in facts if is_listed or fact is not lost]
    assert [item["value"] for item in whole.data] == [0, 1, 2]
    assert [item["value"] for item in left.data] == expected, "an older version is served"
    assert ("upstream_error" in left.gap_types) is is_told
    return 1


def rounded(rng: Random) -> int:
    """Some amounts are rounded, as notes round. What is computed is what the exact ones make, or is left out."""
    published = [f"2024-03-0{place} 12:00:00" for place in (4, 5, 6, 7)]
    filings = [Filing(sec.number(place), "10-K", at) for place, at in enumerate(published, 1)]
    days = [f"{year}-{day}" for year in (2022, 2023) for day in ("03-31", "06-30", "09-30", "12-31")]
    by_end = {end: 1_000_000 * (10 * rng.randrange(100, 999) + 3) for end in days}  # no sum of four ends on a zero
    if rng.random() < 0.5:  # but this one, which its quarters prove
        by_end["2022-06-30"] = 10_000_000_000 - by_end["2022-03-31"]
    ends = {"03-31": "01-01", "06-30": "04-01", "09-30": "07-01", "12-31": "10-01"}
    exact = {
        (f"{year}-{begin}", f"{year}-{end}"): sum(
            by_end[day] for day in days if f"{year}-{begin}" <= day <= f"{year}-{end}"
        )
        for year in (2022, 2023)
        for end, quarter in ends.items()
        for begin in {quarter, "01-01"}
    }
    facts = [Reported(filings[0], "NetIncomeLoss", end, 1, start) for start, end in exact]
    for (start, end), amount in exact.items():
        of_a_note = round(amount, -9)
        if rng.random() < 0.7:
            is_long = start == "2022-01-01" and end != "2022-03-31"  # something in each sum is exact
            value = of_a_note if is_long and of_a_note and rng.random() < 0.3 else amount
            facts.append(Reported(rng.choice(filings), "PaymentsOfDividends", end, value, start))
    words = ("statement", "statement=cashflow", "period=ttm", "--limit", "1000")
    answers = _on_each_day(server.app(facts), words, [at[:10] for at in published])
    for item in (item for items in answers for item in items):
        months = [by_end[day] for day in days if item["period_start"] <= day <= item["period_end"]]
        # Quarters of millions make a sum that is off by some of them.
        is_exact = abs((item["dividends_paid"] or sum(months)) - sum(months)) < 10_000_000
        assert is_exact or "dividends_paid" not in item["derived"], "an amount of a note is in the sum"
    return len(published)


def asked_in_any_order(rng: Random) -> int:
    """An archive answers as of an instant that it was asked for as the source does, whatever else it was asked for.

    It can know a better hour of a filing than the list, which is all that the source goes by once its days are over.
    What came in an evening under its day's date counts from five days later then, so its order can be another one.
    """
    moment, is_timely = datetime.fromisoformat(rng.choice(PITS)), rng.random() < 0.5
    filings = [
        _of_its_day(rng, sec.number(number), moment)
        if is_timely or rng.random() < 0.5
        else _late(rng, sec.number(number), moment)
        for number in range(1, 5)
    ]
    facts = [
        Reported(filing, "NetIncomeLoss", end, number, start)
        for number, filing in enumerate(filings)
        for start, end in _PERIODS[:2]
    ]
    app, vintage = server.app(facts, true_utc=rng.random() < 0.5), "latest" if is_timely else "all"
    case = Case("sec_facts", moment.isoformat(), ("concept=NetIncomeLoss", f"vintage={vintage}", "cik=320193"), (app,))
    now = moment + 90 * hours.DAY
    pits = [_around(rng, rng.choice(filings)).isoformat() for _ in range(rng.choice((2, 3)))]
    expected = run(case, app, pit=pits[0], now=now)
    with archive() as path:
        environment = environ(path)
        for minutes, pit in enumerate(rng.sample(pits, len(pits))):
            run(case, app, pit=pit, now=now + timedelta(minutes=minutes), environ=environment)
        ask = partial(run, case, app, pit=pits[0], now=now + hours.HOUR, environ=environment)
        offline, online = ask(words=(*case.words, "--offline")), ask()
    for left in (offline, online):
        assert {*left.ids} == {*expected.ids}, "another question changes what is there"
        assert not is_timely or _without_stamps(left.data) == _without_stamps(expected.data), "it changes the order"
    return 1


def _of_its_day(rng: Random, accession: str, moment: datetime) -> Filing:
    """Return a filing of an hour of business, of a day near that of ``moment``."""
    day = hours.weekday(moment.astimezone(NEW_YORK).date() + rng.randrange(-2, 3) * hours.DAY)
    return Filing(accession, rng.choice(_FORMS), f"{day} {rng.choice((10, 12, 14, 16))}:30:{rng.randrange(10, 60)}")


def _around(rng: Random, filing: Filing) -> datetime:
    """Return an instant some hours before the acceptance of a filing, or hours or days after it."""
    accepted = datetime.fromisoformat(filing.accepted).replace(tzinfo=NEW_YORK)
    return accepted + rng.choice((-3, -1, 2, 6, 24, 72, 96, 150)) * hours.HOUR


def _without_stamps(items: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in item.items() if name != "available_at"} for item in items]


def _of_a_statement(rng: Random, filing: Filing, concept: str, span: tuple[str, str], euros: float) -> Reported:
    """Return a fact of few values, so that some agree, of a period or of its end, perhaps typed a few days off."""
    start, end = map(date.fromisoformat, span)
    if rng.random() < 0.1:  # typed a day off, or the last one of another week
        end -= rng.choice((1, 6)) * hours.DAY
    if rng.random() < 0.1:
        start += rng.choice((1, -1, 3)) * hours.DAY
    is_instant, unit = concept in _INSTANTS, "EUR" if rng.random() < euros else "USD"
    return Reported(filing, concept, f"{end}", rng.choice((5, 5, 6)), "" if is_instant else f"{start}", unit)


def _fact(fact: Reported) -> tuple[str, ...]:
    return (fact.taxonomy, fact.concept, fact.unit, fact.start, fact.end)


def _public(rng: Random, accession: str, moment: datetime) -> Filing:
    """Return a filing of an hour of business, at least two days old, or of the PIT's own day, some hours before it."""
    accepted = hours.in_business(rng, moment)
    return Filing(accession, rng.choice(_FORMS), f"{accepted:%Y-%m-%d %H:%M:%S}")


def _late(rng: Random, accession: str, moment: datetime) -> Filing:
    """Return a filing accepted after the PIT, perhaps within the hours by which a submissions file can be wrong.

    Or one of an evening before, whose date is that of its day: it may have been moved back.
    """
    evening = hours.late(rng, moment)
    if evening < moment and rng.random() < 0.2:
        return Filing(accession, rng.choice(_FORMS), f"{evening:%Y-%m-%d %H:%M:%S}")
    accepted, day = hours.after(rng, moment)
    return Filing(accession, rng.choice((*_FORMS, "DEF 14A")), f"{accepted:%Y-%m-%d %H:%M:%S}", filed=day.isoformat())


def _reported(rng: Random, filing: Filing) -> Reported:
    taxonomy, concept = rng.choice(_CONCEPTS)
    start, end = rng.choice(_PERIODS)
    unit = "USD/shares" if concept.startswith("EarningsPer") else "USD"
    return Reported(
        filing, concept, end, rng.choice((1, 2, 10.5, 96_995)), "" if concept == "Assets" else start, unit, taxonomy
    )


def _disguised(rng: Random, fact: Reported, public: Sequence[Reported]) -> Reported:
    """Return a late fact, often as another version of a public one: under its own name or a synonym."""
    if not public or rng.random() < 0.4:
        return fact._replace(unit=rng.choice((fact.unit, "EUR")))
    twin = rng.choice(public)
    value = rng.choice((twin.value, 123_456_789))
    synonym = {"Revenues": "SalesRevenueNet", "SalesRevenueNet": "Revenues"}.get(twin.concept, twin.concept)
    return twin._replace(filing=fact.filing, value=value, concept=rng.choice((twin.concept, synonym)))


def _raw(rng: Random, moment: datetime, late: Sequence[Reported]) -> list[Any]:
    """Return rows that cannot be read, or whose release nothing shows."""
    filing = Filing(sec.number(77), "10-K", "", filed=(moment + hours.DAY).date().isoformat())
    good = server.row(late[0] if late else Reported(filing, "Assets", "2023-12-31", 123_456_789))
    rows: list[Any] = [
        {**good, "val": rng.choice((None, "5", True, [], wreck(rng)))},
        {**good, "end": rng.choice((None, "2023", 5, "2023-02-30"))},
        {**good, "accn": rng.choice((None, "", 5, "0000320193"))},
        {**good, "filed": rng.choice((None, "", 20240215))},
        {**good, "start": "soon"},
        {**good, "form": None},
        {**good, "accn": sec.number(99_999)},
        rng.choice((None, "row", [good], {}, 5)),
    ]
    return rng.sample(rows, rng.choice((0, 1, 3)))


def _continues(asked: Sequence[HttpRequest]) -> bool:
    """Return whether the last request is for evidence of one filing, or for a file of older ones."""
    path = asked[-1].path
    return path.startswith("/Archives/") or lists.is_cut_off(path)


REQUESTS = Requests(_continues, endpoint)
LAWS: Mapping[str, Callable[[Random], int]] = {
    "ceiling": lambda rng: non_interference(ceiling(rng)),
    "failures": lambda rng: non_interference(failures(rng)),
    "dated by all that shows it": statements,
    "renamed": renamed,
    "rounded": rounded,
    "unreadable": unreadable,
    "undatable": undatable,
    "asked in any order": asked_in_any_order,
    **companies.LAWS,
    "later files": lambda rng: non_interference(lists.without_later_files(make(rng, most=1), rng)),
}
