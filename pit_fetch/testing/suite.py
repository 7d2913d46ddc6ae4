"""The tests of a provider: subclass :class:`ProviderSuite`, give three attributes, get eighteen tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from pit_fetch.provider import Credential, Provider
from pit_fetch.testing import bodies, drift, manners, promises, stamps, worlds
from pit_fetch.testing.case import Case, failure, is_aware
from pit_fetch.testing.program import baseline, look
from pit_fetch.testing.transport import Answer, Request, Response, response_of
from pit_fetch.times import parse_rfc3339

_FAR = datetime(2100, 1, 1, tzinfo=UTC)


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
    not_revisions  fields whose names look like a time of revision, and that are not
    max_requests   the most requests that the provider needs in a test
    serve          the server, where one reply to every request is not enough
    """

    provider: ClassVar[Provider]
    reply: ClassVar[bytes]
    options: ClassVar[Mapping[str, object]] = {}
    recorded_at: ClassVar[str] = ""
    zone: ClassVar[str] = ""
    credentials: ClassVar[Mapping[str, str]] = {}
    not_revisions: ClassVar[tuple[str, ...]] = ()
    max_requests: ClassVar[int] = 100

    def serve(self, reply: bytes, request: Request) -> Answer | Response:
        """The answer to ``request``. ``reply`` is the recorded one, as a test has changed it."""
        return 200, {}, reply

    def test_the_recording_holds_dated_records(self) -> None:
        """The provider makes dated records of the recorded reply; without, no other test says anything."""
        baseline(self.case())

    def test_importing_it_is_light(self) -> None:
        manners.check_import(self.case())

    def test_it_asks_declared_hosts_only(self) -> None:
        manners.check_hosts(self.case())

    def test_no_secret_gets_out(self) -> None:
        manners.check_secrets(self.case())

    def test_records_are_well_formed(self) -> None:
        stamps.check_records(self.case())

    def test_the_order_is_as_promised(self) -> None:
        promises.check_order(self.case())

    def test_versions_are_left_to_the_framework(self) -> None:
        promises.check_versions(self.case())

    def test_stamps_come_from_the_reply_alone(self) -> None:
        stamps.check_independence(self.case())

    def test_stamps_are_the_latest_the_source_can_mean(self) -> None:
        stamps.check_floor(self.case())

    def test_revisions_are_told(self) -> None:
        stamps.check_revisions(self.case(), self.not_revisions)

    def test_an_item_is_there_at_its_instant_and_not_before(self) -> None:
        stamps.check_boundary(self.case())

    def test_what_is_not_public_changes_no_byte(self) -> None:
        worlds.check_two_worlds(self.case())

    def test_a_server_that_ignores_the_window(self) -> None:
        worlds.check_ignored_window(self.case())

    def test_schema_drift(self) -> None:
        drift.check_drift(self.case())

    def test_stamps_that_say_less(self) -> None:
        drift.check_imprecise(self.case())

    def test_odd_bodies(self) -> None:
        bodies.check_odd_bodies(self.case())

    def test_http_errors(self) -> None:
        bodies.check_errors(self.case())

    def test_paging_comes_to_an_end(self) -> None:
        bodies.check_paging(self.case())

    def case(self) -> Case:
        """What every check needs. The wall clock stands at ``recorded_at``."""
        values = {one.name: self.credentials.get(one.name, _made_up(one)) for one in self.provider.credentials}
        case = Case(
            provider=self.provider,
            reply=self.reply,
            options=self.options,
            serve=lambda reply, request: response_of(self.serve(reply, request)),
            environ={one.variables[0]: values[one.name] for one in self.provider.credentials},
            secrets=tuple(values[one.name] for one in self.provider.credentials if one.secret),
            now=_FAR,
            zone=self.zone,
            max_requests=self.max_requests,
        )
        return replace(case, now=_recorded_at(case, self.recorded_at))


def _recorded_at(case: Case, given: str) -> datetime:
    if given:
        moment = parse_rfc3339(given)
        if moment is None:
            raise failure(f"recorded_at is {given!r}", "write it as 2024-02-16T00:00:00Z")
        return moment
    records = look(case, _FAR - timedelta(days=1), offline=True).records
    moments = [stamp for one in records for stamp in (one.available_at, one.revised_at) if is_aware(stamp)]
    if not moments:
        raise failure(
            "read() makes no dated record of the recorded reply, so the test does not know when it is from",
            "check that read() stamps records with an aware available_at; if it cannot, set recorded_at",
        )
    return max(moments)


def _made_up(credential: Credential) -> str:
    """A value that is recognised wherever it turns up."""
    return f"kit-secret-{credential.name}-0123456789"
