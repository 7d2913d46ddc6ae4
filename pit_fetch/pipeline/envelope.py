"""The envelope: public items and gaps. This is the only module that knows its shape. Pure.

{"data": [{"available_at": …, "available_at_source": …, "id": …, …}], "gaps": [{"type": …, "reason": …, "query": …}]}

An item that is served on a claim, and the gap about claims, also have ``"evidence": "claimed"``. A ``truncated`` gap
that can be resumed has a ``cursor``, and one about what was never captured ``"captured": false``.

>>> from datetime import UTC, datetime
>>> instant = datetime(2024, 2, 15, 21, tzinfo=UTC)
>>> record = Record("a", instant, {"form": "8-K", "text": "x"}, available_at_source="feed")
>>> build([record], [], EnvelopeOptions(fields=("form",))).data
[{'available_at': '2024-02-15T16:00:00-05:00', 'available_at_source': 'feed', 'id': 'a', 'form': '8-K'}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.gaps import FAILURES, Code, Gap, GapType
from pit_fetch.pipeline.chunks import ChunkStart
from pit_fetch.pipeline.claims import CLAIMED, PROVED
from pit_fetch.pipeline.cursor import parse_cursor
from pit_fetch.provider import FieldKind, FieldRole, Record
from pit_fetch.support.bundled import gate
from pit_fetch.times import in_new_york

# A gap repeats the request, so that it can be read by itself; but a long request must not eat up the budget.
MAX_QUERY_CHARS = 240
# What marks an item that is served on a claim. No payload can set the mark, or take it away.
EVIDENCE = "evidence"

Clean = Callable[[str], str]


class Provenance(NamedTuple):
    """The question that an envelope answers.

    source, query  the provider's name, and the request in its canonical form
    pit      the PIT (aware); None in open mode
    kinds    the declared kinds of the fields that were requested, by name
    plotted  the declared fields of which a page draws a curve, the preferred one first
    roles    what other declared fields mean for that drawing, by name
    period   the declared field with the date that an item is about; "" if there is none
    grade    the grade of evidence that was asked for, or granted
    """

    source: str = ""
    query: str = ""
    pit: datetime | None = None
    kinds: Mapping[str, FieldKind] = {}
    plotted: tuple[str, ...] = ()
    roles: Mapping[str, FieldRole] = {}
    period: str = ""
    grade: str = PROVED


class PlainEnvelope(dict[str, list[dict[str, Any]]]):
    """The result of one fetch: a dict of ``data`` and ``gaps``, JSON values only.

    ``provenance`` is an attribute alone. So is ``limited``: the reason of the gap that says that a limit of the call
    ended the answer; "" if none did. Users get a :class:`pit_fetch.Envelope`, which adds conveniences.
    """

    provenance = Provenance()
    limited = ""

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

    @property
    def is_complete(self) -> bool:
        """Return whether nothing was cut, failed or never captured: the items are all that was public and asked for."""
        return not any(map(is_lack, self.gaps))


def is_lack(gap: Mapping[str, Any]) -> bool:
    """Return whether a gap says that something was cut, failed or never captured."""
    return gap.get("type") in (GapType.TRUNCATED, *FAILURES) or gap.get("captured") is False


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


class Entry(NamedTuple):
    """A record, and the item that shows it."""

    record: Record
    item: dict[str, Any]


def entries(records: Iterable[Record], options: EnvelopeOptions) -> list[Entry]:
    """Return the records with their items."""
    return [Entry(record, _item(record, options)) for record in records]


def build(records: Iterable[Record], gaps: Iterable[Gap], options: EnvelopeOptions) -> PlainEnvelope:
    """Return the envelope of ``records`` and ``gaps``, of any size."""
    return envelope_of((_item(record, options) for record in records), gaps, options)


def envelope_of(items: Iterable[dict[str, Any]], gaps: Iterable[Gap], options: EnvelopeOptions) -> PlainEnvelope:
    """Return the envelope of items that are made already."""
    return PlainEnvelope(items, _gaps(gaps, options), options.provenance)


def judge(json_text: str, pit: datetime | None) -> str | None:
    """Return the gate's code for a refused envelope, else None."""
    violation = None if pit is None else gate.check(json_text, pit)
    return None if violation is None else violation.code


def is_quoting(content: dict[str, Any] | str, pit: datetime | None) -> bool:
    """Return whether the gate refuses an item, or a text, for a text that is JSON: anybody can publish such a text.

    The gate refuses an envelope for any other reason only if the source's code is at fault.
    """
    try:
        if pit is not None:
            gate.check_texts(content, pit)
    except gate.Violation:
        return True
    return False


def _item(record: Record, options: EnvelopeOptions) -> dict[str, Any]:
    available = None if record.available_at is None else in_new_york(record.available_at)
    item: dict[str, Any] = {
        "available_at": available,
        "available_at_source": record.available_at_source,
    }
    if record.revised_at is not None:
        is_same = record.revised_at == record.available_at
        item["revised_at"] = available if is_same else in_new_york(record.revised_at)
    if record.first_seen_at is not None:
        item["first_seen_at"] = in_new_york(record.first_seen_at)
    if record.is_claimed:
        item[EVIDENCE] = CLAIMED
    item["id"] = options.clean_data(record.id)
    wanted = options.fields or record.payload
    for key, value in record.payload.items():
        name = options.clean_data(key)
        # A payload cannot replace a stamp.
        if key in wanted and name not in item and name != EVIDENCE and not _is_forbidden(key, options):
            item[name] = _clean(value, options)
    return item


def _gaps(gaps: Iterable[Gap], options: EnvelopeOptions) -> list[dict[str, Any]]:
    query = options.clean(options.query)
    if len(query) > MAX_QUERY_CHARS:
        query = query[: MAX_QUERY_CHARS - 1] + "…"
    return [
        {"type": gap.type.value, "reason": options.clean(gap.reason), "query": query, **_further(gap, options)}
        for gap in gaps
    ]


def _further(gap: Gap, options: EnvelopeOptions) -> dict[str, Any]:
    """Return what the reason says, for programs: of claims, of what was never captured, or where an answer was cut."""
    if gap.code is Code.CLAIMED:
        return {EVIDENCE: CLAIMED}
    if gap.code.is_uncaptured:
        return {"captured": False}
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
