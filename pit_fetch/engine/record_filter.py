"""Select the records of a stream that answer a question. A source, a file and an archive share the filter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from pit_fetch.engine.report import malformed
from pit_fetch.engine.source import Stream
from pit_fetch.gaps import Gap
from pit_fetch.pipeline.claims import accept_none, acceptor
from pit_fetch.pipeline.cursor import Position, position
from pit_fetch.pipeline.select import (
    SelectionBuilder,
    Withheld,
    newest_periods,
    public,
    require_fields,
    series_name,
    set_period,
    take,
)
from pit_fetch.provider import Query, Record, Stage, Watermark
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import accepts_claims, caveats, is_wanted, series_fields, wants_all

if TYPE_CHECKING:
    from pit_fetch.archive.held import HeldSlice
    from pit_fetch.engine.progress import Progress

# A stream after the filter by the PIT.
PublicStream = Iterable[Record | Watermark | Gap]


class RecordFilter:
    """The filter of one question. ``withheld`` holds the ids of what it has kept back so far."""

    def __init__(self, request: FetchRequest, query: Query, progress: Progress) -> None:
        self.request, self.query, self.progress = request, query, progress
        self.withheld = Withheld()

    def caveats(self, *, is_proved: bool = False) -> tuple[Gap, ...]:
        """Return what the answer cannot show. ``is_proved``: nothing in it is served on a claim."""
        query = self.query._replace(accepts_claims=self.query.accepts_claims and not is_proved)
        return tuple(caveats(query, self.request.provider.name))

    def public(self, stream: Stream, cutoff: Callable[[], datetime | None]) -> Iterator[Record | Watermark | Gap]:
        """Yield what of a stream was public at ``cutoff()``, with watermarks and gaps."""
        accept = acceptor(self.query.operation) if accepts_claims(self.query) else accept_none
        return public(stream, cutoff, self.withheld, self.query.operation.period, accept)

    def select(
        self,
        ordered: PublicStream,
        builder: SelectionBuilder,
        query: Query | None = None,
        stop: Position | None = None,
    ) -> None:
        """Fill ``builder`` with the wanted ones of public records in order, none of them after ``stop``."""
        query = query or self.query
        stream = self._computed((part for part in ordered if not isinstance(part, Watermark)), builder, query)
        self._take(self._newest(stream if stop is None else up_to(stream, stop), query), builder, query)

    def select_held(self, held: HeldSlice, builder: SelectionBuilder, query: Query) -> None:
        """Fill ``builder`` as :meth:`select` does. What is computed across the same records is computed once.

        Raise NotSwept if a gap stands beside what is computed: a fetch may end before it comes to that.
        """
        computed, is_filtered = held.computed, not wants_all(self.request.provider, query)
        if computed.get("options") != query.options:
            if self.request.provider.derive(query) is None and not is_filtered and self.request.newest:
                computed["parts"] = [*newest_periods(held.records, held.series, self.request.newest)]
            else:
                computing = SelectionBuilder()
                stream = self._computed(iter(held.records), computing, query)
                computed["parts"] = [*(stream if is_filtered else self._newest(stream, query))]
                if computing.gaps:
                    from pit_fetch.archive.held import NotSwept

                    raise NotSwept
            computed["options"] = query.options
        self._take(self._newest(computed["parts"], query) if is_filtered else computed["parts"], builder, query)

    def _computed(
        self, records: Iterator[Record | Gap], builder: SelectionBuilder, query: Query
    ) -> Iterator[Record | Gap]:
        stream = require_fields(records, query.operation.required, self.flaw)
        derive = self.request.provider.derive(query)
        # What is computed across records needs all of them: where an answer stops is a place among what is computed.
        return stream if derive is None else _derived(stream, derive, builder, query.operation.period)

    def _newest(self, parts: Iterable[Record | Gap], query: Query) -> Iterable[Record | Gap]:
        """Yield the wanted parts of the newest periods."""
        if not self.request.newest:
            return parts
        provider, fields = self.request.provider, series_fields(query.operation)
        wanted = [part for part in parts if isinstance(part, Gap) or is_wanted(provider, query, part)]
        series = ["" if isinstance(part, Gap) else series_name(part, fields) for part in wanted]
        return newest_periods(wanted, series, self.request.newest)

    def _take(self, parts: Iterable[Record | Gap], builder: SelectionBuilder, query: Query) -> None:
        request, provider = self.request, self.request.provider

        def select(record: Record) -> bool:
            is_kept = is_wanted(provider, query, record)
            if is_kept:
                self.progress.kept(provider.name, len(builder.records) + 1)
            return is_kept

        take(
            parts,
            builder,
            after=request.after.position if request.after else None,
            within=request.after is not None and request.after.within is not None,
            cap=request.max_pages * provider.page_size,
            limit=request.limit,
            select=select,
        )

    def flaw(self, missing: Sequence[str]) -> Gap:
        """Return the gap for rows of a file that lack required fields."""
        return malformed(self.request, f"it has rows without {' and '.join(missing)}, which are left out")


def up_to(stream: Iterable[Record | Gap], stop: Position) -> Iterator[Record | Gap]:
    """Yield the parts of an answer, in its order, as far as ``stop``."""
    for part in stream:
        if isinstance(part, Record) and position(part) > stop:
            return
        yield part


def _derived(
    stream: Iterator[Record | Gap], derive: Stage, builder: SelectionBuilder, period: str
) -> Iterator[Record | Gap]:
    """Yield what the provider computes across the public records. Gaps of the stream bypass it."""

    def records() -> Iterator[Record]:
        for part in stream:
            if isinstance(part, Gap):
                builder.gaps.append(part)
            else:
                yield part

    return (part if isinstance(part, Gap) else set_period(part, period) for part in derive(records()))
