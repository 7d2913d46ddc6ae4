"""A company is one, whatever it is called: by its symbol, in any case, or by its number, with any zeros before it.

``recorded`` holds an archive of captures by either against one whose captures have the numbers that the list of their
day had. ``asked`` says word by word what a symbol in a question stands for, and asks for that. ``live`` does both for a
question to the source. Symbols move from one company to another between two captures, come and go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

from pit_fetch_providers.edgar import subject

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.store import schema
from pit_fetch.engine import registry
from pit_fetch.testing.server import App, Response
from pit_fetch.transport import HttpRequest
from tests.inprocess import Answer
from tests.laws.coverage import table, uncaptured
from tests.memory_folder import scratch
from tests.providers.sec_facts import server as facts
from tests.providers.sec_filings import server as filings
from tests.providers.sec_full_text import server as sec
from tests.unit.archive.scene import Archive

COMPANIES = (sec.APPLE, sec.TESLA)
SYMBOLS = ("AAPL", "TSLA", "BRK-B")
# The captures, and the instants of the questions: before, between and after them.
DAYS = ("2026-05-10", "2026-05-20", "2026-05-30")
PITS = ("2026-05-08 12:00", "2026-05-15 12:00", "2026-05-25 12:00", "2026-06-05 12:00")
LATER = "2026-06-20"
# Of each source, what is asked for, and the same in a list of captures.
QUESTIONS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "sec_filings": ("filings forms=10-K,10-Q", {"op": "filings", "forms": ("10-K", "10-Q")}),
    "sec_facts": ("concept=Assets vintage=all", {"concept": ("Assets",), "vintage": "all"}),
}


class Capture(NamedTuple):
    """What was captured on a day, by symbol or by number, and whose the symbols were then."""

    day: str
    listed: Mapping[str, int]
    asked: Sequence[str | int]

    @property
    def symbols(self) -> set[str]:
        return {who for who in self.asked if isinstance(who, str)}

    @property
    def companies(self) -> list[int]:
        """The numbers of those that were captured. A symbol that is not listed is none."""
        numbers = [self.listed.get(who) if isinstance(who, str) else who for who in self.asked]
        return list(dict.fromkeys(number for number in numbers if number is not None))


class World(NamedTuple):
    source: str
    filed: Sequence[sec.Filing]
    captures: Sequence[Capture]


def _world(rng: Random) -> World:
    filed = []
    for place in range(1, 7):
        accepted = f"2026-{rng.choice(('04', '05'))}-{rng.randint(4, 29):02} 10:30:00"
        company = rng.choice(COMPANIES)
        filed.append(sec.Filing(sec.number(place), rng.choice(("10-K", "10-Q")), accepted, ciks=(company,)))
    captures = []
    for day in DAYS[: rng.randint(1, len(DAYS))]:
        listed = {symbol: rng.choice((*COMPANIES, *COMPANIES, None)) for symbol in SYMBOLS}
        everybody: list[str | int] = [*SYMBOLS, *COMPANIES]
        who = rng.sample(everybody, rng.choice((1, 1, 2, 3)))
        # Somebody is always listed, or the list would be none.
        captures.append(Capture(day, {"A": 1, **{name: cik for name, cik in listed.items() if cik}}, who))
    return World(rng.choice([*QUESTIONS]), filed, captures)


def _app(world: World, day: str, listed: Mapping[str, int]) -> App:
    """The SEC's hosts on a day: what was filed by then."""
    filed = [filing for filing in world.filed if filing.accepted[:10] < day]
    plain = filings.app([filings.Filed(filing) for filing in filed], tickers=listed)

    def answer(request: HttpRequest) -> Response:
        match = re.fullmatch(r"/api/xbrl/companyfacts/CIK([0-9]{10})\.json", request.path)
        if match is None:
            return plain(request)
        own = [filing for filing in filed if filing.ciks == (int(match[1]),)]
        reported = [facts.Reported(filing, "Assets", "2026-03-31", place) for place, filing in enumerate(own)]
        body = json.dumps(facts.document(reported, int(match[1]))).encode()
        return Response(body) if reported else sec.NO_SUCH_KEY

    return answer


@contextmanager
def _archive(world: World, captures: Sequence[Capture]) -> Iterator[Archive]:
    with scratch("archive-") as name:
        folder = Path(name)
        kept = Archive(folder, env={"SEC_USER_AGENT": sec.USER_AGENT, "XDG_CACHE_HOME": str(folder / "cache")})
        for capture in captures:
            requests = [
                {**QUESTIONS[world.source][1], ("symbol" if isinstance(who, str) else "cik"): str(who)}
                for who in capture.asked
            ]
            kept.app = _app(world, capture.day, capture.listed)
            (folder / "list.toml").write_text("".join(table(world.source, request) for request in requests))
            kept.command("capture list.toml --again", f"{capture.day} 15:00")
        yield kept


def _offline(kept: Archive, world: World, who: str, pit: str) -> Answer:
    return kept.offline(f"{world.source} {QUESTIONS[world.source][0]} {who} --limit 100", f"{LATER} 12:00", pit)


def _said(answer: Answer) -> object:
    """What an answer says, but for the words of the question and what holds of every symbol."""
    gaps = [
        (gap["type"], " ".join(gap["reason"].replace(subject.SYMBOLS, "").split()), gap.get("captured"))
        for gap in answer.envelope["gaps"]
        if "symbol means" not in gap["reason"]
    ]
    return answer.data, gaps


def _spelled(rng: Random, who: str | int) -> str:
    if isinstance(who, str):
        return "symbol=" + rng.choice((who, who.lower(), who.replace("-", ".")))
    return f"cik={rng.choice((str(who), f'{who:010d}', f'CIK{who}'))}"


def recorded(rng: Random) -> int:
    """A capture by symbol is one of the company that its own list has, in an index made anew or of format 4, too."""
    world, pit = _world(rng), rng.choice(PITS)
    by_number = [capture._replace(asked=capture.companies) for capture in world.captures]
    questions = [_spelled(rng, company) for company in COMPANIES]
    with _archive(world, [capture for capture in by_number if capture.asked]) as kept:
        if not kept.path.exists():  # no symbol was listed
            return 0
        expected = [_said(_offline(kept, world, who, pit)) for who in questions]
    with _archive(world, world.captures) as kept:
        if rng.random() < 0.5:
            kept.take_up()
        assert [_said(_offline(kept, world, who, pit)) for who in questions] == expected, world
        _made_format_4(kept)
        kept.take_up()
        assert [_said(_offline(kept, world, who, pit)) for who in questions] == expected, "brought to this format"
        kept.command("archive rebuild")
        assert [_said(_offline(kept, world, who, pit)) for who in questions] == expected, "made anew"
        assert kept.command("archive verify").code == 0
    return 1


def _made_format_4(kept: Archive) -> None:
    """Make the index as it was when a stream was named by the words of its requests."""
    with closing(kept.open()) as connection:
        with (
            schema.transaction(connection),
            patch.object(Archived, "resolve_names", lambda archived, key, recorded: recorded),
        ):
            Archived(connection, registry.load).rebuild()
        connection.execute("PRAGMA user_version = 4")


def asked(rng: Random) -> int:
    """A symbol in a question means what the lists of the captures say as of the PIT: the answer is that company's."""
    world, pit = _world(rng), rng.choice(PITS)
    done = 0
    with _archive(world, world.captures) as kept:
        for symbol in SYMBOLS:
            meant = _meant(world, symbol, pit)
            left = _offline(kept, world, _spelled(rng, symbol), pit)
            if meant is None:
                # That nobody had the symbol when it was captured tells nothing of the PIT.
                is_captured = any(symbol in capture.symbols and capture.day > pit for capture in world.captures)
                assert (left.data, uncaptured(left)) == ([], not is_captured), (symbol, pit, world)
            else:
                assert _said(left) == _said(_offline(kept, world, _spelled(rng, meant), pit)), (symbol, pit, world)
            done += 1
    return done


def _meant(world: World, symbol: str, pit: str) -> int | None:
    """Say it again, word by word."""
    with_list = [capture for capture in world.captures if capture.symbols]
    by_then = [capture for capture in with_list if capture.day < pit]
    later = [capture for capture in with_list if capture not in by_then]
    nearest = [*by_then[::-1], *later][:1]
    alike = [capture for capture in (*by_then[::-1], *later) if symbol in capture.symbols]
    return next((each.listed[symbol] for each in (*nearest, *alike) if symbol in each.listed), None)


def live(rng: Random) -> int:
    """A question to the source goes by today's list, and its archive answers, and keeps it, as that company's."""
    world, pit = _world(rng), rng.choice(PITS)
    symbol, listed = rng.choice(SYMBOLS), {"A": 1, **{name: rng.choice(COMPANIES) for name in SYMBOLS}}
    words = f"{world.source} {QUESTIONS[world.source][0]} --limit 100"
    # What the source has dropped, an archive adds.
    served = world._replace(filed=rng.sample(world.filed, rng.randint(2, len(world.filed))))
    said = []
    for who in (symbol, listed[symbol]):
        with _archive(world, world.captures) as kept:
            kept.app = _app(served, LATER, listed)
            answer = kept.fetch(f"{words} {_spelled(rng, who)}", f"{LATER} 11:00", pit)
            again = _offline(kept, world, _spelled(rng, listed[symbol]), pit)
            said.append((_said(answer), _said(again)))
    assert said[0] == said[1], (symbol, pit, world)
    return 1


LAWS = {
    "archive: names recorded": recorded,
    "archive: names asked": asked,
    "archive: names live": live,
}
