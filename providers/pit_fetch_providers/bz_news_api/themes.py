"""Themes, and whether an article mentions a word."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

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

_TAG = re.compile(r"<[^>]*>")


def mentions(item: Mapping[str, Any], words: tuple[str, ...]) -> bool:
    """Whether the article's text, or one of its tags or channels, contains one of ``words``, as whole words."""
    import html

    texts = (item["title"], item["teaser"], _TAG.sub(" ", item["body"] or ""), *item["tags"], *item["channels"])
    return _phrases(words).search(html.unescape(" ; ".join(text or "" for text in texts))) is not None


@lru_cache(maxsize=8)
def _phrases(words: tuple[str, ...]) -> re.Pattern[str]:
    spelled = (r"\s+".join(re.escape(part) for part in word.split()) for word in words)
    return re.compile(rf"(?<!\w)(?:{'|'.join(spelled)})(?!\w)", re.IGNORECASE)
