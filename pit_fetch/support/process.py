"""The process around the command: its start, its end by an interrupt, and its output.

The syntax is that of Python 3.6: an interpreter too old for the rest must get far enough to report so. At module
level, only what an interpreter has already loaded is imported.
"""

# signal is a wrapper around _signal; importing it would take as long as the rest of this file.
import _signal  # type: ignore[import-not-found]
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, Dict, NoReturn, Optional

MIN_PYTHON = (3, 11)
INTERRUPTED = "Interrupted; nothing from the fetch is printed."
INTERRUPTED_JOB = "Interrupted; what was done is kept, and the same command goes on from there."

_STDOUT, _STDERR = 1, 2
_REFUSED, _BUG, _INTERRUPTED = 2, 70, 130
_CLEAR_LINE = b"\r\x1b[K"
# A stderr without a reader must not hold up the process.
STDERR_SECONDS = 1.0


def refuse_old(fix: str = "run it with a newer one") -> "NoReturn":
    """End the process on an interpreter that is too old for the program."""
    versions = MIN_PYTHON + tuple(sys.version_info[:2])
    refuse("pit_fetch needs Python %d.%d or later, but this is %d.%d: " % versions + fix)


def refuse(reason: str) -> "NoReturn":
    """End the process where its surroundings have to be mended. ``reason`` is plain text."""
    _end("config", reason, _REFUSED)


def refuse_incomplete() -> "NoReturn":
    """End the process where a part of the program is missing."""
    _end("internal_error", "pit_fetch is incomplete: reinstall it", _BUG)


def take_interrupts() -> None:
    """Let an interrupt end the process with an envelope, from now on."""
    try:
        if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:  # it may be ignored: nohup, a job with &
            _signal.signal(_signal.SIGINT, interrupted)
    except KeyboardInterrupt:
        interrupted()


def keep_what_was_done() -> None:
    """Let an interrupt say, from now on, that the same command goes on. Only in our own process."""
    if _signal.getsignal(_signal.SIGINT) is interrupted:
        _signal.signal(_signal.SIGINT, _interrupted_job)


class ClosingJob:
    """A block in which SIGINT and SIGTERM raise KeyboardInterrupt, for a job that has something to write at its end.

    Our own process then ends as that of an interrupted job.
    """

    def __enter__(self) -> None:
        self._before: "Dict[int, Any]" = {}
        for number in (_signal.SIGINT, _signal.SIGTERM):
            try:
                if _signal.getsignal(number) is not _signal.SIG_IGN:
                    self._before[number] = _signal.signal(number, _signal.default_int_handler)
            except ValueError:  # in another thread than the main one
                return

    def __exit__(self, kind: object, *rest: object) -> None:
        for number, handler in self._before.items():
            _signal.signal(number, handler)
        if kind is KeyboardInterrupt and self._before.get(_signal.SIGINT) is interrupted:
            _interrupted_job()


def keep_interrupts_out() -> None:
    """Ignore interrupts from now on: the answer is decided, and must not be cut in two. Only in our own process."""
    if _signal.getsignal(_signal.SIGINT) in (interrupted, _interrupted_job):
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)


def write_whole(fd: int, data: bytes, seconds: "Optional[float]" = None) -> None:
    """Write all of ``data``, even to a non-blocking pipe with a slow reader.

    Wait for the reader as a blocking pipe would, or up to ``seconds`` for each part. Raise OSError.
    """
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(fd, left) :]
        except BlockingIOError:
            _wait(fd, seconds)


def _wait(fd: int, seconds: "Optional[float]") -> None:
    import select

    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    if not poll.poll(None if seconds is None else int(seconds * 1000)):
        raise TimeoutError


def interrupted(signum: int = 0, frame: "Optional[FrameType]" = None) -> "NoReturn":
    """End the process wherever it is: an exception could be swallowed on its way up, or strike during an import."""
    _end("internal_error", INTERRUPTED, _INTERRUPTED)


def _interrupted_job(signum: int = 0, frame: "Optional[FrameType]" = None) -> "NoReturn":
    _end("internal_error", INTERRUPTED_JOB, _INTERRUPTED)


def _end(kind: str, reason: str, status: int) -> "NoReturn":
    """Write an empty envelope and a line for stderr, and exit. ``reason`` is safe in JSON and on a terminal."""
    try:
        _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
        envelope = '{"data": [], "gaps": [{"type": "%s", "reason": "%s", "query": ""}]}\n' % (kind, reason)
        if sys.__stderr__ is not None and os.isatty(_STDERR):  # there may be a progress line, and the terminal's ^C
            write_whole(_STDERR, _CLEAR_LINE, STDERR_SECONDS)
        if sys.__stdout__ is not None:
            write_whole(_STDOUT, envelope.encode())
        if sys.__stderr__ is not None:
            write_whole(_STDERR, ("pit_fetch: %s\n" % reason).encode(), STDERR_SECONDS)
    except OSError:
        pass
    finally:
        os._exit(status)
