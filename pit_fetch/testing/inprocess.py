"""The whole program in this process: it leaves the bytes that the command would, in a runtime that a test has made."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pit_fetch.cli import main
from pit_fetch.engine import registry
from pit_fetch.provider import Provider
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.runtime import Clock, Runtime, no_browser
from pit_fetch.transport import Transport


@dataclass
class TestClock:
    """A clock that stays at ``start`` until something waits. ``passed`` and ``pauses`` are in seconds."""

    __test__ = False  # or pytest would take it for a class of tests

    start: datetime
    passed: float = 0.0
    pauses: list[float] = field(default_factory=list)

    def now(self) -> datetime:
        return self.start + timedelta(seconds=self.passed)

    def value(self) -> Clock:
        return Clock(self.now, lambda: self.passed, lambda: self.now().timestamp(), self._sleep)

    def _sleep(self, seconds: float) -> None:
        self.passed += seconds
        self.pauses.append(seconds)


@dataclass(frozen=True)
class Left:
    """Every byte that leaves the process. ``files`` are those in its folder afterwards, see :func:`files_in`."""

    out: str
    err: str
    code: int
    files: tuple[tuple[str, bytes], ...] = ()

    @property
    def leaves(self) -> tuple[str, str, int, tuple[tuple[str, bytes], ...]]:
        return self.out, self.err, self.code, self.files

    @property
    def envelope(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.out)
        return parsed

    @property
    def data(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = self.envelope["data"]
        return items

    @property
    def ids(self) -> list[str]:
        return [item["id"] for item in self.data]

    @property
    def gap_types(self) -> list[str]:
        return [gap["type"] for gap in self.envelope["gaps"]]

    @property
    def reasons(self) -> str:
        return "\n".join(gap["reason"] for gap in self.envelope["gaps"])


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def run(
    words: Sequence[str],
    *,
    transport: Transport,
    clock: Clock,
    environ: Mapping[str, str],
    folder: Path,
    stdin: bytes = b"",
    terminal: bool = False,
    provider: Provider | None = None,
    alarm: Callable[[float], AbstractContextManager[None]] = lambda _: nullcontext(),
    request: FetchRequest | None = None,
    browse: Callable[[str], bool] = no_browser,
) -> Left:
    """Run the command on ``words`` in ``folder`` and return what leaves it.

    provider  stands in for the source that the words name
    request   the words parsed, where that was done before
    """
    out, err = io.StringIO(), _Terminal() if terminal else io.StringIO()
    runtime = Runtime(
        environ=environ,
        folder=str(folder),
        clock=clock,
        transport=transport,
        find=registry.load if provider is None else lambda _: provider,
        read_stdin=lambda _: stdin,
        alarm=alarm,
        browse=browse,
        stdout=out,
        stderr=err,
    )
    code = main.main(words, runtime) if request is None else main.ask(request, words, runtime)
    return Left(out.getvalue(), err.getvalue(), int(code), tuple(files_in(folder)))


def unhurried(provider: Provider) -> Provider:
    """Return the provider without the rates of its hosts, which would move the clock of a test."""
    return provider._replace(hosts=tuple(host._replace(rate=None) for host in provider.hosts))


def files_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every regular file in ``folder``, without what depends on timing.

    Left out are the limiter's state, and the first line of a cached file, the time at which it was written.
    """
    for place, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(place, name)
            if path.is_file() and not name.startswith("rate-"):  # reading a pipe could wait for ever
                with suppress(FileNotFoundError):  # SQLite's side files go when another command closes the archive
                    body = path.read_bytes()
                    yield str(path.relative_to(folder)), body.partition(b"\n")[2] if name.startswith("file-") else body
