"""The frontmatter of agents and skills: read as YAML reads it, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from pit_fetch.claude_code.agents import split_frontmatter


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb:\n- x\n- y\n", {"a": "1", "b": ["x", "y"]}),
        ("a: 'it''s'\nb: \"q\\\"#\" # c\nc: x # d\n", {"a": "it's", "b": 'q"#', "c": "x"}),
        ("a: >\n  two\n  lines\nb: [p, 'q']\n", {"a": "two lines\n", "b": ["p", "q"]}),
        (
            "a:\n  b:\n    - c: 1\n      d:\n        - e\n    - c: 2\n",
            {"a": {"b": [{"c": "1", "d": ["e"]}, {"c": "2"}]}},
        ),
        ("a: http://x/y?z=1#f\nb:\n", {"a": "http://x/y?z=1#f", "b": ""}),
        ("a: one\n  two\n", {"a": "one two"}),
    ],
)
def test_frontmatter_is_read_as_yaml_reads_it(text: str, expected: dict[str, Any]) -> None:
    assert split_frontmatter(f"---\n{text}---\nbody") == (expected, "body")


@pytest.mark.parametrize(
    "text",
    [
        *("a: 1\na: 2\n", "a: [x\n", "\ta: 1\n", "a: &x\n", "a: !x y\n", "a: &x 1\nb: *x\n", 'a: "x\n', "- a\n"),
        *("a\n", " a: 1\nb: 2\n"),
    ],
)
def test_frontmatter_that_could_be_read_otherwise_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"line|mapping"):
        split_frontmatter(f"---\n{text}---\n")
