"""official passes the standard tests, and its releases are never before those that were announced."""

from __future__ import annotations

import warnings
from datetime import date, datetime
from pathlib import Path

import pytest
from pit_fetch_providers.official import PROVIDER
from pit_fetch_providers.official.releases import cot_released, curve_released, short_interest_released

import pit_fetch
from pit_fetch.testing import ProviderSuite, Recording
from tests.providers.official.server import feed, interest, position

_CURVES = feed([("2024-02-13", "4.31"), ("2024-02-14", "4.27"), ("2024-02-15", "4.24")])


class TestPositions(ProviderSuite):
    provider = PROVIDER
    options = {"op": "cot", "market": "239747"}
    zone = "America/New_York"
    recording = Recording(
        [position("239747", day, "19404") for day in ("2024-02-13", "2024-02-06", "2024-01-30", "2024-01-23")]
    )


class TestShortInterest(ProviderSuite):
    provider = PROVIDER
    options = {"op": "short_interest", "symbols": ["AAPL", "BRKB"]}
    zone = "America/New_York"
    recording = Recording(
        [
            interest("AAPL", "2024-02-15", 139749097),
            interest("BRKB", "2024-01-31", 12347326),
            interest("AAPL", "2024-01-12", 1),
        ]
    )


class TestTreasury(ProviderSuite):
    provider = PROVIDER
    options = {"op": "treasury", "date_from": "2024-02-01"}
    zone = "America/New_York"
    reply = _CURVES.removeprefix(b"<pre>").removesuffix(b"</pre>")


@pytest.mark.parametrize(
    ("report", "released"),
    {
        "2024-08-20": "2024-08-23T15:30:00-04:00",  # recorded: changed at 15:30:46
        "2025-09-30": "2025-11-19T15:30:00-05:00",
        "2025-11-10": "2025-12-10T15:30:00-05:00",  # a Monday
        "2025-12-23": "2025-12-29T15:30:00-05:00",
        "2018-12-24": "2019-02-01T15:30:00-05:00",
        "2023-01-31": "2023-02-24T15:30:00-05:00",
        "2025-01-07": "2025-01-13T15:30:00-05:00",  # a day of mourning
        "2021-06-15": "2021-06-21T15:30:00-04:00",  # a holiday that was new
        "2020-12-21": "2020-12-28T15:30:00-05:00",
    }.items(),
)
def test_a_report_is_not_early(report: str, released: str) -> None:
    claimed = cot_released(date.fromisoformat(report))
    assert claimed is not None
    assert claimed >= datetime.fromisoformat(released)


def test_curves_in_a_stray_element_are_read(tmp_path: Path) -> None:
    (tmp_path / "curves.xml").write_bytes(_CURVES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        envelope = pit_fetch.fetch("official", op="treasury", pit="open", input_file=tmp_path / "curves.xml")
    assert [(item["date"], item["y10"], item["m1"]) for item in envelope.data] == [
        ("2024-02-15", 4.24, 5.3),
        ("2024-02-14", 4.27, 5.3),
        ("2024-02-13", 4.31, 5.3),
    ]


def test_a_curve_and_short_interest_have_a_clock_of_their_own() -> None:
    assert curve_released(date(2024, 7, 3)) == datetime.fromisoformat("2024-07-03T20:00:00-04:00")
    assert short_interest_released(date(2026, 8, 31)) == datetime.fromisoformat("2026-09-15T00:00:00-04:00")
