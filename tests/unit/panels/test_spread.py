"""--engine dask: the bytes of one process, however many workers answer; or one line that says what to mend."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.panels.cells import Asking, Grid
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.output import PanelFile
from pit_fetch.panels.panel import Panel
from pit_fetch.panels.spread import Task, answered
from pit_fetch.pipeline.envelope import PlainEnvelope
from pit_fetch.support.version import __version__
from tests.conftest import Run
from tests.unit.archive.scene import Archive, alpha

distributed = pytest.importorskip("distributed")

PITS = "monthly 2026-04..2026-06 16:00[America/New_York]"
SYMBOLS = ["IBM", "GE", "T", "GM"]


def capture(archive: Archive, symbol: str) -> None:
    row = {"ex_dividend_date": "2026-03-31", "declaration_date": "2026-05-14", "amount": f"1.{len(symbol)}"}
    archive.app = alpha(DIVIDENDS={"symbol": symbol, "data": [row]})
    lines = ["[[request]]", 'source = "alphavantage"', 'op = "DIVIDENDS"', f'symbol = "{symbol}"']
    (archive.folder / "list.toml").write_text("\n".join(lines))
    assert archive.command("capture list.toml", now="2026-07-01 12:00").code == 0


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Archive:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    archive = Archive(tmp_path)
    for symbol in SYMBOLS[:3]:
        capture(archive, symbol)
    return archive


def panel(kept: Archive, **options: Any) -> Panel:
    asked = {"op": "DIVIDENDS", "archive": kept.path.name, "offline": True, **options}
    asked = {name: value for name, value in asked.items() if value is not None}
    return Panel(grid_of("alphavantage", PITS, {"symbol": SYMBOLS}, asked))


def key_of(grid: Grid) -> str:
    """Return the key of the first subject."""
    with grid.asking() as asking:
        return asking.key(grid.subjects[0])


@contextmanager
def cluster(**options: Any) -> Iterator[Any]:
    options = {"processes": False, "threads_per_worker": 1, "dashboard_address": ":0", **options}
    with (
        distributed.LocalCluster(**options) as workers,
        distributed.Client(workers, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client() -> Iterator[Any]:
    with cluster(n_workers=2) as client:
        yield client


def test_the_same_bytes_from_any_number_of_workers(archive: Archive, client: Any) -> None:
    panel(archive).write("whole.jsonl")
    assert panel(archive).write("two.jsonl", engine=client) == {"ok": 6, "nothing_public": 3, "not_captured": 3}
    with cluster(n_workers=1) as single:
        panel(archive).write("one.jsonl", engine=single)
    whole, two, single_bytes = (Path(f"{name}.jsonl").read_bytes() for name in ("whole", "two", "one"))
    assert whole == two == single_bytes
    assert not [*archive.folder.glob("*.parts")]


@pytest.mark.parametrize("is_local_first", [True, False])
def test_either_way_of_asking_continues_the_other(archive: Archive, client: Any, is_local_first: bool) -> None:
    engines = ["local", client] if is_local_first else [client, "local"]
    panel(archive).write("whole.csv")
    first, then = (PanelFile(panel(archive)._grid, "broken.csv", engine=engine) for engine in engines)

    def full(cells: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        first.write(on_cells=full)
    kept = PanelFile(panel(archive)._grid, "broken.csv").kept_cells
    then.write()
    assert (kept, Path("broken.csv").read_bytes()) == (3, Path("whole.csv").read_bytes())


def test_workers_of_the_command(run: Run, archive: Archive) -> None:
    words = ["panel", "--source", "alphavantage", "DIVIDENDS", "--over", "symbol=IBM,GE,T,GM", "--pits", PITS]
    words += ["--archive", str(archive.path), "--offline", "--format", "csv"]
    alone, spread = run(*words), run(*words, "--engine", "dask")
    assert spread == alone
    assert (alone.code, alone.out.count(b"\n")) == (0, 13)


def die(*arguments: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def doom() -> None:
    """Let the process die of its next subject."""
    from pit_fetch.panels import spread

    spread.grid_of = die  # type: ignore[assignment, attr-defined]


@pytest.mark.parametrize("patience", [3, 0])
def test_a_worker_that_dies(archive: Archive, patience: int) -> None:
    import dask

    panel(archive).write("whole.csv")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": patience}),
        cluster(n_workers=1, processes=True, silence_logs=100) as client,
    ):
        client.run(doom)
        if patience:
            panel(archive).write("panel.csv", engine=client)
            assert Path("panel.csv").read_bytes() == Path("whole.csv").read_bytes()
        else:
            with pytest.raises(ConfigError, match="the workers that were asked about a subject died"):
                panel(archive).write("panel.csv", engine=client)


@pytest.mark.parametrize(
    ("engine", "options", "problem"),
    [
        ("dask", {"offline": None}, "--engine dask needs --offline"),
        ("dask", {"archive": None, "offline": None, "input_file": "r.json"}, "--engine dask needs --offline"),
        ("ray", {}, "--engine is local, dask or dask=ADDRESS, and not ray"),
        ("dask=", {}, "--engine is local, dask or dask=ADDRESS, and not dask="),
    ],
)
def test_what_cannot_be_spread_is_refused(archive: Archive, engine: str, options: dict[str, Any], problem: str) -> None:
    Path("r.json").write_text('{"symbol": "GE", "data": []}')
    with pytest.raises(UsageError, match=problem):
        panel(archive, **options).write("panel.csv", engine=engine)
    assert not Path("panel.csv").exists()


@pytest.mark.parametrize("package", ["distributed", "cryptography"])
def test_a_missing_package_is_named(archive: Archive, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ConfigError, match=f"The package {package} is missing: run .* distributed cryptography"):
        panel(archive).write("panel.csv", engine="dask")


def test_nobody_at_an_address(archive: Archive) -> None:
    with pytest.raises(ConfigError, match=re.escape("no scheduler with a worker at nowhere://x could be reached")):
        panel(archive).write("panel.csv", engine="dask=nowhere://x")


def test_a_worker_with_other_data_or_without_the_archive(archive: Archive, client: Any) -> None:
    asked = panel(archive)._grid
    before = key_of(asked)
    task = Task(__version__, asked.question, asked.subjects[0], before, asked.now())
    capture(archive, "GM")
    assert "a worker has other data or settings: give all of them the same archive" in str(answered(task))
    stale = asked._replace(
        asking=lambda: nullcontext(Asking(ask=lambda over, pit: PlainEnvelope(), key=lambda _: before))
    )
    with pytest.raises(ConfigError, match="a worker has other data or settings"):
        PanelFile(stale, "panel.csv", engine=client).write()
    archive.path.rename(archive.folder / "elsewhere.db")
    refusal = str(answered(task))
    assert "a worker refuses: The archive cannot be used: " in refusal
    assert str(archive.folder) not in refusal


def test_a_worker_of_another_version(archive: Archive) -> None:
    asked = panel(archive)._grid
    subject = asked.subjects[0]
    task = Task("0.0.1", asked.question, subject, key_of(asked), asked.now())
    assert "install the same everywhere" in str(answered(task))
    assert not isinstance(answered(task._replace(version=__version__)), str)


def test_what_travels_has_no_setting_and_no_key(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALPHAVANTAGE_API_KEY", "a-secret-key")
    assert panel(archive)._grid.question == (
        "alphavantage",
        {"limit": None, "op": "DIVIDENDS", "archive": str(archive.path), "offline": True},
        True,
    )


def test_a_variable_that_changes_answers_changes_the_key(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = panel(archive)._grid
    before = key_of(asked)
    monkeypatch.setenv("PIT_FETCH_PLAN", "2026-07-01T00:00:00Z")
    assert before != key_of(asked)
