"""``pit_fetch.fetch`` from Python."""

from __future__ import annotations

import inspect
import json
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import pit_fetch
from pit_fetch.errors import GapError, PitFetchError, UsageError
from pit_fetch.request.options import COMMON_OPTIONS
from tests.providers.bz_news_api import server as benzinga
from tests.serving import serve

PIT = datetime.fromisoformat("2024-02-15T16:00:00-05:00")
ARTICLES = [benzinga.article(1, PIT), benzinga.article(2, PIT, PIT), benzinga.article(3, PIT - timedelta(hours=1))]


@pytest.fixture
def reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("PIT_FETCH_CEILING", raising=False)
    monkeypatch.delenv("PIT_FETCH_MAX_CHARS", raising=False)
    path = tmp_path / "reply.json"
    path.write_text(json.dumps(ARTICLES))
    return path


def test_the_gated_envelope(reply: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    envelope = pit_fetch.fetch("bz-news-api", pit=PIT, input_file=reply, tickers=["AAPL"], limit=1)
    assert isinstance(envelope, pit_fetch.Envelope)
    assert [item["id"] for item in envelope.data] == ["2"]
    assert [gap["type"] for gap in envelope.gaps] == ["pit_excluded", "unverifiable", "truncated"]


def test_it_is_still_a_dict(reply: Path) -> None:
    envelope = pit_fetch.fetch("bz-news-api", pit=PIT, input_file=reply)
    assert (isinstance(envelope, dict), set(envelope)) == (True, {"data", "gaps"})
    assert (envelope["data"], envelope["gaps"]) == (envelope.data, envelope.gaps)
    assert json.loads(json.dumps(envelope)) == envelope


def test_an_envelope_without_items_loses_nothing_where_a_dict_is_taken_apart() -> None:
    """An envelope that was false, or as long as its items, would be written as {} and match no pattern of two keys."""
    empty = pit_fetch.Envelope([], [{"type": "no_data", "reason": "r", "query": "q"}])
    assert (bool(empty), len(empty), len(empty.data)) == (True, 2, 0)
    assert json.loads(json.dumps(empty, indent=2)) == empty
    match empty:
        case {"data": [], "gaps": [{"type": kind}]}:
            assert kind == "no_data"
        case _:
            raise AssertionError("it matches no pattern of two keys")


@pytest.mark.parametrize("call", [pit_fetch.fetch, pit_fetch.diff, pit_fetch.explain])
def test_an_editor_completes_the_options_that_every_source_has(call: Callable[..., object]) -> None:
    parameters = inspect.signature(call).parameters
    own = {"source", "pit", "pits", "on_gap", "options", "own"}
    output = {"csv_safe", "format", "output", "open", "pretty", "fail", "verbose"}
    common = {option.name for option in COMMON_OPTIONS} - own - output
    assert parameters.keys() - own == common - (set() if call is pit_fetch.fetch else {"after"})
    assert all(parameters[name].default is None for name in parameters.keys() - own - {"limit"})
    assert all(parameter.annotation for parameter in parameters.values())


def test_it_is_what_the_command_prints(reply: Path) -> None:
    words = ["--source=benzinga", f"--pit={PIT.isoformat()}", f"--input-file={reply}", "--tickers", "AAPL,MSFT"]
    printed = subprocess.run([sys.executable, "-m", "pit_fetch", *words], capture_output=True, check=True, env={})
    asked = [["AAPL", "MSFT"], ("AAPL", "MSFT"), (name for name in ("AAPL", "MSFT")), {"AAPL": 1, "MSFT": 2}.keys()]
    for tickers in asked:
        assert pit_fetch.fetch("benzinga", pit=PIT, input_file=reply, tickers=tickers) == json.loads(printed.stdout)


def test_the_form_is_the_envelope_s_whatever_is_asked_for(reply: Path) -> None:
    forms = [{"format": form} for form in ("json", "csv", "jsonl")]
    made = [pit_fetch.fetch("benzinga", pit=PIT, input_file=reply, options=form) for form in forms]
    assert made[0] == made[1] == made[2]


def test_over_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(benzinga.app(ARTICLES)) as server:
        monkeypatch.setenv("PIT_FETCH_BENZINGA_URL", server.url)
        monkeypatch.setenv("BENZINGA_API_KEY", benzinga.TOKEN)
        monkeypatch.delenv("BENZINGANEWS_API_KEY", raising=False)
        assert len(pit_fetch.fetch("benzinga", pit=PIT.isoformat()).data) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: pit_fetch.fetch("nope"),
        lambda: pit_fetch.fetch(5),  # type: ignore[arg-type]
        lambda: pit_fetch.fetch(None),  # type: ignore[arg-type]
        lambda: pit_fetch.fetch(b"benzinga"),  # type: ignore[arg-type]
        lambda: pit_fetch.fetch(["benzinga"]),  # type: ignore[arg-type]
        lambda: pit_fetch.fetch("benzinga"),
        lambda: pit_fetch.fetch("benzinga", pit=None),
        lambda: pit_fetch.fetch("benzinga", options={"pit": None}),
        lambda: pit_fetch.fetch("benzinga", pit="2024-02-15"),
        lambda: pit_fetch.fetch("benzinga", pit=""),
        lambda: pit_fetch.fetch("benzinga", pit=False),  # type: ignore[arg-type]
        lambda: pit_fetch.fetch("benzinga", pit=PIT.replace(tzinfo=None)),
        lambda: pit_fetch.fetch("benzinga", pit=PIT, date_from=PIT.replace(tzinfo=None)),
        lambda: pit_fetch.fetch("benzinga", pit=PIT, tickers=b"AAPL"),  # type: ignore[arg-type]
        lambda: pit_fetch.fetch("benzinga", pit=PIT, tickers=[["AAPL"]]),  # type: ignore[list-item]
        lambda: pit_fetch.fetch("benzinga", pit=PIT, colour="red"),  # type: ignore[call-arg]
        lambda: pit_fetch.fetch("benzinga", pit=PIT, options={"colour": "red"}),
        lambda: pit_fetch.fetch("benzinga", pit=PIT, tickers=["IBM"], options={"tickers": ["AAPL"]}),
        lambda: pit_fetch.fetch("benzinga", pit=PIT, limit=5, options={"limit": 6}),
        lambda: pit_fetch.fetch("benzinga", pit=PIT, fields=["titel"]),
        lambda: pit_fetch.fetch("alphavantage", pit=PIT, op="EARNIGS"),
        lambda: pit_fetch.fetch("sec_facts", pit=PIT, op="fact"),
    ],
)
def test_a_refused_request_raises(call: Callable[[], object]) -> None:
    with pytest.raises(UsageError) as refused:
        call()
    assert isinstance(refused.value, ValueError)


FAILING: dict[str, tuple[dict[str, object], str]] = {
    "an unknown operation": ({"source": "alphavantage", "op": "EARNIGS"}, "did you mean EARNINGS?"),
    "a missing key": ({"source": "benzinga"}, "set it in the environment or in a .env file"),
    "an unusable file": ({"source": "benzinga", "input_file": "/nonexistent"}, "cannot be read: No such file"),
    "an unknown option": ({"source": "benzinga", "tikers": "A"}, "did you mean tickers?"),
    "an unknown source": ({"source": "benzing"}, "did you mean benzinga?"),
}


@pytest.mark.parametrize("failing", FAILING)
def test_a_fetch_that_failed_raises_and_says_how_to_mend_it(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options, fix = FAILING[failing]
    monkeypatch.chdir(tmp_path)
    for name in ("BENZINGANEWS_API_KEY", "BENZINGA_API_KEY", "ALPHAVANTAGE_API_KEY", "PIT_FETCH_CEILING"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(PitFetchError) as raised:
        pit_fetch.fetch(pit=PIT, **options)  # type: ignore[arg-type]
    assert fix in str(raised.value)
    kept = pit_fetch.fetch(pit=PIT, on_gap="keep", **options)  # type: ignore[arg-type]
    assert (kept.data, fix in kept.gaps[-1]["reason"]) == ([], True)
    with pytest.raises(GapError, match=re.escape(fix)) as again:
        kept.raise_for_gaps()
    assert again.value.envelope is kept


def test_an_error_names_options_as_they_are_written_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    day = PIT.date()
    for options, text in (
        (
            {"source": "alphavantage", "op": "NOPE"},
            "no such operation: it has TIME_SERIES_INTRADAY, TIME_SERIES_DAILY, ",
        ),
        ({"source": "benzinga", "date_from": day, "date_to": "2024-01-01"}, "date_from is after date_to: swap them"),
        (
            {"source": "benzinga", "offline": True},
            "offline needs an archive: set PIT_FETCH_ARCHIVE, or give archive=PATH",
        ),
        ({"source": "benzing"}, "source 'benzing' is not known"),
        ({"source": "benzinga", "limit": 0}, "limit is a whole number of at least 1: for everything, give None"),
    ):
        with pytest.raises(PitFetchError, match=re.escape(text)):
            pit_fetch.fetch(pit=PIT, **options)
    with pytest.raises(UsageError, match=re.escape("two different instants: pits=(EARLIER, LATER)")):
        pit_fetch.diff("benzinga", (PIT, PIT))
    with pytest.raises(UsageError, match=re.escape("over={'symbol': ['A', 'B']}")):
        pit_fetch.panel("alphavantage", PIT, {}, op="DIVIDENDS", symbol="A,B")


def test_what_was_fetched_before_a_failure_is_in_the_exception() -> None:
    kept = pit_fetch.Envelope([{"id": "1"}], [{"type": "upstream_error", "reason": "It failed.", "query": ""}])
    with pytest.raises(GapError, match=r"It failed\.") as raised:
        kept.raise_for_gaps()
    assert raised.value.envelope.data == [{"id": "1"}]
    harmless = ("no_data", "truncated", "pit_excluded", "unverifiable")
    quiet = pit_fetch.Envelope([], [{"type": kind, "reason": "", "query": ""} for kind in harmless])
    assert quiet.raise_for_gaps() is quiet


def test_pages_continue_where_the_last_one_ended(reply: Path) -> None:
    first = pit_fetch.fetch("benzinga", pit=PIT, input_file=reply, limit=1, tickers=(name for name in ["AAPL"]))
    whole = pit_fetch.fetch("benzinga", pit=PIT, input_file=reply, tickers=["AAPL"])
    pages = list(first.pages())
    assert [item for page in pages for item in page.data] == whole.data
    assert all(len(page.data) == 1 for page in pages)
    assert [gap["cursor"] for gap in first.gaps if "cursor" in gap] == [first.cursor]
    assert (pages[-1].cursor, pages[-1].next()) == (None, None)


def test_an_envelope_can_be_pickled_and_continued(reply: Path) -> None:
    first = pickle.loads(pickle.dumps(pit_fetch.fetch("benzinga", pit=PIT, input_file=reply, limit=1)))
    following = first.next()
    assert following is not None
    assert [item["id"] for item in following.data] == ["3"]


def saved(folder: Path, count: int) -> Path:
    """Save a reply of so many articles."""
    path = folder / "saved.json"
    path.write_text(json.dumps([benzinga.article(n, PIT - timedelta(minutes=n)) for n in range(1, count + 1)]))
    return path


def test_an_answer_that_was_cut_warns_unless_a_limit_was_asked_for(tmp_path: Path) -> None:
    file = saved(tmp_path, 51)
    with pytest.warns(pit_fetch.TruncatedWarning, match=r"50 items, .* give limit=None") as told:
        cut = pit_fetch.fetch("benzinga", PIT, input_file=file)
    assert (len(cut.data), cut.is_complete, told[0].filename) == (50, False, __file__)
    limited = pit_fetch.fetch("benzinga", PIT, input_file=file, limit=50)
    assert (len(limited.data), limited.is_complete) == (50, False)
    for whole in (
        pit_fetch.fetch("benzinga", PIT, input_file=file, limit=None),
        pit_fetch.fetch("benzinga", PIT, input_file=saved(tmp_path, 50)),
    ):
        assert whole.is_complete
    assert len(pit_fetch.fetch("benzinga", PIT, input_file=saved(tmp_path, 3000), limit=None).data) == 3000


@pytest.mark.parametrize("ask", ["fetch", "diff", "explain"])
@pytest.mark.parametrize(
    ("options", "settings", "advice"),
    [
        ({}, "", "give limit=None"),
        ({"limit": 40}, "", None),
        ({}, "limit = 40", None),
        ({"limit": None}, "limit = 40", None),
        ({"limit": 40}, "max_chars = 4000", "give max_chars=0"),
        ({"limit": None}, "max_chars = 4000", "give max_chars=0"),
        ({"limit": 40, "max_chars": 4000}, "", "give max_chars=0"),
        ({"limit": 40, "max_chars": 0}, "max_chars = 4000", None),
    ],
)
def test_what_anything_but_a_limit_cuts_warns(
    reply: Path, ask: str, options: dict[str, Any], settings: str, advice: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = reply.parent
    (folder / "pit_fetch.toml").write_text(settings)
    monkeypatch.chdir(folder)
    asked = (PIT - timedelta(hours=20), PIT) if ask == "diff" else PIT
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        getattr(pit_fetch, ask)("benzinga", asked, input_file=saved(folder, 60), **options)
    assert [str(advice) in str(each.message) for each in told] == ([True] if advice else [])
    assert {each.filename for each in told} <= {__file__}


@pytest.mark.parametrize(
    ("gap", "is_complete"),
    [
        ({"type": "unverifiable"}, True),
        ({"type": "no_data"}, True),
        ({"type": "unverifiable", "captured": False}, False),
        ({"type": "truncated"}, False),
        ({"type": "upstream_error"}, False),
    ],
)
def test_an_answer_is_complete_if_nothing_is_missing(gap: dict[str, object], is_complete: bool) -> None:
    assert pit_fetch.Envelope([], [{"reason": "", "query": "", **gap}]).is_complete is is_complete


def test_frames_carry_the_question_where_asked(reply: Path) -> None:
    envelope = pit_fetch.fetch("benzinga", pit=PIT, input_file=reply, tickers=["AAPL", "IBM"], lookback_minutes=9999)
    frame = envelope.to_df(question=("pit", "tickers", "lookback_minutes"))
    assert list(frame.columns[:4]) == ["pit", "tickers", "lookback_minutes", "available_at"]
    assert ({*frame["pit"]}, {*frame["tickers"]}) == ({PIT}, {"AAPL,IBM"})
    assert envelope.to_arrow(question=["pit"]).column_names[0] == "pit"
    assert "pit" not in envelope.to_df().columns
    with pytest.raises(KeyError):
        envelope.to_df(question=["symbol"])


def test_sources_says_what_there_is_to_ask_for() -> None:
    by_name = {row["name"]: row for row in pit_fetch.sources()}
    earnings = next(operation for operation in by_name["alphavantage"]["operations"] if operation["name"] == "EARNINGS")
    assert (earnings["needs"], earnings["dating"]) == (["symbol"], "receipt")
    assert {"name": "reportedDate", "kind": "date"} in earnings["fields"]
    assert json.loads(json.dumps(by_name)) == by_name
    assert callable(pit_fetch.sources), "a module of that name would take its place"


def test_a_ceiling_binds_python_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIT_FETCH_CEILING", "2024-02-15T15:00:00-05:00")
    with pytest.raises(ValueError, match="after the ceiling"):
        pit_fetch.fetch("benzinga", pit=PIT)


def test_importing_the_package_imports_nothing_of_it() -> None:
    code = "import sys, pit_fetch; print([name for name in sys.modules if name.startswith('pit_fetch.')])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"[]\n"
    with pytest.raises(AttributeError):
        pit_fetch.nothing  # noqa: B018


@pytest.mark.parametrize(("source", "is_warned"), [("sec_facts", True), ("bz-news-api", False)])
def test_a_panel_with_a_limit_warns_where_an_old_period_may_be_the_newest_item(source: str, is_warned: bool) -> None:
    over = {"tickers": ["IBM"]} if source == "bz-news-api" else {"cik": ["51143"]}
    further = {} if source == "bz-news-api" else {"concept": "Assets"}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pit_fetch.panel(source, [PIT], over, options={"limit": 1, **further})
        before = len(told)
        pit_fetch.panel(source, [PIT], over, options=further)
    assert ([*map(str, (row.message for row in told))] != [], len(told)) == (is_warned, before)
