"""How EDGAR's full-text search looks to a program as of an instant: the newest filings first.

The search sorts by a relevance that counts the documents of today, and names companies as they are today.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from pit_fetch.provider import Asked, HttpReply, Record, Row, View
from pit_fetch.times import parse_date
from pit_fetch_providers.edgar import client, forms
from pit_fetch_providers.edgar.archive import Archive
from pit_fetch_providers.sec_full_text import filings, search
from pit_fetch_providers.sec_full_text.evidence import Evidence
from pit_fetch_providers.shared import new_york_day, refuse

_FIELDS = ("_index", "_id", "_score", "_source")
_TODAY = ("sics", "biz_states", "biz_locations", "inc_states")


def _ask(asked: Asked) -> Generator[HttpReply, int, None]:
    by = min(asked.query.now, asked.query.started)
    named = tuple(asked.params.get("forms", "").split(","))
    archive = Archive(asked.context, asked.query.started)
    archive.check_host()
    asked.memo["evidence"] = Evidence(
        archive, by, new_york_day(by), open_mode=False, exact=False, ordered=forms.all_ordinary(named)
    )
    first = parse_date(asked.params.get("startdt")) or search.FIRST_DAY
    last = min(parse_date(asked.params.get("enddt")) or new_york_day(by), new_york_day(by))
    window = {"dateRange": "custom", "startdt": str(first), "enddt": str(max(first, last))}
    for offset in range(0, search.RESULT_CAP, search.PAGE_SIZE):
        params = {**asked.params, **window, "from": str(offset)}
        reply = client.get(asked.context, client.EFTS, asked.path, params, search.pause)
        search.parse(reply.body)
        if (yield reply) < search.PAGE_SIZE:
            return
    refuse(f"the search has more than {search.RESULT_CAP:,} hits: narrow startdt and enddt.")


def _page(asked: Asked) -> tuple[int, int]:
    text = asked.params.get("from", "0")
    return int(text) if text.isascii() and text.isdigit() else 0, search.PAGE_SIZE


def _record(row: Row, asked: Asked) -> Record | None:
    filing, evidence = filings.filing_in(row.value), asked.memo["evidence"]
    if filing is None:
        return None
    listed = evidence.listed(filing.filed, [filing])
    return filings.record(filing, evidence.release_of(filing, listed), open_mode=False)


def _order(row: Row) -> tuple[Any, ...]:
    filing = filings.filing_in(row.value)
    return (1,) if filing is None else (0, -filing.filed.toordinal(), filing.accession, row.value["_id"])


def _blank(row: Row, asked: Asked) -> dict[str, Any]:
    names = [f"  (CIK {cik})" for cik in row.value["_source"]["ciks"]]
    return {"_score": None, "_source/display_names": names, **{f"_source/{name}": [] for name in _TODAY}}


def _frame(asked: Asked, rows: Sequence[Row]) -> dict[str, Any]:
    total = {"value": asked.total, "relation": "gte" if len(rows) == search.PAGE_SIZE else "eq"}
    shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
    hits = {"total": total, "max_score": None, "hits": list[Any]()}
    return {"took": 0, "timed_out": False, "_shards": shards, "hits": hits, "aggregations": {}}


VIEWS = (
    View(
        client.EFTS, search.PATH, "", ("hits/hits/*",), _record, _ask, _page, _order, _FIELDS,
        _blank, _frame,
    ),
)  # fmt: skip
