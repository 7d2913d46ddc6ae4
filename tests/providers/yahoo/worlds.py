"""Worlds of Yahoo: articles that are shown again, reports of later days and of weekends, minutes that are not over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.times import end_of_minute, parse_rfc3339
from pit_fetch.transport import HttpRequest
from tests.laws.archived import held
from tests.laws.checks import non_interference, paging
from tests.laws.refusals import Requests
from tests.laws.worlds import CANARY, NEW_YORK, PITS, Case, common, near, noise_count, options
from tests.loopback.broken import wreck
from tests.providers.yahoo import charts
from tests.providers.yahoo import server as yahoo
from tests.providers.yahoo.server import Company

# Of which any PIT that is not in the past serves everything: it is of now.
SNAPSHOTS = frozenset({"prices", "earnings", "upgrades", "consensus"})

_DAY, _MINUTE, _SECOND = timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)
_SIZES = [{"pit_fetch_providers.yahoo.api:PAGE_ROWS": rows} for rows in (1, 3, 100)]
_OPS = ("news", "news", "news", "prices", "earnings", "upgrades", "consensus")
_SUBJECT = (("symbol=AAPL",), ("--symbol", "aapl"))


class World:
    """The public rows of each world, with their ids, and the later rows that one of them serves.

    The company's name is today's, and another one in each world.
    """

    def __init__(
        self, public: Sequence[Any], ids: Sequence[str], later: Callable[[], Sequence[Any]], part: str
    ) -> None:
        self.public, self.ids, self.later, self.part = public, ids, later, part

    def app(self, rng: Random, rows: Sequence[Any], *, strict: bool = False) -> App:
        shuffled = list(rows)
        rng.shuffle(shuffled)
        fields: dict[str, Any] = {self.part: shuffled, "name": f"{CANARY}{rng.random()}"}
        return yahoo.app({"AAPL": Company(**fields)}, strict=strict)


def make(rng: Random, most: int = 4) -> Case:
    pit, op = rng.choice(PITS), rng.choice(_OPS)
    moment = datetime.fromisoformat(pit)
    if op in SNAPSHOTS:
        return _withheld(rng, op, pit)
    world = _news(rng, moment)
    strict = rng.random() < 0.5
    apps = [world.app(rng, world.public, strict=strict)]
    apps += [world.app(rng, [*world.public, *world.later()], strict=strict) for _ in range(3)]
    choices = {**common(moment, world.ids, rng), "fields": [("--fields", "title,displayTime")]}
    choices["tab"] = [("--tab", "all"), ("tab=press-releases",)]
    plain = ("--limit", "500", "--max-pages", "1000")
    is_plain = most > 0 and rng.random() < 0.2
    return Case(
        source="yahoo",
        pit=pit,
        words=(op, *rng.choice(_SUBJECT), *(plain if is_plain else options(rng, choices, most))),
        worlds=tuple(apps),
        sizes=rng.choice(_SIZES),
        resized=tuple(rng.sample(_SIZES, 2)),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
        plain=frozenset(world.ids) if is_plain else None,
    )


def claimed(rng: Random) -> Case:
    """Make worlds that agree on articles, reports, actions of analysts, or trades of shares by the PIT."""
    op = rng.choice(("news", "upgrades", "earnings", "earnings", "prices", "prices"))
    if op == "prices":
        return charts.claimed(rng)
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    world = _CLAIMED_WORLDS[op](rng, moment)
    choices = common(moment, world.ids, rng)
    is_plain = rng.random() < 0.4
    words = ("--limit", "500", "--max-pages", "1000") if is_plain else options(rng, choices, 3)
    apps = [world.app(rng, world.public), *(world.app(rng, [*world.public, *world.later()]) for _ in range(3))]
    plain = frozenset(world.ids) if is_plain else None
    sizes = rng.choice(_SIZES)
    return Case("yahoo", pit, (op, *rng.choice(_SUBJECT), *words), tuple(apps), sizes=sizes, plain=plain)


def _claimed_news(rng: Random, moment: datetime) -> World:
    world = _news(rng, moment)
    rows = list(world.public)
    for number in range(rng.choice((0, 1, 3))):
        shown = rng.choice((_z(moment + near(rng, 60)), None, "soon"))
        rows.append((f"c{number}", _z(_over(moment - near(rng, 1), moment)), shown, f"Title {number}"))

    def later() -> Sequence[Any]:
        return [row for row in world.later() if not _is_published_by(row, moment)]

    return World(rows, [row[0] for row in rows], later, "articles")


def _is_published_by(row: Any, moment: datetime) -> bool:
    """Return whether an article's pubDate, its whole minute over, is at or before ``moment``."""
    content = row.get("content") if isinstance(row, dict) else None
    stamp = row[1] if isinstance(row, tuple) else content.get("pubDate") if isinstance(content, dict) else None
    published = parse_rfc3339(stamp)
    return published is not None and end_of_minute(published) <= moment


def _claimed_grades(rng: Random, moment: datetime) -> World:
    end = int(moment.timestamp())
    seconds = rng.sample(range(100_000), rng.choice((0, 1, 4)))
    days = [_day_over_at(rng, moment) for _ in range(rng.choice((0, 1)))]
    rows = [(at, f"Firm {n}", "Buy", "Hold", "up") for n, at in enumerate([*(end - 1 - n for n in seconds), *days])]
    rows = [row for row in rows if row in rows[-len(days) :] or row[0] % 86_400]
    ids = [f"AAPL:{datetime.fromtimestamp(at, UTC):%Y%m%dT%H%M%SZ}:{firm}:up" for at, firm, *_ in rows]

    def later() -> Sequence[Any]:
        midnight = int(moment.astimezone(NEW_YORK).replace(hour=12).timestamp()) // 86_400 * 86_400
        times = [end + 1 + rng.choice((0, 1, 60, 86_400)), midnight, None, "soon", 5]
        return [(rng.choice(times), CANARY, "Buy", CANARY, "up") for _ in range(noise_count(rng))]

    return World(rows, ids, later, "grades")


def _day_over_at(rng: Random, moment: datetime) -> int:
    """Return the midnight, UTC, that stands for a day which was over in New York at ``moment``."""
    day = moment.astimezone(NEW_YORK).date() - rng.choice((1, 2, 90)) * _DAY
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())


def undisturbed(rng: Random) -> Case:
    case = make(rng, most=0)
    while case.words[0] in SNAPSHOTS:
        case = make(rng, most=0)
    return case._replace(words=(*case.words, "--limit", "1000", "--max-pages", "1000"))


def snapshots(rng: Random) -> Case:
    """Make charts and summaries of today, of which a PIT a little ahead serves every row."""
    pit = rng.choice(PITS)
    today = int(datetime.fromisoformat(pit).timestamp())
    days = rng.sample(range(1, 60), rng.choice((0, 1, 4, 9)))
    trend = [{"period": f"-{n}m", "strongBuy": n} for n in rng.sample(range(9), rng.choice((0, 1, 4)))]
    company = Company(
        bars=[(today - n * 86_400, n, n, n, n, n, n) for n in days],
        splits=[{"date": today - n * 86_400, "numerator": 2, "denominator": 1} for n in days[:2]],
        grades=[(today - n * 86_400, "A Firm", "Buy", "Hold", "up") for n in days],
        summary={"recommendationTrend": {"trend": trend}, "financialData": {}},
    )
    words = (rng.choice(sorted(SNAPSHOTS)), "symbol=AAPL", "--limit", "1000", "--max-pages", "1000")
    return Case("yahoo", pit, words, (yahoo.app({"AAPL": company}),))


def failures(rng: Random) -> Case:
    """Make worlds that fail alike with different texts. One kind: unknown, nothing yet, and all of it later."""
    case = make(rng)
    op = case.words[0]
    texts = ("A word of its own", f"{CANARY}: results on Thursday", "Will be right back")
    every: list[Sequence[App]] = [
        *([_instead(Response(text.encode(), status)) for text in texts] for status in (400, 401, 404, 429, 500, 999)),
        [_instead(Response(text.encode())) for text in texts],
        [_instead(as_json({"message": text})) for text in texts],
        [_instead(Response(b"", 307, {"Location": f"https://other.example/{n}"})) for n, _ in enumerate(texts)],
    ]
    if op not in SNAPSHOTS:
        world = _news(rng, case.moment)
        none = [yahoo.app({}), yahoo.app({"AAPL": Company()}), world.app(rng, world.later())]
        every += [none, none, none]
    elif op == "upgrades" and rng.random() < 0.7:  # asked for on their claims; all of them later
        grades = [(int(case.moment.timestamp()) + 86_400, CANARY, "Buy", CANARY, "up")]
        every = [list(map(yahoo.app, ({}, {"AAPL": Company()}, {"AAPL": Company(grades=grades)})))]
        case = case._replace(words=(*case.words, "--evidence", "claimed"))
    elif op == "earnings" and rng.random() < 0.7:
        world = _earnings(rng, case.moment)
        every = [[yahoo.app({}), yahoo.app({"AAPL": Company()}), world.app(rng, world.later())]]
        case = case._replace(words=(*case.words, "--evidence", "claimed"))
    elif op == "prices" and rng.random() < 0.7:
        companies = charts.none_yet(case.moment.astimezone(NEW_YORK).date())
        every = [[yahoo.app({}), *(yahoo.app({"AAPL": company}) for company in companies)]]
        case = case._replace(words=(*case.words, "--evidence", "claimed"))
    return case._replace(worlds=tuple(rng.choice(every)), plain=None)


def _instead(response: Response) -> App:
    plain = yahoo.app({})

    def answer(request: HttpRequest) -> Response:
        return plain(request) if request.path in ("/", "/v1/test/getcrumb") else response

    return answer


def _withheld(rng: Random, op: str, pit: str) -> Case:
    """Return snapshots, of which nothing is served at a past PIT: any two worlds are one."""
    day = int(datetime.fromisoformat(pit).timestamp()) - 86_400
    trend = [{"period": CANARY, "strongBuy": 1}]
    companies = (
        Company(),
        Company(bars=[(day, 1, 1, 1, 1, 1, 1)], currency=CANARY, grades=[(day, CANARY, "Buy", CANARY, "up")]),
        Company(summary={"recommendationTrend": {"trend": trend}, "earningsTrend": {"trend": trend}}),
    )
    apps = [yahoo.app({"AAPL": company}) for company in companies]
    words = (op, *rng.choice(_SUBJECT))
    return Case("yahoo", pit, words, (*apps, yahoo.app({}), _instead(yahoo.DOWN)), is_of_now=True)


def _news(rng: Random, moment: datetime) -> World:
    rows, ids = [], []
    for number in range(rng.choice((0, 1, 3, 6))):
        times = [_z(_over(moment - near(rng, 1), moment)) for _ in range(2)]
        rows.append((f"a{number}", *times, f"Title {number}"))
        ids.append(f"a{number}")

    def later() -> Sequence[Any]:
        return [_later_article(rng, number, moment) for number in range(noise_count(rng))]

    return World(rows, ids, later, "articles")


def _later_article(rng: Random, number: int, moment: datetime) -> Any:
    minute = moment.astimezone(UTC).replace(second=0, microsecond=0)
    running = minute if moment - minute < 59 * _SECOND else minute + _MINUTE
    before, after = _z(_over(moment - near(rng), moment)), _z(rng.choice((moment + near(rng) + _SECOND, running)))
    name, title = f"z{number}", f"{CANARY}{number}"
    none = rng.choice((None, "", "soon", 5, before[:-1], before[:10], before.replace("Z", "-00:00")))
    row = (name, before, before, title)
    before = rng.choice((before, _z(moment)))  # often in the minute that is not over
    match rng.choice(("shown", "published", "both", "undated", "half", "unreadable")):
        case "shown":
            return (name, before, after, title)
        case "published":
            return (name, after, before, title)
        case "both":
            return (name, after, after, title)
        case "undated":
            return (name, none, none, title)
        case "half":
            return (name, *rng.sample((before, none), 2), title)
        case _:
            content = yahoo.news(Company(articles=[row]))["data"]["tickerStream"]["stream"][0]["content"]
            spoilt = {"id": name, "content": {**content, "x": wreck(rng, is_fatal=True)}}
            ad = {"id": name, "content": content, "ad": [{"x": 1}]}
            nameless = {"id": None, "content": {**content, "id": None}}
            others: tuple[Any, ...] = (None, 5, CANARY, [], {"id": name}, {"id": name, "content": [CANARY]})
            return rng.choice((*others, spoilt, spoilt, spoilt, ad, nameless))


def _earnings(rng: Random, moment: datetime) -> World:
    last = moment.astimezone(NEW_YORK).date() - _DAY
    rows, ids = [], []
    for number in rng.sample(range(8), rng.choice((0, 1, 3, 6))):
        day = _business_day(last - number * rng.choice((1, 90)) * _DAY)
        day, hour = rng.choice(((day, rng.choice((0, 6, 12, 16, 18))), (day - _DAY, rng.choice((19, 20, 23)))))
        if f"AAPL@{day}T{hour:02}" not in ids:
            rows.append((_hour(rng, day, hour), "1.1", f"1.{number}", "0.5"))
            ids.append(f"AAPL@{day}T{hour:02}")

    def later() -> Sequence[Any]:
        return [_later_report(rng, last) for _ in range(noise_count(rng))]

    return World(rows, ids, later, "calendar")


def _business_day(day: date) -> date:
    """Return ``day``, or the Friday before it."""
    return day - max(0, day.weekday() - 4) * _DAY


def _later_report(rng: Random, last: date) -> str:
    """Return a row whose company and figures must not be shown."""
    evening, next_day = (last, rng.choice((19, 20, 23))), (last + _DAY, rng.choice((0, 4, 16)))
    late = rng.choice((evening, next_day, (last + rng.choice((2, 90)) * _DAY, 16)))
    early, name = (last - _DAY, 16), CANARY
    cells: dict[str, tuple[str, ...]] = {"late": ("AAPL", name, _hour(rng, *late), "1", "2", "3")}
    weekend = _business_day(last - rng.choice((7, 90)) * _DAY)
    weekend -= (weekend.weekday() + rng.choice((1, 2))) * _DAY
    cells["weekend"] = ("AAPL", name, _hour(rng, weekend, rng.choice((0, 9, 16))), "1", "2", "3")
    cells["not yet"] = ("AAPL", name, _hour(rng, *early), "1", rng.choice(("-", "", "--")), "-")
    cells["undated"] = ("AAPL", name, rng.choice(("-", "", f"{last}", "Thursday", f"{CANARY}")), "1", "2", "3")
    cells["another"] = ("MSFT", name, _hour(rng, *early), "1", "2", "3")
    cells["figure"] = ("AAPL", name, _hour(rng, *early), "1", f"{CANARY} 2", "3")
    cells["short"] = ("AAPL", name, _hour(rng, *early), "1")
    cells["long"] = (*cells["late"], CANARY)
    markup = rng.choice(("<![foo bar]>", "<!x>", "&#xD800;", "</th>", "<th>x</th>"))
    cells["markup"] = ("AAPL", name + markup, _hour(rng, *late), "1", "2", "3")
    cells["empty"] = ()
    chosen = cells[rng.choice(("late", "late", "weekend", *cells))]
    return "<tr>" + "".join(f"<td>{text}</td>" for text in chosen) + "</tr>"


def _hour(rng: Random, day: date, hour: int) -> str:
    half, at = "AM" if hour < 12 else "PM", hour % 12 or 12
    zone = rng.choice(("EST", "EDT"))
    return rng.choice(
        (f"{day:%B} {day.day}, {day.year} at {at} {half} {zone}", f"{day:%b} {day.day}, {day.year}, {at} {half}{zone}")
    )


def _over(at: datetime, moment: datetime) -> datetime:
    """Return ``at``, or the second before it if it is a whole minute that is not over at ``moment``."""
    whole = at.replace(microsecond=0)
    return whole - _SECOND if whole.second == 0 and whole + _MINUTE > moment else whole


def _z(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


_CLAIMED_WORLDS: dict[str, Callable[[Random, datetime], World]] = {
    "news": _claimed_news,
    "earnings": _earnings,
    "upgrades": _claimed_grades,
}


def _continues(asked: Sequence[HttpRequest]) -> bool:
    """Return whether the last request is for a further page of the calendar."""
    return int(asked[-1].query.get("offset", 0)) > 0


REQUESTS = Requests(_continues)
LAWS: Mapping[str, Callable[[Random], int]] = {
    "failures": lambda rng: non_interference(failures(rng)),
    "snapshots": lambda rng: paging(snapshots(rng), rng, ahead=timedelta(hours=1)),
    "held": lambda rng: held(snapshots(rng), rng),
}
