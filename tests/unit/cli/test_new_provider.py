"""``pit_fetch new-provider``: a package that works as it is written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pit_fetch.cli.commands.new_provider import SHAPES, files
from tests.conftest import Finished, Run

FILES = {
    "README.md",
    "pyproject.toml",
    "pit_fetch_widget_news/__init__.py",
    "tests/reply.json",
    "tests/test_widget_news.py",
}


def new(run: Run, folder: Path, *words: str) -> Finished:
    return run("new-provider", *words, cwd=folder)


def written(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def install(folder: Path, name: str) -> None:
    """Write the metadata of an installed package into ``folder``, so that its entry point is found."""
    module = f"pit_fetch_{name.replace('-', '_')}"
    info = folder / f"{module}-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pit-fetch-{name}\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(f"[pit_fetch.providers]\n{name} = {module}:PROVIDER\n")


def test_it_writes_a_package_and_says_what_to_do_next(near: Run, tmp_path: Path) -> None:
    done = new(near, tmp_path, "widget-news")
    assert (done.code, done.err) == (0, b"")
    home = tmp_path / "pit-fetch-widget-news"
    assert written(home) == FILES
    assert all(f"wrote pit-fetch-widget-news/{name}\n".encode() in done.out for name in FILES)
    assert b"python3 -m pip install -e . pytest\n" in done.out
    text = "".join((home / name).read_text() for name in FILES).casefold()
    assert [old for old in ("my-source", "my_source", "my source", "mysource") if old in text] == []


def test_the_package_is_a_source(run: Run, tmp_path: Path) -> None:
    assert new(run, tmp_path, "widget-news", "here").code == 0
    install(tmp_path / "here", "widget-news")
    env = {"PYTHONPATH": str(tmp_path / "here")}
    assert b"widget-news " in run("--list-sources", env=env).out
    done = run(
        *("--source", "widget-news", "--pit", "2024-02-15T16:00:00-05:00", "--input-file", "here/tests/reply.json"),
        cwd=tmp_path,
        env=env,
    )
    assert (done.code, done.ids, done.err) == (0, ["a"], b"")


def test_it_overwrites_nothing(near: Run, tmp_path: Path) -> None:
    home = tmp_path / "here"
    home.mkdir()
    assert new(near, tmp_path, "widget-news", "here").code == 0
    (home / "README.md").write_text("mine")
    done = new(near, tmp_path, "widget-news", "here")
    assert (done.code, (home / "README.md").read_text()) == (2, "mine")
    assert b"here exists and is not empty: name another folder (nothing written)" in done.err
    (tmp_path / "file").write_text("mine")
    assert new(near, tmp_path, "other", "file").code == 2


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), b"needs a NAME"),
        (("Widget",), b"is not a valid source name"),
        (("../up",), b"is not a valid source name"),
        (("a--b",), b"is not a valid source name"),
        (("benzinga",), b"is the name of a bundled source"),
        (("widget", "here", "there"), b"unrecognized arguments"),
        (("widget", "--forc"), b"unrecognized arguments"),
        (("widget", "--post", "--file"), b"not allowed with argument"),
    ],
)
def test_what_is_refused_is_named_and_nothing_is_written(
    near: Run, tmp_path: Path, words: tuple[str, ...], problem: bytes
) -> None:
    done = new(near, tmp_path / "home", *words)
    assert (done.code, done.out) == (2, b"")
    assert problem in done.err
    assert done.err.count(b"\n") == 1
    assert written(tmp_path) == set()


def test_a_folder_that_cannot_be_written(near: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = new(near, tmp_path, "widget", "file/below")
    assert (done.code, done.err.count(b"\n")) == (2, 1)


@pytest.mark.parametrize("shape", ["", *SHAPES])
def test_the_readme_states_the_stamps_of_its_own_package(shape: str) -> None:
    package = files("widget-news", shape)
    stamps = package["README.md"].partition("## When an item counts")[2].partition("\n## ")[0]
    fields = set(re.findall(r"`(\w+)`", stamps)) - {"available_at", "revised_at"}
    module = package["pit_fetch_widget_news/__init__.py"]
    assert fields
    assert [field for field in fields if f'get("{field}")' not in module and f'row["{field}"]' not in module] == []
    assert ("`revised_at`" in stamps) == ("revised_at=" in module)


def test_help_offers_the_shapes(near: Run, tmp_path: Path) -> None:
    shapes = " | ".join(f"--{shape}" for shape in SHAPES)
    assert new(near, tmp_path, "--help").out.startswith(f"usage: pit_fetch new-provider [-h] [{shapes}]".encode())


def test_a_fetch_is_not_taken_for_a_command(near: Run) -> None:
    done = near("--source", "bz-news-api", "new-provider")
    assert (done.code, json.loads(done.out)["gaps"][0]["type"]) == (2, "config")


@pytest.mark.thorough
def test_each_shape_passes_its_own_tests_and_is_certified(tmp_path: Path) -> None:
    names = [f"widget-{shape or 'plain'}" for shape in ("", *SHAPES)]
    for name, shape in zip(names, ("", *SHAPES), strict=True):
        for path, text in files(name, shape).items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        install(tmp_path / name, name)
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
