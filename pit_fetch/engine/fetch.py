"""One fetch under way: records from the network, a file or an archive, through the pipeline.

:func:`collect` asks and filters; :mod:`pit_fetch.engine.report` writes up the result. The value that passes
between them is :class:`~pit_fetch.engine.report.CollectedRecords`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

from pit_fetch.engine import credentials
from pit_fetch.engine.recalled import PublicStream, archived_variant, in_envelope_order, stop_of, until, with_claims
from pit_fetch.engine.report import CollectedRecords, malformed
from pit_fetch.engine.settings_files import VARIABLES
from pit_fetch.engine.source import Source, Stream, open_file, open_network
from pit_fetch.errors import ConfigError, PitFetchError, UpstreamError
from pit_fetch.gaps import CUTS, Code, Gap, gap
from pit_fetch.pipeline.claims import accept_none, acceptor
from pit_fetch.pipeline.cursor import Position
from pit_fetch.pipeline.select import (
    Selection,
    SelectionBuilder,
    Withheld,
    in_order,
    public,
    take,
    with_period,
    with_required_fields,
)
from pit_fetch.provider import Page, Provider, Query, Record, Stage, Watermark
from pit_fetch.request.audience import is_for_an_agent
from pit_fetch.request.coverage import Reach, reach
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import (
    accepts_claims,
    caveats,
    is_of_publication,
    is_out_of_reach,
    refuse_what_is_of_today,
)
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime, TimeIsUp
from pit_fetch.support.misuse import Misuse
from pit_fetch.times import format_for_people, in_new_york, on_new_york_clock

if TYPE_CHECKING:
    from pit_fetch.archive.open_archives import OpenArchives
    from pit_fetch.archive.session import ArchiveSession
    from pit_fetch.engine.progress import Progress

# The network and the stream of records stop at the deadline; the alarm is for a provider that never returns.
ALARM_GRACE_SECONDS = 1.0

# No source has much from before this year, so that an answer without items may be owed to a mistyped one.
EARLY_YEAR = 1990


def collect(
    request: FetchRequest, runtime: Runtime, progress: Progress, archives: OpenArchives | None = None
) -> CollectedRecords:
    """Return the public records of ``request``, ordered, selected and cut, and the gaps met on the way."""
    provider, started = request.provider, runtime.clock.now()
    deadline = runtime.clock.monotonic() + request.timeout
    progress.begin(provider.name, request.pit, started)
    fetch: Fetch | None = None
    try:
        query = build_query(request, started)
        refuse_what_is_of_today(query, runtime.environ)
        fetch = Fetch(request, query, runtime, progress, deadline, archives)
        return fetch.collect()
    except PitFetchError as error:
        # Something the request needs is missing: no fetch took place, so nothing was withheld either.
        collected = CollectedRecords(Selection(gaps=(_with_advice(error.gap, request, runtime),)), Withheld())
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - a provider may raise anything, even SystemExit
        collected = CollectedRecords(Selection(), Withheld()) if fetch is None else fetch.collected
        collected = failed(request, collected, error)
    secrets = credentials.known_secrets(provider, runtime.environ, runtime.folder)
    return collected._replace(secrets=secrets, requests=0 if fetch is None else fetch.requests_made)


def _with_advice(refused: Gap, request: FetchRequest, runtime: Runtime) -> Gap:
    """Return the gap of a request that is refused. If a list is to blame, whoever may ask a panel is told so."""
    if refused.code is not Code.USAGE or request.capture or is_for_an_agent(runtime.environ):
        return refused
    from pit_fetch.request.several import advice

    pit = in_new_york(request.pit) if request.pit else ""
    text = advice(refused.reason, request.options, request.provider, pit)
    return gap(Code.USAGE, text=f"{refused.reason.rstrip('.')}{text}") if text else refused


class Fetch:
    """One fetch under way.

    query      the query that the provider receives
    deadline   a reading of the monotonic clock, after which the source is asked for nothing more
    collected  the answer by now
    """

    def __init__(
        self,
        request: FetchRequest,
        query: Query,
        runtime: Runtime,
        progress: Progress,
        deadline: float,
        archives: OpenArchives | None = None,
    ) -> None:
        self.request, self.query, self.runtime = request, query, runtime
        self.progress, self.deadline = progress, deadline
        self.collected = CollectedRecords(Selection(), Withheld())
        self.source = Source(())
        self.claimed: list[Record] = []
        self.archives = archives
        self.archive = self._open_archive(archives)

    @property
    def requests_made(self) -> int:
        """The number of HTTP requests by now."""
        return 0 if self.source.client is None else self.source.client.requests_made

    def collect(self) -> CollectedRecords:
        """Return the records of the source and of the archive, if any. Raise PitFetchError if it cannot be asked."""
        if self.archive is not None and self.request.offline:
            return self._offline(self.archive)
        self.source = self._open_source()
        self._opened(self.source.secrets, self.archive)
        notes = self._caveats()
        self.progress.start(self.request.provider.name)
        selection = self._take(self._until_it_ends(self.source.stream))
        live = self.collected._replace(selection=selection).with_gaps(before=notes)
        collected = live if self.archive is None else self._with_archive(self.archive, live)
        return collected._replace(requests=self.requests_made)

    def _open_archive(self, archives: OpenArchives | None) -> ArchiveSession | None:
        """Return the archive of this fetch, if it has one. Raise ConfigError for --offline without one."""
        path = archive_of(self.request, self.runtime)
        if path:
            return self._session(self.runtime.path(path), archives)
        if self.request.offline and not self.request.input_file:
            raise ConfigError(Code.OFFLINE_WITHOUT_ARCHIVE)
        return None

    def _session(self, path: str, archives: OpenArchives | None) -> ArchiveSession:
        from pit_fetch.archive.session import ArchiveSession

        return ArchiveSession(path, self.request, self.query, self.runtime, archives)

    def _open_source(self) -> Source:
        if self.request.input_file:
            return open_file(self.request, self.query, self.runtime, self.deadline)
        return open_network(self.request, self.query, self.runtime, self.progress, self.deadline, self.archive)

    def _opened(self, secrets: tuple[str, ...], archive: ArchiveSession | None = None) -> None:
        """Note that the source is open, so that even an empty answer has the gaps of one."""
        when_empty = _when_empty(self.request, self.query)
        self.collected = self.collected._replace(secrets=secrets, opened=True, when_empty=when_empty, archive=archive)

    def _caveats(self, *, archived: bool = False, is_proved: bool = False) -> tuple[Gap, ...]:
        """Return what the answer cannot show. ``is_proved``: nothing in it is served on a claim."""
        query = self.query._replace(archived=archived, accepts_claims=self.query.accepts_claims and not is_proved)
        return tuple(caveats(query, self.request.provider.name))

    # From the live source.

    def _take(self, stream: Stream) -> Selection:
        """Return the selection from a source's stream, as far as it comes."""
        builder = SelectionBuilder()
        try:
            with self.runtime.alarm(self.request.timeout + ALARM_GRACE_SECONDS):
                self._select(in_order(self._recordable(self._public(stream, self._cutoff), builder)), builder)
        except UpstreamError as error:  # the source broke its promised order; what came before the break is kept
            builder.cut(error.gap)
        except TimeIsUp:
            builder.cut(*self._deadline_gaps())
        return builder.build()

    def _public(self, stream: Stream, cutoff: Callable[[], datetime | None]) -> Iterator[Record | Watermark | Gap]:
        accept = acceptor(self.query.operation) if accepts_claims(self.query) else accept_none
        return public(stream, cutoff, self.collected.withheld, self.query.operation.period, accept)

    def _recordable(self, stream: PublicStream, builder: SelectionBuilder) -> PublicStream:
        """Yield ``stream``, and keep what is served on a claim, for an archive. Note whether the read was cut.

        Here and not in the answer, whose gaps are also of rows that lack something and of what is computed from them:
        those are read.

        A capture of all that there is gets no watermarks. It is put in order at its end, so that a promised order that
        records from after a PIT break does not end it.
        """
        for part in stream:
            if self.archive is not None and isinstance(part, Record) and part.is_claimed:
                self.claimed.append(part)
            builder.is_cut |= isinstance(part, Gap) and part.type in CUTS
            if not (self.request.captures_all and isinstance(part, Watermark)):
                yield part

    def _cutoff(self) -> datetime | None:
        """Return the PIT, but never later than the last reply: what was still running then is not over yet."""
        pit = self.request.pit
        if pit is None or pit <= self.query.started:
            return pit
        return min(pit, self.source.received_at or self.query.started)

    def _until_it_ends(self, stream: Stream) -> Iterator[Record | Page | Watermark | Gap]:
        """Yield ``stream``, followed by a gap if an error or the deadline ends it.

        An error ends the stream as its last record would: what was complete before it is kept.
        """
        try:
            for part in stream:
                if not isinstance(part, (Record, Page, Watermark, Gap)):
                    raise TypeError("a provider may yield only Record, Page, Watermark and Gap")
                yield part
                if self.runtime.clock.monotonic() > self.deadline:
                    yield from self._deadline_gaps()
                    return
        except UpstreamError as error:
            if error.is_deadline:
                yield gap(Code.DEADLINE, timeout=self.request.timeout)
            problem = (
                error.gap.params.get("problem") or f"it is an error of the source ({error.gap.reason.rstrip('.')})"
            )
            yield malformed(self.request, problem) if self.request.input_file else error.gap
        except TimeIsUp:
            yield from self._deadline_gaps()

    def _flaw(self, missing: Sequence[str]) -> Gap:
        return malformed(self.request, f"it has rows without {' and '.join(missing)}, which are left out")

    def _deadline_gaps(self) -> list[Gap]:
        timeout = self.request.timeout
        return [
            gap(Code.DEADLINE, timeout=timeout),
            gap(Code.TIMEOUT, host=self.request.provider.name, timeout=timeout),
        ]

    def _select(
        self,
        ordered: PublicStream,
        builder: SelectionBuilder,
        query: Query | None = None,
        stop: Position | None = None,
    ) -> None:
        """Fill ``builder`` with the wanted ones of public records in order, none of them after ``stop``."""
        request, query, provider = self.request, query or self.query, self.request.provider
        records = (part for part in ordered if not isinstance(part, Watermark))
        stream = with_required_fields(records, query.operation.required, self._flaw)

        def select(record: Record) -> bool:
            is_wanted = query.in_window(record) and provider.select(query, record)
            if is_wanted:
                self.progress.kept(provider.name, len(builder.records) + 1)
            return is_wanted

        derive = provider.derive(query)
        # What is computed across records needs all of them: where an answer stops is a place among what is computed.
        stream = stream if derive is None else _derived(stream, derive, builder, query.operation.period)
        take(
            stream if stop is None else until(stream, stop),
            builder,
            after=request.after.position if request.after else None,
            within=request.after is not None and request.after.within is not None,
            cap=request.max_pages * provider.page_size,
            limit=request.limit,
            select=select,
        )

    # From the archive.

    def _offline(self, archive: ArchiveSession) -> CollectedRecords:
        """Return the records of the archive alone. Raise ConfigError if it cannot be used."""
        from pit_fetch.archive.open_archives import OpenArchives
        from pit_fetch.archive.store.errors import ArchiveError, Changed

        secrets = credentials.known_secrets(self.request.provider, self.runtime.environ, self.runtime.folder)
        self.progress.hide(secrets)
        try:
            archive.start(secrets)
            self._opened(secrets)
            try:
                return self._read(archive)
            except Changed:
                if self.archives is not None:  # the other answers of the loop are of the moment at which it began
                    raise
            # In a way that no writer disturbs, if this user has one.
            with closing(OpenArchives(self.runtime.find)) as archives:
                self.collected = self.collected._replace(withheld=Withheld())
                return self._read(self._session(archive.path, archives))
        except ArchiveError as error:
            raise ConfigError(Code.ARCHIVE_UNUSABLE, problem=error.problem) from None

    def _read(self, archive: ArchiveSession) -> CollectedRecords:
        """Return the records of the archive alone. Raise ArchiveError: Changed if it was written to meanwhile."""
        with closing(archive), archive.at_one_moment():
            collected = self.collected.with_gaps(
                before=(gap(Code.OFFLINE), *self._uncaptured(archive), *self._caveats(archived=True))
            )
            collected = self._from_archive(archive, collected, None)
            advice = archive.advice
        self.progress.advise(advice)
        return collected

    def _uncaptured(self, archive: ArchiveSession) -> Iterator[Gap]:
        """Yield a gap if the archive does not hold all that is asked for, from the requests alone."""
        until, wanted = archive.captured_until(self._instant), reach(self.query, self._instant)
        if until is None:
            # The source may have chosen the window, and a reader who does not know it would take all to be missing.
            yield gap(Code.NOT_CAPTURED) if wanted.is_open else gap(Code.WINDOW_NOT_CAPTURED, window=_shown(wanted))
        elif until < wanted.until:
            yield gap(Code.CAPTURED_UNTIL, until=format_for_people(until))

    @property
    def _instant(self) -> datetime:
        """The instant as of which the archive answers."""
        return min(self.query.now, self.runtime.clock.now())

    def _with_archive(self, archive: ArchiveSession, live: CollectedRecords) -> CollectedRecords:
        """Return the live answer, completed and corrected by the archive, which has recorded the live fetch, too."""
        from pit_fetch.archive.store.errors import ArchiveError

        read: Selection | None = None
        # If nothing can be served at the PIT, the network was not asked, and nothing had to be recorded either.
        if not is_out_of_reach(self.query):
            read = live.selection
            # Without a PIT the live answer is today's, and so is a snapshot. An archive that holds nothing else about
            # the question leaves the live answer as it is.
            is_past = self.request.pit is not None and self.request.pit < self.query.started
            is_snapshot = self.query.operation.dating != "record"
            is_today = self.request.pit is None or self.request.capture or (is_snapshot and not is_past)
            holds_more = not is_today and archive.ingest_if_needed()
            if archive.problem:
                return live.with_gaps(after=(gap(Code.NOT_RECORDED, problem=archive.problem),))
            if not holds_more:
                return live
        try:
            with archive.at_one_moment():
                return self._from_archive(archive, live, read)
        except ArchiveError as error:
            return live.with_gaps(after=(gap(Code.ARCHIVE_UNUSABLE, problem=error.problem),))

    def _from_archive(
        self, archive: ArchiveSession, collected: CollectedRecords, live: Selection | None
    ) -> CollectedRecords:
        """Return ``collected`` with the records that the archive holds at the PIT, down to where ``live`` stopped.

        Raise ArchiveError if the archive cannot be read.
        """
        instant = self._instant
        held = archive.recall(instant)
        claimed = [] if held is not None and held.is_snapshot else self._claims(archive, instant, live)
        if held is None:
            if live is not None or not claimed:
                return collected._replace(archive=archive)
            from pit_fetch.archive.session import ArchivedRecords

            held = ArchivedRecords(iter(()), self.query)
        gaps, builder = collected.selection.gaps, SelectionBuilder()
        if live is not None:  # what the live answer could not show is no longer what this one cannot
            of_live = self._caveats()
            gaps = (*self._caveats(archived=True), *(gap for gap in gaps if gap not in of_live))
        if held.is_snapshot:
            gaps = tuple(archived_variant(gap) for gap in self._without_claims(gaps))
        stream = in_envelope_order(held, self._public(held.records, lambda: instant))
        stream = with_claims(stream, claimed) if claimed else stream
        stop = None if live is None or held.is_snapshot else stop_of(live)
        self._select(stream, builder, held.query, stop)
        selection = builder.build()
        if live is not None and not selection.stopped and live.stopped and not held.is_snapshot:
            selection = selection._replace(stopped=live.stopped, last=live.last, resume=live.last)
        # A stage that computes across records has said the same of the live ones.
        before = [known for known in gaps if known not in selection.gaps]
        return collected._replace(selection=selection, archive=archive).with_gaps(before=before)

    def _without_claims(self, gaps: Sequence[Gap]) -> Iterator[Gap]:
        """Yield the gaps of an answer that is one reply of the archive's, all of it proved by sight."""
        for known in gaps:
            if known.code is Code.CLAIMED:
                yield from (proved for proved in self._caveats(archived=True, is_proved=True) if proved not in gaps)
            else:
                yield known

    def _claims(self, archive: ArchiveSession, instant: datetime, live: Selection | None) -> list[Record]:
        """Return what is served on a claim beside what the archive holds: of the live read or, offline, of captures.

        Raise ArchiveError.
        """
        if not accepts_claims(self.query) or self.query.pit is None:
            return []
        if live is None:
            accepted = self._public(archive.captured(instant), lambda: instant)
            self.claimed = [part for part in accepted if isinstance(part, Record) and part.is_claimed]
        return archive.unrefuted(self.claimed, instant)


def archive_of(request: FetchRequest, runtime: Runtime) -> str:
    """Return the archive that answers a request, too, as its option or the settings write it; "" without one."""
    return "" if request.input_file else request.archive or runtime.environ.get(VARIABLES["archive"], "")


def _shown(window: Reach) -> str:
    """Return a window for people. It depends on the request and the clock alone."""
    return f"{format_for_people(window.since)} to {format_for_people(window.until)}"


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

    return (part if isinstance(part, Gap) else with_period(part, period) for part in derive(records()))


def _when_empty(request: FetchRequest, query: Query) -> str:
    """Return the hint for an answer without items. It depends on the request and the clock alone."""
    if is_out_of_reach(query):
        return ""
    # Of another date than that of publication it would not be true: a forecast is of a day to come.
    is_late = query.since is not None and query.since > query.now
    if is_late and is_of_publication(query.operation):
        end = "now" if query.pit is None else "the PIT"
        return f"--date-from is after {end}: nothing from then on {'is' if query.pit is None else 'was'} public."
    # The query's own bounds are kept away from the ends of the calendar.
    for name, bound in (("--date-to", request.until), ("The PIT", request.pit)):
        if bound is not None and (year := on_new_york_clock(bound).year) < EARLY_YEAR:
            return f"{name} is in the year {year}: check it."
    return request.provider.when_empty(query)


def failed(request: FetchRequest, collected: CollectedRecords, error: BaseException) -> CollectedRecords:
    """Return ``collected`` without any record of a provider that crashed.

    Which records it had yielded by then may depend on withheld ones.
    """
    # With a PIT even what a provider asks for may come from a record that is withheld.
    hint = f"({_named(error)})" if request.pit is None else "See the audit file (PIT_FETCH_AUDIT)."
    crash = gap(Code.PLUGIN_FAILED, source=request.provider.name, hint=hint)
    return collected._replace(selection=Selection(gaps=(crash,)), failure=_where(error, request.provider))


def _named(error: BaseException) -> str:
    """Return the type of an exception, without its text, which may repeat a reply; the text alone of one of ours."""
    return str(error) if isinstance(error, Misuse) else type(error).__name__


def _where(error: BaseException, provider: Provider) -> str:
    """Return what an exception is, and the last line of the provider's own package that led to it, or the last line."""
    from traceback import walk_tb

    package = provider.fetch.__module__.partition(".")[0]
    every = list(walk_tb(error.__traceback__))
    own = [place for place in every if str(place[0].f_globals.get("__name__")).partition(".")[0] == package]
    for frame, line in (own or every)[-1:]:
        return f"{_named(error)} at {frame.f_code.co_filename}:{line}"
    return _named(error)
