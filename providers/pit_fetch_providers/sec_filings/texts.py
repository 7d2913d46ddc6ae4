"""The operation ``text``: the documents of one filing, by its number, or of the newest public one of a form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import groupby, islice

from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Context, Query, Record, Stage
from pit_fetch_providers.edgar import release
from pit_fetch_providers.edgar.archive import answering_archive
from pit_fetch_providers.edgar.release import ListedFiling
from pit_fetch_providers.edgar.submissions import Row
from pit_fetch_providers.sec_filings import documents, files, releases
from pit_fetch_providers.sec_filings.documents import Document
from pit_fetch_providers.shared import UNREADABLE

# How many of the newest filings of the form are searched for the document.
MOST_TRIES = 20


def fetch(query: Query, context: Context, cik: int) -> Iterator[Record | Gap]:
    """Yield the documents of the filing that is asked for, if it was public. Raise UpstreamError."""
    accession = query.options["accession"]
    if accession is None:
        yield from _newest(query, context, cik)
        return
    archive = answering_archive(query, context)
    dated = release.by_files(accession, cik, archive, query.now, exact=query.options["exact"])
    if dated is None and archive.failure is not None:  # of the one filing that was named, whatever else was filed
        raise archive.failure
    if dated is not None:
        failure = None if dated.at is not None else release.missed(query, archive, accession, dated.undoubted)
        if failure is not None:
            raise failure
        yield from _documents(query, context, cik, dated.filing, dated.at, None)


def _newest(query: Query, context: Context, cik: int) -> Iterator[Record | Gap]:
    """Yield the wanted documents of the newest filing that has them, or a gap if older ones were not looked at."""
    form, looked_at = query.options["form"], list[Row]()
    for row, at in releases.public(query, context, cik, lambda row: row.form == form):
        if len(looked_at) == MOST_TRIES:
            yield _searched_in_part(form, looked_at)
            return
        looked_at.append(row)
        read = list(_documents(query, context, cik, releases.listed(row), at, row.document))
        yield from read
        if read:
            return


def _searched_in_part(form: str, looked_at: Sequence[Row]) -> Gap:
    return gap(
        Code.SEARCHED_IN_PART,
        count=len(looked_at),
        what=f"the filings of form {form}",
        day=looked_at[-1].filed,
        hint=f"filings with forms={form} lists them, and text with accession=NUMBER serves one.",
    )


def read(body: bytes, query: Query) -> Iterator[Record]:
    """Yield the documents of a saved full submission, whose header dates it. Raise UpstreamError for anything else."""
    filing, at, submitted, cik = files.saved(body, query)
    if query.options["accession"] in (None, filing.accession) and query.options["form"] in (None, filing.form):
        for document in documents.chosen(submitted, query.options["document"]):
            yield _record(document, cik or int(filing.accession[:10]), filing, at)


def derive(query: Query) -> Stage:
    """Return the stage that keeps the newest filing, and of its documents the passages that are asked for."""

    def stage(records: Iterator[Record]) -> Iterator[Record]:
        # An archive also has the mere stamp of a filing that was asked for before it was public.
        read = (record for record in records if record.payload)
        filings = groupby(read, key=lambda record: (record.available_at, record.payload["accession"]))
        for _, newest in islice(filings, 1):
            yield from newest if query.options["find"] is None else _passages(newest, query.options["find"])

    return stage


def _documents(
    query: Query, context: Context, cik: int, filing: ListedFiling, at: datetime | None, primary: str | None
) -> Iterator[Record]:
    if releases.is_public(query, at):
        for document in files.read(context, cik, filing.accession, query.options["document"], primary):
            yield _record(document, cik, filing, at)
    else:  # not read: its stamp alone lets the framework withhold it
        yield UNREADABLE._replace(id=filing.accession, available_at=at)


def _record(document: Document, cik: int, filing: ListedFiling, at: datetime | None) -> Record:
    from pit_fetch_providers.sec_filings import text  # imported here: of the other operations none has use for it

    source = None if documents.is_binary(document.file) else document.text
    payload = {
        "accession": filing.accession,
        "form": filing.form,
        "document": document.type or filing.form,
        "url": files.url(cik, filing.accession, document.file or f"{filing.accession}.txt"),
        "text": None if source is None else text.of_document(source, document.file),
    }
    return Record(f"{filing.accession}:{document.sequence:03d}", at, "edgar_accepted", payload)


def _passages(records: Iterable[Record], phrase: str) -> Iterator[Record]:
    from pit_fetch_providers.sec_filings import text

    for record in records:
        if record.payload["text"] is None and not documents.is_binary(record.payload["url"]):
            yield record._replace(payload={**record.payload, "position": None})  # it may hold the phrase
        for passage in text.passages(record.payload["text"] or "", phrase):
            payload = {**record.payload, "position": passage.position, "text": passage.text}
            yield record._replace(id=f"{record.id}:{passage.position:08d}", payload=payload)
