"""The report of a fetch: gaps in order, and the envelope, cut to its budget and judged by the gate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pit_fetch.errors import ExitStatus
from pit_fetch.formats import DATA_ONLY, RenderOptions, Text, renderer
from pit_fetch.formats import json as as_json
from pit_fetch.gaps import Code, Gap, GapType, gap
from pit_fetch.pipeline import envelope
from pit_fetch.pipeline.budget import can_continue, fit_to_budget
from pit_fetch.pipeline.chunks import ChunkStart
from pit_fetch.pipeline.claims import CLAIMED
from pit_fetch.pipeline.cursor import format_cursor, position
from pit_fetch.pipeline.envelope import Entry, PlainEnvelope
from pit_fetch.pipeline.select import Selection, Withheld
from pit_fetch.provider import ENVELOPE_FIELDS, Record
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import candidate_operations
from pit_fetch.support.redaction import SHORTEST_SECRET, redactor
from pit_fetch.times import format_for_people

if TYPE_CHECKING:
    from pit_fetch.archive.session import ArchiveSession


from pit_fetch.provider import Provider
from pit_fetch.support.misuse import Misuse

# What every answer with a PIT says first, and what it says of an operation whose claims are accepted.
_WITHHELD = Code.LATE, Code.UNDATED
_WITHHELD_UNLESS_CLAIMED = Code.LATE_UNLESS_CLAIMED, Code.UNDATED_UNLESS_CLAIMED

# The exit status under --fail: the first of these types that an answer has.
_STATUS_OF_TYPE = {
    GapType.CONFIG: ExitStatus.CONFIG,
    GapType.INPUT_ERROR: ExitStatus.INPUT,
    GapType.UPSTREAM_ERROR: ExitStatus.UPSTREAM,
}


class CollectedRecords(NamedTuple):
    """The product of a fetch, before it is written up.

    selection   the public records that were selected, the gaps met on the way, and the cap that ended it
    withheld    which records were withheld, for the audit file
    secrets     values that must not get out
    requests    number of HTTP requests that were made
    when_empty  the advice if there is no record, or ""
    opened      a source was asked, so the constant gaps of PIT mode belong in the envelope
    failure     where the provider crashed, or ""
    archive     records the answer
    resumes     ``--after`` continues the answer
    """

    selection: Selection
    withheld: Withheld
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
    """An answer as it leaves the process, and the records and gaps behind it.

    text       the envelope in the requested format: text, or bytes for a binary one
    complaint  why the exit status is not 0, for stderr
    notes      the gaps, for stderr, if the format has no place for them
    kept       the records that are shown
    public     with them, those that are left out because of a quotation
    """

    envelope: PlainEnvelope
    text: Text
    status: ExitStatus = ExitStatus.OK
    complaint: str = ""
    notes: tuple[str, ...] = ()
    kept: tuple[Record, ...] = ()
    gaps: tuple[Gap, ...] = ()
    public: tuple[Record, ...] = ()

    @property
    def is_failure(self) -> bool:
        """Return whether there is nothing but a failure: the answer must not take the place of a good one."""
        return not self.envelope.data and any(gap.is_failure and not gap.code.costs_nothing for gap in self.gaps)


def report(request: FetchRequest, collected: CollectedRecords) -> FetchResult:
    """Return the answer of ``collected`` as it is printed. The gate judges it here, whatever its format.

    Raise TypeError, ValueError or RecursionError for a payload that JSON cannot express.
    """
    options = envelope_options(request, collected.secrets, resumes=collected.resumes)
    every = envelope.entries(collected.selection.records, options)
    # Left out before anything is cut, so that it does not depend on what else fits into the answer.
    shown = [entry for entry in every if not envelope.is_quoting(entry.item, request.pit)]
    gaps = answer_gaps(request, collected, [entry.record for entry in shown])
    options = options._replace(start=_start(request, shown))
    if options.start is not None and not can_continue(shown[0].item, options):
        options = options._replace(start=None)
        gaps.append(gap(Code.CHANGED_SINCE))
    if len(shown) < len(every):
        gaps.append(gap(Code.QUOTES_LATE_STAMP))
    result = _written(request, shown, gaps, options)
    # The gate reads JSON: it judges the envelope, whatever form the text has.
    is_json = request.format == "json" and isinstance(result.text, str)
    finding = envelope.judge(result.text if is_json else as_json.render(result.envelope), request.pit)
    if finding is not None:
        result = _written(request, (), [gap(Code.GATE_REFUSED, finding=finding)], options)
    is_whole = finding is None and len(result.kept) == len(shown)
    result = result._replace(public=tuple(collected.selection.records) if is_whole else result.kept)
    return _set_status(request, result, ExitStatus.BUG if collected.failure or finding else ExitStatus.OK, options)


def unjudged(
    request: FetchRequest, records: Sequence[Record], gaps: Sequence[Gap], secrets: tuple[str, ...], status: ExitStatus
) -> FetchResult:
    """Return the answer that shows an operator ``records``, public or not. The gate would refuse it."""
    options = envelope_options(request, secrets, resumes=False)
    return _set_status(request, _written(request, envelope.entries(records, options), gaps, options), status, options)


def _written(
    request: FetchRequest, shown: Sequence[Entry], gaps: Sequence[Gap], options: envelope.EnvelopeOptions
) -> FetchResult:
    """Return an answer within its budget, neither judged nor with its exit status."""
    render, layout = renderer(request.format), RenderOptions(request.pretty, request.width, request.csv_safe)
    sized = fit_to_budget(shown, gaps, options, lambda made: render(made, layout), request.max_chars)
    notes = tuple(f"{row['type']}: {row['reason']}" for row in sized.envelope.gaps if request.format in DATA_ONLY)
    kept = tuple(entry.record for entry in shown[: sized.record_count])
    return FetchResult(sized.envelope, sized.text, notes=notes, kept=kept, gaps=tuple(gaps))


def _set_status(
    request: FetchRequest, result: FetchResult, status: ExitStatus, options: envelope.EnvelopeOptions
) -> FetchResult:
    if status is ExitStatus.OK and (request.fail or (request.is_unread and result.is_failure)):
        types = {gap.type for gap in result.gaps}
        status = next((_STATUS_OF_TYPE[kind] for kind in _STATUS_OF_TYPE if kind in types), status)
    if status is ExitStatus.OK:
        return result
    reasons = (gap.reason for gap in result.gaps if status is ExitStatus.BUG or _STATUS_OF_TYPE.get(gap.type) is status)
    return result._replace(status=status, complaint=options.clean(next(reasons)))


def _has_failed(gaps: Iterable[Gap]) -> bool:
    return any(gap.type in _STATUS_OF_TYPE and not gap.code.costs_nothing for gap in gaps)


def _start(request: FetchRequest, shown: Sequence[Entry]) -> ChunkStart | None:
    """Return where the first record continues, if it is the one that the cursor leads into."""
    after = request.after
    return after.within if after is not None and shown and position(shown[0].record) == after.position else None


def envelope_options(request: FetchRequest, secrets: tuple[str, ...], *, resumes: bool) -> envelope.EnvelopeOptions:
    """Return how the records and gaps of a request become its envelope."""
    operations = candidate_operations(request.provider, request.options)
    fields = [
        field
        for operation in operations
        for field in operation.fields
        if not request.fields or field.name in request.fields
    ]
    kinds = {field.name: field.kind for field in fields}
    plotted = tuple(field.name for field in fields if field.is_plotted)
    roles = {field.name: field.role for field in fields if field.role}
    name, period = request.provider.name, operations[0].period
    return envelope.EnvelopeOptions(
        query=request.canonical,
        clean=redactor(secrets),
        clean_data=redactor(secrets, SHORTEST_SECRET),
        fields=request.fields,
        pit=request.pit,
        provenance=envelope.Provenance(
            name, request.canonical, request.pit, kinds, plotted, roles, period, request.evidence
        ),
        resumes=resumes,
    )


def _unknown_fields(request: FetchRequest, records: Sequence[Record]) -> list[Gap]:
    """Return a gap for requested fields that no record has. Fields of a declared list are refused much earlier."""
    if not request.fields:
        return []
    known = dict.fromkeys(name for record in records for name in record.payload)
    unknown = [name for name in request.fields if name not in known and name not in ENVELOPE_FIELDS]
    declared = any(operation.fields for operation in candidate_operations(request.provider, request.options))
    if declared or not records or not unknown:
        return []
    from pit_fetch.support.wording import enumerate_names

    return [gap(Code.FIELD_UNKNOWN, fields=enumerate_names(unknown), known=enumerate_names(list(known)))]


def malformed(request: FetchRequest, problem: str) -> Gap:
    """Return the gap of a reply, or of an input file, that is not what was asked for."""
    if request.input_file:
        return gap(Code.INPUT_MALFORMED, source=request.provider.name, problem=problem)
    return gap(Code.MALFORMED, problem=problem)


def _unusable(request: FetchRequest, collected: CollectedRecords) -> list[Gap]:
    """Return the gap for rows without an id, in open mode. With no other rows, the reply is not this source's."""
    count = collected.withheld.unusable
    if count and not collected.selection.scanned:
        return [malformed(request, "none of its rows is a record of this source")]
    return [gap(Code.UNUSABLE, count=count)] if count else []


def answer_gaps(request: FetchRequest, collected: CollectedRecords, shown: Sequence[Record]) -> list[Gap]:
    """Return the gaps in the envelope's order: those of PIT mode, the provider's, and how the fetch ended."""
    selection = collected.selection
    gaps = list(selection.gaps)
    if collected.failure or not collected.opened:
        return gaps
    if request.pit is not None:
        accepts_claims = any(known.code is Code.CLAIMED for known in gaps)
        first, second = _WITHHELD_UNLESS_CLAIMED if accepts_claims else _WITHHELD
        gaps = [gap(first, pit=format_for_people(request.pit)), gap(second), *gaps]
    else:
        undated = sum(record.available_at is None for record in selection.records)
        gaps += [gap(Code.UNDATED_SERVED, count=undated)] if undated else []
        gaps += _unusable(request, collected)
    gaps += _unknown_fields(request, selection.records)
    if selection.stopped == "limit":
        cursor = format_cursor(selection.last or selection.records[-1])
        gaps.append(gap(Code.LIMIT, limit=request.limit, cursor=cursor))
    elif selection.stopped == "max_pages" and selection.last is not None:
        cursor = format_cursor(selection.last)
        gaps.append(gap(Code.MAX_PAGES, public=selection.scanned, max_pages=request.max_pages, cursor=cursor))
    is_through = not selection.stopped  # else more may match
    if not shown and is_through and not _has_failed(gaps) and not any(gap.type == "no_data" for gap in gaps):
        gaps += [*_claims_not_accepted(request), nothing(collected)]
    return gaps


def _claims_not_accepted(request: FetchRequest) -> list[Gap]:
    """Return the gap that names the setting for claims. Whether there are any at the PIT decides nothing here."""
    operation = candidate_operations(request.provider, request.options)[0]
    if request.pit is None or request.evidence == CLAIMED or not operation.dating.claims:
        return []
    source = request.provider.name
    return [gap(Code.CLAIMS_NOT_ACCEPTED, operation=operation.name or source, source=source)]


def nothing(collected: CollectedRecords) -> Gap:
    """Return the gap of an answer without records."""
    hint = collected.when_empty
    if any(gap.code.is_uncaptured for gap in collected.selection.gaps):
        return gap(Code.NOTHING_HELD_WITH_HINT, hint=hint) if hint else gap(Code.NOTHING_HELD)
    return gap(Code.NOTHING_WITH_HINT, hint=hint) if hint else gap(Code.NOTHING)


def failed(request: FetchRequest, collected: CollectedRecords, error: BaseException) -> CollectedRecords:
    """Return ``collected`` without any record of a provider that crashed.

    Which records it had yielded by then may depend on withheld ones.
    """
    # With a PIT even what a provider asks for may come from a record that is withheld.
    hint = f"({_describe(error)})" if request.pit is None else "See the audit file (PIT_FETCH_AUDIT)."
    crash = gap(Code.PLUGIN_FAILED, source=request.provider.name, hint=hint)
    return collected._replace(selection=Selection(gaps=(crash,)), failure=_locate(error, request.provider))


def _describe(error: BaseException) -> str:
    """Return the type of an exception, without its text, which may repeat a reply; the text alone of one of ours."""
    return str(error) if isinstance(error, Misuse) else type(error).__name__


def _locate(error: BaseException, provider: Provider) -> str:
    """Return what an exception is, and the last line of the provider's own package that led to it, or the last line."""
    from traceback import walk_tb

    package = provider.operations[0].fetch.__module__.partition(".")[0]
    every = list(walk_tb(error.__traceback__))
    own = [place for place in every if str(place[0].f_globals.get("__name__")).partition(".")[0] == package]
    for frame, line in (own or every)[-1:]:
        return f"{_describe(error)} at {frame.f_code.co_filename}:{line}"
    return _describe(error)
