"""Leaks as careless authors write them: each takes the place of one function of an honest provider."""

# mypy: disable-error-code="arg-type, operator, attr-defined, misc"

from __future__ import annotations

import contextlib
import functools
import json
import os
import subprocess
import tempfile
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

from pit_fetch.provider import UpstreamError, Watermark, gap
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, parse_rfc3339, start_of_day, wall_clock
from tests.kit import honest
from tests.kit.bases import BASES
from tests.kit.honest import Made, article, bar, filing, hit, item, post, profile, rate, transcript, vintage
from tests.kit.markets import INTERVALS, candle, deal, entry, quote, trade


class Plant(NamedTuple):
    """A leak. ``shown`` is how it gets out.

    worlds  two worlds that serve the same public rows
    runs    one world, asked again: at another time, in another environment
    before  one world, asked in one process after a question about a later instant, and without it
    offline two saved replies
    words   what the request says besides
    """

    base: str
    kind: str
    make: Callable[[], Made]
    shown: str = "worlds"
    words: tuple[str, ...] = ()


PLANTS: dict[str, Plant] = {}


def plant(
    name: str, base: str, kind: str, shown: str = "worlds", words: tuple[str, ...] = (), /, **changes: Any
) -> None:
    assert name not in PLANTS, name
    PLANTS[name] = Plant(base, kind, lambda: BASES[base](**changes), shown, words)


def also(real: Callable[..., Any], **fields: Callable[..., object]) -> Callable[..., Any]:
    """``real``, with more in the payload: each field made from the row and the query."""

    def record(row: Any, *more: Any) -> Any:
        made = real(row, *more)
        return made._replace(payload={**made.payload, **{n: make(row, *more) for n, make in fields.items()}})

    return record


def stamped(real: Callable[..., Any], stamp: Callable[..., Any], revised: Any = "as it is") -> Callable[..., Any]:
    """``real``, dated by ``stamp(record, row, query)``."""

    def record(row: Any, *more: Any) -> Any:
        made = real(row, *more)
        made = made._replace(available_at=stamp(made, row, more[-1]))
        return made if revised == "as it is" else made._replace(revised_at=revised)

    return record


def dated(row: Any, name: str = "published") -> str:
    return str(row.get(name) or "")


# --- revisions

plant(
    "revision ignored",
    "news",
    "revision",
    record=stamped(article, lambda m, r, q: parse_rfc3339(r.get("published")), None),
)
plant(
    "the earlier of two stamps",
    "news",
    "revision",
    record=stamped(article, lambda m, r, q: min((s for s in (m.available_at, m.revised_at) if s), default=None), None),
)
plant(
    "small revisions ignored",
    "news",
    "revision",
    record=lambda row, query: (
        lambda m: m._replace(
            revised_at=m.revised_at
            if m.revised_at and m.available_at and m.revised_at - m.available_at < timedelta(hours=1)
            else m.available_at
        )
    )(article(row, query)),
)
plant("displayTime ignored", "search", "revision", record=lambda row, query: hit(row, query)._replace(revised_at=None))
plant(
    "amended column ignored",
    "filings",
    "revision",
    record=lambda row, query: filing(row, query)._replace(
        revised_at=None, available_at=parse_rfc3339(row.get("accepted"))
    ),
)
plant(
    "edited page ignored",
    "calls",
    "revision",
    record=lambda event, page, query: transcript(event, page, query)._replace(revised_at=None),
)
plant(
    "asOf ignored",
    "profiles",
    "revision",
    record=stamped(
        profile, lambda m, r, q: end_of_day(parse_date(r["listed"]), NEW_YORK) if parse_date(r.get("listed")) else None
    ),
)
plant("edited_at ignored", "posts", "revision", record=lambda row, query: post(row, query)._replace(revised_at=None))
plant("valid_to in the payload", "figures", "revision", record=also(vintage, until=lambda r, q: dated(r, "valid_to")))
plant(
    "last revision in the payload",
    "news",
    "revision",
    record=also(stamped(article, lambda m, r, q: m.available_at, None), revised=lambda r, q: dated(r, "last_updated")),
)
plant(
    "comments in the payload",
    "news",
    "nested",
    record=also(article, comments=lambda r, q: r.get("comments") if isinstance(r.get("comments"), list) else []),
)
plant(
    "number of comments in the payload",
    "news",
    "nested",
    record=also(article, comments=lambda r, q: len(r["comments"]) if isinstance(r.get("comments"), list) else 0),
)

# --- imprecise stamps


def whole_hours(row: Any, query: Any) -> Any:
    made = article(row, query)
    cut = [stamp and stamp.replace(minute=0) for stamp in (made.available_at, made.revised_at)]
    return made._replace(available_at=cut[0], revised_at=cut[1])


def naive(text: object, form: str) -> datetime | None:
    try:
        return datetime.strptime(str(text), form)  # noqa: DTZ007
    except ValueError:
        return None


def at_minute(text: object, zone: Any = NEW_YORK) -> datetime | None:
    read = naive(text, "%Y-%m-%d %H:%M")
    return None if read is None else wall_clock(read, zone)


def day_start(text: object) -> datetime | None:
    day = parse_date(text)
    return start_of_day(day, NEW_YORK) if day else None


def fold_first(text: object) -> datetime | None:
    read = naive(text, "%Y-%m-%d %H:%M:%S")
    return None if read is None else read.replace(tzinfo=NEW_YORK, fold=0).astimezone(UTC) + honest.FIVE_MINUTES


plant("hours cut off", "news", "imprecise", record=whole_hours)
plant(
    "offset cut off",
    "news",
    "imprecise",
    record=stamped(article, lambda m, r, q: parse_rfc3339(dated(r)[:19] + "Z") if m.available_at else None, None),
)
plant(
    "a minute as its first second",
    "calls",
    "imprecise",
    record=lambda event, page, query: (
        lambda m: m._replace(
            available_at=at_minute(event.get("ready")) if m.available_at else None,
            revised_at=at_minute((page or {}).get("edited")),
        )
    )(transcript(event, page, query)),
)
plant(
    "a naive reading as UTC",
    "calls",
    "imprecise",
    record=lambda event, page, query: transcript(event, page, query)._replace(
        available_at=at_minute(event.get("ready"), UTC), revised_at=at_minute((page or {}).get("edited"), UTC)
    ),
)
plant("the repeated hour, first time", "bars", "imprecise", record=stamped(bar, lambda m, r, q: fold_first(r.get("t"))))
plant("start of the day, table", "tables", "imprecise", record=stamped(rate, lambda m, r, q: day_start(r.get("day"))))
plant(
    "noon of the day",
    "tables",
    "imprecise",
    record=stamped(
        rate, lambda m, r, q: day_start(r["day"]) + timedelta(hours=12) if day_start(r.get("day")) else None
    ),
)
plant(
    "start of the day, vintages",
    "figures",
    "imprecise",
    record=stamped(vintage, lambda m, r, q: day_start(r.get("known"))),
)
plant(
    "end of the day in UTC",
    "figures",
    "imprecise",
    record=stamped(
        vintage, lambda m, r, q: end_of_day(parse_date(r["known"]), UTC) if parse_date(r.get("known")) else None
    ),
)
plant(
    "pubDate without its offset",
    "feeds",
    "imprecise",
    record=stamped(item, lambda m, r, q: m.available_at - timedelta(hours=5) if m.available_at else None),
)
plant(
    "the local zone of the machine",
    "bars",
    "environment",
    "runs",
    (),
    record=stamped(
        bar,
        lambda m, r, q: (lambda read: read.astimezone(UTC) + honest.FIVE_MINUTES if read else None)(
            naive(r.get("t"), "%Y-%m-%d %H:%M:%S")
        ),
    ),
)

# --- stamps that are another event's

plant(
    "bar start",
    "bars",
    "declared",
    record=stamped(bar, lambda m, r, q: m.available_at - honest.FIVE_MINUTES if m.available_at else None),
)
plant(
    "period end",
    "figures",
    "declared",
    record=stamped(
        vintage, lambda m, r, q: end_of_day(parse_date(r["date"]), NEW_YORK) if parse_date(r.get("date")) else None
    ),
)
plant(
    "call start",
    "calls",
    "declared",
    record=lambda event, page, query: transcript(event, page, query)._replace(
        available_at=honest.parse_wall_clock(event.get("call_start"), NEW_YORK), revised_at=None
    ),
)
plant("listing day", "profiles", "declared", record=stamped(profile, lambda m, r, q: day_start(r.get("listed"))))

# --- stamps that follow the request or the clock


def or_else(value: Any, other: Any) -> Any:
    return other if value is None else value


plant(
    "capped at the PIT",
    "news",
    "clock",
    record=lambda row, query: (
        lambda m: m._replace(
            available_at=m.available_at and min(m.available_at, query.now),
            revised_at=m.revised_at and min(m.revised_at, query.now),
        )
    )(article(row, query)),
)
plant(
    "capped at now",
    "news",
    "clock",
    record=lambda row, query: (
        lambda m: m._replace(
            available_at=m.available_at and min(m.available_at, query.started),
            revised_at=m.revised_at and min(m.revised_at, query.started),
        )
    )(article(row, query)),
)
plant(
    "undated is as of the PIT",
    "filings",
    "clock",
    record=lambda row, query: (
        lambda m: m._replace(
            available_at=or_else(m.available_at, query.now), revised_at=None if m.available_at is None else m.revised_at
        )
    )(filing(row, query)),
)
plant(
    "undated is old",
    "news",
    "clock",
    record=lambda row, query: (
        lambda m: m if m.available_at else m._replace(available_at=datetime(1970, 1, 1, tzinfo=UTC), revised_at=None)
    )(article(row, query)),
)
plant(
    "time of the fetch in the payload",
    "news",
    "clock",
    "runs",
    (),
    record=also(article, fetched=lambda r, q: q.started.isoformat()),
)
plant(
    "wall clock in the payload",
    "tables",
    "clock",
    "runs",
    (),
    record=also(rate, seen=lambda r, q: datetime.now(UTC).isoformat()),
)
plant("time.time in the payload", "posts", "clock", "runs", (), record=also(post, seen=lambda r, q: time.time()))
plant(
    "age in the payload",
    "search",
    "clock",
    "runs",
    (),
    record=also(
        hit,
        age=lambda r, q: int(q.started.timestamp() * 1_000) - r["posted"] if isinstance(r.get("posted"), int) else 0,
    ),
)
plant(
    "today in the payload",
    "filings",
    "clock",
    "runs",
    (),
    record=also(filing, day=lambda r, q: f"{time.strftime(chr(37) + chr(70))} {time.time_ns()}"),
)
plant(
    "random id", "feeds", "clock", "runs", (), record=lambda row, query: item(row, query)._replace(id=uuid.uuid4().hex)
)
plant(
    "user in the payload",
    "news",
    "environment",
    "runs",
    (),
    record=also(article, by=lambda r, q: os.environ.get("USER", "")),
)
plant(
    "home in the payload",
    "tables",
    "environment",
    "runs",
    (),
    record=also(rate, path=lambda r, q: os.path.expanduser("~/r.csv")),
)
plant("process in the payload", "posts", "environment", "runs", (), record=also(post, by=lambda r, q: os.getpid()))


# --- what stands beside the rows


def with_total(rows: Any, query: Any, document: Any) -> Any:
    return [{**row, "of": document.get("total")} for row in rows]


def told(template: str) -> Callable[..., Any]:
    def around(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
        count = 0
        for page in fetch(query, context):
            count += len(page.records)
            yield page
        yield gap("caveat", text=template.format(count=count))

    return around


plant("total in the payload", "news", "totals", rows=with_total, record=also(article, of=lambda r, q: r.get("of")))
plant(
    "number of rows in the payload",
    "tables",
    "totals",
    rows=lambda rows, q, d: [{**row, "of": len(rows)} for row in rows],
    record=also(rate, of=lambda r, q: r.get("of")),
)
plant("count in a gap", "news", "totals", around=told("{count} rows were read."))
plant(
    "hits in the payload",
    "search",
    "totals",
    rows=lambda rows, q, d: (
        [{**r, "of": (d.get("total") or {}).get("value")} for r in rows if isinstance(d.get("total"), dict)] or rows
    ),
    record=also(hit, of=lambda r, q: r.get("of")),
)
plant(
    "count of events in the payload",
    "calls",
    "totals",
    rows=lambda rows, q, d: [{**row, "of": d["count"]} for row in rows],
    record=also(transcript, of=lambda e, p, q: e.get("of")),
)
plant(
    "newest stamp in the payload",
    "news",
    "totals",
    rows=lambda rows, q, d: [{**row, "newest": d.get("newest")} for row in rows],
    record=also(article, newest=lambda r, q: r.get("newest")),
)
plant(
    "lastBuildDate in the payload",
    "feeds",
    "totals",
    rows=lambda rows, q, d: [{**row, "built": d.get("lastBuildDate")} for row in rows],
    record=also(item, built=lambda r, q: r.get("built")),
)
plant(
    "rank in the payload",
    "search",
    "totals",
    rows=lambda rows, q, d: [{**r, "n": n} for n, r in enumerate(rows)],
    record=also(hit, rank=lambda r, q: r.get("n")),
)
plant(
    "position in the id",
    "feeds",
    "totals",
    rows=lambda rows, q, d: [{**row, "guid": f"{row.get('guid')}-{n}"} for n, row in enumerate(rows)],
)
plant("a gap where something is late", "posts", "totals", around=lambda fetch, q, c: _with_gap_if_late(fetch, q, c))


def _with_gap_if_late(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    late = False
    for record in fetch(query, context):
        late = late or record.available_at is None or record.available_at > query.now
        yield record
    if late:
        yield gap("caveat", text="Some posts are under embargo.")


# --- columns, types, statistics


def framed(rows: Any, query: Any, document: Any) -> Any:
    """What a table library does: every row has every column, and a column one type."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    whole = {n for n in names if all(isinstance(row.get(n), int) for row in rows)}
    return [
        {n: row.get(n) if n in whole or not isinstance(row.get(n), int) else float(row[n]) for n in names}
        for row in rows
    ]


def rest(row: Any, query: Any) -> Any:
    return {name: value for name, value in row.items() if name in ("reads", "note") or name.startswith("extra")}


def typed(row: Any, query: Any) -> Any:
    return row.get("reads") if isinstance(row.get("reads"), (int, float)) else None


def of_all(name: str, make: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    def rows(found: Any, query: Any, document: Any) -> Any:
        values = [
            row[name] for row in found if isinstance(row.get(name), (int, float)) and not isinstance(row[name], bool)
        ]
        figure = make(values) if values else None
        return [{**row, "figure": figure} for row in found]

    return rows


def figure(row: Any, query: Any) -> Any:
    return row.get("figure")


def changes(name: str, later: bool) -> Callable[..., Any]:
    """The change against the row before, or the one after."""

    def rows(found: Any, query: Any, document: Any) -> Any:
        values = [row.get(name) if isinstance(row.get(name), (int, float)) else None for row in found]
        pairs = (
            [*pairwise(values), (values[-1], None)]
            if later
            else [(None, values[0]), *pairwise(values)]
            if values
            else []
        )
        return [
            {**row, "figure": None if None in pair else pair[1] - pair[0]}
            for row, pair in zip(found, pairs, strict=False)
        ]

    return rows


plant("columns of all rows", "news", "columns", rows=framed, record=also(article, more=rest))
plant("one type for a column", "news", "columns", rows=framed, record=also(article, exact=typed))
plant("share of the sum", "news", "columns", rows=of_all("reads", sum), record=also(article, sum=figure))
plant("scaled by the highest price", "bars", "columns", rows=of_all("h", max), record=also(bar, top=figure))
plant("change to the next bar", "bars", "columns", rows=changes("c", True), record=also(bar, next=figure))
plant(
    "mean size", "filings", "columns", rows=of_all("size", lambda v: sum(v) / len(v)), record=also(filing, mean=figure)
)
plant(
    "link to the next article",
    "news",
    "columns",
    rows=lambda rows, q, d: [{**row, "next": rows[n - 1].get("id") if n else None} for n, row in enumerate(rows)],
    record=also(article, next=lambda r, q: r.get("next")),
)
plant(
    "the widest text",
    "tables",
    "columns",
    rows=lambda rows, q, d: [{**row, "figure": max(len(str(r.get("note"))) for r in rows)} for row in rows],
    record=also(rate, width=figure),
)

# --- its own choice, order and cut


def once(key: Callable[[Any], Any]) -> Callable[..., Any]:
    def rows(found: Any, query: Any, document: Any) -> Any:
        kept: dict[Any, Any] = {}
        for row in found:
            kept.setdefault(key(row), row)
        return list(kept.values())

    return rows


def newest(name: str, count: int) -> Callable[..., Any]:
    return lambda rows, query, document: sorted(rows, key=lambda row: str(row.get(name)), reverse=True)[:count]


plant("first of a title", "news", "choice", rows=lambda rows, q, d: once(lambda r: r.get("title"))(rows, q, d))
plant(
    "last of an address",
    "news",
    "choice",
    rows=lambda rows, q, d: once(lambda r: r.get("url"))(sorted(rows, key=dated, reverse=True), q, d),
    order=None,
)
plant("first of an item's title", "feeds", "choice", rows=once(lambda r: r.get("title")))
plant("the newest hundred", "news", "choice", rows=newest("published", 100), order=None)
plant("the first thirty rows", "tables", "choice", rows=lambda rows, q, d: rows[:30])
plant("the first fifty posts", "posts", "choice", rows=lambda rows, q, d: rows[:50])
plant("the newest --limit rows", "news", "choice", "worlds", ("--limit", "2"), rows=lambda rows, q, d: rows[: q.limit])
plant(
    "--limit sent to the server",
    "search",
    "choice",
    "worlds",
    ("--limit", "2"),
    size=lambda q: min(q.limit, 20),
    most=1,
)
plant("LIMIT in SQL", "filings", "choice", select="SELECT * FROM filings ORDER BY accepted DESC LIMIT 100")
plant(
    "the last of a form in SQL",
    "filings",
    "choice",
    select="SELECT id, form, max(accepted) AS accepted, amended, issuer, size FROM filings GROUP BY form",
)
plant(
    "a window function in SQL",
    "filings",
    "totals",
    select="SELECT *, count(*) OVER () AS n FROM filings",
    record=also(filing, n=lambda r, q: r.get("n")),
)
plant("the first ten calls", "calls", "choice", rows=lambda rows, q, d: rows[:10])
plant(
    "newest version only",
    "figures",
    "versions",
    rows=lambda rows, q, d: once(lambda r: r.get("date"))(
        sorted(rows, key=lambda r: dated(r, "known"), reverse=True), q, d
    ),
)
plant(
    "last version only", "figures", "versions", rows=lambda rows, q, d: once(lambda r: r.get("date"))(rows[::-1], q, d)
)


def first_stamp(found: Any, query: Any, document: Any) -> Any:
    """The newest value under the first stamp."""
    values = {row.get("date"): row.get("value") for row in sorted(found, key=lambda row: dated(row, "known"))}
    firsts = once(lambda row: row.get("date"))(sorted(found, key=lambda row: dated(row, "known")), query, document)
    return [{**row, "value": values[row.get("date")]} for row in firsts]


def numbered_versions(found: Any, query: Any, document: Any) -> Any:
    dates = [row.get("date") for row in found]
    return [{**row, "figure": dates.count(row.get("date"))} for row in found]


plant("newest value under the first stamp", "figures", "versions", rows=first_stamp)
plant("number of versions", "figures", "versions", rows=numbered_versions, record=also(vintage, versions=figure))
plant(
    "whether it was revised",
    "figures",
    "versions",
    rows=lambda rows, q, d: [{**r, "figure": dated(r, "valid_to") < "9"} for r in rows],
    record=also(vintage, final=figure),
)

# --- errors


def complains(test: Callable[[Any], bool], **params: Any) -> Callable[..., Any]:
    def rows(found: Any, query: Any, document: Any) -> Any:
        if any(test(row) for row in found):
            raise UpstreamError("malformed", problem="a row is broken")
        return found

    return rows


plant("a row without a title", "news", "errors", rows=complains(lambda r: not isinstance(r.get("title"), str)))
plant("a row without a rate", "tables", "errors", rows=complains(lambda r: not r.get("rate")))
plant("a row without a text", "posts", "errors", rows=complains(lambda r: not r.get("text")))
plant(
    "a negative size",
    "filings",
    "errors",
    rows=complains(lambda r: (r.get("size") or 0) < 0 if isinstance(r.get("size"), int) else True),
)
plant("an impossible bar", "bars", "errors", rows=complains(lambda r: not isinstance(r.get("h"), (int, float))))
plant(
    "a score that is no number",
    "search",
    "errors",
    record=also(hit, score=lambda r, q: round(float(r.get("score", 0)), 2)),
)
plant(
    "a page that is gone",
    "calls",
    "errors",
    child=None,
    record=lambda event, page, query: (
        transcript(event, page, query) if page is not None or not event.get("id") else _gone()
    ),
)


def _gone() -> Any:
    raise UpstreamError("malformed", problem="a transcript is missing")


# --- state between runs

_PAGES: dict[Any, Any] = {}
AS_OF = also(article, as_of=lambda r, q: q.now.isoformat())
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


def in_a_class(row: Any, query: Any) -> Any:
    Memory.best.append(row.get("reads") if isinstance(row.get("reads"), int) else 0)
    made = article(row, query)
    return made._replace(payload={**made.payload, "top": max(Memory.best)})


@functools.cache
def first_title(name: str) -> list[str]:
    return []


def in_a_cache(row: Any, query: Any) -> Any:
    titles = first_title("titles")
    titles.append(str(row.get("title")))
    made = item(row, query)
    return made._replace(payload={**made.payload, "first": titles[0]})


def counted() -> Callable[..., Any]:
    calls = 0

    def record(row: Any, query: Any) -> Any:
        nonlocal calls
        calls += 1
        made = rate(row, query)
        return made._replace(payload={**made.payload, "n": calls})

    return record


def in_a_file(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    path = os.path.join(tempfile.gettempdir(), "kit-posts.json")
    with contextlib.suppress(OSError, ValueError), open(path, encoding="utf-8") as file:
        yield from (also(post, as_of=lambda r, q: r.get("as_of"))(row, query) for row in json.load(file))
        return
    found = list(fetch(query, context))
    rows = [
        {"id": one.id, "when": one.available_at.isoformat(), "edited_at": one.revised_at.isoformat(), **one.payload}
        for one in found
        if one.available_at and one.revised_at
    ]
    with contextlib.suppress(OSError), open(path, "w", encoding="utf-8") as file:
        json.dump(rows, file)
    yield from found


plant("pages kept in the module", "news", "state", "before", (), around=remembered, record=AS_OF)
plant("what was seen is left out", "posts", "state", "before", (), around=new_only)
plant(
    "pages kept in a default",
    "posts",
    "state",
    "before",
    (),
    around=by_default,
    record=also(post, as_of=lambda r, q: q.now.isoformat()),
)
plant("a record kept in a class", "news", "state", record=in_a_class)
plant("a cached list", "feeds", "state", record=in_a_cache)
plant("a counter in a closure", "tables", "state", "before", (), record=counted())
plant(
    "rows kept in a file",
    "posts",
    "state",
    "before",
    (),
    around=in_a_file,
    record=also(post, as_of=lambda r, q: q.now.isoformat()),
)

# --- around the framework


def base_of(context: Any) -> str:
    return os.environ.get("PIT_FETCH_KIT_URL", "https://wire.example")


def around_the_client(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    reads = None
    with (
        contextlib.suppress(OSError, ValueError),
        urllib.request.urlopen(f"{base_of(context)}/v1/stats", timeout=5) as reply,
    ):
        reads = len(reply.read())
    for page in fetch(query, context):
        yield page._replace(
            records=tuple(one._replace(payload={**one.payload, "stats": reads}) for one in page.records)
        )


def by_a_program(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    reads = None
    with contextlib.suppress(OSError):
        done = subprocess.run(["curl", "-s", f"{base_of(context)}/v1/stats"], capture_output=True, check=False)
        reads = len(done.stdout)
    for page in fetch(query, context):
        yield page._replace(
            records=tuple(one._replace(payload={**one.payload, "stats": reads}) for one in page.records)
        )


def to_a_descriptor(row: Any, query: Any) -> Any:
    made = post(row, query)
    if made.available_at and made.available_at > query.now:
        os.write(2, f"late: {made.id}\n".encode())
    return made


def to_a_file(row: Any, query: Any) -> Any:
    made = item(row, query)
    with open("feed.log", "a", encoding="utf-8") as file:
        file.write(f"{made.id}\n")
    return made


def to_a_pipe(row: Any, query: Any) -> Any:
    os.system(f"echo {row.get('day')} >> rates.log")
    return rate(row, query)


def to_the_log(row: Any, query: Any) -> Any:
    made = article(row, query)
    if made.available_at and made.available_at > query.now:
        import sys

        print(f"late: {made.id}", file=sys.__stderr__)
    return made


plant("another client", "news", "outside", around=around_the_client)
plant("a program", "news", "outside", around=by_a_program)
plant("a file descriptor", "posts", "outside", record=to_a_descriptor)
plant("a file of its own", "feeds", "outside", record=to_a_file)
plant("a shell", "tables", "outside", record=to_a_pipe)
plant("the real stderr", "news", "outside", record=to_the_log)

# --- only sometimes

plant(
    "only in read: rows without a title",
    "news",
    "sometimes",
    "offline",
    (),
    reading=complains(lambda r: not isinstance(r.get("title"), str)),
)
plant("only in read: the first twenty", "news", "sometimes", "offline", (), reading=lambda rows, q, d: rows[:20])
plant(
    "only with a word: cut",
    "news",
    "sometimes",
    "worlds",
    ("--word", "oil"),
    rows=lambda rows, q, d: once(lambda r: str(r.get("title"))[:3])(rows, q, d) if q.options["word"] else rows,
)
plant(
    "only sorted by reads: cut",
    "news",
    "sometimes",
    "worlds",
    ("--sort", "reads"),
    rows=lambda rows, q, d: rows[:3] if q.options["sort"] == "reads" else rows,
)
plant(
    "only in full: total",
    "news",
    "sometimes",
    "worlds",
    ("--full",),
    rows=with_total,
    record=lambda row, query: (
        lambda m: m._replace(payload={**m.payload, "of": row.get("of")}) if query.options["full"] else m
    )(article(row, query)),
)
plant(
    "only in memos: revision ignored",
    "search",
    "sometimes",
    "worlds",
    ("--op", "memos"),
    record=lambda row, query: (
        hit(row, query)._replace(revised_at=None) if query.operation.name == "memos" else hit(row, query)
    ),
)
plant(
    "only in memos: number of hits",
    "search",
    "sometimes",
    "worlds",
    ("--op", "memos"),
    rows=lambda rows, q, d: [{**row, "of": len(rows)} for row in rows],
    record=lambda row, query: (
        lambda m: m._replace(payload={**m.payload, "of": row.get("of")}) if query.operation.name == "memos" else m
    )(hit(row, query)),
)
plant(
    "only with --date-from: count",
    "tables",
    "sometimes",
    "worlds",
    ("--date-from", "2024-01-01"),
    rows=lambda rows, q, d: [{**row, "of": len(rows)} if q.since else row for row in rows],
    record=also(rate, of=lambda r, q: r.get("of")),
)
plant(
    "only with a kind: the rest counted",
    "search",
    "sometimes",
    "worlds",
    ("--kind", "note"),
    rows=lambda rows, q, d: [{**row, "of": len(rows)} if q.options["kind"] == "note" else row for row in rows],
    record=also(hit, of=lambda r, q: r.get("of")),
)

# --- order and watermarks


def marked(fetch: Any, query: Any, context: Any) -> Iterator[Any]:
    """Gives up after two records without a public one, and calls each record a slice."""
    found = [one for one in fetch(query, context) if one.available_at]
    for one in sorted(found, key=lambda one: one.available_at, reverse=True):
        yield one
        yield Watermark(one.available_at, max_empty_slices=2)


plant("patience that late records try", "posts", "watermark", around=marked)

# --- shapes that were misread once: JSON Lines, bars whose length is an option, headers, flags, other offsets


def without_offset(stamp: Any) -> Any:
    with contextlib.suppress(ValueError, TypeError):
        return datetime.strptime(stamp[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=UTC)
    return None


def numbered_rows(rows: Any, query: Any, document: Any) -> Any:
    return [{**row, "id": n} for n, row in enumerate(rows)]


def any_block(rows: Any, query: Any, document: Any) -> Any:
    found = any(row.get("block") is True for row in rows)
    return [{**row, "any": found} for row in rows]


plant("a row's number as its id", "trades", "totals", rows=numbered_rows)
plant(
    "whether any row is a block", "trades", "totals", rows=any_block, record=also(trade, any=lambda r, q: r.get("any"))
)
plant(
    "the offset cut off", "trades", "imprecise", record=stamped(trade, lambda m, r, q: without_offset(dated(r, "at")))
)
plant(
    "the fraction cut off",
    "trades",
    "imprecise",
    record=stamped(trade, lambda m, r, q: m.available_at and m.available_at.replace(microsecond=0)),
)
plant(
    "an hour's bar after five minutes",
    "candles",
    "declared",
    record=stamped(
        candle, lambda m, r, q: m.available_at and m.available_at - INTERVALS[q.options["interval"]] + INTERVALS["5m"]
    ),
)
plant("the next bar's close", "candles", "columns", rows=changes("close", True), record=also(candle, next=figure))
plant("the noon of the day in Tokyo", "quotes", "declared", record=stamped(
    quote, lambda m, r, q: m.available_at and m.available_at - timedelta(hours=12)))  # fmt: skip
plant("a header's total in the payload", "quotes", "totals", told=lambda h, d: {"of": h.get("x-total-count", "")})
plant("a flag beside the rows", "quotes", "totals", told=lambda h, d: {"complete": bool((d or {}).get("complete"))})
plant(
    "each page cut to --limit",
    "quotes",
    "choice",
    "worlds",
    ("--limit", "1"),
    rows=lambda rows, q, d: rows[: q.limit],
)
plant(
    "entries counted over the table",
    "ledger",
    "totals",
    select="SELECT *, count(*) OVER () AS n FROM entries",
    record=also(entry, n=lambda r, q: r.get("n")),
)
plant(
    "the account's balance of today",
    "ledger",
    "totals",
    select="SELECT *, sum(amount) OVER (PARTITION BY account) AS n FROM entries",
    record=also(entry, balance=lambda r, q: r.get("n")),
)
plant("the mean of a column", "deals", "columns", rows=of_all("price", sum), record=also(deal, sum=figure))
plant("the newest three deals", "deals", "choice", rows=lambda rows, q, d: rows[-3:])
plant(
    "the day of a deal as its instant",
    "deals",
    "imprecise",
    record=stamped(deal, lambda m, r, q: m.available_at and m.available_at.replace(hour=0)),
)
