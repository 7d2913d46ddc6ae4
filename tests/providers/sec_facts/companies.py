"""Companies as records of facts, without a server: thousands in a minute, whose periods and names are in disorder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from random import Random
from typing import NamedTuple

from pit_fetch_providers.sec_facts.facts import Vintage, fact_id
from pit_fetch_providers.sec_facts.lines import ANCHORS, LINES, STATEMENTS, Statement, concepts
from pit_fetch_providers.sec_facts.periods import CADENCES, Cadence
from pit_fetch_providers.sec_facts.statements import statements

from pit_fetch.provider import Record

DAY = timedelta(days=1)
_COMPANY = "0000000001"
_VINTAGES: Sequence[Vintage] = ("latest", "first")
_FORMS = ("10-K", "10-Q", "10-Q", "10-K/A", "8-K", "20-F")
_ENDS = tuple(date(year, month, 31 if month in (3, 12) else 30) for year in (2020, 2021) for month in (3, 6, 9, 12))
# By the place of the end and the number of quarters. Few of them have many versions.
_SPANS = [(end, quarters) for end in range(8) for quarters in (1, 1, 2, 3, 4)]
_YEAR_AND_SINCE, _LESS_A_PART = ((3, 4), (4, 1), (0, 1), (7, 4)), ((3, 4), (2, 3), (1, 2), (3, 1))
_PARTS = [(date(2020, 1, 1), end) for end in (date(2020, 6, 30), date(2020, 9, 30), date(2020, 12, 31))]
_FLOWS = ("us-gaap:NetIncomeLoss", "us-gaap:Revenues", "us-gaap:PaymentsOfDividends")
_SHARES = "WeightedAverageNumberOfDilutedSharesOutstanding"
_OTHER_SALES = "us-gaap:RevenueFromContractWithCustomerExcludingAssessedTax"
_FIRST = (date(2020, 1, 1), date(2019, 10, 1))  # where a period begins that began before the first end
# What stands beside, in place of, or as a part of one another.
_RELATED: Mapping[Statement, Sequence[Sequence[str]]] = {
    "income": (
        ("us-gaap:Revenues", "us-gaap:SalesRevenueNet", "us-gaap:SalesRevenueGoodsNet"),
        ("us-gaap:Revenues", "us-gaap:CostOfRevenue", "us-gaap:GrossProfit", "ifrs-full:GrossProfit"),
        ("us-gaap:EarningsPerShareBasic", "us-gaap:EarningsPerShareBasicAndDiluted", "us-gaap:Revenues"),
    ),
    "balance": (
        ("us-gaap:LongTermDebt", "us-gaap:LongTermDebtNoncurrent", "us-gaap:DebtCurrent", "us-gaap:BankOverdrafts"),
        ("us-gaap:LongTermDebt", "us-gaap:Liabilities", "us-gaap:LiabilitiesCurrent"),
        ("us-gaap:LongTermDebtNoncurrent", "us-gaap:LongTermDebtCurrent", "us-gaap:ShortTermBorrowings"),
    ),
    "cashflow": (
        ("us-gaap:PaymentsOfDividends", "us-gaap:PaymentsOfDividendsCommonStock"),
        ("us-gaap:DepreciationAndAmortization", "us-gaap:DepreciationAmortizationAndAccretionNet"),
        ("us-gaap:NetCashProvidedByUsedInOperatingActivities", "us-gaap:PaymentsToAcquireProductiveAssets"),
    ),
}  # fmt: skip
_VALUES: Sequence[Sequence[float]] = (
    range(1, 60),
    (5, 5, 6),
    (0, 5, 10),
    (0, 5, 5000, 7, 1234, 1_000_000, 12.5),
    (2000, 3000, 2345, 5000, 10_000),
)
# The weeks of the quarters of a year that ends with a week.
_CALENDARS = ((13, 13, 13, 13), (12, 12, 12, 16), (16, 12, 12, 12))
_LENGTHS: Sequence[tuple[Cadence, int]] = (("quarter", 1), ("ttm", 4))  # in quarters
_BY_QUARTERS = frozenset({"rounded", "contradicted"})
_PROFITS = (("us-gaap:NetIncomeLoss",), ("us-gaap:NetIncomeLoss", "us-gaap:ProfitLoss", "us-gaap:Revenues"))


class _Filing(NamedTuple):
    number: int
    form: str
    day: date

    def fact(self, concept: str, start: date | None, end: date, value: float | None, unit: str = "USD") -> Record:
        taxonomy, _, name = concept.partition(":")
        accession = f"{_COMPANY}-{self.day:%y}-{self.number:06d}"
        payload = {
            "taxonomy": taxonomy,
            "concept": name,
            "unit": unit,
            "start": None if start is None else f"{start}",
            "end": f"{end}",
            "value": value,
            "form": self.form,
            "accession": accession,
        }
        fact = f"{_COMPANY}:{concept}:{unit}:{start or ''}:{end}"
        return Record(f"{fact}:{accession}", _at(self.day), payload, available_at_source="edgar_accepted")


def _at(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 22, tzinfo=UTC)


def stamped(rng: Random) -> int:
    """An item that is older than the PIT is what was answered at its instant, and ever since. None is gone.

    And one that stays what it was keeps its stamp, of companies whose filings are in order.
    """
    for statement in STATEMENTS:
        _check_instants(_disorderly(rng, statement), statement)
    for _ in range(4):
        _check_instants(_renamed(rng), "income")
        _check_instants(_retyped(rng), "income")
    for company in (_of_long_quarters(rng), _restated(rng)):
        _check_instants(company, "income", keeps_stamps=True)
    return len(STATEMENTS)


def _check_instants(records: Sequence[Record], statement: Statement, *, keeps_stamps: bool = False) -> None:
    instants = sorted({record.available_at for record in records if record.available_at is not None})
    for cadence in CADENCES:
        for vintage in _VINTAGES:
            answers = [_answer(_until(records, at), statement, cadence, vintage) for at in instants]
            for at, before, now in zip(instants[1:], answers, answers[1:], strict=False):
                assert before.keys() <= now.keys(), "an item is gone"
                changed = [item for name, item in now.items() if item != before.get(name)]
                assert all(item.available_at == at for item in changed), "an item is older than what changed it"
                same = [name for name, item in before.items() if item.payload == now[name].payload]
                is_kept = all(now[name].available_at == before[name].available_at for name in same)
                assert is_kept or not keeps_stamps, "an item is stamped anew"


def noted(rng: Random) -> int:
    """What notes tell of other days changes no item of the company's own periods, whichever report they are in."""
    statement: Statement = rng.choice(("income", "cashflow"))
    reported = list(_orderly(_begins(rng)))
    filings = sorted({filing for filing, _, _ in reported})
    own = {(start, end) for _, start, end in reported}
    facts = [fact for filing, start, end in reported for fact in _flows(rng, filing, start, end)]
    notes = []
    for _ in range(rng.choice((1, 3, 9))):
        (start, end), filing, typed = (
            rng.choice(sorted(own)),
            rng.choice(filings),
            rng.choice((-7, -3, -1, 1, 2, 6)) * DAY,
        )
        start, end = (start + typed, end) if rng.random() < 0.3 else (start, end + typed)
        if (start, end) not in own and end < filing.day:
            notes += [
                filing.fact(flow, start, end, rng.randrange(10**6)) for flow in rng.choice((_FLOWS[1:], _FLOWS[2:]))
            ]
    notes = [*{fact_id(note): note for note in notes}.values()]
    for cadence in CADENCES:
        for vintage in _VINTAGES:
            for at in rng.sample(sorted({filing.day for filing in filings}), 3):
                alone, beside = (
                    _answer(_until(every, _at(at)), statement, cadence, vintage) for every in (facts, [*facts, *notes])
                )
                assert alone == {name: beside.get(name) for name in alone}, "a note changes a statement"
    return len(notes)


def mistyped(rng: Random) -> int:
    """A filing that types the days of a profit off changes no figure, whatever is restated before that is proved."""
    statement: Statement = rng.choice(("income", "cashflow"))
    flows = rng.sample(sorted({line.concepts[0] for line in LINES[statement]} - {*ANCHORS}), 3)
    restating, seen = rng.choice((3, 6, 9, 99)), set[tuple[date, date]]()
    right, wrong = list[Record](), list[Record]()
    for filing, start, end in _orderly(_begins(rng)):
        days = start, end
        if days not in seen and rng.random() < 0.4:
            days = rng.choice(((start, _off(rng, end, 2)), (_off(rng, start, 2), end)))
        seen.add((start, end))
        for concept in (_FLOWS[0], *flows):
            is_restated = concept in flows and filing.number >= restating
            value = _of_the_days(concept, start, end) + is_restated * 12_345
            right.append(filing.fact(concept, start, end, value))
            wrong.append(filing.fact(concept, *(days if concept == _FLOWS[0] else (start, end)), value))
    for cadence in CADENCES:
        for vintage in _VINTAGES:
            for day in rng.sample(sorted({record.available_at for record in right if record.available_at}), 3):
                expected, items = (
                    _answer(_until(every, day), statement, cadence, vintage).values() for every in (right, wrong)
                )
                for item in items:
                    _check_figures(item, [other for other in expected if _is_of_the_same_days(item, other)])
    return len(right)


def _of_the_days(concept: str, start: date, end: date) -> int:
    """Return an amount that is the sum of its days."""
    until = [Random(f"{concept} {day}").randrange(10**5) + 500 * day.toordinal() for day in (start - DAY, end)]
    return until[1] - until[0]


def _is_of_the_same_days(one: Record, other: Record) -> bool:
    days = ([date.fromisoformat(item.payload[f"period_{name}"]) for item in (one, other)] for name in ("start", "end"))
    return all(abs(first - second) < 7 * DAY for first, second in days)


def _check_figures(item: Record, expected: Sequence[Record]) -> None:
    for name in item.payload["sources"]:
        # The quarters that show whether a figure is rounded, or of another basis, are found by their days.
        if _BY_QUARTERS.isdisjoint(other.payload["omitted"].get(name) for other in expected):
            assert item.payload[name] in [other.payload[name] for other in expected], "typed-off days change a figure"


def complete(rng: Random) -> int:
    """Every quarter and twelve months of a company that types its days right are there, as soon as they are public."""
    begins, flow = _begins(rng), "us-gaap:NetCashProvidedByUsedInOperatingActivities"
    facts, years = list[Record](), {begins[0], begins[4], begins[8]}
    for filing, start, end in _orderly(begins):
        facts.append(filing.fact(_FLOWS[0], start, end, _of_the_days(_FLOWS[0], start, end)))
        facts += [filing.fact(flow, start, end, _of_the_days(flow, start, end))] * (start in years)
    place, vintage = rng.randrange(3, 13), rng.choice(_VINTAGES)  # one quarter does not tell of 12 weeks in others
    public = _until(facts, _at(begins[place] + 40 * DAY))
    lines: Sequence[tuple[Statement, str, str]] = (
        ("income", "net_income", _FLOWS[0]), ("cashflow", "operating_cash_flow", flow)
    )  # fmt: skip
    checked = 0
    for statement, name, concept in lines:
        for cadence, quarters in _LENGTHS:
            items = _answer(public, statement, cadence, vintage)
            for last in range(quarters, place + 1):
                days = begins[last - quarters], begins[last] - DAY
                item = items.get(f"{_COMPANY}:{statement}:{cadence}:{days[1]}")
                assert item is not None, "a period is missing"
                if item.payload["omitted"].get(name) != "rounded":
                    assert item.payload[name] == _of_the_days(concept, *days), "a figure of a period is another one"
                    checked += 1
    return checked


def one_basis(rng: Random) -> int:
    """No figure is made of a quarter that sums have with another amount from some report on, but none restates."""
    begins = _begins(rng)
    first, since = rng.choice(((0, 2), (0, 3), (1, 3), (4, 6), (4, 7), (5, 7)))
    quarter, change = (begins[first], begins[first + 1] - DAY), rng.choice((-1, 1)) * rng.randrange(5_000, 90_000)
    facts = list[Record]()
    for filing, start, end in _orderly(begins):
        is_sum = start <= quarter[0] and quarter[1] <= end and (start, end) != quarter
        facts.append(filing.fact(_FLOWS[0], start, end, _of_the_days(_FLOWS[0], start, end)))
        facts.append(
            filing.fact(
                _FLOWS[1],
                start,
                end,
                _of_the_days(_FLOWS[1], start, end) + change * (is_sum and filing.number >= since),
            )
        )
    for cadence in CADENCES:
        for item in _answer(facts, "income", cadence, rng.choice(_VINTAGES)).values():
            start, end = (date.fromisoformat(item.payload[name]) for name in ("period_start", "period_end"))
            amount = _of_the_days(_FLOWS[1], start, end)
            changed = [amount + change] if start <= quarter[0] and quarter[1] <= end else []
            assert item.payload["revenue"] in (None, amount, *changed), "a sum is of two bases"
    return 1


def named(rng: Random) -> int:
    """Nothing is contradicted of a line whose periods add up under one name, whatever filings have under another."""
    facts = list[Record]()
    for filing, start, end in _orderly(_begins(rng)):
        names = _FLOWS[:2] if rng.random() < 0.7 else (*_FLOWS[:2], _OTHER_SALES)
        facts += [filing.fact(name, start, end, _of_the_days(name, start, end)) for name in names]
    for cadence in CADENCES:
        for item in _answer(facts, "income", cadence, rng.choice(_VINTAGES)).values():
            assert "contradicted" not in item.payload["omitted"].values(), "names of two measures are added"
    return 1


def over(rng: Random) -> int:
    """What filings report of periods that had not ended changes nothing: no item, and no figure."""
    statement: Statement = rng.choice(("income", "cashflow"))
    reported = list(_orderly(_begins(rng)))
    facts = [fact for filing, start, end in reported for fact in _flows(rng, filing, start, end)]
    early = list[Record]()
    for filing, start, end in rng.sample(reported, 5):
        days = (start + 364 * DAY, end + 364 * DAY)
        if days[1] > filing.day:
            early += _flows(rng, filing, *days)
    for cadence in CADENCES:
        for vintage in _VINTAGES:
            at = rng.choice(reported)[0].day
            alone, beside = (
                _answer(_until(every, _at(at)), statement, cadence, vintage) for every in (facts, [*early, *facts])
            )
            assert alone == beside, "a period that had not ended is reported"
    return len(early)


def _answer(records: Iterable[Record], statement: Statement, cadence: Cadence, vintage: Vintage) -> dict[str, Record]:
    wanted = concepts(statement)
    public = [made for made in records if f"{made.payload['taxonomy']}:{made.payload['concept']}" in wanted]
    return {item.id: item for item in statements(public, statement, cadence, vintage, _COMPANY)}


def _until(records: Iterable[Record], at: datetime | None) -> list[Record]:
    return [record for record in records if record.available_at and at and record.available_at <= at]


def _disorderly(rng: Random, statement: Statement) -> list[Record]:
    """Return facts of few names and values, of periods whose days are often typed off, in one currency or several."""
    chosen = [*rng.choice(_RELATED[statement]), *rng.choice(_PROFITS)]
    if rng.random() < 0.3:
        chosen = [*rng.sample(sorted(concepts(statement)), 4), *rng.sample(ANCHORS, 2), "us-gaap:NetIncomeLoss"]
    values, units = rng.choice(_VALUES), rng.choice((("USD",), ("USD",), ("USD", "EUR"), ("USD", "EUR", "GBP")))
    spans = rng.choice((_YEAR_AND_SINCE, _LESS_A_PART, rng.sample(_SPANS, 3), rng.sample(_SPANS, 30)))
    is_off, is_unread, records = rng.choice((0, 0.2, 0.5)), rng.choice((0, 0, 0, 0.1)), dict[str, Record]()
    for filing in _filings(rng):
        for _ in range(rng.randint(2, 25)):
            concept, (place, quarters) = rng.choice(chosen), rng.choice(spans)
            if _ENDS[place] >= filing.day:
                continue
            first = _ENDS[place - quarters] + DAY if place >= quarters else _FIRST[min(quarters - place - 1, 1)]
            start, end = (_off(rng, day, is_off) for day in (first, _ENDS[place]))
            is_instant = statement == "balance" and concept not in ANCHORS
            unit = _unit(statement, concept, rng.choice(units))
            value = None if rng.random() < is_unread else rng.choice(values)
            fact = filing.fact(concept, None if is_instant else start, end, value, unit)
            records.setdefault(fact.id, fact)
    return list(records.values())


def _renamed(rng: Random) -> list[Record]:
    """Return a year and parts of it whose revenue a few filings report, under several names, and at times recast."""
    filings = [_Filing(number, "10-K", date(2021, number, 9)) for number in range(1, 6)]
    facts = [filings[0].fact("us-gaap:NetIncomeLoss", start, end, 21) for start, end in _PARTS]
    for _ in range(rng.randint(4, 10)):
        place = rng.choice((0, 0, 1, 2))
        name, value = rng.choice(_RELATED["income"][0]), (350, 600, 800)[place] + rng.choice((0, 0, 40))
        facts.append(rng.choice(filings).fact(name, *_PARTS[place], value))
    return list({fact.id: fact for fact in facts}.values())


def _retyped(rng: Random) -> list[Record]:
    """Return a year, and parts of it, whose profit a few filings report, and whose days they type off."""
    filings = [_Filing(number, "10-K", date(2021, number, 9)) for number in range(1, 5)]
    facts, last = list[Record](), rng.choice((1, 8))  # what the year less its first nine months is, or another amount
    for _ in range(rng.randint(4, 8)):
        place = rng.choice((0, 1, 2, 3, 3))
        start, end = (*_PARTS, (date(2020, 10, 1), date(2020, 12, 31)))[place]
        start, end = (_off(rng, start, 0.8), end) if place == 3 else (start, _off(rng, end, 0.3 * (place < 2)))
        facts.append(rng.choice(filings).fact(rng.choice(_FLOWS[:2]), start, end, (5, 6, 7, last)[place]))
    return list({fact.id: fact for fact in facts}.values())


def _of_long_quarters(rng: Random) -> list[Record]:
    """Return the profits of a company that has quarters of 12 and 16 weeks, of which it reports some later."""
    begins = [date(2020, 1, 5) + 7 * weeks * DAY for weeks in (0, 16, 28, 40, 52, 68, 80)]
    periods = [*pairwise(begins), *((begins[0], end) for end in begins[2:5])]
    return [
        _Filing(number, "10-K", begins[-1] + number * DAY).fact(_FLOWS[0], start, end - DAY, 10 * (end - start).days)
        for number, (start, end) in enumerate(rng.sample(periods, 6))
    ]


def _restated(rng: Random) -> list[Record]:
    """Return the profits of a company, and its shares and sales, which are other ones since some report."""
    since = {"NetIncomeLoss": 99, "Revenues": rng.randrange(2, 13), _SHARES: rng.randrange(2, 13)}
    return [
        filing.fact(
            f"us-gaap:{name}",
            start,
            end,
            (end - start).days * (7 if filing.number < anew else 9),
            "shares" if name == _SHARES else "USD",
        )
        for filing, start, end in _orderly(_begins(rng))
        for name, anew in since.items()
    ]


def _filings(rng: Random) -> Iterator[_Filing]:
    """Yield some filings, at times two of one instant."""
    for number, days in enumerate(sorted(rng.sample(range(900), rng.randint(3, 9)))):
        for twin in range(rng.choice((1, 1, 1, 2))):
            yield _Filing(10 * number + twin, rng.choice(_FORMS), date(2020, 4, 1) + days * DAY)


def _off(rng: Random, day: date, share: float) -> date:
    return day + rng.choice((-3, -1, 1, 2, 6)) * DAY if rng.random() < share / 2 else day


def _unit(statement: Statement, concept: str, currency: str) -> str:
    measure = next((line.measure for line in LINES[statement] if concept in line.concepts), "amount")
    return {"amount": currency, "per_share": f"{currency}/shares", "average": "shares"}[measure]


def _begins(rng: Random) -> list[date]:
    """Return where the quarters of three years begin, and the one after them."""
    if rng.random() < 0.5:  # by months, with a leap year
        return [date(year, month, 1) for year in (2022, 2023, 2024) for month in (1, 4, 7, 10)] + [date(2025, 1, 1)]
    calendar = rng.choice(_CALENDARS)
    weeks = [calendar[place % 4] + (place % 4 == 3 and rng.random() < 0.25) for place in range(13)]
    return [date(2020, 1, 5) + 7 * sum(weeks[:place]) * DAY for place in range(13)]


def _orderly(begins: Sequence[date]) -> Iterator[tuple[_Filing, date, date]]:
    """Yield the periods that the reports of some years have: quarters, years so far, and those of the year before."""
    for place in range(1, 13):
        filing = _Filing(place, "10-Q" if place % 4 else "10-K", begins[place] + 40 * DAY)
        for end in (place, place - 4)[: 2 if place > 4 else 1]:
            year = (end - 1) // 4 * 4
            for start in {end - 1, year} if end % 4 else {year}:
                yield filing, begins[start], begins[end] - DAY


def _flows(rng: Random, filing: _Filing, start: date, end: date) -> Iterator[Record]:
    """Yield what is reported of a period: of the same days, always the same, and some of it rounded."""
    of_days = Random(f"{start} {end}")
    for concept in _FLOWS:
        yield filing.fact(concept, start, end, of_days.randrange(10**3) * of_days.choice((1, 1, 997, 1000, 997_000)))


LAWS: Mapping[str, Callable[[Random], int]] = {
    "stamped": stamped,
    "noted": noted,
    "mistyped": mistyped,
    "complete": complete,
    "over": over,
    "one basis": one_basis,
    "named": named,
}
