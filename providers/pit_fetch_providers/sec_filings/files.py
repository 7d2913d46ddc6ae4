"""Fetch the documents of a filing that was public from EDGAR's archive."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Context, HttpReply, Query, UpstreamError
from pit_fetch.wire import decode_page
from pit_fetch_providers.edgar import client, release, subject
from pit_fetch_providers.edgar.header import parse_header
from pit_fetch_providers.edgar.release import ListedFiling
from pit_fetch_providers.sec_filings import documents
from pit_fetch_providers.sec_filings.documents import Document


class Saved(NamedTuple):
    """A saved full submission, dated by its own header."""

    filing: ListedFiling
    at: datetime | None
    documents: list[Document]
    cik: int | None  # of the company under which it is listed


def url(cik: int, accession: str, file: str | None) -> str:
    """Return the address of a document of a filing, or of its index page if ``file`` is None."""
    name = quote(file or f"{accession}-index.htm", errors="surrogatepass")
    return f"https://{client.WWW}{client.folder(accession, cik)}/{name}"


def fetch_documents(context: Context, cik: int, accession: str, kind: str, primary: str | None) -> list[Document]:
    """Return the documents of a type, with their texts. ``primary`` is the file of the primary one, if it is known.

    They come from files of their own if each is whole, and from the filing's full submission otherwise. Raise
    UpstreamError if the host fails or refuses, or does not have what it lists.
    """
    folder = client.folder(accession, cik)
    if primary is not None and kind == documents.PRIMARY and primary.lower().endswith((".htm", ".html")):
        alone = _fetch_source(context, folder, Document(1, "", primary))
        if alone is not None:
            return [alone]
    every = _fetch_index(context, folder, accession)
    wanted = documents.select_documents(every, kind)
    if every and all(document.file for document in wanted):
        complete = [_fetch_source(context, folder, document) for document in wanted]
        if None not in complete:
            return [document for document in complete if document is not None]
    contained = documents.select_documents(fetch_submission(context, cik, accession), kind)
    if wanted and not contained:
        raise client.not_served(accession)
    return contained


def fetch_submission(context: Context, cik: int, accession: str) -> list[Document]:
    """Return the documents of a public filing's full submission, with their texts.

    Raise UpstreamError if it cannot be fetched: the answer would lack a part, and nobody could tell.
    """
    reply = _get(context, f"{client.folder(accession, cik)}/{accession}.txt")
    if reply is None:
        raise client.not_served(accession)
    if documents.accession(reply.body) != accession:
        raise UpstreamError(Code.MALFORMED, problem="it is not the full submission that was asked for")
    return _parse_whole(reply.body)


def parse_saved(body: bytes, query: Query) -> Saved:
    """Return a saved full submission. Raise UpstreamError for anything else, or for one of another company."""
    accession = documents.accession(body)
    header = None if accession is None else parse_header(body, accession)
    if accession is None or header is None:
        raise UpstreamError(Code.MALFORMED, problem="it is no full submission (ACCESSION.txt)")
    filing = ListedFiling(accession, header.form, header.filed)
    ciks = documents.filers(body)
    subject.check_saved(query, ciks)
    asked = query.options["cik"]
    cik = int(asked) if asked else next(iter(ciks), None)
    return Saved(filing, release.date_by_header(header), _parse_whole(body), cik)


def _parse_whole(submission: bytes) -> list[Document]:
    if not documents.is_whole(submission):
        raise UpstreamError(Code.MALFORMED, problem="it is cut: a full submission ends with </SEC-DOCUMENT>")
    found = list(documents.parse_submission(submission))
    if not found:
        raise UpstreamError(Code.MALFORMED, problem="a full submission has no documents")
    return found


def _fetch_index(context: Context, folder: str, accession: str) -> list[Document]:
    for ending in client.INDEX_PAGES:
        reply = _get(context, f"{folder}/{accession}{ending}")
        page = "" if reply is None else decode_page(reply.body)
        if documents.is_whole_list(page) and accession in page:
            return list(documents.parse_index(page, folder))
    return []


def _fetch_source(context: Context, folder: str, document: Document) -> Document | None:
    """Return a document with the text of its file; None if the file is missing, or not whole."""
    if documents.is_binary(document.file):
        return document
    reply = _get(context, f"{folder}/{quote(document.file, errors='surrogatepass')}")
    if reply is None or not documents.is_whole_file(reply.body, document.size):
        return None
    # Decoded by what it says itself, without the host's headers, as it would be in the full submission.
    return document._replace(text=decode_page(documents.strip_envelope(reply.body)))


def not_data_gap(form: str, accession: str) -> Gap:
    """Return the gap for a public filing on paper or in plain text, where others of its form are in XML."""
    return gap(
        Code.NOT_DATA,
        what=f"Form {form} {accession}",
        problem="not in XML",
        hint=f"text with accession={accession} serves it.",
    )


def _get(context: Context, path: str) -> HttpReply | None:
    try:
        reply = client.get(context, client.WWW, path)
    except UpstreamError as error:
        if error.gap.code is not Code.TOO_LARGE:
            raise
        raise UpstreamError(Code.OVERSIZED, **error.gap.params, path=path) from None
    return None if client.is_missing(reply, client.WWW) else reply
