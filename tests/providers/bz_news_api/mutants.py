"""Leaks of bz-news-api: stamps and revisions, its page loop, its errors, saved replies."""

from __future__ import annotations

import html
from collections.abc import Callable, Generator, Iterator
from typing import Any

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code, gap
from pit_fetch.provider import Page, Query
from pit_fetch.times import parse_rfc3339
from pit_fetch.wire import lenient_json, strict_json
from tests.laws.mutants.leak import Mutant, echoing, fails, readable_alone, refusing_unknown
from tests.laws.plant import Make

_HERE = "pit_fetch_providers.bz_news_api"
_BZ = ("bz-news-api: non-interference",)
_CAP, _FAILURES, _FILES = ("bz-news-api: cap",), ("bz-news-api: failures",), ("bz-news-api: files",)
_QUOTA = ("bz-news-api: quota",)


# Stamps.


def _dated_without_revision(real: Any) -> Any:
    def record(row: Any, query: Any) -> Any:
        made = real(row, query)
        if made.available_at is not None or not isinstance(row, dict):
            return made
        return real({**row, "updated": row.get("created")}, query)._replace(revised_at=None)

    return record


def _naive_is_new_york(real: Any) -> Any:
    def record(row: Any, query: Any) -> Any:
        made, stamped = real(row, query), real(row, query._replace(pit=None))
        updated = stamped.payload.get("updated")
        if made.available_at is not None or updated is None:
            return made
        return made._replace(available_at=stamped.available_at, revised_at=parse_rfc3339(updated))

    return record


# The page loop.


def _pages(notice: Callable[[Query], Callable[[Page], bool]]) -> Make:
    """Return the leak that ends a fetch after a page for which ``notice`` of the query is true."""

    def make(real: Any) -> Any:
        def fetch(query: Query, context: Any) -> Iterator[Any]:
            is_last = notice(query)
            for entry in real(query, context):
                yield entry
                if isinstance(entry, Page) and is_last(entry):
                    return

        return fetch

    return make


def _all_of_it_is_later(query: Query) -> Callable[[Page], bool]:
    def is_later(page: Page) -> bool:
        stamps = [record.available_at for record in page.records]
        return bool(stamps) and all(stamp is not None and stamp > query.now for stamp in stamps)

    return is_later


def _refusing(is_repeated: Callable[[Page], bool]) -> Callable[[Page], bool]:
    def refuse(page: Page) -> bool:
        if page.records and is_repeated(page):
            raise UpstreamError(Code.PAGING)
        return False

    return refuse


def _without_identities(query: Query) -> Callable[[Page], bool]:
    return _refusing(lambda page: not any(record.id for record in page.records))


def _of_the_same_bytes(query: Query) -> Callable[[Page], bool]:
    before: list[Page] = []

    def is_repeated(page: Page) -> bool:
        same = bool(before) and before[-1].records == page.records
        before.append(page)
        return same

    return _refusing(is_repeated)


def _of_known_identities(query: Query) -> Callable[[Page], bool]:
    known: set[str] = set()

    def is_repeated(page: Page) -> bool:
        names = {record.id for record in page.records if record.id}
        same = bool(names) and names <= known
        known.update(names)
        return same

    return _refusing(is_repeated)


def _ending_at_the_cap(real: Any) -> Any:
    def numbered(*given: Any, **named: Any) -> Generator[Any, None, Any]:
        if (yield from real(*given, **named)):
            yield gap(Code.RESULT_CAP)
        return ()

    return numbered


# Rows that cannot be read.


def _lists_alone(real: Any) -> Any:
    def record(row: Any, query: Any) -> Any:
        lists = [row.get(name) or [] for name in ("stocks", "channels", "tags")] if isinstance(row, dict) else []
        return real(row, query) if all(isinstance(each, list) for each in lists) else fails()

    return record


def _readable_rows_alone(real: Any) -> Any:
    def page(context: Any, parameters: Any) -> Any:
        rows = real(context, parameters)
        return fails() if None in rows else rows

    return page


def _once_more_if_empty(real: Any) -> Any:
    return lambda context, parameters: real(context, parameters) or real(context, parameters)


def _whole_file(is_readable: Callable[[bytes], object]) -> Make:
    """Return the leak that reads a saved reply as a whole or not at all."""

    def make(real: Any) -> Any:
        return lambda body, query: real(body, query) if is_readable(body) else fails()

    return make


def _has_readable_parts(body: bytes) -> bool:
    reply = lenient_json(body, 1)
    return not isinstance(reply, dict) or None not in reply.values()


MUTANTS = (
    Mutant(
        "bz: the revision is not passed on",
        f"{_HERE}.articles:record",
        lambda real: lambda row, query: real(row, query)._replace(revised_at=None),
        _BZ,
    ),
    Mutant("bz: without a revision it is dated all the same", f"{_HERE}.articles:record", _dated_without_revision, _BZ),
    Mutant(
        "bz: a stamp without offset is New York time",
        f"{_HERE}.articles:record",
        _naive_is_new_york,
        _BZ,
    ),
    Mutant("bz: an early stop at a page of later items", f"{_HERE}:fetch", _pages(_all_of_it_is_later), _BZ),
    Mutant("bz: a page without identities is a repeated one", f"{_HERE}:fetch", _pages(_without_identities), _BZ),
    Mutant("bz: a page of the same bytes is a repeated one", f"{_HERE}:fetch", _pages(_of_the_same_bytes), _BZ),
    Mutant("bz: what was repeated is counted page by page", f"{_HERE}:fetch", _pages(_of_known_identities), _BZ),
    Mutant("bz: a window at the cap is not split", "pit_fetch.paging:numbered", _ending_at_the_cap, _CAP),
    Mutant("bz: later items use up the pages", f"{_HERE}:PAGES_PER_WINDOW", lambda real: 2, _BZ),
    Mutant("bz: an unknown symbol is an error", f"{_HERE}.api:page", refusing_unknown, _FAILURES),
    Mutant("bz: the error's text is echoed", f"{_HERE}.api:page", echoing("http_status"), _FAILURES),
    Mutant("bz: a moved endpoint's page is echoed", f"{_HERE}.api:page", echoing("moved"), _FAILURES),
    Mutant("bz: a spoilt later row fails the fetch", f"{_HERE}.articles:record", _lists_alone, _BZ),
    Mutant("bz: an empty page is asked for once more", f"{_HERE}.api:page", _once_more_if_empty, _QUOTA),
    Mutant("bz: a later row that cannot be read fails the fetch", f"{_HERE}.api:page", _readable_rows_alone, _BZ),
    Mutant(
        "bz: a later row that cannot be read fails a file", f"{_HERE}:parse_reply", _whole_file(strict_json), _FILES
    ),
    Mutant("bz: a file in an object is one row", f"{_HERE}:parse_reply", _whole_file(_has_readable_parts), _FILES),
    Mutant("bz: a file is not one of articles when one row is not", f"{_HERE}:parse_reply", readable_alone, _FILES),
    Mutant(
        "bz: what is withheld decides whether a reply holds articles",
        "pit_fetch.wire:check_rows",
        lambda real: lambda rows, *keys: real(rows, *keys, "title"),
        _FAILURES,
    ),
    Mutant(
        "bz: a reference of a thousand digits ends the search for words",
        "pit_fetch.wire:unescape",
        lambda real: html.unescape,
        ("bz-news-api: hostile texts",),
    ),
)
