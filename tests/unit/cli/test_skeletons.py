"""``pit_fetch new-provider --post | --two-step | --file | --vintages``: each is certified as it is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pit_fetch.cli.commands.new_provider import SHAPES, files
from tests.conftest import Run


def test_one_shape_at_a_time(run: Run, tmp_path: Path) -> None:
    done = run("new-provider", "widget", "--post", "--file", cwd=tmp_path)
    assert (done.code, list(tmp_path.glob("pit-fetch-*"))) == (2, [])
    assert all(f"--{shape}".encode() in run("new-provider", "--help").out for shape in SHAPES)


@pytest.mark.thorough
def test_what_is_written_passes_its_own_tests(tmp_path: Path) -> None:
    names = [f"widget-{shape or 'plain'}" for shape in ("", *SHAPES)]
    for name, shape in zip(names, ("", *SHAPES), strict=True):
        for path, text in files(name, shape).items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        info = tmp_path / name / f"pit_fetch_{name.replace('-', '_')}-0.1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pit-fetch-{name}\nVersion: 0.1.0\n")
        entry = f"{name} = pit_fetch_{name.replace('-', '_')}:PROVIDER"
        (info / "entry_points.txt").write_text(f"[pit_fetch.providers]\n{entry}\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "pit_fetch.pytest_plugin"],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(str(tmp_path / name) for name in names),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert [name for name in names if f"certificate of {name} " not in done.stdout] == []
    assert done.stdout.count("no test sees") >= len(names)
