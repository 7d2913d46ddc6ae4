"""The standard tests of a provider: subclass :class:`ProviderSuite` and set three attributes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, ClassVar, Literal
from unittest import SkipTest

from pit_fetch.provider import Provider
from pit_fetch.request.operations import candidate_operations
from pit_fetch.testing import claims, conduct, interference, records, replies, stamps, today, versions
from pit_fetch.testing.certificate import certificate
from pit_fetch.testing.documents import leaves
from pit_fetch.testing.findings import Findings, analyze, field_of
from pit_fetch.testing.observe import Case, Refused, observe
from pit_fetch.testing.recording import ROLES, Recording
from pit_fetch.testing.report import WorldCount, failure
from pit_fetch.testing.source import Source
from pit_fetch.testing.state import State
from pit_fetch.times import is_aware, parse_rfc3339

_FAR = datetime(2100, 1, 1, tzinfo=UTC)
_FIRST = "test_the_recording_holds_dated_records"


class NotRun(AssertionError, SkipTest):
    """A test that could show nothing. A runner reports it as skipped."""


def _test(
    *checks: Callable[[Any], None],
    of: Literal["provider", "recorded", "undated", "findings", "operations", "claims"] = "findings",
    not_on_claims: str = "",
) -> Callable[[ProviderSuite], None]:
    """Return the test that makes the checks. It fails, too, where it skipped more than a tenth of its worlds.

    of             what is checked: an attribute of what is known of the suite, or what one yields
    not_on_claims  why nothing is known where records have claims alone
    """

    def test(suite: ProviderSuite) -> None:
        known = _known(type(suite))
        if not_on_claims and known.rests_on_claims:
            raise NotRun(f"not run: what is served on a claim {not_on_claims}")
        known.worlds.begin(test.__name__)
        subjects = getattr(known, of)
        try:
            for subject in subjects if isinstance(subjects, list) else [subjects]:
                for check in checks:
                    check(subject)
        except Refused:
            if of in ("findings", "operations", "claims"):  # the request itself was accepted
                raise
            raise NotRun(f"not run: correct {_FIRST} first") from None
        known.worlds.check()

    test.__doc__ = checks[0].__doc__
    return test


class ProviderSuite:
    """The standard tests. A subclass whose name begins with ``Test`` is found by pytest.

    provider       the ``PROVIDER`` value
    reply          a recorded reply as bytes: a few records with different stamps, shorter than a page; it may
                   hold several versions of one item
    options        the request that the reply answers, as :func:`pit_fetch.fetch` takes it

    Where that is not enough:

    recording      a :class:`Recording` in the place of the reply: several replies, pages, what you know of fields
    recorded_at    when the reply was recorded, ``2024-02-16T00:00:00Z`` (default: its latest stamp)
    zone           the zone of the source's dates and readings without offset, ``America/New_York``
    credentials    values by credential name, where a made-up one does not pass ``Credential.check``
    max_requests   the most requests that the provider needs in a test
    """

    provider: ClassVar[Provider]
    reply: ClassVar[bytes] = b""
    options: ClassVar[Mapping[str, object]] = {}
    recording: ClassVar[Recording | None] = None
    recorded_at: ClassVar[str] = ""
    zone: ClassVar[str] = ""
    credentials: ClassVar[Mapping[str, str]] = {}
    max_requests: ClassVar[int] = 100

    def test_the_recording_holds_dated_records(self) -> None:
        """Check that the provider makes dated records of the recorded reply, which every other test needs."""
        known = _known(type(self))
        conduct.check_declarations(known.recorded.provider)
        conduct.check_operations(known.recorded)
        if known.is_never:
            records.check_never(known.recorded)
        else:
            _ = known.analyzed

    test_importing_it_is_light = _test(conduct.check_import, of="provider")
    test_importing_it_asks_nothing = _test(conduct.check_import_asks_nothing, of="provider")
    test_it_asks_declared_hosts_only = _test(conduct.check_hosts, of="undated")
    test_records_are_well_formed = _test(records.check_records, of="undated")
    test_the_order_is_as_promised = _test(records.check_order, of="undated")
    test_a_claim_is_no_later_than_its_proof = _test(records.check_claims, of="recorded")
    test_what_is_not_even_claimed_changes_no_byte = _test(
        interference.check_two_worlds,
        versions.check_versions,
        stamps.check_independence,
        stamps.check_boundary,
        of="claims",
    )
    test_no_secret_gets_out = _test(conduct.check_secrets)
    test_versions_are_left_to_the_framework = _test(versions.check_versions)
    test_stamps_come_from_the_reply_alone = _test(stamps.check_independence)
    test_stamps_are_the_latest_the_source_can_mean = _test(stamps.check_floor, of="operations")
    test_stamps_rest_on_publication = _test(stamps.check_meaning, of="operations")
    test_revisions_are_told = _test(versions.check_revisions, of="operations", not_on_claims="may be revised")
    test_nothing_is_as_it_stands_today = _test(today.check_today, not_on_claims="may have changed since")
    test_an_item_is_there_at_its_instant_and_not_before = _test(stamps.check_boundary)
    test_what_is_not_public_changes_no_byte = _test(interference.check_two_worlds)
    test_nor_in_a_saved_reply = _test(interference.check_saved)
    test_nor_under_any_option = _test(interference.check_options)
    test_nor_inside_a_public_item = _test(interference.check_nested)
    test_a_server_that_ignores_the_window = _test(interference.check_ignored_window)
    test_nothing_is_kept_between_runs = _test(conduct.check_state)
    test_the_answer_is_the_same_at_any_hour_and_anywhere = _test(conduct.check_surroundings)
    test_schema_drift = _test(replies.check_drift)
    test_stamps_that_say_less = _test(replies.check_imprecise)
    test_odd_bodies = _test(replies.check_odd_bodies)
    test_http_errors = _test(replies.check_errors)
    test_paging_comes_to_an_end = _test(replies.check_paging)

    @property
    def worlds_run(self) -> Mapping[str, int]:
        """How many worlds each test ran so far, by its name; without those that need none."""
        return dict(_known(type(self)).worlds.run)

    @property
    def worlds_skipped(self) -> Mapping[str, int]:
        """How many worlds each test left out, because the format of the recording cannot hold them."""
        return dict(_known(type(self)).worlds.skipped)

    def findings(self) -> Findings:
        """Return the findings of experiments on the recording, made once for all tests of this class.

        Raises NotRun where nothing can be found: one test fails for it, and those that need it are skipped.
        """
        return _known(type(self)).findings

    def certificate(self) -> str:
        """Return what was checked on what, in how many worlds so far, and what no test sees."""
        return certificate(self.findings(), _known(type(self)).rests_on_claims, self.worlds_run, self.worlds_skipped)


@dataclass(frozen=True)
class _Known:
    """What is known of a class of tests, found out once: cases of it, and what experiments find."""

    suite: type[ProviderSuite]
    worlds: WorldCount = field(default_factory=WorldCount)

    @cached_property
    def recorded(self) -> Case:
        """The case with the provider as it is, long after everything that was recorded."""
        suite, provider = self.suite, self.suite.provider
        recording = suite.recording or Recording(suite.reply)
        for name, role in recording.fields.items():
            if role not in ROLES:
                raise failure(f"the recording says that {name} is {role!r}", "role-of-a-field", roles=", ".join(ROLES))
        credentials = [
            # A made-up value is recognised wherever it turns up.
            (credential, suite.credentials.get(credential.name, f"kit-secret-{credential.name}-0123456789"))
            for credential in provider.credentials
        ]
        return Case(
            provider=provider,
            source=Source(recording, suite.zone),
            options=suite.options,
            environ={credential.variables[0]: value for credential, value in credentials},
            secrets=tuple(value for credential, value in credentials if credential.secret and not credential.is_file),
            now=_FAR - timedelta(days=1),
            zone=suite.zone,
            max_requests=suite.max_requests,
            state=State(provider),
            worlds=self.worlds,
        )

    @cached_property
    def rests_on_claims(self) -> bool:
        """Whether records have claims and no proofs. The tests then take claims for proofs."""
        return claims.has_claims_alone(self.recorded)

    @cached_property
    def undated(self) -> Case:
        """That case, for what does not depend on when the reply was recorded."""
        return claims.as_proofs(self.recorded) if self.rests_on_claims else self.recorded

    @property
    def is_never(self) -> bool:
        """Whether nothing can show that records of the requested operation were public."""
        operations = candidate_operations(self.undated.provider, self.undated.options)
        return len(operations) == 1 and operations[0].dating.by == "never"

    @property
    def provider(self) -> Provider:
        return self.suite.provider

    @cached_property
    def analyzed(self) -> Findings:
        return self._analyzed(self.undated)

    @property
    def findings(self) -> Findings:
        if self.is_never:
            raise NotRun("not run: nothing of this operation is served with --pit")
        try:
            return self.analyzed
        except AssertionError as error:
            raise NotRun(f"not run: correct {_FIRST} first ({str(error).splitlines()[0]})") from None

    @cached_property
    def operations(self) -> list[Findings]:
        """The findings, and those of each other operation that the recording answers."""
        return [self.findings, *(analyze(case) for case in interference.other_operations(self.findings))]

    @property
    def claims(self) -> list[Findings]:
        """The findings of what is claimed beside proofs. With claims alone every test has taken them for proofs."""
        if self.rests_on_claims or not claims.has_claims(self.undated):
            return []
        return [self._analyzed(claims.as_proofs(self.undated))]

    def _analyzed(self, case: Case) -> Findings:
        return analyze(replace(case, now=_recorded_at(case, self.suite.recorded_at)))


_known: Callable[..., _Known] = functools.cache(_Known)


for _name, _made in vars(ProviderSuite).items():
    if _name.startswith("test_"):
        _made.__name__ = _name


def _recorded_at(case: Case, declared: str) -> datetime:
    if declared:
        instant = parse_rfc3339(declared)
        if instant is None:
            raise failure(f"recorded_at is {declared!r}", "form-of-recorded-at")
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
            records.check_stream(run)
        raise records.nothing_served(run)
    return max([*dated, *_dates_in(case, max(dated))]).astimezone(UTC)  # arithmetic in a zone is by its clock


def _dates_in(case: Case, last: datetime) -> Iterator[datetime]:
    """Yield each date in the recording, read as late as it can be: those too that the provider does not use.

    A number counts as an instant only if it is near ``last``, the provider's last stamp.
    """
    for path, value in leaves(case.source.tree()):
        instant = case.source.floor(field_of(path), value)
        if instant is None or instant >= _FAR - timedelta(days=370):
            continue
        if isinstance(value, str) or abs(instant - last) < timedelta(days=400):
            yield instant
