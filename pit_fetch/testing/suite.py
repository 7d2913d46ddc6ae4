"""The standard tests of a provider: subclass :class:`ProviderSuite` and set three attributes."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar
from unittest import SkipTest
from weakref import WeakKeyDictionary
from zoneinfo import ZoneInfo

from pit_fetch.provider import Provider
from pit_fetch.request.operations import candidate_operations
from pit_fetch.testing import claims, conduct, interference, ordering, replies, stamps, today
from pit_fetch.testing.baseline import check_records, check_stream, nothing_served
from pit_fetch.testing.certificate import certificate
from pit_fetch.testing.documents import decode, format_of, leaves
from pit_fetch.testing.recording import RecordedReply, analyze
from pit_fetch.testing.runner import Case, Refused, WorldCount, failure, observe
from pit_fetch.testing.server import Response, ServerAnswer, response_of
from pit_fetch.testing.state import State
from pit_fetch.testing.timestamps import floor
from pit_fetch.times import is_aware, parse_rfc3339
from pit_fetch.transport import HttpRequest

_FAR = datetime(2100, 1, 1, tzinfo=UTC)
_FIRST = "test_the_recording_holds_dated_records"
# By class of tests: its recording, those of other operations, what its provider's code held before the first run,
# whether its records have claims alone, and the worlds that its tests ran.
_RECORDINGS: WeakKeyDictionary[type, RecordedReply] = WeakKeyDictionary()
_OTHERS: WeakKeyDictionary[type, tuple[RecordedReply, ...]] = WeakKeyDictionary()
_STATES: WeakKeyDictionary[type, State] = WeakKeyDictionary()
_ON_CLAIMS: WeakKeyDictionary[type, bool] = WeakKeyDictionary()
_WORLDS: WeakKeyDictionary[type, WorldCount] = WeakKeyDictionary()


class NotRun(AssertionError, SkipTest):
    """A test that could show nothing. A runner reports it as skipped."""


class ProviderSuite:
    """The standard tests. A subclass whose name begins with ``Test`` is found by pytest.

    provider       the ``PROVIDER`` value
    reply          a recorded reply as bytes: a few records with different stamps, shorter than a page; it may
                   hold several versions of one item
    options        the request that the reply answers, as :func:`pit_fetch.fetch` takes it

    Where that is not enough:

    recorded_at    when the reply was recorded, ``2024-02-16T00:00:00Z`` (default: its latest stamp)
    zone           the zone of the source's dates and readings without offset, ``America/New_York``
    credentials    values by credential name, where a made-up one does not pass ``Credential.check``
    constants      fields beside the rows that are the same in each reply, ``("currency",)``, and parameters that are
                   no size of a page
    not_revisions  fields whose names look like a time of revision, and that are not
    not_counters   fields whose names look like a number that goes on growing, and that are as published for ever
    max_requests   the most requests that the provider needs in a test
    serve          the server, where one reply to every request is not enough
    """

    provider: ClassVar[Provider]
    reply: ClassVar[bytes]
    options: ClassVar[Mapping[str, object]] = {}
    recorded_at: ClassVar[str] = ""
    zone: ClassVar[str] = ""
    credentials: ClassVar[Mapping[str, str]] = {}
    constants: ClassVar[tuple[str, ...]] = ()
    not_revisions: ClassVar[tuple[str, ...]] = ()
    not_counters: ClassVar[tuple[str, ...]] = ()
    max_requests: ClassVar[int] = 100

    def serve(self, reply: bytes, request: HttpRequest) -> ServerAnswer | Response:
        """Return the answer to ``request``. ``reply`` is the recorded one, as a test has changed it."""
        return 200, {}, reply

    def test_the_recording_holds_dated_records(self) -> None:
        """Check that the provider makes dated records of the recorded reply, which every other test needs."""
        recorded = self._recorded_case()
        conduct.check_declarations(recorded.provider)
        conduct.check_operations(recorded)
        if _is_never(recorded):
            stamps.check_never(recorded)
        if not _is_never(self._undated_case()):
            self._analyzed()

    def test_importing_it_is_light(self) -> None:
        conduct.check_import(self.provider)

    def test_importing_it_asks_nothing(self) -> None:
        conduct.check_import_asks_nothing(self.provider)

    def test_it_asks_declared_hosts_only(self) -> None:
        conduct.check_hosts(self._accepted_case())

    def test_no_secret_gets_out(self) -> None:
        conduct.check_secrets(self.recording())

    def test_records_are_well_formed(self) -> None:
        case = self._accepted_case()
        check_records(observe(case, case.now))

    def test_the_order_is_as_promised(self) -> None:
        ordering.check_order(self._accepted_case())
        ordering.check_watermarks(self.recording())

    def test_versions_are_left_to_the_framework(self) -> None:
        ordering.check_versions(self.recording())

    def test_stamps_come_from_the_reply_alone(self) -> None:
        stamps.check_independence(self.recording())

    def test_stamps_are_the_latest_the_source_can_mean(self) -> None:
        for recording in self.recordings():
            stamps.check_floor(recording)

    def test_stamps_rest_on_publication(self) -> None:
        for recording in self.recordings():
            stamps.check_meaning(recording, recorded=recording is self.recording())
            if not self._rests_on_claims():
                stamps.check_adjusted(recording)

    def test_revisions_are_told(self) -> None:
        if self._rests_on_claims():
            raise NotRun("not run: what is served on a claim may have been revised since")
        for recording in self.recordings():
            stamps.check_revisions(recording, self.not_revisions)

    def test_nothing_is_as_it_stands_today(self) -> None:
        if self._rests_on_claims():
            raise NotRun("not run: what is served on a claim may have changed since")
        today.check_today(self.recording(), self.constants, self.not_counters)

    def test_an_item_is_there_at_its_instant_and_not_before(self) -> None:
        stamps.check_boundary(self.recording())

    def test_what_is_not_public_changes_no_byte(self) -> None:
        interference.check_two_worlds(self.recording(), self.constants)

    def test_nor_in_a_saved_reply(self) -> None:
        interference.check_saved(self.recording())

    def test_nor_under_any_option(self) -> None:
        interference.check_options(self.recording())

    def test_nor_inside_a_public_item(self) -> None:
        interference.check_nested(self.recording())

    def test_a_claim_is_no_later_than_its_proof(self) -> None:
        self._accepted_case()
        claims.check_claims(self._recorded_case())

    def test_what_is_not_even_claimed_changes_no_byte(self) -> None:
        case = self._undated_case()
        if self._rests_on_claims() or not claims.has_claims(case):
            return  # with claims alone every test has taken them for proofs
        case = claims.as_proofs(case)
        recording = analyze(replace(case, now=_recorded_at(case, self.recorded_at)))
        interference.check_two_worlds(recording)
        ordering.check_versions(recording)
        stamps.check_independence(recording)
        stamps.check_boundary(recording)

    def test_a_server_that_ignores_the_window(self) -> None:
        interference.check_ignored_window(self.recording())

    def test_nothing_is_kept_between_runs(self) -> None:
        conduct.check_state(self.recording())

    def test_the_answer_is_the_same_at_any_hour_and_anywhere(self) -> None:
        conduct.check_surroundings(self.recording())

    def test_schema_drift(self) -> None:
        replies.check_drift(self.recording())

    def test_stamps_that_say_less(self) -> None:
        replies.check_imprecise(self.recording())

    def test_odd_bodies(self) -> None:
        replies.check_odd_bodies(self.recording())

    def test_http_errors(self) -> None:
        replies.check_errors(self.recording())

    def test_paging_comes_to_an_end(self) -> None:
        replies.check_paging(self.recording())

    @property
    def worlds_run(self) -> Mapping[str, int]:
        """How many worlds each test ran so far, by its name; without those that need none."""
        return dict(self._worlds().run)

    @property
    def worlds_skipped(self) -> Mapping[str, int]:
        """How many worlds each test left out, because the author's own server cannot serve them."""
        return dict(self._worlds().skipped)

    def recording(self) -> RecordedReply:
        """Return the findings of experiments on the recorded reply, made once for all tests of this class.

        Raises NotRun where nothing can be found: one test fails for it, and those that need it are skipped.
        """
        if _is_never(self._undated_case()):
            raise NotRun("not run: nothing of this operation is served with --pit")
        try:
            return self._analyzed()
        except AssertionError as error:
            raise NotRun(f"not run: correct {_FIRST} first ({str(error).splitlines()[0]})") from None

    def recordings(self) -> Iterator[RecordedReply]:
        """Yield the recording, and that of each other operation that the reply answers."""
        recording = self.recording()
        yield recording
        if type(self) not in _OTHERS:
            _OTHERS[type(self)] = tuple(analyze(case) for case in interference.other_operations(recording))
        yield from _OTHERS[type(self)]

    def certificate(self) -> str:
        """Return what was checked on what, in how many worlds so far, and what no test sees."""
        return certificate(self.recording(), self._rests_on_claims(), self.worlds_run, self.worlds_skipped)

    def _worlds(self) -> WorldCount:
        return _WORLDS.setdefault(type(self), WorldCount())

    def _analyzed(self) -> RecordedReply:
        if type(self) not in _RECORDINGS:
            case = self._undated_case()
            _RECORDINGS[type(self)] = analyze(replace(case, now=_recorded_at(case, self.recorded_at)))
        return _RECORDINGS[type(self)]

    def _accepted_case(self) -> Case:
        """Return a case whose request the program accepts. Raise NotRun where it does not."""
        case = self._undated_case()
        try:
            observe(case, case.now)
        except Refused:
            raise NotRun(f"not run: correct {_FIRST} first") from None
        return case

    def _rests_on_claims(self) -> bool:
        """Return whether records have claims and no proofs. The tests then take claims for proofs."""
        if type(self) not in _ON_CLAIMS:
            _ON_CLAIMS[type(self)] = claims.has_claims_alone(self._recorded_case())
        return _ON_CLAIMS[type(self)]

    def _undated_case(self) -> Case:
        """Return the case long after everything, for what does not depend on when the reply was recorded."""
        case = self._recorded_case()
        return claims.as_proofs(case) if self._rests_on_claims() else case

    def _recorded_case(self) -> Case:
        """Return that case with the provider as it is, whatever its records rest on."""
        credentials = [
            # A made-up value is recognised wherever it turns up.
            (credential, self.credentials.get(credential.name, f"kit-secret-{credential.name}-0123456789"))
            for credential in self.provider.credentials
        ]
        if type(self) not in _STATES:
            _STATES[type(self)] = State(self.provider)
        return Case(
            provider=self.provider,
            reply=self.reply,
            options=self.options,
            serve=lambda reply, request: response_of(self.serve(reply, request)),
            environ={credential.variables[0]: value for credential, value in credentials},
            secrets=tuple(value for credential, value in credentials if credential.secret and not credential.is_file),
            now=_FAR - timedelta(days=1),
            zone=self.zone or _zone_in(self.reply),
            max_requests=self.max_requests,
            own_server=type(self).serve is not ProviderSuite.serve,
            state=_STATES[type(self)],
            worlds=self._worlds(),
        )


def _counted(test: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return the test, which fails, too, where it skipped more than a tenth of its worlds."""

    @functools.wraps(test)
    def run(suite: ProviderSuite) -> None:
        worlds = suite._worlds()
        worlds.begin(test.__name__)
        test(suite)
        worlds.check()

    return run


for _name, _test in list(vars(ProviderSuite).items()):
    if _name.startswith("test_"):
        setattr(ProviderSuite, _name, _counted(_test))


def _is_never(case: Case) -> bool:
    """Return whether nothing can show that records of the requested operation were public."""
    operations = candidate_operations(case.provider, case.options)
    return len(operations) == 1 and operations[0].dating.by == "never"


def _recorded_at(case: Case, declared: str) -> datetime:
    if declared:
        instant = parse_rfc3339(declared)
        if instant is None:
            raise failure(f"recorded_at is {declared!r}", "write it as 2024-02-16T00:00:00Z")
        return instant
    dated: list[datetime] = []
    runs = []
    for offline in (True, False):  # a saved reply may not be all that it takes to date a record
        runs.append(observe(case, case.now, offline=offline))
        dated = dated or [
            stamp
            for record in runs[-1].records
            for stamp in (record.available_at, record.revised_at)
            if is_aware(stamp)
        ]
    if not dated:
        for run in runs:
            check_stream(run)
        raise nothing_served(run)
    return max([*dated, *_dates_in(case, max(dated))]).astimezone(UTC)  # arithmetic in a zone is by its clock


def _zone_in(reply: bytes) -> str:
    """Return the zone that a reply names for its clocks, of several that where days end first; "" for none."""
    zones = set()
    for _, value in leaves(decode(reply)) if format_of(reply) is not None else ():
        if isinstance(value, str) and re.fullmatch("UTC|GMT|[A-Z][A-Za-z_]+(/[A-Z][A-Za-z_]+)+", value):
            with contextlib.suppress(ValueError, OSError, KeyError):
                zones.add(ZoneInfo(value))
    return (
        max(zones, key=lambda zone: datetime(2024, 1, 1, tzinfo=zone).utcoffset() or timedelta()).key if zones else ""
    )


def _dates_in(case: Case, last: datetime) -> Iterator[datetime]:
    """Yield each date in the reply, read as late as it can be: those too that the provider does not use.

    A number counts as an instant only if it is near ``last``, the provider's last stamp.
    """
    if format_of(case.reply) is None:
        return
    for _, value in leaves(decode(case.reply)):
        instant = floor(value, case.zone)
        if instant is None or instant >= _FAR - timedelta(days=370):
            continue
        if isinstance(value, str) or abs(instant - last) < timedelta(days=400):
            yield instant
