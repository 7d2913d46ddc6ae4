"""An archive, and what fills it: a server whose content a test changes, and a clock that it sets."""

from __future__ import annotations

import os
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.store import journal, microseconds, schema
from pit_fetch.cli.arguments import parse
from pit_fetch.engine.registry import load
from pit_fetch.net.hosts import base_url
from pit_fetch.provider import Provider
from pit_fetch.testing.inprocess import Left, TestClock, run
from pit_fetch.testing.server import Answering, App
from pit_fetch.transport import HttpRequest
from tests.inprocess import Answer, fetch
from tests.providers.alphavantage import server as alphavantage
from tests.providers.bz_news_api import server as benzinga

KEYS = {"ALPHAVANTAGE_API_KEY": alphavantage.KEY, "BENZINGA_API_KEY": benzinga.TOKEN}
UNLIMITED = {
    "PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "10000/0.001",
    "PIT_FETCH_RATE_API_BENZINGA_COM": "10000/0.001",
}


def at(text: str) -> datetime:
    """Parse ``2026-06-01 15:00`` as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Archive:
    """The command in process, with an archive. ``app`` is the current server, ``asked`` the requests it received."""

    folder: Path
    app: App = lambda request: (_ for _ in ()).throw(AssertionError("no network"))
    asked: list[HttpRequest] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / "a.db"

    def fetch(
        self,
        words: str,
        now: str,
        pit: str | None = None,
        *,
        archive: bool = True,
        env: dict[str, str] | None = None,
        command: str = "",
    ) -> Answer:
        transport = Answering(self._send, lambda: at(now))
        variables = {**KEYS, **UNLIMITED, **self.env, **(env or {})}
        if archive:
            variables = {"PIT_FETCH_ARCHIVE": str(self.path), **variables}
        asked = ("--pit", at(pit).isoformat()) if pit else ()
        asked = (*command.split(), "--source", *words.split(), *asked)
        done = fetch(self.folder, *asked, env=variables, now=at(now), transport=transport)
        if transport.error is not None:
            raise transport.error
        return done

    def offline(self, words: str, now: str, pit: str | None = None, command: str = "") -> Answer:
        """Fetch without a network."""
        before, self.app = self.app, _nobody
        try:
            return self.fetch(f"{words} --offline", now, pit, env=dict.fromkeys(KEYS, ""), command=command)
        finally:
            self.app = before

    def remembered(self, words: str, now: str, pit: str | None = None) -> Answer:
        """Fetch without a network, take up what is due, and record the answer, as versions of format 2 did."""
        self.take_up()
        answer = self.offline(words, now, pit)
        provider = load(words.split()[0])
        request = parse(("--source", *words.split(), *(("--pit", at(pit).isoformat()) if pit else ())), provider, {})
        fetch = journal.FetchEntry(
            began=microseconds.to_micros(at(now)),
            kind="offline",
            source=provider.name,
            version="",
            plan="",
            hosts={host.name: base_url(host, {}) for host in provider.hosts},
            request=request.canonical,
            pit=microseconds.to_micros(request.pit),
        )
        with closing(self.open()) as connection, schema.transaction(connection):
            writer = journal.Writer(connection)
            ended = journal.Ended(writer.last_seen(), False, answer.code)
            writer.append_answer(writer.append_fetch(fetch), ended, answer.text.encode())
        return answer

    def command(
        self,
        words: str,
        now: str = "2026-07-01 12:00",
        *,
        env: dict[str, str] | None = None,
        terminal: bool = False,
        provider: Provider | None = None,
    ) -> Left:
        """Run ``pit_fetch archive`` or ``pit_fetch capture`` against the current server."""
        transport, clock = Answering(self._send, lambda: at(now)), TestClock(at(now))
        variables = {"PIT_FETCH_ARCHIVE": str(self.path), **KEYS, **UNLIMITED, **self.env, **(env or {})}
        left = run(
            shlex.split(words),
            transport=transport,
            clock=clock.value(),
            environ=variables,
            folder=self.folder,
            terminal=terminal,
            provider=provider,
        )
        if transport.error is not None:
            raise transport.error
        return left

    def take_up(self) -> None:
        """Add all fetches to the index that are due."""
        with closing(self.open()) as connection, schema.transaction(connection):
            for (stream,) in connection.execute("SELECT name FROM streams").fetchall():
                Archived(connection, load).ingest_all(stream)

    def open(self) -> sqlite3.Connection:
        return schema.open_to_write(str(self.path))

    def process(self, url: str, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[bytes]:
        """Start the command as a process of its own, with every source at ``url``."""
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PIT_FETCH_ARCHIVE": str(self.path),
            "PIT_FETCH_BENZINGA_URL": url,
            "PIT_FETCH_ALPHAVANTAGE_URL": url,
            **KEYS,
            **UNLIMITED,
            **(env or {}),
        }
        command = [sys.executable, "-m", "pit_fetch", *words]
        return subprocess.Popen(command, env=variables, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def bodies(self) -> list[bytes]:
        """Return every body, unpacked."""
        with closing(self.open()) as connection:
            digests = connection.execute("SELECT digest FROM bodies").fetchall()
            return [journal.read_body(connection, digest) for (digest,) in digests]

    def everything(self) -> bytes:
        """Return every byte of the files, every row, and every body unpacked."""
        with closing(self.open()) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            rows = [repr(row).encode() for name in tables for row in connection.execute(f"SELECT * FROM {name}")]
            bodies = self.bodies()
            files = [path.read_bytes() for path in sorted(self.folder.glob("a.db*"))]
        return b"\n".join([*files, *rows, *bodies])

    def _send(self, request: HttpRequest) -> Any:
        self.asked.append(request)
        return self.app(request)


def _nobody(request: HttpRequest) -> Any:
    raise AssertionError("the network was asked")


def fill_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no archive that is opened from now on grow."""
    real = schema.open_to_write

    def small(path: str, busy_seconds: float = 1.0) -> sqlite3.Connection:
        connection = real(path, busy_seconds)
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        return connection

    monkeypatch.setattr(schema, "open_to_write", small)


def estimates(*rows: tuple[str, str]) -> App:
    """Alpha Vantage, with these estimates of IBM: the day on which a quarter ends, and the average."""
    found = [{"date": day, "horizon": "fiscal quarter", "eps_estimate_average": average} for day, average in rows]
    return alpha(EARNINGS_ESTIMATES={"symbol": "IBM", "estimates": found})


def alpha(**documents: Any) -> App:
    """Alpha Vantage, with these documents by function."""
    return alphavantage.app(alphavantage.Store(documents=documents))


def articles(*rows: dict[str, Any]) -> App:
    """Benzinga, with these articles."""
    return benzinga.app(rows)
