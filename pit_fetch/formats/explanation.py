"""What ``diff`` and ``explain`` add to an item, as a sentence for people: the reason, or what it held before. Pure.

>>> explain({"because": "published 40 minutes after the PIT"})
'published 40 minutes after the PIT'
>>> explain({"close": 182.5, "title": "Acme Rises", "before": {"close": 181, "title": None}})
'before: close 181; no title'
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# The fields that become the sentence.
FIELDS = ("because", "before")
# Of a long text, the characters from the first difference on, and of those before it.
_SHOWN, _LEAD = 100, 20


def explain(item: Mapping[str, Any]) -> str:
    """Return the sentence about an item; "" if neither command has made it."""
    because, before = item.get("because"), item.get("before")
    if isinstance(because, str):
        return because
    if not isinstance(before, Mapping) or not before:
        return ""
    return "before: " + "; ".join(_earlier(name, value, item.get(name)) for name, value in before.items())


def _earlier(name: str, old: Any, new: Any) -> str:
    if old in (None, "", [], {}):
        return f"no {name}"
    text, now = _text(old), _text(new)
    if len(text) <= _SHOWN:
        return f"{name} {text}"
    first = next((place for place, pair in enumerate(zip(text, now, strict=False)) if pair[0] != pair[1]), len(now))
    start = max(min(first, len(text)) - _LEAD, 0)
    cut = text[start : start + _SHOWN]
    return f"{name} {'…' if start else ''}{cut}{'…' if start + _SHOWN < len(text) else ''}"


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value)
