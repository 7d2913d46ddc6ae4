"""The archives that a loop of questions reads, each opened once, and as of one moment."""

from __future__ import annotations

from collections.abc import Callable

from pit_fetch.archive.archived import Archived
from pit_fetch.archive.store import schema
from pit_fetch.provider import Provider


class OpenArchives:
    """Every question of a loop sees what an archive held when the first of them read it. For one thread."""

    def __init__(self, find: Callable[[str], Provider]) -> None:
        self._find = find
        self._open: dict[str, Archived] = {}

    def read(self, path: str) -> Archived:
        """Return the recorded fetches of the archive at ``path``. Raise ArchiveError."""
        if path not in self._open:
            connection = schema.open_to_read(path)
            connection.execute("BEGIN")  # what other processes append from the first question on is not seen
            self._open[path] = Archived(connection, self._find)
        return self._open[path]

    def check_unchanged(self) -> None:
        """Raise Changed if what was read of them may not be of one moment."""
        for archived in self._open.values():
            schema.check_unchanged(archived.connection)

    def close(self) -> None:
        """Close the archives."""
        while self._open:
            self._open.popitem()[1].connection.close()
