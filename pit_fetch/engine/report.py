"""Writes up what a fetch produced: gaps in order, the envelope cut to its budget and judged by the gate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pit_fetch.errors import ExitStatus
from pit_fetch.formats import DATA_ONLY, RenderOptions, Text, renderer
from pit_fetch.formats import json as as_json
from pit_fetch.gaps import Code, Gap, GapType, gap
from pit_fetch.pipeline import envelope
from pit_fetch.pipeline.chunks import ChunkStart
from pit_fetch.pipeline.cursor import format_cursor, position
from pit_fetch.pipeline.envelope import PlainEnvelope
from pit_fetch.pipeline.select import Selection, WithheldCounts
from pit_fetch.provider import STAMPS, Record
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import candidate_operations
from pit_fetch.support.redaction import MIN_LENGTH_IN_DATA, redactor
from pit_fetch.support.suggest import shown
from pit_fetch.times import format_for_people

if TYPE_CHECKING:
    from pit_fetch.archive.session import ArchiveSession

# The exit status under --fail: the first of these types that an answer has.
_STATUS_OF_TYPE = {
    GapType.CONFIG: ExitStatus.CONFIG,
    GapType.INPUT_ERROR: ExitStatus.INPUT,
    GapType.UPSTREAM_ERROR: ExitStatus.UPSTREAM,
}


class CollectedRecords(NamedTuple):
    """The product of a fetch, before it is written up.

    selection   the public records that were kept, the gaps met on the way, and which cap ended it
    withheld    which records were withheld, for the audit file
    secrets     values that must not get out
    requests    number of HTTP requests that were made
    when_empty  what to try if nothing was found, or ""
    opened      a source was asked, so the constant gaps of PIT mode belong in the envelope
    failure     where the provider crashed, or ""
    archive     records the answer
    resumes     ``--after`` continues the answer
    """

    selection: Selection
    withheld: WithheldCounts
    secrets: tuple[str, ...] = ()
    requests: int = 0
    when_empty: str = ""
    opened: bool = False
    failure: str = ""
    archive: ArchiveSession | None = None
    resumes: bool = True

    def with_gaps(self, before: Iterable[Gap] = (), after: Iterable[Gap] = ()) -> CollectedRecords:
        """Return a copy with gaps around its own."""
        gaps = (*before, *self.selection.gaps, *after)
        return self._replace(selection=self.selection._replace(gaps=gaps))


class FetchResult(NamedTuple):
    """What leaves the process, and the records and gaps behind it.

    text       the envelope in the requested format: text, or bytes for a binary one
    complaint  why the exit status is not 0, for stderr
    notes      the gaps, for stderr, if the format has no place for them
    kept, public  the records that are shown; and with those that are left out for what their texts quote
    """

    envelope: PlainEnvelope
    text: Text
    status: ExitStatus
    complaint: str = ""
    notes: tuple[str, ...] = ()
    kept: tuple[Record, ...] = ()
    gaps: tuple[Gap, ...] = ()
    public: tuple[Record, ...] = ()


def report(request: FetchRequest, collected: CollectedRecords) -> FetchResult:
    """What is printed of ``collected``. The gate judges it here, whatever its format.

    Raises TypeError, ValueError or RecursionError for a payload that JSON cannot express.
    """
    view = _view(request, collected.secrets)
    view = view._replace(start=_start(request, collected.selection.records), resumes=collected.resumes)
    gaps = _gaps(request, collected)
    if view.start is not None and not envelope.can_continue(collected.selection.records[0], view):
        gaps.append(gap("changed_since"))
    draft = _judged(request, collected.selection.records, gaps, view)
    if draft.finding is not None:
        draft = _without_quotations(request, draft)
    status = ExitStatus.BUG if collected.failure or draft.finding else ExitStatus.OK
    if draft.finding is not None:
        refused = gap("gate_refused", finding=draft.finding)
        draft = _judged(request, (), [refused], draft.view)._replace(finding=draft.finding)
    fitted, gaps = draft.fitted, draft.gaps
    if status is ExitStatus.OK and request.fail:
        status = next((_STATUS_OF_TYPE[kind] for kind in _STATUS_OF_TYPE if any(g.type == kind for g in gaps)), status)
    complaint = view.clean(_complaint(gaps, status))
    notes = tuple(f"{one['type']}: {one['reason']}" for one in fitted.envelope.gaps if request.format in DATA_ONLY)
    kept = tuple(draft.records[: fitted.record_count])
    public = collected.selection.records if draft.finding is None and len(kept) == len(draft.records) else kept
    return FetchResult(fitted.envelope, fitted.text, status, complaint, notes, kept, tuple(gaps), tuple(public))


class _Draft(NamedTuple):
    """An answer before it is decided on. ``finding``: why the gate refuses it, or None."""

    records: Sequence[Record]
    gaps: list[Gap]
    view: envelope.EnvelopeOptions
    fitted: envelope.SizedEnvelope
    finding: str | None


def _judged(
    request: FetchRequest, records: Sequence[Record], gaps: list[Gap], view: envelope.EnvelopeOptions
) -> _Draft:
    fitted = _fit(request, records, gaps, view)
    return _Draft(records, gaps, view, fitted, envelope.judge(as_json.render(fitted.envelope), request.pit))


def _fit(
    request: FetchRequest, records: Sequence[Record], gaps: Sequence[Gap], view: envelope.EnvelopeOptions
) -> envelope.SizedEnvelope:
    render, layout = renderer(request.format), RenderOptions(request.pretty, request.width)
    return envelope.fit_to_budget(records, gaps, view, lambda made: render(made, layout), request.max_chars)


def _without_quotations(request: FetchRequest, draft: _Draft) -> _Draft:
    """Remove from a refused envelope the public items whose text made the gate refuse it.

    The gaps need no such care: a reason or a query has words of the program's around whatever it repeats of the
    request, so that it is never a JSON document as a whole.
    """
    asked = draft.gaps
    while draft.finding is not None:
        left, view = _quoting_nothing(draft), draft.view
        if len(left) == len(draft.records):
            break
        if left[:1] != draft.records[:1]:
            view = view._replace(start=None)
        gaps = [one for one in asked if view.start is not None or one.code is not Code.CHANGED_SINCE]
        gaps += [gap("quotes_late_stamp"), *([] if left or _has_failed(asked) else [gap("nothing")])]
        draft = _judged(request, left, gaps, view)
    return draft


def _quoting_nothing(draft: _Draft) -> Sequence[Record]:
    """Return the records without those that the gate refuses for their texts, whole or in the part that is shown.

    A part of a long text can be a JSON document where the whole is none.
    """
    left = [one for one in draft.records if not envelope.is_quoting(one, draft.view)]
    if len(left) < len(draft.records):
        return left
    items = draft.fitted.envelope.data
    refused = {place for place, item in enumerate(items) if envelope.is_refused_for_texts(item, draft.view)}
    return [one for place, one in enumerate(draft.records) if place not in refused]


def _has_failed(gaps: Sequence[Gap]) -> bool:
    return any(one.type in _STATUS_OF_TYPE and not one.code.costs_nothing for one in gaps)


def _start(request: FetchRequest, kept: Sequence[Record]) -> ChunkStart | None:
    """Where the first record goes on, if it is the one that the cursor leads into."""
    after = request.after
    return after.within if after is not None and kept and position(kept[0]) == after.position else None


def unjudged(
    request: FetchRequest, records: Sequence[Record], gaps: Sequence[Gap], secrets: tuple[str, ...], status: ExitStatus
) -> FetchResult:
    """What an operator is shown of ``records``, public or not. The gate would refuse it: never for an agent."""
    view = _view(request, secrets)._replace(resumes=False)
    fitted = _fit(request, records, gaps, view)
    notes = tuple(f"{one['type']}: {one['reason']}" for one in fitted.envelope.gaps if request.format in DATA_ONLY)
    complaint = view.clean(_complaint(list(gaps), status))
    return FetchResult(
        fitted.envelope, fitted.text, status, complaint, notes, tuple(records[: fitted.record_count]), tuple(gaps)
    )


def _view(request: FetchRequest, secrets: tuple[str, ...]) -> envelope.EnvelopeOptions:
    return envelope.EnvelopeOptions(
        query=request.canonical,
        clean=redactor(secrets),
        clean_data=redactor(secrets, MIN_LENGTH_IN_DATA),
        fields=request.fields,
        pit=request.pit,
        provenance=_provenance(request),
    )


def _provenance(request: FetchRequest) -> envelope.Provenance:
    fields = [
        field
        for operation in candidate_operations(request.provider, request.options)
        for field in operation.fields
        if not request.fields or field.name in request.fields
    ]
    kinds = {field.name: field.kind for field in fields}
    plotted = tuple(field.name for field in fields if field.is_plotted)
    return envelope.Provenance(request.provider.name, request.canonical, request.pit, kinds, plotted)


def _unknown_fields(request: FetchRequest, kept: Sequence[Record]) -> list[Gap]:
    """Says which of the requested fields no item has. Where the operation declares its fields, they are refused."""
    known = dict.fromkeys(name for record in kept for name in record.payload)
    unknown = [name for name in request.fields if name not in known and name not in STAMPS]
    declared = any(one.fields for one in candidate_operations(request.provider, request.options))
    if declared or not kept or not unknown:
        return []
    return [gap("field_unknown", fields=", ".join(map(shown, unknown)), known=", ".join(known))]


def _complaint(gaps: list[Gap], status: ExitStatus) -> str:
    if status is ExitStatus.OK:
        return ""
    return next(one.reason for one in gaps if status is ExitStatus.BUG or _STATUS_OF_TYPE.get(one.type) is status)


def _gaps(request: FetchRequest, collected: CollectedRecords) -> list[Gap]:
    """The gaps in the envelope's order: the constant ones of PIT mode, the provider's, and how the fetch ended."""
    selection = collected.selection
    gaps = list(selection.gaps)
    if collected.failure or not collected.opened:
        return gaps
    if request.pit is not None:
        gaps = [gap("late", pit=format_for_people(request.pit)), gap("undated"), *gaps]
    else:
        undated = sum(record.available_at is None for record in selection.records)
        gaps += [gap("undated_served", count=undated)] if undated else []
        gaps += [gap("unusable", count=collected.withheld.unusable)] if collected.withheld.unusable else []
    gaps += _unknown_fields(request, selection.records)
    if selection.stopped == "limit":
        gaps.append(gap("limit", limit=request.limit, cursor=format_cursor(selection.resume or selection.records[-1])))
    elif selection.stopped == "max_pages" and selection.last is not None:
        resume = format_cursor(selection.last)
        gaps.append(gap("max_pages", public=selection.scanned, max_pages=request.max_pages, cursor=resume))
    if not selection.records and not _has_failed(gaps) and not any(one.type == "no_data" for one in gaps):
        hint = collected.when_empty
        gaps.append(gap("nothing_with_hint", hint=hint) if hint else gap("nothing"))
    return gaps
