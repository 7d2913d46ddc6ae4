"""index_members passes the standard tests, and reads a list as it stood, vandalism and undone edits included."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

import pytest
from pit_fetch_providers.index_members import PROVIDER

from pit_fetch.testing import Answering, Bounds, ProviderSuite, Recording, TestClock, run
from tests.providers.index_members import server as wiki
from tests.providers.index_members.server import revision, wikitext

_NAMES = ["".join(letters) for letters in product("ABCDEFGHIJ", repeat=3)][:503]
_MORNING = datetime(2023, 6, 2, 12, tzinfo=UTC)
_DAY = timedelta(days=1)


class TestIndexMembers(ProviderSuite):
    provider = PROVIDER
    credentials = {"contact": wiki.CONTACT}
    options = {"index": "sp500"}
    zone = "UTC"
    recording = Recording(
        {"/w/api.php": wiki.reply([revision(100, _MORNING, wikitext(_NAMES))])},
        id="revid",
        window=Bounds("timestamp", to="rvstart"),
    )


# As recorded of PANW and DISH: in, and out, two weeks early, undone a day later, and done on the effective day.
_SWAPPED = ["PANW", *_NAMES[1:]]
_HISTORY = [
    revision(100, _MORNING, wikitext(_NAMES)),
    revision(101, _MORNING + 2 * _DAY, wikitext(_SWAPPED)),
    revision(102, _MORNING + 3 * _DAY, wikitext(_NAMES, "undone")),
    revision(103, _MORNING + 18 * _DAY, wikitext(_SWAPPED, "effective")),
    revision(104, _MORNING + 19 * _DAY, wikitext(_NAMES[:40], "vandalism")),
    revision(105, _MORNING + 20 * _DAY, "blanked"),
    revision(106, _MORNING + 21 * _DAY, wikitext(_NAMES), slots={}),
]


@pytest.mark.parametrize(
    ("pit", "has_it", "number"),
    [
        ("2023-06-02T12:00:59Z", None, None),
        ("2023-06-02T12:01:00Z", False, 100),
        ("2023-06-04T12:01:00Z", True, 101),
        ("2023-06-10T00:00:00Z", False, 102),
        ("2023-06-20T12:01:00Z", True, 103),
        ("2023-06-21T13:00:00Z", True, 103),
        ("2023-06-30T00:00:00Z", True, 103),
    ],
)
def test_a_list_is_what_a_reader_could_see(pit: str, has_it: bool | None, number: int | None, tmp_path: Path) -> None:
    clock = TestClock(datetime(2024, 3, 2, tzinfo=UTC))
    words = f"--source index_members --pit {pit} --limit 600 --fields symbol,revision,cik,name"
    server = Answering(wiki.app(_HISTORY), clock.now)
    left = run(
        words.split(), transport=server, clock=clock.value(), environ=wiki.VARIABLES, folder=tmp_path, provider=PROVIDER
    )
    found = {item["symbol"]: item for item in left.data}
    assert len(found) == (503 if number else 0)
    assert {item["revision"] for item in left.data} == ({number} if number else set())
    if number:
        assert ("PANW" in found, _NAMES[0] in found) == (has_it, not has_it)
        assert (found[_NAMES[1]]["cik"], found[_NAMES[1]]["name"]) == ("0000066741", f"{_NAMES[1]} Inc.")
