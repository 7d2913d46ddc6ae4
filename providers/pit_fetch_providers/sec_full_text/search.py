"""The full-text search of EDGAR (``GET /LATEST/search-index``): its window in date slices, newest first.

The server sorts by relevance, 100 documents a page, and cuts a query off at 10,000 hits. So the window is cut by
filing date into slices that are read completely. Each is consistent in itself, since all documents of a filing carry
its date.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from pit_fetch.gaps import Code
from pit_fetch.provider import Context, Gap, HttpReply, UpstreamError, gap
from pit_fetch.wire import lenient_json
from pit_fetch_providers.edgar import client
from pit_fetch_providers.edgar.forms import root

PATH = "/LATEST/search-index"
PAGE_SIZE = 100
# The server counts no further ("relation": "gte") and returns nothing from this offset on.
RESULT_CAP = 10_000
# The index starts in 2001.
FIRST_DAY = date(2001, 1, 1)
# A slice with more hits is cut into smaller ones of about this many.
SLICE_MOST = 300
SLICE_AIM = 200


class SearchPage(NamedTuple):
    """One page of hits, up to 100; ``total`` counts all hits, and is only a lower bound if ``capped``."""

    total: int
    capped: bool
    hits: list[Any]


class Slice(NamedTuple):
    """All hits with a filing date from ``first`` to ``last``."""

    first: date
    last: date
    hits: list[Any]


def parameters(query: str | None, forms: tuple[str, ...], ciks: frozenset[int], entity: str | None) -> dict[str, str]:
    """Return the parameters without the window. ``forms`` matches root forms: "4" finds 4/A, "4/A" finds nothing."""
    # Excluding an amendment would exclude its root too, so that is left to the local filter.
    roots = dict.fromkeys(root(form) for form in forms if not (form.startswith("-") and form.endswith("/A")))
    filters = {
        "forms": ",".join(roots),
        "ciks": ",".join(f"{cik:010d}" for cik in sorted(ciks)),
        "entityName": entity or "",
    }
    return {"q": query or "", **{name: value for name, value in filters.items() if value}}


def slices(
    context: Context, search: Mapping[str, str], first: date, last: date, open_mode: bool
) -> Iterator[Slice | Gap]:
    """Yield the hits of ``search`` filed from ``first`` to ``last``, newest slice first. Raise UpstreamError.

    The cuts follow the server's counts, which include late filings, so what a caller makes of the slices must not
    depend on where they end. A single day at the result cap cannot be read as a whole. With a PIT, which part of it
    can be read would depend on what is withheld, so the day becomes a gap.
    """
    first = max(first, FIRST_DAY)
    days = (last - first).days + 1
    while first <= last:
        days = min(days, (last - first).days + 1)
        start = last - timedelta(days=days - 1)
        page = _page(context, search, start, last, 0)
        if (page.total > SLICE_MOST or page.capped) and days > 1:
            days = max(1, min(days // 2, days * SLICE_AIM // max(page.total, 1)))
            continue
        if page.capped:
            yield gap(Code.RESULT_CAP)
        if not page.capped or open_mode:
            yield Slice(start, last, _all_hits(context, search, start, last, page))
        days = max(1, min(8 * days, days * SLICE_AIM // max(page.total, 1)))
        last = start - timedelta(days=1)


def parse(body: bytes) -> SearchPage:
    """Return one page; an unreadable hit is None, and counts like any other.

    Raise UpstreamError for an unreadable reply, and if part of the index did not answer.
    """
    reply = lenient_json(body, 3)  # {"hits": {"hits": [hit, ...]}}
    try:
        hits, total = reply["hits"]["hits"], reply["hits"]["total"]
        count, relation = total["value"], total["relation"]
        failed = reply["_shards"]["failed"] if "_shards" in reply else 0
    except (TypeError, KeyError):
        raise UpstreamError(Code.MALFORMED, problem="it has no hits with a total") from None
    if not isinstance(hits, list) or type(count) is not int or count < 0:
        raise UpstreamError(Code.MALFORMED, problem="it has no hits with a total")
    if reply.get("timed_out") or failed:
        raise UpstreamError(Code.INCOMPLETE, host=client.EFTS)
    return SearchPage(count, relation != "eq" or count >= RESULT_CAP, hits)


def _all_hits(
    context: Context, search: Mapping[str, str], first: date, last: date, first_page: SearchPage
) -> list[Any]:
    """Return every hit of a slice, each document once. Raise UpstreamError if the pages do not add up to the total.

    Hits of equal relevance may change places between pages; any that are missed turn up when the pages are read
    again. A hit that is listed twice is not an error: it may be one that was not public yet.
    """
    total = min(first_page.total, RESULT_CAP)
    pages = range(0, total, PAGE_SIZE)
    hits, rows, ignored = _index_hits(first_page.hits, 0), len(first_page.hits), False
    # The rest of the pages, and all of them twice more if documents are still missing.
    for reading, offset in [*((1, offset) for offset in pages[1:]), *((n, offset) for n in (2, 3) for offset in pages)]:
        # Unreadable hits are keyed by position, so there may seem to be more hits than there are: read every page once.
        if reading > 1 and len(hits) >= total:
            break
        page = _page(context, search, first, last, offset).hits
        hits |= _index_hits(page, offset)
        rows += len(page) if reading == 1 else 0
        ignored = ignored or (offset > 0 and _is_again(page, first_page.hits))
    if len(hits) < total and (rows < total or ignored):
        raise UpstreamError(Code.MALFORMED, problem="its pages hold fewer hits than it reports")
    return list(hits.values())


def _is_again(page: list[Any], first: list[Any]) -> bool:
    """Return whether the server ignores the offset. One hit, maybe a withheld one, may fill several pages."""
    return page == first and len(_index_hits(page, 0)) == len(page)


def _page(context: Context, search: Mapping[str, str], first: date, last: date, offset: int) -> SearchPage:
    window = {"dateRange": "custom", "startdt": first.isoformat(), "enddt": last.isoformat(), "from": str(offset)}
    return parse(client.get(context, client.EFTS, PATH, {**search, **window}, pause).body)


def pause(reply: HttpReply) -> float | None:
    """Return the seconds to wait before the next try if only part of the index answered."""
    try:
        parse(reply.body)
    except UpstreamError as error:
        return 1.0 if error.gap.code is Code.INCOMPLETE else None
    return None


def _index_hits(hits: list[Any], offset: int) -> dict[str, Any]:
    """Return hits by document, filing and date: a hit that names another one's document does not replace it."""
    return {_identity(hit) or str(offset + place): hit for place, hit in enumerate(hits)}


def _identity(hit: Any) -> str:
    """Return what distinguishes a hit from others; "" if it names no document, and is keyed by its position."""
    source = hit.get("_source") if isinstance(hit, dict) else None
    if not isinstance(source, dict) or not hit.get("_id"):
        return ""
    return " ".join(map(str, (hit["_id"], source.get("adsh"), source.get("file_date"))))
