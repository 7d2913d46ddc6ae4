"""Generated graphs of the schema that the patterns read: what was public at a PIT, and worlds that hold more.

The worlds of one case agree on what was public. They differ in everything else: later records, edited ones,
ones that nothing dates, returns, company profiles, and the order in which everything was inserted.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch_providers.alphavantage.bars import EVENING
from pit_fetch_providers.earningscall.calls import noon_after
from pit_fetch_providers.edgar import acceptance

NEW_YORK = ZoneInfo("America/New_York")
SECOND = 10**9
HOUR, DAY = 3_600 * SECOND, 86_400 * SECOND

TICKER, OTHER = "NOG", "XYZ"
WORDS = ("guidance", "merger", "buyback", "outlook")
CHANNELS = ("News", "Guidance", "Earnings")
FORMS = ("8-K", "10-K", "10-Q", "10-K/A")
ITEMS = ("Item 2.02: Results of Operations", "Item 5.02: Departure of Directors", "Item 9.01: Exhibits")
SECTIONS = ("MD&A", "RiskFactors")
EXHIBITS = ("EX-99.1", "EX-10.1")
CONCEPTS = ("us-gaap:Revenues", "us-gaap:NetIncomeLoss")
PERIODS = (
    ("duration", "2023-10-01", "2023-12-31"),
    ("duration", "2023-01-01", "2023-12-31"),
    ("instant", "2023-12-31", "null"),
)
PEOPLE = ("Ann Analyst", "Bob Broker")
DIMENSIONS = 4
UNKNOWN = "unknown"  # names what was not public yet

# Returns after the item: forbidden ones, and their kin outside the list of forbidden keys.
RETURNS = tuple(
    f"{span}_{of}" for span in ("daily", "hourly", "session") for of in ("stock", "macro", "industry", "sector")
)


@dataclass(frozen=True)
class Node:
    label: str
    id: str
    properties: dict[str, Any]


@dataclass(frozen=True)
class Edge:
    kind: str
    start: str
    end: str
    properties: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Graph:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


@dataclass(frozen=True)
class Public:
    """A record that was public: what it is, when it became so (nanoseconds), and what it can be chosen by."""

    kind: str
    id: str
    at: int
    chosen_by: dict[str, Any]

    @property
    def day(self) -> str:
        """Its New York day."""
        return datetime.fromtimestamp(self.at // SECOND, NEW_YORK).date().isoformat()


@dataclass
class Builder:
    """Nodes and edges as they come; ``mark`` makes the ids of one part differ from those of another."""

    random: Random
    pit: int
    mark: str
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    public: list[Public] = field(default_factory=list)

    def node(self, label: str, /, **properties: Any) -> str:
        name = properties.pop("id", None) or f"{label}_{self.mark}{self.random.randrange(10**9):09d}"
        kept = {key: value for key, value in properties.items() if value is not None}
        self.nodes.append(Node(label, name, {"id": name, **kept}))
        return name

    def edge(self, kind: str, start: str, end: str) -> None:
        self.edges.append(Edge(kind, start, end))

    def note(self, kind: str, name: str, at: int | None, **chosen_by: Any) -> None:
        if at is not None:
            self.public.append(Public(kind, name, at, chosen_by))


# Stamps.


def write(moment: int, random: Random) -> str:
    """``moment`` in one of the forms that a loader writes: any offset, any precision that loses nothing."""
    offsets = ("Z", "+00:00", "-05:00", "-04:00", "-05:00", "-04:00", "-11:00", "+05:30", "+14:00", "-06:00")
    offset = random.choice(offsets)
    minutes = 0 if offset in ("Z", "+00:00") else int(offset[:3]) * 60 + int(offset[0] + offset[4:])
    seconds, rest = divmod(moment, SECOND)
    local = datetime.fromtimestamp(seconds, timezone(timedelta(minutes=minutes)))
    digits = f"{rest:09d}".rstrip("0")
    digits = digits.ljust(random.choice([len(digits), len(digits), 3, 6, 9]), "0")[: max(len(digits), 9)]
    return f"{local:%Y-%m-%dT%H:%M:%S}" + (f".{digits}" if digits else "") + offset


def write_close(moment: int, random: Random) -> str:
    """``moment`` as the loader writes a close: a blank, and an offset without a colon; or in one of the other forms."""
    if random.random() < 0.2 or moment % SECOND:
        return write(moment, random)
    return f"{datetime.fromtimestamp(moment // SECOND, NEW_YORK):%Y-%m-%d %H:%M:%S%z}"


# When a record is public, by the rules of the sources of which the graph holds copies.


def filing_public(accepted: int) -> int:
    """A filing, by its acceptance alone: the latest instant, by EDGAR's rule, of all filing dates that it may have."""
    wall = _instant(accepted).astimezone(NEW_YORK).replace(tzinfo=None)
    is_of_its_day = acceptance.OPENING <= wall.time() < acceptance.END_OF_FILING_DAY and wall.weekday() < 5
    dates = [
        wall.date() + timedelta(days=n) for n in range(1 if is_of_its_day else acceptance.LONGEST_CLOSURE.days + 1)
    ]
    instants = [acceptance.available_at(acceptance.Acceptance(wall, filed), filed) for filed in dates]
    # A datetime is good to a microsecond; below it, only an instant that follows the acceptance has a rest.
    return _nanoseconds(max(filter(None, instants))) + (accepted % 1_000 if is_of_its_day else 0)


def call_public(began: int) -> int:
    """A transcript, by when the call began: no earlier than its source has the call, and a day later."""
    noon = noon_after(_instant(began))
    assert noon is not None
    return max(_nanoseconds(noon), began + DAY)


def bar_public(day: date) -> int:
    """A day's bar, whose volume is official in the evening."""
    return _nanoseconds(datetime.combine(day, time(), NEW_YORK) + EVENING)


def day_over(day: date) -> int:
    """What is dated by a day: a dividend's declaration, a split."""
    return _nanoseconds(datetime.combine(day + timedelta(days=1), time(), NEW_YORK))


def _instant(moment: int) -> datetime:
    """Return an instant, without what is less than a microsecond."""
    return datetime.fromtimestamp(moment // SECOND, UTC) + timedelta(microseconds=moment % SECOND // 1_000)


def _nanoseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1_000


# They prove nothing, though most of them would be early enough if they were read loosely.
UNPROVABLE: tuple[Any, ...] = (
    None, "2023-06-01T10:00:00", "2023-06-01", "2023-06", "2023", "yesterday", "null", 20230601, 1685613600.5, True,
    "2023-13-01T10:00:00Z", "2023-00-10T10:00:00Z", "2023-02-30T10:00:00Z", "2023-02-29T10:00:00Z",
    "1900-02-29T10:00:00Z", "2023-04-31T10:00:00-04:00", "2023-06-00T10:00:00Z", "2023-06-01T24:00:00Z",
    "2023-06-01T25:61:61Z", "2023-06-01T10:60:00Z",
    "2023-06-01T10:00:60Z", "2023-06-01T10:00:00+18:30", "2023-06-01T10:00:00-23:59", "2023-06-01T10:00:00.Z",
    "2023-06-01T10:00:00.1234567890Z", "2023-06-01t10:00:00z", " 2023-06-01T10:00:00Z", "2023-06-01T10:00:00Z\n",
    "2023-06-01T10:00:00 Z", "2023-06-01T10:00:00[America/New_York]", "2023-06-01T10:00:00-04:00[America/New_York]",
    datetime(2023, 6, 1, 10, tzinfo=UTC), date(2023, 6, 1), ["2023-06-01T10:00:00Z"],
    "٢٠٢٣-٠٦-٠١T١٠:٠٠:٠٠Z", "Thu, 01 Jun 2023 10:00:00 -0400", "0000-06-01T10:00:00Z", "20230601T100000Z", "0",
)  # fmt: skip


# Records. ``stamp`` is what stands in the graph; ``at`` is when it became public, None where it was not.


def vector(random: Random) -> list[float]:
    raw = [random.gauss(0, 1) for _ in range(DIMENSIONS)]
    length = math.sqrt(sum(x * x for x in raw))
    return [x / length for x in raw]


def text(random: Random, late: bool = False) -> str:
    """A few words; a later text has many, often, so that it would shift every score."""
    return " ".join(random.choices(WORDS, k=12)) if late else " ".join(random.sample(WORDS, 2))


def news(b: Builder, company: str, stamp: Any, at: int | None, updated: Any = None, name: str = "") -> str:
    """``updated``: the text; None for none on record, which proves nothing about the wording."""
    r, late = b.random, at is None
    chosen = {
        "ticker": _ticker(company),
        "channel": tuple(sorted(r.sample(CHANNELS, 2))),
        "words": text(r, late),
        "embedding": None if r.random() < 0.1 else vector(r),
    }
    name = b.node(
        "News", id=name, title=chosen["words"], teaser=f"teaser {r.random()}", body="", url="https://x.test/1",
        created=stamp, updated=updated, channels=json.dumps(chosen["channel"]), embedding=chosen["embedding"],
    )  # fmt: skip
    b.edge("INFLUENCES", name, company)
    b.note("news", name, at, **chosen)
    return name


def report(b: Builder, company: str, stamp: Any, at: int | None, shared: Shared, accession: str = "") -> str:
    r, late = b.random, at is None
    form, item, period = r.choice(FORMS), r.choice(ITEMS), r.choice(["2023-12-31", "2023-09-30", None])
    accession = accession or f"0001-{b.mark}-{r.randrange(10**6):06d}"
    name = b.node(
        "Report", accessionNo=accession, formType=form, created=stamp, periodOfReport=period, items=f'["{item}"]',
        description="a filing", cik="0001", market_session="post_market",
    )  # fmt: skip
    b.edge("PRIMARY_FILER", name, company)
    by = {"ticker": _ticker(company), "accession": accession}
    sections = []
    for section in r.sample(SECTIONS, r.randint(0, 2)):
        content = text(r, late)
        sections.append(content)
        child = b.node("ExtractedSectionContent", content=content, section_name=section, filing_id=name)
        b.edge("HAS_SECTION", name, child)
        b.note("section", child, at, **by, section=section, words=content)
    b.note("report", name, at, **by, form=form, item=item, period=period, words=" ".join(sections))
    if r.random() < 0.6:
        content, number = text(r, late), r.choice(EXHIBITS)
        child = b.node("ExhibitContent", content=content, exhibit_number=number, filing_id=name)
        b.edge("HAS_EXHIBIT", name, child)
        b.note("exhibit", child, at, **by, exhibit=number, words=content)
    child = b.node("FinancialStatementContent", value="{}", statement_type="BalanceSheets", filing_id=name)
    b.edge("HAS_FINANCIAL_STATEMENT", name, child)
    b.note("statement", child, at, **by)
    child = b.node("FilingTextContent", content=text(r, late), filing_id=name)
    b.edge("HAS_FILING_TEXT", name, child)
    b.note("filing text", child, at, **by)
    if form != "8-K":
        facts(b, name, at, by, shared)
    return name


def facts(b: Builder, filing: str, at: int | None, by: dict[str, Any], shared: Shared) -> None:
    r = b.random
    instance = b.node("XBRLNode")
    b.edge("HAS_XBRL", filing, instance)
    for _ in range(r.randint(1, 4)):
        concept, period = r.choice(CONCEPTS), r.choice(PERIODS)
        name = b.node("Fact", qname=concept, value=str(r.randrange(10**6)), is_numeric="1", decimals="-3")
        b.edge("REPORTS", name, instance)
        b.edge("HAS_CONCEPT", name, shared.concepts[concept])
        b.edge("IN_CONTEXT", name, shared.contexts[period])
        if r.random() < 0.5:
            b.edge("HAS_PERIOD", name, shared.periods[period])
        for member in r.sample(shared.members, r.randint(0, 2)):
            b.edge("FACT_MEMBER", name, member)
        instant = period[1] if period[0] == "instant" else ""
        b.note("fact", name, at, **by, concept=concept, end=period[2], instant=instant)


def call(b: Builder, company: str, stamp: Any, at: int | None, updated: Any = None, name: str = "") -> str:
    """``at`` is when the transcript counts as public; ``stamp`` is when the call began."""
    r, late = b.random, at is None
    year, quarter = r.choice([2023, "2023", "2022"]), r.choice(["1", 2, "4"])
    name = b.node(
        "Transcript", id=name, symbol=_ticker(company), conference_datetime=stamp,
        created=stamp, updated=stamp if updated is None else updated, fiscal_year=year, fiscal_quarter=quarter,
        speakers="[]",
    )  # fmt: skip
    b.edge("INFLUENCES", name, company)
    b.edge("HAS_TRANSCRIPT", company, name)
    by = {"ticker": _ticker(company), "transcript": name}
    b.note("call", name, at, **by, fiscal_year=str(year), fiscal_quarter=str(quarter))
    for number in range(r.randint(1, 3)):
        spoken, who = text(r, late), r.choice(PEOPLE)
        embedding = None if r.random() < 0.1 else vector(r)
        child = b.node(
            "QAExchange", id=f"{name}_qa__{number}", transcript_id=name, sequence=str(number), questioner=who,
            responders="CEO", exchanges=spoken, embedding=embedding,
        )  # fmt: skip
        b.edge("HAS_QA_EXCHANGE", name, child)
        b.note("exchange", child, at, **by, words=spoken, questioner=who, embedding=embedding)
    for label, kind, edge in (
        ("PreparedRemark", "remark", "HAS_PREPARED_REMARKS"),
        ("QuestionAnswer", "qa text", "HAS_QA_SECTION"),
        ("FullTranscriptText", "full text", "HAS_FULL_TEXT"),
    ):
        spoken = text(r, late)
        child = b.node(label, content=spoken)
        b.edge(edge, name, child)
        b.note(kind, child, at, **by, words=spoken)
    return name


def trading_day(b: Builder, day: date, close: Any, company: str, is_public: bool) -> None:
    """A day with a price, and now and then a dividend and a split, of ``company``."""
    r, by = b.random, {"ticker": _ticker(company)}
    name = b.node("Date", id=day.isoformat(), date=day.isoformat(), is_trading_day="1", market_close_current_day=close)
    b.edge("HAS_PRICE", name, company)
    at = day_over(day) if is_public and day_over(day) <= b.pit else None
    b.note("price", name, bar_public(day) if is_public else None, **by)
    if r.random() < 0.5:
        child = b.node("Dividend", ticker=by["ticker"], declaration_date=name, cash_amount="0.25", currency="USD")
        b.edge("HAS_DIVIDEND", name, child)
        b.edge("DECLARED_DIVIDEND", company, child)
        b.note("dividend", child, at, **by)
    if r.random() < 0.4:
        child = b.node("Split", ticker=by["ticker"], execution_date=name, split_from="1", split_to="2")
        b.edge("HAS_SPLIT", name, child)
        b.edge("DECLARED_SPLIT", company, child)
        b.note("split", child, at, **by)


def _ticker(company: str) -> str:
    return company.removeprefix("company_")


@dataclass(frozen=True)
class Shared:
    """Nodes that records of any time share."""

    concepts: dict[str, str]
    periods: dict[tuple[str, str, str], str]
    contexts: dict[tuple[str, str, str], str]
    members: list[str]


def shared_nodes(b: Builder) -> Shared:
    concepts = {name: b.node("Concept", qname=name, label=name[8:]) for name in CONCEPTS}
    periods = {p: b.node("Period", period_type=p[0], start_date=p[1], end_date=p[2]) for p in PERIODS}
    contexts = {p: b.node("Context") for p in PERIODS}
    for period, context in contexts.items():
        b.edge("HAS_PERIOD", context, periods[period])
    return Shared(concepts, periods, contexts, [b.node("Member", qname=f"m{n}") for n in range(2)])


# A case: a PIT, what was public at it, and worlds around that.

COMPANIES = (f"company_{TICKER}", f"company_{OTHER}")


@dataclass(frozen=True)
class Case:
    pit: str
    moment: int
    base: Graph
    public: tuple[Public, ...]
    shared: Shared
    random: Random

    def world(self, extra: bool = True, crowded: int = 0) -> Graph:
        """What was public and, with ``extra``, more; ``crowded`` later News items of the company asked for besides."""
        r = self.random
        b = Builder(r, self.moment, f"late{r.randrange(10**6)}")
        if extra:
            _add_extras(b, self.shared, {node.id for node in self.base.nodes})
        for _ in range(crowded):
            news(b, COMPANIES[0], write(self.moment + r.randint(1, 400 * DAY), r), None, write(self.moment, r))
        nodes, edges = [*self.base.nodes, *b.nodes], [*self.base.edges, *b.edges]
        nodes = [_with_profile(node, r) if node.label == "Company" else node for node in nodes]
        nodes = [_with_name(node, r) if node.label == "Transcript" else node for node in nodes]
        edges += [edge for edge in edges if edge.kind in ("INFLUENCES", "PRIMARY_FILER") and r.random() < 0.05]  # twice
        edges = [_with_returns(edge, r) for edge in edges]
        r.shuffle(nodes)
        r.shuffle(edges)
        return Graph(tuple(nodes), tuple(edges))


def make_case(random: Random, many: int = 0) -> Case:
    """A case; with ``many`` that number of News items of one company were public."""
    day = date(2024, random.randint(1, 12), random.randint(1, 28))
    close = _close(day)
    near = close + random.randint(-DAY // 2, DAY // 2) // 1000 * 1000
    # The close, the morning of the night's filings, noon of the calls, the evening of the bars, midnight of the days.
    clock = random.choice([close, bar_public(day), day_over(day), close - 7 * HOUR, close - 4 * HOUR])
    moment = random.choice([close, near, clock, clock - 1000, clock + 1000])
    if random.random() < 0.5:
        moment = moment // SECOND * SECOND
    b = Builder(random, moment, "p")
    for company in COMPANIES:
        b.node("Company", id=company, ticker=_ticker(company))
    shared = shared_nodes(b)
    for company, few in ((COMPANIES[0], 5), (COMPANIES[1], 1)):
        for _ in range(max(many, random.randint(1, few)) if company == COMPANIES[0] else few):
            at = earlier(moment, random)
            updated = random.choice([write(at, random), write(earlier(moment, random, since=at), random)])
            news(b, company, write(at, random), at, updated)
        for _ in range(random.randint(0, few)):
            accepted = over(moment, random, filing_public)
            report(b, company, write(accepted, random), filing_public(accepted), shared)
        for _ in range(random.randint(0, few // 2 + 1)):
            began = over(moment, random, call_public)
            none_or_same = random.choice([None, "", write(began, random)])
            call(b, company, write(began, random), call_public(began), none_or_same)
    for day, close in _closes(moment, -12, 2):
        if bar_public(day) <= moment and random.random() < 0.7:
            trading_day(b, day, write_close(close, random), random.choice([COMPANIES[0], *COMPANIES]), is_public=True)
    return Case(write(moment, random), moment, Graph(tuple(b.nodes), tuple(b.edges)), tuple(b.public), shared, random)


def earlier(moment: int, random: Random, since: int = 0) -> int:
    distance = random.choice([0, 0, 1, 10**3, 10**6, SECOND, random.randint(0, DAY), random.randint(0, 300 * DAY)])
    return max(since, moment - distance)


def later(moment: int, random: Random) -> int:
    return moment + random.choice([1, 10**3, 10**6, SECOND, random.randint(1, DAY), random.randint(1, 300 * DAY)])


def over(moment: int, random: Random, public: Callable[[int], int]) -> int:
    """When something happened that was public at ``moment``, or at that very instant, by the rule ``public``."""
    for wait in (HOUR, DAY, DAY, 6 * DAY):
        happened = earlier(moment, random) - wait
        if public(happened) <= moment:
            return happened
    return moment - 8 * DAY


def pending(moment: int, random: Random, public: Callable[[int], int]) -> int:
    """When something happened, before or after ``moment``, that was not public yet by the rule ``public``."""
    ago = random.choice((0, 1, HOUR - 1, HOUR // 2, 15 * HOUR, DAY - 1, 2 * DAY, 3 * DAY, 4 * DAY, 5 * DAY))
    return moment - ago if public(moment - ago) > moment else later(moment, random)


def _add_extras(b: Builder, shared: Shared, taken: set[str]) -> None:
    """Records that were not public: later, edited, or not provably earlier. All of the company that is asked for."""
    r, moment, company = b.random, b.pit, COMPANIES[0]

    def unprovable() -> Any:
        return r.choice([*UNPROVABLE, ""])

    for _ in range(r.randint(0, 4)):
        news(b, company, write(later(moment, r), r), None, write(earlier(moment, r), r))
        news(b, company, unprovable(), None, write(earlier(moment, r), r))
    for _ in range(r.randint(0, 3)):  # early enough, but edited later, or at no provable time
        edited = r.choice([write(later(moment, r), r), write(later(moment, r), r), unprovable()])
        news(b, company, write(earlier(moment, r), r), None, edited)
    for _ in range(r.randint(0, 3)):
        accepted = pending(moment, r, filing_public)
        report(b, company, r.choice([write(accepted, r), write(accepted, r), unprovable()]), None, shared)
    for _ in range(r.randint(0, 2)):  # a call that ended a moment ago has no transcript yet
        call(b, company, r.choice([write(pending(moment, r, call_public), r), unprovable()]), None)
    for day, close in _closes(moment, -12, 12):
        if day.isoformat() not in taken and r.random() < 0.5:
            stamp = write_close(close, r) if bar_public(day) > moment else unprovable()
            trading_day(b, day, stamp, company, is_public=False)
    # In every such world under the same names, so that a question can name them.
    news(b, company, write(later(moment, r), r), None, write(earlier(moment, r), r), name=f"News_{UNKNOWN}")
    report(b, company, r.choice([write(later(moment, r), r), unprovable()]), None, shared, accession=UNKNOWN)
    call(b, company, write(later(moment, r), r), None, name=UNKNOWN)
    edited = r.choice([write(later(moment, r), r), "words"])
    call(b, company, write(over(moment, r, call_public), r), None, updated=edited)
    child = b.node("Dividend", ticker=TICKER, declaration_date="2023-06-01", cash_amount="9")  # on no day at all
    b.edge("DECLARED_DIVIDEND", company, child)
    b.nodes = [_spoilt(node, r) for node in b.nodes]


# Values of other kinds than the loader's, which a query must not stumble over.
ODD_VALUES: tuple[Any, ...] = ("", 5, 1.5, True, ["a"], [1.0, 2.0], "{", datetime(2023, 6, 1, 10, tzinfo=UTC))
# What makes a record one that was not public or that is asked for, and what an engine takes only as text, in an index.
_KEPT = frozenset(
    {"id", "created", "updated", "conference_datetime", "market_close_current_day", "accessionNo", "title", "content",
     "exchanges"}
)  # fmt: skip


def _spoilt(node: Node, r: Random) -> Node:
    """A record that was not public, now and then with odd values."""
    if r.random() < 0.7:
        return node
    odd = {name: r.choice(ODD_VALUES) for name in node.properties if name not in _KEPT and r.random() < 0.5}
    return Node(node.label, node.id, {**node.properties, **odd})


def _closes(moment: int, first: int, last: int) -> Iterable[tuple[date, int]]:
    day = datetime.fromtimestamp(moment // SECOND, NEW_YORK).date()
    for number in range(first, last):
        yield day + timedelta(days=number), _close(day + timedelta(days=number))


def _close(day: date) -> int:
    """16:00 in New York, on some days 13:00."""
    hour = 13 if day.day == 24 else 16
    return int(datetime(day.year, day.month, day.day, hour, tzinfo=NEW_YORK).astimezone(UTC).timestamp()) * SECOND


def _with_profile(node: Node, r: Random) -> Node:
    profile = {"name": f"name {r.random()}", "sector": f"s{r.random()}", "industry": "i", "mkt_cap": str(r.random())}
    return Node(node.label, node.id, {**node.properties, **profile})


def _with_name(node: Node, r: Random) -> Node:
    """A transcript with the company's name of the day on which it was loaded."""
    return Node(node.label, node.id, {**node.properties, "company_name": f"name {r.random()}"})


def _with_returns(edge: Edge, r: Random) -> Edge:
    if edge.kind in ("INFLUENCES", "PRIMARY_FILER"):
        return Edge(edge.kind, edge.start, edge.end, {name: r.gauss(0, 3) for name in RETURNS})
    if edge.kind == "HAS_PRICE":
        bar = dict.fromkeys(("open", "high", "low", "close", "vwap"), 10.5) | {"volume": 1000.0, "transactions": 10.0}
        return Edge(edge.kind, edge.start, edge.end, {**bar, "daily_return": r.gauss(0, 3)})
    return edge
