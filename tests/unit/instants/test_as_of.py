"""``pit_fetch.as_of``: an instant as a ceiling."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pit_fetch
from pit_fetch.archive_admin import sample
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.errors import GapError, UsageError
from pit_fetch.instants.as_of import AsOf
from pit_fetch.mcp.tools import Shape
from pit_fetch.testing.server import Response
from tests.serving import serve
from tests.unit.test_api import ARTICLES, PIT

INSTANT = "2024-02-15T16:00:00[America/New_York]"
EARLIER = "2024-02-15T15:30:00-05:00"
LATER = "2024-02-15T16:00:01-05:00"


@pytest.fixture
def reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("PIT_FETCH_CEILING", "PIT_FETCH_RECORD", "PIT_FETCH_ARCHIVE", "CLAUDECODE"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "reply.json"
    path.write_text(json.dumps(ARTICLES))
    return path


def ids(envelope: pit_fetch.Envelope) -> list[str]:
    return [item["id"] for item in envelope.data]


def test_without_a_pit_its_instant_holds_and_an_earlier_one_may_be_asked(reply: Path) -> None:
    with pit_fetch.as_of(INSTANT) as then:
        assert then.pit == INSTANT
        assert ids(then.fetch("bz-news-api", input_file=reply)) == ["2", "3"]
        assert ids(then.fetch("bz-news-api", pit=EARLIER, input_file=reply)) == ["3"]
    with pit_fetch.as_of(PIT) as then:
        assert ids(then.fetch("bz-news-api", input_file=reply)) == ["2", "3"]


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        (lambda then: then.fetch("bz-news-api", pit=LATER), "after the ceiling"),
        (lambda then: then.fetch("bz-news-api", pit="open"), "every call needs a pit"),
        (lambda then: then.fetch("bz-news-api", options={"pit": LATER}), "after the ceiling"),
        (lambda then: then.fetch("fred", series_id="GDP"), "fred is not one of this instant's sources"),
        (lambda then: then.fetch("no-such"), "no-such"),
        (lambda then: then.tools(["fred"]), "fred is not one of this instant's sources"),
        (lambda then: then.tools(style="riddle"), "style is one of plain"),
        (lambda then: then.tools(shape="heap"), "shape is columns or items"),
        (lambda then: then.fetch("yahoo", symbol="A", evidence="claimed"), "PIT_FETCH_EVIDENCE"),
        (lambda then: asyncio.run(then.afetch("bz-news-api", pit=LATER)), "after the ceiling"),
    ],
)
def test_it_is_a_ceiling(reply: Path, ask: Callable[[AsOf], object], problem: str) -> None:
    with pit_fetch.as_of(INSTANT, sources=["bz-news-api", "yahoo"]) as then, pytest.raises(UsageError, match=problem):
        ask(then)


def test_a_name_of_today_stands_for_no_company(reply: Path) -> None:
    with pit_fetch.as_of(INSTANT) as then, pytest.raises(GapError, match="known today"):
        then.fetch("sec_facts", symbol="AAPL", concept="Assets")


@pytest.mark.parametrize(
    ("pit", "variables", "options"),
    [
        (LATER, {"PIT_FETCH_CEILING": INSTANT}, {}),
        ("open", {}, {}),
        ("2024-02-15T16:00:00", {}, {}),
        (None, {}, {}),
        (INSTANT, {}, {"sources": ["no-such"]}),
        (INSTANT, {}, {"evidence": "sworn"}),
        (INSTANT, {"PIT_FETCH_CEILING": INSTANT}, {"evidence": "claimed"}),
        (INSTANT, {"CLAUDECODE": "1"}, {"evidence": "claimed"}),
    ],
)
def test_an_instant_that_would_lift_what_binds_the_caller_is_refused(
    reply: Path, monkeypatch: pytest.MonkeyPatch, pit: Any, variables: dict[str, str], options: dict[str, Any]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UsageError) as refused:
        pit_fetch.as_of(pit, **options)
    assert "--" not in str(refused.value)


def test_a_ceiling_that_is_lowered_meanwhile_holds(reply: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pit_fetch.as_of(INSTANT) as then:
        monkeypatch.setenv("PIT_FETCH_CEILING", EARLIER)
        with pytest.raises(UsageError, match="after the ceiling"):
            then.fetch("bz-news-api", pit=EARLIER, input_file=reply)


def test_once_its_block_is_left_it_answers_nothing(reply: Path) -> None:
    with pit_fetch.as_of(INSTANT) as then:
        tool = then.tools(["bz-news-api"])[0]
    for ask in (lambda: then.fetch("bz-news-api", input_file=reply), lambda: asyncio.run(tool.call())):
        with pytest.raises(UsageError, match="has ended"):
            ask()


def test_an_envelope_is_still_bound_after_it_was_pickled(reply: Path) -> None:
    with pit_fetch.as_of(INSTANT) as then:
        envelope = pickle.loads(pickle.dumps(then.fetch("bz-news-api", input_file=reply, limit=1)))
    assert envelope.call.bound["PIT_FETCH_CEILING"] == INSTANT
    assert ids(envelope.next()) == ["3"]


def test_offline_asks_no_source(reply: Path, tmp_path: Path) -> None:
    for archive in (tmp_path / "none.db", None):
        then = pit_fetch.as_of(INSTANT, archive=archive, offline=True)
        with pytest.raises(GapError, match="archive"):
            then.fetch("bz-news-api", offline=False)


def test_fetches_run_side_by_side_and_a_cancelled_one_asks_no_more(
    reply: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together, asked = threading.Barrier(4, timeout=20), []

    def app(request: object) -> Response:
        asked.append(request)
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait()  # nobody is answered before four ask
        return Response(body=b"[]")

    async def ask(then: AsOf) -> list[pit_fetch.Envelope]:
        return await asyncio.gather(*(then.afetch("bz-news-api", tickers=[name]) for name in "ABCD"))

    async def cancel(then: AsOf) -> None:
        fetching = asyncio.create_task(then.afetch("bz-news-api", tickers=["E"]))
        while len(asked) < 5:
            await asyncio.sleep(0.01)
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching

    monkeypatch.setenv("BENZINGANEWS_API_KEY", "sesame-0123456789")
    with serve(app) as server:
        monkeypatch.setenv("PIT_FETCH_BENZINGA_URL", server.url)
        with pit_fetch.as_of(INSTANT) as then:
            assert len(asyncio.run(ask(then))) == 4
            asyncio.run(cancel(then))
            together.abort()
        assert len(asked) == 5


def test_columns_say_the_same_as_items_and_the_tool_says_which(reply: Path, tmp_path: Path) -> None:
    archive = tmp_path / "sample.db"
    sample.make(os.fspath(archive), real_runtime())
    question = {"concept": ["EarningsPerShareDiluted"], "cik": "9000001"}
    with pit_fetch.as_of(INSTANT, archive=archive, offline=True) as then:
        texts = {}
        places: dict[Shape, str] = {"columns": "rows", "items": "data"}
        for shape, place in places.items():
            tool, sources = then.tools(["sec_facts"], shape=shape)
            assert f"`{place}`" in sources.description
            texts[shape] = asyncio.run(tool.call(**question))
    table, envelope = json.loads(texts["columns"]), json.loads(texts["items"])
    rows = [table["shared"] | dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    assert rows == [dict.fromkeys(table["columns"]) | item for item in envelope["data"]]
    assert [gap.get("code") for gap in table["gaps"]] == ["late", "undated", None]
    assert table["gaps"][2]["reason"] == envelope["gaps"][2]["reason"]
    assert table["pit"] == INSTANT
    assert len(texts["columns"]) < len(texts["items"])


def test_the_example_of_a_back_test_can_be_had_again(tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "backtest" / "backtest.py"
    variables = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [sys.executable, example, tmp_path], capture_output=True, text=True, env=variables, check=True
    )
    assert "24 of 24 calls are answered with the same bytes" in done.stdout
    assert "mean error: 7.2%" in done.stdout


def test_quarters_of_eps_cost_few_characters(reply: Path, tmp_path: Path) -> None:
    """Eight of them at most 700: a line of each has 48."""
    archive = tmp_path / "sample.db"
    sample.make(os.fspath(archive), real_runtime())
    question = {"concept": ["EarningsPerShareDiluted"], "cik": "9000001", "period": "quarter"}
    with pit_fetch.as_of("2024-05-20T16:00:00-04:00", archive=archive, offline=True) as then:
        text = asyncio.run(then.tools(["sec_facts"])[0].call(**question, fields=["end", "value"]))
        assert "id" in json.loads(asyncio.run(then.tools(["sec_facts"])[0].call(**question)))["columns"]
    answer = json.loads(text)
    assert answer["columns"] == ["available_at", "end", "value"]
    assert len(text) + (8 - len(answer["rows"])) * 48 <= 700
