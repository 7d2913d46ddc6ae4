"""earningscall: when a call counts, which transcripts are asked for, what is read of a list, a day and a file."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pit_fetch.errors import ConfigError
from pit_fetch.testing.server import App, Response, as_json
from tests.provider_harness import Fetched, instead
from tests.provider_harness import ask as ask_source
from tests.providers.earningscall import server as earningscall
from tests.providers.earningscall.server import Call

PIT = "2024-02-15T16:00:00-05:00"
NEW_YORK = ZoneInfo("America/New_York")
# The first four as recorded; two of them are dated hours before the real call.
CALLS = (
    Call(2024, 3, "2024-04-25T17:30:00.000-04:00", "Third of 2024."),
    Call(2024, 2, "2024-01-30T17:30:00.000-05:00", "Second of 2024."),
    Call(2024, 1, "2023-10-24T14:30:00.000-07:00", "First of 2024."),
    Call(2023, 1, "2022-10-25T09:00:00.000-04:00", "First of 2023."),
    Call(2022, 4, "2022-07-26T09:00:00.000-04:00"),
    Call(2024, 2, "2024-01-30T16:00:00-06:00", "Of another.", symbol="ABC", exchange="NYSE"),
)
IDS = ["NASDAQ:MSFT:2024Q2", "NASDAQ:MSFT:2024Q1", "NASDAQ:MSFT:2023Q1", "NASDAQ:MSFT:2022Q4"]


def ask(app: App | None = None, *, op: str = "events", pit: str | None = PIT, **options: Any) -> Fetched:
    values = {"symbol": "MSFT", "exchange": "NASDAQ", **options}
    return ask_source("earningscall", app or earningscall.app(CALLS), op=op, pit=pit, **values)


def test_an_item_says_which_call_it_is() -> None:
    subject = {"exchange": "NASDAQ", "symbol": "MSFT", "year": 2024, "quarter": 2}
    subject |= {"conference_date": "2024-01-30T17:30:00.000-05:00"}
    assert ask().items[0][2:] == ("provider_metadata", subject)
    (slides, *_) = ask(op="slides").items
    query = "exchange=NASDAQ&symbol=MSFT&year=2024&quarter=2"
    addresses = {f"{what}_url": f"https://v2.api.earningscall.biz/{what}?{query}" for what in ("slides", "audio")}
    assert slides[3] == {**subject, **addresses}
    (transcript, *_) = ask(op="transcript").items
    assert transcript[3] == {**subject, "text": "Second of 2024."}


@pytest.mark.parametrize("op", ["events", "slides", "transcript"])
def test_the_period_and_the_window_are_those_of_the_call(op: str) -> None:
    assert ask(op=op, year=2024).ids == IDS[:2]
    assert ask(op=op, year=2024, quarter=2).ids == IDS[:1]
    assert ask(op=op, date_from="2022-10-25", date_to="2023-10-24").ids == IDS[1:3]


# Which transcripts are asked for.


def periods(fetched: Fetched) -> list[str]:
    sent = [request.query for request in fetched.requests if request.path == "/transcript"]
    return [f"{query['year']}Q{query['quarter']}" for query in sent]


def test_no_more_transcripts_are_asked_for_than_are_needed() -> None:
    many = [Call(2000 + n, 1, f"{2000 + n}-02-01T17:00:00-05:00", f"Call {n}.") for n in range(20)]
    fetched = ask(earningscall.app(many), op="transcript", limit=1)
    assert fetched.ids == ["NASDAQ:MSFT:2019Q1"]
    assert periods(fetched) == ["2019Q1", "2018Q1", "2017Q1"]
    assert periods(ask(op="transcript", year=2024, quarter=1)) == ["2024Q1"]


def test_a_call_that_is_listed_twice_is_asked_for_once() -> None:
    assert periods(ask(earningscall.app([CALLS[1]] * 5), op="transcript")) == ["2024Q2"]


AT = "2024-02-15T21:00:00+00:00"  # the PIT


@pytest.mark.parametrize(
    ("stored", "revised"),
    [
        ("Tue, 30 Jan 2024 23:30:00 GMT", None),  # before noon of the next day
        ("Thu, 15 Feb 2024 21:00:00 GMT", AT),
        ("Tue, 30 Jan 2024 22:29:59 GMT", ""),  # before the call
        ("Thu, 01 Jan 1970 00:00:00 GMT", ""),
        ("Thu, 15 Feb 2024 09:00:00 EST", ""),
        ("Wed, 31 Jan 2024 23:30:00", ""),
        ("", None),
    ],
)
def test_a_transcript_needs_the_time_at_which_it_was_stored(stored: str | None, revised: str | None) -> None:
    app = earningscall.app([CALLS[1]._replace(stored=stored), CALLS[2]])
    fetched = ask(app, op="transcript")
    assert fetched.ids == (IDS[:2] if revised != "" else IDS[1:2])
    if revised != "":
        assert fetched.records[0].available_at == datetime(2024, 1, 31, 12, tzinfo=NEW_YORK)
        assert fetched.records[0].revised_at == (revised and datetime.fromisoformat(revised))
    assert ask(app, op="transcript", pit=None).ids == IDS[:2]
    assert ask(app).ids == IDS[:2]  # that there was a call rests on the list


def test_a_transcript_that_names_another_day_does_not_break_the_order() -> None:
    calls = [
        Call(2024, 1, "2024-01-30T17:00:00-05:00", "a"),
        Call(2023, 4, "2023-10-30T17:00:00-04:00", "b", own_date="2024-02-05T17:00:00-05:00"),
        Call(2023, 3, "2023-07-30T17:00:00-04:00", "c", stored="Sat, 10 Feb 2024 00:00:00 GMT"),
    ]
    fetched = ask(earningscall.app(calls), op="transcript")
    assert (fetched.ids, fetched.error) == ([f"NASDAQ:MSFT:{name}" for name in ("2024Q1", "2023Q4", "2023Q3")], None)


@pytest.mark.parametrize("pit", [PIT, None])
def test_a_text_alone_is_that_of_the_call_that_was_asked_for(pit: str | None) -> None:
    calls = [call._replace(own_date=False) if call.quarter == 2 else call for call in CALLS]
    fetched, plain = (ask(earningscall.app(served), op="transcript", pit=pit) for served in (calls, CALLS))
    assert (fetched.items, fetched.error) == (plain.items, None)


UNDATED = (
    Call(2021, 4, "soon", "Fourth of 2021.", own_date="2021-07-27T17:30:00-04:00"),
    Call(2022, 1, "2021-10-26", "First of 2022."),
    Call(2020, 2, None, "Second of 2020.", own_date=False),
)


@pytest.mark.parametrize("calls", [UNDATED, (*UNDATED, *CALLS)])
def test_without_a_pit_transcripts_of_calls_without_a_date_are_served_last(calls: tuple[Call, ...]) -> None:
    fetched = ask(earningscall.app(calls), op="transcript", pit=None)
    dated = ["NASDAQ:MSFT:2024Q3", *IDS[:3]] if len(calls) > len(UNDATED) else []
    assert fetched.ids[: len(dated)] == dated
    assert set(fetched.ids[len(dated) :]) == {f"NASDAQ:MSFT:{name}" for name in ("2022Q1", "2021Q4", "2020Q2")}
    assert {record.available_at for record in fetched.records[len(dated) :]} == {None}
    assert periods(fetched)[-3:] == ["2022Q1", "2021Q4", "2020Q2"]
    # With a PIT none of these is asked for: where there is no other, only what shows whether transcripts fail.
    asked = ["2024Q2", "2024Q1", "2023Q1", "2022Q4"] if dated else ["2023Q1"]
    assert periods(ask(earningscall.app(calls), op="transcript")) == asked


# The exchange.


def test_without_an_exchange_every_one_that_lists_the_symbol_is_asked(tmp_path: Path) -> None:
    twice = [CALLS[1], CALLS[2]._replace(exchange="NYSE")]
    fetched = ask(earningscall.app(twice), exchange=(), folder=str(tmp_path))
    assert fetched.ids == ["NASDAQ:MSFT:2024Q2", "NYSE:MSFT:2024Q1"]
    assert fetched.paths("/") == ["/symbols-v2.txt", "/events", "/events"]
    again = ask(earningscall.app(twice), exchange=(), folder=str(tmp_path))
    assert "/symbols-v2.txt" in again.paths("/")  # the few of the key demo are not everybody's


def test_a_long_list_of_symbols_is_kept(tmp_path: Path) -> None:
    others = [CALLS[1]._replace(symbol=f"S{n}") for n in range(200)]
    app = earningscall.app([*CALLS, *others])
    assert ask(app, exchange=(), folder=str(tmp_path)).paths("/") == ["/symbols-v2.txt", "/events"]
    assert ask(app, exchange=(), folder=str(tmp_path)).paths("/") == ["/events"]


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (Response(status=404), "moved"),
        (Response(b"<Error><Code>NoSuchKey</Code></Error>", 403), "http_status"),
        (Response(b"<html></html>"), "malformed"),
        (Response(b""), "malformed"),
    ],
)
def test_a_list_of_symbols_that_is_not_there_is_no_company_without_calls(response: Response, code: str) -> None:
    fetched = ask(instead(earningscall.app(CALLS), response, "/symbols-v2.txt"), exchange=())
    assert (fetched.ids, fetched.error_code) == ([], code)


# The calendar.


def calendar(app: App | None = None, date: str = "2024-01-30", pit: str | None = PIT) -> Fetched:
    return ask(app, op="calendar", date=date, symbol=(), exchange=(), pit=pit)


def test_a_call_of_no_company_is_left_out() -> None:
    row = {"exchange": "NYSE", "symbol": "A", **CALLS[1].event}
    rows = [row, {**row, "symbol": None}, {**row, "exchange": 5}, {**row, "symbol": ""}, CALLS[1].event]
    fetched = calendar(lambda request: as_json(rows))
    assert fetched.ids == ["NYSE:A:2024Q2"]


def test_the_calls_of_a_day() -> None:
    fetched = calendar()
    assert fetched.ids == ["NASDAQ:MSFT:2024Q2", "NYSE:ABC:2024Q2"]
    assert "transcript_ready" not in fetched.records[0].payload
    assert [fetched.requests[0].query[name] for name in ("year", "month", "day")] == ["2024", "1", "30"]
    opened = calendar(date="2024-04-25", pit=None)
    assert opened.records[0].payload["transcript_ready"] is True


# Errors, and the call.


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (Response(b"SECRET", 401), "credential_refused"),
        (earningscall.NOT_IN_PLAN, "not_entitled"),
        (Response(b"SECRET", 429), "throttled"),
        (Response(b"SECRET", 500), "http_status"),
        (Response(b"SECRET", 400), "http_status"),
        (as_json({"message": "SECRET"}), "malformed"),
        (earningscall.MISSING, ""),
        (earningscall.FORBIDDEN, ""),
    ],
)
def test_what_earningscall_says_instead(response: Response, code: str) -> None:
    for op in ("events", "transcript", "slides"):
        assert ask(lambda request: response, op=op).error_code == code
    response = replace(response, headers={**response.headers, **CALLS[1].headers})
    assert ask(instead(earningscall.app(CALLS), response, "/transcript"), op="transcript").error_code == code


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"quarter": 5}, "quarter is 1 to 4"),
        ({"op": "calendar", "symbol": (), "exchange": (), "date": "tomorrow"}, "date is YYYY-MM-DD"),
    ],
)
def test_a_call_that_makes_no_sense_asks_nothing(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason.replace("?", r"\?")):
        ask(**options)


def test_what_is_no_proof_is_said_with_a_pit() -> None:
    (caveat,) = ask(op="transcript").caveats
    assert "a convention, not a proof" in caveat
    assert "later recording" in caveat
    assert ask(pit=None).caveats == []


def test_saved_replies() -> None:
    events = json.dumps({"events": [call.event for call in CALLS[:5]]}).encode()
    assert ask(body=events).ids == IDS
    body = json.dumps(CALLS[1].reply).encode()
    for transcripts in (body, b"[" + body + b", null, 5]"):
        assert ask(body=transcripts, op="transcript", pit=None).ids == IDS[:1]
        fetched = ask(body=transcripts, op="transcript")  # which shows no Last-Modified
        assert (fetched.ids, "saved transcript" in fetched.caveats[0]) == ([], True)
    for op, other in (("events", b"[]"), ("events", body), ("transcript", events), ("transcript", b"[5]")):
        assert "input_malformed" in [gap.code for gap in ask(body=other, op=op).selection.gaps], (op, other)
