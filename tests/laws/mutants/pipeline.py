"""Leaks of the pipeline: what is filtered, in which order, what is counted and what is said of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

from pit_fetch.engine.report import CollectedRecords
from pit_fetch.errors import ExitStatus, UpstreamError
from pit_fetch.formats import DEFAULTS, renderer
from pit_fetch.gaps import Gap, gap
from pit_fetch.pipeline import select
from pit_fetch.pipeline.envelope import EnvelopeOptions, build
from pit_fetch.pipeline.select import WithheldCounts, in_order, public
from pit_fetch.provider import Page, Record, Watermark
from tests.laws.mutants.leak import ANY, Mutant, kept
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

    return lambda stream, cutoff, withheld: real(in_order(flat(stream)), cutoff, withheld)


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


def _derived_before_filter(real: Any) -> Any:
    """What is computed across records rests on those that are withheld, too."""

    def take(fetch: Any, stream: Any) -> Any:
        provider = fetch.request.provider
        derive = provider.derive(fetch.query)
        if derive is not None:
            ordered = in_order(public(stream, lambda: None, WithheldCounts()))
            stream = derive(record for record in ordered if isinstance(record, Record))
            fetch.request = fetch.request._replace(provider=replace(provider, derive=lambda query: None))
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

    def marked(stream: Iterable[Any], cutoff: Any, withheld: Any) -> Iterator[Any]:
        for element in stream:
            if not isinstance(element, Page):
                yield from real([element], cutoff, withheld)
                continue
            public_records = list(real([element._replace(order=None)], cutoff, withheld))
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

    return lambda stream, cutoff, withheld: real(marked(stream), cutoff, withheld)


def _all_repeats_counted(real: Any) -> Any:
    def counted(stream: Iterable[Any]) -> Iterator[Any]:
        known: set[str] = set()
        repeats = 0
        for element in stream:
            for record in element.records if isinstance(element, Page) else ():
                repeats = repeats + 1 if record.id in known else 0
                known.add(record.id)
                if repeats == select.MOST_REPEATED:
                    raise UpstreamError("paging")
            yield element

    return lambda stream, cutoff, withheld: real(counted(stream), cutoff, withheld)


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

    return lambda stream, cutoff, withheld: real(fruitful(stream), cutoff, withheld)


def _all_records_scanned(real: Any) -> Any:
    def take(fetch: Any, stream: Any) -> Any:
        left = iter(range(fetch.request.max_pages * fetch.request.provider.page_size))
        return real(fetch, kept(stream, lambda record: next(left, None) is not None))

    return take


# What is said of it.


def _gaps(change: Callable[[Gap, CollectedRecords], Gap | None]) -> Make:
    """The gaps of a fetch, each as ``change`` makes it, or left out."""

    def make(real: Any) -> Any:
        def gaps(request: Any, collected: CollectedRecords) -> list[Gap]:
            changed = [change(original, collected) for original in real(request, collected)]
            return [original for original in changed if original is not None]

        return gaps

    return make


def _only_when(code: str, is_due: Callable[[CollectedRecords], object]) -> Make:
    return _gaps(lambda original, collected: original if original.code != code or is_due(collected) else None)


def _count_of_undated(original: Gap, collected: CollectedRecords) -> Gap:
    return gap("undated_served", count=len(collected.withheld.undated)) if original.code == "undated" else original


def _count_of_unusable(original: Gap, collected: CollectedRecords) -> Gap:
    unusable = collected.withheld.unusable
    return gap("unusable", count=unusable) if original.code == "undated" and unusable else original


def _no_data_unless_late(original: Gap, collected: CollectedRecords) -> Gap | None:
    return None if original.type == "no_data" and collected.withheld.late else original


def _no_hint_if_late(original: Gap, collected: CollectedRecords) -> Gap:
    return gap("nothing") if original.code == "nothing_with_hint" and collected.withheld.late else original


def _exit_code_of_late(real: Any) -> Any:
    def report(request: Any, collected: CollectedRecords) -> Any:
        result = real(request, collected)
        return result._replace(status=ExitStatus.BUG) if collected.withheld.late else result

    return report


def _telling(tell: Callable[[CollectedRecords], str]) -> Make:
    def make(real: Any) -> Any:
        def collect(request: Any, runtime: Any, progress: Any) -> CollectedRecords:
            collected: CollectedRecords = real(request, runtime, progress)
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


MUTANTS = (
    Mutant(
        "a revision after the PIT is not looked at",
        "pit_fetch.pipeline.select:visibility",
        lambda real: lambda record, cutoff: real(record._replace(revised_at=None), cutoff),
        _UNDER_A_PIT,
    ),
    Mutant(
        "undated is public",
        "pit_fetch.pipeline.select:visibility",
        lambda real: lambda record, cutoff: "public" if real(record, cutoff) == "undated" else real(record, cutoff),
        _UNDER_A_PIT,
    ),
    Mutant("limit before filter", "pit_fetch.engine.fetch:Fetch._until_it_ends", _limit_before_filter, ANY),
    Mutant(
        "versions are chosen before the filter",
        "pit_fetch.pipeline.select:public",
        _versions_before_filter,
        _UNDER_A_PIT,
    ),
    Mutant(
        "an older version is preferred",
        "pit_fetch.pipeline.select:_version",
        lambda real: lambda record: (-real(record)[0], *real(record)[1:]),
        ("sample: versions", "bz-news-api: versions"),
    ),
    Mutant(
        "of several versions the first to arrive",
        "pit_fetch.pipeline.select:_newest_versions",
        lambda real: lambda records: list({record.id: record for record in reversed(list(records))}.values()),
        _UNDER_A_PIT,
    ),
    Mutant(
        "filters before versions", "pit_fetch.engine.fetch:Fetch._take", _filters_before_versions, ("sample: versions",)
    ),
    Mutant(
        "what is derived sees withheld records", "pit_fetch.engine.fetch:Fetch._take", _derived_before_filter, ANY[:1]
    ),
    Mutant(
        "what is derived begins at --after and --date-to",
        "pit_fetch.request.query:_horizon",
        _horizon_of_the_window,
        ("sample: windows",),
    ),
    Mutant(
        "a window leaves out newer versions",
        "pit_fetch.request.query:_horizon",
        lambda real: (
            lambda request, query: real(request, query._replace(operation=query.operation._replace(versions=False)))
        ),
        ("sample: versions",),
    ),
    Mutant("a watermark for a page", "pit_fetch.pipeline.select:public", _marked_by_page, ("sample: order",)),
    Mutant("the source's order is kept", "pit_fetch.pipeline.select:in_order", _as_they_come, (*ANY[2:], *ANY[:1])),
    Mutant(
        "ties in the order of arrival",
        "pit_fetch.pipeline.cursor:position",
        lambda real: lambda record: (real(record)[0], ""),
        ANY,
    ),
    Mutant("a watermark rests on withheld records", "pit_fetch.pipeline.select:public", _all_records_marked, ANY[:1]),
    Mutant("withheld records count as repeated", "pit_fetch.pipeline.select:public", _all_repeats_counted, ANY[1:2]),
    Mutant(
        "withheld records renew the patience",
        "pit_fetch.pipeline.select:public",
        _all_records_awaited,
        ("sample: patience",),
    ),
    Mutant("withheld records use up the page cap", "pit_fetch.engine.fetch:Fetch._take", _all_records_scanned, ANY),
    Mutant(
        "a cursor rests on the time of receipt",
        "pit_fetch.pipeline.cursor:record_age",
        lambda real: lambda record: real(record._replace(at_receipt=False)),
        _BY_CURSOR,
    ),
    Mutant(
        "the cursor of a snapshot names its stamp",
        "pit_fetch.pipeline.cursor:format_cursor",
        lambda real: lambda record, within=None: real(record._replace(at_receipt=False), within),
        _BY_CURSOR,
    ),
    Mutant(
        "the gap only when something was late",
        "pit_fetch.engine.report:_gaps",
        _only_when("late", lambda collected: collected.withheld.late),
        ANY,
    ),
    Mutant(
        "the gap only when something was undated",
        "pit_fetch.engine.report:_gaps",
        _only_when("undated", lambda collected: collected.withheld.undated),
        ANY,
    ),
    Mutant("a count of undated items in a gap", "pit_fetch.engine.report:_gaps", _gaps(_count_of_undated), ANY),
    Mutant("rows without an identity are counted", "pit_fetch.engine.report:_gaps", _gaps(_count_of_unusable), ANY),
    Mutant("no_data only when nothing was late", "pit_fetch.engine.report:_gaps", _gaps(_no_data_unless_late), ANY),
    Mutant("the hint depends on what was withheld", "pit_fetch.engine.report:_gaps", _gaps(_no_hint_if_late), ANY[1:2]),
    Mutant("the exit code tells of late items", "pit_fetch.engine.report:report", _exit_code_of_late, ANY),
    Mutant(
        "ids of late items on stderr",
        "pit_fetch.engine.fetch:collect",
        _telling(lambda collected: " ".join(collected.withheld.late)),
        ANY,
    ),
    Mutant(
        "a count of late items on stderr",
        "pit_fetch.engine.fetch:collect",
        _telling(lambda collected: str(len(collected.withheld.late))),
        ANY,
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
    Mutant(
        "forms other than JSON are not judged",
        "pit_fetch.engine.report:report",
        _json_alone_is_judged,
        ("sample: forms",),
    ),
    Mutant(
        "the wall clock is the PIT",
        "pit_fetch.engine.fetch:Fetch._cutoff",
        lambda real: lambda fetch: fetch.runtime.clock.now(),
        ANY,
    ),
    Mutant(
        "a PIT in the future is taken at its word",
        "pit_fetch.engine.fetch:Fetch._cutoff",
        lambda real: lambda fetch: fetch.request.pit,
        ("bz-news-api: future", "sample: future", "alphavantage: future"),
    ),
    Mutant(
        "a page cache across PITs", "pit_fetch.engine.fetch:collect", _cached_across_pits, ("bz-news-api: repeated",)
    ),
)
