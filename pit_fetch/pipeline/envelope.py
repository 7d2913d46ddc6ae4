"""The envelope: public items and gaps. This is the only module that knows its shape. Pure.

{"data": [{"available_at": …, "available_at_source": …, "id": …, …}], "gaps": [{"type": …, "reason": …, "query": …}]}

A ``truncated`` gap that can be resumed also has a ``cursor``.

>>> from datetime import UTC, datetime
>>> instant = datetime(2024, 2, 15, 21, tzinfo=UTC)
>>> records = [Record(id, instant, "edgar_accepted", {"form": "8-K", "text": "x" * 200}) for id in "abc"]
>>> build(records[:1], [], EnvelopeOptions(fields=("form",))).data
[{'available_at': '2024-02-15T16:00:00-05:00', 'available_at_source': 'edgar_accepted', 'id': 'a', 'form': '8-K'}]
>>> sized = fit_to_budget(records, [], EnvelopeOptions(query="--source demo"), json.dumps, 900)
>>> sized.record_count, len(sized.text) <= 900, sized.envelope.gaps[0]["cursor"]
(2, True, 'b@2024-02-15T16:00:00-05:00')
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.gaps import Code, Gap, Reason, gap
from pit_fetch.pipeline.chunks import ChunkStart, chunk, is_resumable, remaining_size
from pit_fetch.pipeline.cursor import format_cursor, parse_cursor
from pit_fetch.provider import STAMPS, FieldKind, Record
from pit_fetch.support.bundled import gate
from pit_fetch.times import in_new_york

# A gap repeats the request, so that it can be read by itself; but a long request must not eat up the budget.
MAX_QUERY_CHARS = 240

Clean = Callable[[str], str]
Write = Callable[["PlainEnvelope"], Any]  # text, or the bytes of a binary format


class Provenance(NamedTuple):
    """The question that an envelope answers.

    source, query  the provider's name, and the request in its canonical form
    pit      the PIT (aware); None in open mode
    kinds    the declared kinds of the fields that were requested, by name
    plotted  the declared fields of which a page draws a curve, the preferred one first
    """

    source: str = ""
    query: str = ""
    pit: datetime | None = None
    kinds: Mapping[str, FieldKind] = {}
    plotted: tuple[str, ...] = ()


class PlainEnvelope(dict[str, list[dict[str, Any]]]):
    """The result of one fetch: a dict of ``data`` and ``gaps``, JSON values only.

    ``provenance`` is an attribute alone. Users get a :class:`pit_fetch.Envelope`, which adds conveniences.
    """

    provenance = Provenance()

    def __init__(
        self,
        data: Iterable[dict[str, Any]] = (),
        gaps: Iterable[dict[str, Any]] = (),
        provenance: Provenance | None = None,
    ) -> None:
        super().__init__(data=list(data), gaps=list(gaps))
        if provenance is not None:
            self.provenance = provenance

    @property
    def data(self) -> list[dict[str, Any]]:
        """The items, newest first; each has ``available_at``, ``available_at_source`` and ``id``."""
        return self["data"]

    @property
    def gaps(self) -> list[dict[str, Any]]:
        """What is missing, and why: each has ``type``, ``reason`` and ``query``, some a ``cursor`` to resume from."""
        return self["gaps"]


class EnvelopeOptions(NamedTuple):
    """How records and gaps become an envelope.

    query       the canonical request, which every gap repeats
    clean       redacts the secrets in a text of the program's own
    clean_data  redacts them in a text of the source
    fields      the fields of an item, besides its stamps; empty for all
    pit         the PIT (aware); None in open mode, in which no key is forbidden
    start       where the first record continues, if chunks of it have been delivered
    resumes     whether ``--after`` can continue the answer. If not, no gap may offer it
    """

    query: str = ""
    clean: Clean = str
    clean_data: Clean = str
    fields: tuple[str, ...] = ()
    pit: datetime | None = None
    start: ChunkStart | None = None
    provenance: Provenance | None = None
    resumes: bool = True


class SizedEnvelope(NamedTuple):
    """An envelope within its budget, as it was written, and the number of records in it."""

    envelope: PlainEnvelope
    text: Any
    record_count: int


def build(records: Iterable[Record], gaps: Iterable[Gap], options: EnvelopeOptions) -> PlainEnvelope:
    """Return the envelope of ``records`` and ``gaps``, of any size."""
    items = [_item(record, options) for record in records]
    if options.start is not None and items:
        items[0] = chunk(items[0], options.start, remaining_size(items[0], options.start, STAMPS), STAMPS).item
    return PlainEnvelope(items, _gaps(gaps, options), options.provenance)


def fit_to_budget(
    records: Sequence[Record], gaps: Sequence[Gap], options: EnvelopeOptions, write: Write, max_chars: int = 0
) -> SizedEnvelope:
    """Return the envelope whose text, as ``write`` makes it, has at most ``max_chars`` characters (0: any number).

    It has whole items only, from the first on, then a ``truncated`` gap with the cursor to continue from. If the first
    item alone is too large, it has a chunk of it, and the cursor leads to the rest.
    """
    whole = build(records, gaps, options)
    sized = SizedEnvelope(whole, write(whole), len(records))
    if not max_chars or len(sized.text) <= max_chars:
        return sized
    least, most = 0, len(records) - 1
    while least < most:
        count = (least + most + 1) // 2
        cut = _with_budget_gap(gaps, options, max_chars, format_cursor(records[count - 1]))
        candidate = PlainEnvelope(whole.data[:count], _gaps(cut, options), options.provenance)
        text = write(candidate)
        if len(text) <= max_chars:
            least, sized = count, SizedEnvelope(candidate, text, count)
        else:
            most = count - 1
    return sized if least else _fit_oversized(records, gaps, options, write, max_chars)


def can_continue(record: Record, options: EnvelopeOptions) -> bool:
    """Return whether ``record`` continues where ``options`` start: its text has not changed since the last chunk."""
    return options.start is None or is_resumable(_item(record, options), options.start, STAMPS)


def judge(json_text: str, pit: datetime | None, quoted: bool = True) -> str | None:
    """Return the gate's code for a refused envelope, else None. Without ``quoted``, it reads no JSON inside texts."""
    violation = None if pit is None else gate.check(json_text, pit, quoted)
    return None if violation is None else violation.code


def is_quoting(record: Record, view: EnvelopeOptions) -> bool:
    """Return whether the gate refuses an item only for a text that is JSON: anybody can publish such a text.

    Any other reason, a stamp or a key of the item's own, is a fault of the source's code.
    """
    return is_refused_for_texts(_item(record, view), view)


def is_refused_for_texts(item: dict[str, Any], view: EnvelopeOptions) -> bool:
    """Return the same for an item as it is shown, which may be a part of it."""
    text = json.dumps({"data": [item], "gaps": []})
    return judge(text, view.pit) is not None and judge(text, view.pit, quoted=False) is None


def _item(record: Record, options: EnvelopeOptions) -> dict[str, Any]:
    item: dict[str, Any] = {
        "available_at": None if record.available_at is None else in_new_york(record.available_at),
        "available_at_source": record.available_at_source,
    }
    if record.revised_at is not None:
        item["revised_at"] = in_new_york(record.revised_at)
    if record.first_seen_at is not None:
        item["first_seen_at"] = in_new_york(record.first_seen_at)
    item["id"] = options.clean_data(record.id)
    wanted = options.fields or record.payload
    for key, value in record.payload.items():
        name = options.clean_data(key)
        # A payload cannot replace a stamp.
        if key in wanted and name not in item and not _is_forbidden(key, options):
            item[name] = _clean(value, options)
    return item


def _gaps(gaps: Iterable[Gap], options: EnvelopeOptions) -> list[dict[str, Any]]:
    query = options.clean(options.query)
    if len(query) > MAX_QUERY_CHARS:
        query = query[: MAX_QUERY_CHARS - 1] + "…"
    return [
        {"type": gap.type.value, "reason": options.clean(gap.reason), "query": query, **_resume(gap, options)}
        for gap in gaps
    ]


def _resume(gap: Gap, options: EnvelopeOptions) -> dict[str, Any]:
    """Return the cursor of a ``truncated`` gap, for programs. The reason contains it for people."""
    text = gap.params.get("cursor")
    return {} if text is None or parse_cursor(text) is None else {"cursor": options.clean(text)}


def _clean(value: Any, options: EnvelopeOptions) -> Any:
    """Return ``value`` with secrets redacted and, in PIT mode, without forbidden keys, at any depth."""
    if isinstance(value, str):
        return options.clean_data(value)
    if isinstance(value, (list, tuple)):
        return [_clean(part, options) for part in value]
    if isinstance(value, dict):
        return {
            options.clean_data(key): _clean(part, options)
            for key, part in value.items()
            if not _is_forbidden(key, options)
        }
    return value


def _is_forbidden(key: str, options: EnvelopeOptions) -> bool:
    return options.pit is not None and key.lower() in gate.FORBIDDEN_KEYS


def _with_budget_gap(
    gaps: Sequence[Gap], options: EnvelopeOptions, max_chars: int, cursor: str, code: Reason = Code.MAX_CHARS
) -> list[Gap]:
    resumable, for_good = (
        gap(code, max_chars=max_chars, cursor=cursor),
        gap(Code.MAX_CHARS_FOR_GOOD, max_chars=max_chars),
    )
    # The budget cuts earlier than --limit and --max-pages do, so its cursor replaces theirs.
    return [*(gap for gap in gaps if not gap.code.is_cap), resumable if options.resumes else for_good]


def _fit_oversized(
    records: Sequence[Record], gaps: Sequence[Gap], options: EnvelopeOptions, write: Write, max_chars: int
) -> SizedEnvelope:
    """Return the first item alone, with as much of its texts as fits; no item if nothing of it does."""
    item: dict[str, Any] = _item(records[0], options) if records else {}
    # What is not a text cannot be cut. It is left out if it has to be, the largest first.
    others = [name for name, value in item.items() if name not in STAMPS and not isinstance(value, str)]
    others.sort(key=lambda name: (-len(json.dumps(item[name])), name))
    for count in range(len(others) + 1 if records else 0):
        shortened = {**item, **dict.fromkeys(others[:count])}
        sized = _longest_chunk(records, shortened, others[:count], gaps, options, write, max_chars)
        if sized is not None:
            return sized
    cut = _with_budget_gap(gaps, options, max_chars, "-")
    empty = PlainEnvelope([], _gaps(cut, options), options.provenance)
    return SizedEnvelope(empty, write(empty), 0)


def _longest_chunk(
    records: Sequence[Record],
    item: dict[str, Any],
    left_out: Sequence[str],
    gaps: Sequence[Gap],
    options: EnvelopeOptions,
    write: Write,
    max_chars: int,
) -> SizedEnvelope | None:
    """Return the longest chunk of ``item`` that fits; None if not a single character does."""
    notes = [gap(Code.FIELD_LEFT_OUT, max_chars=max_chars, fields=", ".join(left_out))] if left_out else []
    total = remaining_size(item, options.start, STAMPS)
    least, most, longest = min(1, total), total, None
    while least <= most:
        room = (least + most + 1) // 2
        candidate = chunk(item, options.start, room, STAMPS)
        cut = list(gaps)
        if candidate.next is not None:
            resume = format_cursor(records[0], candidate.next)
            cut = _with_budget_gap(gaps, options, max_chars, resume, Code.CONTINUED)
        elif len(records) > 1:
            cut = _with_budget_gap(gaps, options, max_chars, format_cursor(records[0]))
        envelope = PlainEnvelope([candidate.item], _gaps([*cut, *notes], options), options.provenance)
        text = write(envelope)
        if len(text) <= max_chars:
            longest, least = SizedEnvelope(envelope, text, 1), room + 1
        else:
            most = room - 1
    return longest
