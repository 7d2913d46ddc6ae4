"""The list of an archive's fetches, as a table for people and as rows for JSON. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pit_fetch.archive.store import microseconds
from pit_fetch.archive_admin.stats import FetchSummary
from pit_fetch.support.terminal import escape_unprintable
from pit_fetch.times import NEW_YORK

_HEADER = ("id", "time in New York", "what", "replies", "result", "request")
_WHAT = {"live": "fetch", "capture": "capture", "offline": "offline"}


def table(fetches: Sequence[FetchSummary], names: Mapping[str, str]) -> str:
    """Return the fetches as lines under a header. ``names`` maps the texts of captured requests to their names."""
    if not fetches:
        return "No fetch matches. Without --source, --symbol and dates, every one is listed.\n"
    rows = [_HEADER, *(_cells(fetch, names) for fetch in fetches)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "".join(f"{'  '.join(map(str.ljust, row, widths)).rstrip()}\n" for row in rows)


def rows(fetches: Sequence[FetchSummary], names: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    """Yield the fetches for JSON. Times are in UTC."""
    for fetch in fetches:
        yield {
            "id": str(fetch.key),
            "time": microseconds.isoformat(fetch.began),
            "source": fetch.source,
            "name": names.get(fetch.asked, ""),
            "request": fetch.request,
            "exchanges": fetch.exchanges,
            "kind": fetch.kind,
            "pit": microseconds.isoformat(fetch.pit),
            "plan": fetch.plan,
            "version": fetch.version,
            "ended": microseconds.isoformat(fetch.seen),
            "complete": fetch.complete,
            "status": fetch.status,
            "answer_deleted": microseconds.isoformat(fetch.withdrawn),
        }


def _cells(fetch: FetchSummary, names: Mapping[str, str]) -> tuple[str, ...]:
    name = names.get(fetch.asked, "")
    return (
        str(fetch.key),
        microseconds.from_micros(fetch.began).astimezone(NEW_YORK).strftime("%Y-%m-%d %H:%M:%S %Z"),
        _WHAT.get(fetch.kind, fetch.kind),
        str(fetch.exchanges),
        _result(fetch),
        escape_unprintable(f"{name}: {fetch.request}" if name else fetch.request),
    )


def _result(fetch: FetchSummary) -> str:
    if fetch.withdrawn is not None:
        return "answer deleted"
    if fetch.seen is None:
        return "broken off"
    if fetch.kind == "offline":
        return "answered"
    return "complete" if fetch.complete else "in part"
