"""The laws of an archive on generated histories: what belongs to a stream, what a snapshot is, where a mixed answer
stops, and what a capture proves of the past."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from pit_fetch.testing.server import App, Response
from pit_fetch.times import parse_rfc2822
from pit_fetch.transport import HttpRequest
from tests.memory_folder import scratch
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga
from tests.providers.yahoo import server as yahoo
from tests.unit.archive.scene import Archive, alpha, articles, at, estimates

START = at("2026-06-01 12:00")
NEWS = "bz-news-api --lookback-minutes 100000"
ESTIMATES = "alphavantage EARNINGS_ESTIMATES symbol=IBM"


@contextmanager
def archive() -> Iterator[Archive]:
    with scratch("archive-") as folder:
        yield Archive(Path(folder))


def told(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def some(rng: Random, count: int, since: datetime, until: datetime, first: int = 1) -> list[dict[str, Any]]:
    """Articles, the newest first."""
    seconds = int((until - since).total_seconds())
    moments = sorted((since + timedelta(seconds=rng.randrange(seconds)) for _ in range(count)), reverse=True)
    return [benzinga.article(first + n, moment, title=f"t{rng.random()}") for n, moment in enumerate(moments)]


def pools(rng: Random) -> int:
    """The replies of another plan or another host have no part in an answer."""
    pit, now = START + timedelta(hours=5), START + timedelta(hours=9)
    mine, others = some(rng, 4, START, pit), some(rng, 4, START, pit)
    elsewhere = rng.choice(({"PIT_FETCH_PLAN": "another"}, {"PIT_FETCH_BENZINGA_URL": "https://elsewhere.example"}))
    with archive() as kept:
        kept.app = articles(*mine)
        expected = kept.fetch(NEWS, told(now), told(pit), archive=False).text
        kept.app = articles(*others)
        kept.fetch(NEWS, told(pit), env=elsewhere)
        kept.app = articles(*mine)
        assert kept.fetch(NEWS, told(now), told(pit)).text == expected, "another pool answers"
    return 1


def snapshots(rng: Random) -> int:
    """At any instant a snapshot is the last whole reply received by then, and contains nothing of any other.

    Each row states when it was first held as it is.
    """
    held: list[tuple[datetime, dict[str, str]]] = []
    moment = START
    with archive() as kept:
        for _ in range(rng.randint(2, 4)):
            moment += timedelta(minutes=rng.randint(1, 600))
            rows = {
                f"2026-{month:02}-28": rng.choice(("1.5", "1.6"))
                for month in rng.sample(range(1, 7), rng.randint(0, 4))
            }
            kept.app = estimates(*rows.items())
            kept.fetch(ESTIMATES, told(moment))
            held += [(moment, rows)] if rows else []
        late = told(moment + timedelta(days=3))
        for instant in (START, *(when + step for when, _ in held for step in (-_SECOND, timedelta(0), _SECOND))):
            expected = next((rows for when, rows in reversed(held) if when <= instant), {})
            found = kept.offline(ESTIMATES, late, told(instant)).data
            assert {item["date"]: item["eps_estimate_average"] for item in found} == expected, instant
            for item in found:
                row = (item["date"], item["eps_estimate_average"])
                first = next(when for when, rows in held if row in rows.items())
                assert datetime.fromisoformat(item["first_seen_at"]) == first
    return 1


_SECOND = timedelta(seconds=1)


class Running(NamedTuple):
    """A question about bars or the like, and two of them that follow each other.

    app     makes a server of pairs of label and value
    labels  of the interval that is over at :data:`START`, and of the one after it
    ends    when that one is over
    field   of the item that holds the value
    """

    words: str
    app: Callable[[Sequence[tuple[str, str]]], App]
    labels: tuple[str, str]
    ends: datetime
    field: str = "close"


def _bars(function: str) -> Callable[[Sequence[tuple[str, str]]], App]:
    return lambda rows: alphavantage.app(
        alphavantage.Store({function: [alphavantage.bar(label, value) for label, value in reversed(rows)]}, zone="UTC")
    )


def _indicator(rows: Sequence[tuple[str, str]]) -> App:
    meta = {"1: Symbol": "IBM", "7: Time Zone": "US/Eastern"}
    values = {label: {"SMA": value} for label, value in rows}
    return alpha(SMA={"Meta Data": meta, "Technical Analysis: SMA": values})


def _series(function: str) -> Callable[[Sequence[tuple[str, str]]], App]:
    return lambda rows: alpha(**{function: {"name": "a series", "data": [{"date": d, "value": v} for d, v in rows]}})


def _analytics(rows: Sequence[tuple[str, str]]) -> App:
    last, value = rows[-1]
    return alpha(ANALYTICS_FIXED_WINDOW={"meta_data": {"max_dt": last}, "payload": {"MEAN": value}})


def _chart(rows: Sequence[tuple[str, str]]) -> App:
    bars = [(int(at(label).timestamp()), *[float(value)] * 6) for label, value in rows]
    return yahoo.app({"IBM": yahoo.Company(bars=bars, zone="UTC")})


_COIN = "alphavantage DIGITAL_CURRENCY_DAILY symbol=BTC market"
_WINDOW = "alphavantage ANALYTICS_FIXED_WINDOW symbols=IBM range=2month calculations=MEAN interval"
_DAYS, _NEXT_DAY = ("2026-05-31", "2026-06-01"), START.replace(hour=0) + timedelta(days=1)
_DAY_OVER = at("2026-06-02 04:00")  # in New York
_MONTHS = ("2026-05-01", "2026-06-01")
_MINUTES = ("2026-06-01 11:59:00", "2026-06-01 12:00:00")
RUNNING = (
    Running(f"{_COIN}=CNY", _bars("DIGITAL_CURRENCY_DAILY"), _DAYS, _NEXT_DAY),
    Running(f"{_COIN}=USD", _bars("DIGITAL_CURRENCY_DAILY"), _DAYS, _NEXT_DAY),
    Running("alphavantage CRYPTO_INTRADAY symbol=BTC market=CNY interval=1min", _bars("CRYPTO_INTRADAY"), _MINUTES,
            START + timedelta(minutes=1)),
    Running("alphavantage SMA symbol=IBM interval=daily", _indicator, _DAYS, _DAY_OVER, "SMA"),
    Running("alphavantage SMA symbol=IBM interval=5min", _indicator, ("2026-06-01 07:55:00", "2026-06-01 08:00:00"),
            _DAY_OVER, "SMA"),
    Running("alphavantage SMA symbol=IBM interval=weekly", _indicator, ("2026-05-29", "2026-06-01"),
            at("2026-06-08 04:00"), "SMA"),
    Running("alphavantage WTI", _series("WTI"), _MONTHS, at("2026-07-01 04:00"), "value"),
    Running("alphavantage WTI interval=daily", _series("WTI"), _DAYS, _DAY_OVER, "value"),
    Running("alphavantage REAL_GDP interval=quarterly", _series("REAL_GDP"), ("2026-01-01", "2026-04-01"),
            at("2026-07-01 04:00"), "value"),
    Running(f"{_WINDOW}=daily", _analytics, _DAYS, _DAY_OVER, "payload"),
    Running("yahoo prices symbol=IBM interval=1m", _chart, ("2026-06-01 11:59", "2026-06-01 12:00"),
            START + timedelta(minutes=1)),
    Running("yahoo prices symbol=IBM", _chart, ("2026-05-31 00:00", "2026-06-01 00:00"), _NEXT_DAY),
    Running("yahoo prices symbol=IBM interval=1mo", _chart, ("2026-05-01 00:00", "2026-06-01 00:00"),
            at("2026-07-02 00:00")),
)  # fmt: skip


def running(rng: Random) -> int:
    """What was captured before its interval was over is never served, at no instant and by whatever rule."""
    case = rng.choice(RUNNING)
    length = (case.ends - START).total_seconds()
    moments = sorted(START + timedelta(seconds=rng.choice((0, 1, rng.randrange(int(length))))) for _ in range(2))
    moments += [case.ends + timedelta(seconds=rng.choice((0, 1, 90_000)))] if rng.random() < 0.8 else []
    finals = [float(place) for place, moment in enumerate(moments) if moment >= case.ends]
    before, current = case.labels
    with archive() as kept:
        for place, moment in enumerate(moments):
            kept.app = case.app([(before, "100"), (current, str(place))])
            kept.fetch(case.words, told(moment))
        late = moments[-1] + timedelta(days=99)
        for instant in (*moments, case.ends, case.ends + _SECOND, late):
            items = kept.offline(f"{case.words} --limit 9", told(late), told(instant)).data
            values = [float(re.findall(r"[0-9.]+", str(item[case.field]))[0]) for item in items]
            assert [value for value in values if value != 100] == (finals if instant >= moments[-1] else []), instant
    return 1


_COINS = f"{_COIN}=CNY"
_RATES = "alphavantage FX_WEEKLY from_symbol=EUR to_symbol=USD"


def rolled(rng: Random) -> int:
    """What a source drops because it is old stays in the archive; what is missing among newer rows is gone."""
    words, function, step = rng.choice(((_RATES, "FX_WEEKLY", 7), (_COINS, "DIGITAL_CURRENCY_DAILY", 1)))
    friday = START.replace(day=5)
    labels = [f"{friday - timedelta(days=step * n):%Y-%m-%d}" for n in reversed(range(12))]
    is_dated, size, place = words == _RATES, rng.choice((3, 5)), rng.randrange(3, 6)
    dropped = rng.choice((None, *labels[:place]))
    seen, gone = set[str](), set[str]()
    with archive() as kept:
        list_of = kept.folder / "list.toml"
        options = dict(word.split("=") for word in words.split()[2:])
        list_of.write_text(_request({"source": "alphavantage", "op": function, **options}))
        for count in sorted(rng.sample(range(place, 13), 3)):
            moment = friday - timedelta(days=step * (12 - count) - 2)  # each row is over by then
            rows = [label for label in labels[:count] if label != dropped or count == place][-size:]
            kept.app = _bars(function)([(label, "1") for label in rows])
            if is_dated:
                assert kept.command("capture list.toml", told(moment)).code == 0
            else:  # with a PIT, as a capture has one, nothing of them is asked for
                kept.fetch(words, told(moment))
            gone |= {label for label in seen if is_dated and label not in rows and label > rows[0]}
            seen |= {*rows}
            now = told(moment + timedelta(hours=1))
            assert {item["timestamp"] for item in kept.offline(words, now, now).data} == seen - gone
        if is_dated:  # the claims of a whole capture count at earlier instants, too
            early = told(friday - timedelta(days=step * 11 - 2))
            assert {item["timestamp"] for item in kept.offline(words, told(START), early).data} == seen & {labels[0]}
    return 1


def chosen(rng: Random) -> int:
    """What a page of headlines held tells nothing of what came before it was seen, and what has left it is not gone."""
    pit, size = START + timedelta(hours=5), rng.choice((1, 2, 4))
    now = pit + timedelta(hours=rng.randint(1, 20))
    public = some(rng, rng.randint(1, 5), START, pit)
    answers, held = [], set[str]()
    for count in (0, rng.randint(1, 6)):
        rows = [*some(rng, count, pit + _SECOND, now, first=100), *public]
        with archive() as kept:
            (kept.folder / "list.toml").write_text(_request({"source": "yahoo", "op": "news", "symbol": "IBM"}))
            for moment, page in ((now, rows[:size]), (now + timedelta(hours=1), [])):
                kept.app = _headlines([*some(rng, 1, now, moment, first=900), *page] if moment > now else page)
                assert kept.command("capture list.toml", told(moment)).code == 0
            later = told(now + timedelta(hours=2))
            answers.append(kept.offline(_HEADLINES, later, told(pit)).text)
            held = {f"a{row['id']}" for row in rows[:size]}
            assert held <= set(kept.offline(_HEADLINES, later, later).ids), "an article that has left is gone"
    assert answers[0] == answers[1], "what a capture lacks tells what came later"
    return 1


_HEADLINES = "yahoo news symbol=IBM"


def _headlines(rows: Sequence[dict[str, Any]]) -> App:
    times = [(row["id"], parse_rfc2822(row["created"])) for row in rows]
    articles = [(f"a{name}", *[f"{moment:%Y-%m-%dT%H:%M:%SZ}"] * 2, "A title") for name, moment in times]
    return yahoo.app({"IBM": yahoo.Company(articles=articles)})


def _request(options: Mapping[str, str]) -> str:
    return "[[request]]\n" + "".join(f"{name} = '{value}'\n" for name, value in options.items())


def stops(rng: Random) -> int:
    """A live fetch that breaks off ends a mixed answer where it stopped: there may be a hole below."""
    middle, pit = START + timedelta(hours=4), START + timedelta(hours=9)
    old, new = some(rng, 5, START, middle), some(rng, 130, middle, pit, first=100)
    whole = articles(*new, *old)

    def app(request: HttpRequest) -> Response:
        return whole(request) if str(request.query["page"]) == "0" else Response(b"", 404)

    words = f"{NEWS} --limit 1000"
    with archive() as kept:
        kept.app = articles(*old)
        kept.fetch(words, told(middle))
        kept.app = app
        expected = kept.fetch(words, told(pit), told(pit), archive=False)
        left = kept.fetch(words, told(pit), told(pit))
    assert expected.data
    assert left.ids == expected.ids, "it goes on below what was read"
    return 1


def captures(rng: Random) -> int:
    """The answers from a capture at earlier instants do not depend on what came in between, with or without a limit."""
    pit = START + timedelta(hours=5)
    now = pit + timedelta(hours=rng.randint(1, 20))
    public = some(rng, rng.randint(1, 5), START, pit)
    worlds = [[*some(rng, count, pit + _SECOND, now, first=100), *public] for count in (0, rng.randint(1, 6))]
    limit = rng.choice(("", f"limit = {rng.randint(1, 6)}\n"))
    answers = [_captured(limit, rows, now, pit) for rows in worlds]
    assert answers[0] == answers[1], "what a capture left out tells what came later"
    if not limit:
        assert answers[0][1] == [str(row["id"]) for row in public], "a whole capture answers for the past"
    return 1


def _captured(limit: str, rows: Sequence[dict[str, Any]], now: datetime, pit: datetime) -> tuple[str, list[str]]:
    with archive() as kept:
        kept.app = articles(*rows)
        text = f"[[request]]\nsource = 'benzinga'\nlookback_minutes = 100000\n{limit}"
        (kept.folder / "list.toml").write_text(text)
        assert kept.command("capture list.toml", told(now)).code == 0
        left = kept.offline(NEWS, told(now + timedelta(days=1)), told(pit))
    return left.text, left.ids


def under_a_ceiling(rng: Random) -> int:
    """Under a ceiling, no command shows what an archive holds, and none records anything."""
    environ = rng.choice(({"PIT_FETCH_CEILING": START.isoformat()}, {"PIT_FETCH_WRAPPER_ONLY": "1"}))
    words = rng.choice(("info", "log", "log --json", "replay last", "verify", "rebuild", "merge a.db --archive b.db"))
    with archive() as kept:
        kept.app = articles(*some(rng, 2, START, START + timedelta(hours=1)))
        kept.fetch(NEWS, told(START + timedelta(hours=2)))
        (kept.folder / "list.toml").write_text("[[request]]\nsource = 'benzinga'\n")
        before = kept.path.read_bytes()
        for command in (f"archive {words}", "capture list.toml"):
            left = kept.command(command, told(START + timedelta(hours=3)), env=environ)
            assert (left.code, left.gap_types, left.data) == (2, ["config"], []), command
        assert kept.path.read_bytes() == before
    return 1


Law = Callable[[Random], int]
LAWS: dict[str, Law] = {
    "bz-news-api: archive pools": pools,
    "alphavantage: archive snapshots": snapshots,
    "archive: running": running,
    "archive: rolled": rolled,
    "archive: chosen": chosen,
    "bz-news-api: archive stops": stops,
    "bz-news-api: archive captures": captures,
    "command: archive under a ceiling": under_a_ceiling,
}
