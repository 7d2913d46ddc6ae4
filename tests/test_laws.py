"""Non-interference: two worlds that serve the same public articles give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pit_fetch import registry
from pit_fetch.engine import Outcome
from pit_fetch.engine import run as run_engine
from pit_fetch.log import Log
from pit_fetch.provider import Reply
from pit_fetch.request import parse
from pit_fetch.world import Clock, World
from tests.conftest import Finished, Run
from tests.loopback import benzinga
from tests.loopback.benzinga import TOKEN, article
from tests.loopback.server import App, Request, Response, as_json, serve

PIT = datetime.fromisoformat("2024-02-15T16:00:00-05:00")
MINUTE = timedelta(minutes=1)
CANARY = "CANARY"

PUBLIC = [article(n, PIT - n * MINUTE, title=f"Oil {n}") for n in range(1, 13)]
LATE = [article(500 + n, PIT + (n + 1) * MINUTE, title=f"Oil {CANARY}") for n in range(150)]
REVISED = [article(700 + n, PIT - n * MINUTE, PIT + MINUTE, title=f"Oil {CANARY}") for n in range(1, 9)]
UNDATED: list[dict[str, Any]] = [
    article(800 + n, PIT - n * MINUTE) | {"updated": None, "title": CANARY} for n in range(3)
]
BROKEN: list[dict[str, Any]] = [
    {"id": None},
    {"id": 900, "created": {}, "updated": []},
    article(901, PIT + MINUTE) | {"stocks": 5},
]

EVERYTHING = [*LATE, *REVISED, *PUBLIC, *UNDATED, *BROKEN]

REQUESTS: dict[str, tuple[str, ...]] = {
    "plain": (),
    "verbose": ("-v",),
    "limit": ("--limit", "3"),
    "limit that fits": ("--limit", "12"),
    "keyword of the late": ("--keywords", CANARY),
    "theme": ("--themes", "oil", "--limit", "5"),
    "one page": ("--max-pages", "1"),
    "window": ("--date-from", "2024-02-15", "--date-to", "2024-02-16"),
    "budget": ("--max-chars", "4000"),
    "fail": ("--fail", "--tickers", "NONE"),
    "revised since": ("--updated-since", PIT.isoformat()),
}


def fetch(run: Run, articles: Sequence[dict[str, Any]], words: tuple[str, ...]) -> Finished:
    with serve(benzinga.app(articles)) as server:
        env = {"PIT_FETCH_BENZINGA_URL": server.url, "BENZINGA_API_KEY": TOKEN}
        return run("--source", "bz-news-api", "--pit", PIT.isoformat(), *words, env=env)


@pytest.mark.parametrize("words", REQUESTS.values(), ids=REQUESTS)
def test_the_real_command_in_worlds_that_differ_only_in_what_was_not_public(run: Run, words: tuple[str, ...]) -> None:
    expected = fetch(run, PUBLIC, words)
    assert (expected.code, CANARY.encode() in expected.out.replace(b"--keywords CANARY", b"")) == (0, False)
    other = fetch(run, EVERYTHING, words)
    assert (other.out, other.err, other.code) == (expected.out, expected.err, expected.code)


def engine(app: App, words: Sequence[str]) -> Outcome:
    """The whole program in this process, the network replaced by ``app``."""
    argv = ["--source", "bz-news-api", "--pit", PIT.isoformat(), *words]
    clock = Clock(lambda: PIT + timedelta(days=300), lambda: 0.0, lambda: 0.0, lambda _: None)
    world = World({"BENZINGA_API_KEY": TOKEN}, "/", clock, lambda: b"")
    request = parse(argv, registry.load("bz-news-api"), world.environ)

    def get(self: object, host: str, path: str, params: dict[str, str], headers: dict[str, str]) -> Any:
        reply = app(Request(path, params, headers))
        return Reply(reply.status, reply.headers, reply.body, clock.now())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pit_fetch.http.Client.get", get)
        return run_engine(request, world, Log(), argv)


@st.composite
def articles(draw: st.DrawFn, public: bool) -> list[dict[str, Any]]:
    """Articles that were, or were not, public and unrevised at the PIT."""
    made = []
    for number in draw(st.lists(st.integers(1, 400), unique=True, max_size=8)):
        age, revision = draw(st.integers(0, 4)), draw(st.integers(0, 4))
        title = draw(st.sampled_from(["Oil", "Gas", CANARY]))
        spoilt: dict[str, Any] = {}
        if public:
            stamps = (PIT - age * MINUTE, PIT - min(age, revision) * MINUTE)
        elif draw(st.booleans()):
            stamps = (PIT - age * MINUTE, PIT - age * MINUTE)
            spoilt = draw(st.sampled_from([{"id": None}, {"updated": None}, {"created": "soon"}, {"updated": [1]}]))
        elif draw(st.booleans()):
            stamps = (PIT + (1 + age) * MINUTE, PIT + (2 + age) * MINUTE)
        else:
            stamps = (PIT - age * MINUTE, PIT + (1 + revision) * MINUTE)
        size = draw(st.sampled_from([10, 3_000]))
        made.append(article(number + (0 if public else 1_000), *stamps, title=title, body="x" * size) | spoilt)
    return made


OPTIONS = st.sampled_from(
    [
        (), ("--limit", "1"), ("--limit", "3"), ("--keywords", "oil"), ("--max-pages", "1"), ("--max-chars", "4000"),
        ("--date-to", "2024-02-15T15:58:00-05:00"), ("--after", "5@2024-02-15T15:58:00-05:00"),
        ("--lookback-minutes", "2"),
        ("--pretty",), ("--fields", "title"), ("--tickers", "AAPL"), ("--themes", "oil,macro"),
    ]
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    articles(True),
    st.tuples(articles(False), articles(False)),
    st.lists(OPTIONS, max_size=3, unique_by=lambda o: o[:1]),
    st.randoms(use_true_random=False),
)
def test_any_two_worlds_with_the_same_public_articles(
    public: list[dict[str, Any]],
    noises: tuple[list[dict[str, Any]], list[dict[str, Any]]],
    options: list[tuple[str, ...]],
    random: Random,
) -> None:
    words = [word for option in options for word in option]
    worlds = [[*noise, *public] for noise in noises]
    for served in worlds:
        random.shuffle(served)
    left, right = (engine(benzinga.app(served), words) for served in worlds)
    assert left == right


@settings(max_examples=50, deadline=None)
@given(articles(True), articles(False), st.integers(0, 5))
def test_a_later_pit_never_takes_an_unrevised_article_away(
    public: list[dict[str, Any]], later: list[dict[str, Any]], minutes: int
) -> None:
    import json

    def ids(pit: datetime) -> set[str]:
        argv = ["--source", "bz-news-api", "--pit", pit.isoformat(), "--limit", "1000", "--input-file", "-"]
        clock = Clock(lambda: PIT + timedelta(days=300), lambda: 0.0, lambda: 0.0, lambda _: None)
        world = World({}, "/", clock, lambda: json.dumps(public).encode())
        outcome = run_engine(parse(argv, registry.load("bz-news-api"), {}), world, Log(), argv)
        return {item["id"] for item in json.loads(outcome.text)["data"]}

    assert ids(PIT - minutes * MINUTE) <= ids(PIT)


def test_no_data_unknown_and_all_later_are_one_outcome() -> None:
    worlds: list[App] = [
        benzinga.app([]),
        benzinga.app(LATE),
        lambda _: as_json({"ok": False, "errors": [{"code": "no_data_found", "value": "No data"}]}, 404),
        lambda _: Response(b"[]"),
    ]
    assert len({engine(app, ("--tickers", "AAPL")).text for app in worlds}) == 1
