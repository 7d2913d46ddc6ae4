"""Read EDGAR's archive on a filing: daily index, header, index page, submissions file.

The envelope must not show whether a header can be read: the filing may not have been public yet. So a filing whose
own files fail is withheld silently. A failure of www.sec.gov as a whole is an error, and the host is tried even if
nothing was needed from it: an error that only a filing could cause would show that there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from datetime import date, datetime
from functools import partial
from typing import Any, TypeVar

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, HttpReply, Query, UpstreamError
from pit_fetch.times import parse_http_date
from pit_fetch_providers.edgar import client, companies, daily_index, submissions
from pit_fetch_providers.edgar.acceptance import Acceptance
from pit_fetch_providers.edgar.daily_index import Listed
from pit_fetch_providers.edgar.header import parse_header, parse_index_page, parse_submissions
from pit_fetch_providers.shared import require_one

# Files that belong to no filing. If neither can be read, the host fails as a whole.
_PROBES = ("/robots.txt", companies.TICKERS)
_HEADERS = ("-index-headers.html", ".hdr.sgml")
_FULL_TEXT = ".txt"
# The evidence is many small files, and the one that never comes may belong to a filing that was not public.
_PATIENCE = 0.25
# Of headers, and of times at which files were written. Recorded pages with a header take 0.5 to 1.6 kB in the cache.
FILES_KEPT = 4_000

_Parser = Callable[[bytes, str], Acceptance | None]
IsPublic = Callable[[Acceptance], bool]
T = TypeVar("T")


class Archive:
    """EDGAR's archive, through one fetch's client, which began at ``started``.

    Its methods raise UpstreamError if www.sec.gov fails as a whole or, with ``exact``, refuses HEAD: nothing can be
    dated then. ``failure`` is that error, even if the host had answered before. Each daily index and each submissions
    file is read once. What is read of a filing never changes. It is kept if the filing was public: the contents of the
    cache must not reveal which other filings were examined.
    """

    def __init__(self, context: Context, started: datetime, exact: bool = False) -> None:
        self.context, self.started = context, started
        self._methods = ("GET", "HEAD") if exact else ("GET",)
        self._answered = set[str]()
        self.failure: UpstreamError | None = None
        self._missing: set[str] = set()
        self._indexes: dict[date, Listed | None] = {}
        self._written: dict[str, datetime | None] = {}
        self._submissions: dict[str, Any] = {}
        self._unread_lists: dict[str, UpstreamError] = {}

    def check_host(self) -> None:
        """Raise UpstreamError if www.sec.gov has failed as a whole. It is asked only if it has not answered yet."""
        if self._answered.issuperset(self._methods):
            return
        try:
            self._probe()
        except UpstreamError as error:
            # A recording answers for itself: what was asked for then is all there is.
            if error.gap.code is not Code.UNRECORDED:
                raise

    def listed(self, day: date, wanted: frozenset[str]) -> Listed | None:
        """Return the filings in the daily index of ``day``, with their names; None if no such index can be read.

        The index of a past day never changes, so it is kept for good, but only if it lists something ``wanted``
        (which is therefore public): a record of the other days asked about would reveal on which days filings that
        were not public are dated.
        """
        path = daily_index.path(day)
        if path is None:
            return None

        def parse(reply: HttpReply) -> Listed | None:
            is_complete = daily_index.is_complete(day, reply.header("Date"))
            return daily_index.parse(reply.body, day) if is_complete else None

        if day not in self._indexes:
            self._indexes[day] = self._read(path, parse, lambda listed: not wanted.isdisjoint(listed))
        return self._indexes[day]

    def is_unread(self, day: date) -> bool:
        """Return whether there may be an index of ``day`` that was asked for and could not be read."""
        return day in self._indexes and self._indexes[day] is None and daily_index.path(day) not in self._missing

    def header(self, accession: str, cik: int, in_full_text: bool, is_public: IsPublic) -> Acceptance | None:
        """Return the SGML header of ``accession``, listed under ``cik``; None if it cannot be read.

        ``in_full_text`` also looks for it at the head of the full submission, which can be large. ``is_public``
        returns whether an acceptance dates a public filing, here and below.
        """
        endings = (*_HEADERS, _FULL_TEXT) if in_full_text else _HEADERS
        return self._first(accession, cik, endings, parse_header, is_public)

    def written(self, accession: str, cik: int, is_public: Callable[[datetime], bool]) -> datetime | None:
        """Return when the full submission of ``accession`` was written (its ``Last-Modified``); None if unknown.

        A missing file cannot be told from a refusal: a reply to HEAD has no body, and both can be a 403.
        """
        if accession not in self._written:
            path = _stem(accession, cik) + _FULL_TEXT
            self._written[accession] = self._read(path, _last_modified, is_public, FILES_KEPT, is_head=True)
        return self._written[accession]

    def page(self, accession: str, cik: int, filed: date, is_public: IsPublic) -> Acceptance | None:
        """Return the index page or, as a bound, the row in the submissions file of ``cik``; None if both fail.

        Neither shows whether a filing was private at first: for ordinary forms only.
        """
        acceptance = self._first(accession, cik, client.INDEX_PAGES, parse_index_page, is_public)
        return acceptance or self.submitted(accession, cik, filed)

    def _first(
        self, accession: str, cik: int, endings: Sequence[str], parse: _Parser, is_public: IsPublic
    ) -> Acceptance | None:
        def read(reply: HttpReply) -> Acceptance | None:
            return parse(reply.body, accession)

        for ending in endings:
            keep = _never if ending == _FULL_TEXT else is_public
            acceptance = self._read(_stem(accession, cik) + ending, read, keep, FILES_KEPT)
            if acceptance is not None:
                return acceptance
        return None

    def _read(
        self,
        path: str,
        parse: Callable[[HttpReply], T | None],
        keep: Callable[[T], bool],
        most: int | None = None,
        is_head: bool = False,
    ) -> T | None:
        """Return the parsed object of www.sec.gov; None if it is missing, unreadable, or fails alone.

        A host that has failed as a whole is not asked again: retries for each filing would use up the time. What the
        cache has is read all the same, since a filing that was not public may have met the failure first.
        """

        def decode(reply: HttpReply) -> T:
            client.checked(reply, client.WWW)
            is_missing, value = client.is_missing(reply, client.WWW), None
            # A host can refuse all there is in the words that mean one object.
            if not is_missing and reply.received_at >= self.started:  # any earlier, it is from the cache
                self._answered.add("HEAD" if is_head else "GET")
            if is_missing:
                self._missing.add(path)
            else:
                value = parse(reply)
            if value is None:
                raise UpstreamError(Code.MALFORMED, problem="it is not what its address says")
            return value

        try:
            return self.context.http.get_cached(
                client.WWW,
                path,
                math.inf,
                decode,
                keep,
                most=most,
                patience=_PATIENCE,
                is_head=is_head,
                failed=self.failure,
            )
        except UpstreamError as error:
            if error.is_deadline or error is self.failure:
                raise
            if error.gap.code is not Code.MALFORMED:
                self._probe()
            return None

    def _probe(self) -> None:
        """Raise UpstreamError if nothing of www.sec.gov can be read."""
        # Always all methods, in this order: which one failed first may be due to a withheld filing.
        for method in self._methods:
            try:
                require_one(partial(self._require, method, path) for path in _PROBES)
            except UpstreamError as error:
                if error.gap.code is not Code.UNRECORDED:
                    self.failure = error
                raise
            self._answered.add(method)

    def _require(self, method: str, path: str) -> None:
        """Raise UpstreamError if www.sec.gov does not have a file of no filing: it refuses all of them."""
        request = client.head if method == "HEAD" else client.get
        client.required(request(self.context, client.WWW, path, patience=_PATIENCE), client.WWW)

    def company(self, cik: int) -> dict[str, Any]:
        """Return the submissions file of ``cik``, which is read once; an empty one if it cannot be read."""
        return self._submissions_file(submissions.file_of(cik))

    def check_company(self, cik: int) -> None:
        """Raise UpstreamError if the submissions file of ``cik`` fails. A company may have none."""
        self.company(cik)
        failure = self._unread_lists.get(submissions.file_of(cik))
        if failure is not None:
            raise failure

    def submitted(self, accession: str, cik: int, filed: date) -> Acceptance | None:
        """Return the row of ``accession`` in the submissions of ``cik``: a bound, for ordinary forms only."""
        filings = self.company(cik).get("filings")
        filings = filings if isinstance(filings, dict) else {}
        acceptance = parse_submissions(filings.get("recent"), accession)
        for older in submissions.older_files(filings.get("files")):
            # Where a file ends depends on later filings: the next one may hold others of the same day.
            is_near = older.begins_by(filed) and not older.ends_before(filed)
            if acceptance is None and is_near and older.name:
                acceptance = parse_submissions(self._submissions_file(older.name), accession)
        return acceptance

    def _submissions_file(self, name: str) -> dict[str, Any]:
        """Return a submissions file, empty if there is none or if data.sec.gov fails."""
        if name not in self._submissions:
            try:
                self._submissions[name] = self._submissions_reply(name)
            except UpstreamError as error:
                if error.is_deadline:
                    raise
                self._submissions[name], self._unread_lists[name] = {}, error
        columns: dict[str, Any] = self._submissions[name]
        return columns

    def _submissions_reply(self, name: str) -> dict[str, Any]:
        reply = client.get(self.context, client.DATA, f"/submissions/{name}", patience=_PATIENCE)
        cik = int(name.removeprefix("CIK")[:10])
        return {} if client.is_missing(reply, client.DATA) else submissions.document_of(cik, reply.body)


def answering_archive(query: Query, context: Context) -> Archive:
    """Return the archive for a question about filings, any of which may need evidence from www.sec.gov.

    Raise UpstreamError if that host fails as a whole, whatever was filed.
    """
    archive = Archive(context, query.started)
    archive.check_host()
    return archive


def _stem(accession: str, cik: int) -> str:
    return f"{client.folder(accession, cik)}/{accession}"


def _last_modified(reply: HttpReply) -> datetime | None:
    return parse_http_date(reply.header("Last-Modified"))


def _never(acceptance: Acceptance) -> bool:
    return False
