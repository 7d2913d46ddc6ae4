"""``pit_fetch new-provider --post | --two-step | --file | --vintages``: each is certified as it is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pit_fetch.commands.new_provider import SHAPES, files
from tests.conftest import Run


def test_one_shape_at_a_time(run: Run, tmp_path: Path) -> None:
    done = run("new-provider", "widget", "--post", "--file", cwd=tmp_path)
    assert (done.code, list(tmp_path.glob("pit-fetch-*"))) == (2, [])
    assert all(f"--{shape}".encode() in run("new-provider", "--help").out for shape in SHAPES)


@pytest.mark.parametrize("shape", ["", *SHAPES])
def test_what_is_written_passes_its_own_tests(shape: str, tmp_path: Path) -> None:
    for path, text in files("widget-news", shape).items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    info = tmp_path / "pit_fetch_widget_news-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: pit-fetch-widget-news\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[pit_fetch.providers]\nwidget-news = pit_fetch_widget_news:PROVIDER\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "pit_fetch.pytest_plugin"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "certificate of widget-news" in done.stdout
    assert "no test sees" in done.stdout
