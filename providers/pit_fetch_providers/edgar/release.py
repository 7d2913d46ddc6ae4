"""When the filings of one company became public, in a few requests however long its history is.

A company's submissions file lists its filings with their acceptance, in a ``Z`` that means New York time in some files
and UTC in others. Read as New York time it is exact, or four to five hours late. That is enough for every filing
whose instant does not lie so close to the PIT that those hours decide: for such a filing its own header is read.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from pit_fetch.provider import UpstreamError
from pit_fetch_providers.edgar import forms
from pit_fetch_providers.edgar.acceptance import Acceptance, available_at
from pit_fetch_providers.edgar.archive import Archive

# By which a submissions file can be late, where its Z means UTC.
_ZONE_DOUBT = timedelta(hours=5)
_EVER = datetime.min.replace(tzinfo=UTC)


class ListedFiling(NamedTuple):
    """A filing by the words of a list that does not show its release."""

    accession: str
    form: str  # as filed, "10-K/A"
    filed: date


def released_at(filing: ListedFiling, cik: int, archive: Archive, horizon: datetime) -> datetime | None:
    """Return the UTC instant from which ``filing`` was public; None if that cannot be shown.

    ``horizon`` is the last instant that matters: a filing that may have been public by then is dated as exactly as
    its header allows. If that cannot be read, or www.sec.gov fails, the later instant counts: an error would show that
    there is such a filing. Raise UpstreamError at the deadline.
    """
    if forms.root(filing.form) not in forms.ORDINARY:
        return None
    submitted = archive.submitted(filing.accession, cik, filing.filed)
    latest = None if submitted is None else available_at(submitted, filing.filed)
    if submitted is not None and latest is not None and (latest <= horizon or _soonest(submitted, filing) > horizon):
        return latest

    def is_public(acceptance: Acceptance) -> bool:
        at = available_at(acceptance, filing.filed)
        return at is not None and at <= min(horizon, archive.started)

    try:
        header = archive.header(filing.accession, cik, in_full_text=False, is_public=is_public)
    except UpstreamError as error:
        if error.is_deadline:
            raise
        header = None
    return latest if header is None else available_at(header, filing.filed)


def _soonest(submitted: Acceptance, filing: ListedFiling) -> datetime:
    """Return the UTC instant before which ``filing`` was not public, however its ``Z`` is read.

    The hours can be more in the end: an afternoon in UTC, read as New York's, is a night that lasts until the morning.
    """
    if submitted.accepted is None:
        return _EVER
    return available_at(submitted._replace(accepted=submitted.accepted - _ZONE_DOUBT), filing.filed) or _EVER
