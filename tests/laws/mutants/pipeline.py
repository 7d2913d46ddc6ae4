"""Leaks of the pipeline: what is filtered, in which order, what is counted and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from pit_fetch.engine.report import CollectedRecords
from pit_fetch.errors import ExitStatus, UpstreamError
from pit_fetch.formats import DEFAULTS, renderer
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.pipeline import select
from pit_fetch.pipeline.envelope import EnvelopeOptions, build
from pit_fetch.pipeline.select import Withheld, in_order, public
from pit_fetch.provider import Page, Record, Watermark
from tests.laws.mutants.leak import ANY, Mutant, in_module, kept
from tests.laws.plant import Make

_UNDER_A_PIT = ("sample: non-interference", "bz-news-api: non-interference")
_BY_CURSOR = ("sample: snapshots", "alphavantage: snapshots")


# What is filtered, and in which order.


def _limit_before_filter(real: Any) -> Any:
    def stream(fetch: Any, source: Any) -> Iterator[Any]:
        place = count()
        return kept(real(fetch, source), lambda record: next(place) < fetch.request.limit)

    return stream


def _versions_before_filter(real: Any) -> Any:
    def flat(stream: Iterable[Any]) -> Iterator[Any]:
        for element in stream:
            yield from element.records if isinstance(element, Page) else (element,)

    return lambda stream, *more: real(in_order(flat(stream)), *more)


def _filters_before_versions(real: Any) -> Any:
    """The window and the source's own filters see every version, and an old one that passes stands for the item."""

    def take(fetch: Any, stream: Any) -> Any:
        def is_wanted(record: Record) -> bool:
            return fetch.query.in_window(record) and bool(fetch.request.provider.select(fetch.query, record))

        return real(fetch, kept(stream, is_wanted))

    return take


def _as_they_come(real: Any) -> Any:
    def unordered(stream: Iterable[Any]) -> Iterator[Record | Gap]:
        known: set[str] = set()
        for element in stream:
            if isinstance(element, Gap) or (isinstance(element, Record) and element.id not in known):
                known |= {element.id} if isinstance(element, Record) else set()
                yield element

    return unordered


def _judged_before_filter(real: Any) -> Any:
    """A gap says that rows lack a field, whether or not they were public."""

    def watched(fetch: Any, stream: Any) -> Iterator[Any]:
        for element in real(fetch, stream):
            records = (
                element.records if isinstance(element, Page) else (element,) if isinstance(element, Record) else ()
            )
            missing = [name for record in records if record.id for name in fetch.query.operation.missing_in(record)]
            if missing:
                yield fetch.wanted.flaw(missing[:1])
            yield element

    return watched


def _derived_before_filter(real: Any) -> Any:
    """What is computed across records rests on those that are withheld, too."""

    def take(fetch: Any, stream: Any) -> Any:
        provider = fetch.request.provider
        derive = provider.derive(fetch.query)
        if derive is not None:
            ordered = in_order(public(stream, lambda: None, Withheld()))
            stream = derive(record for record in ordered if isinstance(record, Record))
            fetch.wanted.request = fetch.request._replace(provider=replace(provider, derive=lambda query: None))
        return real(fetch, stream)

    return take


def _horizon_of_the_window(real: Any) -> Any:
    def horizon(request: Any, query: Any) -> Any:
        bounds = (query.now, request.until, request.after and request.after.instant)
        return min(bound for bound in bounds if bound is not None)

    return horizon


# What is counted.


def _marked_by_page(real: Any) -> Any:
    """One watermark for a page: it is another one where withheld records move the end of the page."""

    def marked(stream: Iterable[Any], cutoff: Any, withheld: Any, *more: Any) -> Iterator[Any]:
        for element in stream:
            if not isinstance(element, Page):
                yield from real([element], cutoff, withheld, *more)
                continue
            public_records = list(real([element._replace(order=None)], cutoff, withheld, *more))
            dated = [record.available_at for record in public_records if record.available_at]
            yield from public_records
            if element.order is not None and dated:
                yield Watermark(element.order(min(dated)))

    return marked


def _all_records_marked(real: Any) -> Any:
    """A watermark that rests on every record of its page, withheld ones as well."""

    def marked(stream: Iterable[Any]) -> Iterator[Any]:
        for element in stream:
            records = element.records if isinstance(element, Page) else ()
            dated = [record.available_at for record in records if record.available_at]
            if dated and element.order is not None:
                oldest = element.order(min(dated))
                element = element._replace(order=lambda public, oldest=oldest: oldest)
            yield element

    return lambda stream, cutoff, withheld, *more: real(marked(stream), cutoff, withheld, *more)


def _all_repeats_counted(real: Any) -> Any:
    def counted(stream: Iterable[Any]) -> Iterator[Any]:
        known: set[str] = set()
        repeats = 0
        for element in stream:
            for record in element.records if isinstance(element, Page) else ():
                repeats = repeats + 1 if record.id in known else 0
                known.add(record.id)
                if repeats == select.MOST_REPEATED:
                    raise UpstreamError(Code.PAGING)
            yield element

    return lambda stream, cutoff, withheld, *more: real(counted(stream), cutoff, withheld, *more)


def _all_records_awaited(real: Any) -> Any:
    """A slice with a withheld record counts as fruitful."""

    def fruitful(stream: Iterable[Any]) -> Iterator[Any]:
        is_fruitful = False
        for element in stream:
            if isinstance(element, Watermark):
                yield element._replace(max_empty_slices=0) if is_fruitful else element
                is_fruitful = False
            else:
                is_fruitful = is_fruitful or not isinstance(element, Gap)
                yield element

    return lambda stream, cutoff, withheld, *more: real(fruitful(stream), cutoff, withheld, *more)


def _all_records_scanned(real: Any) -> Any:
    def take(fetch: Any, stream: Any) -> Any:
        left = iter(range(fetch.request.max_pages * fetch.request.provider.page_size))
        return real(fetch, kept(stream, lambda record: next(left, None) is not None))

    return take


# What is said of it.


def _gaps(change: Callable[[Gap, CollectedRecords], Gap | None]) -> Make:
    """The gaps of a fetch, each as ``change`` makes it, or left out."""

    def make(real: Any) -> Any:
        def gaps(request: Any, collected: CollectedRecords, shown: Any) -> list[Gap]:
            changed = [change(original, collected) for original in real(request, collected, shown)]
            return [original for original in changed if original is not None]

        return gaps

    return make


def _only_when(code: str, is_due: Callable[[CollectedRecords], object]) -> Make:
    return _gaps(lambda original, collected: original if original.code != code or is_due(collected) else None)


def _count_of_undated(original: Gap, collected: CollectedRecords) -> Gap:
    return gap(Code.UNDATED_SERVED, count=len(collected.withheld.undated)) if original.code == "undated" else original


def _count_of_unusable(original: Gap, collected: CollectedRecords) -> Gap:
    unusable = collected.withheld.unusable
    return gap(Code.UNUSABLE, count=unusable) if original.code == "undated" and unusable else original


def _no_data_unless_late(original: Gap, collected: CollectedRecords) -> Gap | None:
    return None if original.type == "no_data" and collected.withheld.late else original


def _no_hint_if_late(original: Gap, collected: CollectedRecords) -> Gap:
    return gap(Code.NOTHING) if original.code == "nothing_with_hint" and collected.withheld.late else original


def _exit_code_of_late(real: Any) -> Any:
    def report(request: Any, collected: CollectedRecords) -> Any:
        result = real(request, collected)
        return result._replace(status=ExitStatus.BUG) if collected.withheld.late else result

    return report


def _failure_of_late(real: Any) -> Any:
    def report(request: Any, collected: CollectedRecords) -> Any:
        result = real(request, collected)
        is_empty = request.format not in ("json", "table") and not result.envelope.data
        return result._replace(status=ExitStatus.UPSTREAM) if is_empty and collected.withheld.late else result

    return report


def _telling(tell: Callable[[CollectedRecords], str]) -> Make:
    def make(real: Any) -> Any:
        def collect(request: Any, runtime: Any, progress: Any, archives: Any = None) -> CollectedRecords:
            collected: CollectedRecords = real(request, runtime, progress, archives)
            progress.detail(tell(collected))
            return collected

        return collect

    return make


def _json_alone_is_judged(real: Any) -> Any:
    def report(request: Any, collected: CollectedRecords) -> Any:
        result = real(request, collected)
        if request.format == "json" or result.status is not ExitStatus.BUG:
            return result
        return result._replace(
            text=renderer(request.format)(build(collected.selection.records, (), EnvelopeOptions()), DEFAULTS)
        )

    return report


def _by_the_clock(real: Any) -> Any:
    """A PIT that is yet to come is read as up to now, and not as up to the last reply."""
    return lambda fetch: real(fetch) and min(fetch.request.pit, fetch.runtime.clock.now())


def _cached_across_pits(real: Any) -> Any:
    pages: dict[str, Any] = {}

    def collect(request: Any, *given: Any) -> Any:
        asked = repr((request.provider.name, request.options, request.limit, request.since, request.until))
        return pages.setdefault(asked, real(request, *given))

    return collect


_select = in_module("pit_fetch.pipeline.select")
_fetch = in_module("pit_fetch.engine.fetch")
_query = in_module("pit_fetch.request.query")
_cursor = in_module("pit_fetch.pipeline.cursor")
_report = in_module("pit_fetch.engine.report")

MUTANTS = (
    _select(
        "a revision after the PIT is not looked at",
        "visibility",
        lambda real: lambda record, cutoff: real(record._replace(revised_at=None), cutoff),
        _UNDER_A_PIT,
    ),
    _select(
        "undated is public",
        "visibility",
        lambda real: lambda record, cutoff: "public" if real(record, cutoff) == "undated" else real(record, cutoff),
        _UNDER_A_PIT,
    ),
    _fetch("limit before filter", "Fetch._until_it_ends", _limit_before_filter, ANY),
    _select("versions are chosen before the filter", "public", _versions_before_filter, _UNDER_A_PIT),
    _select(
        "an older version is preferred",
        "_version",
        lambda real: lambda record: (real(record)[0], -real(record)[1], *real(record)[2:]),
        ("sample: versions", "bz-news-api: versions"),
    ),
    _select(
        "of several versions the first to arrive",
        "_newest_versions",
        lambda real: lambda records: list({record.id: record for record in reversed(list(records))}.values()),
        _UNDER_A_PIT,
    ),
    _select(
        "rows that lack a promised field are served",
        "require_fields",
        lambda real: lambda stream, required, flaw: stream,
        ("sample: promised",),
    ),
    _fetch(
        "what is withheld decides whether rows lack a field",
        "Fetch._until_it_ends",
        _judged_before_filter,
        ("sample: promised",),
    ),
    _fetch("filters before versions", "Fetch._take", _filters_before_versions, ("sample: versions",)),
    _fetch("what is derived sees withheld records", "Fetch._take", _derived_before_filter, ANY[:1]),
    _query("what is derived begins at --after and --date-to", "_horizon", _horizon_of_the_window, ("sample: windows",)),
    _query(
        "a window leaves out newer versions",
        "_horizon",
        lambda real: (
            lambda request, query: real(request, query._replace(operation=query.operation._replace(versions=False)))
        ),
        ("sample: versions",),
    ),
    _select("a watermark for a page", "public", _marked_by_page, ("sample: order",)),
    _select("the source's order is kept", "in_order", _as_they_come, (*ANY[2:], *ANY[:1])),
    _cursor("ties in the order of arrival", "position", lambda real: lambda record: (*real(record)[:2], ""), ANY),
    _cursor(
        "the oldest period comes first",
        "position",
        lambda real: lambda record: (real(record)[0], -real(record)[1], record.id),
        _BY_CURSOR,
    ),
    _cursor(
        "a cursor forgets the period",
        "format_cursor",
        lambda real: lambda record, within=None: real(record._replace(period=""), within),
        _BY_CURSOR,
    ),
    _select("a watermark rests on withheld records", "public", _all_records_marked, ANY[:1]),
    _select("withheld records count as repeated", "public", _all_repeats_counted, ANY[1:2]),
    _select("withheld records renew the patience", "public", _all_records_awaited, ("sample: patience",)),
    _fetch("withheld records use up the page cap", "Fetch._take", _all_records_scanned, ANY),
    _cursor(
        "a cursor rests on the time of receipt",
        "record_age",
        lambda real: lambda record: real(record._replace(at_receipt=False)),
        _BY_CURSOR,
    ),
    _cursor(
        "the cursor of a snapshot names its stamp",
        "format_cursor",
        lambda real: lambda record, within=None: real(record._replace(at_receipt=False), within),
        _BY_CURSOR,
    ),
    _report(
        "the gap only when something was late",
        "_gaps",
        _only_when("late", lambda collected: collected.withheld.late),
        ANY,
    ),
    _report(
        "the gap only when something was undated",
        "_gaps",
        _only_when("undated", lambda collected: collected.withheld.undated),
        ANY,
    ),
    _report("a count of undated items in a gap", "_gaps", _gaps(_count_of_undated), ANY),
    _report("rows without an identity are counted", "_gaps", _gaps(_count_of_unusable), ANY),
    _report("no_data only when nothing was late", "_gaps", _gaps(_no_data_unless_late), ANY),
    _report("the hint depends on what was withheld", "_gaps", _gaps(_no_hint_if_late), ANY[1:2]),
    _report("the exit code tells of late items", "report", _exit_code_of_late, ANY),
    _report("rows without items fail if some were late", "report", _failure_of_late, ANY[:1]),
    _fetch(
        "ids of late items on stderr", "collect", _telling(lambda collected: " ".join(collected.withheld.late)), ANY
    ),
    _fetch(
        "a count of late items on stderr", "collect", _telling(lambda collected: str(len(collected.withheld.late))), ANY
    ),
    Mutant(
        "requests told with -v",
        "pit_fetch.engine.progress:Progress.request",
        lambda real: lambda progress, url: progress.detail(url),
        ANY,
    ),
    Mutant(
        "the audit file is on by default",
        "pit_fetch.engine.audit:path",
        lambda real: lambda environ: real({"PIT_FETCH_AUDIT": environ["HOME"] + "/audit.jsonl", **environ}),
        ANY,
    ),
    _report("forms other than JSON are not judged", "report", _json_alone_is_judged, ("sample: forms",)),
    _fetch("the wall clock is the PIT", "Fetch._cutoff", lambda real: lambda fetch: fetch.runtime.clock.now(), ANY),
    _fetch(
        "a PIT in the future is taken at its word",
        "Fetch._cutoff",
        lambda real: lambda fetch: fetch.request.pit,
        ("bz-news-api: future", "sample: future", "alphavantage: future"),
    ),
    _fetch("a PIT in the future follows the clock", "Fetch._cutoff", _by_the_clock, ("sample: overtaken",)),
    _fetch("a page cache across PITs", "collect", _cached_across_pits, ("bz-news-api: repeated",)),
)
