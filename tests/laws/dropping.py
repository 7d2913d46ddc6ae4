"""The laws of ``archive drop``: nothing remains that only the deleted replies contain, and everything else does.

Each text of a generated history contains a word of its own, so the replies show which of them contained what.
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
from tests.unit.archive.scene import KEYS, UNLIMITED, Archive, articles, estimates

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
        """Return a copy of an archive, which goes on by itself from here."""
        made = self.machine(name)
        with closing(of.open()) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copy(of.path, made.path)
        return made

    def live(self, archive: Archive) -> None:
        """Let an hour pass: the sources change a little, and a machine asks them, or its archive."""
        rng, words = self.rng, rng_choice(self.rng, SOURCES)
        self.now += _HOUR
        self._change()
        pit = told(START + rng.random() * (self.now - START)) if rng.random() < 0.6 else None
        way = rng.choice(("fetch", "offline", "offline", "capture"))
        if way == "capture":
            source = "source = 'benzinga'\nlookback_minutes = 100000\nmay_be_empty = true\n"
            if words == ESTIMATES:
                source = "source = 'alphavantage'\nop = 'EARNINGS_ESTIMATES'\nsymbol = 'IBM'\nmay_be_empty = true\n"
            (archive.folder / "list.toml").write_text(f"[[request]]\n{source}")
            assert archive.command("capture list.toml --again", told(self.now)).code == 0
            return
        more = rng.choice(("", "", " --limit 2", " --format csv"))
        if words == NEWS:
            more += rng.choice(("", "", " --fields title"))
        ask = archive.remembered if way == "offline" else archive.fetch
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
        return estimates(*((f"2026-{month:02}-28", word) for month, word in self.rows.items()))(request)


def rng_choice(rng: Random, of: dict[str, str]) -> str:
    return of[rng.choice(list(of))]


@contextmanager
def _world(rng: Random) -> Iterator[_World]:
    with scratch("archive-") as folder:
        yield _World(rng, Path(folder))


def words_in(data: bytes) -> set[bytes]:
    return set(_WORD.findall(data))


def received(archive: Archive) -> dict[Key, set[bytes]]:
    """Return the words in the replies to each fetch."""
    with closing(archive.open()) as connection:
        found: dict[Key, set[bytes]] = {}
        for key in journal.fetches(connection):
            bodies = [exchange.body for exchange in journal.exchanges_of(connection, key)]
            found[key] = words_in(b"".join(bodies))
        return found


def printed(archive: Archive) -> dict[Key, str]:
    """Return what each fetch printed, as far as it is still recorded."""
    found = {}
    with closing(archive.open()) as connection:
        for key in journal.fetches(connection):
            with contextlib.suppress(ArchiveError):
                found[key] = replay.recorded_answer(connection, key).text
    return found


def drop(archive: Archive, source: str, before: str) -> None:
    call = f"archive drop --source {source} --before {before} --json"
    dry, done = (json.loads(archive.command(f"{call}{more}", "2026-07-01 12:00").out) for more in (" --dry-run", ""))
    assert {**dry, "dry_run": False} == done, "a dry run counts otherwise"


def check(archive: Archive, before: dict[Key, set[bytes]], texts: dict[Key, str], source: str) -> None:
    """Check that nothing remains that only deleted replies contain, and that the answers of other sources do.

    ``before`` and ``texts`` are what was received and printed before the deletion of fetches of the ``source``.
    """
    after = received(archive)
    assert archive.command("archive verify").code == 0, archive.command("archive verify").out
    deleted = set().union(*(words for key, words in before.items() if key not in after))
    staying = set().union(*after.values())
    gone = deleted - staying
    assert not gone & words_in(archive.everything()), "what was deleted is still there"
    left = printed(archive)
    with closing(archive.open()) as connection:
        fetches = {key: journal.fetch_of(connection, key) for key in after}
    for key, text in texts.items():
        fetch = fetches.get(key)
        if fetch is None:
            assert key not in left
        elif fetch.source != source or (fetch.kind == "live" and fetch.pit is None):
            assert left.get(key) == text, "an answer that repeats nothing deleted is not what it was"
        assert left.get(key, text) == text


def dropped(rng: Random) -> int:
    """A drop leaves nothing that only the deleted replies contain, and every answer that does not need them."""
    with _world(rng) as world:
        first = world.machine("one")
        for _ in range(rng.randint(4, 9)):
            world.live(first)
        for _ in range(rng.randint(1, 2)):
            before, texts, source = received(first), printed(first), rng.choice(list(SOURCES))
            drop(first, source, _instant(rng, world))
            check(first, before, {**texts}, source)
            world.live(first)
    return 1


def merged(rng: Random) -> int:
    """A copy that knows nothing of a drop does not bring it back, in whichever order archives are merged."""
    with _world(rng) as world:
        first = world.machine("one")
        for _ in range(rng.randint(2, 5)):
            world.live(first)
        two, three = world.copy(first, "two"), world.machine("three")
        for _ in range(rng.randint(2, 6)):
            world.live(rng.choice((first, two, three)))
        before = {**received(first), **received(two), **(received(three) if three.path.exists() else {})}
        texts = {**printed(first), **printed(two), **(printed(three) if three.path.exists() else {})}
        asked = rng.choice(list(SOURCES))
        drop(first, asked, _instant(rng, world))
        world.live(rng.choice((first, two)))
        archives = [archive for archive in (first, two, three) if archive.path.exists()]
        for archive in archives:
            before, texts = {**before, **received(archive)}, {**texts, **printed(archive)}
        made = []
        for place, order in enumerate(rng.sample(list(permutations(archives)), 2)):
            both = world.machine(f"all{place}")
            for archive in order:
                merge(both, archive)
            check(both, before, texts, asked)
            for archive in order:
                assert merge(both, archive) == 0, "a second merge takes something over"
            made.append(both)
        assert answers(made[0], world) == answers(made[1], world), "the order of merging shows"
        for target, source in (made, made[::-1], made):
            merge(target, source)
        assert printed(made[0]) == printed(made[1]), "what first of two deleted is not deleted in both"
        merge(two, first)
        check(two, before, texts, asked)
    return 1


def merge(archive: Archive, other: Archive) -> int:
    left = archive.command(f"archive merge {other.path} --json")
    assert left.code == 0, left.err
    count: int = json.loads(left.out)["entries"]
    return count


def answers(archive: Archive, world: _World) -> list[Any]:
    """Return the answers of a copy of an archive at some instants: asking is recorded."""
    late, found = told(world.now + timedelta(days=1)), []
    asked = world.copy(archive, f"{archive.folder.name}-asked")
    for words in SOURCES.values():
        for hours in range(0, 12, 3):
            found.append(asked.offline(words, late, told(START + hours * _HOUR)).data)
    return found


def under_way(rng: Random) -> int:
    """What is deleted while a fetch answers with it is not recorded as its answer."""
    with _world(rng) as world:
        first = world.machine("one")
        first.fetch(ESTIMATES, told(world.now))
        before, texts = received(first), printed(first)
        world.now += _HOUR
        provider = registry.load("alphavantage")

        def select(query: Any, record: Any) -> bool:
            if received(first).keys() == before.keys():
                with (
                    closing(schema.open_to_write(str(first.path), 0.01)) as connection,
                    contextlib.suppress(ArchiveError),
                ):
                    before_now = maintenance.Deletion(provider.name, before=microseconds.to_micros(world.now))
                    maintenance.drop(connection, before_now, 0)
            return provider.select(query, record)

        fetch(
            first.folder,
            *f"--source {ESTIMATES} --pit {world.now.isoformat()}".split(),  # a snapshot, which the archive alone has
            env={**KEYS, **UNLIMITED, "PIT_FETCH_ARCHIVE": str(first.path)},
            now=world.now + _HOUR,
            transport=Answering(world._answer, lambda: world.now),
            provider=provider._replace(select=select),
        )
        drop(first, "alphavantage", world.now.isoformat())
        check(first, before, texts, "alphavantage")
    return 1


def _instant(rng: Random, world: _World) -> str:
    moment = START + rng.random() * (world.now + _HOUR - START)
    return moment.isoformat()


LAWS = {
    "bz-news-api: archive dropped": dropped,
    "bz-news-api: archive dropped and merged": merged,
    "alphavantage: archive dropped under way": under_way,
}
