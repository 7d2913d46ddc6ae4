"""Without a PIT, items that nothing dates come newest first as well: a limit must not show the oldest ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.inprocess import fetch
from tests.provider_harness import ask
from tests.providers.earningscall import server as earningscall
from tests.providers.earningscall.server import Call

QUARTERS = [(2022, 4), (2023, 1), (2023, 2), (2023, 3), (2023, 4), (2024, 1)]
_EVENTS = [{"year": year, "quarter": quarter, "conference_date": None} for year, quarter in QUARTERS]
_IDS = [f"NASDAQ:MSFT:{year}Q{quarter}" for year, quarter in reversed(QUARTERS)]
_PAGES = [
    {"url": f"https://a.example/{7 - day}", "title": "t", "snippet": "s", "date": f"2024-02-0{day}"}
    for day in range(1, 7)
]

# A source and its request, a reply without what would date its rows, and the ids, newest first.
CASES: Mapping[str, tuple[str, Any, list[str]]] = {
    "calls": ("earningscall events symbol=MSFT exchange=NASDAQ", {"events": _EVENTS}, _IDS),
    "slides": ("earningscall slides symbol=MSFT exchange=NASDAQ", {"events": _EVENTS}, _IDS),
    "transcripts": (
        "earningscall transcript symbol=MSFT exchange=NASDAQ",
        [{"event": event, "text": "x"} for event in _EVENTS],
        _IDS,
    ),
    "pages": ("perplexity --query x", {"results": _PAGES}, [f"https://a.example/{n}" for n in range(1, 7)]),
}


@pytest.mark.parametrize("case", CASES)
def test_undated_items_come_newest_first(tmp_path: Path, case: str) -> None:
    request, reply, newest = CASES[case]
    (tmp_path / "reply.json").write_text(json.dumps(reply))
    words, ids = ["--source", *request.split(), "--input-file", "reply.json", "--limit", "2"], []
    after: tuple[str, ...] = ()
    for _ in range(3):
        left = fetch(tmp_path, *words, *after)
        assert {item["available_at"] for item in left.data} == {None}
        ids += [item["id"] for item in left.data]
        after = next((("--after", gap["cursor"]) for gap in left.envelope["gaps"] if "cursor" in gap), ())
    assert (ids, after) == (newest, ())


def test_undated_calls_transcripts_are_asked_for_newest_first() -> None:
    app = earningscall.app([Call(year, quarter, "", f"{year}") for year, quarter in QUARTERS])
    fetched = ask("earningscall", app, op="transcript", symbol="MSFT", exchange="NASDAQ", pit=None, limit=2)
    assert fetched.ids == _IDS[:2]
