"""fred: which vintage is served at which instant, the periods that are asked for, and what FRED may say instead."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pit_fetch_providers.fred import vintages

from pit_fetch.errors import ConfigError
from pit_fetch.testing.server import App
from tests import inprocess
from tests.provider_harness import Fetched, run_command
from tests.provider_harness import ask as ask_source
from tests.providers.fred import server as fred
from tests.providers.fred.server import Vintage

PIT = "2024-02-15T16:00:00-05:00"
_command = partial(run_command, "fred")
# GDP of 1946 and of 2023: revised, withdrawn, and revised again, as FRED keeps it.
VINTAGES = (
    Vintage("1946-01-01", "1992-12-22", "199.7"),
    Vintage("1946-01-01", "1996-01-19", "."),
    Vintage("1946-01-01", "1997-05-07", "210.4"),
    Vintage("1946-01-01", "1999-10-28", "."),
    Vintage("2023-10-01", "2024-01-25", "27938.831"),
    Vintage("2023-10-01", "2024-02-28", "27944.627"),
)


def ask(
    app: App | Sequence[Vintage] = VINTAGES, *, pit: str | None = PIT, series: str = "GDP", **options: Any
) -> Fetched:
    answering = app if callable(app) else fred.app(app)
    return ask_source("fred", answering, pit=pit, series_id=series, **options)


def values(fetched: Fetched) -> dict[str, str]:
    return {record.id: record.payload["value"] for record in fetched.records}


# Vintages.


def test_an_item_shows_when_its_value_became_current_and_never_until_when() -> None:
    (item,) = (entry for entry in ask().items if entry[0] == "GDP@2023-10-01")
    public = datetime(2024, 1, 26, 6, tzinfo=UTC)
    payload = {"date": "2023-10-01", "value": "27938.831", "realtime_start": "2024-01-25"}
    assert item == ("GDP@2023-10-01", public, "provider_metadata", payload)
    (item,) = (entry for entry in ask(pit=None, fields="date").items if entry[0] == "GDP@1946-01-01")
    assert item[3]["realtime_end"] == "9999-12-31"


@pytest.mark.parametrize(
    ("window", "ids"),
    [
        ({"date_from": "1946-01-01"}, ["GDP@2023-10-01", "GDP@1946-01-01"]),
        ({"date_from": "1946-01-02"}, ["GDP@2023-10-01"]),
        ({"date_to": "2023-10-01"}, ["GDP@2023-10-01", "GDP@1946-01-01"]),
        ({"date_to": "2023-09-30"}, ["GDP@1946-01-01"]),
        ({"date_to": "1700-01-01"}, []),
        ({"date_from": "0001-01-01", "date_to": "1946-01-01"}, ["GDP@1946-01-01"]),
    ],
)
def test_the_window_is_on_the_observation_s_date(window: dict[str, Any], ids: list[str]) -> None:
    fetched = ask(**window)
    assert fetched.ids == ids
    if window.get("date_from", "1") > "1":
        assert fetched.requests[0].query["observation_start"] == window["date_from"]


# What is asked for.


@pytest.mark.parametrize(
    ("pit", "last"),
    [
        ("2024-02-15T00:59:59-05:00", "2024-02-13"),
        ("2024-02-15T01:00:00-05:00", "2024-02-14"),
        ("2024-02-15T16:00:00-05:00", "2024-02-14"),
        ("2024-07-15T05:00:00Z", "2024-07-14"),
        ("2030-01-01T00:00:00Z", "2026-10-30"),
    ],
)
def test_the_period_ends_with_the_last_day_that_was_over(pit: str, last: str) -> None:
    """Neither a row nor an error can then depend on a later vintage, and FRED refuses a period after its own today."""
    fetched = ask(fred.app(VINTAGES, today="2026-10-31"), pit=pit)
    assert fetched.error is None
    (request,) = fetched.requests
    assert (request.query["realtime_start"], request.query["realtime_end"]) == ("1776-07-04", last)


def test_before_all_vintages_nothing_is_asked() -> None:
    fetched = ask(pit="1700-01-01T00:00:00Z")
    assert (fetched.records, fetched.requests) == ([], [])


MANY = [Vintage("2023-10-01", f"{date(2020, 1, 1) + timedelta(days=day)}", f"{day}") for day in range(0, 40, 2)]
STEADY = Vintage("2023-07-01", "2020-01-05", "7")


@pytest.mark.parametrize("most", [1, 2, 3, 7, 19, 20, 21])
def test_more_vintages_than_one_request_may_have(most: int) -> None:
    """Rows are cut to the period they are asked for in: a value that merely goes on is no new vintage."""
    pit = "2020-01-30T12:00:00-05:00"
    expected = ask([*MANY, STEADY], pit=pit)
    with patch.object(vintages, "MOST_VINTAGES", most), patch.object(fred, "MOST_VINTAGES", most):
        split = ask([*MANY, STEADY], pit=pit)
    assert split.items == expected.items
    assert values(split) == {"GDP@2023-10-01": "28", "GDP@2023-07-01": "7"}
    assert len(split.requests) == (1 if most >= 15 else 2 + -(-15 // most))


@pytest.mark.parametrize("rows", [1, 2, 4, 5, 6])
def test_more_rows_than_one_reply_holds(rows: int) -> None:
    expected = ask()
    with patch("pit_fetch_providers.fred.api.ROWS", rows):
        paged = ask()
    assert paged.items == expected.items
    assert len(paged.requests) == 5 // rows + 1


def test_a_failure_halfway_leaves_nothing() -> None:
    """Without its later vintages an old value would pass for the current one."""
    plain = fred.app([*MANY, STEADY])

    def app(request: Any) -> Any:
        return fred.error("oops", 500) if request.query["realtime_start"] > "2020-01-10" else plain(request)

    with patch.object(vintages, "MOST_VINTAGES", 3), patch.object(fred, "MOST_VINTAGES", 3):
        fetched = ask(app, pit="2020-01-30T12:00:00-05:00")
    assert (fetched.records, fetched.error is not None) == ([], True)


# Series without vintages, and errors.


def test_a_series_without_vintages_is_served_without_a_pit_alone() -> None:
    app = fred.app([], current={"2024-02-14": "5000.62"})
    assert ask(app).records == []
    (item,) = ask(app, pit=None).items
    assert item == ("GDP@2024-02-14", None, "provider_metadata", {"date": "2024-02-14", "value": "5000.62"})


@pytest.mark.parametrize(
    ("app", "pit", "code"),
    [
        (fred.app([], series="GNP"), None, "bad_call"),
        (lambda request: fred.error(fred.BAD_KEY), PIT, "credential_refused"),
        (lambda request: fred.error("Bad Request.  Variable api_key has not been set."), PIT, "credential_refused"),
        (lambda request: fred.error(fred.THROTTLED, 429), PIT, "throttled"),
        (lambda request: fred.error("Not Found.", 404), PIT, "moved"),
        (lambda request: fred.error("Locked.", 423), PIT, "http_status"),
        (lambda request: fred.error("Bad Request.  Another."), PIT, "http_status"),
        (lambda request: fred.error(fred.TOO_MANY), PIT, "http_status"),
    ],
)
def test_what_fred_says_instead(app: App, pit: str | None, code: str) -> None:
    assert ask(app, pit=pit).error_code == code


def test_a_window_after_the_pit_is_of_days_to_come_and_not_of_publications(tmp_path: Path) -> None:
    forecast = fred.Vintage("2026-01-01", "2024-01-31", "2.1")
    left = _command(tmp_path, fred.app([forecast]), "--pit", PIT, "GDP", "--date-from", "2025-01-01")
    assert left.ids == ["GDP@2026-01-01"]
    nothing = _command(tmp_path, fred.app([forecast]), "--pit", PIT, "GDP", "--date-from", "2027-01-01")
    assert (nothing.ids, "nothing from then on was public" in nothing.reasons) == ([], False)


# The call.


@pytest.mark.parametrize(
    ("series", "reason"),
    [(None, "fred needs series_id: series_id=..."), ("GDP,GNP", "one FRED series"), ("GDP&x=1", "one FRED series")],
)
def test_a_call_that_makes_no_sense_asks_nothing(series: str | None, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        ask_source("fred", fred.app([]), pit=PIT, series_id=series)


def test_a_key_that_cannot_be_one_is_refused_unasked(tmp_path: Path) -> None:
    left = inprocess.fetch(tmp_path, "--source", "fred", "GDP", env={"FRED_API_KEY": "my-key"})
    assert left.gap_types == ["config"]
    assert "it is not 32 lower-case letters and digits" in left.reasons
    assert "my-key" not in left.out + left.err


# Files.


def _file(*vintages: Vintage, **more: Any) -> bytes:
    return json.dumps(fred.document([fred.row(vintage) for vintage in vintages], **more)).encode()


def test_a_saved_reply() -> None:
    fetched = ask(pit="2024-02-15T16:00:00-05:00", body=_file(*VINTAGES))
    assert values(fetched) == {"GDP@2023-10-01": "27938.831", "GDP@1946-01-01": "."}
    assert "does not name its series" in fetched.caveats[0]


def test_of_a_reply_that_was_cut_a_value_counts_from_the_first_day() -> None:
    body = _file(Vintage("1954-07-01", "2020-10-01", "1.13"))
    assert ask(pit="2020-10-02T04:59:59Z", body=body).records == []
    assert ask(pit="2020-10-02T05:00:00Z", body=body).ids == ["GDP@1954-07-01"]


@pytest.mark.parametrize(
    ("last", "pit", "shown"),
    [
        # The last day that was over at the PIT, in US Central time, has to lie within the file.
        ("2019-12-31", "2020-01-02T05:59:59Z", True),
        ("2019-12-31", "2020-01-02T06:00:00Z", False),
        ("2019-12-31", "2024-02-15T16:00:00-05:00", False),
        ("2019-12-31", "2001-01-01T00:00:00Z", True),
        ("2019-12-31", None, True),
        ("9999-12-31", "2024-02-15T16:00:00-05:00", True),
    ],
)
def test_a_saved_reply_shows_nothing_beyond_its_end(last: str, pit: str | None, shown: bool) -> None:
    fetched = ask(pit=pit, body=_file(VINTAGES[0], last=last))
    assert (fetched.ids == ["GDP@1946-01-01"]) is shown
    assert [gap.reason.partition(",")[0] for gap in fetched.selection.gaps if gap.type == "input_error"] == (
        [] if shown else ["--input-file shows what was current up to 2019-12-31 (its realtime_end)"]
    )


def test_a_saved_reply_that_is_one_of_several_says_so_without_a_pit() -> None:
    body = _file(VINTAGES[0], count=700)
    assert ask(pit=None, body=body).gaps == ["partial_file"]
    assert ask(pit=PIT, body=body).gaps == []


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b"[]",
        b'{"observations": 5}',
        _file(output_type=2),
        _file(output_type=4),
        _file(units="pch"),
        b'{"seriess": []}',
        _file(last="soon"),
        b"<xml/>",
    ],
)
def test_a_file_of_something_else_is_refused(body: bytes) -> None:
    fetched = ask(body=body)
    assert fetched.error is None
    assert "input_malformed" in fetched.gaps
