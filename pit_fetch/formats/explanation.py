"""The sentence that ``diff`` or ``explain`` makes of an item: the reason, or the old values beside the new. Pure.

>>> explain({"because": "published 40 minutes after the PIT"})
'published 40 minutes after the PIT'
>>> explain({"close": 182.5, "title": "Acme Rises", "before": {"close": 181, "title": None}})
'close 181 → 182.5; title nothing → Acme Rises'
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
    if not isinstance(before, Mapping):
        return ""
    return "; ".join(f"{name} {_change(old, item.get(name))}" for name, old in before.items())


def _change(old: Any, new: Any) -> str:
    """Return both values, or what surrounds the first difference of long ones."""
    texts = [_text(old), _text(new)]
    first = next(
        (place for place, pair in enumerate(zip(*texts, strict=False)) if len({*pair}) > 1), min(map(len, texts))
    )
    start = max(first - _LEAD, 0) if max(map(len, texts)) > _SHOWN else 0
    return " \u2192 ".join(_cut(text, start) for text in texts)


def _cut(text: str, start: int) -> str:
    start = min(start, max(len(text) - _SHOWN, 0)) if len(text) <= start else start
    return f"{'…' if start else ''}{text[start : start + _SHOWN]}{'…' if start + _SHOWN < len(text) else ''}"


def _text(value: Any) -> str:
    if value in (None, "", [], {}):
        return "nothing"
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ", ".join(value)
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value)
