"""``python3 PATH/pit_fetch.py``: by path, from any folder, installed or not."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Finished, Run

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "examples" / "sample" / "bz_news.json"
OFFLINE = ("--source", "bz-news-api", "--pit", "2024-02-15T16:00:00-05:00", "--input-file", str(SAMPLE))


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("copied") / "checkout"
    for part in ("pit_fetch", "providers", "hooks"):
        shutil.copytree(ROOT / part, home / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pit_fetch.py", home)
    return home


@pytest.fixture
def checkout(copied: Path) -> Iterator[Path]:
    """A checkout, compiled once, without an environment beside it."""
    yield copied
    shutil.rmtree(copied / ".venv", ignore_errors=True)


def bare(run: Run, script: Path, *words: str, cwd: Path | None = None) -> Finished:
    """The script under an interpreter that has the standard library and nothing else."""
    return run(*words, command=(sys.executable, "-S", str(script)), cwd=cwd)


def test_the_three_programs_are_one(run: Run) -> None:
    console = str(Path(sys.executable).parent / "pit_fetch")
    commands = [(console,), (sys.executable, "-m", "pit_fetch"), (sys.executable, str(ROOT / "pit_fetch.py"))]
    for words in (OFFLINE, ("--source", "benzinga", "--help"), ("--lmit",)):
        results = {run(*words, command=command) for command in commands}
        assert len(results) == 1
        assert results.pop().out


def test_without_requests_a_fetch_names_the_install_command(run: Run, checkout: Path) -> None:
    done = run(
        *OFFLINE[:4], command=(sys.executable, "-S", str(checkout / "pit_fetch.py")), env={"BENZINGA_API_KEY": "x" * 20}
    )
    assert (done.code, done.gap_types) == (3, ["config"])
    assert "pip install requests" in done.envelope["gaps"][0]["reason"]


# What an interpreter from before Python 3.11 sees: everything that runs on it has to get by with its syntax.
OLD = """\
import runpy, sys
sys.version_info = (3, 9, 18, "final", 0)
sys.argv = sys.argv[1:]
sys.path[0] = sys.argv[0].rpartition("/")[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
OLD_SYNTAX = (
    "pit_fetch.py",
    *(f"pit_fetch/{name}.py" for name in ("__init__", "__main__")),
    *(f"pit_fetch/cli/{name}.py" for name in ("__init__", "entry_point", "script")),
    *(f"pit_fetch/support/{name}.py" for name in ("__init__", "process")),
)


@pytest.mark.parametrize("path", OLD_SYNTAX)
def test_an_old_interpreter_can_read_what_it_needs_to_say_so(path: str) -> None:
    tree = ast.parse((ROOT / path).read_text(), feature_version=(3, 6))
    assert not any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in ast.walk(tree))


def old(run: Run, script: Path) -> Finished:
    return run(*OFFLINE, command=(sys.executable, "-c", OLD, str(script)))


def test_an_old_interpreter_is_named_with_the_way_out(run: Run, checkout: Path, tmp_path: Path) -> None:
    done = old(run, checkout / "pit_fetch.py")
    assert (done.code, done.gap_types) == (2, ["config"])
    reason = "pit_fetch needs Python 3.11 or later, but this is 3.9: run make demo in the folder of pit_fetch.py"
    assert done.envelope["gaps"][0]["reason"].startswith(reason)
    assert done.err.decode().startswith(f"pit_fetch: {reason}")
    shutil.copy(ROOT / "pit_fetch.py", tmp_path)
    alone = old(run, tmp_path / "pit_fetch.py")
    assert (alone.code, alone.gap_types, b"run it with a newer one" in alone.err) == (2, ["config"], True)


def write_executable(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755)


def test_without_requests_it_continues_in_the_environment_beside_it(run: Run, checkout: Path) -> None:
    write_executable(checkout / ".venv" / "bin" / "python", '#!/bin/sh\nshift 2; echo "$@"\n')
    done = bare(run, checkout / "pit_fetch.py", "--pit", "a b")
    assert done.out.decode() == f"{checkout / 'pit_fetch.py'} --pit a b\n"


@pytest.mark.parametrize("start", [old, lambda run, script: bare(run, script, *OFFLINE)])
def test_an_environment_without_the_dependencies_reports_so_itself(
    run: Run, checkout: Path, start: Callable[[Run, Path], Finished]
) -> None:
    """And does not start itself again, although it does not look like an environment."""
    write_executable(checkout / ".venv" / "bin" / "python", f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    done = start(run, checkout / "pit_fetch.py")
    assert (done.code, done.gap_types) == (2, ["config"])
    reason = "the .venv beside pit_fetch.py is too old or lacks a package: run make clean demo there"
    assert done.envelope["gaps"][0]["reason"] == reason
    assert done.err.decode() == f"pit_fetch: {reason}\n"


BROKEN: dict[str, Callable[[Path], object]] = {
    "empty": lambda python: write_executable(python, ""),
    "a script of an interpreter that is gone": lambda python: write_executable(python, "#!/nonexistent\n"),
    # As an upgrade of the system leaves it: make demo alone would not set it up again.
    "a link to nothing": lambda python: python.symlink_to("/nonexistent/python3.11"),
}


@pytest.mark.parametrize("state", BROKEN)
def test_an_environment_that_does_not_run_is_not_used(run: Run, checkout: Path, state: str) -> None:
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    BROKEN[state](python)
    done = old(run, checkout / "pit_fetch.py")
    assert (done.code, done.gap_types) == (2, ["config"])
    assert "the .venv beside pit_fetch.py does not run" in done.envelope["gaps"][0]["reason"]
    assert b"run make clean demo there" in done.err
    # A new interpreter that lacks only requests continues by itself: not every call needs it.
    assert bare(run, checkout / "pit_fetch.py", *OFFLINE).ids == ["1003", "1002"]


def test_a_copy_elsewhere_runs_the_installed_package_and_not_its_neighbours(run: Run, tmp_path: Path) -> None:
    shutil.copy(ROOT / "pit_fetch.py", tmp_path)
    for foreign in ("pit_gate.py", "pit_fetch_providers.py"):
        (tmp_path / foreign).write_text("raise SystemExit('foreign code ran')\n")
    script = tmp_path / "pit_fetch.py"
    assert run(*OFFLINE, command=(sys.executable, str(script)), cwd=tmp_path).ids == ["1003", "1002"]
    alone = bare(run, script, *OFFLINE, cwd=tmp_path)
    assert (alone.code, alone.gap_types) == (2, ["config"])


def test_a_foreign_gate_in_the_working_directory_is_not_used(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pit_gate.py").write_text("raise SystemExit('foreign code ran')\n")
    (tmp_path / "pit_fetch_providers").mkdir()
    (tmp_path / "pit_fetch_providers" / "__init__.py").write_text("raise SystemExit('foreign code ran')\n")
    assert run(*OFFLINE, cwd=tmp_path).ids == ["1003", "1002"]
    code = "import sys, json, pit_fetch; print(json.dumps(pit_fetch.fetch('benzinga', 'open', input_file=sys.argv[1])))"
    done = run(str(SAMPLE), command=(sys.executable, "-c", code), cwd=tmp_path)
    assert len(done.ids) == 6


def test_the_demo_shows_kept_items_a_withheld_revision_and_gaps() -> None:
    done = subprocess.run([sys.executable, "examples/demo.py"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "gap: pit_excluded" in done.stdout
    assert "1004  published before the close, but rewritten after it" in done.stdout
    assert json.loads(SAMPLE.read_text())[2]["id"] == 1004
    # A question of an archive: what a later report restates.
    assert "2022-12-31  3.6  10-K" in done.stdout
    assert "2022-12-31  3.25  10-K" in done.stdout
    # A question of the web: the outlook of the page that was captured before the PIT.
    assert "revenue growth of 4% to 6%" in done.stdout
    assert "1% to 2%" not in done.stdout
