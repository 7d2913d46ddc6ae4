"""Read the documents of a filing: as its index page lists them, and as its full submission holds them. Pure.

Each document of a full submission has an encoding of its own, so a submission is read as bytes.

>>> submission = b"<DOCUMENT>\\n<TYPE>EX-99.01\\n<SEQUENCE>2\\n<TEXT>\\nRecord revenue.\\n</TEXT>\\n</DOCUMENT>"
>>> [document.text for document in select_documents(parse_submission(submission), "EX-99.1")]
['Record revenue.']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pit_fetch.wire import decode_page, unescape
from pit_fetch_providers.edgar.header import ENVELOPE, HEADER_OF

# A row of the index page: number, description, link, type, size. Before 2001 the link names no file.
_LISTED = re.compile(
    r'<td scope="row">\s*([0-9]{1,9})\s*</td>\s*<td scope="row">(?:(?!</td>).)*</td>\s*'
    r'<td scope="row"><a href="([^"]*)">(?:(?!</td>).)*</td>\s*<td scope="row">([^<]*)</td>'
    r'(?:\s*<td scope="row">\s*([0-9]{1,12})\s*</td>)?',
    re.DOTALL,
)
_DOCUMENT = re.compile(rb"^<DOCUMENT>\s*?\n(.*?)(?:^</DOCUMENT>|\Z)", re.DOTALL | re.MULTILINE)
_IN_ENVELOPE = re.compile(rb"\s*<DOCUMENT>[ \t]*\r?\n")
_TAG = re.compile(r"^<(TYPE|SEQUENCE|FILENAME)>[ \t]*([^\r\n]*)", re.MULTILINE)
_TEXT = re.compile(rb"^<TEXT>[ \t]*\r?\n?(.*?)(?:^</TEXT>|\Z)", re.DOTALL | re.MULTILINE)
# Some programs write these after the end of a file.
_PADDING = r"[\s\0\x1a]*"
# The end of a full submission. Until 2000 a line of the e-mail that it came in follows.
_END = re.compile(rf"</{ENVELOPE}-DOCUMENT>\s*(?:-----END PRIVACY-ENHANCED MESSAGE-----\s*)?{_PADDING}\Z".encode())
_TAIL = 1_000
# The end of a file: of an HTML page, or of the envelope in which a file that is not inline XBRL is served.
_FILE_END = re.compile(rf"</(?:html|DOCUMENT)>(?:\s|<!--[^<>]*-->)*{_PADDING}\Z".encode(), re.IGNORECASE)
# The head of a page in inline XBRL declares its namespace.
_INLINE_XBRL = b"/inlineXBRL"
# The titles of pages that come in the place of a file: the SEC's own ("SEC.gov | File Unavailable"), and a refusal.
_NOTICE = re.compile(rb"<title>\s*(?:SEC\.gov\s*\||Access Denied\s*</|Request Rate Threshold)", re.IGNORECASE)
# The end of the list of documents on an index page.
_LIST_END = "</table>"
# A document that is no plain text stands in an element of its own.
_WRAPPER = re.compile(rb"\s*<(XML|XBRL|PDF)>[ \t]*\r?\n?(.*?)(?:</\1>\s*)?\Z", re.DOTALL)
_HEAD = 10_000
PRIMARY = "PRIMARY"
_FILER = re.compile(r"^[ \t]*(?:CENTRAL INDEX KEY:|<CIK>)[ \t]*([0-9]{1,10})[ \t]*\r?$", re.MULTILINE)


class Document(NamedTuple):
    """A document of a filing. Its text is None until it is read."""

    sequence: int
    type: str  # as filed, such as "EX-99.1"
    file: str = ""  # its name in the filing's folder; "" before 2001
    text: str | None = None
    size: int = 0  # of the file, in bytes; 0 if unknown


def parse_index(page: str, folder: str) -> Iterator[Document]:
    """Yield the documents on the index page of a filing, which is in ``folder``."""
    for sequence, link, kind, size in _LISTED.findall(page):
        _, is_below, file = unescape(link).partition(f"{folder}/")
        # The SEC lists a page that it made of a form in XML, in a folder of its own, beside the XML that was filed.
        if "/" not in file:
            yield Document(int(sequence), unescape(kind).strip().upper(), file if is_below else "", size=int(size or 0))


def is_whole(submission: bytes) -> bool:
    """Return whether a full submission has its end: one that was cut off would be served as a whole."""
    return _END.search(submission[-_TAIL:]) is not None


def is_whole_file(source: bytes, size: int = 0) -> bool:
    """Return whether a file is a whole document of a filing, and no other page in its place.

    It has the ``size`` that the index page gives. Where that is 0, for unknown, it has the form and the end of a filed
    document. A notice of the SEC's is no document.
    """
    has_end = _FILE_END.search(source[-_TAIL:]) is not None
    is_whole = len(source) == size if size else has_end and _is_filed(source)
    return is_whole and _NOTICE.search(source[:_HEAD]) is None


def _is_filed(source: bytes) -> bool:
    """Return whether a file has the form of a filed document: it is in an envelope, or in inline XBRL."""
    return _IN_ENVELOPE.match(source) is not None or _INLINE_XBRL in source[:_HEAD]


def is_whole_list(page: str) -> bool:
    """Return whether an index page lists documents, and has the end of the list."""
    rows = list(_LISTED.finditer(page))
    return bool(rows) and _LIST_END in page[rows[-1].end() :]


def parse_submission(submission: bytes) -> Iterator[Document]:
    """Yield the documents of a full submission, with their texts."""
    for head, body in _parts(submission):
        tags = {tag: value.strip() for tag, value in _TAG.findall(decode_page(head))}
        sequence = tags.get("SEQUENCE", "")
        yield Document(
            sequence=int(sequence) if re.fullmatch("[0-9]{1,9}", sequence) else 0,
            type=tags.get("TYPE", "").upper(),
            file=tags.get("FILENAME", ""),
            text=decode_page(body),
        )


def _parts(submission: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the head and the bytes of each document in a full submission."""
    for match in _DOCUMENT.finditer(submission):
        text = _TEXT.search(match[1])
        # The last line break is that of the line behind it.
        body = b"" if text is None else text[1].removesuffix(b"\n").removesuffix(b"\r")
        wrapped = _WRAPPER.match(body)
        yield match[1].partition(b"<TEXT>")[0], body if wrapped is None else wrapped[2]


def is_binary(file: str) -> bool:
    """Return whether a file of that name is no text."""
    return file.lower().endswith((".pdf", ".jpg", ".jpeg", ".gif", ".png", ".xlsx", ".xls", ".zip"))


def strip_envelope(source: bytes) -> bytes:
    """Return the document in a file, which may be in an envelope, as it is in a full submission."""
    inside = next(_parts(source), None) if _IN_ENVELOPE.match(source) else None
    return source if inside is None else inside[1]


def normalize_type(kind: str) -> str:
    """Return a type of document in its one spelling: EX-99.1 for EX-99.01."""
    return re.sub(r"\.0+(?=[0-9])", ".", kind.upper())


def select_documents(documents: Iterable[Document], kind: str) -> list[Document]:
    """Return the documents of a type, for EX-99 with EX-99.1 and so on; the first document for "primary"."""
    every, wanted = list(documents), normalize_type(kind)
    if wanted == PRIMARY:
        return every[:1]
    found = [document for document in every if f"{normalize_type(document.type)}.".startswith(f"{wanted}.")]
    return found or _sole_exhibit(every, wanted)


def _sole_exhibit(every: Iterable[Document], wanted: str) -> list[Document]:
    """Return the one exhibit that is filed as EX-99 where EX-99.1 is wanted; nothing if there are several."""
    exhibit, _, number = wanted.partition(".")
    others = [document for document in every if f"{document.type}.".startswith(f"{exhibit}.")]
    return others if number == "1" and [document.type for document in others] == [exhibit] else []


def filers(submission: bytes) -> list[int]:
    """Return the CIKs of the filers in the header of a full submission, in its order."""
    header = decode_page(submission.partition(b"<DOCUMENT>")[0])
    return list(dict.fromkeys(map(int, _FILER.findall(header))))


def accession(submission: bytes) -> str | None:
    """Return the accession number in the first line of a full submission's header; None if there is none."""
    match = HEADER_OF.search(decode_page(submission[:_HEAD]))
    return match[1] if match else None
