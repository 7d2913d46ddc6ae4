"""The reasons why an archive cannot be used. Their texts contain neither its path nor anything in it."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator


class ArchiveError(Exception):
    """An archive cannot be used. ``problem`` completes "The archive cannot be used: …"."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class Damaged(ArchiveError):
    """The file is an archive, but its content is corrupt (not locked, not a disk error)."""


class Lost(ArchiveError):
    """The requested entry was damaged and has been given up in a repair. The archive is sound."""


class Changed(ArchiveError):
    """The file was written to while it was read by itself: what was read may be of two moments."""

    def __init__(self) -> None:
        super().__init__(
            "another process wrote to it while it was read: ask again, or let this user write to it and to its folder"
        )


class Unreadable(ArchiveError):
    """A package that is needed to read the archive is not installed. Nothing is damaged."""


def damaged(what: str) -> Damaged:
    """Return the error for damage in the journal, which ``what`` describes."""
    return Damaged(f"it is damaged: {what}; run pit_fetch archive repair")


_PROBLEMS = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "it is read-only: name one that this user may write to",
    "SQLITE_BUSY": "another process holds it",
    "SQLITE_LOCKED": "another process holds it",
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_PERM": "it cannot be opened",
    "SQLITE_NOTADB": "it is not an archive of pit_fetch",
    "SQLITE_CORRUPT": "it is damaged",
    "SQLITE_IOERR": "the disk reports an error",
}


# The errors of reading a damaged file: SQLite may notice a changed byte, or it turns up as an odd value.
BROKEN = (sqlite3.Error, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


def archive_error(error: Exception) -> ArchiveError:
    """Return the ArchiveError for one of :data:`BROKEN`, or an OSError."""
    if isinstance(error, OSError):
        return ArchiveError((error.strerror or "it cannot be opened").lower())
    if not isinstance(error, sqlite3.Error):
        return Damaged("it is damaged")
    name = getattr(error, "sqlite_errorname", None) or ""
    for code, problem in _PROBLEMS.items():  # an extended code begins with the plain one
        if name.startswith(code):
            return Damaged(problem) if code == "SQLITE_CORRUPT" else ArchiveError(problem)
    is_passing = name.startswith(("SQLITE_NOMEM", "SQLITE_INTERRUPT"))
    return (ArchiveError if is_passing else Damaged)(f"SQLite refuses it ({name or type(error).__name__})")


@contextlib.contextmanager
def translating() -> Iterator[None]:
    """Raise ArchiveError in place of what SQLite, or an odd value in a damaged file, makes a block raise."""
    try:
        yield
    except BROKEN as error:
        raise archive_error(error) from error
