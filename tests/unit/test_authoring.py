"""Sources besides HTTP, a library's call and a local file, and the helpers for replies."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.net.requests_transport import RequestsTransport
from pit_fetch.paging import children
from pit_fetch.provider import Credential, Host, Operation, Provider, Record
from pit_fetch.tables import parquet_rows, sqlite_rows
from pit_fetch.times import NEW_YORK, delayed, parse_wall_clock
from pit_fetch.transport import HttpReply, RecordingTransport, ReplayingTransport
from pit_fetch.wire import body_of, check_rows, columns_in, record_in, rows_in
from tests import inprocess

HOST = Host("Library", "https://library.example", "PIT_FETCH_LIBRARY_URL")
STAMP = datetime(2024, 2, 15, tzinfo=UTC)
PIT = ("--pit", "2024-03-01T00:00:00Z")


def provider(fetch, **more) -> Provider:
    return Provider("library", "a library", (Operation(fetch=fetch, parse_reply=read),), hosts=(HOST,), **more)


def read(body: bytes, query):
    for row in rows_in(body):
        yield Record(str(row.get("id", "")), STAMP, {"title": row.get("title")})


def loading(call: Callable[[], object]) -> Provider:
    def fetch(query, context):
        yield from read(context.load("Library", "/items", {"symbol": "ACME"}, call).body, query)

    return provider(fetch)


def test_a_library_s_own_call_is_an_exchange_like_any_other(tmp_path: Path) -> None:
    exchanges: list[Any] = []
    now = inprocess.NOW
    rows = [{"id": 1, "title": "One"}]
    transport = RecordingTransport(
        RequestsTransport(lambda: now), lambda request, reply: exchanges.append((request, reply))
    )
    answer = inprocess.fetch(tmp_path, "--source", "library", *PIT, provider=loading(lambda: rows), transport=transport)
    assert answer.ids == ["1"]
    assert [(request.method, request.url, dict(request.params)) for request, _ in exchanges] == [
        ("LOAD", "https://library.example/items", {"symbol": "ACME"})
    ]

    def unreachable() -> object:
        raise AssertionError("a replay asks nobody")

    again = inprocess.fetch(
        tmp_path, "--source", "library", *PIT, provider=loading(unreachable), transport=ReplayingTransport(exchanges)
    )
    assert again.out == answer.out


@pytest.mark.parametrize("problem", [RuntimeError("see https://library.example?key=1"), TypeError("x")])
def test_a_library_that_fails_is_an_unreachable_host(tmp_path: Path, problem: Exception) -> None:
    def call() -> object:
        raise problem

    answer = inprocess.fetch(tmp_path, "--source", "library", *PIT, provider=loading(call))
    assert (answer.gap_types, answer.code) == (["pit_excluded", "unverifiable", "upstream_error"], 5)
    assert "key=1" not in answer.out + answer.err


def database(path: Path) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE items (id TEXT, title TEXT)")
        connection.execute("INSERT INTO items VALUES ('1', 'One'), ('2', CAST(x'ff' AS TEXT))")
    connection.close()
    return path


def from_file(query, context):
    for row in sqlite_rows(context.file("items"), "SELECT * FROM items"):
        yield Record(row["id"], STAMP, {"title": row["title"]})


FILE = Credential("items", ("PIT_FETCH_LIBRARY_FILE",), "Download it first.", is_file=True)


def test_a_declared_file(tmp_path: Path) -> None:
    path = database(tmp_path / "items.db")
    answer = inprocess.fetch(
        tmp_path, "--source", "library", *PIT,
        provider=provider(from_file, credentials=(FILE,)), env={FILE.variables[0]: str(path)},
    )  # fmt: skip
    assert [(item["id"], item["title"]) for item in answer.data] == [("1", "One"), ("2", "\ufffd")]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "needs PIT_FETCH_LIBRARY_FILE: set it in the environment or in a .env file. Download it first."),
        ("absent.db", "does not name a readable file"),
    ],
)
def test_a_file_that_is_not_there_is_a_gap_that_names_the_variable(
    tmp_path: Path, value: str | None, words: str
) -> None:
    environ = {FILE.variables[0]: value} if value else {}
    answer = inprocess.fetch(
        tmp_path, "--source", "library", *PIT, provider=provider(from_file, credentials=(FILE,)), env=environ
    )
    assert (answer.data, answer.gap_types) == ([], ["config"])
    assert words in answer.reasons


def test_a_database_is_read_from_bytes_too_and_a_broken_one_is_malformed(tmp_path: Path) -> None:
    body = database(tmp_path / "items.db").read_bytes()
    assert [row["id"] for row in sqlite_rows(body, "SELECT id FROM items WHERE id > :id", {"id": "1"})] == ["2"]
    for source, query in ((b"no database", "SELECT 1 FROM items"), (body, "SELECT * FROM other")):
        with pytest.raises(UpstreamError):
            list(sqlite_rows(source, query))


def test_a_parquet_file_is_read_from_bytes_too_and_a_broken_one_is_malformed(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    signed = datetime(2024, 2, 15, 21, 0, 0, 1, UTC)
    path = tmp_path / "deals.parquet"
    parquet.write_table(pyarrow.table({"id": ["a", "b"], "signed": [signed, None]}), path)
    rows = [{"id": "a", "signed": signed}, {"id": "b", "signed": None}]
    assert list(parquet_rows(str(path))) == rows
    assert list(parquet_rows(path.read_bytes())) == rows
    for broken in (b"", b"PAR1", path.read_bytes()[:-8], str(tmp_path / "none")):
        with pytest.raises(UpstreamError):
            list(parquet_rows(broken))


@pytest.mark.parametrize(
    ("body", "keys", "record"),
    [
        (b'{"id": 1}', (), {"id": 1}),
        (b'{"id": NaN}', (), {}),
        (b"null", (), {}),
        (b'{"quote": {"id": 1}}', ("quote",), {"id": 1}),
        (b'{"quote": {"id": NaN}}', ("quote",), {}),
        (b'{"quote": null}', ("quote",), {}),
    ],
)
def test_one_record_to_a_reply(body: bytes, keys: tuple[str, ...], record: dict[str, Any]) -> None:
    assert record_in(body, *keys) == record


@pytest.mark.parametrize(
    ("body", "keys"), [(b"<html>", ()), (b"[1]", ()), (b"5", ()), (b"{}", ("quote",)), (b'{"quote": []}', ("quote",))]
)
def test_something_else_than_one_record(body: bytes, keys: tuple[str, ...]) -> None:
    with pytest.raises(UpstreamError):
        record_in(body, *keys)


def test_a_margin_ends_with_the_calendar() -> None:
    start = datetime(9999, 12, 31, tzinfo=UTC)
    assert delayed(start, timedelta(hours=23)) == datetime(9999, 12, 31, 23, tzinfo=UTC)
    assert delayed(start, timedelta(days=1)) is None
    assert delayed(None, timedelta(days=1)) is None


def test_statuses_and_rows() -> None:
    def reply(status: int) -> HttpReply:
        return HttpReply(status, {}, b"{}", STAMP)

    assert (body_of(reply(200), "X"), body_of(reply(404), "X"), body_of(reply(410), "X", (410,))) == (b"{}", None, None)
    for status in (301, 400, 401, 403, 410):
        with pytest.raises(UpstreamError, match=f"HTTP {status}"):
            body_of(reply(status), "X")
    nested = b'{"response": {"docs": [{"id": 1}, NaN, 5, {"id": 2}]}}'
    assert list(rows_in(nested, "response", "docs")) == [{"id": 1}, {}, {}, {"id": 2}]
    with pytest.raises(UpstreamError, match=r"no array response\.rows"):
        rows_in(nested, "response", "rows")
    assert list(columns_in(b'{"t": [1, 2], "c": [3, null]}', "t", "c")) == [{"t": 1, "c": 3}, {"t": 2, "c": None}]
    for body in (b'{"t": [1], "c": [3, 4]}', b'{"t": [1]}', b"[]", b'{"t": 1, "c": 2}'):
        with pytest.raises(UpstreamError, match="columns t, c"):
            columns_in(body, "t", "c")


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2024-02-15 16:00", "2024-02-15T21:00:59.999999Z"),
        ("2024-02-15T16:00:30", "2024-02-15T21:00:30Z"),
        ("2024-11-03 01:30", "2024-11-03T06:30:59.999999Z"),
        ("2024-02-15 16:00:00.1234567", "2024-02-15T21:00:00.123457Z"),
        ("2024-02-15", None),
        ("2024-02-15 16:00Z", None),
        ("2024-02-30 16:00", None),
        ("9999-12-31 23:59", None),
        (5, None),
    ],
)
def test_a_reading_without_an_offset(text: object, instant: str | None) -> None:
    expected = datetime.fromisoformat(instant) if instant else None
    assert parse_wall_clock(text, NEW_YORK) == expected


@pytest.mark.parametrize("at_once", [1, 3])
def test_children_come_in_order_and_a_spoilt_one_fails_alone(at_once: int) -> None:
    together = Barrier(at_once, timeout=10)

    def read_child(parent: int) -> int:
        together.wait()
        if parent == 2:
            raise UpstreamError(Code.MALFORMED, problem="it is broken")
        return parent * 10

    assert list(children(range(6), read_child, at_once)) == [(0, 0), (1, 10), (2, None), (3, 30), (4, 40), (5, 50)]


FAILED = UpstreamError(Code.HTTP_STATUS, host="X", status=500)
LATE = UpstreamError(Code.TIMEOUT, host="X", timeout=1)


@pytest.mark.parametrize("at_once", [1, 3])
@pytest.mark.parametrize(
    ("parents", "fails", "error", "probe_fails", "expected", "probes"),
    [
        (3, (), FAILED, False, [0, 10, 20], 0),
        (3, (1,), FAILED, False, [0, None, 20], 1),
        (3, (1,), FAILED, True, [0], 1),
        (3, (1,), LATE, False, [0], 0),
        # Nothing shows whether there was a child.
        (1, (0,), FAILED, True, [], 1),
        (0, (), FAILED, True, [], 1),
        (0, (), FAILED, False, [], 1),
    ],
    ids=["all answer", "one fails", "all fail", "no time", "the only one", "none, and it fails", "none"],
)
def test_a_child_fails_alone_unless_a_probe_fails_too(
    parents: int, fails: Sequence[int], error: UpstreamError, probe_fails: bool,
    expected: list[int | None], probes: int, at_once: int,
) -> None:  # fmt: skip
    called, made = list[int](), list[int | None]()

    def read_child(parent: int) -> int:
        if parent in fails:
            raise error
        return parent * 10

    def probe() -> None:
        called.append(1)
        if probe_fails:
            raise FAILED

    ends = probe_fails or (error is LATE and bool(fails))
    with pytest.raises(UpstreamError) if ends else contextlib.nullcontext():
        for _, child in children(range(parents), read_child, at_once, probe):
            made.append(child)
    assert (made, len(called)) == (expected, probes)


def test_without_a_probe_a_child_that_fails_ends_the_fetch() -> None:
    def read_child(parent: int) -> int:
        raise FAILED

    with pytest.raises(UpstreamError):
        list(children(range(6), read_child))


@pytest.mark.parametrize(
    ("rows", "is_foreign"),
    [
        ([], False),
        ([{"at": None, "id": 1}], False),
        ([{"published": "soon"}, {"id": 2}], False),
        ([None, {}, "x", 5, []], False),  # it cannot be told what these were
        ([{"id": 1}], True),
        ([None, {"id": 1}, "x"], True),
    ],
)
def test_an_array_of_something_else_is_known_by_the_keys_of_the_stamps(rows: list[Any], is_foreign: bool) -> None:
    if is_foreign:
        with pytest.raises(UpstreamError, match="none of its rows has at"):
            check_rows(rows, ("at", "published"))
    else:
        check_rows(rows, ("at", "published"))
