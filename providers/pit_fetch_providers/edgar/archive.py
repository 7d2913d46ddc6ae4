"""Read EDGAR's archive on a filing: daily index, header, index page, submissions file.

The envelope must not show whether a header can be read: the filing may not have been public yet. So a filing whose
own files fail is withheld silently, and only a failure of the whole host, checked with something that belongs to no
filing, is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, HttpReply, UpstreamError
from pit_fetch.times import parse_date, parse_http_date
from pit_fetch.wire import lenient_json
from pit_fetch_providers.edgar import client, daily_index
from pit_fetch_providers.edgar.acceptance import Acceptance
from pit_fetch_providers.edgar.daily_index import Listed
from pit_fetch_providers.edgar.header import parse_header, parse_index_page, parse_submissions

_HEADERS = ("-index-headers.html", ".hdr.sgml")
_OLDER_FILE = re.compile(r"CIK[0-9]{10}-submissions-[0-9]{3}\.json")
_INDEX_PAGES = ("-index.htm", "-index.html")
_Parser = Callable[[bytes, str], Acceptance | None]


class Archive:
    """EDGAR's archive, through one fetch's client. Its methods raise UpstreamError if the host fails or refuses.

    Each daily index and each submissions file is read once. Headers are not kept beyond that, although they never
    change: the contents of the cache must not reveal which filings were examined, least of all those that turned out
    not to be public yet.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self._indexes: dict[date, Listed | None] = {}
        self._submissions: dict[str, Any] = {}

    def listed(self, day: date, wanted: frozenset[str]) -> Listed | None:
        """Return the filings in the daily index of ``day``, with their names; None if no such index can be read.

        The index of a past day never changes, so it is kept for good, but only if it lists something ``wanted``
        (which is therefore public): a record of the other days asked about would reveal on which days filings that
        were not public are dated.
        """
        path = daily_index.path(day)
        if path is None:
            return None
        if day not in self._indexes:
            self._indexes[day] = self._index(day, path, wanted)
        return self._indexes[day]

    def header(self, accession: str, cik: int, in_full_text: bool) -> Acceptance | None:
        """Return the SGML header of ``accession``, listed under ``cik``; None if it cannot be read.

        ``in_full_text`` also looks for it at the head of the full submission, which can be large.
        """
        endings = (*_HEADERS, ".txt") if in_full_text else _HEADERS
        return self._first(accession, cik, endings, parse_header)

    def written(self, accession: str, cik: int) -> datetime | None:
        """Return when the full submission of ``accession`` was written (its ``Last-Modified``); None if unknown."""
        reply = self._reply(client.WWW, f"{_stem(accession, cik)}.txt", client.head)
        return None if reply is None else _last_modified(reply)

    def page(self, accession: str, cik: int, filed: date) -> Acceptance | None:
        """Return the index page or, as a bound, the row in the submissions file of ``cik``; None if both fail.

        Neither shows whether a filing was private at first: for ordinary forms only.
        """
        acceptance = self._first(accession, cik, _INDEX_PAGES, parse_index_page)
        return acceptance or self.submitted(accession, cik, filed)

    def _first(self, accession: str, cik: int, endings: Sequence[str], parse: _Parser) -> Acceptance | None:
        for ending in endings:
            reply = self._reply(client.WWW, _stem(accession, cik) + ending)
            acceptance = None if reply is None else parse(reply.body, accession)
            if reply is not None and acceptance is not None:
                return acceptance._replace(written=_last_modified(reply))
        return None

    def _index(self, day: date, path: str, wanted: frozenset[str]) -> Listed | None:
        def decode(reply: HttpReply) -> Listed:
            client.checked(reply, client.WWW)
            complete = reply.status == 200 and daily_index.is_complete(day, reply.header("Date"))
            listed = daily_index.parse(reply.body, day) if complete else None
            if listed is None:
                raise UpstreamError(Code.MALFORMED, problem="it is not the index of its day")
            return listed

        def dates_something(listed: Listed) -> bool:
            return not wanted.isdisjoint(listed)

        try:
            return self.context.http.get_cached(client.WWW, path, math.inf, decode, dates_something)
        except UpstreamError as error:
            if error.gap.code is not Code.MALFORMED:
                self._check_host(error)
            return None

    def company(self, cik: int) -> dict[str, Any]:
        """Return the submissions file of ``cik``, which is read once; an empty one if it cannot be read."""
        return self._submissions_file(f"CIK{cik:010d}.json")

    def submitted(self, accession: str, cik: int, filed: date) -> Acceptance | None:
        """Return the row of ``accession`` in the submissions of ``cik``: a bound, for ordinary forms only."""
        filings = self.company(cik).get("filings")
        filings = filings if isinstance(filings, dict) else {}
        acceptance = parse_submissions(filings.get("recent"), accession)
        if acceptance is not None:
            return acceptance
        older = filings.get("files")
        for row in older if isinstance(older, list) else []:
            row = row if isinstance(row, dict) else {}
            first, last, name = parse_date(row.get("filingFrom")), parse_date(row.get("filingTo")), str(row.get("name"))
            if first and last and first <= filed <= last and _OLDER_FILE.fullmatch(name):
                return parse_submissions(self._submissions_file(name), accession)
        return None

    def _submissions_file(self, name: str) -> dict[str, Any]:
        if name not in self._submissions:
            reply = self._reply(client.DATA, f"/submissions/{name}")
            self._submissions[name] = {} if reply is None else _object(reply.body)
        columns: dict[str, Any] = self._submissions[name]
        return columns

    def _reply(
        self, host: str, path: str, ask: Callable[[Context, str, str], HttpReply] = client.get
    ) -> HttpReply | None:
        """Return the reply; None if the object is missing, or fails while its host does not."""
        try:
            reply = ask(self.context, host, path)
        except UpstreamError as error:
            self._check_host(error, host)
            return None
        return None if client.is_missing(reply) else reply

    def _check_host(self, error: UpstreamError, host: str = client.WWW) -> None:
        """Raise UpstreamError if more than one object failed: the time is up, or the host fails as a whole."""
        if error.is_deadline:
            raise error
        client.get(self.context, host, "/robots.txt")


def _stem(accession: str, cik: int) -> str:
    return f"/Archives/edgar/data/{cik}/{accession.replace('-', '')}/{accession}"


def _last_modified(reply: HttpReply) -> datetime | None:
    return parse_http_date(reply.header("Last-Modified"))


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = lenient_json(body, 4)  # {"filings": {"recent": {"form": [row, ...]}}}
    except UpstreamError:
        return {}
    return value if isinstance(value, dict) else {}
