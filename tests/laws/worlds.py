"""Worlds and the program in them: everything but the sockets is real, and everything that leaves it is seen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from functools import cache
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from typing import Any, NamedTuple
from unittest.mock import patch
from urllib.parse import quote
from zoneinfo import ZoneInfo

from pit_fetch.cli.arguments import parse
from pit_fetch.engine import registry
from pit_fetch.provider import Operation, Provider
from pit_fetch.request.audience import CEILING_VARIABLE
from pit_fetch.request.operations import candidate_operations
from pit_fetch.runtime import Runtime
from pit_fetch.testing import inprocess
from pit_fetch.testing.comparison import CANARY as CANARY  # for the worlds of each source
from pit_fetch.testing.comparison import holds
from pit_fetch.testing.inprocess import Left, TestClock, files_in, unhurried
from pit_fetch.testing.server import Answering, App, Response
from pit_fetch.transport import HttpReply, HttpRequest
from tests.providers import modules

NEW_YORK = ZoneInfo("America/New_York")
SAMPLE_KEY = "sample-0123456789abcdef"
VARIABLES = {"SAMPLE_API_KEY": SAMPLE_KEY}
for _server in modules("server").values():
    VARIABLES |= _server.VARIABLES
# All of them but who is asking, which the SEC wants to know and is no secret.
SECRETS = tuple(value for name, value in VARIABLES.items() if "KEY" in name)

PITS = (
    *("2024-02-15T16:00:00-05:00", "2024-07-03T09:30:00-04:00", "2024-06-15T12:00:00.5+02:00"),  # ordinary hours
    *("2024-02-15T17:45:00-05:00", "2024-02-15T19:30:00-05:00", "2024-02-15T20:00:00-05:00"),  # after hours
    *("2024-02-15T00:00:00Z", "2024-02-16T00:00:00-05:00", "2024-02-15T23:59:59-05:00", "2024-02-15T05:59:59-05:00"),
    *("2024-03-10T03:30:00-04:00", "2023-11-05T01:30:00-04:00", "2023-11-05T01:30:00-05:00"),  # both clock changes
    *("2024-02-15T15:59:59.9999999-05:00", "2024-02-18T12:00:00-05:00", "2023-12-31T20:00:01-05:00"),
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
    is_of_now whether every record is of the moment of the fetch
    provider  the source itself, where ``source`` is not one of the bundled ones
    ceiling   the operator's, if there is one
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
    is_of_now: bool = False
    provider: Provider | None = None
    ceiling: str = ""

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.pit)


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
    still: bool = False,
    leap: float = 0.0,
    command: str = "",
    line: Sequence[str] = (),
) -> Left:
    """The command in this process. Files of the run before are removed first, unless they are to be kept.

    ``pit`` "" is open mode. ``command`` is the word before the options of what is not a fetch; ``line``, if given, is
    the whole command line. ``still``: the time of day stands still, however long the program waits. ``leap``: so many
    seconds pass between the receipt of a reply and whatever is done with it.
    """
    home = _home()
    if not keep_files:
        _clear(home)
    clock = TestClock(case.moment + timedelta(days=900) if now is None else now)
    seen = clock.value()._replace(now=lambda: clock.start) if still else clock.value()
    transport, asked = _Leaping(app, seen.now, clock, leap), case.pit if pit is None else pit
    ceiling = {CEILING_VARIABLE: case.ceiling} if case.ceiling else {}
    with resized(case.sizes if sizes is None else sizes):
        left = inprocess.run(
            line
            or [
                *([command] if command else []),
                *("--source", case.source),
                *(("--pit", asked) if asked else ()),
                *(case.words if words is None else words),
            ],
            transport=transport,
            clock=seen,
            environ={"HOME": str(home), **VARIABLES, **ceiling, **(environ or {})},
            folder=home,
            stdin=stdin,
            terminal=case.terminal,
            provider=unhurried(provider_of(case)),
        )
    check_asked(transport.exchanges, case.provider or registry.load(case.source))
    return left


@contextmanager
def surroundings(case: Case, app: App) -> Iterator[Runtime]:
    """The surroundings of a program that runs in this process and answers more than one question."""
    home = _home()
    _clear(home)
    clock = TestClock(case.moment + timedelta(days=900))
    transport, provider = Answering(app, clock.now), unhurried(provider_of(case))
    environ = {"HOME": str(home), **VARIABLES, **({CEILING_VARIABLE: case.ceiling} if case.ceiling else {})}
    with resized(case.sizes):
        yield Runtime(environ, str(home), clock.value(), transport, lambda _: provider, lambda _: b"")
    check_asked(transport.exchanges, provider)


class _Leaping(Answering):
    def __init__(self, app: App, now: Callable[[], datetime], clock: TestClock, seconds: float) -> None:
        super().__init__(app, now, clock.value().sleep)
        self.clock, self.seconds = clock, seconds

    def send(self, request: HttpRequest) -> HttpReply:
        reply = super().send(request)
        self.clock.passed += self.seconds
        return reply


def provider_of(case: Case) -> Provider:
    """The source as the case has it."""
    if case.provider is not None:
        return case.provider
    return _with_page_size(case.source, case.page_size) if case.page_size else registry.load(case.source)


def operation_of(case: Case) -> Operation:
    """The operation that the case asks for."""
    provider = case.provider or registry.load(case.source)
    request = parse(("--source", case.source, *case.words), provider, {})
    return candidate_operations(provider, request.options)[0]


def check_asked(exchanges: Iterable[tuple[HttpRequest, Response]], provider: Provider) -> None:
    """Only the source's own hosts were asked, and what a recorder would keep of a request holds no key."""
    # A part of a host may be an option's value.
    hosts = [re.sub(r"\\\{\w+\\\}", "[a-z-]+", re.escape(host.url)) + "/" for host in provider.hosts]
    for request, _ in exchanges:
        assert any(re.match(host, request.url) for host in hosts), "another host was asked"
        shown = repr((request.url, request.params, request.headers, request.body))
        assert not any(holds(shown, secret) for secret in SECRETS), "a key stands in the request itself"


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
    for name, _ in list(files_in(home)):
        (home / name).unlink()


@contextmanager
def resized(sizes: Mapping[str, Any]) -> Iterator[None]:
    """The sources' own sizes of pages and slices, which their modules hold as constants."""
    with ExitStack() as stack:
        for name, value in sizes.items():
            module, _, attribute = name.partition(":")
            stack.enter_context(patch.object(import_module(module), attribute, value))
        yield


@cache
def _with_page_size(source: str, page_size: int) -> Provider:
    return registry.load(source)._replace(page_size=page_size)


def always(response: Response) -> App:
    """Return the server that gives ``response`` to every request."""
    return lambda request: response
