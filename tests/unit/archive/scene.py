"""One archive, and what fills it: a server whose content a test changes, and a clock that it sets."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pit_fetch.archive.store import journal, schema
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
    """``2026-06-01 15:00`` in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class Archive:
    """The command in process, with an archive. ``app`` is the server as it is now; ``asked`` is what it was asked."""

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
        """The same without a network."""
        before, self.app = self.app, _nobody
        try:
            return self.fetch(f"{words} --offline", now, pit, env=dict.fromkeys(KEYS, ""), command=command)
        finally:
            self.app = before

    def command(
        self,
        words: str,
        now: str = "2026-07-01 12:00",
        *,
        env: dict[str, str] | None = None,
        terminal: bool = False,
        provider: Provider | None = None,
    ) -> Left:
        """``pit_fetch archive`` and ``capture``, which ask the server as it is now."""
        transport, clock = Answering(self._send, lambda: at(now)), TestClock(at(now))
        variables = {"PIT_FETCH_ARCHIVE": str(self.path), **KEYS, **UNLIMITED, **self.env, **(env or {})}
        left = run(
            words.split(),
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

    def open(self) -> sqlite3.Connection:
        return schema.open_to_write(str(self.path))

    def bodies(self) -> list[bytes]:
        """Every body, unpacked."""
        connection = self.open()
        digests = connection.execute("SELECT digest FROM bodies").fetchall()
        return [journal.read_body(connection, digest) for (digest,) in digests]

    def _send(self, request: HttpRequest) -> Any:
        self.asked.append(request)
        return self.app(request)


def _nobody(request: HttpRequest) -> Any:
    raise AssertionError("the network was asked")


def alpha(**documents: Any) -> App:
    """Alpha Vantage, with these documents by function."""
    return alphavantage.app(alphavantage.Store(documents=documents))


def articles(*rows: dict[str, Any]) -> App:
    """Benzinga, with these articles."""
    return benzinga.app(rows)
