"""Lines of another program: each by itself, and one that is too long costs only itself."""

from __future__ import annotations

from io import BytesIO

import pytest

from pit_fetch.mcp.lines import Beginning, lines


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"", []),
        (b"a\n \n\nb", [b"a\n", b"b"]),
        (b"x" * 10 + b"\nb\n", [b"x" * 10 + b"\n", b"b\n"]),
        (b"x" * 11 + b"\nb\n", [b"x" * 11, b"b\n"]),
        (b"a\n" + b"x" * 1_000 + b"\nb\n", [b"a\n", b"x" * 11, b"b\n"]),
        (b"a\n" + b"x" * 1_000, [b"a\n", b"x" * 11]),
    ],
)
def test_of_a_line_that_is_too_long_the_beginning_is_read(stream: bytes, expected: list[bytes]) -> None:
    found = list(lines(BytesIO(stream), 10))
    assert found == expected
    assert [isinstance(line, Beginning) for line in found] == [line == b"x" * 11 for line in found]
