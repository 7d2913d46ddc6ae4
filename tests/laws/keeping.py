"""The laws of an archive on generated histories: what belongs to a stream, what a snapshot is, where a mixed answer
stops, and what a capture proves of the past."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest
from tests.memory_folder import scratch
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import Archive, articles, at, estimates

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


def apart(rng: Random) -> int:
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
    "bz-news-api: archive apart": apart,
    "alphavantage: archive snapshots": snapshots,
    "bz-news-api: archive stops": stops,
    "bz-news-api: archive captures": captures,
    "command: archive under a ceiling": under_a_ceiling,
}
