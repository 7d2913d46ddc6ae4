"""The answer to one call, as it leaves a server: a judged envelope, the same as text and as JSON values.

Everything that comes from a source, or from another server, passes :func:`released`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.errors import PitFetchError
from pit_fetch.formats.json import render
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.pipeline.envelope import EnvelopeOptions, build, judge

_HALF_A_PAIR = re.compile(r"[\ud800-\udfff]")


class Answer(NamedTuple):
    """The answer to a call: ``text`` is ``content`` as JSON. ``is_error``: it holds nothing but a failure."""

    text: str
    content: Mapping[str, Any]
    is_error: bool = False


def release_answer(text: str, at: datetime, *, is_error: bool = False) -> Answer:
    """Return the answer that holds the envelope ``text``; a refusal if the gate finds anything from after ``at``."""
    text = _encodable(text)
    finding = judge(text, at)
    if finding is not None:
        return refusal(gap(Code.GATE_REFUSED, finding=finding))
    return Answer(text, json.loads(text), is_error)


def in_columns(answer: Answer, pit: str) -> Answer:
    """Return a released answer as a table, which says once what all items have alike. It has the same information.

    ``pit`` is the instant as the operator wrote it.
    """
    items, gaps = answer.content["data"], answer.content["gaps"]
    names = list(dict.fromkeys(name for item in items for name in item))
    # As texts: 1, 1.0 and true are other values, if equal ones in Python.
    values = {name: {render({name: item[name]}) if name in item else "" for item in items} for name in names}
    shared = {name: items[0][name] for name in names if name != "id" and len(values[name]) == 1}
    columns = [name for name in names if name not in shared]
    queries = {row.get("query") for row in gaps}
    content = {
        "pit": pit,
        **({"query": gaps[0].get("query")} if len(queries) == 1 else {}),
        "shared": shared,
        "columns": columns,
        "rows": [[item.get(name) for name in columns] for item in items],
        "gaps": [{key: part for key, part in row.items() if key != "query" or len(queries) > 1} for row in gaps],
    }
    return plain(content, is_error=answer.is_error)


def refuse(error: BaseException) -> Answer:
    """Return the answer to a call that ended with ``error``. Only the program's own errors are repeated."""
    return refusal(error.gap if isinstance(error, PitFetchError) else gap(Code.BUG, error=type(error).__name__))


def refusal(reason: Gap) -> Answer:
    """Return an empty envelope with one gap."""
    return plain(build([], [reason], EnvelopeOptions()), is_error=True)


def plain(content: Mapping[str, Any], *, is_error: bool = False) -> Answer:
    """Return the answer of what the program itself says, which no source has part in."""
    text = _encodable(render(content).rstrip("\n"))
    return Answer(text, json.loads(text), is_error)


def _encodable(text: str) -> str:
    """Return JSON in which no text has half a surrogate pair: no client could decode it, and some would end."""
    text = text.rstrip("\n")
    if "\\ud" not in text.lower():
        return text
    return render(_mended(json.loads(text))).rstrip("\n")


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return _HALF_A_PAIR.sub("\ufffd", value)
    if isinstance(value, list):
        return [_mended(part) for part in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(part) for name, part in value.items()}
    return value
