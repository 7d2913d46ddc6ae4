"""Watches what a provider does besides yielding: sockets, programs, files, descriptors, clocks, the environment."""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from opcode import opname
from types import BuiltinFunctionType, FrameType
from typing import Any
from zoneinfo import TZPATH

from pit_fetch.testing.state import Authors

# Python's own audit events: whatever library opens a connection or starts a program raises one.
_REACHES_OUT = frozenset(
    {
        "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.sendto",
        "socket.sendmsg", "subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn",
        "os.spawn", "ftplib.connect", "smtplib.connect", "urllib.Request", "webbrowser.open", "syslog.syslog",
    }
)  # fmt: skip
_CHANGES_FILES = frozenset(
    {"os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink", "os.chmod",
     "shutil.rmtree", "shutil.move", "shutil.copyfile", "tempfile.mkstemp", "tempfile.mkdtemp"}
)  # fmt: skip
_PYTHON = os.path.join(sysconfig.get_path("stdlib"), "")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Watch:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.tried: list[str] = []


_watching: list[_Watch] = []
_installed: list[bool] = []


@contextlib.contextmanager
def refused(folder: str) -> Iterator[list[str]]:
    """In the block this process neither reaches out nor writes outside ``folder``; what tries is refused and named."""
    if not _installed:  # an audit hook stays for good, so there is one, which mostly looks away
        sys.addaudithook(_hook)
        _installed.append(True)
    watch = _Watch(folder)
    _watching.append(watch)
    try:
        yield watch.tried
    finally:
        _watching.remove(watch)


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    watch = _watching[-1]
    if event in _REACHES_OUT:
        shown = arguments[-1] if event == "socket.connect" else arguments[0] if arguments else ""
        watch.tried.append(f"{event} {shown}")
        raise OSError("nothing reaches out in a test: ask through context.http")
    writes = event in _CHANGES_FILES or (event == "open" and bool((arguments[2] or 0) & _WRITING))
    if event == "sqlite3.connect":
        name = os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes)) else str(arguments[0])
        writes = name not in (":memory:", "") and "mode=ro" not in name
    if writes and not _is_allowed(watch, arguments[0] if arguments else ""):
        watch.tried.append(f"{event} {arguments[0] if arguments else ''}")
        raise OSError("nothing is written in a test: what is kept between runs could tell of what is not public")


def _is_allowed(watch: _Watch, path: object) -> bool:
    if isinstance(path, int) or path is None:
        return True
    text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
    return text == os.devnull or "__pycache__" in text or os.path.abspath(text).startswith(watch.folder)


class Descriptors:
    """Standard output and standard error as the system knows them, led into a file; ``text()`` is what came."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        atexit.register(self._file.close)
        self._place = 0

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        _flush()
        try:
            kept = [os.dup(number) for number in (1, 2)]
        except OSError:  # a process without them
            yield
            return
        try:
            for number in (1, 2):
                os.dup2(self._file.fileno(), number)
            yield
        finally:
            _flush()
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)

    def text(self) -> str:
        """What has come since the last call."""
        size = os.fstat(self._file.fileno()).st_size
        if size == self._place:
            return ""
        said = os.pread(self._file.fileno(), size - self._place, self._place)
        self._place = size
        return said.decode("utf-8", "replace")


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]


@contextlib.contextmanager
def opened(authors: Authors) -> Iterator[list[str]]:
    """The files that an author's code reads in the block and that are neither Python's nor its own package's."""
    found: list[str] = []
    active = [True]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not active or event != "open" or not isinstance(arguments[0], (str, bytes)):
            return
        path = os.path.abspath(os.fsdecode(arguments[0]))
        code = path.endswith((".py", ".pyc", ".so", ".pyd")) or "__pycache__" in path
        if not code and not path.startswith(_libraries(authors)) and _is_asked_by(authors, sys._getframe(1)):
            found.append(f"the file {os.path.basename(path)}")

    sys.addaudithook(hook)  # for good: the process is for this alone
    try:
        yield found
    finally:
        active.clear()


def _is_asked_by(authors: Authors, frame: FrameType | None) -> bool:
    """Whether an author's code is behind what Python's own modules do in ``frame``."""
    while frame is not None and frame.f_code.co_filename.startswith(("<frozen", _PYTHON)):
        frame = frame.f_back
    return frame is not None and authors.wrote(str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename)


def _libraries(authors: Authors) -> tuple[str, ...]:
    """Where Python, what is installed in it, and the author's packages lie."""
    places = [sys.prefix, sys.base_prefix, sys.exec_prefix, *TZPATH, "/etc/localtime", os.devnull, "/proc/", "/sys/"]
    for name in authors.packages:
        places += [os.path.join(path, "") for path in getattr(sys.modules.get(name), "__path__", ())]
    return tuple(places)


_CLOCKS = ("now", "utcnow", "today")
_BUILT_IN: Mapping[object, str] = {
    time.time: "time.time",
    time.time_ns: "time.time_ns",
    time.localtime: "time.localtime",
    time.ctime: "time.ctime",
    time.clock_gettime: "time.clock_gettime",
    time.clock_gettime_ns: "time.clock_gettime_ns",
    socket.gethostname: "socket.gethostname",
    threading.get_ident: "threading.get_ident",
    threading.get_native_id: "threading.get_native_id",
    os.getpid: "os.getpid",
    os.getppid: "os.getppid",
    os.getuid: "os.getuid",
    os.getcwd: "os.getcwd",
    os.urandom: "os.urandom",
    os.getlogin: "os.getlogin",
    os.uname: "os.uname",
}
# What reads the clock if it is given no instant, and how many arguments it then has at most.
_CLOCK_BY_DEFAULT: Mapping[object, tuple[str, int]] = {
    time.gmtime: ("time.gmtime", 0),
    time.asctime: ("time.asctime", 0),
    time.strftime: ("time.strftime", 1),
}
# Functions in Python, by the place of their code: the module's file and the function's name.
_IN_PYTHON: Mapping[tuple[str, str], str] = {
    ("os", "getenv"): "os.getenv",
    ("os", "__getitem__"): "os.environ",
    ("os", "_createenviron"): "os.environ",
    ("posixpath", "expanduser"): "os.path.expanduser",
    ("posixpath", "expandvars"): "os.path.expandvars",
    ("pathlib", "home"): "Path.home",
    ("pathlib", "expanduser"): "Path.expanduser",
    ("getpass", "getuser"): "getpass.getuser",
    ("platform", "node"): "platform.node",
    ("platform", "uname"): "platform.uname",
    ("platform", "platform"): "platform.platform",
    ("socket", "getfqdn"): "socket.getfqdn",
    ("locale", "getlocale"): "locale.getlocale",
    ("uuid", "uuid1"): "uuid.uuid1",
    ("uuid", "uuid4"): "uuid.uuid4",
    ("tempfile", "gettempdir"): "tempfile.gettempdir",
}


@contextlib.contextmanager
def consulted(authors: Authors) -> Iterator[list[str]]:
    """What an author's own code asks in the block that is neither the reply nor the request: clocks, the machine."""
    found: list[str] = []

    def by_author(frame: FrameType | None) -> bool:
        return frame is not None and authors.wrote(str(frame.f_globals.get("__name__", "")), frame.f_code.co_filename)

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "c_call":
            said = _clock(argument) or _clock_by_default(argument, frame)
            # An object's own hash stays inside; one that is written down is another in each process.
            if said and by_author(frame) and not (said == "hash" and frame.f_code.co_name == "__hash__"):
                found.append(said)
        elif event == "call":
            module = str(frame.f_globals.get("__name__", ""))
            said = _IN_PYTHON.get((module.partition(".")[0], frame.f_code.co_name), "")
            asks = frame.f_back
            if not said and module in ("collections.abc", "_collections_abc") and frame.f_code.co_name == "get":
                said = "os.environ" if frame.f_locals.get("self") is os.environ else ""
            elif not said and module == "random" and frame.f_code.co_name != "seed":
                said = "random"
            if said and by_author(asks):
                found.append(said)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield found
    finally:
        sys.setprofile(before)


@contextlib.contextmanager
def unwatched() -> Iterator[None]:
    """A part of a watched block that is the test's own."""
    before = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(before)


def _clock(function: Any) -> str:
    if not isinstance(function, BuiltinFunctionType):
        return ""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, (date, datetime)) and function.__name__ in _CLOCKS:
        return f"{owner.__name__}.{function.__name__}"
    if type(owner).__module__ == "random":
        return "random"
    if function is hash:
        return "hash"
    return _BUILT_IN.get(function, "")


def _clock_by_default(function: Any, frame: FrameType) -> str:
    if not isinstance(function, BuiltinFunctionType) or function not in _CLOCK_BY_DEFAULT:
        return ""
    name, most = _CLOCK_BY_DEFAULT[function]
    code, place = frame.f_code.co_code, frame.f_lasti
    # The instruction of a plain call holds the number of its arguments.
    return name if opname[code[place]] in ("CALL", "PRECALL") and code[place + 1] <= most else ""
