"""EDGAR's archive: a host or a part of it that fails, and the headers that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pit_fetch_providers.sec_full_text.search import PATH

from pit_fetch.testing.server import Answering, Response
from pit_fetch.transport import RecordingTransport, ReplayingTransport, Transport
from tests import inprocess
from tests.provider_harness import NOW
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.harness import PIT, ask
from tests.providers.sec_full_text.server import Filing, number

WRITTEN = [Filing(number(n), "8-K", "2024-02-14 12:00:00", written="2024-02-14 12:01:00") for n in (1, 2)]


@pytest.mark.parametrize(
    "reply",
    [
        *(sec.MISSING, sec.NO_SUCH_KEY, sec.MAINTENANCE, Response(b"", 405), Response(b"")),
        Response(b"", 200, {"Last-Modified": "soon"}),
    ],
)
def test_exact_dates_no_filing_whose_own_files_do_not_say_when_they_were_written(reply: Response) -> None:
    app = sec.app(WRITTEN, pages=lambda path: reply if path.endswith(f"{number(1)}.txt") else None)
    fetched = ask(app, exact=True)
    assert (fetched.ids, fetched.error) == ([number(2)], None)
    unfiltered = ask(app, exact=True, pit=None).records
    assert {record.id: record.available_at is None for record in unfiltered} == {number(1): True, number(2): False}


@pytest.mark.parametrize("filings", [[], WRITTEN], ids=["nothing", "filings"])
def test_exact_fails_where_head_is_refused(filings: Sequence[Filing]) -> None:
    served = sec.app(filings)
    fetched = ask(lambda request: served(request) if request.method == "GET" else Response(b"", 405), exact=True)
    assert fetched.error is not None
    assert (fetched.ids, fetched.error.code) == ([], "http_status")


@pytest.mark.parametrize("filings", [(), ("2024-02-14 12:00:00",)], ids=["nothing", "listed"])
def test_a_host_that_was_not_needed_is_asked_for_one_file(filings: Sequence[str], tmp_path: Path) -> None:
    app = sec.app([Filing(number(1), "8-K", accepted) for accepted in filings])
    ask(app, folder=str(tmp_path))
    again = ask(app, folder=str(tmp_path), now=NOW + timedelta(seconds=1))
    assert [request.path for request in again.requests] == [PATH, "/robots.txt"]
    assert ask(app, pit=None).paths("robots") == []


def test_a_recording_in_which_the_host_was_not_asked_is_read(tmp_path: Path) -> None:
    asked: list[Any] = []
    live = RecordingTransport(Answering(sec.app(WRITTEN), lambda: NOW), lambda *exchange: asked.append(exchange))

    def fetch(transport: Transport, now: datetime) -> inprocess.Answer:
        words, env = ("concern", "--pit", PIT), {"HOME": str(tmp_path), **sec.VARIABLES}
        return inprocess.fetch(tmp_path, "--source", "sec_full_text", *words, env=env, transport=transport, now=now)

    first = fetch(live, NOW)
    # All else is in the cache.
    searches = [exchange for exchange in asked if "search-index" in exchange[0].url]
    again = fetch(ReplayingTransport(searches), NOW + timedelta(seconds=1))
    assert len(first.ids) == 2
    assert again.out == first.out
