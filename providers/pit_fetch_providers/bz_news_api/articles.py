"""Turn Benzinga's articles into records, and search them for words. Rows come from the API, exports and dumps. Pure.

Stamps are RFC 2822 with ``-0400`` all year. That is not New York's offset in winter, but the instant is right (article
43201565: ``16:21:28 -0400`` over REST is ``20:21:28Z`` over the WebSocket). Exports and dumps write RFC 3339.

>>> article = {"title": "Crude Oil Rises", "teaser": None, "body": "", "tags": [], "channels": []}
>>> mentions(article, THEMES["oil"]), mentions(article, ("ru",))
(True, False)
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from pit_fetch.provider import Query, Record
from pit_fetch.times import NEW_YORK, in_new_york, parse_rfc2822, parse_rfc3339, wall_clock
from pit_fetch.wire import unescape
from pit_fetch_providers.shared import UNREADABLE

# The names of an article's fields in the API, and in exports and dumps.
CREATED, UPDATED = ("created", "created_at"), ("updated", "updated_at")
_SYMBOLS = ("stocks", "symbols", "securities")
_NAME = ("name", "symbol", "ticker")
# A row that lacks one of these is not an article of Benzinga's. Every recorded article has all of them. Arrays of other
# news, of issues or of messages lack one or another.
REQUIRED = {"title": ("title",), "symbols": _SYMBOLS, "channels": ("channels",)}
# Stamps without an offset, which open mode reads as New York time.
_WITHOUT_OFFSET = ("%a, %d %b %Y %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S")

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


def record(row: Any, query: Query) -> Record:
    """Return one article. Unless it has both stamps it is undated: an unknown revision may be from after the PIT.

    ``created`` alone is a claim: the text may be that of a later revision.
    """
    if not isinstance(row, dict) or isinstance(row.get("id"), bool) or not isinstance(row.get("id"), (int, str)):
        return UNREADABLE
    created, updated = _instant(row, CREATED, query), _instant(row, UPDATED, query)
    dated = created is not None and updated is not None
    payload = {
        "title": _text(row, "title"),
        "teaser": _text(row, "teaser"),
        "body": _text(row, "body"),
        "url": _text(row, "url"),
        "symbols": _names(row, _SYMBOLS),
        "channels": _names(row, ("channels",)),
        "tags": _names(row, ("tags",)),
        "created": None if created is None else in_new_york(created),
        "updated": None if updated is None else in_new_york(updated),
    }
    for name, keys in REQUIRED.items():
        if row.keys().isdisjoint(keys):
            del payload[name]
    available_at = created if dated or query.open_mode else None
    revised_at = updated if dated else None
    return Record(str(row["id"]), available_at, payload, revised_at, claimed_at=created)


def _instant(row: Mapping[str, Any], keys: Iterable[str], query: Query) -> datetime | None:
    """Return the instant of a stamp. Without an offset it is New York time in open mode, and None with a PIT."""
    moments = [_parse_stamp(row[key], query) for key in keys if key in row]
    known = [moment for moment in moments if moment is not None]
    # If a stamp appears under two names and they differ, the later one counts.
    return max(known) if known and len(known) == len(moments) else None


def _parse_stamp(text: Any, query: Query) -> datetime | None:
    moment = parse_rfc2822(text) or parse_rfc3339(text)
    if moment is None and query.open_mode and isinstance(text, str):
        for form in _WITHOUT_OFFSET:
            with contextlib.suppress(ValueError):
                return wall_clock(datetime.strptime(text.strip(), form), NEW_YORK)  # noqa: DTZ007
    return moment


def _text(row: Mapping[str, Any], key: str) -> str | None:
    """Return a text as it is; null stays null, which is not the same as empty."""
    value = row.get(key, "")
    return value if isinstance(value, str) or value is None else ""


def _names(row: Mapping[str, Any], keys: Iterable[str]) -> list[str]:
    """Return the names in ``[{"name": …}, …]``, ``["…", …]`` or ``"…, …"`` (a cell of a table)."""
    listed = next((row[key] for key in keys if row.get(key) and isinstance(row[key], (list, str))), ())
    if isinstance(listed, str):
        listed = filter(None, map(str.strip, listed.split(",")))
    names = (_name(entry) if isinstance(entry, dict) else entry for entry in listed)
    return [name for name in names if isinstance(name, str)]


def _name(entry: Mapping[str, Any]) -> Any:
    return next((entry[key] for key in _NAME if key in entry), None)


def mentions(item: Mapping[str, Any], words: tuple[str, ...]) -> bool:
    """Return whether the text, a tag or a channel of an article contains one of ``words``, as whole words."""
    texts = (item["title"], item["teaser"], _TAG.sub(" ", item["body"] or ""), *item["tags"], *item["channels"])
    return _pattern(words).search(unescape(" ; ".join(text or "" for text in texts))) is not None


@lru_cache(maxsize=8)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    patterns = (r"\s+".join(re.escape(part) for part in word.split()) for word in words)
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)
