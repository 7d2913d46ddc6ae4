"""Where an answer of network and archive ends."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.engine.from_archive import stop_of
from pit_fetch.gaps import Code, gap
from pit_fetch.pipeline.cursor import START, Position, position
from pit_fetch.pipeline.select import Selection
from pit_fetch.provider import Context, Dating, Host, Operation, Query, Record
from pit_fetch.testing.server import Response
from tests.demo_source import PIT, ask, demo
from tests.inprocess import NOW

LAST = Record("a", datetime(2026, 6, 1, tzinfo=UTC), {})
UNREADABLE = gap(Code.MALFORMED, problem="a value is no number")


@pytest.mark.parametrize(
    ("live", "stop"),
    [
        (Selection(last=LAST), None),
        (Selection(last=LAST, gaps=(UNREADABLE,)), None),  # of a row that was read, or of what is computed
        (Selection(last=LAST, stopped="limit"), position(LAST)),
        (Selection(last=LAST, is_cut=True, gaps=(UNREADABLE,)), position(LAST)),
        (Selection(is_cut=True, gaps=(UNREADABLE,)), START),
    ],
)
def test_it_ends_where_the_source_was_not_read_on(live: Selection, stop: Position | None) -> None:
    assert stop_of(live) == stop


@pytest.mark.parametrize("by", ["record", "receipt"])
def test_replies_that_do_not_show_their_records_alone_are_read_by_running_fetch_again(tmp_path: Path, by: Any) -> None:
    def source(query: Query, context: Context) -> Iterator[Record]:
        listed = context.http.get("Demo", "/list")
        text = context.http.get("Demo", "/page").body.decode()
        at = listed.received_at if by == "receipt" else PIT - timedelta(minutes=5)
        yield Record(listed.body.decode(), at, {"title": text}, at_receipt=by == "receipt")

    hosts = (Host("Demo", "https://demo.invalid", "DEMO_URL"),)
    provider = demo(source, hosts=hosts, operations=(Operation(dating=Dating(by)),), parse_reply=None)
    kept: dict[str, Any] = {"env": {"PIT_FETCH_ARCHIVE": str(tmp_path / "a.db")}, "now": NOW}
    app = lambda request: Response(b"one" if request.path == "/list" else b"Its page")  # noqa: E731
    ask(tmp_path, provider, app=app, **kept)
    left = ask(tmp_path, provider, "--offline", "--pit", NOW.isoformat(), **kept)
    assert [(item["id"], item["title"]) for item in left.data] == [("one", "Its page")]
