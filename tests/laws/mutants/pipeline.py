"""Leaks of the pipeline: what is filtered, in which order, what is counted and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
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
from tests.laws.mutants.leak import ANY, Mutant, in_module, kept, retold
from tests.laws.plant import Make

_UNDER_A_PIT = ("sample: non-interference", "bz-news-api: non-interference")
_BY_CURSOR = ("sample: snapshots", "alphavantage: snapshots")
_BUILD_QUERY = "pit_fetch.request.query:build_query"


# What is filtered, and in which order.


def _limit_before_filter(real: Any) -> Any:
    def public(wanted: Any, stream: Any, cutoff: Any) -> Any:
        place = count()
        return real(wanted, kept(stream, lambda record: next(place) < wanted.request.limit), cutoff)

    return public


def _versions_before_filter(real: Any) -> Any:
    def flat(stream: Iterable[Any]) -> Iterator[Any]:
        for element in stream:
            yield from element.records if isinstance(element, Page) else (element,)

    return lambda stream, *more: real(in_order(flat(stream)), *more)


def _filters_before_versions(real: Any) -> Any:
    """The window and the source's own filters see every version, and an old one that passes stands for the item."""

    def public(wanted: Any, stream: Any, cutoff: Any) -> Any:
        def is_wanted(record: Record) -> bool:
            return wanted.query.in_window(record) and bool(wanted.request.provider.select(wanted.query, record))

        return real(wanted, kept(stream, is_wanted), cutoff)

    return public


def _one_version(rank: Callable[[Record], Any]) -> Make:
    """Of several versions of an item, the one that ``rank`` makes the greatest stands for it."""

    def make(real: Any) -> Any:
        def ordered(stream: Iterable[Any]) -> Iterator[Any]:
            every, chosen = list(stream), dict[str, Record]()
            for record in filter(lambda element: isinstance(element, Record), every):
                chosen[record.id] = max(chosen.get(record.id, record), record, key=rank)
            yield from real(
                element for element in every if not isinstance(element, Record) or chosen[element.id] is element
            )

        return ordered

    return make


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

    def public(wanted: Any, stream: Any, cutoff: Any) -> Any:
        return real(wanted, watched(wanted, stream), cutoff)

    def watched(wanted: Any, stream: Any) -> Iterator[Any]:
        for element in stream:
            records = [record for record in select.records_of(element) if record.id]
            missing = [name for record in records for name in wanted.query.operation.missing_in(record)]
            if missing:
                yield wanted.flaw(missing[:1])
            yield element

    return public


def _derived_before_filter(real: Any) -> Any:
    """What is computed across records rests on those that are withheld, too."""

    def judged(wanted: Any, stream: Any, cutoff: Any) -> Any:
        provider = wanted.request.provider
        derive = provider.derive(wanted.query)
        if derive is not None:
            ordered = in_order(public(stream, lambda: None, Withheld()))
            stream = derive(record for record in ordered if isinstance(record, Record))
            wanted.request = wanted.request._replace(provider=replace(provider, derive=lambda query: None))
        return real(wanted, stream, cutoff)

    return judged


def _horizon_of_the_window(is_due: Callable[[Any, Any], object]) -> Make:
    """The window bounds what is read although ``is_due``, of the request and its query: all records are needed."""

    def make(real: Any) -> Any:
        def build_query(request: Any, started: Any) -> Any:
            query = real(request, started)
            bounds = query.now, query.until, request.after and request.after.instant
            narrowed = query._replace(horizon=min(bound for bound in bounds if bound is not None))
            return narrowed if is_due(request, query) else query

        return build_query

    return make


def _up_to_the_ends(real: Any) -> Any:
    def build_query(request: Any, started: Any) -> Any:
        now, pit = request.pit or started, request.pit
        window = {"since": request.since, "until": request.until}
        return real(request, started)._replace(now=now, pit=pit, horizon=now, **window)

    return build_query


def _cut_at(cutoff_of: Callable[[Any, Any], Any]) -> Make:
    """Records count as public at an instant of the filter's request and query, and of its true cutoff."""
    return lambda real: lambda wanted, stream, cutoff: real(wanted, stream, lambda: cutoff_of(wanted, cutoff()))


# What is counted.


def _marked_by_page(real: Any) -> Any:
    """One watermark for a page: it is another one where withheld records move the end of the page."""

    def marked(stream: Iterable[Any], cutoff: Any, withheld: Any, *more: Any) -> Iterator[Any]:
        for element in stream:
            if not isinstance(element, Page):
                yield from real([element], cutoff, withheld, *more)
                continue
            public_records = list(real([element._replace(newest_first=False)], cutoff, withheld, *more))
            dated = [record.available_at for record in public_records if record.available_at]
            yield from public_records
            if element.newest_first and dated:
                yield Watermark(min(dated) + element.slack)

    return marked


def _all_records_marked(real: Any) -> Any:
    """A watermark that rests on every record of its page, withheld ones as well."""

    def marked(stream: Iterable[Any]) -> Iterator[Any]:
        for element in stream:
            records = element.records if isinstance(element, Page) else ()
            dated = [record.available_at for record in records if record.available_at]
            if dated and element.newest_first:
                yield element._replace(newest_first=False)
                yield Watermark(min(dated) + element.slack)
            else:
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
    def public(wanted: Any, stream: Any, cutoff: Any) -> Any:
        left = iter(range(wanted.request.max_pages * wanted.request.provider.page_size))
        return real(wanted, kept(stream, lambda record: next(left, None) is not None), cutoff)

    return public


# What is said of it.


def _only_when(kind: str, is_due: Callable[[CollectedRecords], object]) -> Make:
    return retold(lambda told, collected: told if told["type"] != kind or is_due(collected) else None)


def _counted(count_of: Callable[[CollectedRecords], int]) -> Make:
    return retold(
        lambda told, collected: (
            {**told, "reason": f"{told['reason']} ({count_of(collected)})"} if told["type"] == "unverifiable" else told
        )
    )


def _no_hint_if_late(told: dict[str, Any], collected: CollectedRecords) -> dict[str, Any]:
    is_late = told["type"] == "no_data" and collected.withheld.late
    return {**told, "reason": gap(Code.NOTHING).reason} if is_late else told


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
        def collect(request: Any, runtime: Any, progress: Any, *more: Any) -> CollectedRecords:
            collected: CollectedRecords = real(request, runtime, progress, *more)
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


def _cached_across_pits(real: Any) -> Any:
    pages: dict[str, Any] = {}

    def collect(request: Any, *given: Any) -> Any:
        asked = repr((request.provider.name, request.options, request.limit, request.since, request.until))
        return pages.setdefault(asked, real(request, *given))

    return collect


_select = in_module("pit_fetch.pipeline.select")
_fetch = in_module("pit_fetch.engine.fetch")
_filter = in_module("pit_fetch.engine.record_filter")
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
    _filter("limit before filter", "RecordFilter.public", _limit_before_filter, ANY),
    _select("versions are chosen before the filter", "public", _versions_before_filter, _UNDER_A_PIT),
    _select(
        "an older version is preferred",
        "in_order",
        _one_version(
            lambda record: -max(stamp for stamp in (record.available_at, record.revised_at) if stamp).timestamp()
        ),
        ("sample: versions", "bz-news-api: versions"),
    ),
    _select("of several versions the first to arrive", "in_order", _one_version(lambda record: 0), _UNDER_A_PIT),
    _select(
        "rows that lack a promised field are served",
        "require_fields",
        lambda real: lambda stream, required, flaw: stream,
        ("sample: promised",),
    ),
    _filter(
        "what is withheld decides whether rows lack a field",
        "RecordFilter.public",
        _judged_before_filter,
        ("sample: promised",),
    ),
    _filter("filters before versions", "RecordFilter.public", _filters_before_versions, ("sample: versions",)),
    _filter("what is derived sees withheld records", "RecordFilter.public", _derived_before_filter, ANY[:1]),
    Mutant(
        "what is derived begins at --after and --date-to",
        _BUILD_QUERY,
        _horizon_of_the_window(lambda request, query: request.provider.derive(query)),
        ("sample: windows",),
    ),
    Mutant(
        "a window leaves out newer versions",
        _BUILD_QUERY,
        _horizon_of_the_window(lambda request, query: query.operation.archiving.versions),
        ("sample: versions",),
    ),
    Mutant("a provider is led to the calendar's ends", _BUILD_QUERY, _up_to_the_ends, ("sample: calendar",)),
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
    _filter("withheld records use up the page cap", "RecordFilter.public", _all_records_scanned, ANY),
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
        "report",
        _only_when("pit_excluded", lambda collected: collected.withheld.late),
        ANY,
    ),
    _report(
        "the gap only when something was undated",
        "report",
        _only_when("unverifiable", lambda collected: collected.withheld.undated),
        ANY,
    ),
    _report(
        "a count of undated items in a gap", "report", _counted(lambda collected: len(collected.withheld.undated)), ANY
    ),
    _report(
        "rows without an identity are counted", "report", _counted(lambda collected: collected.withheld.unusable), ANY
    ),
    _report("the hint depends on what was withheld", "report", retold(_no_hint_if_late), ANY[1:2]),
    _report("the exit code tells of late items", "report", _exit_code_of_late, ANY),
    _report("rows without items fail if some were late", "report", _failure_of_late, ANY[:1]),
    _fetch(
        "ids of late items on stderr", "collect", _telling(lambda collected: " ".join(collected.withheld.late)), ANY
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
    _filter(
        "the wall clock is the PIT", "RecordFilter.public", _cut_at(lambda wanted, cutoff: wanted.query.started), ANY
    ),
    _filter(
        "a PIT in the future is taken at its word",
        "RecordFilter.public",
        _cut_at(lambda wanted, cutoff: wanted.request.pit),
        ("bz-news-api: future", "sample: future", "alphavantage: future"),
    ),
    _filter(
        "a PIT in the future is reached a while after the last reply",
        "RecordFilter.public",
        _cut_at(lambda wanted, cutoff: cutoff and min(wanted.request.pit, cutoff + timedelta(hours=1))),
        ("sample: overtaken",),
    ),
    _fetch("a page cache across PITs", "collect", _cached_across_pits, ("bz-news-api: repeated",)),
)
