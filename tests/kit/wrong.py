"""Wrong providers, most of them without a leak between two worlds: what is wrong -> the test that is about it.

Each is the good provider of ``source`` (or of ``vintages``) with one mistake. ``accused`` runs the author's whole
suite on one, to show that nothing else is blamed for it: ``make kit-score`` does so for all, the tests for a few.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import requests

from pit_fetch.paging import newest_first
from pit_fetch.provider import Operation, Page, Provider, Record, UpstreamError, Watermark, gap
from pit_fetch.testing import ProviderSuite
from pit_fetch.testing.case import public_from
from pit_fetch.times import parse_rfc3339
from pit_fetch.wire import strict_json
from tests.kit import curious, heavy, source, vintages
from tests.kit.source import PROVIDER, REPLY

TESTS = sorted(name for name in vars(ProviderSuite) if name.startswith("test_"))


def suite(provider: Provider, reply: bytes = REPLY, **attributes: Any) -> ProviderSuite:
    made: ProviderSuite = type("TestIt", (ProviderSuite,), {"provider": provider, "reply": reply, **attributes})()
    return made


def failing(made: ProviderSuite, tests: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each of ``tests`` that fails, with its message. None is run before it is asked for."""
    for name in tests:
        try:
            getattr(made, name)()
        except AssertionError as error:
            yield name.removeprefix("test_"), str(error)


def failures(made: ProviderSuite, but: Collection[str] = ()) -> dict[str, str]:
    """The message of every test that fails, ``but`` those that need not be run."""
    return dict(failing(made, (name for name in TESTS if name.removeprefix("test_") not in but)))


def failure(made: ProviderSuite, test: str) -> str:
    """The message of one test, "" where it passes."""
    return failures(made, ALL - {test}).get(test, "")


def by_row(change: Any) -> Provider:
    """The good provider, each record made anew by ``change(record, row)``."""

    def records(document: dict[str, Any]) -> Any:
        for row in document["items"]:
            yield change(source.record(row), row if isinstance(row, dict) else {})

    return by_document(records)


def by_document(records: Any) -> Provider:
    """The good provider, its records made by ``records(document)``."""

    def fetch(query: Any, context: Any) -> Any:
        yield from records(source.page(query, context, ""))

    def read(body: bytes, query: Any) -> Any:
        yield from records(source.document_of(body))

    return PROVIDER._replace(fetch=fetch, parse_reply=read)


def by_fetch(fetch: Any) -> Provider:
    return PROVIDER._replace(fetch=fetch)


def start_of_day(record: Record, row: Any) -> Record:
    published = str(row.get("published"))
    day = published if len(published) == 10 else ""
    return record._replace(available_at=parse_rfc3339(f"{day}T00:00:00-05:00")) if day else record


def any_stamp_as_utc(record: Record, row: Any) -> Record:
    try:
        moment = datetime.fromisoformat(str(row.get("published")))
    except ValueError:
        return record
    if len(str(row.get("published"))) == 10:
        return record
    return record._replace(available_at=moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def rigid(record: Record, row: Any) -> Record:
    return record._replace(payload={"title": row["title"].upper()})


def limit_first(query: Any, context: Any) -> Any:
    yield from [source.record(row) for row in source.page(query, context, "")["items"]][: query.limit]


def good(query: Any, context: Any) -> list[Record]:
    """The good provider's records, of one page."""
    return list(source.records(source.page(query, context, "")))


def stop_at_late(query: Any, context: Any) -> Any:
    for record in good(query, context):
        if record.available_at is not None and record.available_at > query.now:
            return
        yield record


def count_in_gap(query: Any, context: Any) -> Any:
    records = good(query, context)
    yield from records
    yield gap("usage", text=f"{len(records)} rows")


def now_as_stamp(query: Any, context: Any) -> Any:
    for record in good(query, context):
        yield record._replace(available_at=query.now)


def narrow_window(query: Any, context: Any) -> Any:
    for record in good(query, context):
        if record.available_at is not None and record.available_at != query.horizon:
            yield record


def ordered_backwards(query: Any, context: Any) -> Any:
    yield Page(tuple(reversed(good(query, context))), newest_first)


def oldest_slice_first(query: Any, context: Any) -> Any:
    records = good(query, context)
    yield from records[2:]
    yield Watermark(datetime(2024, 2, 15, tzinfo=UTC))
    yield from records[:2]


def mark_by_stamp(query: Any, context: Any) -> Any:
    records = good(query, context)
    yield from records
    dated = [record.available_at for record in records if record.available_at is not None]
    yield Watermark(min(dated) if dated else datetime(2024, 1, 1, tzinfo=UTC))


def mark_by_slice(query: Any, context: Any) -> Any:
    yield from good(query, context)
    yield Watermark(datetime(2024, 2, 1, tzinfo=UTC))


def as_of_today(query: Any, context: Any) -> Any:
    reply = context.http.get(source.HOST, "/items")
    if reply.status != 200:
        raise UpstreamError("http_status", host=source.HOST, status=reply.status)
    for record in source.read(reply.body, query):
        yield record._replace(available_at=reply.received_at, revised_at=None, at_receipt=True)


def strict_rows(query: Any, context: Any) -> Any:
    reply = context.http.get(source.HOST, "/items")
    if reply.status != 200:
        raise UpstreamError("http_status", host=source.HOST, status=reply.status)
    strict_json(reply.body)
    yield from source.read(reply.body, query)


def keep_a_file_for_each(query: Any, context: Any) -> Any:
    for record in good(query, context):
        context.http.get_cached(source.HOST, f"/items/{record.id}", 60.0, lambda reply: reply.body)
        yield record


def chosen(best: Any) -> Provider:
    """The figures, of each period the one version that ``best`` makes of two."""

    def read(body: bytes, query: Any) -> Any:
        versions: dict[str, Record] = {}
        for record in vintages.read(body, query):
            versions[record.id] = best(versions[record.id], record) if record.id in versions else record
        yield from versions.values()

    def fetch(query: Any, context: Any) -> Any:
        return read(vintages.ask(query, context, 1), query)

    return vintages.PROVIDER._replace(fetch=fetch, parse_reply=read)


def newest(one: Record, other: Record) -> Record:
    return max(one, other, key=lambda record: public_from(record) or datetime.min.replace(tzinfo=UTC))


def swallow(query: Any, context: Any) -> Any:
    with contextlib.suppress(Exception):
        yield from good(query, context)


def in_a_module() -> Any:
    """A reply that is kept, and the hint that rests on it."""
    kept: dict[str, list[Record]] = {}

    def fetch(query: Any, context: Any) -> Any:
        if "reply" not in kept:
            kept["reply"] = good(query, context)
        yield from kept["reply"]

    return fetch


def hinting() -> Provider:
    seen: list[Record] = []

    def fetch(query: Any, context: Any) -> Any:
        seen[:] = good(query, context)
        yield from seen

    return PROVIDER._replace(fetch=fetch, when_empty=lambda query: "try a later day" if seen else "")


def by_hash(record: Record, row: Any) -> Record:
    return record._replace(payload={**record.payload, "key": hash(record.id)})


def told_by_a_header(query: Any, context: Any) -> Any:
    reply = context.http.get(source.HOST, "/items")
    if reply.status != 200:
        raise UpstreamError("http_status", host=source.HOST, status=reply.status)
    total = {name.lower(): value for name, value in reply.headers.items()}.get("x-total-count", "")
    for record in source.read(reply.body, query):
        yield record._replace(payload={**record.payload, "of": total})


def gaps_in_a_page(query: Any, context: Any) -> Any:
    yield Page((*good(query, context), gap("result_cap")))  # type: ignore[arg-type]


def adds_a_day(record: Record, row: Any) -> Record:
    stamp = parse_rfc3339(row.get("published"))
    return record._replace(revised_at=stamp + timedelta(days=1)) if stamp and row.get("updated") is None else record


def same_page_for_ever(query: Any, context: Any) -> Any:
    while True:
        rows = source.page(query, context, "")["items"]
        yield from (source.record(row) for row in rows)
        if len(rows) < 50:
            return


def quote_the_server(query: Any, context: Any) -> Any:
    reply = context.http.get(source.HOST, "/items")
    if reply.status != 200:
        raise UpstreamError("malformed", problem=reply.body.decode())
    yield from source.read(reply.body, query)


def trust_the_body(query: Any, context: Any) -> Any:
    reply = context.http.get(source.HOST, "/items")
    if reply.status != 200:
        raise UpstreamError("http_status", host=source.HOST, status=reply.status)
    yield from (source.record(row) for row in json.loads(reply.body)["items"])


def trust_the_window(query: Any, context: Any) -> Any:
    """Takes whatever the server sends for public at the PIT."""
    for record in good(query, context):
        if record.available_at is not None:
            yield record._replace(available_at=min(record.available_at, query.now), revised_at=None)


def naive_dates(record: Record, row: Any) -> Record:
    stamp = record.available_at
    return record._replace(available_at=stamp.replace(tzinfo=None)) if stamp and row.get("id") == 2 else record


def trust_the_status(query: Any, context: Any) -> Any:
    reply = context.http.get(source.HOST, "/items")
    yield from (source.record(row) for row in json.loads(reply.body)["items"])


def leak_the_key(query: Any, context: Any) -> Any:
    for record in good(query, context):
        yield record._replace(payload={**record.payload, "url": f"/items?key={context.credentials['key']}"})


def leak_the_key_in_the_id(query: Any, context: Any) -> Any:
    for record in good(query, context):
        yield record._replace(id=record.id and f"{record.id}?{context.credentials['key']}")


def go_around(query: Any, context: Any) -> Any:
    requests.get("https://api.source.example/items", timeout=5)
    yield from source.fetch(query, context)


def open_a_socket(query: Any, context: Any) -> Any:
    with contextlib.suppress(OSError):
        socket.create_connection(("tracker.example", 443), timeout=5)
    yield from source.fetch(query, context)


def run_a_program(query: Any, context: Any) -> Any:
    with contextlib.suppress(OSError):
        subprocess.run(["curl", "https://tracker.example/"], check=False)
    yield from source.fetch(query, context)


def talk(query: Any, context: Any) -> Any:
    print("fetching")  # noqa: T201
    yield from source.fetch(query, context)


# This module imports what a provider must not: that imports are light and ask nothing is tested with modules of their
# own.
IMPORTS = frozenset({"importing_it_is_light", "importing_it_asks_nothing"})
FIRST = "the_recording_holds_dated_records"
ALL = frozenset(name.removeprefix("test_") for name in TESTS)

# What is wrong -> the provider, the test that is about it, words of its message, and tests that it makes fail besides.
WRONG: dict[str, tuple[Provider, str, str, frozenset[str] | set[str]]] = {
    "start-of-day stamp": (
        by_row(start_of_day), "stamps_are_the_latest_the_source_can_mean", "times.end_of_day", {"stamps_that_say_less"},
    ),
    "a reading without offset taken for UTC": (
        by_row(any_stamp_as_utc), "stamps_that_say_less", "times.wall_clock", {"schema_drift"},
    ),
    "revisions ignored": (
        by_row(lambda record, row: record._replace(revised_at=None)),
        "revisions_are_told", "yield revised_at from updated", set(),
    ),
    "crash on drift": (by_row(rigid), "schema_drift", "row.get, isinstance", {"what_is_not_public_changes_no_byte"}),
    "naive stamp": (
        by_row(lambda record, row: record._replace(available_at=datetime(2024, 2, 1))),  # noqa: DTZ001
        "the_recording_holds_dated_records", "aware available_at", ALL,
    ),
    "one naive stamp": (by_row(naive_dates), "records_are_well_formed", "wall_clock\\(naive, zone\\)", set()),
    "no JSON": (
        by_row(lambda record, row: record._replace(payload={"at": record.available_at})),
        "records_are_well_formed", "no datetime", ALL,
    ),
    "hindsight": (
        by_row(lambda record, row: record._replace(payload={"daily_return": 1.0})),
        "records_are_well_formed", "leave the field out", set(),
    ),
    "a tag of its own": (
        by_row(lambda record, row: record._replace(available_at_source="trust_me")),
        "records_are_well_formed", "use one of", ALL,
    ),
    "stamp from the PIT": (
        by_fetch(now_as_stamp), "stamps_come_from_the_reply_alone", "query.pit",
        {"an_item_is_there_at_its_instant_and_not_before", "what_is_not_public_changes_no_byte", "schema_drift",
         "stamps_are_the_latest_the_source_can_mean",
         "stamps_that_say_less", "a_server_that_ignores_the_window", "revisions_are_told"},
    ),
    "limit before the filter": (by_fetch(limit_first), "what_is_not_public_changes_no_byte", "query.limit", set()),
    "stop at a late record": (
        by_fetch(stop_at_late), "what_is_not_public_changes_no_byte", "let the framework decide",
        {"an_item_is_there_at_its_instant_and_not_before"},
    ),
    "a count of all in a gap": (
        by_fetch(count_in_gap), "what_is_not_public_changes_no_byte", "yield a gap", set(),
    ),
    "the last instant left out": (
        by_fetch(narrow_window), "an_item_is_there_at_its_instant_and_not_before", "query.horizon is inclusive",
        {"what_is_not_public_changes_no_byte"},
    ),
    "an order that the source does not keep": (
        by_fetch(ordered_backwards), "the_order_is_as_promised", "leave it out", ALL,
    ),
    "the oldest slice first": (
        by_fetch(oldest_slice_first), "the_order_is_as_promised", "a Watermark after each", ALL,
    ),
    "a watermark from a stamp": (
        by_fetch(mark_by_stamp), "the_order_is_as_promised", "from the request alone", set(),
    ),
    "the newest version": (
        chosen(newest), "versions_are_left_to_the_framework", "yield every version",
        {"what_is_not_public_changes_no_byte", "stamps_that_say_less"},
    ),
    "the first version": (
        chosen(lambda one, other: one), "versions_are_left_to_the_framework", "yield every version", set(),
    ),
    "the last version": (
        chosen(lambda one, other: other), "versions_are_left_to_the_framework", "yield every version",
        {"what_is_not_public_changes_no_byte"},
    ),
    "versions that nobody declares": (
        vintages.PROVIDER._replace(operations=(vintages.PROVIDER.operations[0]._replace(versions=False),)),
        "versions_are_left_to_the_framework", "whatever part of the answer is wanted", set(),
    ),
    "a row that cannot be read": (
        by_fetch(strict_rows), "what_is_not_public_changes_no_byte", "wire.lenient_json", set(),
    ),
    "a file kept for what is late": (
        by_fetch(keep_a_file_for_each), "what_is_not_public_changes_no_byte", "because of a record", set(),
    ),
    "pages without end": (
        by_fetch(same_page_for_ever)._replace(page_size=50),
        "paging_comes_to_an_end", "paging.numbered", set(),
    ),
    "a failure swallowed": (by_fetch(swallow), "http_errors", "let UpstreamError pass", ALL),
    "a reply kept": (by_fetch(in_a_module()), "nothing_is_kept_between_runs", "get_cached", set()),
    "a hint of what was read": (hinting(), "nothing_is_kept_between_runs", "keep nothing between runs", set()),
    "a hash": (by_row(by_hash), "the_answer_is_the_same_at_any_hour_and_anywhere", "nothing else may decide", set()),
    "a header's total": (
        by_fetch(told_by_a_header), "what_is_not_public_changes_no_byte", "where the next page is", set(),
    ),
    "a gap among records": (by_fetch(gaps_in_a_page), FIRST, "a page holds only records", ALL),
    "past the calendar's end": (
        by_row(adds_a_day), "what_is_not_public_changes_no_byte", "times.delayed", ALL,
    ),
    "two operations without a name for them": (
        PROVIDER._replace(operations=(Operation("one"), Operation("two"))), FIRST, r'Option\("op", "one, two"', ALL,
    ),
    "asking while it is imported": (
        by_fetch(curious.fetch), "importing_it_asks_nothing", "read no environment, no clock", IMPORTS,
    ),
    "server's words repeated": (by_fetch(quote_the_server), "http_errors", "words of your own", {"no_secret_gets_out"}),
    "status ignored": (by_fetch(trust_the_status), "http_errors", "check reply.status", {"odd_bodies", "schema_drift"}),
    "body not checked": (by_fetch(trust_the_body), "odd_bodies", "lenient_json", {"schema_drift"}),
    "key in the payload": (by_fetch(leak_the_key), "no_secret_gets_out", "never put a credential", set()),
    "key in the id": (
        by_fetch(leak_the_key_in_the_id), "no_secret_gets_out", "never put a credential",
        {"an_item_is_there_at_its_instant_and_not_before"},
    ),
    "around the client": (by_fetch(go_around), "it_asks_declared_hosts_only", "ask declared hosts", ALL),
    "a socket": (by_fetch(open_a_socket), "it_asks_declared_hosts_only", "context.http.get", set()),
    "another program": (by_fetch(run_a_program), "it_asks_declared_hosts_only", "context.http.get", set()),
    "prints": (by_fetch(talk), "records_are_well_formed", "take the print out", set()),
    "heavy import": (by_fetch(heavy.fetch), "importing_it_is_light", "into the function that needs it", set()),
    "http host": (
        PROVIDER._replace(hosts=(PROVIDER.hosts[0]._replace(url="http://api.source.example"),)),
        "it_asks_declared_hosts_only", "https://HOST", ALL,
    ),
}  # fmt: skip


def suite_of(wrong: str) -> ProviderSuite:
    provider = WRONG[wrong][0]
    return suite(provider, vintages.REPLY if provider.name == vintages.PROVIDER.name else REPLY)


def accused(wrong: str) -> set[str]:
    """The tests of the whole suite that fail for it, but those that are known to fail besides."""
    _, test, _, besides = WRONG[wrong]
    return set(failures(suite_of(wrong), {*besides, *IMPORTS} - {test}))
