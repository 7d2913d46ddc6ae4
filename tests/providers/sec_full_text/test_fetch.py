"""sec_full_text end to end: the command, in process, against SEC's hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest
from tests.conftest import Run
from tests.provider_harness import run_command
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing, number

PIT = "2024-02-15T16:00:00-05:00"


def test_what_was_public_at_the_pit_is_served_with_the_time_of_its_release(tmp_path: Path) -> None:
    filings = [
        Filing(number(1), "8-K", "2024-02-15 14:50:00", items=("8.01",), files=(("a.htm", ""), ("b c.htm", "EX-99.1"))),
        Filing(number(2), "8-K", "2024-02-15 15:00:30"),
        Filing(number(3), "10-Q", "2024-02-14 17:31:00", filed="2024-02-15"),
        Filing(number(4), "10-K", "2024-02-14 17:29:00"),
        Filing(number(5), "UPLOAD", "2023-10-02 12:00:00", released="2024-02-14", private=True),
        Filing(number(6), "UPLOAD", "2023-10-03 12:00:00", released="2024-02-15", private=True),
        Filing(number(7), "10-K/A", "2023-10-04 12:00:00"),
        Filing(number(8), "8-K", "2024-02-15 17:31:00", filed="2024-02-16"),
    ]
    done = run_command("sec_full_text", tmp_path, sec.app(filings), "--pit", PIT, '"going concern"')
    assert {item["id"]: item["available_at"] for item in done.envelope["data"]} == {
        number(1): "2024-02-15T15:50:00-05:00",
        number(3): "2024-02-15T09:00:00-05:00",
        number(5): "2024-02-15T00:00:00-05:00",
        number(4): "2024-02-15T00:00:00-05:00",
        number(7): "2023-10-05T00:00:00-04:00",
    }
    assert done.ids == [number(1), number(3), number(4), number(5), number(7)]
    assert done.gap_types == ["pit_excluded", "unverifiable"]
    assert (done.code, done.err) == (0, "")
    url = "https://www.sec.gov/Archives/edgar/data/320193/000119312524000001"
    assert done.envelope["data"][0] == {
        "available_at": "2024-02-15T15:50:00-05:00",
        "available_at_source": "edgar_accepted",
        "id": number(1),
        "accession_number": number(1),
        "form": "8-K",
        "filed": "2024-02-15",
        "accepted_at": "2024-02-15T14:50:00-05:00",
        "ciks": ["0000320193"],
        "company_names": ["Apple Inc."],
        "items": ["8.01"],
        "period": "2023-12-31",
        "documents": [
            {"file_name": "a.htm", "type": "8-K", "description": None, "url": f"{url}/a.htm"},
            {"file_name": "b c.htm", "type": "EX-99.1", "description": None, "url": f"{url}/b%20c.htm"},
        ],
    }
    last = done.envelope["data"][-1]
    assert (last["available_at_source"], last["accepted_at"], last["company_names"]) == (
        "provider_metadata",
        None,
        ["Apple Inc."],  # as the index of its day has it
    )


@pytest.mark.parametrize("user_agent", ["", "Mozilla/5.0", "ops@example.com", "Company\x01 ops@example.com"])
def test_without_a_plausible_user_agent_nothing_is_asked(tmp_path: Path, user_agent: str) -> None:
    def unasked(request: HttpRequest) -> Response:
        raise AssertionError

    words, env = ("--pit", PIT, "concern", "--fail"), {"SEC_USER_AGENT": user_agent}
    done = run_command("sec_full_text", tmp_path, unasked, *words, env=env)
    assert (done.gap_types, done.code) == (["config"], 3)
    assert "SEC_USER_AGENT" in done.err
    assert not user_agent or user_agent not in done.out + done.err


def test_a_saved_reply_needs_no_network_and_no_user_agent(run: Run) -> None:
    filings = [Filing(number(1), "10-K", "2023-12-31 12:00:00"), Filing(number(2), "UPLOAD", "2023-12-31 12:00:00")]
    body = sec.text_of(sec.reply([hit for filing in filings for hit in sec.hits(filing)]))
    done = run("--source", "sec_full_text", "--pit", PIT, "--input-file", "-", stdin=body)
    assert done.ids == []
    assert done.gap_types == ["pit_excluded", "unverifiable", "unverifiable", "no_data"]
    assert "nothing in it is served" in done.envelope["gaps"][2]["reason"]
    assert run("--source", "sec_full_text", "--input-file", "-", stdin=body).ids == [number(1), number(2)]
    bad = run("--source", "sec_full_text", "--pit", PIT, "--input-file", "-", "--fail", stdin=b"<html>")
    assert (bad.gap_types[-1], bad.code) == ("input_error", 4)
