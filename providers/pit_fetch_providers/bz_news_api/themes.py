"""Themes as lists of words, and the search for words in an article."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pit_fetch.wire import unescape

# Whole words and phrases, matched like --keywords. A new theme is a new row.
THEMES: Mapping[str, tuple[str, ...]] = {
    "macro": (
        "fed", "federal reserve", "fomc", "powell", "ecb", "bank of japan", "interest rate", "interest rates",
        "rate cut", "rate hike", "treasury yield", "treasury yields", "inflation", "cpi", "ppi", "pce", "gdp",
        "payrolls", "nonfarm payrolls", "unemployment", "jobless claims", "retail sales", "ism", "pmi", "recession",
        "tariff", "tariffs", "economy", "rates", "treasury", "macro",
    ),
    "oil": (
        "oil", "crude", "crude oil", "brent", "wti", "opec", "opec+", "barrel", "barrels", "petroleum", "gasoline",
        "diesel", "refinery", "oil prices", "eia", "natural gas", "energy",
    ),
}  # fmt: skip

_TAG = re.compile(r"<[^<>]*>")


def mentions(item: Mapping[str, Any], words: tuple[str, ...]) -> bool:
    """Return whether the text, a tag or a channel of an article contains one of ``words``, as whole words."""
    texts = (item["title"], item["teaser"], _TAG.sub(" ", item["body"] or ""), *item["tags"], *item["channels"])
    return _phrases(words).search(unescape(" ; ".join(text or "" for text in texts))) is not None


@lru_cache(maxsize=8)
def _phrases(words: tuple[str, ...]) -> re.Pattern[str]:
    patterns = (r"\s+".join(re.escape(part) for part in word.split()) for word in words)
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)
