"""Leaks as careless authors write them: each takes the place of one function of an honest source."""

# mypy: disable-error-code="arg-type, operator, attr-defined, misc"

from __future__ import annotations

import contextlib
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from pit_fetch.gaps import Code
from pit_fetch.provider import Page, Record, UpstreamError, Watermark, gap
from pit_fetch.testing.timestamps import EARLIEST_ZONE
from pit_fetch.times import NEW_YORK, parse_date, parse_rfc3339, parse_wall_clock, start_of_day, wall_clock
from tests.kit import cursors
from tests.kit.bases import BASES
from tests.kit.forms import FORMS
from tests.kit.honest import FIVE_MINUTES, KitSource, end_of, item, rate, transcript
from tests.kit.markets import INTERVALS
from tests.kit.outsiders import outsider
from tests.kit.slips import SLIPS


class Plant(NamedTuple):
    """A leak. ``shown`` is how it gets out, and ``words`` what the request holds besides.

    worlds  two worlds that serve the same public rows
    runs    one world, asked again: at another time, in another environment
    before  one world, asked in one process after a question about a later instant, and without it
    offline two saved replies
    """

    base: str
    make: Callable[[], KitSource]
    shown: str = "worlds"
    words: tuple[str, ...] = ()


PLANTS: dict[str, Plant] = {}


def plant(name: str, base: str, /, *, shown: str = "worlds", words: str = "", **changes: Any) -> None:
    """Plant ``changes`` of the functions of an honest source."""
    assert name not in PLANTS, name
    PLANTS[name] = Plant(base, lambda: BASES[base].make(**changes), shown, tuple(words.split()))


def altered(base: str, alter: Callable[..., dict[str, Any]]) -> Callable[..., Record]:
    """Return the function that makes a record of ``base``, with the fields of ``alter(record, row, query)``."""

    def record(*inputs: Any) -> Record:
        made: Record = BASES[base].record(*inputs)
        return made._replace(**alter(made, *inputs))

    return record


def shows(base: str, extra: Callable[..., dict[str, Any]]) -> Callable[..., Record]:
    """Return the function that makes a record of ``base``, with ``extra(row, query)`` in its payload."""
    return altered(base, lambda record, *inputs: {"payload": {**record.payload, **extra(*inputs)}})


def plant_record(name: str, base: str, alter: Callable[..., dict[str, Any]], **how: str) -> None:
    """Plant other fields of a record, made by ``alter(record, row, query)``."""
    plant(name, base, **how, record=altered(base, alter))


def plant_stamp(name: str, base: str, stamp: Callable[..., Any], **fields: None) -> None:
    """Plant another available_at, made by ``stamp(record, row, query)``, and other ``fields``."""
    plant_record(name, base, lambda *inputs: {"available_at": stamp(*inputs), **fields})


def plant_payload(name: str, base: str, extra: Callable[..., dict[str, Any]], **how: str) -> None:
    """Plant more in the payload, made by ``extra(row, query)``."""
    plant(name, base, **how, record=shows(base, extra))


def plant_figure(name: str, base: str, figures: Callable[..., Iterable[Any]], **how: str) -> None:
    """Plant a figure of other rows in the payload: ``figures(rows, document, query)`` has one for each row."""

    def rows(rows: Any, query: Any, document: Any) -> Any:
        return [{**row, "figure": figure} for row, figure in zip(rows, figures(rows, document, query), strict=True)]

    plant(name, base, **how, rows=rows, record=shows(base, lambda row, *more: {"figure": row.get("figure")}))


def in_all(figure: Callable[[Any, Any], Any]) -> Callable[..., list[Any]]:
    """Return the figures of rows that all show ``figure(rows, document)``."""
    return lambda rows, document, query: [figure(rows, document)] * len(rows)


def field(row: Any, name: str) -> str:
    return str(row.get(name) or "")


def number(row: Any, name: str) -> Any:
    value = row.get(name)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


# --- revisions

plant_stamp("revision ignored", "news", lambda record, row, query: parse_rfc3339(row.get("published")), revised_at=None)
plant_stamp(
    "the earlier of two stamps",
    "news",
    lambda record, row, query: min(filter(None, (record.available_at, record.revised_at)), default=None),
    revised_at=None,
)
plant_record(
    "small revisions ignored",
    "news",
    lambda record, row, query: {
        "revised_at": record.revised_at
        if record.revised_at and record.available_at and record.revised_at - record.available_at < timedelta(hours=1)
        else record.available_at
    },
)
plant_stamp(
    "amended column ignored", "filings", lambda record, row, query: parse_rfc3339(row.get("accepted")), revised_at=None
)
for name, base in {"displayTime": "search", "edited page": "calls", "edited_at": "posts"}.items():
    plant_record(f"{name} ignored", base, lambda record, *inputs: {"revised_at": None})
plant_stamp("asOf ignored", "profiles", lambda record, row, query: end_of(row.get("listed")))
plant_payload("valid_to in the payload", "figures", lambda row, query: {"until": field(row, "valid_to")})
plant_record(
    "last revision in the payload",
    "news",
    lambda record, row, query: {
        "revised_at": None,
        "payload": {**record.payload, "revised": field(row, "last_updated")},
    },
)


def comments(row: Any) -> list[Any]:
    return row.get("comments") if isinstance(row.get("comments"), list) else []


plant_payload("comments in the payload", "news", lambda row, query: {"comments": comments(row)})
plant_payload("number of comments in the payload", "news", lambda row, query: {"comments": len(comments(row))})

# --- imprecise stamps


def naive(text: object, form: str) -> datetime | None:
    try:
        return datetime.strptime(str(text), form)  # noqa: DTZ007
    except ValueError:
        return None


def at_minute(text: object, zone: Any = NEW_YORK) -> datetime | None:
    reading = naive(text, "%Y-%m-%d %H:%M")
    return None if reading is None else wall_clock(reading, zone)


def day_start(text: object, after: timedelta = timedelta()) -> datetime | None:
    day = parse_date(text)
    start = start_of_day(day, NEW_YORK) if day else None
    return start + after if start else None


def bar_end(row: Any, zone: Any) -> datetime | None:
    """Return the end of a bar whose label is read in ``zone``, the first time where the hour repeats."""
    reading = naive(row.get("t"), "%Y-%m-%d %H:%M:%S")
    return None if reading is None else reading.replace(tzinfo=zone, fold=0).astimezone(UTC) + FIVE_MINUTES


def without_offset(stamp: Any) -> datetime | None:
    reading = naive(str(stamp)[:19], "%Y-%m-%dT%H:%M:%S")
    return reading.replace(tzinfo=UTC) if reading else None


def earlier_by(distance: timedelta) -> Callable[..., datetime | None]:
    return lambda record, *inputs: record.available_at and record.available_at - distance


def with_clock(**parts: int) -> Callable[..., datetime | None]:
    return lambda record, *inputs: record.available_at and record.available_at.replace(**parts)


plant_record(
    "hours cut off",
    "news",
    lambda record, row, query: {
        name: stamp and stamp.replace(minute=0)
        for name, stamp in (("available_at", record.available_at), ("revised_at", record.revised_at))
    },
)
plant_stamp(
    "offset cut off",
    "news",
    lambda record, row, query: record.available_at and without_offset(row.get("published")),
    revised_at=None,
)
plant_record(
    "a minute as its first second",
    "calls",
    lambda record, event, page, query: {
        "available_at": record.available_at and at_minute(event.get("ready")),
        "revised_at": at_minute((page or {}).get("edited")),
    },
)
plant_record(
    "a naive reading as UTC",
    "calls",
    lambda record, event, page, query: {
        "available_at": at_minute(event.get("ready"), UTC),
        "revised_at": at_minute((page or {}).get("edited"), UTC),
    },
)
plant_stamp("the repeated hour, first time", "bars", lambda record, row, query: bar_end(row, NEW_YORK))
plant_record(
    "the local zone of the machine",
    "bars",
    lambda record, row, query: {"available_at": bar_end(row, None)},
    shown="runs",
)
plant_stamp("start of the day, table", "tables", lambda record, row, query: day_start(row.get("day")))
plant_stamp("noon of the day", "tables", lambda record, row, query: day_start(row.get("day"), timedelta(hours=12)))
plant_stamp("start of the day, vintages", "figures", lambda record, row, query: day_start(row.get("known")))
plant_stamp("end of the day in UTC", "figures", lambda record, row, query: end_of(row.get("known"), UTC))
plant_stamp("pubDate without its offset", "feeds", earlier_by(timedelta(hours=5)))
plant_stamp("the offset cut off", "trades", lambda record, row, query: without_offset(row.get("at")))
plant_stamp("the fraction cut off", "trades", with_clock(microsecond=0))
plant_stamp("the day of a deal as its instant", "deals", with_clock(hour=0))

# --- stamps that are another event's

plant_stamp("bar start", "bars", earlier_by(FIVE_MINUTES))
plant_stamp("period end", "figures", lambda record, row, query: end_of(row.get("date")))
plant_stamp(
    "call start",
    "calls",
    lambda record, event, page, query: parse_wall_clock(event.get("call_start"), NEW_YORK),
    revised_at=None,
)
plant_stamp("listing day", "profiles", lambda record, row, query: day_start(row.get("listed")))
plant_stamp(
    "an hour's bar after five minutes",
    "candles",
    lambda record, row, query: (
        record.available_at and record.available_at - INTERVALS[query.options["interval"]] + INTERVALS["5m"]
    ),
)
plant_stamp("the noon of the day in Tokyo", "quotes", earlier_by(timedelta(hours=12)))

# --- stamps that follow the request or the clock


def capped(record: Any, instant: datetime) -> dict[str, Any]:
    stamps = {"available_at": record.available_at, "revised_at": record.revised_at}
    return {name: stamp and min(stamp, instant) for name, stamp in stamps.items()}


def unless_dated(record: Any, stamp: datetime) -> dict[str, Any]:
    return {} if record.available_at else {"available_at": stamp, "revised_at": None}


plant_record("capped at the PIT", "news", lambda record, row, query: capped(record, query.now))
plant_record("capped at now", "news", lambda record, row, query: capped(record, query.started))
plant_record("undated is as of the PIT", "filings", lambda record, row, query: unless_dated(record, query.now))
plant_record(
    "undated is old", "news", lambda record, row, query: unless_dated(record, datetime(1970, 1, 1, tzinfo=UTC))
)
plant_record("random id", "feeds", lambda record, row, query: {"id": uuid.uuid4().hex}, shown="runs")
for name, base, read in (
    ("time of the fetch", "news", lambda query: query.started.isoformat()),
    ("wall clock", "tables", lambda query: datetime.now(UTC).isoformat()),
    ("time.time", "posts", lambda query: time.time()),
    ("today", "filings", lambda query: f"{time.strftime('%F')} {time.time_ns()}"),
    ("user", "news", lambda query: os.environ.get("USER", "")),
    ("home", "tables", lambda query: os.path.expanduser("~/r.csv")),
    ("process", "posts", lambda query: os.getpid()),
):
    plant_payload(f"{name} in the payload", base, lambda row, query, read=read: {"reading": read(query)}, shown="runs")
plant_payload(
    "age in the payload",
    "search",
    lambda row, query: {"age": int(query.started.timestamp() * 1_000) - (number(row, "posted") or 0)},
    shown="runs",
)

# --- what stands beside the rows


def gap_at_the_end(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    count = 0
    for page in fetch(query, context):
        count += len(page.records)
        yield page
    yield gap(Code.CAVEAT, text=f"{count} rows were read.")


def gap_if_late(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    late = False
    for record in fetch(query, context):
        late = late or record.available_at is None or record.available_at > query.now
        yield record
    if late:
        yield gap(Code.CAVEAT, text="Some posts are under embargo.")


def total_hits(rows: Any, document: Any) -> Any:
    total = document.get("total")
    return total.get("value") if isinstance(total, dict) else None


COUNT = in_all(lambda rows, document: len(rows))
TOTAL = in_all(lambda rows, document: document.get("total"))

plant_figure("total in the payload", "news", TOTAL)
plant_figure("number of rows in the payload", "tables", COUNT)
plant_figure("hits in the payload", "search", in_all(total_hits))
plant_figure("count of events in the payload", "calls", in_all(lambda rows, document: document["count"]))
plant_figure("newest stamp in the payload", "news", in_all(lambda rows, document: document.get("newest")))
plant_figure("lastBuildDate in the payload", "feeds", in_all(lambda rows, document: document.get("lastBuildDate")))
plant_figure("rank in the payload", "search", lambda rows, document, query: range(len(rows)))
plant_figure(
    "whether any row is a block", "trades", in_all(lambda rows, document: any(row.get("block") is True for row in rows))
)
plant(
    "position in the id",
    "feeds",
    rows=lambda rows, query, document: [{**row, "guid": f"{row.get('guid')}-{n}"} for n, row in enumerate(rows)],
)
plant(
    "a row's number as its id",
    "trades",
    rows=lambda rows, query, document: [{**row, "id": n} for n, row in enumerate(rows)],
)
plant("count in a gap", "news", around=gap_at_the_end)
plant("a gap where something is late", "posts", around=gap_if_late)
plant(
    "a header's total in the payload",
    "quotes",
    beside=lambda headers, document: {"of": headers.get("x-total-count", "")},
)
plant(
    "a flag beside the rows",
    "quotes",
    beside=lambda headers, document: {"complete": bool((document or {}).get("complete"))},
)
for name, base, select in (
    ("a window function in SQL", "filings", "SELECT *, count(*) OVER () AS n FROM filings"),
    ("entries counted over the table", "ledger", "SELECT *, count(*) OVER () AS n FROM entries"),
    ("the account's balance of today", "ledger", "SELECT *, sum(amount) OVER (PARTITION BY account) AS n FROM entries"),
):
    plant(name, base, select=select, record=shows(base, lambda row, query: {"n": row.get("n")}))

# --- columns, types, statistics


def framed(rows: Any, query: Any, document: Any) -> Any:
    """Choose rows as a table library does: every row has every column, and a column one type."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    whole = {name for name in names if all(isinstance(row.get(name), int) for row in rows)}

    def typed(name: str, value: Any) -> Any:
        return float(value) if isinstance(value, int) and name not in whole else value

    return [{name: typed(name, row.get(name)) for name in names} for row in rows]


def other_columns(row: Any, query: Any) -> Any:
    return {"more": {name: row[name] for name in row if name in ("reads", "note") or name.startswith("extra")}}


def of_all(name: str, make: Callable[[list[Any]], Any]) -> Callable[..., list[Any]]:
    def figure(rows: Any, document: Any) -> Any:
        values = [value for row in rows if (value := number(row, name)) is not None]
        return make(values) if values else None

    return in_all(figure)


def to_the_next(name: str) -> Callable[..., list[Any]]:
    def figures(rows: Any, document: Any, query: Any) -> list[Any]:
        values = [number(row, name) for row in rows]
        return [None if None in pair else pair[1] - pair[0] for pair in pairwise([*values, None])]

    return figures


plant("columns of all rows", "news", rows=framed, record=shows("news", other_columns))
plant(
    "one type for a column",
    "news",
    rows=framed,
    record=shows("news", lambda row, query: {"exact": number(row, "reads")}),
)
plant_figure("share of the sum", "news", of_all("reads", sum))
plant_figure("scaled by the highest price", "bars", of_all("h", max))
plant_figure("mean size", "filings", of_all("size", lambda values: sum(values) / len(values)))
plant_figure("the mean of a column", "deals", of_all("price", sum))
plant_figure("change to the next bar", "bars", to_the_next("c"))
plant_figure("the next bar's close", "candles", to_the_next("close"))
plant_figure(
    "link to the next article",
    "news",
    lambda rows, document, query: [None, *(row.get("id") for row in rows)][: len(rows)],
)
plant_figure(
    "the widest text",
    "tables",
    in_all(lambda rows, document: max((len(str(row.get("note"))) for row in rows), default=0)),
)

# --- its own choice, order and cut


def once(name: str, order: str = "") -> Callable[..., Any]:
    """Choose the first row of each ``name``, after a sort by ``order``, the newest first."""

    def rows(rows: Any, query: Any, document: Any) -> Any:
        first: dict[Any, Any] = {}
        for row in sorted(rows, key=lambda row: field(row, order), reverse=True) if order else rows:
            first.setdefault(row.get(name), row)
        return list(first.values())

    return rows


def cut(start: int | None, stop: int | None, order: str = "") -> Callable[..., Any]:
    """Choose a part of the rows, after a sort by ``order``, the newest first."""

    def rows(rows: Any, query: Any, document: Any) -> Any:
        return (sorted(rows, key=lambda row: str(row.get(order)), reverse=True) if order else rows)[start:stop]

    return rows


def cut_to_limit(rows: Any, query: Any, document: Any) -> Any:
    return rows[: query.limit]


plant("first of a title", "news", rows=once("title"))
plant("last of an address", "news", rows=once("url", "published"), newest_first=False)
plant("first of an item's title", "feeds", rows=once("title"))
plant("the newest hundred", "news", rows=cut(None, 100, "published"), newest_first=False)
plant("the first thirty rows", "tables", rows=cut(None, 30))
plant("the first fifty posts", "posts", rows=cut(None, 50))
plant("the first ten calls", "calls", rows=cut(None, 10))
plant("the newest three deals", "deals", rows=cut(-3, None))
plant("the newest --limit rows", "news", words="--limit 2", rows=cut_to_limit)
plant("each page cut to --limit", "quotes", words="--limit 1", rows=cut_to_limit)
plant("--limit sent to the server", "search", words="--limit 2", size=lambda query: min(query.limit, 20), most=1)
plant("LIMIT in SQL", "filings", select="SELECT * FROM filings ORDER BY accepted DESC LIMIT 100")
plant(
    "the last of a form in SQL",
    "filings",
    select="SELECT id, form, max(accepted) AS accepted, amended, issuer, size FROM filings GROUP BY form",
)


def first_stamp(rows: Any, query: Any, document: Any) -> Any:
    """Choose the newest value under the first stamp."""
    by_day = sorted(rows, key=lambda row: field(row, "known"))
    values = {row.get("date"): row.get("value") for row in by_day}
    return [{**row, "value": values[row.get("date")]} for row in once("date")(by_day, query, document)]


def numbers_of_versions(rows: Any, document: Any, query: Any) -> list[int]:
    dates = [row.get("date") for row in rows]
    return [dates.count(date) for date in dates]


plant("newest version only", "figures", rows=once("date", "known"))
plant("last version only", "figures", rows=lambda rows, query, document: once("date")(rows[::-1], query, document))
plant("newest value under the first stamp", "figures", rows=first_stamp)
plant_figure("number of versions", "figures", numbers_of_versions)
plant_figure(
    "whether it was revised", "figures", lambda rows, document, query: [field(row, "valid_to") < "9" for row in rows]
)

# --- errors


def complains(is_broken: Callable[[Any], bool]) -> Callable[..., Any]:
    def rows(rows: Any, query: Any, document: Any) -> Any:
        if any(is_broken(row) for row in rows):
            raise UpstreamError(Code.MALFORMED, problem="a row is broken")
        return rows

    return rows


def without_title(row: Any) -> bool:
    return not isinstance(row.get("title"), str)


def page_needed(event: Any, page: Any, query: Any) -> Record:
    if page is None and event.get("id"):
        raise UpstreamError(Code.MALFORMED, problem="a transcript is missing")
    return transcript(event, page, query)


plant("a row without a title", "news", rows=complains(without_title))
plant("a row without a rate", "tables", rows=complains(lambda row: not row.get("rate")))
plant("a row without a text", "posts", rows=complains(lambda row: not row.get("text")))
plant("a negative size", "filings", rows=complains(lambda row: not isinstance(row.get("size"), int) or row["size"] < 0))
plant("an impossible bar", "bars", rows=complains(lambda row: not isinstance(row.get("h"), (int, float))))
plant_payload("a score that is no number", "search", lambda row, query: {"score": round(float(row.get("score", 0)), 2)})
plant("a page that is gone", "calls", record=page_needed)

# --- state between runs

_PAGES: dict[Any, Any] = {}
_SEEN: set[Any] = set()


class Memory:
    best: list[Any] = []


def remembered(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    if "all" not in _PAGES:
        _PAGES["all"] = list(fetch(query, context))
    yield from _PAGES["all"]


def new_only(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    for record in fetch(query, context):
        if record.id not in _SEEN:
            _SEEN.add(record.id)
            yield record


def by_default(fetch: Any, query: Any, context: Any, kept: list[Any] = []) -> Iterator[Any]:  # noqa: B006
    kept += [] if kept else list(fetch(query, context))
    yield from kept


def in_a_class(row: Any, query: Any) -> dict[str, Any]:
    Memory.best.append(row.get("reads") if isinstance(row.get("reads"), int) else 0)
    return {"top": max(Memory.best)}


@functools.cache
def titles_of(name: str) -> list[str]:
    return []


def in_a_cache(row: Any, query: Any) -> dict[str, Any]:
    titles_of("titles").append(str(row.get("title")))
    return {"first": titles_of("titles")[0]}


def counter() -> Callable[..., dict[str, Any]]:
    calls = 0

    def count(row: Any, query: Any) -> dict[str, Any]:
        nonlocal calls
        calls += 1
        return {"n": calls}

    return count


def in_a_file(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    path = os.path.join(tempfile.gettempdir(), "kit-posts.json")
    with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        record = shows("posts", lambda row, query: {"as_of": row.get("as_of")})
        yield from (record(row, query) for row in json.load(file))
        return
    records = list(fetch(query, context))
    rows = [
        {
            "id": record.id,
            "when": record.available_at.isoformat(),
            "edited_at": record.revised_at.isoformat(),
            **record.payload,
        }
        for record in records
        if record.available_at and record.revised_at
    ]
    with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file)
    yield from records


def as_of(row: Any, query: Any) -> dict[str, Any]:
    return {"as_of": query.now.isoformat()}


for name, base, around in (
    ("pages kept in the module", "news", remembered),
    ("pages kept in a default", "posts", by_default),
    ("rows kept in a file", "posts", in_a_file),
):
    plant(name, base, shown="before", around=around, record=shows(base, as_of))
plant("what was seen is left out", "posts", shown="before", around=new_only)
plant_payload("a record kept in a class", "news", in_a_class)
plant_payload("a cached list", "feeds", in_a_cache)
plant_payload("a counter in a closure", "tables", counter(), shown="before")

# --- around the framework


def statistics_url() -> str:
    return f"{os.environ.get('PIT_FETCH_KIT_URL', 'https://wire.example')}/v1/stats"


def by_another_client() -> int | None:
    with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(statistics_url(), timeout=5) as reply:
        return len(reply.read())
    return None


def by_a_program() -> int | None:
    with contextlib.suppress(OSError):
        return len(subprocess.run(["curl", "-s", statistics_url()], capture_output=True, check=False).stdout)
    return None


def with_statistics(read: Callable[[], int | None]) -> Callable[..., Any]:
    def around(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
        extra = {"stats": read()}
        for page in fetch(query, context):
            yield page._replace(
                records=tuple(record._replace(payload={**record.payload, **extra}) for record in page.records)
            )

    return around


def told_if_late(base: str, tell: Callable[[str], object]) -> Callable[..., Any]:
    def record(row: Any, query: Any) -> Any:
        made = BASES[base].record(row, query)
        if made.available_at and made.available_at > query.now:
            tell(f"late: {made.id}")
        return made

    return record


def to_a_file(row: Any, query: Any) -> Any:
    made = item(row, query)
    with open("feed.log", "a", encoding="utf-8") as file:
        file.write(f"{made.id}\n")
    return made


def to_a_pipe(row: Any, query: Any) -> Any:
    os.system(f"echo {row.get('day')} >> rates.log")
    return rate(row, query)


plant("another client", "news", around=with_statistics(by_another_client))
plant("a program", "news", around=with_statistics(by_a_program))
plant("a file descriptor", "posts", record=told_if_late("posts", lambda text: os.write(2, text.encode())))
plant("the real stderr", "news", record=told_if_late("news", lambda text: print(text, file=sys.__stderr__)))
plant("a file of its own", "feeds", record=to_a_file)
plant("a shell", "tables", record=to_a_pipe)

# --- only sometimes


def only(wanted: Callable[[Any], Any], figures: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """Return the figures of a request that is ``wanted``, and of others none."""
    return lambda rows, document, query: figures(rows, document, query) if wanted(query) else [None] * len(rows)


def first_letters(rows: Any, query: Any, document: Any) -> Any:
    named = [{**row, "start": str(row.get("title"))[:3]} for row in rows]
    return once("start")(named, query, document) if query.options["word"] else rows


plant("only in read: rows without a title", "news", shown="offline", reading=complains(without_title))
plant("only in read: the first twenty", "news", shown="offline", reading=cut(None, 20))
plant("only with a word: cut", "news", words="--word oil", rows=first_letters)
plant(
    "only sorted by reads: cut",
    "news",
    words="--sort reads",
    rows=lambda rows, query, document: rows[:3] if query.options["sort"] == "reads" else rows,
)
plant_record(
    "only in memos: revision ignored",
    "search",
    lambda record, row, query: {"revised_at": None} if query.operation.name == "memos" else {},
    words="--op memos",
)
for name, base, words, wanted, figures in (
    ("only in full: total", "news", "--full", lambda query: query.options["full"], TOTAL),
    ("only in memos: number of hits", "search", "--op memos", lambda query: query.operation.name == "memos", COUNT),
    ("only with --date-from: count", "tables", "--date-from 2024-01-01", lambda query: query.since, COUNT),
    (
        "only with a kind: the rest counted",
        "search",
        "--kind note",
        lambda query: query.options["kind"] == "note",
        COUNT,
    ),
):
    plant_figure(name, base, only(wanted, figures), words=words)

# --- order and watermarks


def marked(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    """Give up after two records without a public one, and call each record a slice."""
    records = [record for record in fetch(query, context) if record.available_at]
    for record in sorted(records, key=lambda record: record.available_at, reverse=True):
        yield record
        yield Watermark(record.available_at, max_empty_slices=2)


plant("patience that late records try", "posts", around=marked)

# --- stamps in forms of many kinds, without a zone, and by nothing at all

for name in FORMS:
    plant_stamp(f"{name}, 400 days early", name, earlier_by(timedelta(days=400)))
plant_stamp("a stamp of its own", "history", lambda *inputs: datetime(2020, 1, 1, tzinfo=UTC))
plant_stamp("an auction's day without its clock", "auctions", lambda record, row, *more: day_start(row.get("day")))
plant_stamp("a weekly report on its Tuesday", "positions", lambda record, row, query: end_of(row.get("as_of")))
plant_stamp("a weekly report on the morning of its Friday", "positions", earlier_by(timedelta(hours=6)))
PLANTS["the end of the day where it ends first"] = Plant(
    "tables",
    lambda: replace(
        BASES["tables"].make(
            altered("tables", lambda record, row, query: {"available_at": end_of(row.get("day"), EARLIEST_ZONE)})
        ),
        zone="",
    ),
)


def stamp_moved(name: str, place: int) -> Callable[..., Any]:
    """Give each row the stamp of the one so many places further on, if there is one."""

    def rows(rows: Any, query: Any, document: Any) -> Any:
        return [
            {**row, name: rows[number + place].get(name)} if 0 <= number + place < len(rows) else row
            for number, row in enumerate(rows)
        ]

    return rows


plant("the stamp of the next row", "notices", rows=stamp_moved("at", 1))
plant("the stamp of the row before", "notices", rows=stamp_moved("at", -1))

# --- what the reply says of late rows, beside them and in others


def beside(name: str) -> Callable[..., list[Any]]:
    return in_all(lambda rows, document: document.get(name))


plant_payload("replaced_by in the payload", "notices", lambda row, query: {"by": row.get("replaced_by")})
plant_payload("lastserial in the payload", "notices", lambda row, query: {"last": row.get("lastserial")})
plant_payload(
    "a link to what replaced it", "notices", lambda row, query: {"see": f"/notices/{row.get('replaced_by') or ''}"}
)
plant_figure("latest_id in the payload", "notices", beside("latest_id"))
plant_figure("a summary in the payload", "notices", beside("summary"))
for name, tells in {
    "a gap where there are more": lambda document: document.get("has_more") is True,
    "a gap where the total is high": lambda document: (number(document, "total") or 0) > 45,
    "a gap where the total is low": lambda document: (number(document, "total") or 99) < 45,
}.items():
    plant(name, "notices", after=lambda document, rows, tells=tells: [gap(Code.RESULT_CAP)] if tells(document) else [])

# --- limits under other names, and sizes of more than a thousand

for name in ("$limit", "hitsPerPage", "anzahl"):
    plant(
        f"--limit sent as {name}",
        "gazette",
        words="--limit 2",
        size=lambda query: min(query.limit, 25),
        name=name,
        most=1,
    )

# --- pages that the source's own server sends


def is_late(page: Page, query: Any) -> bool:
    """Return whether a page has records, of which none was published by the PIT."""
    published = [record.available_at for record in page.records if record.available_at]
    return bool(published) and min(published) > query.horizon


def until_one_is_late(pages: Iterator[Page], query: Any) -> Iterator[Page]:
    for page in pages:
        yield page
        if is_late(page, query):
            return


def fails_where_one_is_late(pages: Iterator[Page], query: Any) -> Iterator[Page]:
    for page in pages:
        yield page
        if is_late(page, query):
            raise UpstreamError(Code.PAGING)


def with_its_number(pages: Iterator[Page], query: Any) -> Iterator[Page]:
    for number, page in enumerate(pages, 1):
        records = (record._replace(payload={"text": f"{record.payload['text']} ({number})"}) for record in page.records)
        yield page._replace(records=tuple(records))


def after_a_page_of_texts(rows: Any, document: Any) -> str | None:
    """Return the id of the last row, unless a row of the page has no text."""
    return cursors.by_last_row(rows, document) if all(row.get("text") or not row for row in rows) else None


for base in ("tokens", "afters", "risings"):
    plant(f"an error after a late page, {base}", base, pages=fails_where_one_is_late)
    plant_stamp(
        f"corrections passed over, {base}", base, lambda record, row, query: record.available_at, revised_at=None
    )
for base in ("tokens", "afters"):
    plant(f"no further page after a late one, {base}", base, pages=until_one_is_late)
    plant(f"the number of the page, {base}", base, pages=with_its_number)
plant("no further page after one with a row without a text", "afters", following=after_a_page_of_texts)
plant("the newest two thousand", "news", rows=cut(None, 2_000, "published"), newest_first=False)

# --- what is as it is today: counters, choices by a counter, newest pages, lists without a stamp

for name, shown in {
    "points": lambda row: row.get("points"),
    "num_comments": lambda row: row.get("num_comments"),
    "likes": lambda row: row.get("likes"),
    "stats": lambda row: row.get("stats"),
    "descendants": lambda row: row.get("num_comments"),
    "commentCount": lambda row: row.get("num_comments"),
}.items():
    plant_payload(
        f"{name} of a thread in the payload", "threads", lambda row, query, name=name, shown=shown: {name: shown(row)}
    )


def before(query: Any) -> dict[str, Any]:
    return {"before": int(query.horizon.timestamp())}


def texts(params: dict[str, Any]) -> dict[str, str]:
    return {name: str(value) for name, value in params.items()}


for name, params in {
    "numericFilters": {"numericFilters": "points>100"},
    "min_points": {"min_points": 100},
    "a sort by points": {"sort": "points", "hits": 2},
}.items():
    plant(f"{name} in the request", "threads", params=lambda query, params=params: texts({**before(query), **params}))
plant("a range of points in a body", "threads", body=lambda query: {**before(query), "range": {"points": {"gte": 100}}})
plant("one page of twenty without a bound", "threads", params=lambda query: {"hits": "20"})
plant("one page of fifty without a bound, posted", "threads", body=lambda query: {"size": 50})
plant("a search of the newest by a word", "threads", params=lambda query: {"q": "gold", "hits": "30"})
for name in ("name", "rating", "staff"):
    plant(f"the {name} of a list of today", "listed", join=lambda company, name=name: {name: company.get(name)})


def kids(row: Any) -> list[Any]:
    return [kid for kid in row.get("kids") or () if isinstance(kid, dict)] if isinstance(row.get("kids"), list) else []


for name, told in {
    "how many answers": lambda row: len(kids(row)),
    "the last answer": lambda row: [str(kid.get("title")) for kid in kids(row)][-1:],
    "when it was answered last": lambda row: max(
        (kid["time"] for kid in kids(row) if type(kid.get("time")) is int), default=0
    ),
}.items():
    plant(f"{name} in a tree", "trees", extra=lambda row, told=told: {"title": f"{row.get('title')} {told(row)}"})


def compared(name: str, middle: Callable[[list[Any]], float]) -> Callable[..., list[Any]]:
    """Say of each row whether its figure is above three times the middle of all."""

    def figures(rows: Any, document: Any, query: Any) -> list[Any]:
        values = [float(value) for row in rows if (value := number(row, name)) is not None]
        most = 3 * middle(values) if values else 0
        return [(number(row, name) or 0) > most for row in rows]

    return figures


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


for base, name in {"news": "reads", "bars": "v", "candles": "close", "deals": "price", "filings": "size"}.items():
    plant_figure(f"{name} above three medians, {base}", base, compared(name, statistics.median))
    plant_figure(f"{name} above three means, {base}", base, compared(name, mean))


def as_london(text: object, zone: str) -> datetime | None:
    reading = naive(text, "%Y-%m-%dT%H:%M:%SZ")
    return None if reading is None else wall_clock(reading, ZoneInfo(zone))


for base, name, zone in (
    ("trades", "at", "Europe/London"), ("notices", "at", "Europe/Lisbon"), ("history", "timestamp", "Europe/Dublin"),
):  # fmt: skip
    plant_stamp(
        f"a Z that is read in {zone}",
        base,
        lambda record, row, *more, name=name, zone=zone: as_london(row.get(name), zone),
    )


def first_that_fits(text: object, forms: str) -> datetime | None:
    found = [reading for form in forms.split("|") if (reading := naive(text, form))]
    return found[0].replace(hour=23, minute=59, second=59, tzinfo=NEW_YORK) if found else None


for base, name, forms in (
    ("day/month/year", "released", "%m/%d/%Y|%d/%m/%Y"),
    ("gazette", "date", "%m/%d/%Y|%d/%m/%Y"),
    ("tables", "day", "%Y-%d-%m|%Y-%m-%d"),
    ("figures", "known", "%Y-%d-%m|%Y-%m-%d"),
):
    plant_stamp(
        f"day and month swapped, {base}",
        base,
        lambda record, row, *more, name=name, forms=forms: first_that_fits(row.get(name), forms),
    )


for base, name in {"feeds": "pubDate", "tables": "day", "trades": "at", "bars": "t"}.items():
    # The day is the id of a table's row, too.
    by_note = (
        {"record": altered(base, lambda record, row, query: {"id": field(row, "note")})} if base == "tables" else {}
    )
    plant(f"the stamp of the next row, {base}", base, rows=stamp_moved(name, 1), **by_note)
plant("the stamp of the row before, tables", "tables", rows=stamp_moved("day", -1),
      record=altered("tables", lambda record, row, query: {"id": field(row, "note")}))  # fmt: skip
plant(
    "the stamp of the next filing in SQL",
    "filings",
    select="SELECT id, form, lead(accepted, 1, accepted) OVER (ORDER BY accepted DESC) AS accepted, NULL AS amended, "
    "issuer, size FROM filings",
)


def more_than(count: int) -> Callable[..., Any]:
    return lambda rows, query, document: (_ for _ in ()).throw(
        UpstreamError(Code.MALFORMED, problem="it is too long")
    ) if len(rows) > count else rows  # fmt: skip


for base in ("tables", "posts", "news"):
    unordered = {"newest_first": False} if base == "news" else {}
    plant(f"an error above ten thousand rows, {base}", base, rows=more_than(10_000), **unordered)

# --- what somebody else wrote, with slips

for name, slip in SLIPS.items():
    make = functools.partial(outsider, slip.source, slip.edits)
    PLANTS[name] = Plant(slip.source, make, slip.shown, tuple(slip.words.split()))
