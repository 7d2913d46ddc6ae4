"""Worlds of FRED: later vintages of the same dates, later dates, unreadable rows, servers that cut nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.laws.checks import non_interference
from tests.laws.refusals import Requests
from tests.laws.worlds import CANARY, PITS, Case, always, common, near, noise_count, options, run
from tests.loopback.broken import wreck
from tests.providers.fred import server as fred
from tests.providers.fred.server import Vintage

CENTRAL = ZoneInfo("America/Chicago")
DAY = timedelta(days=1)
_SIZES = [
    {
        "pit_fetch_providers.fred.vintages:MOST_VINTAGES": vintages,
        "tests.providers.fred.server:MOST_VINTAGES": vintages,
        "pit_fetch_providers.fred.api:ROWS": rows,
    }
    for vintages, rows in ((1, 100), (2, 3), (3, 100), (2_000, 1), (2_000, 100_000))
]


def viewed(rng: Random) -> Case:
    """Make worlds of a source that keeps to the period: what a program asks is its own."""
    return make(rng, careless=0.0)


def make(rng: Random, most: int = 4, careless: float = 0.5) -> Case:
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    public = _public(rng, moment)
    worlds = [fred.app(public, careless=rng.random() < careless)]
    worlds += [
        fred.app([*public, *_later(rng, moment, public)], _raw(rng, moment), careless=rng.random() < careless)
        for _ in range(3)
    ]
    ids = sorted({f"GDP@{vintage.date}" for vintage in public})
    choices = {**common(moment, ids, rng), "fields": [("--fields", "value"), ("--fields", "date,realtime_end")]}
    plain = ("--limit", "500", "--max-pages", "1000")
    is_plain = most > 0 and rng.random() < 0.2
    return Case(
        source="fred",
        pit=pit,
        words=(rng.choice(("GDP", "series_id=gdp")), *(plain if is_plain else options(rng, choices, most))),
        worlds=tuple(worlds),
        sizes=rng.choice(_SIZES),
        resized=tuple(rng.sample(_SIZES, 2)),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
        plain=frozenset(ids) if is_plain else None,
        immutable=False,
    )


def undisturbed(rng: Random) -> Case:
    """Make a world whose dates all stay, though their values are revised."""
    case = make(rng, most=0)
    return case._replace(words=("GDP", "--limit", "1000", "--max-pages", "1000"))


def failures(rng: Random) -> Case:
    """Make worlds that fail alike with different texts. One kind: unknown, without vintages, and all of it later."""
    case = make(rng)
    later = _later(rng, case.moment, [])
    texts = ("Bad Request.  A word of its own", f"{CANARY}: GDP rises on Thursday", f"Your key is {fred.KEY}")
    apps: Sequence[App] = rng.choice(
        [
            [
                fred.app([]),
                fred.app(later),
                fred.app(later, _raw(rng, case.moment)),
                fred.app(later, series="GNP"),
                always(as_json(fred.document([]))),
                always(as_json(fred.document([None, 5, {}]))),
            ],
            [always(fred.error(text)) for text in texts],
            [always(fred.error(f"{fred.BAD_KEY} {text}")) for text in texts],
            [always(fred.error(text, 404)) for text in texts],
            [always(fred.error(text, 423)) for text in texts],
            [always(fred.error(text, 429)) for text in texts],
            [always(fred.error(text, 500)) for text in texts],
            [always(Response(text.encode())) for text in texts],
            [always(as_json({"message": text})) for text in texts],
            [always(as_json(fred.document([], output_type=n, note=text))) for n, text in enumerate(texts, 2)],
        ]
    )
    return case._replace(worlds=tuple(apps), plain=None, sizes={})


def _last_day(moment: datetime) -> datetime:
    """Return noon of the last day that was over at ``moment``, in US Central time."""
    return moment.astimezone(CENTRAL).replace(hour=12) - DAY


def _public(rng: Random, moment: datetime) -> list[Vintage]:
    last, vintages = _last_day(moment), []
    for number in rng.sample(range(12), rng.choice((0, 1, 3, 6))):
        date = _text(moment - number * rng.choice((1, 30)) * DAY)
        for start in sorted(
            {_text(last - rng.choice((0, 0, 1, 2, 30, 400)) * DAY) for _ in range(rng.choice((1, 2, 3)))}
        ):
            vintages.append(Vintage(date, start, rng.choice(("1.0", "1.1", ".", "2.5"))))
    return vintages


def _later(rng: Random, moment: datetime, public: Sequence[Vintage]) -> list[Vintage]:
    first = _last_day(moment) + DAY
    dates = [*(vintage.date for vintage in public), *(_text(moment - n * DAY) for n in (0, 1, 40))]
    return [
        Vintage(rng.choice(dates), _text(first + rng.choice((0, 0, 1, 2, 30)) * DAY), f"{CANARY}{number}")
        for number in range(noise_count(rng))
    ]


def _raw(rng: Random, moment: datetime) -> list[Any]:
    """Return rows without a day on which they became current, and unreadable ones."""
    date, late = _text(moment - near(rng)), _text(_last_day(moment) + DAY)
    good = fred.row(Vintage(date, late, CANARY))
    rows: list[Any] = [
        {
            **good,
            "realtime_start": rng.choice((None, "", "soon", 5, f"{moment:%Y%m%d}", f"{late}T00:00:00", "2024-02-30")),
        },
        {**good, "value": wreck(rng)},
        {**good, "date": rng.choice((None, 5, "Q1", []))},
        {**good, "value": rng.choice((None, 5.5, {}))},
        {name: text for name, text in good.items() if name != rng.choice(("realtime_start", "date"))},
        rng.choice((None, CANARY, [good], {})),
    ]
    return rng.sample(rows, rng.choice((0, 1, 3)))


def _text(moment: datetime) -> str:
    return moment.date().isoformat()


def _continues(asked: Sequence[HttpRequest]) -> bool:
    """Return whether the last request is for a further page of a reply."""
    return int(asked[-1].query.get("offset", 0)) > 0


def saved(rng: Random) -> int:
    """A saved reply, of whatever period, shows what the source shows at the PIT, or nothing."""
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    public = _public(rng, moment)
    vintages = [*public, *_later(rng, moment, public)]
    last = _text(_last_day(moment) + rng.choice((-400, -3, -1, 0, 0, 1, 40)) * DAY)
    rows = list(fred.rows(vintages, fred.BEGINNING, last))
    body = json.dumps(fred.document(rows, last=last)).encode()
    case = Case("fred", pit, ("GDP", "--limit", "1000"), (fred.app(vintages),))
    live = {item["id"]: item["value"] for item in run(case, case.worlds[0]).data}
    words = (*case.words, "--input-file", "-")
    answer = run(case, fred.app([]), words=words, stdin=body)
    assert {item["id"]: item["value"] for item in answer.data} in (live, {}), "a value that was revised since"
    assert answer.data or not live or last < _text(_last_day(moment))
    return 1


REQUESTS = Requests(_continues)
LAWS: Mapping[str, Callable[[Random], int]] = {
    "failures": lambda rng: non_interference(failures(rng)),
    "saved": saved,
}
