"""The documents of a filing: as its index page lists them, and as its full submission holds them. Pure.

A full submission is bytes: each of its documents tells its own characters, as it does in a file of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pit_fetch.wire import unescape
from pit_fetch_providers.edgar.header import ENVELOPE, HEADER_OF
from pit_fetch_providers.markup.characters import decode

# A row of the index page: number, description, link, type, bytes. Of before 2001 the link names no file.
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
# What some programs write behind the end of a file.
_PADDING = r"[\s\0\x1a]*"
# What ends a full submission. Until 2000, a line of the mail that it came in follows.
_END = re.compile(rf"</{ENVELOPE}-DOCUMENT>\s*(?:-----END PRIVACY-ENHANCED MESSAGE-----\s*)?{_PADDING}\Z".encode())
_TAIL = 1_000
# What ends a file of a filing: an HTML page, or the envelope in which what is not inline XBRL is served.
_FILE_END = re.compile(rf"</(?:html|DOCUMENT)>(?:\s|<!--[^<>]*-->)*{_PADDING}\Z".encode(), re.IGNORECASE)
# What the head of a page in inline XBRL declares.
_INLINE_XBRL = b"/inlineXBRL"
# The titles of pages that come in the place of a file: the SEC's own ("SEC.gov | File Unavailable"), and a refusal.
_NOTICE = re.compile(rb"<title>\s*(?:SEC\.gov\s*\||Access Denied\s*</|Request Rate Threshold)", re.IGNORECASE)
# What follows the list of documents on an index page.
_LIST_END = "</table>"
# Around what is no plain text: <XML>, <XBRL>, <PDF>.
_WRAPPER = re.compile(rb"\s*<(XML|XBRL|PDF)>[ \t]*\r?\n?(.*?)(?:</\1>\s*)?\Z", re.DOTALL)
_HEAD = 10_000
PRIMARY = "PRIMARY"
_FILER = re.compile(r"^[ \t]*(?:CENTRAL INDEX KEY:|<CIK>)[ \t]*([0-9]{1,10})[ \t]*\r?$", re.MULTILINE)


class Document(NamedTuple):
    """A document of a filing: its number there, its type, its file below the filing's folder, and its text if known."""

    sequence: int
    type: str  # as filed, "EX-99.1"
    file: str = ""
    text: str | None = None
    size: int = 0  # of the file, in bytes; 0 if unknown


def listed(page: str, folder: str) -> Iterator[Document]:
    """Yield the documents on a filing's index page. ``folder`` is the path of the filing's own.

    The page that the SEC makes of a form in XML was not filed: the XML itself has a row of its own.
    """
    for sequence, link, kind, size in _LISTED.findall(page):
        _, is_below, file = unescape(link).partition(f"{folder}/")
        if "/" not in file:  # of such a page there is a folder for each style
            yield Document(int(sequence), unescape(kind).strip().upper(), file if is_below else "", size=int(size or 0))


def is_whole(submission: bytes) -> bool:
    """Return whether a full submission has its end. A book or a text that is cut would be served as all there is."""
    return _END.search(submission[-_TAIL:]) is not None


def is_whole_file(source: bytes, size: int = 0) -> bool:
    """Return whether a file that was served by itself shows that it is all of a filing's document, and no other page.

    It has as many bytes as the index page says (``size``). Where that is not known, it is made as files of filings are,
    and has its end. A notice of the SEC's is no document.
    """
    has_end = _FILE_END.search(source[-_TAIL:]) is not None
    is_whole = len(source) == size if size else has_end and _is_of_a_filing(source)
    return is_whole and _NOTICE.search(source[:_HEAD]) is None


def _is_of_a_filing(source: bytes) -> bool:
    """Return whether a file is one of a filing's: in its envelope, or in inline XBRL, which is served without one."""
    return _IN_ENVELOPE.match(source) is not None or _INLINE_XBRL in source[:_HEAD]


def is_whole_list(page: str) -> bool:
    """Return whether an index page lists documents, and shows the end of the list."""
    rows = list(_LISTED.finditer(page))
    return bool(rows) and _LIST_END in page[rows[-1].end() :]


def contained(submission: bytes) -> Iterator[Document]:
    """Yield the documents of a full submission, with their texts."""
    for head, body in _parts(submission):
        tags = {tag: value.strip() for tag, value in _TAG.findall(decode(head))}
        sequence = tags.get("SEQUENCE", "")
        yield Document(
            sequence=int(sequence) if re.fullmatch("[0-9]{1,9}", sequence) else 0,
            type=tags.get("TYPE", "").upper(),
            file=tags.get("FILENAME", ""),
            text=decode(body),
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


def without_envelope(source: bytes) -> bytes:
    """Return the document in a file that was served by itself: in its envelope, as in a full submission, or bare."""
    inside = next(_parts(source), None) if _IN_ENVELOPE.match(source) else None
    return source if inside is None else inside[1]


def spelled(kind: str) -> str:
    """Return a type of document in one spelling: "EX-99.01" is "EX-99.1"."""
    return re.sub(r"\.0+(?=[0-9])", ".", kind.upper())


def chosen(documents: Iterable[Document], kind: str) -> list[Document]:
    """Return the documents of a type, "EX-99" with "EX-99.1" and so on; the first of all for "primary"."""
    every, wanted = list(documents), spelled(kind)
    if wanted == PRIMARY:
        return every[:1]
    found = [document for document in every if f"{spelled(document.type)}.".startswith(f"{wanted}.")]
    return found or _without_a_number(every, wanted)


def _without_a_number(every: Iterable[Document], wanted: str) -> list[Document]:
    """Return the exhibit that is filed as "EX-99" where "EX-99.1" is wanted: it is the first if it is the only one."""
    exhibit, _, number = wanted.partition(".")
    others = [document for document in every if f"{document.type}.".startswith(f"{exhibit}.")]
    return others if number == "1" and [document.type for document in others] == [exhibit] else []


def filers(submission: bytes) -> list[int]:
    """Return the numbers in a full submission's header of those whom the filing is of, in its order."""
    header = decode(submission.partition(b"<DOCUMENT>")[0])
    return list(dict.fromkeys(map(int, _FILER.findall(header))))


def accession(submission: bytes) -> str | None:
    """Return the number of a full submission, by the first line of its header; None if there is none."""
    match = HEADER_OF.search(decode(submission[:_HEAD]))
    return match[1] if match else None
