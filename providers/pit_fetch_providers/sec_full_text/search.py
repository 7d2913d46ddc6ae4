"""The full-text search of EDGAR (``GET /LATEST/search-index``): its window in date slices, newest first.

The server sorts by relevance, 100 documents a page, and ends a query at 10,000 hits. So the window
is cut by filing date into slices that are read completely, each in itself consistent: all
documents of a filing carry its date.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any, NamedTuple

from pit_fetch.provider import Context, Gap, Reply, UpstreamError, gap
from pit_fetch.wire import lenient_json
from pit_fetch_providers.sec_full_text import edgar
from pit_fetch_providers.sec_full_text.forms import root

PATH = "/LATEST/search-index"
PAGE_SIZE = 100
# The server counts no further ("relation": "gte") and gives nothing from this offset on.
CEILING = 10_000
# The index begins with 2001.
FIRST_DAY = date(2001, 1, 1)
# A slice with more hits is cut into smaller ones, of about so many.
SLICE_MOST = 300
SLICE_AIM = 200


class Answer(NamedTuple):
    """One page: how many hits there are in all, whether that is only a lower bound, and up to 100 of them."""

    total: int
    capped: bool
    hits: list[Any]


class Slice(NamedTuple):
    """All hits with a filing date from ``first`` to ``last``."""

    first: date
    last: date
    hits: list[Any]


def parameters(query: str | None, forms: tuple[str, ...], ciks: frozenset[int], entity: str | None) -> dict[str, str]:
    """The search without its window. ``forms`` matches root forms: "4" finds 4/A, "4/A" finds nothing."""
    # An excluded amendment would take its root with it: that is left to the local filter.
    asked = dict.fromkeys(root(form) for form in forms if not (form.startswith("-") and form.endswith("/A")))
    filters = {
        "forms": ",".join(asked),
        "ciks": ",".join(f"{cik:010d}" for cik in sorted(ciks)),
        "entityName": entity or "",
    }
    return {"q": query or "", **{name: value for name, value in filters.items() if value}}


def slices(
    context: Context, search: Mapping[str, str], first: date, last: date, open_mode: bool
) -> Iterator[Slice | Gap]:
    """The hits of ``search`` filed from ``first`` to ``last``, newest slice first. Raises UpstreamError.

    How the window is cut follows the counts of the server, which count late filings too: what a
    caller makes of the slices must not depend on where they end. A single day at the ceiling is not
    readable as a whole; under a PIT which part of it is would depend on what is withheld, so a gap
    stands for the day.
    """
    first = max(first, FIRST_DAY)
    days = (last - first).days + 1
    while first <= last:
        start = max(first, last - timedelta(days=days - 1))
        days = (last - start).days + 1
        answer = _page(context, search, start, last, 0)
        if (answer.total > SLICE_MOST or answer.capped) and days > 1:
            days = max(1, min(days // 2, days * SLICE_AIM // max(answer.total, 1)))
            continue
        if answer.capped:
            yield gap("provider_ceiling")
        if not answer.capped or open_mode:
            yield Slice(start, last, _all_hits(context, search, start, last, answer))
        days = max(1, min(8 * days, days * SLICE_AIM // max(answer.total, 1)))
        last = start - timedelta(days=1)


def parse(body: bytes) -> Answer:
    """One reply; a hit that cannot be read is None, and counts like any other.

    Raises UpstreamError for an unknown shape, and when a part of the index did not answer.
    """
    reply = lenient_json(body, 3)  # {"hits": {"hits": [hit, ...]}}
    try:
        hits, total = reply["hits"]["hits"], reply["hits"]["total"]
        count, relation = total["value"], total["relation"]
        failed = reply["_shards"]["failed"] if "_shards" in reply else 0
    except (TypeError, KeyError):
        raise UpstreamError("malformed", problem="it holds no hits with a total") from None
    if not isinstance(hits, list) or type(count) is not int or count < 0:
        raise UpstreamError("malformed", problem="it holds no hits with a total")
    if reply.get("timed_out") or failed:
        raise UpstreamError("incomplete", host=edgar.EFTS)
    return Answer(count, relation != "eq" or count >= CEILING, hits)


def _all_hits(context: Context, search: Mapping[str, str], first: date, last: date, answer: Answer) -> list[Any]:
    """Every hit of a slice, each document once. Raises UpstreamError when the pages do not add up to the total.

    Hits of equal relevance may change places from one page to the next; what was missed by it turns
    up when the pages are read again.
    """
    total = min(answer.total, CEILING)
    pages = range(0, total, PAGE_SIZE)
    hits, rows, stalled = _by_identity(answer.hits, 0), len(answer.hits), False
    for reading, offset in [*((1, offset) for offset in pages[1:]), *((n, offset) for n in (2, 3) for offset in pages)]:
        if len(hits) >= total:
            break
        known, page = len(hits), _page(context, search, first, last, offset).hits
        hits |= _by_identity(page, offset)
        if reading == 1:
            rows, stalled = rows + len(page), stalled or len(hits) == known
    if len(hits) < total and (rows < total or stalled):
        raise UpstreamError("malformed", problem="its pages hold fewer hits than it counts")
    return list(hits.values())


def _page(context: Context, search: Mapping[str, str], first: date, last: date, offset: int) -> Answer:
    window = {"dateRange": "custom", "startdt": first.isoformat(), "enddt": last.isoformat(), "from": str(offset)}
    reply = edgar.get(context, edgar.EFTS, PATH, {**search, **window}, _pause)
    if reply.status != 200:
        raise UpstreamError("http_status", host=edgar.EFTS, status=reply.status)
    return parse(reply.body)


def _pause(reply: Reply) -> float | None:
    """How long to wait before the search is asked again: when only a part of the index has answered."""
    try:
        parse(reply.body)
    except UpstreamError as error:
        return 1.0 if error.gap.code == "incomplete" else None
    return None


def _by_identity(hits: list[Any], offset: int) -> dict[str, Any]:
    """Hits by their document; one that names none counts by its place."""
    named = ((hit.get("_id") if isinstance(hit, dict) else None, hit) for hit in hits)
    return {str(name or offset + place): hit for place, (name, hit) in enumerate(named)}
