"""Why an archive cannot be used, in words that name neither its path nor anything in it."""

from __future__ import annotations

import sqlite3


class ArchiveError(Exception):
    """``problem`` completes "The archive cannot be used: …"."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class Damaged(ArchiveError):
    """It is an archive, and what stands in it cannot be read: nobody else and no disk is to blame."""


class Unreadable(ArchiveError):
    """Something that it needs to be read is not installed: nothing is damaged."""


_PROBLEMS = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_BUSY": "another process holds it",
    "SQLITE_LOCKED": "another process holds it",
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_PERM": "it cannot be opened",
    "SQLITE_NOTADB": "it is not an archive of pit_fetch",
    "SQLITE_CORRUPT": "it is damaged",
    "SQLITE_IOERR": "the disk reports an error",
}


# What reading a damaged file raises: a changed byte may be found by SQLite, or turn up as an odd value.
BROKEN = (sqlite3.Error, ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


def of_broken(error: Exception) -> ArchiveError:
    """What one of :data:`BROKEN` means."""
    return of_sqlite(error) if isinstance(error, sqlite3.Error) else Damaged("it is damaged")


def of_sqlite(error: sqlite3.Error) -> ArchiveError:
    """What an error of SQLite means. Extended codes begin with the plain one."""
    name = getattr(error, "sqlite_errorname", None) or ""
    for code, problem in _PROBLEMS.items():
        if name.startswith(code):
            return Damaged(problem) if code == "SQLITE_CORRUPT" else ArchiveError(problem)
    is_passing = name.startswith(("SQLITE_NOMEM", "SQLITE_INTERRUPT"))
    return (ArchiveError if is_passing else Damaged)(f"SQLite refuses it ({name or type(error).__name__})")


def of_os(error: OSError) -> ArchiveError:
    """What an error of the operating system means."""
    return ArchiveError((error.strerror or "it cannot be opened").lower())
