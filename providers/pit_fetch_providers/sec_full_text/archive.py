"""Reads what EDGAR's archive says of a filing's acceptance: header, index page, submissions file.

Whether a header can be read must not show in the envelope: the filing may be one that was not
public yet. So a filing whose own files fail is withheld in silence, and only a failure of the whole
host, asked after by something that belongs to no filing, is an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from pit_fetch.provider import Context, UpstreamError
from pit_fetch.times import parse_date
from pit_fetch.wire import strict_json
from pit_fetch_providers.sec_full_text import edgar
from pit_fetch_providers.sec_full_text.acceptance import (
    Acceptance,
    parse_header,
    parse_index_page,
    parse_submissions,
)

_HEADERS = ("-index-headers.html", ".hdr.sgml")
_OLDER_FILE = re.compile(r"CIK[0-9]{10}-submissions-[0-9]{3}\.json")
_INDEX_PAGES = ("-index.htm", "-index.html")


@dataclass(frozen=True)
class Archive:
    """The archive through one fetch's client. Each submissions file is read once."""

    context: Context
    _submissions: dict[str, Any] = field(default_factory=dict)

    def acceptance(self, accession: str, cik: int, filed: date, ordinary: bool) -> Acceptance | None:
        """What EDGAR says of ``accession``, which is listed under ``cik``; None when it cannot be read.

        Only the SGML header tells whether a filing was private at first, so only an ``ordinary`` one
        is also believed by its index page and, as a bound, by the submissions file of ``cik``.
        Raises UpstreamError when the host fails or refuses.
        """
        stem = f"/Archives/edgar/data/{cik}/{accession.replace('-', '')}/{accession}"
        sources = [(stem + ending, parse_header) for ending in _HEADERS]
        if ordinary:
            sources += [(stem + ending, parse_index_page) for ending in _INDEX_PAGES]
        else:
            sources.append((stem + ".txt", parse_header))
        for path, parse in sources:
            body = self._read(edgar.WWW, path)
            found = None if body is None else parse(body, accession)
            if found is not None:
                return found
        return self._from_submissions(accession, cik, filed) if ordinary else None

    def _from_submissions(self, accession: str, cik: int, filed: date) -> Acceptance | None:
        filings = self._submissions_file(f"CIK{cik:010d}.json").get("filings")
        filings = filings if isinstance(filings, dict) else {}
        found = parse_submissions(filings.get("recent"), accession)
        if found is not None:
            return found
        older = filings.get("files")
        for row in older if isinstance(older, list) else []:
            row = row if isinstance(row, dict) else {}
            first, last, name = parse_date(row.get("filingFrom")), parse_date(row.get("filingTo")), str(row.get("name"))
            if first and last and first <= filed <= last and _OLDER_FILE.fullmatch(name):
                return parse_submissions(self._submissions_file(name), accession)
        return None

    def _submissions_file(self, name: str) -> dict[str, Any]:
        if name not in self._submissions:
            self._submissions[name] = _object(self._read(edgar.DATA, f"/submissions/{name}"))
        columns: dict[str, Any] = self._submissions[name]
        return columns

    def _read(self, host: str, path: str) -> bytes | None:
        """The body; None when the object is missing, or fails while its host does not."""
        try:
            reply = edgar.get(self.context, host, path)
        except UpstreamError as error:
            if error.is_deadline:
                raise
            edgar.get(self.context, host, "/robots.txt")
            return None
        return None if edgar.is_missing(reply) else reply.body


def _object(body: bytes | None) -> dict[str, Any]:
    """A JSON object; an empty one for anything else."""
    try:
        value = strict_json(body or b"")
    except UpstreamError:
        return {}
    return value if isinstance(value, dict) else {}
