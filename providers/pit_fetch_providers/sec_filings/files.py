"""Ask EDGAR's archive for the documents of a filing that was public."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from urllib.parse import quote

from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Context, HttpReply, Query, UpstreamError
from pit_fetch_providers.edgar import client, release, subject
from pit_fetch_providers.edgar.header import parse_header
from pit_fetch_providers.edgar.release import ListedFiling
from pit_fetch_providers.markup.characters import decode
from pit_fetch_providers.sec_filings import documents
from pit_fetch_providers.sec_filings.documents import Document


class Saved(NamedTuple):
    """A saved full submission, which its own header dates."""

    filing: ListedFiling
    at: datetime | None
    documents: list[Document]
    cik: int | None  # under which it is listed


def url(cik: int, accession: str, file: str | None) -> str:
    """Return the address of a document of a filing; of its index page where no file is known."""
    name = quote(file or f"{accession}-index.htm", errors="surrogatepass")
    return f"https://{client.WWW}{client.folder(accession, cik)}/{name}"


def read(context: Context, cik: int, accession: str, kind: str, primary: str | None) -> list[Document]:
    """Return the documents of a type, with their sources; ``primary`` is the file of the primary one, if it is known.

    A file by itself counts only if it is whole and no notice of the SEC's. Otherwise, and where no list names the
    files, they come from the filing's full submission. Raise UpstreamError if the host fails or refuses, and if it does
    not have what it lists.
    """
    folder = client.folder(accession, cik)
    if primary is not None and kind == documents.PRIMARY and primary.lower().endswith((".htm", ".html")):
        alone = _with_source(context, folder, Document(1, "", primary))
        if alone is not None:
            return [alone]
    every = _index(context, folder, accession)
    wanted = documents.chosen(every, kind)
    if every and all(document.file for document in wanted):
        complete = [_with_source(context, folder, document) for document in wanted]
        if None not in complete:
            return [document for document in complete if document is not None]
    contained = documents.chosen(submission(context, cik, accession), kind)
    if wanted and not contained:
        raise client.not_served(accession)
    return contained


def submission(context: Context, cik: int, accession: str) -> list[Document]:
    """Return the documents of a public filing's full submission, with their sources.

    Raise UpstreamError if it cannot be had: without it an answer would lack a part, and nobody could tell.
    """
    reply = _get(context, f"{client.folder(accession, cik)}/{accession}.txt")
    if reply is None:
        raise client.not_served(accession)
    if documents.accession(reply.body) != accession:
        raise UpstreamError(Code.MALFORMED, problem="it is not the full submission that was asked for")
    return _contained(reply.body)


def saved(body: bytes, query: Query) -> Saved:
    """Return a saved full submission. Raise UpstreamError for anything else, or one of another company than asked."""
    accession = documents.accession(body)
    header = None if accession is None else parse_header(body, accession)
    if accession is None or header is None:
        raise UpstreamError(Code.MALFORMED, problem="it is no full submission (ACCESSION.txt)")
    filing = ListedFiling(accession, header.form, header.filed)
    ciks = documents.filers(body)
    subject.check_saved(query, ciks)
    asked = query.options["cik"]
    cik = int(asked) if asked else next(iter(ciks), None)
    return Saved(filing, release.of_header(header), _contained(body), cik)


def _contained(submission: bytes) -> list[Document]:
    if not documents.is_whole(submission):
        raise UpstreamError(Code.MALFORMED, problem="it is cut: a full submission ends with </SEC-DOCUMENT>")
    found = list(documents.contained(submission))
    if not found:
        raise UpstreamError(Code.MALFORMED, problem="a full submission has no documents")
    return found


def _index(context: Context, folder: str, accession: str) -> list[Document]:
    for ending in client.INDEX_PAGES:
        reply = _get(context, f"{folder}/{accession}{ending}")
        page = "" if reply is None else decode(reply.body)
        if documents.is_whole_list(page) and accession in page:
            return list(documents.listed(page, folder))
    return []


def _with_source(context: Context, folder: str, document: Document) -> Document | None:
    """Return a document that is a file of its own, with its source; None if the file is not there, or not whole.

    Its characters are those that it tells itself, and not the host: the full submission has no more than that.
    """
    if documents.is_binary(document.file):
        return document
    reply = _get(context, f"{folder}/{quote(document.file, errors='surrogatepass')}")
    if reply is None or not documents.is_whole_file(reply.body, document.size):
        return None
    return document._replace(text=decode(documents.without_envelope(reply.body)))


def not_data(form: str, accession: str) -> Gap:
    """Return the gap for a public filing that is plain text or paper, where others of its form are XML."""
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
