"""Export the versions of an archive as Parquet files: one row for each time that a version of an item was the answer.

What an archive answers as of T are the rows with ``valid_from <= T`` and no ``valid_to`` at or before T, for any
reader of Parquet. Sources without times of their own (dated on receipt) have no versions: the archive alone answers.
"""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch.archive.archived import Archived, OnProgress, silently
from pit_fetch.archive.interpreted import AS_OF_PIT, Find
from pit_fetch.archive.store import index, microseconds, schema
from pit_fetch.archive.store.index import ValidRecord
from pit_fetch.engine.registry import load
from pit_fetch.errors import PitFetchError
from pit_fetch.formats import frames
from pit_fetch.pipeline.envelope import EnvelopeOptions, Provenance, build
from pit_fetch.provider import Operation
from pit_fetch.support.whole_folder import making

if TYPE_CHECKING:
    import pyarrow

ROWS_PER_FILE = 20_000
# The keys that no item may have with a PIT are left out, whatever the PIT is.
_ANY_PIT = datetime.fromtimestamp(0, UTC)


class Exported(NamedTuple):
    """How many rows and files were written.

    left_out     the operations without versions
    of_past_pits  the operations whose answers as of a past PIT are left out: each belongs to its PIT alone
    """

    rows: int
    files: int
    left_out: tuple[str, ...]
    of_past_pits: tuple[str, ...] = ()


class _Stream(NamedTuple):
    """A stream of the index: a source, an operation, and the options that affect a record.

    operation  as today's code has it; None if its source is not installed, or has no such operation any more
    """

    name: str
    source: str
    hosts: Mapping[str, str]
    plan: str
    operation_name: str
    asked: Mapping[str, Any]
    operation: Operation | None

    @property
    def folder(self) -> str:
        return f"{self.source}/{self.operation_name or 'items'}"

    @property
    def description(self) -> str:
        """The JSON object that names the stream in each of its rows."""
        return json.dumps({"hosts": self.hosts, "plan": self.plan, **self.asked})


_Row = tuple[_Stream, ValidRecord]


def export(
    connection: sqlite3.Connection,
    folder: str,
    find: Find = load,
    on_progress: OnProgress = silently,
) -> Exported:
    """Write all versions to ``folder``, which is new, in files of ``SOURCE/OPERATION/``. It is there whole, or not.

    Raise OSError, which names the folder, if it exists or cannot be written, and ConfigError without pyarrow.
    """
    try:
        with making(folder) as unfinished:
            return _export(connection, unfinished, find, on_progress)
    except FileExistsError as error:
        raise FileExistsError(error.errno, error.strerror, folder) from None
    except OSError as error:
        raise OSError(error.errno, f"it cannot be written ({error.strerror})", folder) from None


def _export(connection: sqlite3.Connection, folder: Path, find: Find, on_progress: OnProgress) -> Exported:
    connection.execute("PRAGMA temp_store = FILE")  # what is indexed aside may be large
    with schema.snapshot(connection):
        archived = Archived(connection, find)
        names = archived.streams()
        streams = sorted((_stream(name, find) for name in names), key=lambda stream: (stream.folder, stream.name))
        done = rows = files = 0
        left_out, of_past_pits = list[str](), list[str]()
        for place, group in groupby(streams, lambda stream: stream.folder):
            every = list(group)
            on_progress(done, len(names))
            done += len(every)
            operation, members = every[0].operation, [stream for stream in every if AS_OF_PIT not in stream.asked]
            # Each such stream belongs to one PIT: a row valid from then on would be wrong for all others.
            if len(members) < len(every):
                of_past_pits.append(place)
            if operation is None or operation.dating.by != "record":
                left_out.append(place)
                continue
            served = (row for stream in members for row in _rows(archived, stream, operation))
            for number, chunk in enumerate(_chunks(served), 1):
                rows, files = rows + len(chunk), files + 1
                _write(_table(operation, chunk), folder / place / f"{number:06}.parquet")
    return Exported(rows, files, tuple(left_out), tuple(of_past_pits))


def _rows(archived: Archived, stream: _Stream, operation: Operation) -> Iterator[_Row]:
    """Yield the versions of a stream. Its fetches that no question has needed yet are indexed aside."""
    archived.ensure_indexed(stream.name)
    for valid in index.valid_records(archived.connection, stream.name):
        if not operation.missing_in(valid.record):  # as an answer leaves it out
            yield stream, valid


def _stream(name: str, find: Find) -> _Stream:
    source, hosts, plan, operation_name, asked = json.loads(name)
    operation = None
    with contextlib.suppress(PitFetchError):
        operation = next((known for known in find(source).operations if known.name == operation_name), None)
    return _Stream(name, source, hosts, plan, operation_name, asked, operation)


def _chunks(rows: Iterator[_Row]) -> Iterator[list[_Row]]:
    while chunk := list(islice(rows, ROWS_PER_FILE)):
        yield chunk


def _table(operation: Operation, rows: Sequence[_Row]) -> pyarrow.Table:
    """Return the rows: when each was the answer, of which stream, the item as answered, and its typed fields."""
    import pyarrow as pa

    provenance = Provenance(kinds={field.name: field.kind for field in operation.fields})
    options = EnvelopeOptions(pit=_ANY_PIT, provenance=provenance)
    envelope = build((valid.record for _, valid in rows), (), options)
    fields = frames.to_arrow(envelope)
    times = pa.timestamp("us", tz="UTC")
    own = {
        "valid_from": pa.array([microseconds.from_micros(valid.start) for _, valid in rows], type=times),
        "valid_to": pa.array([microseconds.from_micros(valid.stop) for _, valid in rows], type=times),
        "stream": pa.array([stream.description for stream, _ in rows], type=pa.string()),
        "item": pa.array([json.dumps(item) for item in envelope.data], type=pa.string()),
    }
    taken = re.compile(f"({'|'.join(own)})(_of_item)*")  # a field may have such a name, and even one with the suffix
    names = [f"{name}_of_item" if taken.fullmatch(name) else name for name in fields.column_names]
    return pa.table({**own, **dict(zip(names, fields.columns, strict=True))})


def _write(table: pyarrow.Table, path: Path) -> None:
    from pyarrow import parquet

    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table, path, compression="zstd")
