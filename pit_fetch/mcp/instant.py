"""The instant of a server: fixed by its command line, by a file of the operator's, or by the ceiling.

No message of a client reaches this module.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code
from pit_fetch.request.audience import CEILING_VARIABLE
from pit_fetch.request.fetch_request import check_ceiling
from pit_fetch.request.options import require_pit
from pit_fetch.times import parse_pit

EXAMPLE = "2024-02-15T16:00:00-05:00"
_MAX_BYTES = 1_000
_MOVED = "the operator moved the instant after this conversation began: begin a new conversation"


class Moment(NamedTuple):
    """An instant as the operator wrote it, and as an aware value."""

    text: str
    at: datetime


class Instant(NamedTuple):
    """Where the instant comes from.

    text     the instant itself; "" if it is in a file
    file     the path of a file that holds it, and is read again for each call
    environ  the environment, whose ceiling bounds every instant
    moving   a connection may go on after the file moved: the operator stops the agent first
    """

    text: str
    file: str
    environ: Mapping[str, str]
    moving: bool = False

    def now(self) -> Moment:
        """Return the instant for a call that begins now. Raise UsageError for none, or one above a ceiling."""
        moment = Moment(self.text, require_pit(self.text)) if self.text else _read_file(self.file)
        check_ceiling(moment.at, self.environ)
        return moment

    @property
    def phrase(self) -> str:
        """The instant in words, for descriptions. A client may keep these, so an instant in a file is not named."""
        return self.text or "the instant that the operator set"


class ConnectionInstant:
    """The instant of one connection: that of its first call.

    An agent remembers what it was told. If the instant moved back under it, it would know what came later, and its
    answers would mix two instants if it moved on. So a call after a move is refused.
    """

    def __init__(self, instant: Instant) -> None:
        self._instant, self.phrase = instant, instant.phrase
        self._first: Moment | None = None
        self._lock = threading.Lock()

    def now(self) -> Moment:
        """Return the instant for a call that begins now. Raise UsageError as :meth:`Instant.now`, and after a move."""
        moment = self._instant.now()
        with self._lock:
            first = self._first = self._first or moment
        if moment.at != first.at and not self._instant.moving:
            raise UsageError(Code.USAGE, text=_MOVED)
        return moment


def make_instant(pit: str | None, file: str | None, environ: Mapping[str, str], *, moving: bool = False) -> Instant:
    """Return the instant of a server: of ``pit``, of the ``file`` at this path, or else the ceiling.

    Raise UsageError if there is none of them, if there are both, or if the instant is unusable now.
    """
    if pit is not None and file is not None:
        raise UsageError(Code.USAGE, text="--pit and --pit-file exclude each other: give one of them")
    text = "" if file is not None else pit if pit is not None else environ.get(CEILING_VARIABLE)
    if moving and file is None:
        raise UsageError(Code.USAGE, text="--moving needs --pit-file FILE: no other instant moves")
    if text is None:
        raise UsageError(Code.USAGE, text="a server needs an instant: --pit ISO8601, --pit-file FILE, or a ceiling")
    instant = Instant(text, file or "", environ, moving)
    instant.now()
    return instant


def _read_file(path: str) -> Moment:
    """Return the instant in a small regular file. Raise UsageError, which quotes nothing: a client reads it."""
    try:
        # A pipe would wait for its writer.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            content = os.read(handle, _MAX_BYTES) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
        finally:
            os.close(handle)
        text = content.decode("ascii").strip()
    except (OSError, ValueError):
        text = ""
    at = parse_pit(text)
    if at is None:
        raise UsageError(Code.USAGE, text="the operator's file holds no instant: it needs one such as " + EXAMPLE)
    return Moment(text, at)
