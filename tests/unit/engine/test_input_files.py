"""``--input-file``: the forms in which people have a reply, and what is said of a file that is none."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from pathlib import Path

import pytest

from pit_fetch.courtesy.paths import mistake
from tests.demo_source import PIT, PIT_TEXT
from tests.inprocess import Answer, fetch
from tests.providers.bz_news_api.server import article

TEXT = json.dumps([article(1, PIT), article(2, PIT)])
AT_PIT = ("--source", "bz-news-api", "--pit", "2024-02-15T16:00:05-05:00")


def read(folder: Path, *words: str, body: bytes = b"") -> Answer:
    return fetch(folder, *AT_PIT, "--input-file", *words, body=body)


def zipped(text: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("reply.json", text)
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    {
        "plain": TEXT.encode(),
        "with a byte order mark": TEXT.encode("utf-8-sig"),
        "UTF-16, little end first": TEXT.encode("utf-16"),
        "UTF-16, big end first": b"\xfe\xff" + TEXT.encode("utf-16-be"),
        "UTF-16, little end first, without a mark": TEXT.encode("utf-16-le"),
        "UTF-16, big end first, without a mark": TEXT.encode("utf-16-be"),
        "UTF-32": TEXT.encode("utf-32"),
        "gzip": gzip.compress(TEXT.encode()),
        "gzip in two members": gzip.compress(TEXT[:90].encode()) + gzip.compress(TEXT[90:].encode()),
        "gzip of UTF-16": gzip.compress(TEXT.encode("utf-16")),
    }.values(),
)
def test_a_reply_is_read_in_every_form(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "reply").write_bytes(content)
    assert read(tmp_path, str(tmp_path / "reply")).ids == ["1", "2"]
    assert read(tmp_path, "-", body=content).ids == ["1", "2"]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (gzip.compress(TEXT.encode())[:-9], "its compression is broken, or it breaks off"),
        (gzip.compress(b"x" * 64_000_001, 1), "it is larger than 64 MB"),
        (zipped(TEXT), "it is a ZIP archive or an Excel file: unpack or export it first"),
        (bz2.compress(TEXT.encode()), "it is compressed by bzip2: unpack it first"),
        (lzma.compress(TEXT.encode()), "it is compressed by xz: unpack it first"),
        (b"\n<!DOCTYPE HTML><html>Sign in</html>", "it is a web page"),
        (b"%PDF-1.7", "it is a PDF"),
        (b'{"id": 1}\r\n{"id": 2}\r\n', "it is one JSON document in each line"),
        (b"SQLite format 3\0", "it is a database: an archive is named with --archive"),
        (TEXT[:-9].encode(), "it is not valid JSON"),
        (b"\n ", "it is empty"),
    ],
)
def test_what_is_no_reply_is_called_by_its_name(tmp_path: Path, content: bytes, problem: str) -> None:
    (tmp_path / "reply").write_bytes(content)
    left = read(tmp_path, str(tmp_path / "reply"))
    assert (left.code, left.data, left.gap_types[-1]) == (0, [], "input_error")
    assert problem in left.reasons


def test_a_home_is_found_where_the_shell_left_its_sign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it does in quotes, behind ``--option=`` and in variables."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "reply.json").write_text(TEXT)
    other = tmp_path / "other"
    other.mkdir()
    left = fetch(other, *AT_PIT, "--input-file=~/reply.json", "--output=~/out.json")
    assert (left.code, left.out, len(json.loads((tmp_path / "out.json").read_text())["data"])) == (0, "", 2)
    fetch(other, *AT_PIT, env={"PIT_FETCH_ARCHIVE": "~/held.db", "BENZINGA_API_KEY": "k"})
    fetch(other, *AT_PIT, "--input-file", "~/reply.json", env={"PIT_FETCH_AUDIT": "~/audit.jsonl"})
    assert {"held.db", "audit.jsonl"} <= {path.name for path in tmp_path.iterdir()}
    assert not [path for path in other.iterdir() if path.name.startswith("~")]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nothing.json", "No such file or directory. Name"),
        ("reply*.json", "the shell replaces no pattern in quotes: name one file"),
    ],
)
def test_what_stands_in_the_place_of_a_path_is_recognized(tmp_path: Path, name: str, hint: str) -> None:
    left = read(tmp_path, name)
    assert (left.code, left.gap_types) == (0, ["input_error"])
    assert hint in left.envelope["gaps"][0]["reason"]


@pytest.mark.parametrize("option", ["--input-file", "--output", "--archive", "PIT_FETCH_AUDIT", "PIT_FETCH_ARCHIVE"])
@pytest.mark.parametrize("name", ["'x.csv'", "\\\\srv\\share\\x.csv", "$HOME/x.csv"])
def test_what_a_shell_left_in_a_path_makes_no_file_of_that_name(tmp_path: Path, option: str, name: str) -> None:
    words, env = ([option, name], {}) if option.startswith("--") else ([], {option: name})
    left = fetch(tmp_path, *AT_PIT, *words, env={"BENZINGA_API_KEY": "key-of-a-user", **env})
    assert mistake(name, str(tmp_path)) in left.reasons
    assert {path.name for path in tmp_path.iterdir()} <= {"audit.jsonl"}


def test_a_list_of_items_that_is_empty_is_not_called_a_reply(tmp_path: Path) -> None:
    left = fetch(tmp_path, "normalize", "--pit", PIT_TEXT)
    assert left.gap_types == ["input_error"]
    assert left.reasons.startswith("The items cannot be read: standard input is empty.")
