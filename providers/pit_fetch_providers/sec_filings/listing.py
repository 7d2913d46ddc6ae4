"""The operation ``filings``: a company's list of filings, each with the instant from which it was public."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pit_fetch.provider import Context, Page, Query, Record
from pit_fetch_providers.edgar import forms, release, subject, submissions
from pit_fetch_providers.edgar.submissions import Row
from pit_fetch_providers.sec_filings import files, releases
from pit_fetch_providers.sec_filings.releases import DatedRow, LeftOut
from pit_fetch_providers.shared import UNREADABLE


def fetch(query: Query, context: Context, cik: int) -> Iterator[Page]:
    """Yield the filings of a company, the newest release first."""
    made = releases.newest_first(query, context, cik, lambda row: is_wanted(query, row))
    for place, listed in enumerate(made):
        match listed:
            case DatedRow(row, at):
                record = _record(row, cik, at)
            case LeftOut(row):
                # With an id, an archive would take it for undated, and for public since the archive saw it.
                record = _record(row, cik, None)._replace(id="")
            case None:
                record = UNREADABLE
        yield Page((record,), newest_first=True, continues_previous=place > 0)


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the filings of a saved list, dated by their rows; undated if a row is not enough."""
    saved = submissions.saved(body)
    subject.check_saved(query, [] if saved.cik is None else [saved.cik])
    for row in saved.rows:
        if row is None:
            yield UNREADABLE
        elif is_wanted(query, row):
            yield _record(row, saved.cik or 0, release.bound(releases.filing_in(row), row.submitted))


def is_wanted(query: Query, row: Row) -> bool:
    """Return whether a filing has a form and an item that are asked for."""
    return is_form(query, row.form) and has_item(query, row)


def is_form(query: Query, form: str) -> bool:
    """Return whether a form is one that is asked for."""
    return forms.is_wanted(form, query.options["forms"] or ())


def has_item(query: Query, row: Row) -> bool:
    """Return whether a filing has the item that is asked for, if one is."""
    return query.options["item"] in (None, *row.items)


def _record(row: Row, cik: int, at: datetime | None) -> Record:
    payload = {
        "cik": f"{cik:010d}" if cik else None,
        "accession": row.accession,
        "form": row.form,
        "filed": row.filed.isoformat(),
        "items": list(row.items),
        "period": row.period,
        "primary_document": row.document,
        "url": files.url(cik, row.accession, row.document) if cik else None,
    }
    return Record(row.accession, at, payload, available_at_source="edgar_accepted")
