"""fred passes the standard tests, on vintages of the recorded shape and with a server that cuts real-time periods."""

from __future__ import annotations

import json

import pytest
from pit_fetch_providers.fred import PROVIDER

from pit_fetch.testing import Bounds, ProviderSuite, Recording
from tests.providers.fred import server as fred
from tests.providers.fred.server import Vintage, row

_ROWS = [
    row(Vintage("2023-07-01", "2023-10-26", "27623.543"), "2023-11-28"),
    row(Vintage("2023-07-01", "2023-11-29", "27644.463"), "2023-12-20"),
    row(Vintage("2023-07-01", "2023-12-21", "27610.128")),
    row(Vintage("2023-10-01", "2024-01-25", "27938.831"), "2024-02-27"),
    row(Vintage("2023-10-01", "2024-02-28", "."), "2024-03-27"),
    row(Vintage("2023-10-01", "2024-03-28", "27956.998")),
    row(Vintage("2024-01-01", "2024-04-25", "28284.498")),
]


@pytest.mark.thorough
class TestOneReplyToEveryRequest(ProviderSuite):
    provider = PROVIDER
    reply = json.dumps(fred.document(_ROWS)).encode()
    options = {"series_id": "GDP"}
    zone = "America/Chicago"
    credentials = {"key": fred.KEY}


class TestServer(TestOneReplyToEveryRequest):
    recording = Recording(fred.document(_ROWS), window=Bounds("realtime_start", to="realtime_end"))
