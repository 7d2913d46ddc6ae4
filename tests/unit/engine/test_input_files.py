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

from tests.demo_source import PIT
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
    assert (left.code, left.data, left.gap_types[-1]) == (4, [], "input_error")
    assert problem in left.reasons
