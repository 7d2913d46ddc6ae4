"""When the filings of one company became public, in a few requests however long its history is.

A company's submissions file lists its filings with their acceptance, in a ``Z`` that means New York time in some files
and UTC in others. Read as New York time it is exact, or four to five hours late. That is enough for every filing that
came in before 09:00 of the last business day. What came since is dated by its own header.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from pit_fetch.provider import Query, UpstreamError
from pit_fetch.times import NEW_YORK, delayed, end_of_day
from pit_fetch_providers.edgar import client, forms
from pit_fetch_providers.edgar.acceptance import MORNING, Acceptance, accepted_at, available_at, proof
from pit_fetch_providers.edgar.archive import Archive
from pit_fetch_providers.edgar.header import FIRST_YEAR
from pit_fetch_providers.edgar.numbers import PAPER

# A filing that cannot be dated is reported as missing only a day after the time that its row or header gives. That is
# 24 times the hour's margin, so that the error never reveals a filing that was sent out after the PIT.
_DOUBT = timedelta(days=1)
# The same where the row has no more than a day, which may have been moved back. Before 2003 five years are known. Since
# then 29 of 85,618 dates were moved, by up to 7 days.
_UNTIMED = date(2003, 1, 1)
_DOUBT_OF_UNTIMED, _DOUBT_OF_A_DAY = 5 * timedelta(days=366), timedelta(days=31)
# By which a submissions file can be ahead of New York, where its Z means UTC.
_ZONE_DOUBT = (timedelta(0), timedelta(hours=4), timedelta(hours=5))
_EVER = datetime.min.replace(tzinfo=UTC)


class ListedFiling(NamedTuple):
    """A filing by the words of a list that does not show its release."""

    accession: str
    form: str  # as filed, "10-K/A"
    filed: date


class Release(NamedTuple):
    """The instant from which a filing was public (None: cannot be shown), the basis for it, and the names there."""

    at: datetime | None
    source: str = "provider_metadata"
    acceptance: Acceptance | None = None
    names: tuple[str, ...] = ()


class Dated(NamedTuple):
    """A filing by its header, and the UTC instant from which it was public; None if that cannot be shown.

    ``undoubted`` is the one from which it was public beyond doubt, though no file of it shows when it was written.
    """

    filing: ListedFiling
    at: datetime | None
    undoubted: datetime | None


class Reading(NamedTuple):
    """What the row of a filing in a submissions file can mean, in UTC.

    latest   the instant from which it was public, as :func:`bound` has it
    certain  the instant from which it was, however its ``Z`` is read; None if that is unknown
    soonest  the instant before which it was not, however its ``Z`` is read
    """

    latest: datetime | None
    certain: datetime | None
    soonest: datetime


def reading_of(filing: ListedFiling, submitted: Acceptance | None) -> Reading:
    """Return what ``submitted``, a filing's row in a submissions file, can mean."""
    latest = bound(filing, submitted)
    soonest = _EVER if latest is None or submitted is None else _soonest(submitted, filing)
    return Reading(latest, None if latest is None else _certain(submitted, filing), soonest)


def date_by_row(
    filing: ListedFiling,
    reading: Reading,
    cik: int,
    archive: Archive,
    horizon: datetime,
    *,
    for_any_instant: bool,
) -> datetime | None:
    """Return the UTC instant from which ``filing`` was public; None if that cannot be shown.

    ``reading`` is that of its row, and ``horizon`` the last instant that matters. The row alone dates a filing that was
    certainly public by the last 09:00 of a business day before then. For any other filing, and where the row dates
    nothing, the header is read. ``for_any_instant``, as in a capture, it is also read where the readings of the row are
    days apart. If a header cannot be read, or www.sec.gov fails, its row alone counts: an error would show that there
    is such a filing. Raise UpstreamError at the deadline.
    """
    latest, certain, soonest = reading
    horizon = min(horizon, archive.started)  # of a PIT that is yet to come, what it will settle is not known
    opening = _last_opening(horizon)
    if latest is not None and certain is not None:
        is_settled = certain <= (min(latest, opening) if for_any_instant else opening)
        if is_settled:
            return latest

    def instant(header: Acceptance) -> datetime | None:
        at = available_at(header, filing.filed, _is_evening(filing))
        if at is None or certain is None:
            return at or certain
        # A header that is earlier than its row can mean, or of another day, contradicts it.
        return at if soonest <= at and header.filed == filing.filed else certain

    header = _header(filing.accession, cik, archive, horizon, instant, in_full_text=certain is None)
    dated = certain if header is None else instant(header)
    return dated if dated is None or latest is None or latest > opening else _in_order(dated, latest)


def is_to_come(reading: Reading, horizon: datetime) -> bool:
    """Return whether a filing was not public yet at ``horizon``, however its row is read.

    Nothing is recorded of such a filing. Its row does not tell when it will be public, if its readings are days apart,
    and an archive would go by it.
    """
    return reading.soonest > horizon


def bound(filing: ListedFiling, submitted: Acceptance | None) -> datetime | None:
    """Return the UTC instant from which an ordinary filing was public, by its row; None if unknown.

    That is at the latest, but for the few of :func:`_certain`.
    """
    if submitted is None or submitted.accepted is None or not forms.is_ordinary(filing.form):
        return None
    # An afternoon in UTC, read as New York's, is a late hour of the same day, which proves nothing.
    is_of_its_day = submitted.accepted.date() == filing.filed
    return available_at(submitted, filing.filed, is_of_its_day or _is_evening(filing))


def date_by_files(accession: str, cik: int, archive: Archive, horizon: datetime, *, exact: bool) -> Dated | None:
    """Return a filing, and when it was public, by its own header; None if that cannot be read.

    With ``exact``, when its full submission was written takes the place of the header's margins, where that proves
    something; without a time of writing it is undated. What was public by ``horizon`` is kept. Raise UpstreamError at
    the deadline.
    """
    header = _header(accession, cik, archive, horizon, date_by_header, in_full_text=True)
    if header is None:
        return None
    filing, by_header = ListedFiling(accession, header.form, header.filed), date_by_header(header)
    undoubted = delayed(by_header, _DOUBT)
    if not exact:
        return Dated(filing, by_header, undoubted)
    try:
        written = archive.written(accession, cik, lambda at: at <= min(horizon, archive.started))
    except UpstreamError as error:
        if error.is_deadline:
            raise
        written = None
    # By its margins, a filing that was written later would be served.
    return Dated(filing, None if written is None else date_by_header(header, written), undoubted)


def undoubted_by_row(filing: ListedFiling, submitted: Acceptance | None) -> datetime | None:
    """Return the UTC instant from which an ordinary filing was public beyond doubt, by its row alone; None if unknown.

    It never dates a filing. It says from when on one that cannot be dated is reported as missing: any earlier, the
    error itself would reveal the filing. Paper, which SEC staff enter later, may have no header at all.
    """
    if not forms.is_ordinary(filing.form) or filing.accession.startswith(PAPER):
        return None
    certain = _certain(submitted, filing)
    if certain is not None:
        return delayed(certain, _DOUBT)
    is_untimed = filing.filed < _UNTIMED
    assigned = FIRST_YEAR + (int(filing.accession[11:13]) - FIRST_YEAR) % 100  # the year in its number
    # A number of a later year tells that the date was moved back. Before 2003, so it may have been within its year.
    is_moved_back = is_untimed or assigned > filing.filed.year
    last = max(filing.filed, date(assigned, 12, 31)) if is_moved_back else filing.filed
    return delayed(end_of_day(last, NEW_YORK), _DOUBT_OF_UNTIMED if is_untimed else _DOUBT_OF_A_DAY)


def missed(query: Query, archive: Archive, accession: str, undoubted: datetime | None) -> UpstreamError | None:
    """Return the error for a filing that cannot be dated, if it was public by the PIT beyond doubt; otherwise None.

    Before, an error would show that there is such a filing. Without a PIT none is left out.
    """
    if query.open_mode or undoubted is None or undoubted > min(query.now, archive.started):
        return None
    return archive.failure or (client.not_dated if query.options.get("exact") else client.not_served)(accession)


def date_by_header(header: Acceptance, written: datetime | None = None) -> datetime | None:
    """Return the UTC instant from which the filing of ``header`` was public; ``written`` is when a file of it was."""
    return release_by_header(header, header.form, header.filed, written).at


def release_by_header(header: Acceptance, form: str, filed: date, written: datetime | None = None) -> Release:
    """Return the release of a filing by its header: when its files were written, if that proves it, or its margins."""
    evening = forms.is_evening(form, filed)
    proved = None if written is None else proof(header._replace(written=written), filed, evening)
    is_timed = proved is None and header.accepted is not None
    at = proved or available_at(header, filed, evening)
    return Release(at, "edgar_accepted" if is_timed else "provider_metadata", header, header.names)


def _header(
    accession: str,
    cik: int,
    archive: Archive,
    horizon: datetime,
    instant: Callable[[Acceptance], datetime | None],
    *,
    in_full_text: bool,
) -> Acceptance | None:
    """Return a filing's header; None if it cannot be read, or its host fails. Raise UpstreamError at the deadline."""

    def is_public(header: Acceptance) -> bool:
        at = instant(header)
        return at is not None and at <= min(horizon, archive.started)

    try:
        return archive.header(accession, cik, in_full_text, is_public)
    except UpstreamError as error:
        if error.is_deadline:
            raise
        return None


def _in_order(dated: datetime, latest: datetime) -> datetime:
    """Return when a filing was public by its header (``dated``), but not sooner than its row says (``latest``).

    The rows of a day are late by the same hours. With the exact hour of one of them alone, the order of its filings,
    and which of them is the newest, would be wrong.
    """
    return max(dated, latest)


def _last_opening(horizon: datetime) -> datetime:
    """Return the last 09:00 of a business day by ``horizon``.

    The rows of earlier days have passed by then. What came since is dated by its header, so that it is in order, too.
    """
    local = horizon.astimezone(NEW_YORK)
    day = local.date() - timedelta(days=local.time() < MORNING)
    return datetime.combine(day - timedelta(days=max(0, day.weekday() - 4)), MORNING, NEW_YORK)


def _certain(submitted: Acceptance | None, filing: ListedFiling) -> datetime | None:
    """Return the UTC instant from which ``filing`` was public, however its ``Z`` is read; None if that is unknown.

    Later than :func:`bound` by days where, in one reading, it came in an evening under an earlier date.
    """
    if submitted is None:
        return None
    instants = [available_at(reading, filing.filed, _is_evening(filing)) for reading in _readings(submitted)]
    return max((at for at in instants if at is not None), default=None)


def _is_evening(filing: ListedFiling) -> bool:
    return forms.is_evening(filing.form, filing.filed)


def _soonest(submitted: Acceptance, filing: ListedFiling) -> datetime:
    """Return the UTC instant before which ``filing`` was not public, however its ``Z`` is read.

    The hours can be more in the end: an afternoon in UTC, read as New York's, is a night that lasts until the morning.
    """
    # Where the filing date was moved back, the header alone tells of the release.
    is_moved_back = submitted.accepted is not None and filing.filed < submitted.accepted.date()
    instants = [
        accepted_at(reading) if is_moved_back else available_at(reading, filing.filed, evening=True)
        for reading in _readings(submitted)
    ]
    return min((at for at in instants if at is not None), default=_EVER)


def _readings(submitted: Acceptance) -> Iterator[Acceptance]:
    """Yield what a row can mean: its digits are New York's, or those of UTC."""
    if submitted.accepted is not None:
        yield from (submitted._replace(accepted=submitted.accepted - ahead) for ahead in _ZONE_DOUBT)
