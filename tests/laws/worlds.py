"""Worlds and the program in them: everything but the sockets is real, and everything that leaves it is seen."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import quote
from zoneinfo import ZoneInfo

import pit_fetch.cli
import pit_fetch.http
from pit_fetch import registry
from pit_fetch.provider import Provider, Reply
from pit_fetch.world import Clock, World
from tests.loopback import alphavantage, benzinga, sec
from tests.loopback.server import App, Request

NEW_YORK = ZoneInfo("America/New_York")
# It stands in every text of every record that was not public; so wherever it turns up is a leak.
CANARY = "CANARY"

VARIABLES = {
    "BENZINGA_API_KEY": benzinga.TOKEN,
    "ALPHAVANTAGE_API_KEY": alphavantage.KEY,
    "SEC_USER_AGENT": sec.USER_AGENT,
}
SECRETS = (benzinga.TOKEN, alphavantage.KEY)

# Ordinary hours, both clock changes, midnights, after hours, a Sunday, a fraction, the end of a year.
PITS = (
    "2024-02-15T16:00:00-05:00",
    "2024-02-15T17:45:00-05:00",
    "2024-02-15T19:30:00-05:00",
    "2024-02-15T20:00:00-05:00",
    "2024-02-15T15:59:59.9999999-05:00",
    "2024-07-03T09:30:00-04:00",
    "2024-02-16T00:00:00-05:00",
    "2024-02-15T23:59:59-05:00",
    "2024-02-15T00:00:00Z",
    "2024-03-10T03:30:00-04:00",
    "2023-11-05T01:30:00-04:00",
    "2023-11-05T01:30:00-05:00",
    "2024-06-15T12:00:00.5+02:00",
    "2024-02-18T12:00:00-05:00",
    "2023-12-31T20:00:01-05:00",
    "2024-02-15T05:59:59-05:00",
)

# Distances at which a wrong zone, a day's start for its end, or a minute cut off would show.
SECONDS = (0, 1, 59, 60, 61, 179, 180, 3_599, 3_600, 3_601, 10_800, 14_399, 14_400, 14_401, 17_999, 18_000, 18_001)
LONG = (20_000, 43_200, 61_200, 86_399, 86_400, 100_000, 172_800, 400_000, 700_000, 1_000_000, 3_000_000)


class Case(NamedTuple):
    """One question and the worlds in which it has one answer.

    worlds    the first one serves what was public and nothing else
    sizes     "module:NAME" -> value: page, slice and cap sizes; the answer may not depend on those in ``resized``
    plain     ids that must be kept where nothing but the PIT narrows the request; None where something does
    immutable whether a record that was once public stays so
    """

    source: str
    pit: str
    words: tuple[str, ...]
    worlds: tuple[App, ...]
    sizes: Mapping[str, Any] = {}
    resized: tuple[Mapping[str, Any], ...] = ()
    page_size: int | None = None
    terminal: bool = False
    plain: frozenset[str] | None = None
    immutable: bool = True

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.pit)


class Left(NamedTuple):
    """Everything that leaves the process."""

    out: str
    err: str
    code: int
    files: tuple[tuple[str, bytes], ...]

    @property
    def ids(self) -> list[str]:
        return [item["id"] for item in json.loads(self.out)["data"]]

    @property
    def gaps(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(self.out)["gaps"]
        return found

    @property
    def gap_types(self) -> list[str]:
        return [gap["type"] for gap in self.gaps]


def run(
    case: Case,
    app: App,
    *,
    pit: str | None = None,
    now: datetime | None = None,
    sizes: Mapping[str, Any] | None = None,
    words: Sequence[str] | None = None,
    stdin: bytes = b"",
    environ: Mapping[str, str] | None = None,
    keep_files: bool = False,
) -> Left:
    """The command in this process. Files of the run before are removed first, unless they are to be kept."""
    home = _home()
    if not keep_files:
        _clear(home)
    moment = case.moment + timedelta(days=900) if now is None else now
    out, err = io.StringIO(), _Terminal() if case.terminal else io.StringIO()
    argv = ["--source", case.source, "--pit", pit or case.pit, *(case.words if words is None else words)]
    environ = {"HOME": str(home), **VARIABLES, **(environ or {})}
    clock = Clock(lambda: moment, lambda: 0.0, lambda: moment.timestamp(), lambda _: None)
    with _replaced(case, sizes if sizes is not None else case.sizes, environ) as stack:
        stack.enter_context(patch.object(pit_fetch.http.Client, "_exchange_in_time", _exchange(app, moment)))
        real = World(environ, str(home), clock, lambda: stdin)
        stack.enter_context(patch("pit_fetch.world.real_world", lambda *_: real))
        stack.enter_context(patch.object(sys, "stdout", out))
        stack.enter_context(patch.object(sys, "stderr", err))
        code = int(pit_fetch.cli.main(argv))
    return Left(out.getvalue(), err.getvalue(), code, tuple(_files(home)))


def noise_count(rng: Random) -> int:
    return rng.choice((0, 1, 2, 3, 5, 8, 13))


def near(rng: Random, least: int = 0) -> timedelta:
    """A distance from the PIT: ``least`` seconds or more."""
    return timedelta(seconds=max(least, rng.choice(SECONDS if rng.random() < 0.6 else LONG)))


def options(rng: Random, choices: Mapping[str, Sequence[tuple[str, ...]]], most: int = 4) -> tuple[str, ...]:
    """Some of the options, each with one of its values."""
    names = rng.sample(sorted(choices), rng.choice(tuple(range(most + 1))))
    return tuple(word for name in names for word in rng.choice(choices[name]))


def common(moment: datetime, ids: Sequence[str], rng: Random) -> dict[str, Sequence[tuple[str, ...]]]:
    """The options that every source has, around ``moment``. ``ids`` are public ones, for cursors."""
    day, before = moment.astimezone(NEW_YORK).date(), (moment - near(rng)).astimezone(NEW_YORK)
    cursor = f"{quote(rng.choice(ids) if ids else 'x', safe='')}@{before.isoformat()}"
    return {
        "limit": [("--limit", "1"), ("--limit", "2"), ("--limit", "5"), ("--limit", "500")],
        "max-pages": [("--max-pages", "1"), ("--max-pages", "2")],
        "max-chars": [("--max-chars", "4000"), ("--max-chars", "6000")],
        "date-from": [("--date-from", (day - timedelta(days=n)).isoformat()) for n in (0, 1, 8)]
        + [("--date-from", before.isoformat())],
        "date-to": [("--date-to", (day + timedelta(days=n)).isoformat()) for n in (0, 1)]
        + [("--date-to", (moment + timedelta(hours=2)).isoformat())],
        "after": [("--after", cursor)],
        "pretty": [("--pretty",)],
        "verbose": [("-v",)],
        "fail": [("--fail",)],
    }


@cache
def _home() -> Path:
    return Path(mkdtemp(prefix="laws-"))


def _clear(home: Path) -> None:
    for name, _ in list(_files(home)):
        (home / name).unlink()


def _files(home: Path) -> Iterator[tuple[str, bytes]]:
    """Every file but for timing: the limiter's state, and the first line of a kept file, which says since when."""
    for folder, _, names in os.walk(home):
        for name in sorted(names):
            path = Path(folder, name)
            if not name.startswith("rate-"):
                body = path.read_bytes()
                yield str(path.relative_to(home)), body.partition(b"\n")[2] if name.startswith("file-") else body


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def _replaced(case: Case, sizes: Mapping[str, Any], environ: Mapping[str, str]) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        # The process's own collector belongs to the test run.
        stack.enter_context(patch.object(pit_fetch.cli, "gc", SimpleNamespace(disable=lambda: None)))
        stack.enter_context(patch.dict(os.environ, environ, clear=True))
        stack.enter_context(patch.object(pit_fetch.http.Client, "_wait_for_turn", lambda *_: None))
        for name, value in sizes.items():
            module, _, attribute = name.partition(":")
            stack.enter_context(patch.object(import_module(module), attribute, value))
        if case.page_size is not None:
            provider = _with_page_size(case.source, case.page_size)
            stack.enter_context(patch.object(registry, "load", lambda _: provider))
        yield stack


@cache
def _with_page_size(source: str, page_size: int) -> Provider:
    return replace(registry.load(source), page_size=page_size)


def _exchange(app: App, moment: datetime) -> Any:
    def exchange(
        self: pit_fetch.http.Client, host: Any, base: str, url: str, params: Mapping[str, Any], headers: Any
    ) -> Reply:
        self.requests_made += 1
        self.on_request(url)
        reply = app(Request(url[len(base) :], params, headers))
        return Reply(reply.status, reply.headers, reply.body, moment)

    return exchange
