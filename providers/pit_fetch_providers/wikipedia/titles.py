"""Titles as people write them. Pure.

>>> parse_title("https://de.m.wikipedia.org/wiki/Apple_Inc.#Geschichte"), normalized("  :acme_(company) ")
(Title(text='Apple Inc.', language='de'), 'Acme (company)')
"""

from __future__ import annotations

import re
from html import unescape
from typing import NamedTuple
from unicodedata import normalize
from urllib.parse import parse_qs, unquote, urlsplit

from pit_fetch.errors import UsageError
from pit_fetch.gaps import Code

_HOST = re.compile(r"([a-z-]+)(?:\.m)?\.wikipedia\.org")
_LANGUAGE = re.compile(r"[a-z]{2,12}(?:-[a-z]{2,12}){0,3}")
_ILLEGAL = re.compile(r"[<>\[\]|{}\x00-\x1f\x7f]")
# Marks of the direction of writing, which are copied along with a title.
_MARKS = re.compile(r"[\u200e\u200f\u202a-\u202e]")
_MOST_BYTES = 255


class Title(NamedTuple):
    """A title, and the language of the address that it came in; "" if it came without one."""

    text: str
    language: str = ""


def parse(text: str) -> str:
    """Return a title, or the address of an article, in its one spelling. Raise UsageError."""
    title = parse_title(text)
    return f"{title.language}.wikipedia.org/wiki/{title.text}" if title.language else title.text


def parse_title(text: str) -> Title:
    """Return the title in ``text``, a title or the address of an article. Raise UsageError for another address."""
    address = text.strip()
    if "wikipedia.org/" not in address:
        return Title(normalized(address))
    parts = urlsplit(address if "://" in address else f"https://{address.lstrip('/')}")
    host = _HOST.fullmatch(parts.netloc.lower())
    title = unquote(parts.path.removeprefix("/wiki/")) if parts.path.startswith("/wiki/") else ""
    if parts.path == "/w/index.php" and "oldid" not in parse_qs(parts.query):
        title = parse_qs(parts.query).get("title", [""])[0]
    if host is None or not title:
        raise UsageError(
            Code.USAGE, text="title takes the title of an article, or its address: https://en.wikipedia.org/wiki/TITLE."
        )
    return Title(normalized(title), host[1])


def normalized(text: str) -> str:
    """Return a title as Wikipedia writes it: spaces for underscores, a capital first. Raise UsageError for none."""
    text = _MARKS.sub("", normalize("NFC", unescape(text)))
    title = " ".join(text.partition("#")[0].replace("_", " ").split()).lstrip(":").strip()
    if not title or _ILLEGAL.search(title) or len(title.encode("utf-8", "replace")) > _MOST_BYTES:
        raise UsageError(Code.USAGE, text="title is one article's title, without [ ] | { } < >.")
    capital = title[0].upper()
    return capital + title[1:] if len(capital) == 1 and not _is_georgian(title[0]) else title


def _is_georgian(letter: str) -> bool:
    """Return whether a letter is Georgian. Unicode has a capital for it, with which no title begins."""
    return "\u10d0" <= letter <= "\u10ff"


def normalized_or_none(text: str) -> str | None:
    """Return a title that a reply or a text names, as Wikipedia writes it; None for none."""
    try:
        return normalized(text)
    except UsageError:
        return None


def language(text: str) -> str:
    """Return the value of --lang. Raise UsageError."""
    if not _LANGUAGE.fullmatch(text.strip().lower()):
        raise UsageError(Code.USAGE, text="--lang is the first part of a Wikipedia's address, e.g. en or zh.")
    return text.strip().lower()
