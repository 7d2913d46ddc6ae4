"""One fetch under way: records from the network, a file or an archive, through the pipeline.

:func:`collect` asks and filters; :mod:`pit_fetch.engine.report` writes up the result. The value that passes
between them is :class:`~pit_fetch.engine.report.CollectedRecords`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

from pit_fetch.engine import credentials
from pit_fetch.engine.record_filter import PublicStream, RecordFilter
from pit_fetch.engine.report import CollectedRecords, failed, malformed
from pit_fetch.engine.settings_files import VARIABLES
from pit_fetch.engine.source import Source, Stream, open_file, open_network
from pit_fetch.errors import ConfigError, PitFetchError, UpstreamError
from pit_fetch.gaps import CUTS, Code, Gap, gap
from pit_fetch.pipeline.select import Selection, SelectionBuilder, Withheld, in_order
from pit_fetch.provider import Context, Page, Query, Record, Watermark
from pit_fetch.request.audience import is_for_an_agent
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import compares_publication, refuse_what_is_of_today, serves_nothing
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime, TimeIsUp
from pit_fetch.times import in_new_york, on_new_york_clock

if TYPE_CHECKING:
    from pit_fetch.archive.archived import OpenArchives
    from pit_fetch.archive.interpreted import InterpretedFetch
    from pit_fetch.archive.session import ArchiveSession
    from pit_fetch.engine.from_archive import ArchiveAnswer
    from pit_fetch.engine.progress import Progress
    from pit_fetch.transport import ReplayingTransport

# The network and the stream of records stop at the deadline; the alarm is for a provider that never returns.
ALARM_GRACE_SECONDS = 1.0


def collect(
    request: FetchRequest,
    runtime: Runtime,
    progress: Progress,
    archives: OpenArchives | None = None,
    started: datetime | None = None,
) -> CollectedRecords:
    """Return the public records of ``request``, ordered, selected and cut, and the gaps met on the way.

    ``started``, if given, is when it counts as begun: not after now.
    """
    provider, started = request.provider, started or runtime.clock.now()
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
        if fetch is not None and fetch.archive is not None:
            fetch.archive.recorder.close()
        collected = CollectedRecords(Selection(gaps=(_advise(error.gap, request, runtime),)), Withheld())
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # noqa: BLE001 - a provider may raise anything, even SystemExit
        collected = CollectedRecords(Selection(), Withheld()) if fetch is None else fetch.collected
        collected = failed(request, collected, error)
    secrets = credentials.known_secrets(provider, runtime.environ, runtime.folder)
    return collected._replace(secrets=secrets, requests=0 if fetch is None else fetch.requests_made)


class Fetch:
    """One fetch under way.

    query      the query that the provider receives
    deadline   a reading of the monotonic clock, after which the source is asked for nothing more
    collected  the answer by now
    wanted     what of the source's records answers the question
    claimed    those of them that are served on a claim
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
        self._begin()
        self.source = Source(())
        self.claimed: list[Record] = []
        self.archives = archives
        self.archive = self._open_archive(archives)

    def _begin(self) -> None:
        """Begin an answer: nothing is collected or withheld yet."""
        self.wanted = RecordFilter(self.request, self.query, self.progress)
        self.collected = CollectedRecords(Selection(), self.wanted.withheld)

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
        notes = self.wanted.caveats()
        self.progress.start(self.request.provider.name)
        selection = self._take(self._until_it_ends(self.source.stream))
        live = self.collected._replace(selection=selection).with_gaps(before=notes)
        collected = live if self.archive is None else self._answer_of(self.archive).with_live(live)
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
        self.collected = self.collected._replace(
            secrets=secrets, opened=True, when_empty=when_empty(self.request, self.query), archive=archive
        )

    # From the live source.

    def _take(self, stream: Stream) -> Selection:
        """Return the selection from a source's stream, as far as it comes."""
        builder = SelectionBuilder()
        try:
            with self.runtime.alarm(self.request.timeout + ALARM_GRACE_SECONDS):
                recordable = self._recordable(self.wanted.public(stream, self._cutoff), builder)
                self.wanted.select(in_order(recordable), builder)
        except UpstreamError as error:  # the source broke its promised order; what came before the break is kept
            builder.cut(error.gap)
        except TimeIsUp:
            builder.cut(*self._deadline_gaps())
        return builder.build()

    def _recordable(self, stream: PublicStream, builder: SelectionBuilder) -> PublicStream:
        """Yield ``stream``, and keep what is served on a claim, for an archive. Note whether the read was cut.

        The source's own gaps tell that. Those of the answer would not do: some are about rows that were read and lack a
        field, or about computed values.

        A complete capture drops its watermarks and is sorted at its end, so that records from after the PIT of a later
        question, which break the promised order, cannot end it.
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

    def _deadline_gaps(self) -> list[Gap]:
        timeout = self.request.timeout
        return [
            gap(Code.DEADLINE, timeout=timeout),
            gap(Code.TIMEOUT, host=self.request.provider.name, timeout=timeout),
        ]

    # From the archive.

    def _offline(self, archive: ArchiveSession) -> CollectedRecords:
        """Return the records of the archive alone. Raise ConfigError if it cannot be used."""
        from pit_fetch.archive.archived import OpenArchives
        from pit_fetch.archive.store.errors import ArchiveError, Changed

        secrets = credentials.known_secrets(self.request.provider, self.runtime.environ, self.runtime.folder)
        self.progress.hide(secrets)
        try:
            archive.start(secrets)
            self._opened(secrets)
            try:
                return self._answer_of(archive).alone(self.collected, self._replay)
            except Changed:
                if self.archives is not None:  # the loop answers as of the moment at which it began
                    raise
            # In a way that no writer disturbs, if this user has one.
            with closing(OpenArchives(self.runtime.find)) as archives:
                self._begin()
                self._opened(secrets)
                return self._answer_of(self._session(archive.path, archives)).alone(self.collected, self._replay)
        except ArchiveError as error:
            raise ConfigError(Code.ARCHIVE_UNUSABLE, problem=error.problem) from None

    def _replay(self, recorded: InterpretedFetch, replies: ReplayingTransport) -> Selection | None:
        """Return the selection from what a source replied to this question before; None if not all of it is there."""
        from pit_fetch.archive.interpreted import client_of

        query, client = recorded.query, client_of(recorded, replies)
        context = Context(client, client.credentials)
        stream = () if serves_nothing(query) else query.operation.fetch(query, context)
        selection = self._take(self._until_it_ends(stream))
        if not replies.is_lacking:
            return selection
        self.claimed.clear()
        return None

    def _answer_of(self, archive: ArchiveSession) -> ArchiveAnswer:
        from pit_fetch.engine.from_archive import ArchiveAnswer

        return ArchiveAnswer(archive, self.wanted, self.runtime.clock, self.claimed)


def archive_of(request: FetchRequest, runtime: Runtime) -> str:
    """Return the archive that answers a request, too, as its option or the settings write it; "" without one."""
    return "" if request.input_file else request.archive or runtime.environ.get(VARIABLES["archive"], "")


# Hints for people: what to ask instead of what was refused, and why an answer may be empty.

# No source has much from before this year, so that an answer without items may be owed to a mistyped one.
EARLY_YEAR = 1990


def _advise(refused: Gap, request: FetchRequest, runtime: Runtime) -> Gap:
    """Return the gap of a request that is refused. If a list is to blame, whoever may ask a panel is told so."""
    if refused.code is not Code.USAGE or request.capture or is_for_an_agent(runtime.environ):
        return refused
    from pit_fetch.courtesy.panels import advice

    pit = in_new_york(request.pit) if request.pit else ""
    text = advice(refused.reason, request.options, request.provider, pit)
    return gap(Code.USAGE, text=f"{refused.reason.rstrip('.')}{text}") if text else refused


def when_empty(request: FetchRequest, query: Query) -> str:
    """Return the hint for an answer without items. It depends on the request and the clock alone."""
    if serves_nothing(query):
        return ""
    # Only for dates of publication: a forecast is about a day to come.
    is_late = query.since is not None and query.since > query.now
    if is_late and compares_publication(query.operation):
        end = "now" if query.pit is None else "the PIT"
        return f"--date-from is after {end}: nothing from then on {'is' if query.pit is None else 'was'} public."
    # The query's own bounds are kept away from the ends of the calendar.
    for name, bound in (("--date-to", request.until), ("The PIT", request.pit)):
        if bound is not None and (year := on_new_york_clock(bound).year) < EARLY_YEAR:
            return f"{name} is in the year {year}: check it."
    return request.provider.when_empty(query)
