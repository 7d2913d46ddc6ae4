"""The file of a record: one SQLite database that many processes append to, one row for each call that was shown."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import stat
import zlib
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote

from pit_fetch.archive.store.errors import archive_error
from pit_fetch.engine import credentials
from pit_fetch.engine.report import FetchResult
from pit_fetch.errors import ConfigError
from pit_fetch.formats import Text
from pit_fetch.gaps import Code
from pit_fetch.request.audience import CEILING_VARIABLE, CLIENT_VARIABLE
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.runs import AGENT_VARIABLE, DEFAULT_RUN, RUN_VARIABLE, STEP_VARIABLE
from pit_fetch.runtime import Runtime
from pit_fetch.support.redaction import redactor
from pit_fetch.support.sqlite import transaction
from pit_fetch.support.version import __version__
from pit_fetch.times import in_new_york

# A writer locks the file for some milliseconds; hundreds of processes may wait for one another.
BUSY_SECONDS = 60.0
_NOT_A_RECORD = "it is another file, not a record"
_APPLICATION_ID = 0x50495452  # "PITR"
_SCHEMA = """
CREATE TABLE calls (
    call INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, step TEXT, agent TEXT, pit TEXT, at TEXT NOT NULL,
    source TEXT NOT NULL, request TEXT NOT NULL, form TEXT NOT NULL, kept TEXT NOT NULL, sha256 TEXT NOT NULL,
    shown BLOB NOT NULL, version TEXT NOT NULL
)
"""
_INSERT = """
INSERT INTO calls (run, step, agent, pit, at, source, request, form, kept, sha256, shown, version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_SELECT = """
SELECT run, step, agent, pit, at, source, request, form, kept, sha256, shown, version, call
FROM calls WHERE run = coalesce(?, run) ORDER BY call
"""


class Entry(NamedTuple):
    """One call that was shown. Times are ISO 8601 with offset, ``pit`` None in open mode.

    request  in its canonical form
    form     how it was written: what of the request is not in its canonical form, whether a ceiling bound it, and
             whether a client's gate may have judged, and withheld, it afterwards
    kept     the id and ``available_at`` of each item
    sha256   of the bytes that were shown, without a final newline
    shown    these bytes
    """

    run: str
    step: str | None
    agent: str | None
    pit: str | None
    at: str
    source: str
    request: str
    form: dict[str, Any]
    kept: list[list[str | None]]
    sha256: str
    shown: bytes
    version: str
    call: int = 0

    def row(self) -> dict[str, Any]:
        """Return the call as JSON values, without what was shown."""
        names = ("call", "run", "step", "agent", "pit", "at", "source", "request", "sha256")
        row = {name: getattr(self, name) for name in names}
        gated = {"gated": True} if self.form.get("is_gated") else {}
        items = [name for name, _ in self.kept]
        return {**row, "items": items, "bytes": len(self.shown), "version": self.version, **gated}


def entry(request: FetchRequest, runtime: Runtime, result: FetchResult, text: Text, shape: str | None) -> Entry:
    """Return the entry of a call, without the values of keys."""
    environ, shown = runtime.environ, bytes_of(text)
    clean = redactor(credentials.known_secrets(request.provider, environ, runtime.folder))
    form = {name: getattr(request, name) for name in ("format", "max_chars", "pretty", "width", "csv_safe")}
    form |= {
        "shape": shape,
        "is_bound": CEILING_VARIABLE in environ,
        "is_gated": shape is None and CLIENT_VARIABLE in environ,
    }
    return Entry(
        run=environ.get(RUN_VARIABLE) or DEFAULT_RUN,
        step=environ.get(STEP_VARIABLE) or None,
        agent=environ.get(AGENT_VARIABLE) or None,
        pit=_instant(request.pit),
        at=in_new_york(runtime.clock.now()),
        source=request.provider.name,
        request=clean(request.canonical),
        form=form,
        kept=[[clean(kept.id), _instant(kept.available_at)] for kept in result.kept],
        sha256=hashlib.sha256(shown).hexdigest(),
        shown=shown,
        version=__version__,
    )


def _instant(moment: datetime | None) -> str | None:
    return None if moment is None else in_new_york(moment)


def bytes_of(text: Text) -> bytes:
    """Return the bytes that are shown of an answer, without a final newline."""
    return text if isinstance(text, bytes) else text.removesuffix("\n").encode("utf-8", "backslashreplace")


class Record:
    """A record that is open to be appended to. Every method raises ConfigError for a file that cannot be used."""

    def __init__(self, path: str) -> None:
        with _translated():
            with contextlib.suppress(FileExistsError):
                os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            self._connection = _connect(path)
            try:
                if not os.path.getsize(path):
                    self._create()
                _check_is_record(self._connection)
                if not os.access(path, os.W_OK):
                    raise _unusable("it is read-only")
            except BaseException:
                self._connection.close()
                raise

    def _create(self) -> None:
        with transaction(self._connection):
            if not self._connection.execute("SELECT 1 FROM sqlite_master").fetchone():  # another process may have
                self._connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                self._connection.execute(_SCHEMA)

    def append(self, call: Entry) -> None:
        """Append a call. Once this returns, it outlives the process."""
        *values, _ = call._replace(
            form=json.dumps(call.form),  # type: ignore[arg-type]
            kept=json.dumps(call.kept),  # type: ignore[arg-type]
            shown=zlib.compress(call.shown),
        )
        with _translated(), transaction(self._connection):
            self._connection.execute(_INSERT, values)

    def __enter__(self) -> Record:
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()


def entries(path: str, run: str | None = None) -> list[Entry]:
    """Return the calls of a record, or of one run, in the order in which they were shown. Raise ConfigError."""
    with _translated(), contextlib.closing(_connect(path)) as connection:
        _check_is_record(connection)
        return [_unpacked(Entry(*row)) for row in connection.execute(_SELECT, (run,))]


def _unpacked(row: Entry) -> Entry:
    form, kept = json.loads(str(row.form)), json.loads(str(row.kept))
    return row._replace(form=form, kept=kept, shown=zlib.decompress(row.shown))


def _connect(path: str) -> sqlite3.Connection:
    if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would wait for its other end
        raise _unusable("it is not a regular file")
    return sqlite3.connect(f"file:{quote(path)}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None)


def _check_is_record(connection: sqlite3.Connection) -> None:
    if connection.execute("PRAGMA application_id").fetchone() != (_APPLICATION_ID,):
        raise _unusable(_NOT_A_RECORD)


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, zlib.error, ValueError, OSError) as error:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_NOTADB":
            raise _unusable(_NOT_A_RECORD) from None
        raise _unusable("it is damaged" if isinstance(error, zlib.error) else archive_error(error).problem) from None


def _unusable(problem: str) -> ConfigError:
    return ConfigError(Code.RECORD_UNUSABLE, problem=problem)
