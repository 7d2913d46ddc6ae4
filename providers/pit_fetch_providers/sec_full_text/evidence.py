"""The evidence of a filing's release, and how much of it has to be read.

A filing listed in the daily index of its filing date was public by the end of that New York day. The filing's own
header decides if it is not listed there (it was released at another time), if it was filed on the PIT's own New York
day (whose end is yet to come) or on a day without an index, and always with --exact. The filing date itself is not
evidence. With --exact, when the filing's own files were written takes the place of the header's margins.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, datetime
from typing import NamedTuple

from pit_fetch.times import NEW_YORK, end_of_day
from pit_fetch_providers.edgar import forms
from pit_fetch_providers.edgar.acceptance import Acceptance
from pit_fetch_providers.edgar.archive import Archive
from pit_fetch_providers.edgar.daily_index import Listed
from pit_fetch_providers.edgar.release import Release, release_by_header
from pit_fetch_providers.sec_full_text.filings import Filing


def filing_date_release(filing: Filing, open_mode: bool) -> Release:
    """Return the release without evidence: for ordinary forms in open mode, the end of the filing date."""
    ordinary = open_mode and forms.is_ordinary(filing.form)
    return Release(end_of_day(filing.filed, NEW_YORK) if ordinary else None)


def _index_release(filing: Filing, listed: Listed) -> Release:
    """Return the release of a filing that the index of its filing date lists, with the names that it had there."""
    return Release(end_of_day(filing.filed, NEW_YORK), names=listed[filing.accession])


class Evidence(NamedTuple):
    """The evidence for the filings of one fetch."""

    archive: Archive
    public_by: datetime  # the PIT, or now if that is earlier
    today: date  # the PIT's own New York day, which no index can date
    open_mode: bool  # nothing is read, unless --exact is given
    exact: bool  # the header dates everything
    # A filing not listed under its filing date is left out, unread: its release, which may be after the PIT, must
    # neither change the order nor cost a request.
    ordered: bool

    def listed(self, day: date, filed: Iterable[Filing | None]) -> Listed | None:
        """Return the filings in the index of ``day``, with their names.

        None if it is not consulted or does not exist: the header decides then.
        """
        wanted = frozenset(filing.accession for filing in filed if filing is not None)
        if not wanted or self.exact or self.open_mode or day >= self.today:
            return None
        return self.archive.listed(day, wanted)

    def needs_header(self, filing: Filing | None, listed: Listed | None) -> bool:
        """Return whether :meth:`release_of` has to read something about ``filing``."""
        if filing is None or (self.open_mode and not self.exact):
            return False
        return listed is None or (filing.accession not in listed and not self.ordered)

    def release_of(self, filing: Filing, listed: Listed | None) -> Release:
        """Return the release of ``filing``; ``listed`` is what :meth:`listed` returned for its filing date."""
        if listed is not None and filing.accession in listed:
            return _index_release(filing, listed)
        if not self.needs_header(filing, listed):
            return filing_date_release(filing, self.open_mode)
        return self._header_release(filing, listed)

    def is_to_come(self, filing: Filing, release: Release) -> bool:
        """Return whether the index of the PIT's own day, yet to be written, will say if ``filing`` is sent out later.

        An archive must not hold the release that its header announces, or it would contradict that index.
        """
        is_announced = release.at is not None and release.at > self.public_by and filing.filed >= self.today
        return is_announced and not self.open_mode and not self.exact

    def _header_release(self, filing: Filing, listed: Listed | None) -> Release:
        def is_public(acceptance: Acceptance) -> bool:
            return self._is_public(self._acceptance_release(filing, acceptance))

        in_full_text = self.exact or not self._page_counts(filing, listed)
        acceptance = self.archive.header(filing.accession, filing.ciks[0], in_full_text, is_public)
        if acceptance is None and self.exact and filing.filed < self.today:
            listed = self.archive.listed(filing.filed, frozenset({filing.accession}))
            if listed is not None and filing.accession in listed:
                return _index_release(filing, listed)
        if acceptance is None and self._page_counts(filing, listed):
            acceptance = self.archive.page(filing.accession, filing.ciks[0], filing.filed, is_public)
        return (
            filing_date_release(filing, self.open_mode)
            if acceptance is None
            else self._acceptance_release(filing, acceptance)
        )

    def _page_counts(self, filing: Filing, listed: Listed | None) -> bool:
        """Return whether the index page of ``filing`` is evidence. It does not show a later release.

        So it is trusted for ordinary forms only, and not for a filing that the index of its filing date leaves out, or
        might if it could be read.
        """
        may_be_listed = listed is None and not self.archive.is_unread(filing.filed)
        return may_be_listed and forms.is_ordinary(filing.form)

    def _acceptance_release(self, filing: Filing, acceptance: Acceptance) -> Release:
        if not self.exact:
            return self._in_order(filing, release_by_header(acceptance, filing.form, filing.filed))

        def by_files(written: datetime) -> Release:
            return release_by_header(acceptance, filing.form, filing.filed, written)

        written = self.archive.written(filing.accession, filing.ciks[0], lambda at: self._is_public(by_files(at)))
        # By its margins, a filing that was written later would be served.
        return Release(None) if written is None else by_files(written)

    def _in_order(self, filing: Filing, release: Release) -> Release:
        bound = end_of_day(filing.filed, NEW_YORK)
        if self.ordered and release.at is not None and (bound is None or release.at > bound):
            # It would break the order, and what it displaced must not depend on how the window is cut.
            return Release(None)
        return release

    def _is_public(self, release: Release) -> bool:
        return release.at is not None and release.at <= self.public_by
