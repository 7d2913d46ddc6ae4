"""What an archive says to a question that nobody asked it in these words: as if somebody had.

``pairs`` holds the rule against brute force. ``wider`` and ``apart`` ask every source: what was captured for a wider
question, or for several narrower ones, answers like what was captured for the question itself. ``silent`` holds that
what is said to be missing tells nothing of what came later.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from pit_fetch.cli.arguments import parse
from pit_fetch.engine import registry
from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code, gap
from pit_fetch.provider import Operation, Option, Provider, Query
from pit_fetch.request import coverage
from pit_fetch.request.fetch_request import FetchRequest, from_values
from pit_fetch.request.query import build_query
from pit_fetch.testing.inprocess import Left
from pit_fetch.testing.server import App
from tests.laws.claimed import ACCEPTED
from tests.laws.worlds import SECRETS, Case, run
from tests.memory_folder import scratch
from tests.providers.sec_full_text import server as sec
from tests.unit.archive.scene import Archive
from tests.worlds import same_bytes

# The rule, against brute force.

OPTIONS = (
    Option("tickers", "", kind="list", affects_records=False, covered_by="superset"),
    Option("forms", "", kind="list", affects_records=False, covered_by="superset"),
    Option("year", "", kind="integer", affects_records=False, covered_by="superset"),
    Option("words", "", affects_records=False),
    Option("exact", "", kind="flag", affects_records=False, covered_by="evidence"),
    Option("channels", "", kind="list"),
)
_ZERO = datetime(2026, 1, 1, tzinfo=UTC)
_LAST = 4
# Windows end at an instant, or with the last one of a day.
_ENDS = (*range(_LAST), *(day - 1 / 86_400_000_000 for day in range(1, _LAST)))


def _at(day: float) -> datetime:
    return _ZERO + timedelta(days=day)


class Item(NamedTuple):
    """One of all items that there could be: a request asks for it or does not, whether there is one or not."""

    tickers: str
    form: str
    year: int
    day: float
    event: float


_DAYS = (-1, *(n / 2 for n in range(2 * _LAST + 1)))
# By the window of the operation: where it compares the time of publication, no other date matters.
ITEMS = {
    window: [*map(Item._make, product(("", "a", "b", "c"), "kqz", (1, 2, 3), _DAYS, events))]
    for window, events in {"": (0,), "event": (*_DAYS, 99)}.items()
}


class Asked(NamedTuple):
    """A request or a question: its options, its dates, the operation's window, and as of when it was asked."""

    options: Mapping[str, Any]
    since: float | None
    until: float | None
    window: str
    now: int

    @property
    def query(self) -> Query:
        since, until = (None if day is None else _at(day) for day in (self.since, self.until))
        now = _at(self.now)
        horizon = min(now, until) if until is not None and not self.window else now
        operation = Operation(window=self.window)
        return Query(now, now, now, since, until, horizon, 50, self.options, operation)

    def asks_for(self, item: Item) -> bool:
        """Say it again, word by word, for one item."""
        options, dated = self.options, item.event if self.window else item.day
        tickers, forms = options["tickers"], options["forms"]
        wanted = [form.lower() for form in forms or () if form[0] != "-"]
        return (
            item.day <= self.now
            and (self.since is None or dated >= self.since)
            and (self.until is None or dated <= self.until)
            and (tickers is None or any(ticker.lower() in item.tickers for ticker in tickers))
            and (not wanted or item.form in wanted)
            and f"-{item.form}" not in [form.lower() for form in forms or ()]
            and options["year"] in (None, item.year)
        )


def _asked(rng: Random, window: str) -> Asked:
    since, until = rng.choice((None, None, *range(_LAST))), rng.choice((None, None, *_ENDS))
    if since is not None and until is not None and since > until:
        since, until = math.floor(until), since
    options = {
        "tickers": rng.choice((None, ("a",), ("B",), ("b", "A"), ("a", "c"))),
        "forms": rng.choice((None, None, ("k",), ("Q", "k"), ("-z",), ("-Z", "q"))),
        "year": rng.choice((None, None, 1, 2)),
        "words": rng.choice((None, "x")),
        "exact": rng.choice((False, False, True)),
        "channels": rng.choice((None, None, None, ("n", "m"), ("M", "n"))),
    }
    return Asked(options, since, until, window, rng.randint(0, _LAST))


def _beside(rng: Random, question: Asked) -> Asked:
    """Make a request, often one that differs little from the question: there a rule goes wrong."""
    other = _asked(rng, question.window)
    kept = rng.sample([*OPTIONS], rng.randint(0, len(OPTIONS)))
    options = {**other.options, **{option.name: question.options[option.name] for option in kept}}
    return rng.choice((question, other))._replace(options=options)


def pairs(rng: Random, count: int = 40) -> int:
    """A question is covered if, and only if, what was asked for contains all that it asks for, at every time."""
    for _ in range(count):
        question = _asked(rng, rng.choice(("", "", "event")))
        requests = [_beside(rng, question) for _ in range(rng.randint(0, 4))]
        alike = [request for request in requests if _is_alike(request, question)]
        wanted = [item for item in ITEMS[question.window] if question.asks_for(item)]
        held = [item for item in wanted if any(request.asks_for(item) for request in alike)]
        instant, asked = _at(question.now), [(request.query, _at(request.now)) for request in requests]
        until = coverage.covered_until(asked, question.query, instant, OPTIONS)
        if until is not None:
            assert all(item in held for item in wanted if _at(item.day) <= until), (question, requests)
        if held == wanted and _is_comparable(question, alike):
            assert until == coverage.time_asked(question.query, instant).until, (question, requests)
    return count


def _is_alike(request: Asked, question: Asked) -> bool:
    """Return whether the records of a request are shaped, and dated, no worse than those of the question."""
    channels = [sorted(name.lower() for name in asked.options["channels"] or ()) for asked in (request, question)]
    return channels[0] == channels[1] and (request.options["exact"] or not question.options["exact"])


def _is_comparable(question: Asked, requests: Sequence[Asked]) -> bool:
    """Return whether the rule sees all that the model sees.

    It does not know which forms there are, and does not put windows of another date than publication together.
    """
    excludes = any(form[0] == "-" for asked in (question, *requests) for form in asked.options["forms"] or ())
    return not excludes and (not question.window or len(requests) < 2)


# Every source.

Values = dict[str, Any]
# Values that a wider request asks for besides those of the question.
_FURTHER = {"tickers": "TSLA", "ciks": "1318605", "forms": "SC 13G", "concept": "Liabilities"}


class Question(NamedTuple):
    """A question of a source, without anything that cuts its answer, and what captured lists need."""

    case: Case
    provider: Provider
    query: Query
    values: Values
    grade: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        canonical = from_values(self.values, self.provider, {}).canonical
        return [*shlex.split(canonical)[2:], "--limit", "100000", *self.grade]

    @property
    def is_snapshot(self) -> bool:
        return self.query.operation.dating.by != "record"


def question_of(case: Case) -> Question | None:
    """Return the question of a case; None if a list cannot ask it, or nobody: its operation may refuse an option."""
    if not {"--after", "--format"}.isdisjoint(case.words):
        return None
    provider = case.provider or registry.load(case.source)
    request: FetchRequest = parse(("--source", case.source, *case.words), provider, {})
    values: Values = {name: value for name, value in request.options.items() if value not in (None, False, ())}
    values |= {name: at for name, at in (("date_from", request.since), ("date_to", request.until)) if at is not None}
    if case.source == "bz-news-api" and request.since is None:  # it would look back from the capture
        values["date_from"] = case.moment - timedelta(days=4000)
    try:
        query = build_query(request, case.moment)
    except ConfigError:
        return None
    return Question(case, provider, query, values)


def _graded(question: Question | None, rng: Random) -> Question | None:
    """Return the question in either grade of evidence."""
    if question is None or not question.query.operation.dating.claims or rng.random() < 0.5:
        return question
    return question._replace(grade=ACCEPTED)


def answers(question: Question, app: App, requests: Iterable[Values]) -> Left | None:
    """Return what an archive of these requests, captured days later, answers; None if one was not captured as a whole.

    A source may look back no further than so many requests: a wider window is then captured in part and covers nothing.
    """
    from tests.laws import archived

    case, later = question.case, question.case.moment + timedelta(days=2)
    with archived.archive() as path:
        file, environ = path.with_suffix(".toml"), archived.environ(path)
        file.write_text("".join(table(case.source, values) for values in requests), encoding="utf-8")
        captured = run(case, app, line=("capture", str(file)), now=later, environ=environ)
        assert gap(Code.ORDER_BROKEN).reason not in captured.out, "a capture ends where later records break the order"
        if captured.code or "In part: " in captured.out:
            return None
        is_later = question.is_snapshot and not question.grade
        pit = (later + timedelta(hours=1)).isoformat() if is_later else case.pit
        words = (*question.words, "--offline")
        left = run(case, archived.nobody, pit=pit, environ=environ, words=words)
    return replace(left, files=())


def table(source: str, values: Values) -> str:
    texts = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values.items()}
    rows = (f"{name} = {json.dumps(value)}\n" for name, value in {"source": source, **texts}.items())
    return "[[request]]\n" + "".join(rows) + "may_be_empty = true\n"


def wider(case: Case, rng: Random) -> int:
    """A capture of a wider question answers as one of the question, but for better stamps and what only it finds."""
    question = _graded(question_of(case), rng)
    if question is None:
        return 0
    wide = _widened(question, rng)
    # What a ticker stands for is known from a list that was asked for, by whatever request.
    listing = [{**wide, "tickers": ("TSLA",)}] if "tickers" in {*question.values} - {*wide} else []
    return _compared(question, [wide, *listing])


def apart(case: Case, rng: Random) -> int:
    """Captures of one value each answer a question for several of them."""
    question = _graded(question_of(case), rng)
    if question is None:
        return 0
    several = {
        name: value
        for name, value in question.values.items()
        if isinstance(value, tuple) and len(value) > 1 and not any(part.startswith("-") for part in value)
        and next(option for option in question.provider.options if option.name == name).covered_by == "superset"
    }  # fmt: skip
    each = [
        dict(zip(several, parts, strict=True))
        for parts in product(*([(part,) for part in value] for value in several.values()))
    ]
    return _compared(question, [{**question.values, **parts} for parts in each]) if several else 0


def _compared(question: Question, requests: Sequence[Values]) -> int:
    app = question.case.worlds[-1]
    expected, left = answers(question, app, [question.values]), answers(question, app, requests)
    if expected is None or left is None:
        return 0
    adds_evidence = any(_has_evidence(question.provider, values) for values in requests) and not _has_evidence(
        question.provider, question.values
    )
    assert uncaptured(left) == uncaptured(expected), "it is not said alike what was captured"
    both = answers(question, app, [*requests, question.values])
    assert both is None or {*both.ids} == {*left.ids}, "a narrower request takes something away"
    if not adds_evidence:
        assert left.data == expected.data, requests
        return 1
    stated = {
        "available_at",
        "available_at_source",
        *(field.name for field in question.query.operation.fields if field.is_evidence),
    }
    items = {item["id"]: item for item in left.data}
    for item in expected.data:
        assert datetime.fromisoformat(items[item["id"]]["available_at"]) <= datetime.fromisoformat(item["available_at"])
        own, other = ({k: v for k, v in each.items() if k not in stated} for each in (item, items[item["id"]]))
        assert own == other
    return 1


def uncaptured(left: Left) -> bool:
    return any(gap.get("captured") is False for gap in left.envelope["gaps"])


def _has_evidence(provider: Provider, values: Values) -> bool:
    return any(values.get(option.name) for option in provider.options if option.covered_by == "evidence")


def _widened(question: Question, rng: Random) -> Values:
    values, operation = dict(question.values), question.query.operation
    for option in question.provider.options:
        name = option.name
        if option.covered_by == "evidence" and rng.random() < 0.5:
            values[name] = True
        if option.affects_records or name not in values or option.covered_by == "evidence":
            continue
        value = values[name]
        is_list = isinstance(value, tuple) and name in _FURTHER and not any(part.startswith("-") for part in value)
        if is_list and (name in operation.needs or rng.random() < 0.6):
            values[name] = tuple(rng.sample([*value, _FURTHER[name]], len(value) + 1))
        elif name not in operation.needs:
            del values[name]
    if not {"ciks", "tickers"} & {*question.values} <= {*values}:  # they are one filter
        values.pop("ciks", None)
        values.pop("tickers", None)
    if "date_to" in values and rng.random() < 0.7:
        del values["date_to"]
    if "date_from" in values and rng.random() < 0.7:
        values["date_from"] -= timedelta(days=rng.choice((1, 400)))
    return values


def silent(case: Case) -> int:
    """What is said not to have been captured as of the PIT tells nothing of what came after it.

    The same is captured days later, in worlds that agree on what was public. A source that breaks down is left out.
    """
    question = question_of(case)
    if question is None or question.is_snapshot:
        return 0
    left = [answers(question, app, [question.values]) for app in case.worlds]
    same_bytes(lambda each: each, [each for each in left if each is not None] or [Left("", "", 0)], SECRETS)
    return sum(each is not None for each in left)


# Filings, whose captures are of many kinds, word by word.

_TICKERS = {"AAPL": sec.APPLE, "TSLA": sec.TESLA}
_CAPTURED = "2026-06-01 15:00"
# Before the captures, and after them: what a capture lacks may be gone.
_PITS = ("2026-05-25 12:00", "2026-06-10 12:00")


def filings(rng: Random) -> int:
    """Of captured filings a question gets all that it and a capture asked for and that could be dated by the PIT.

    What a capture could not date was public when it was captured.
    """
    pit = rng.choice(_PITS)
    made = [_filing(rng, place) for place in range(1, 8)]
    lists = [_asked_of_sec(rng) for _ in range(rng.randint(1, 3))]
    question = _asked_of_sec(rng)
    if "tickers" in question and rng.random() < 0.2:
        question["tickers"] = (*question["tickers"][:1], "GONE")  # no list has it
    with scratch("archive-") as name:
        folder = Path(name)
        variables = {"SEC_USER_AGENT": sec.USER_AGENT, "XDG_CACHE_HOME": str(folder / "cache")}
        kept = Archive(folder, env=variables, app=sec.app([filing for filing, _ in made]))
        (kept.folder / "list.toml").write_text("".join(table("sec_full_text", values) for values in lists))
        assert kept.command("capture list.toml", _CAPTURED).code == 0
        canonical = from_values(question, registry.load("sec_full_text"), {}).canonical.removeprefix("--source ")
        left = kept.offline(f"{canonical} --limit 100", "2026-06-20 12:00", pit)
    is_known = "tickers" not in question or any("tickers" in values for values in lists)
    expected = {
        filing.accession
        for filing, is_late in made
        if is_known
        and _wants(question, filing)
        and any(
            _wants(values, filing) and (_reads_headers(values) or not is_late or pit > _CAPTURED) for values in lists
        )
    }
    assert {*left.ids} == expected, (lists, question)
    assert uncaptured(left) or "GONE" not in question.get("tickers", ()), "what no list has was not captured"
    return 1


def _filing(rng: Random, place: int) -> tuple[sec.Filing, bool]:
    """Return a filing, and whether it was sent out on a later day than it was filed: only its header shows that."""
    day, cik, is_late = rng.randint(4, 15), rng.choice([*_TICKERS.values()]), rng.random() < 0.4
    filed, next_day = f"2026-05-{day:02}", f"2026-05-{day + 1:02}"
    filing = sec.Filing(sec.number(place), rng.choice(("10-K", "8-K", "10-K/A")), f"{filed} 10:30:00", ciks=(cik,))
    if is_late:
        filing = replace(filing, accepted=f"{next_day} 10:30:00", filed=filed, listed=next_day)
    return filing, is_late


def _asked_of_sec(rng: Random) -> Values:
    company = rng.choice(({"tickers": ("AAPL",)}, {"tickers": ("tsla", "AAPL")}, {"ciks": ("1318605",)}, {}))
    forms = rng.choice((("10-K", "8-K"), ("8-k",), ("10-K",), ("-8-K",)))
    dates = rng.choice(({}, {}, {"date_from": "2026-05-08"}, {"date_to": "2026-05-11"}))
    return {**company, "forms": forms, **dates, **rng.choice(({}, {"exact": True}))}


def _reads_headers(values: Values) -> bool:
    """Return whether a request reads the headers of filings that no index lists under their day."""
    return bool(values.get("exact")) or any(form.startswith("-") for form in values["forms"])


def _wants(values: Values, filing: sec.Filing) -> bool:
    tickers = {_TICKERS.get(ticker.upper()) for ticker in values.get("tickers", ())}
    companies = tickers | {*map(int, values.get("ciks", ()))}
    form, kinds = filing.form.removesuffix("/A"), [kind.upper() for kind in values["forms"]]
    return (
        (not companies or not companies.isdisjoint(filing.ciks))
        and (form in kinds or (kinds == ["-8-K"] and form != "8-K"))
        and values.get("date_from", "") <= filing.day <= values.get("date_to", "9")
    )
