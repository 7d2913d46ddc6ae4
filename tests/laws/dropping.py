"""What ``archive drop`` leaves: nothing of what only the deleted said, and everything else as it was.

Each text of a made-up history holds a word of its own, so who said what can be read off the replies.
"""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

from pit_fetch.archive.store import journal, microseconds, schema
from pit_fetch.archive.store.errors import ArchiveError
from pit_fetch.archive.store.journal import Key
from pit_fetch.archive_admin import maintenance, replay
from pit_fetch.engine import registry
from pit_fetch.testing.server import Answering
from pit_fetch.transport import HttpRequest
from tests.inprocess import fetch
from tests.laws.keeping import ESTIMATES, NEWS, START, told
from tests.memory_folder import scratch
from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive.scene import KEYS, UNLIMITED, Archive, alpha, articles

_WORD = re.compile(rb"word[0-9a-f]{12}")
_HOUR = timedelta(hours=1)
SOURCES = {"bz-news-api": NEWS, "alphavantage": ESTIMATES}


class _World:
    """Two sources that change from hour to hour, and the archives of a few machines that ask them."""

    def __init__(self, rng: Random, folder: Path) -> None:
        self.rng, self.folder, self.now = rng, folder, START
        self.news = {number: self._word() for number in range(1, 4)}
        self.rows = {month: self._word() for month in (3, 6)}

    def machine(self, name: str) -> Archive:
        (self.folder / name).mkdir()
        return Archive(self.folder / name, app=self._answer)

    def copy(self, of: Archive, name: str) -> Archive:
        """A copy of an archive, which goes on by itself from here."""
        made = self.machine(name)
        with closing(of.open()) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(of.path, made.path)
        return made

    def live(self, one: Archive) -> None:
        """An hour of a machine: the world changes a little, and is asked about, or its memory is."""
        rng, words = self.rng, rng_choice(self.rng, SOURCES)
        self.now += _HOUR
        self._change()
        pit = told(START + rng.random() * (self.now - START)) if rng.random() < 0.6 else None
        way = rng.choice(("fetch", "offline", "offline", "capture"))
        if way == "capture":
            source = "source = 'benzinga'\nlookback_minutes = 100000\n"
            if words == ESTIMATES:
                source = "source = 'alphavantage'\nop = 'EARNINGS_ESTIMATES'\nsymbol = 'IBM'\n"
            (one.folder / "list.toml").write_text(f"[[request]]\n{source}")
            assert one.command("capture list.toml --again", told(self.now)).code == 0
            return
        more = rng.choice(("", "", " --limit 2", " --format csv"))
        if words == NEWS:
            more += rng.choice(("", "", " --fields title"))
        ask = one.offline if way == "offline" else one.fetch
        ask(f"{words}{more}", told(self.now), pit)

    def _change(self) -> None:
        for held in (self.news, self.rows):
            number = self.rng.choice(list(held) or [1])
            what = self.rng.choice(("edit", "edit", "add", "remove", "nothing"))
            if what == "edit":
                held[number] = self._word()
            elif what == "add":
                held[number % 10 + 1] = self._word()
            elif what == "remove":
                held.pop(number, None)

    def _word(self) -> str:
        return f"word{self.rng.getrandbits(48):012x}"

    def _answer(self, request: HttpRequest) -> Any:
        if "news" in request.path:
            found = [
                benzinga.article(n, START - timedelta(minutes=n), title=word, body=f"<p>{word}</p>")
                for n, word in self.news.items()
            ]
            return articles(*found)(request)
        said = [
            {"date": f"2026-{month:02}-28", "horizon": "fiscal quarter", "eps_estimate_average": word}
            for month, word in self.rows.items()
        ]
        return alpha(EARNINGS_ESTIMATES={"symbol": "IBM", "estimates": said})(request)


def rng_choice(rng: Random, of: dict[str, str]) -> str:
    return of[rng.choice(list(of))]


@contextmanager
def _world(rng: Random) -> Iterator[_World]:
    with scratch("archive-") as folder:
        yield _World(rng, Path(folder))


def words_in(data: bytes) -> set[bytes]:
    return set(_WORD.findall(data))


def said(one: Archive) -> dict[Key, set[bytes]]:
    """What each fetch was told, by its replies."""
    with closing(one.open()) as connection:
        found: dict[Key, set[bytes]] = {}
        for key in journal.fetches(connection):
            bodies = [exchange.body for exchange in journal.exchanges_of(connection, key)]
            found[key] = words_in(b"".join(bodies))
        return found


def printed(one: Archive) -> dict[Key, str]:
    """What each fetch printed, as far as that is still there."""
    found = {}
    with closing(one.open()) as connection:
        for key in journal.fetches(connection):
            with contextlib.suppress(ArchiveError):
                found[key] = replay.recorded(connection, key).text
    return found


def everything(one: Archive) -> bytes:
    """Every byte of the archive's files, every row, and every body unpacked."""
    with closing(one.open()) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [repr(row).encode() for name in tables for row in connection.execute(f"SELECT * FROM {name}")]
        digests = [digest for (digest,) in connection.execute("SELECT digest FROM bodies")]
        unpacked = [journal.read_body(connection, digest) for digest in digests]
    files = [path.read_bytes() for path in one.folder.glob("a.db*")]
    return b"\n".join([*files, *rows, *unpacked])


def drop(one: Archive, source: str, before: str) -> None:
    call = f"archive drop --source {source} --before {before} --json"
    dry, done = (json.loads(one.command(f"{call}{more}", "2026-07-01 12:00").out) for more in (" --dry-run", ""))
    assert {**dry, "dry_run": False} == done, "a dry run says something else"


def check(one: Archive, before: dict[Key, set[bytes]], texts: dict[Key, str], *, is_merged: bool = False) -> None:
    """Of what was ``said`` and ``printed`` before, nothing is left that only the deleted said, and all else is.

    Where archives were merged, an answer was judged by the replies of the one that it is from.
    """
    after = said(one)
    assert one.command("archive verify").code == 0, one.command("archive verify").out
    deleted = set().union(*(words for key, words in before.items() if key not in after))
    staying = set().union(*after.values())
    gone = deleted - staying
    assert not gone & words_in(everything(one)), "what was deleted is still there"
    left = printed(one)
    for key, text in texts.items():
        if key not in after:
            assert key not in left
        elif words_in(text.encode()) <= after[key] and '"data"' in text:
            assert left.get(key) == text, "an answer that rests on its own replies is not what it was"
        elif words_in(text.encode()) <= staying and '"data"' in text and not is_merged:
            assert left.get(key) == text, "an answer that repeats nothing deleted is not what it was"
        assert left.get(key, text) == text


def dropped(rng: Random) -> int:
    """A drop leaves nothing of what only the deleted said, and every answer that does not need it."""
    with _world(rng) as world:
        one = world.machine("one")
        for _ in range(rng.randint(4, 9)):
            world.live(one)
        for _ in range(rng.randint(1, 2)):
            before, texts = said(one), printed(one)
            drop(one, rng.choice(list(SOURCES)), _instant(rng, world))
            check(one, before, texts)
            world.live(one)
    return 1


def merged(rng: Random) -> int:
    """A copy that knows nothing of a drop does not bring it back, in whichever order archives are merged."""
    with _world(rng) as world:
        one = world.machine("one")
        for _ in range(rng.randint(2, 5)):
            world.live(one)
        two, three = world.copy(one, "two"), world.machine("three")
        for _ in range(rng.randint(2, 6)):
            world.live(rng.choice((one, two, three)))
        before = {**said(one), **said(two), **(said(three) if three.path.exists() else {})}
        texts = {**printed(one), **printed(two), **(printed(three) if three.path.exists() else {})}
        drop(one, rng.choice(list(SOURCES)), _instant(rng, world))
        world.live(rng.choice((one, two)))
        archives = [archive for archive in (one, two, three) if archive.path.exists()]
        for archive in archives:
            before, texts = {**before, **said(archive)}, {**texts, **printed(archive)}
        made = []
        for place, order in enumerate(rng.sample(list(permutations(archives)), 2)):
            both = world.machine(f"all{place}")
            for archive in order:
                merge(both, archive)
            check(both, before, texts, is_merged=True)
            for archive in order:
                assert merge(both, archive) == 0, "a second merge takes something over"
            made.append(both)
        first, second = made
        assert answers(first, world) == answers(second, world), "the order of merging shows"
        for one_way, other in (made, made[::-1], made):
            merge(one_way, other)
        assert printed(first) == printed(second), "what one of two deleted is not deleted in both"
        merge(two, one)
        check(two, before, texts, is_merged=True)
    return 1


def merge(one: Archive, other: Archive) -> int:
    left = one.command(f"archive merge {other.path} --json")
    assert left.code == 0, left.err
    count: int = json.loads(left.out)["entries"]
    return count


def answers(one: Archive, world: _World) -> list[Any]:
    """What a copy of an archive says of some instants: asking is recorded."""
    late, found = told(world.now + timedelta(days=1)), []
    asked = world.copy(one, f"{one.folder.name}-asked")
    for words in SOURCES.values():
        for hours in range(0, 12, 3):
            found.append(asked.offline(words, late, told(START + hours * _HOUR)).data)
    return found


def under_way(rng: Random) -> int:
    """What is deleted while a fetch answers with it is not recorded as its answer."""
    with _world(rng) as world:
        one = world.machine("one")
        one.fetch(NEWS, told(world.now))
        before, texts = said(one), printed(one)
        world.now += _HOUR
        world._change()
        provider = registry.load("bz-news-api")

        def select(query: Any, record: Any) -> bool:
            if said(one).keys() == before.keys():
                with (
                    closing(schema.open_to_write(str(one.path), 0.01)) as connection,
                    contextlib.suppress(ArchiveError),
                ):
                    maintenance.drop(connection, str(one.path), provider.name, microseconds.number(world.now), 0)
            return provider.select(query, record)

        fetch(
            one.folder,
            *f"--source {NEWS} --offline --pit {world.now.isoformat()}".split(),
            env={**KEYS, **UNLIMITED, "PIT_FETCH_ARCHIVE": str(one.path)},
            now=world.now + _HOUR,
            transport=Answering(world._answer, lambda: world.now),
            provider=provider._replace(select=select),
        )
        drop(one, "benzinga", world.now.isoformat())
        check(one, before, texts)
    return 1


def _instant(rng: Random, world: _World) -> str:
    moment = START + rng.random() * (world.now + _HOUR - START)
    return moment.isoformat()


LAWS = {
    "bz-news-api: archive dropped": dropped,
    "bz-news-api: archive dropped and merged": merged,
    "bz-news-api: archive dropped under way": under_way,
}
