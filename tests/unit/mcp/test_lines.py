"""Lines of another program: each by itself, and one that is too long costs only itself."""

from __future__ import annotations

from io import BytesIO

import pytest

from pit_fetch.mcp.lines import lines


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"", []),
        (b"a\n \n\nb", [b"a\n", b"b"]),
        (b"x" * 10 + b"\nb\n", [b"x" * 10 + b"\n", b"b\n"]),
        (b"x" * 11 + b"\nb\n", [b"", b"b\n"]),
        (b"a\n" + b"x" * 1_000 + b"\nb\n", [b"a\n", b"", b"b\n"]),
        (b"a\n" + b"x" * 1_000, [b"a\n", b""]),
    ],
)
def test_a_line_that_is_too_long_is_an_empty_one(stream: bytes, expected: list[bytes]) -> None:
    assert list(lines(BytesIO(stream), 10)) == expected
