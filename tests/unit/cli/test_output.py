"""Where an answer goes: a terminal, a pipe, or a file that is written whole or not at all."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.cli.main import main
from pit_fetch.cli.output_file import write_file
from pit_fetch.errors import UsageError
from pit_fetch.formats import NAMES, RenderOptions
from pit_fetch.formats.table import render
from pit_fetch.pipeline.envelope import PlainEnvelope, Provenance
from pit_fetch.provider import Record
from pit_fetch.runtime import Runtime
from pit_fetch.testing.inprocess import TestClock
from pit_fetch.testing.server import Answering
from tests.demo_source import AT_PIT, PIT, ask, at_pit, demo, nobody, record
from tests.inprocess import NOW, fetch
from tests.unit.formats.sample_pages import bars, news

ROWS = [record("a", 1, title="First"), record("b", 2, title="Second")]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(folder: Path, environ: Mapping[str, str] = {}, rows: Sequence[Record] = ROWS) -> Runtime:
    return Runtime(
        environ=environ,
        folder=str(folder),
        clock=TestClock(NOW).value(),
        transport=Answering(nobody, lambda: NOW),
        find=lambda name: demo(rows),
        read_stdin=lambda seconds: b"",
        stdout=Terminal(),
        stderr=Terminal(),
    )


def written(runtime: Runtime) -> tuple[str, str]:
    """Return what a terminal gets by standard output and by standard error."""
    assert isinstance(runtime.stdout, Terminal)
    assert isinstance(runtime.stderr, Terminal)
    return runtime.stdout.getvalue(), runtime.stderr.getvalue()


def at_a_terminal(
    folder: Path, *words: str, environ: Mapping[str, str] = {}, rows: Sequence[Record] = ROWS
) -> tuple[str, str]:
    runtime = terminal(folder, environ, rows)
    assert main([*AT_PIT, *words], runtime) == 0
    return written(runtime)


def test_alone_it_shows_a_person_the_help_and_an_agent_what_is_missing(tmp_path: Path) -> None:
    person, agent = terminal(tmp_path), terminal(tmp_path, {"CLAUDECODE": "1"})
    assert (main([], person), main([], agent)) == (2, 2)
    out, err = written(person)
    assert (out.startswith("usage: pit_fetch --source SOURCE"), err) == (True, "")
    assert json.loads(written(agent)[0])["gaps"][0]["type"] == "config"


def test_a_refusal_is_a_line_for_a_person_and_an_envelope_for_an_agent(tmp_path: Path) -> None:
    for environ, has_envelope in (({}, False), ({"CLAUDECODE": "1"}, True)):
        runtime = terminal(tmp_path, environ)
        assert main(["archive", "repair", "sample.db"], runtime) == 2
        out, err = written(runtime)
        assert err == "pit_fetch: which archive? Set PIT_FETCH_ARCHIVE, or give --archive sample.db\n"
        assert (json.loads(out)["gaps"][0]["type"] == "config") if has_envelope else out == ""


@pytest.mark.parametrize(
    ("words", "environ"),
    [
        (("--format", "json"), {}),
        (("--pretty",), {}),
        ((), {"CLAUDECODE": "1"}),
        ((), {"PIT_FETCH_CEILING": PIT.isoformat()}),
        ((), {"PIT_FETCH_WRAPPER_ONLY": "1"}),
    ],
)
def test_a_person_at_a_terminal_reads_a_table_unless_asking_for_json_and_an_agent_reads_json(
    tmp_path: Path, words: tuple[str, ...], environ: dict[str, str]
) -> None:
    table = at_a_terminal(tmp_path)[0]
    assert table.splitlines()[2].split()[:5] == ["Thu", "2024-02-15", "15:59:00", "EST", "First"]
    text = at_a_terminal(tmp_path, *words, environ=environ)[0]
    assert [item["id"] for item in json.loads(text)["data"]] == ["a", "b"]


@pytest.mark.parametrize("form", sorted({*NAMES} - {"parquet"}))
def test_a_terminal_gets_nothing_that_controls_it(tmp_path: Path, form: str) -> None:
    rows = [record("1", title="\x1b]0;own\x07 \x9b31m \r \u202e", body="\x1b[2J" * 3)]
    text = at_a_terminal(tmp_path, "--format", form, rows=rows)[0]
    assert text
    assert all(char.isprintable() or char in "\n\t" for char in text)


def test_a_terminal_that_cannot_erase_a_line_gets_no_progress(tmp_path: Path) -> None:
    xterm, dumb = (at_a_terminal(tmp_path, environ={"TERM": kind})[1] for kind in ("xterm", "dumb"))
    assert "\x1b[K" in xterm
    assert "\x1b" not in dumb
    assert xterm.endswith(dumb)


STAMPS = {"available_at": PIT.isoformat(), "available_at_source": "provider_metadata"}
WHY = "published 40 minutes after the PIT, on Thursday 2024-02-15 16:40:00 in New York (-05:00)"
OLD = {"title": "An earlier title", "close": 181.25, "teaser": None, "body": f"{'x' * 900}y{'z' * 900}"}


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"verdict": "late", "because": WHY}, WHY),
        (
            {"change": "changed", "before": OLD, "body": "x" * 1_800, "close": 182.5, "teaser": "New"},
            f"title An earlier title → {'t' * 90}; close 181.25 → 182.5; teaser nothing → New; "
            f"body …{'x' * 20}y{'z' * 79}… → …{'x' * 100}…",
        ),
    ],
)
def test_an_explanation_is_whole_below_its_line(more: dict[str, object], sentence: str, width: int) -> None:
    items = [{**STAMPS, "id": str(n), "title": "t" * 90, "tickers": "AAPL", **more} for n in range(2)]
    lines = render(PlainEnvelope(items), RenderOptions(width=width)).split("\n\n")[0].splitlines()
    assert all(len(line) <= width for line in lines)
    rule = next(place for place, line in enumerate(lines) if line.startswith("---"))
    below = [line for line in lines[rule + 1 :] if line.startswith("    ")]
    assert "".join(below).replace(" ", "") == 2 * sentence.replace(" ", "")


def test_what_all_items_have_in_common_takes_no_column() -> None:
    """Daily bars of a snapshot: the stamp, the symbol and the currency are one, and the figures are what is read."""
    common = {**STAMPS, "record_type": "bar", "symbol": "AAPL", "currency": "USD"}
    kinds = dict.fromkeys(("open", "high", "low", "close", "volume"), "number")
    bars = [
        {**common, "id": f"AAPL@2024-02-{day}", "date": f"2024-02-{day}", **dict.fromkeys(kinds, 182.25 + day)}
        for day in (13, 14)
    ]
    provenance = Provenance("demo", "q", PIT, {"date": "date", **kinds})  # type: ignore[dict-item]
    first, second, heads, *_ = render(PlainEnvelope(bars, provenance=provenance), RenderOptions(width=80)).splitlines()
    assert f"{first} {second.strip()}" == (
        "All items: available_at Thu 2024-02-15 16:00:00 EST, record_type bar, symbol AAPL, currency USD"
    )
    assert heads.split() == ["date", *kinds, "id"]
    alone = render(PlainEnvelope(bars[:1], provenance=provenance), RenderOptions(width=250))
    assert {"available_at", "record_type", "symbol", "currency"} < set(alone.splitlines()[0].split())


CONCEPTS = ("Assets", "RevenueFromContractWithCustomerExcludingAssessedTax", "PaymentsToAcquireProductiveAssets" * 3)


def named(*figures: str) -> PlainEnvelope:
    """Return items whose ids are made of long names. Each has an instant, a period and a unit of its own."""
    kinds: Mapping[str, Any] = {"concept": "text", "unit": "text", "end": "date", **dict.fromkeys(figures, "number")}
    items = [
        {
            "available_at": f"2024-02-0{number}T16:00:00-05:00",
            "id": f"320193:{concept}:USD{number}",
            "concept": concept,
            "unit": f"USD{number}",
            "end": f"2023-09-0{number}",
            **dict.fromkeys(figures, 1_300_000_000 + number),
        }
        for number, concept in enumerate(CONCEPTS, 1)
    ]
    return PlainEnvelope(items, provenance=Provenance("demo", "q", PIT, kinds))


def test_a_name_that_ids_are_made_of_is_there_and_the_id_gives_way() -> None:
    for width, heads in (
        (60, ["available_at", "concept"]),
        (80, ["available_at", "concept"]),
        (120, ["available_at", "unit", "end", "concept"]),
        (250, ["available_at", "unit", "end", "concept", "id"]),
    ):
        shown, _, *rows = render(named(), RenderOptions(width=width)).splitlines()
        assert shown.split() == heads
        assert [concept in row for concept, row in zip(CONCEPTS, rows, strict=False)] == [True, width > 60, width > 120]


def test_figures_and_their_dates_go_before_long_names() -> None:
    shown, *_ = render(named("value"), RenderOptions(width=80)).splitlines()
    assert shown.split() == ["available_at", "end", "value", "concept"]


@pytest.mark.parametrize("path", ["-", "/dev/stdout"])
def test_an_output_that_is_standard_output_is_refused(tmp_path: Path, path: str) -> None:
    with (tmp_path / "out").open("w") as stdout:
        program = [sys.executable, "-m", "pit_fetch", "--source", "bz-news-api", "--output", path]
        ran = subprocess.run(program, stdout=stdout, stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    assert ran.returncode == 2
    assert "--output cannot be written" in ran.stderr
    assert json.loads((tmp_path / "out").read_text())["gaps"][0]["type"] == "config"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("make", [news, bars])
@pytest.mark.parametrize("width", [1, 20, 60, 80, 120, 250])
def test_a_table_keeps_to_the_terminal(make: Callable[[int], PlainEnvelope], width: int) -> None:
    text = render(make(40), RenderOptions(width=width))
    lines = text.split("\n\n")[0].splitlines()
    assert len([line for line in lines if not line.startswith(("All items: ", "    "))]) == 42
    assert {len(line) <= max(width, 35) for line in lines} == {True}
    assert "truncated: More matches" in text


def test_a_table_says_what_it_leaves_out_and_escapes_what_controls_a_terminal() -> None:
    item = {"available_at": None, "available_at_source": "x", "id": "\x1b[31m", "title": "日本語" * 30, "a": "b" * 90}
    text = render(PlainEnvelope([item]), RenderOptions(width=100))
    assert "\x1b" not in text
    assert "Not shown: a" in text
    assert render(PlainEnvelope([])).startswith("No items.")


def test_a_file_is_what_stdout_would_be(tmp_path: Path) -> None:
    for form in ("json", "jsonl", "csv", "table", "html"):
        left = at_pit(tmp_path, demo(ROWS), "--format", form, "--output", "answer")
        assert (left.code, left.out) == (0, "")
        assert (tmp_path / "answer").read_bytes().decode() == at_pit(tmp_path, demo(ROWS), "--format", form).out
    assert sorted(os.listdir(tmp_path)) == ["answer", "audit.jsonl"]


def test_a_file_is_replaced_only_by_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "answer"
    path.write_text("yesterday's")
    link = tmp_path / "link"
    link.symlink_to(path)
    write_file(str(link), "today's")
    assert (path.read_text(), link.is_symlink()) == ("today's", True)

    for words in (("--limit", "0"), ("--input-file", "nothing")):
        left = ask(tmp_path, demo(ROWS), *words, "--output", "answer")
        assert (left.data, path.read_text()) == ([], "today's")
    left = at_pit(tmp_path, demo([record("SECRET")._replace(available_at_source="x")]), "--output", "answer")
    assert (left.code, left.gap_types, path.read_text()) == (70, ["internal_error"], "today's")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400])
def test_a_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "answer"
    path.write_text("yesterday's")
    path.chmod(mode)
    write_file(str(path), "today's")
    assert (path.read_text(), path.stat().st_mode & 0o7777) == ("today's", mode)


def test_a_new_file_has_the_permissions_of_any(tmp_path: Path) -> None:
    (tmp_path / "any").touch()
    write_file(str(tmp_path / "answer"), "x")
    assert (tmp_path / "answer").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_another_process_s_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In another container it may have the same number, and even the same luck."""
    monkeypatch.setattr(os, "urandom", bytes)
    for name in (f".answer.{os.getpid()}.tmp", f".pit_fetch-{bytes(8).hex()}.tmp"):
        (tmp_path / name).write_text("its own")
    with pytest.raises(UsageError, match="File exists"):
        write_file(str(tmp_path / "answer"), "x")
    assert {path.read_text() for path in tmp_path.iterdir()} == {"its own"}


def test_the_longest_name_is_written(tmp_path: Path) -> None:
    name = "x" * 255
    assert at_pit(tmp_path, demo(ROWS), "--output", name).code == 0
    assert json.loads((tmp_path / name).read_text())["data"]


@pytest.mark.parametrize(
    "path",
    ["/dev/null", "nowhere/answer", ".", "/dev/full", "x" * 256, "audit.jsonl/answer", "x/" * 3_000 + "x", "loop"],
)
def test_where_no_file_can_be_no_request_is_sent(tmp_path: Path, path: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "audit.jsonl").touch()
    left = at_pit(tmp_path, demo(lambda query, context: pytest.fail("asked")), "--output", path)
    assert (left.code, left.data, left.gap_types) == (2, [], ["config"])
    assert "--output cannot be written" in left.err


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    import signal

    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        with pytest.raises(UsageError, match="cannot be written"):
            write_file(str(tmp_path / "answer"), "x" * 1_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("form", "is_kept"), {"csv": True, "parquet": True, "json": False, "jsonl": False, "html": False}.items()
)
def test_rows_alone_are_never_replaced_by_none(tmp_path: Path, form: str, is_kept: bool) -> None:
    """A format that has a place for gaps says why there is nothing; 0 bytes would not."""
    path, words = tmp_path / f"answer.{form}", ("--output", f"answer.{form}")
    for command in ((), ("diff", "--pit", "2024-02-15T15:00:00-05:00")):
        path.write_text("yesterday's")
        given = (*command[:1], *AT_PIT, *command[1:], *words)
        left = fetch(tmp_path, *given, provider=demo(), transport=Answering(nobody, lambda: NOW))
        assert (left.code, path.read_text(errors="replace") == "yesterday's") == (int(is_kept), is_kept)
        assert left.err == (f"pit_fetch: the answer has no items: answer.{form} was kept\n" if is_kept else "")
        assert bool(left.out) is is_kept
    path.unlink()
    assert at_pit(tmp_path, demo(), *words).code == 0
    assert path.exists()


@pytest.mark.parametrize("words", [("--format", "csv"), ("--format", "csv", "-v"), ("--output", "x.csv")])
def test_a_reason_is_said_once(tmp_path: Path, words: tuple[str, ...]) -> None:
    left = at_pit(tmp_path, demo(), "--input-file", "nothing", *words)
    assert (left.code, left.err.count("--input-file cannot be read")) == (4, 1)
