"""sec_full_text end to end: the real command against a loopback server that speaks for SEC's hosts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from pit_fetch.testing.server import App
from tests.conftest import Finished, Run
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing, number
from tests.serving import Server, serve

PIT = "2024-02-15T16:00:00-05:00"
_HOSTS = ("EFTS", "DATA", "WWW")
# A server on this machine may be asked as often as you like; how the SEC's limit is kept is tested beside it.
_UNHURRIED = {f"PIT_FETCH_RATE_{host}_SEC_GOV": "1000/0.001" for host in _HOSTS}


class World:
    """Run the command against one server that is all three hosts."""

    def __init__(self, server: Server, run: Run) -> None:
        self.server, self.run = server, run

    def fetch(self, *words: str, env: dict[str, str] | None = None, stdin: bytes = b"") -> Finished:
        hosts = {f"PIT_FETCH_SEC_{host}_URL": self.server.url for host in _HOSTS}
        variables = {**hosts, **_UNHURRIED, "SEC_USER_AGENT": sec.USER_AGENT, **(env or {})}
        return self.run("--source", "sec_full_text", *words, env=variables, stdin=stdin)

    def at_pit(self, *words: str, env: dict[str, str] | None = None) -> Finished:
        return self.fetch("--pit", PIT, *words, env=env)

    @property
    def paths(self) -> list[str]:
        return [request.path for request in self.server.requests]


@contextmanager
def world(run: Run, filings: Sequence[Filing] = (), app: App | None = None) -> Iterator[World]:
    with serve(app or sec.app(filings)) as server:
        yield World(server, run)


def test_what_was_public_at_the_pit_is_served_with_the_time_of_its_release(run: Run) -> None:
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
    with world(run, filings) as edgar:
        done = edgar.at_pit('"going concern"')
    assert {item["id"]: item["available_at"] for item in done.envelope["data"]} == {
        number(1): "2024-02-15T15:50:00-05:00",
        number(3): "2024-02-15T09:00:00-05:00",
        number(5): "2024-02-15T00:00:00-05:00",
        number(4): "2024-02-15T00:00:00-05:00",
        number(7): "2023-10-05T00:00:00-04:00",
    }
    assert done.ids == [number(1), number(3), number(4), number(5), number(7)]
    assert done.gap_types == ["pit_excluded", "unverifiable"]
    assert (done.code, done.err) == (0, b"")
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
def test_without_a_plausible_user_agent_nothing_is_asked(near: Run, user_agent: str) -> None:
    with world(near) as edgar:
        done = edgar.at_pit("concern", "--fail", env={"SEC_USER_AGENT": user_agent})
        assert edgar.server.requests == []
    assert (done.gap_types, done.code) == (["config"], 3)
    assert b"SEC_USER_AGENT" in done.err
    assert not user_agent or user_agent.encode() not in done.out + done.err


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
