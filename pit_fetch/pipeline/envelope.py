"""The envelope: public items and gaps. This is the only module that knows its shape. Pure.

{"data": [{"available_at": …, "available_at_source": …, "id": …, …}], "gaps": [{"type": …, "reason": …, "query": …}]}

A ``truncated`` gap that can be resumed also has a ``cursor``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from pit_fetch.gaps import FAILURES, Code, Gap, gap
from pit_fetch.pipeline.chunks import ChunkStart, chunk, is_resumable, remaining_size
from pit_fetch.pipeline.cursor import format_cursor, parse_cursor
from pit_fetch.provider import STAMPS, FieldKind, Record
from pit_fetch.support.bundled import gate
from pit_fetch.times import in_new_york

if TYPE_CHECKING:
    import pandas
    import pyarrow

# A gap repeats the request, so that it can be read by itself; but a long request must not eat up the budget.
MAX_QUERY_CHARS = 240


Clean = Callable[[str], str]
Write = Callable[["Envelope"], Any]  # text, or the bytes of a binary format


class Provenance(NamedTuple):
    """What an envelope answers.

    source, query  the provider's name, and the request in its canonical form
    pit     the PIT; None in open mode
    kinds   the declared kinds of the fields that were asked for, by name
    call    asks the same question, resumed at a cursor; None if the envelope does not come from a call in Python
    """

    source: str = ""
    query: str = ""
    pit: datetime | None = None
    kinds: Mapping[str, FieldKind] = {}
    call: FetchCall | None = None


class FetchCall(NamedTuple):
    """A call of :func:`pit_fetch.fetch`, as data, so that an envelope can be pickled."""

    source: str
    options: Mapping[str, Any]

    def ask(self, after: str) -> Envelope:
        from pit_fetch import fetch

        return fetch(self.source, **{**self.options, "after": after})


class Envelope(dict[str, list[dict[str, Any]]]):
    """The result of one fetch. It can be used as a plain dict of ``data`` and ``gaps``; JSON values only.

    ``provenance`` says what it answers; it is not part of the dict.
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

    @property
    def cursor(self) -> str | None:
        """Where the next page begins; None if there is none, or if it cannot be asked for."""
        return next((one["cursor"] for one in self.gaps if "cursor" in one), None)

    def raise_for_gaps(self) -> Envelope:
        """This envelope, if the fetch succeeded. Raises GapError, whose text names the fix, if part of it failed."""
        failed = [one for one in self.gaps if one.get("type") in FAILURES]
        if failed:
            from pit_fetch.errors import GapError

            raise GapError(self, [one["reason"] for one in failed])
        return self

    def next(self) -> Envelope | None:
        """The page after this one, by the same request; None if this is the last.

        Raises as :func:`pit_fetch.fetch` does.
        """
        again, cursor = self.provenance.call, self.cursor
        return None if again is None or cursor is None else again.ask(cursor)

    def pages(self) -> Iterator[Envelope]:
        """This envelope and the pages after it, each fetched when it is wanted."""
        page: Envelope | None = self
        while page is not None:
            yield page
            page = page.next()

    def to_df(self, index: str | Sequence[str] | None = None) -> pandas.DataFrame:
        """The items as a pandas frame, typed by the source's declared fields; see :mod:`pit_fetch.formats.frames`.

        ``index`` names the column, or the columns, that become the index. ``attrs["gaps"]`` holds the gaps. Raises
        ConfigError if pandas is not installed.
        """
        from pit_fetch.formats.columns import columns
        from pit_fetch.formats.frames import frame

        made = frame(columns(self.data, self.provenance.kinds), index)
        made.attrs["gaps"] = self.gaps
        return made

    def to_arrow(self) -> pyarrow.Table:
        """The items as an Arrow table, with the gaps in its schema's metadata. Raises ConfigError without pyarrow."""
        from pit_fetch.formats.columns import columns
        from pit_fetch.formats.frames import table

        pit = None if self.provenance.pit is None else in_new_york(self.provenance.pit)
        about = {"source": self.provenance.source, "pit": pit, "query": self.provenance.query, "gaps": self.gaps}
        return table(columns(self.data, self.provenance.kinds), about)

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from pit_fetch.formats.html import fragment

        return fragment(self)


class EnvelopeOptions(NamedTuple):
    """How records and gaps are shown. ``clean`` redacts a string; ``query`` is the canonical request.

    ``start`` is where the first record goes on, if a part of it was delivered before. ``resumes`` is whether
    ``--after`` continues the answer; where it does not, no gap may say so.
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
    """An envelope within its budget, its text, and how many of the records are in it."""

    envelope: Envelope
    text: Any
    record_count: int


def build(records: Iterable[Record], gaps: Iterable[Gap], view: EnvelopeOptions) -> Envelope:
    """The envelope of ``records`` and ``gaps``, as ``view`` shows them."""
    items = [_item(record, view) for record in records]
    if view.start is not None and items:
        items[0] = chunk(items[0], view.start, remaining_size(items[0], view.start, STAMPS), STAMPS).item
    return Envelope(items, _shown(gaps, view), view.provenance)


def fit_to_budget(
    records: Sequence[Record], gaps: Sequence[Gap], view: EnvelopeOptions, write: Write, max_chars: int = 0
) -> SizedEnvelope:
    """The envelope and its text of at most ``max_chars`` characters (0: any length).

    Within a budget, whole items only, from the first on, then a ``truncated`` gap with the cursor to
    continue from. If the first item alone is too large, a part of it is shown, and the cursor leads to the rest.
    """
    whole = build(records, gaps, view)
    fitted = SizedEnvelope(whole, write(whole), len(records))
    if not max_chars or len(fitted.text) <= max_chars:
        return fitted
    least, most = 0, len(records) - 1
    while least < most:
        count = (least + most + 1) // 2
        cut = _replace_truncated(gaps, _ended(view, "max_chars", max_chars, format_cursor(records[count - 1])))
        tried = Envelope(whole.data[:count], _shown(cut, view), view.provenance)
        text = write(tried)
        if len(text) <= max_chars:
            least, fitted = count, SizedEnvelope(tried, text, count)
        else:
            most = count - 1
    return fitted if least else _fit_oversized(records, gaps, view, write, max_chars)


def can_continue(record: Record, view: EnvelopeOptions) -> bool:
    """Whether ``record`` can go on where the view starts: its texts are those that a part was delivered of."""
    return view.start is None or is_resumable(_item(record, view), view.start, STAMPS)


def judge(json_text: str, pit: datetime | None) -> str | None:
    """The gate's code if it refuses an envelope's JSON in PIT mode; None if the envelope may go out."""
    finding = None if pit is None else gate.check(json_text, pit)
    return None if finding is None else finding.code


def is_quoting(record: Record, view: EnvelopeOptions) -> bool:
    """Whether the gate refuses an item for what its texts quote, and for nothing else: anybody can publish such texts.

    What it refuses an item for besides, a stamp or a key of its own, is a fault of the source's code.
    """
    return is_refused_for_texts(_item(record, view), view)


def is_refused_for_texts(item: dict[str, Any], view: EnvelopeOptions) -> bool:
    """The same of an item as it is shown, which may be a part of it."""
    bare = {name: value if name in _OWN else _without_texts(value) for name, value in item.items()}
    return _is_refused(item, view) and not _is_refused(bare, view)


_OWN = frozenset(STAMPS) - {"id"}


def _without_texts(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_without_texts(part) for part in value]
    if isinstance(value, dict):
        return {key: _without_texts(part) for key, part in value.items()}
    return "" if isinstance(value, str) else value


def _is_refused(item: dict[str, Any], view: EnvelopeOptions) -> bool:
    return judge(json.dumps({"data": [item], "gaps": []}), view.pit) is not None


def _item(record: Record, view: EnvelopeOptions) -> dict[str, Any]:
    item: dict[str, Any] = {
        "available_at": None if record.available_at is None else in_new_york(record.available_at),
        "available_at_source": record.available_at_source,
    }
    if record.revised_at is not None:
        item["revised_at"] = in_new_york(record.revised_at)
    if record.first_seen_at is not None:
        item["first_seen_at"] = in_new_york(record.first_seen_at)
    item["id"] = view.clean_data(record.id)
    wanted = view.fields or record.payload
    for key, value in record.payload.items():
        name = view.clean_data(key)
        if key in wanted and name not in item and not _forbidden(key, view):
            item[name] = _clean(value, view)
    return item


def _shown(gaps: Iterable[Gap], view: EnvelopeOptions) -> list[dict[str, Any]]:
    query = view.clean(view.query)
    if len(query) > MAX_QUERY_CHARS:
        query = query[: MAX_QUERY_CHARS - 1] + "…"
    return [
        {"type": one.type.value, "reason": view.clean(one.reason), "query": query, **_resume(one, view)} for one in gaps
    ]


def _resume(one: Gap, view: EnvelopeOptions) -> dict[str, Any]:
    """The cursor of a ``truncated`` gap, for programs; the reason says it to people."""
    text = one.params.get("cursor")
    return {} if text is None or parse_cursor(text) is None else {"cursor": view.clean(text)}


def _clean(value: Any, view: EnvelopeOptions) -> Any:
    """``value`` with secrets redacted and, in PIT mode, forbidden keys left out, at any depth."""
    if isinstance(value, str):
        return view.clean_data(value)
    if isinstance(value, (list, tuple)):
        return [_clean(part, view) for part in value]
    if isinstance(value, dict):
        return {view.clean_data(key): _clean(part, view) for key, part in value.items() if not _forbidden(key, view)}
    return value


def _forbidden(key: str, view: EnvelopeOptions) -> bool:
    return view.pit is not None and key.lower() in gate.FORBIDDEN_KEYS


def _ended(view: EnvelopeOptions, code: Code | str, max_chars: int, place: str) -> Gap:
    """That the budget ended the answer, and how to get the rest of it."""
    if not view.resumes:
        return gap("max_chars_for_good", max_chars=max_chars)
    return gap(code, max_chars=max_chars, cursor=place)


def _replace_truncated(gaps: Sequence[Gap], instead: Gap) -> list[Gap]:
    """The budget cuts earlier than --limit and --max-pages do, so its cursor replaces theirs."""
    return [*(one for one in gaps if not one.code.about.is_cap), instead]


def _fit_oversized(
    records: Sequence[Record], gaps: Sequence[Gap], view: EnvelopeOptions, write: Write, max_chars: int
) -> SizedEnvelope:
    """The first item alone: as much of its texts as fits. What is not a text cannot be cut, and is left out at need."""
    item: dict[str, Any] = _item(records[0], view) if records else {}
    others = [name for name, value in item.items() if name not in STAMPS and not isinstance(value, str)]
    others.sort(key=lambda name: (-len(json.dumps(item[name])), name))
    for count in range(len(others) + 1 if records else 0):
        shown = {**item, **dict.fromkeys(others[:count])}
        fitted = _longest_part(records, shown, others[:count], gaps, view, write, max_chars)
        if fitted is not None:
            return fitted
    last = _ended(view, "max_chars", max_chars, "-")
    fitted = SizedEnvelope(Envelope([], _shown(_replace_truncated(gaps, last), view), view.provenance), "", 0)
    return fitted._replace(text=write(fitted.envelope))


def _longest_part(
    records: Sequence[Record],
    item: dict[str, Any],
    left_out: Sequence[str],
    gaps: Sequence[Gap],
    view: EnvelopeOptions,
    write: Write,
    max_chars: int,
) -> SizedEnvelope | None:
    """The longest part of ``item`` that fits; None if not a single character does."""
    said = [gap("field_left_out", max_chars=max_chars, fields=", ".join(left_out))] if left_out else []
    total = remaining_size(item, view.start, STAMPS)
    least, most, longest = min(1, total), total, None
    while least <= most:
        room = (least + most + 1) // 2
        shown = chunk(item, view.start, room, STAMPS)
        if shown.next is not None:
            more = [_ended(view, "continued", max_chars, format_cursor(records[0], shown.next))]
        else:
            more = [_ended(view, "max_chars", max_chars, format_cursor(records[0]))] if len(records) > 1 else []
        cut = [*(_replace_truncated(gaps, more[0]) if more else gaps), *said]
        envelope = Envelope([shown.item], _shown(cut, view), view.provenance)
        text = write(envelope)
        if len(text) <= max_chars:
            longest, least = SizedEnvelope(envelope, text, 1), room + 1
        else:
            most = room - 1
    return longest
