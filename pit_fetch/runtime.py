"""Everything outside the program as one value, so that a test can replace any part of it by keyword.

:mod:`pit_fetch.engine.real_runtime` makes the one of this process.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code

if TYPE_CHECKING:
    from threading import Event

    from pit_fetch.provider import Provider
    from pit_fetch.transport import HttpReply, HttpRequest, Transport


class Clock(NamedTuple):
    """The only clock of a run.

    now        the wall clock, aware and UTC
    monotonic  seconds that never go back
    shared     seconds on a clock that all processes of this machine share
    sleep      pauses for a number of seconds
    """

    now: Callable[[], datetime]
    monotonic: Callable[[], float]
    shared: Callable[[], float]
    sleep: Callable[[float], None]


Alarm = Callable[[float], AbstractContextManager[None]]


def no_browser(address: str) -> bool:
    return False


def no_alarm(seconds: float) -> AbstractContextManager[None]:
    return contextlib.nullcontext()


class Environment(Mapping[str, str]):
    """The environment variables, which hold keys: no repr shows them, as tracebacks with their locals would."""

    __slots__ = ("_variables",)

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables

    def __getitem__(self, name: str) -> str:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)


class Runtime(NamedTuple):
    """The surroundings of one run of the program.

    environ     the environment variables
    folder      the working directory, which may hold a .env file
    clock       the only clock
    transport   the network
    find        returns the provider of a source by its name; raises UsageError
    read_stdin  reads all of standard input within a number of seconds; raises InputError
    alarm       limits a block by raising :class:`TimeIsUp` in it; without one, only the network is limited
    browse      shows a person the page at an address; returns whether it could
    stdout, stderr  the streams that the command writes to; None for none
    """

    environ: Mapping[str, str]
    folder: str
    clock: Clock
    transport: Transport
    find: Callable[[str], Provider]
    read_stdin: Callable[[float], bytes]
    alarm: Alarm = no_alarm
    browse: Callable[[str], bool] = no_browser
    stdout: TextIO | None = None
    stderr: TextIO | None = None

    def __repr__(self) -> str:
        # Debuggers, loggers and error trackers show what objects hold; the environment has keys.
        return "<Runtime>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("the environment of a process, and so a panel, cannot be pickled: pickle the frame of it")

    def path(self, name: str) -> str:
        """Return the path of a file that the user has named, in the working directory or, with ``~``, in a home.

        The shell leaves a ``~`` alone where it is quoted, behind ``--option=``, and in some variables. Raise UsageError
        for what else it left in a path, unless there is such a file.
        """
        name = os.path.expanduser(name)
        if problem := path_problem(name, self.folder):
            raise UsageError(Code.USAGE, text=problem)
        return os.path.join(self.folder, name)

    def stoppable(self, *stops: Event) -> Runtime:
        """Return the runtime whose network makes no further request once one of ``stops`` is set."""
        return self._replace(transport=_Stoppable(self.transport, stops))

    def read_text(self, name: str) -> str:
        """Return the text of a file that the user has named. Raise UsageError, OSError or UnicodeDecodeError."""
        with open(self.path(name), encoding="utf-8-sig") as stream:
            return stream.read()


class _Stoppable(NamedTuple):
    inner: Transport
    stops: tuple[Event, ...]

    def send(self, request: HttpRequest) -> HttpReply:
        if any(stop.is_set() for stop in self.stops):
            from pit_fetch.transport import TransportError

            raise TransportError("timeout")
        return self.inner.send(request)


# What a shell or another system left in a path, which would then lead to a file that nobody looks for. The first row
# whose pattern matches counts.
_PATH_MISTAKES = (
    ("(?:\\A|/)[\"'\u2018\u201c]|[\"'\u2019\u201d]\\Z", "a path has quotes of its own: leave them out"),
    (r"\A\s|\s\Z|[\x00-\x1f\x7f]", "a path begins or ends with a blank, or has an invisible character: leave it out"),
    (r"(?:\A|/)@", "a path stands alone here: leave out the @"),
    (r"\Afile:/", "a path is no address: leave out file://"),
    (r"\A[a-z][a-z0-9+.-]+:/", "an address is no file: name one on this machine"),
    (r"(?:\A|/)[A-Za-z]:|\\", "a path of Windows does not lead anywhere here: write it with / and no C:"),
    (r"\$[A-Za-z_{(]|%[A-Za-z_]+%", "a variable in a path was not replaced: a shell leaves $NAME in single quotes"),
)


def path_problem(name: str, folder: str) -> str:
    """Return what is wrong with the path ``name``, with the fix; "" if nothing is, or if such a file or folder exists.

    Relative paths start in ``folder``.
    """
    if re.fullmatch(r"[\w./~+,=-]*", name):  # no character of any mistake
        return ""
    for pattern, problem in _PATH_MISTAKES:
        match = re.search(pattern, name)
        if match is not None:
            end = name.find("/", match.end())
            path = os.path.join(folder, name if end < 0 else name[:end])
            return "" if "\0" not in path and os.path.lexists(path) else problem
    return ""


RINGS_AGAIN_SECONDS = 1.0


class TimeIsUp(BaseException):
    """The alarm rang. A BaseException, so that no ``except Exception`` of a provider swallows it."""


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Raise TimeIsUp in a block that takes longer than ``seconds``. For the main thread; without timers, no limit.

    It is raised every second until the block is left: Python drops an exception in a finalizer or a C callback.
    """
    import signal

    def ring(signum: int, frame: object) -> None:
        raise TimeIsUp

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, RINGS_AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
