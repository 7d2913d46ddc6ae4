"""The answer to one call, as it leaves a server: a judged envelope, the same as text and as JSON values.

Everything that comes from a source, or from another server, passes :func:`released`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.errors import PitFetchError
from pit_fetch.formats.json import render
from pit_fetch.gaps import Code, Gap, Reason, gap
from pit_fetch.pipeline.envelope import EnvelopeOptions, build, judge
from pit_fetch.provider import ENVELOPE_FIELDS

# What a server's instructions say once, so that an answer in columns has the name of the gap alone, and its cursor.
EXPLAINED: Mapping[Reason, str] = {
    Code.LATE: "what was published or last revised after the instant is withheld; it is not told whether there was any",
    Code.UNDATED: "what has no provable publication time is withheld; it is not told whether there was any",
    Code.LATE_UNLESS_CLAIMED: "as `late`, but for what a claim dates by then",
    Code.UNDATED_UNLESS_CLAIMED: "as `undated`, but for what has a claimed time",
    Code.LIMIT: "more matches than `limit`",
    Code.NOTHING: "nothing public matched, or the source does not know what was asked for",
}
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


def in_columns(answer: Answer, pit: str | None, gaps: Iterable[Gap] = (), fields: Collection[str] = ()) -> Answer:
    """Return a released answer as a table, which says once what all items have alike.

    pit     the instant as the operator wrote it
    gaps    those that the answer was made of: a reason that :data:`EXPLAINED` has is shown by its code
    fields  those that were asked for: ids are left out unless they are among them, or none is
    """
    items = answer.content["data"]
    every = dict.fromkeys(name for item in items for name in item)
    names = [name for name in every if name != "id" or not fields or "id" in fields]
    # As texts: 1, 1.0 and true are other values, if equal ones in Python.
    values = {name: {render({name: item[name]}) if name in item else "" for item in items} for name in names}
    is_one = len(items) == 1  # which is a row, too
    own = {"id", *(name for name in names if is_one and name not in ENVELOPE_FIELDS)}
    shared = {name: items[0][name] for name in names if name not in own and len(values[name]) == 1}
    columns = [name for name in names if name not in shared]
    codes = {known.reason: known.code for known in gaps if known.code in EXPLAINED}
    content = {
        "pit": pit,
        "shared": shared,
        "columns": columns,
        "rows": [[item.get(name) for name in columns] for item in items],
        "gaps": [_short_gap(row, codes.get(row["reason"])) for row in answer.content["gaps"]],
    }
    text = json.dumps(content, separators=(",", ":"), allow_nan=False)
    return Answer(text, json.loads(text), answer.is_error)


def _short_gap(row: Mapping[str, Any], code: Reason | None) -> dict[str, Any]:
    """Return a gap without its query, with its cursor once, and with its code alone if that is explained elsewhere."""
    short = {name: value for name, value in row.items() if name != "query"}
    if code is not None:
        del short["type"], short["reason"]
        return {"code": str(code), **short}
    for option in ("--after ", "--after="):
        short["reason"] = short["reason"].replace(f"{option}{row.get('cursor')}", "`after`")
    return short


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
