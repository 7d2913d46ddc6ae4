"""``--release FILE``: the envelope in a private file, and in no other."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PIT = "2024-02-15T16:00:00-05:00"
CALL = ("--source", "bz-news-api", "--pit", PIT, "--input-file", "-")
Run = Callable[..., Any]


@pytest.fixture
def private(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir(mode=0o700)
    path = tmp_path / "store" / "envelope"
    path.touch(0o600)
    return path


def test_the_envelope_goes_to_the_file_and_nowhere_else(run: Run, private: Path) -> None:
    printed = run(*CALL, stdin=b"[]")
    released = run(*CALL, "--release", str(private), stdin=b"[]")
    assert (released.out, released.err, released.code) == (b"", b"", 0)
    assert private.read_bytes() == printed.out


@pytest.mark.parametrize(
    "words", [(*CALL, "--bogus"), ("--source", "nowhere"), ("--pit", "2024"), (*CALL, "--pit", PIT)]
)
def test_a_refusal_goes_to_the_file(near: Run, private: Path, words: tuple[str, ...]) -> None:
    printed = near(*words)
    released = near(*words[:2], "--release", str(private), *words[2:])
    assert (released.out, released.code) == (b"", 2)
    assert private.read_bytes() == printed.out


def test_behind_two_dashes_it_is_a_word(near: Run, private: Path) -> None:
    assert near(*CALL, "--", "--release", str(private)).out
    assert private.read_bytes() == b""


@pytest.mark.parametrize("words", [("--release",), ("--release", "/x", "--release", "/x")])
def test_it_takes_one_file(near: Run, words: tuple[str, ...]) -> None:
    refused = near(*CALL, *words)
    assert refused.code == 2
    assert b"--release takes one FILE, once" in refused.out


def _move_and_link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def _make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


SPOILT: dict[str, Callable[[Path], object]] = {
    "absent": Path.unlink,
    "another mode": lambda path: path.chmod(0o644),
    "not empty": lambda path: path.write_text("x"),
    "a link": _move_and_link,
    "a pipe": _make_pipe,
    "an open folder": lambda path: path.parent.chmod(0o755),
    "a linked folder": lambda path: _move_and_link(path.parent),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_only_an_empty_private_file_is_written(near: Run, private: Path, kind: str) -> None:
    SPOILT[kind](private)
    before = private.read_bytes() if private.is_file() else None
    refused = near(*CALL, "--release", str(private), stdin=b"[]")
    assert refused.code == 2
    assert refused.envelope["data"] == []
    assert "--release names no empty private file" in refused.envelope["gaps"][0]["reason"]
    assert (private.read_bytes() if private.is_file() else None) == before
