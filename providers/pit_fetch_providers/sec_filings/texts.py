"""The operation ``text``: the documents of one filing, by its number, or of the newest public one of a form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any

from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Context, Query, Record, Stage
from pit_fetch_providers.edgar import release
from pit_fetch_providers.edgar.archive import answering_archive
from pit_fetch_providers.edgar.release import ListedFiling
from pit_fetch_providers.edgar.submissions import Row
from pit_fetch_providers.sec_filings import documents, files, listing, releases
from pit_fetch_providers.sec_filings.documents import Document
from pit_fetch_providers.shared import UNREADABLE

# So many of the newest filings of a form are searched for the document.
MOST_TRIES = 20


def fetch(query: Query, context: Context, cik: int) -> Iterator[Record | Gap]:
    """Yield the documents of the filing that is asked for, if it was public. Raise UpstreamError."""
    accession = query.options["accession"]
    if accession is None:
        yield from _newest(query, context, cik)
        return
    archive = answering_archive(query, context)
    dated = release.date_by_files(accession, cik, archive, query.now, exact=query.options["exact"])
    if dated is None and archive.failure is not None:  # of the one filing that was named, whatever else was filed
        raise archive.failure
    if dated is not None:
        failure = None if dated.at is not None else release.missed(query, archive, accession, dated.undoubted)
        if failure is not None:
            raise failure
        yield from _documents(query, context, cik, dated.filing, dated.at)


def _newest(query: Query, context: Context, cik: int) -> Iterator[Record | Gap]:
    """Yield the wanted documents of the newest filing that has them, or a gap if the search ended before.

    A newer filing without them yields a record as well: :func:`derive` tells of it, also in an archive's answer.
    """
    looked_at = list[Row]()
    for row, at in releases.public_releases(query, context, cik, lambda row: _is_wanted(query, row)):
        if len(looked_at) == MOST_TRIES:
            yield _searched_in_part(query, looked_at)
            return
        looked_at.append(row)
        filing = releases.filing_in(row)
        found = list(_documents(query, context, cik, filing, at, row))
        yield from found or [
            Record(row.accession, at, _payload(filing, cik, row), available_at_source="edgar_accepted")
        ]
        if found:
            return


def _is_wanted(query: Query, row: Row) -> bool:
    return row.form == query.options["form"] and listing.has_item(query, row)


def _searched_in_part(query: Query, looked_at: Sequence[Row]) -> Gap:
    return gap(
        Code.SEARCHED_IN_PART,
        count=len(looked_at),
        what=_describe(query),
        day=looked_at[-1].filed,
        hint=f"filings with forms={query.options['form']} lists them, and text with accession=NUMBER serves one.",
    )


def _describe(query: Query) -> str:
    """Return the filings among which a request chooses, in words."""
    item = query.options["item"]
    return f"the filings of form {query.options['form']}" + (f" with item {item}" if item else "")


def parse_reply(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the documents of a saved full submission, whose header dates it. Raise UpstreamError for anything else."""
    filing, at, submitted, cik = files.parse_saved(body, query)
    if query.options["accession"] in (None, filing.accession) and query.options["form"] in (None, filing.form):
        for document in documents.select_documents(submitted, query.options["document"]):
            yield _record(document, cik or int(filing.accession[:10]), filing, at)


def derive(query: Query) -> Stage:
    """Return the stage that keeps the newest filing with the documents, and of these the passages asked for.

    A gap tells of newer filings without the documents.
    """

    def stage(records: Iterator[Record]) -> Iterator[Record | Gap]:
        # An archive also holds the bare stamp of a filing that was asked for before it was public.
        dated = (record for record in records if record.payload)
        passed = list[Record]()
        for _, filing in groupby(dated, key=lambda record: (record.available_at, record.payload["accession"])):
            found = list(filing)
            if found[0].payload["document"] is None:
                passed += found
                continue
            yield from [_passed_over(query, passed)] if passed else []
            yield from found if query.options["find"] is None else _passages(found, query.options["find"])
            return

    return stage


def _passed_over(query: Query, passed: Sequence[Record]) -> Gap:
    return gap(
        Code.PASSED_OVER,
        what=_describe(query),
        missing=f"a document {query.options['document']}",
        count=len(passed),
        newest=passed[0].payload["accession"],
    )


def _documents(
    query: Query, context: Context, cik: int, filing: ListedFiling, at: datetime | None, row: Row | None = None
) -> Iterator[Record]:
    if releases.is_public(query, at):
        primary = None if row is None else row.document
        for document in files.fetch_documents(context, cik, filing.accession, query.options["document"], primary):
            yield _record(document, cik, filing, at, row)
    else:  # not read: its stamp is enough for the framework to withhold it
        yield UNREADABLE._replace(id=filing.accession, available_at=at)


def _record(document: Document, cik: int, filing: ListedFiling, at: datetime | None, row: Row | None = None) -> Record:
    from pit_fetch_providers.sec_filings import text  # imported here: the other operations do not need it

    source = None if documents.is_binary(document.file) else document.text
    payload = {
        **_payload(filing, cik, row),
        "document": document.type or filing.form,
        "url": files.url(cik, filing.accession, document.file or f"{filing.accession}.txt"),
        "text": None if source is None else text.document_text(source, document.file),
    }
    return Record(f"{filing.accession}:{document.sequence:03d}", at, payload, available_at_source="edgar_accepted")


def _payload(filing: ListedFiling, cik: int, row: Row | None) -> dict[str, Any]:
    """Return the payload of a filing without a document."""
    return {
        "accession": filing.accession,
        "form": filing.form,
        "items": None if row is None else list(row.items),  # only the company's list numbers them
        "document": None,
        "url": files.url(cik, filing.accession, None),
        "text": None,
    }


def _passages(records: Iterable[Record], phrase: str) -> Iterator[Record]:
    from pit_fetch_providers.sec_filings import text

    for record in records:
        if record.payload["text"] is None and not documents.is_binary(record.payload["url"]):
            yield record._replace(payload={**record.payload, "position": None})  # unread, it may hold the phrase
        for passage in text.find_passages(record.payload["text"] or "", phrase):
            payload = {**record.payload, "position": passage.position, "text": passage.text}
            yield record._replace(id=f"{record.id}:{passage.position:08d}", payload=payload)
