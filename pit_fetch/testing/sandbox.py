"""A watch on what a provider does besides yielding: sockets, programs, files, descriptors, clocks, the environment."""

from __future__ import annotations

import atexit
import contextlib
import getpass
import locale
import os
import pathlib
import platform
import random
import socket
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import date, datetime
from functools import cache
from opcode import opname
from types import BuiltinFunctionType, FrameType
from typing import Any, NamedTuple

from pit_fetch.testing.state import Authors

# Python's own audit events: every library that opens a connection or starts a program raises one.
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
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class _Watch(NamedTuple):
    folder: str
    attempts: list[str]


_watching: list[_Watch] = []


@contextlib.contextmanager
def refused(folder: str) -> Iterator[list[str]]:
    """Refuse in the block what reaches out of this process, or writes outside ``folder``. Yield the attempts."""
    _install_hook()
    watch = _Watch(folder, [])
    _watching.append(watch)
    try:
        yield watch.attempts
    finally:
        _watching.remove(watch)


@cache
def _install_hook() -> None:
    sys.addaudithook(_hook)  # once, since an audit hook stays for good


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _watching:
        return
    watch, first = _watching[-1], arguments[0] if arguments else ""
    if event in _REACHES_OUT:
        watch.attempts.append(f"{event} {arguments[-1] if event == 'socket.connect' else first}")
        raise OSError("nothing reaches out in a test: ask through context.http")
    writes = event in _CHANGES_FILES or (event == "open" and bool((arguments[2] or 0) & _WRITING))
    if event == "sqlite3.connect":
        name = os.fsdecode(first) if isinstance(first, (str, bytes)) else str(first)
        writes = name not in (":memory:", "") and "mode=ro" not in name
    if writes and not _is_allowed(watch, first):
        watch.attempts.append(f"{event} {first}")
        raise OSError("nothing is written in a test: what is kept between runs could tell of what is not public")


def _is_allowed(watch: _Watch, path: object) -> bool:
    if isinstance(path, int) or path is None:
        return True
    text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else str(path)
    return text == os.devnull or "__pycache__" in text or os.path.abspath(text).startswith(watch.folder)


class Descriptors:
    """Standard output and standard error below Python, redirected into a file that :meth:`text` reads."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        atexit.register(self._file.close)
        self._place = 0

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        _flush()
        try:
            copies = [os.dup(number) for number in (1, 2)]
        except OSError:  # a process without them
            yield
            return
        try:
            for number in (1, 2):
                os.dup2(self._file.fileno(), number)
            yield
        finally:
            _flush()
            for number, copy in zip((1, 2), copies, strict=True):
                os.dup2(copy, number)
                os.close(copy)

    def text(self) -> str:
        """Return what was written since the last call."""
        size = os.fstat(self._file.fileno()).st_size
        written = os.pread(self._file.fileno(), size - self._place, self._place)
        self._place = size
        return written.decode("utf-8", "replace")


def _flush() -> None:
    for stream in (sys.__stdout__, sys.__stderr__):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()  # type: ignore[union-attr]


# --- what the author's code asks of the machine

_ASKED_BY_NAME = (
    (time, "time time_ns localtime ctime clock_gettime clock_gettime_ns gmtime asctime strftime"),
    (os, "getpid getppid getuid getcwd urandom getlogin uname getenv"),
    (os.path, "expanduser expandvars"),
    (socket, "gethostname getfqdn"),
    (threading, "get_ident get_native_id"),
    (pathlib.Path, "home expanduser"),
    (getpass, "getuser"),
    (platform, "node uname platform"),
    (locale, "getlocale"),
    (uuid, "uuid1 uuid4"),
    (tempfile, "gettempdir"),
)
# By function of C, or by the code of one in Python: its name.
_ASKED: dict[object, str] = {
    getattr(function := getattr(owner, name), "__code__", function): f"{owner.__name__}.{name}"
    for owner, names in _ASKED_BY_NAME
    for name in names.split()
    if hasattr(owner, name)
} | {type(os.environ).__getitem__.__code__: "os.environ"}
# These read the clock if they are given no instant: the most arguments that such a call has.
_CLOCK_BY_DEFAULT: dict[object, int] = {time.gmtime: 0, time.asctime: 0, time.strftime: 1}


@contextlib.contextmanager
def consulted(authors: Authors) -> Iterator[list[str]]:
    """Yield what an author's own code asks in the block besides the reply and the request: clocks, the machine."""
    names: list[str] = []

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        name, caller = "", frame.f_back
        if event == "c_call":
            name, caller = _name_of_builtin(argument, frame), frame
        elif event == "call":
            name = _name_of_function(frame)
        if name and caller and authors.wrote(str(caller.f_globals.get("__name__", "")), caller.f_code.co_filename):
            names.append(name)

    with _profiled(profile):
        yield names


def unwatched() -> AbstractContextManager[None]:
    """Suspend :func:`consulted` in the block, for code of the test itself."""
    return _profiled(None)


@contextlib.contextmanager
def _profiled(profile: Callable[[FrameType, str, Any], object] | None) -> Iterator[None]:
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


def _name_of_function(frame: FrameType) -> str:
    """Return the name of a function in Python that asks the machine, "" for any other."""
    module, function = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
    if function == "get" and frame.f_locals.get("self") is os.environ:
        return "os.environ"
    return "random" if module == random.__name__ and function != "seed" else _ASKED.get(frame.f_code, "")


def _name_of_builtin(function: Any, frame: FrameType) -> str:
    """Return the name of a built-in function that asks the clock or the machine, "" for any other."""
    if not isinstance(function, BuiltinFunctionType):
        return ""
    owner = getattr(function, "__self__", None)
    if (
        isinstance(owner, type)
        and issubclass(owner, (date, datetime))
        and function.__name__ in ("now", "utcnow", "today")
    ):
        return f"{owner.__name__}.{function.__name__}"
    if type(owner).__module__ == "random":
        return "random"
    if function is hash:
        # An object's own hash stays inside; a hash that is written down is another in each process.
        return "" if frame.f_code.co_name == "__hash__" else "hash"
    if function in _CLOCK_BY_DEFAULT:
        code, place = frame.f_code.co_code, frame.f_lasti
        # The instruction of a plain call holds the number of its arguments.
        is_plain = opname[code[place]] in ("CALL", "PRECALL") and code[place + 1] <= _CLOCK_BY_DEFAULT[function]
        return _ASKED[function] if is_plain else ""
    return _ASKED.get(function, "")
