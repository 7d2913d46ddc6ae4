"""Docstrings as the site shows them: their lists of names as lists, and their roles as code."""

from __future__ import annotations

import re
from typing import Any

import griffe

# ``name  text``, whose text goes on in lines that are indented.
_ENTRY = re.compile(r"^(\w[\w, ()=.*]*?)(?:  +)(?=\S)", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?([^`]+)`")
_EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^(?!>>> ).+\n?)*)+", re.MULTILINE)


class AsMarkdown(griffe.Extension):
    """Turns each docstring into Markdown before it is rendered."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        if obj.docstring:
            obj.docstring.value = markdown(obj.docstring.value)


def markdown(text: str) -> str:
    """Return a docstring's ``text`` with its examples in blocks, its entries as a list, and roles as code."""
    text = _ROLE.sub(r"`\1`", text)
    text = _EXAMPLE.sub(lambda example: f"```pycon\n{example[0].rstrip()}\n```\n", text)
    return _ENTRY.sub(r"- `\1`: ", text)
