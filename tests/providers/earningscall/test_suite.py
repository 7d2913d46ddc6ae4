"""earningscall passes the standard tests: its lists, its calendar, and transcripts with the list that leads to them."""

from __future__ import annotations

import json

import pytest
from pit_fetch_providers.earningscall import PROVIDER

from pit_fetch.testing import Document, ProviderSuite, Recording
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
    recording = Recording(
        {
            "/events": {"events": [call.event for call in _CALLS[1:]]},
            "/transcript?year={year}&quarter={quarter}": {
                f"{call.year}/{call.quarter}": Document(call.reply, headers=call.headers) for call in _CALLS[1:]
            },
        }
    )
