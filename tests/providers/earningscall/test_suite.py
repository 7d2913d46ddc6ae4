"""earningscall passes the standard tests: its lists, its calendar, and transcripts with the list that leads to them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pit_fetch_providers.earningscall import PROVIDER

from pit_fetch.testing import HttpRequest, ProviderSuite, Response
from pit_fetch.times import parse_rfc3339
from tests.providers.earningscall import server as earningscall
from tests.providers.earningscall.server import Call

_CALLS = [
    Call(2024, 3, "2024-04-25T17:30:00.000-04:00", "Third quarter."),
    Call(2024, 2, "2024-01-30T17:30:00.000-05:00", "Second quarter."),
    Call(2024, 1, "2023-10-24T14:30:00.000-07:00", "First quarter."),
    Call(2023, 4, "2023-07-25T21:30:00Z", "Fourth quarter."),
]
_OF_A_DAY = ("2024-01-30T09:00:00.000-05:00", "2024-01-30T17:30:00.000-05:00", "2024-01-30T14:30:00.000-07:00",
             "2024-01-31T01:30:00Z")  # fmt: skip
_LIST = json.dumps({"company_name": "A Company", "events": [call.event for call in _CALLS]}).encode()


@pytest.mark.thorough
class TestEvents(ProviderSuite):
    provider = PROVIDER
    options = {"op": "events", "symbol": "MSFT", "exchange": "NASDAQ"}
    reply = _LIST


class TestSlides(TestEvents):
    options = {"op": "slides", "symbol": "MSFT", "exchange": "NASDAQ"}


@pytest.mark.thorough
class TestCalendar(ProviderSuite):
    provider = PROVIDER
    options = {"op": "calendar", "date": "2024-01-30"}
    reply = json.dumps(
        [
            {**Call(2024, 2, held, symbol=name).event, "exchange": "NYSE", "symbol": name, "transcript_ready": True}
            for held, name in zip(_OF_A_DAY, ("A", "B", "C", "D"), strict=True)
        ]
    ).encode()


class TestTranscript(ProviderSuite):
    provider = PROVIDER
    options = {"op": "transcript", "symbol": "MSFT", "exchange": "NASDAQ"}
    reply = json.dumps([call.reply for call in _CALLS[1:]]).encode()

    def serve(self, reply: bytes, request: HttpRequest) -> Response:
        """Answer with a list made of the transcripts, which are asked for one by one."""
        try:
            replies = json.loads(reply)
        except (ValueError, RecursionError):
            return Response(reply)
        if not isinstance(replies, list):
            return Response(reply)
        events = [entry.get("event") if isinstance(entry, dict) else entry for entry in replies]
        if request.path == "/events":
            return Response(json.dumps({"events": events}).encode())
        matching = [entry for entry, event in zip(replies, events, strict=True) if _is_asked(event, request)]
        # There is one transcript of a period: of several, the first that was held.
        matching.sort(key=lambda entry: str(entry["event"].get("conference_date")))
        if not matching:
            return earningscall.MISSING
        stored = earningscall.http_date(parse_rfc3339(matching[0]["event"].get("conference_date")))
        headers = {} if stored is None else {"Last-Modified": stored}
        return Response(json.dumps(matching[0]).encode(), 200, headers)


def _is_asked(event: Any, request: HttpRequest) -> bool:
    return isinstance(event, dict) and all(
        str(event.get(name)) == request.query.get(name) for name in ("year", "quarter")
    )
