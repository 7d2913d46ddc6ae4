"""What the archive of a fetch answers: alone, or together with the source that was just read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from heapq import merge
from itertools import groupby
from typing import TYPE_CHECKING

from pit_fetch.engine.record_filter import PublicStream, RecordFilter
from pit_fetch.engine.report import CollectedRecords
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.pipeline.cursor import START, Position, place_among_ties, position, record_age
from pit_fetch.pipeline.select import Selection, SelectionBuilder, in_order
from pit_fetch.provider import Record
from pit_fetch.request.coverage import TimeSpan, time_asked
from pit_fetch.request.operations import accepts_claims, serves_nothing
from pit_fetch.runtime import Clock
from pit_fetch.times import format_for_people

if TYPE_CHECKING:
    from pit_fetch.archive.interpreted import InterpretedFetch
    from pit_fetch.archive.session import ArchivedRecords, ArchiveSession
    from pit_fetch.transport import ReplayingTransport

    # Reads the recorded replies of a fetch again. None: there are too few of them.
    Replay = Callable[[InterpretedFetch, ReplayingTransport], Selection | None]


class ArchiveAnswer:
    """The answer of one archive to one question.

    wanted   the filter of the question
    claimed  the records of the source that are served on a claim
    """

    def __init__(
        self, archive: ArchiveSession, wanted: RecordFilter, clock: Clock, claimed: Sequence[Record] = ()
    ) -> None:
        self.archive, self.wanted, self.clock, self.claimed = archive, wanted, clock, claimed
        self.request, self.query = wanted.request, wanted.query

    def alone(self, collected: CollectedRecords, replay: Replay) -> CollectedRecords:
        """Return the answer of the archive alone: what it was when this very question was asked of the source before.

        ``replay`` reads again what the source then replied. Raise ArchiveError: Changed if the archive was written to
        meanwhile.
        """
        with closing(self.archive), self.archive.at_one_moment():
            asked = None if self._is_current else self.archive.asked_before(self._instant)
            read = None if asked is None else replay(*asked)
            if read is None:
                return self.recalled(self.with_caveats(collected, self.uncaptured()), None)
            live = self.with_caveats(collected._replace(selection=read), ())
            return self.recalled(live, None if serves_nothing(self.query) else read)

    def with_caveats(self, collected: CollectedRecords, uncaptured: Iterable[Gap]) -> CollectedRecords:
        """Return what the archive alone answers, after what it cannot show."""
        return collected.with_gaps(before=(*uncaptured, *self.wanted.caveats()))

    def with_live(self, live: CollectedRecords) -> CollectedRecords:
        """Return the live answer, completed and corrected by the archive, which has recorded the live fetch, too."""
        from pit_fetch.archive.store.errors import ArchiveError

        read: Selection | None = None
        # If nothing can be served at the PIT, the network was not asked, and nothing had to be recorded either.
        if not serves_nothing(self.query):
            read = live.selection
            # An archive that holds nothing else about the question leaves the live answer as it is.
            holds_more = not self._is_current and self.archive.ingest_if_needed()
            if self.archive.problem:
                return live.with_gaps(after=(gap(Code.NOT_RECORDED, problem=self.archive.problem),))
            if not holds_more:
                return live
        try:
            with self.archive.at_one_moment():
                return self.recalled(live, read)
        except ArchiveError as error:
            return live.with_gaps(after=(gap(Code.ARCHIVE_UNUSABLE, problem=error.problem),))

    @property
    def _is_current(self) -> bool:
        """Return whether the live answer stands as it is: in open mode, in a capture, and for a snapshot as of now."""
        is_past = self.request.pit is not None and self.request.pit < self.query.started
        is_snapshot = self.query.operation.dating.by != "record"
        return self.request.pit is None or self.request.capture or (is_snapshot and not is_past)

    @property
    def _instant(self) -> datetime:
        """Return the instant as of which the archive answers."""
        return min(self.query.now, self.clock.now())

    def uncaptured(self) -> Iterator[Gap]:
        """Yield a gap if the archive does not hold all that is asked for, from the requests alone."""
        covered_until, asked = self.archive.captured_until(self._instant), time_asked(self.query, self._instant)
        if covered_until is None:
            for variable in self.archive.other_addresses(self._instant):
                yield gap(Code.CAPTURED_FROM_ANOTHER, variable=variable)
            # The source may have chosen the window, and a reader who does not know it would take all to be missing.
            yield (
                gap(Code.NOT_CAPTURED)
                if asked.has_no_beginning
                else gap(Code.WINDOW_NOT_CAPTURED, window=_shown(asked))
            )
        elif covered_until < asked.until:
            yield gap(Code.CAPTURED_UNTIL, until=format_for_people(covered_until))

    def recalled(self, collected: CollectedRecords, live: Selection | None) -> CollectedRecords:
        """Return ``collected`` with the records that the archive holds at the PIT, down to where ``live`` stopped.

        Raise ArchiveError if the archive cannot be read.
        """
        instant = self._instant
        archived = self.archive.recall(instant)
        claimed = [] if archived is not None and archived.is_snapshot else self._unrefuted(instant, live)
        if archived is None:
            if live is not None or not claimed:
                return collected._replace(archive=self.archive)
            from pit_fetch.archive.session import ArchivedRecords

            archived = ArchivedRecords(iter(()), self.query)
        stop = None if live is None or archived.is_snapshot else stop_of(live)
        builder = SelectionBuilder()
        if archived.held is not None:
            self.wanted.select_held(archived.held, builder, archived.query)
        else:
            stream = sort_archived(archived, self.wanted.public(archived.records, lambda: instant))
            self.wanted.select(merge_claims(stream, claimed) if claimed else stream, builder, archived.query, stop)
        selection = builder.build()
        if live is not None and not selection.stopped and live.stopped and not archived.is_snapshot:
            selection = live._replace(records=selection.records, gaps=selection.gaps)
        gaps = list(self._drop_claims(collected.selection.gaps) if archived.is_snapshot else collected.selection.gaps)
        # The derive stage has run again, for what the archive holds, and yields its gaps anew.
        before = [known for known in gaps if known not in selection.gaps and not known.code.is_of_choice]
        return collected._replace(selection=selection, archive=self.archive).with_gaps(before=before)

    def _drop_claims(self, gaps: Sequence[Gap]) -> Iterator[Gap]:
        """Yield the gaps of an answer that is one reply of the archive's, all of it proved by sight."""
        for known in gaps:
            if known.code is Code.CLAIMED:
                proved = self.wanted.caveats(is_proved=True)
                yield from (caveat for caveat in proved if caveat not in gaps)
            else:
                yield known

    def _unrefuted(self, instant: datetime, live: Selection | None) -> list[Record]:
        """Return what is served on a claim beside what the archive holds: of the live read or, offline, of captures.

        Raise ArchiveError.
        """
        if not accepts_claims(self.query) or self.query.pit is None:
            return []
        claimed = self.claimed
        if live is None:
            accepted = self.wanted.public(self.archive.captured(instant), lambda: instant)
            claimed = [part for part in accepted if isinstance(part, Record) and part.is_claimed]
        return self.archive.unrefuted(claimed, instant)


def _shown(window: TimeSpan) -> str:
    """Return a window for people. It depends on the request and the clock alone."""
    return f"{format_for_people(window.since)} to {format_for_people(window.until)}"


# The order of the records of an archive, and where they end.


def merge_claims(stream: PublicStream, claimed: Sequence[Record]) -> PublicStream:
    """Merge the records that are served on claims, which belong to other items, into ordered records."""
    records = (part for part in stream if isinstance(part, Record))
    return merge(records, (part for part in in_order(claimed) if isinstance(part, Record)), key=position)


def sort_archived(held: ArchivedRecords, stream: PublicStream) -> PublicStream:
    """Sort a snapshot's records, which come in the order of its reply.

    Those of the index come newest first, and those of one instant in no order.
    """
    if held.is_snapshot:
        return in_order(stream)
    records = (part for part in stream if isinstance(part, Record))
    return (record for _, ties in groupby(records, record_age) for record in sorted(ties, key=place_among_ties))


def stop_of(live: Selection) -> Position | None:
    """Return the last position that the live read reached; None if it came to its end."""
    if not (live.stopped or live.is_cut):
        return None
    return START if live.last is None else position(live.last)
