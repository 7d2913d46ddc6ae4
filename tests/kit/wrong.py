"""Wrong providers, most of them without a leak between two worlds, each with the test that is about it.

Each is the good provider of ``source`` (or of ``vintages``) with one mistake. ``accused`` runs the author's whole
suite on one, to show that nothing else is blamed for it: ``make kit-score`` does so for all, the tests for a few.
"""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import requests

from pit_fetch.gaps import Code
from pit_fetch.provider import (
    Archiving,
    Dating,
    Page,
    Provider,
    Query,
    Record,
    UpstreamError,
    Watermark,
    gap,
)
from pit_fetch.testing import ProviderSuite
from pit_fetch.testing.observe import public_from
from pit_fetch.times import delayed, parse_rfc3339
from pit_fetch.transport import HttpReply
from pit_fetch.wire import strict_json
from tests.demo_source import change_operations
from tests.kit import curious, heavy, source, vintages
from tests.kit.source import PROVIDER, REPLY

TESTS = sorted(name for name in vars(ProviderSuite) if name.startswith("test_"))


def suite(provider: Provider, reply: bytes = REPLY, **attributes: Any) -> ProviderSuite:
    suite: ProviderSuite = type("TestIt", (ProviderSuite,), {"provider": provider, "reply": reply, **attributes})()
    return suite


def failing(suite: ProviderSuite, tests: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each of ``tests`` that fails, with its message. None is run before it is asked for."""
    for name in tests:
        try:
            getattr(suite, name)()
        except AssertionError as error:
            yield name.removeprefix("test_"), str(error)


def failures(suite: ProviderSuite, but: Collection[str] = ()) -> dict[str, str]:
    """Return the message of every test that fails, ``but`` those that need not be run."""
    return dict(failing(suite, (name for name in TESTS if name.removeprefix("test_") not in but)))


def failure(suite: ProviderSuite, test: str) -> str:
    """Return the message of one test, "" where it passes."""
    return failures(suite, ALL - {test}).get(test, "")


def by_fetch(fetch: Any) -> Provider:
    return change_operations(PROVIDER, fetch=fetch)


def by_row(change: Any) -> Provider:
    """Return the good provider, each record made anew by ``change(record, row)``."""

    def records(document: dict[str, Any]) -> Any:
        for row in document["items"]:
            yield change(source.record(row), row if isinstance(row, dict) else {})

    def fetch(query: Any, context: Any) -> Any:
        yield from records(source.page(query, context, ""))

    def read(body: bytes, query: Any) -> Any:
        yield from records(source.document_of(body))

    return change_operations(PROVIDER, fetch=fetch, parse_reply=read)


def by_record(change: Callable[..., Record]) -> Provider:
    """Return the good provider, each dated record that it fetches made anew by ``change(record, query, context)``."""

    def fetch(query: Any, context: Any) -> Any:
        for record in good(query, context):
            yield change(record, query, context) if record.available_at is not None else record

    return by_fetch(fetch)


def by_records(choose: Callable[[list[Record], Query], Iterable[Any]]) -> Provider:
    """Return the good provider, which yields what ``choose(records, query)`` makes of the records of its page."""

    def fetch(query: Any, context: Any) -> Any:
        yield from choose(good(query, context), query)

    return by_fetch(fetch)


def by_reply(read: Callable[[HttpReply, Query], Iterable[Record]], check: bool = True) -> Provider:
    """Return a provider that yields ``read(reply, query)``, after a ``check`` of its status."""

    def fetch(query: Any, context: Any) -> Any:
        reply = context.http.get(source.HOST, "/items")
        if check and reply.status != 200:
            raise UpstreamError(Code.HTTP_STATUS, host=source.HOST, status=reply.status)
        yield from read(reply, query)

    return by_fetch(fetch)


def after(act: Callable[[], object]) -> Provider:
    """Return the good provider, which does something else first."""

    def fetch(query: Any, context: Any) -> Any:
        with contextlib.suppress(OSError):
            act()
        yield from source.fetch(query, context)

    return by_fetch(fetch)


def good(query: Any, context: Any) -> list[Record]:
    """Return the good provider's records, of one page."""
    return list(source.records(source.page(query, context, "")))


CLAIMED = Dating(claims="by published; the text may be later")


def claiming(claim: Callable[[Record, Any], datetime | None]) -> Provider:
    """Return the good provider, whose dated records also have a claim."""

    def claimed(record: Record, row: Any) -> Record:
        return record if record.available_at is None else record._replace(claimed_at=claim(record, row))

    return change_operations(by_row(claimed), dating=CLAIMED)


def claim_of_the_oldest(query: Any, context: Any) -> Iterator[Record]:
    """Yield records, each of which claims to be as old as the oldest one of the reply."""
    records = good(query, context)
    oldest = min((record.available_at for record in records if record.available_at is not None), default=None)
    for record in records:
        yield record if record.available_at is None else record._replace(claimed_at=oldest)


def remembering() -> Provider:
    """Return the good provider, which serves of each item the text that it saw first."""
    known: dict[str, Any] = {}
    return by_row(lambda record, row: record._replace(payload=known.setdefault(record.id, record.payload)))


def claim_by_rank(query: Any, context: Any) -> Iterator[Record]:
    """Yield records, each of which claims to be a minute older for every row of the reply."""
    records = good(query, context)
    for record in records:
        at = record.available_at
        yield record if at is None else record._replace(claimed_at=at - timedelta(minutes=len(records)))


def refusal_as_nothing(query: Any, context: Any) -> Iterator[Record]:
    try:
        yield from good(query, context)
    except UpstreamError as error:
        if error.gap.params.get("status") != 401:
            raise


def reason_that_is_lost(query: Any, context: Any) -> Iterator[Record]:
    try:
        yield from good(query, context)
    except UpstreamError as error:
        if error.gap.params.get("status") != 418:
            raise
        raise UpstreamError(Code.BAD_CALL, host=source.HOST, problem="it is a teapot") from None


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


def naive_dates(record: Record, row: Any) -> Record:
    stamp = record.available_at
    return record._replace(available_at=stamp.replace(tzinfo=None)) if stamp and row.get("id") == 2 else record


def adds_a_day(record: Record, row: Any) -> Record:
    stamp = parse_rfc3339(row.get("published"))
    return record._replace(revised_at=stamp + timedelta(days=1)) if stamp and row.get("updated") is None else record


def limit_first(query: Any, context: Any) -> Any:
    yield from [source.record(row) for row in source.page(query, context, "")["items"]][: query.limit]


def stop_at_late(records: list[Record], query: Query) -> Iterator[Record]:
    for record in records:
        if record.available_at is not None and record.available_at > query.now:
            return
        yield record


def narrow_window(records: list[Record], query: Query) -> Iterator[Record]:
    return (record for record in records if record.available_at not in (None, query.horizon))


def oldest_slice_first(records: list[Record], query: Query) -> Iterator[Any]:
    yield from records[2:]
    yield Watermark(datetime(2024, 2, 15, tzinfo=UTC))
    yield from records[:2]


def mark_by_stamp(records: list[Record], query: Query) -> Iterator[Any]:
    yield from records
    stamps = [record.available_at for record in records if record.available_at is not None]
    yield Watermark(min(stamps, default=datetime(2024, 1, 1, tzinfo=UTC)))


def mark_by_slice(query: Any, context: Any) -> Any:
    yield from good(query, context)
    yield Watermark(datetime(2024, 2, 1, tzinfo=UTC))


def as_of_today(reply: HttpReply, query: Query) -> Iterator[Record]:
    for record in source.read(reply.body, query):
        yield record._replace(available_at=reply.received_at, revised_at=None, at_receipt=True)


def strict_rows(reply: HttpReply, query: Query) -> Iterator[Record]:
    strict_json(reply.body)
    return source.read(reply.body, query)


def header_in_the_payload(reply: HttpReply, query: Query) -> Iterator[Record]:
    total = {name.lower(): value for name, value in reply.headers.items()}.get("x-total-count", "")
    for record in source.read(reply.body, query):
        yield record._replace(payload={**record.payload, "of": total})


def quote_the_server(reply: HttpReply, query: Query) -> Iterator[Record]:
    if reply.status != 200:
        raise UpstreamError(Code.MALFORMED, problem=reply.body.decode())
    return source.read(reply.body, query)


def trust_the_body(reply: HttpReply, query: Query) -> Iterator[Record]:
    return (source.record(row) for row in json.loads(reply.body.decode("utf-8", "replace"))["items"])


def error_as_nothing(reply: HttpReply, query: Query) -> Iterator[Record]:
    try:
        document = json.loads(reply.body.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise UpstreamError(Code.MALFORMED, problem="it is no JSON") from None
    rows = document.get("items") if isinstance(document, dict) else None
    return (source.record(row) for row in (rows if isinstance(rows, list) else []))


def keep_a_file_for_each(query: Any, context: Any) -> Any:
    for record in good(query, context):
        context.http.get_cached(source.HOST, f"/items/{record.id}", 60.0, lambda reply: reply.body)
        yield record


def chosen(best: Any) -> Provider:
    """Return the provider of figures, of each period the one version that ``best`` makes of two."""

    def read(body: bytes, query: Any) -> Any:
        versions: dict[str, Record] = {}
        for record in vintages.read(body, query):
            versions[record.id] = best(versions[record.id], record) if record.id in versions else record
        yield from versions.values()

    def fetch(query: Any, context: Any) -> Any:
        return read(vintages.ask(query, context, 1), query)

    return change_operations(vintages.PROVIDER, fetch=fetch, parse_reply=read)


def newest(first: Record, second: Record) -> Record:
    return max(first, second, key=lambda record: public_from(record) or datetime.min.replace(tzinfo=UTC))


def swallow(query: Any, context: Any) -> Any:
    with contextlib.suppress(Exception):
        yield from good(query, context)


def in_a_module() -> Any:
    """Return a fetch that keeps its first reply."""
    kept: dict[str, list[Record]] = {}

    def fetch(query: Any, context: Any) -> Any:
        if "reply" not in kept:
            kept["reply"] = good(query, context)
        yield from kept["reply"]

    return fetch


def hinting() -> Provider:
    """Return the good provider, whose hint rests on the reply that it read last."""
    last: list[Record] = []

    def fetch(query: Any, context: Any) -> Any:
        last[:] = good(query, context)
        yield from last

    hint = PROVIDER._replace(when_empty=lambda query: "try a later day" if last else "")
    return change_operations(hint, fetch=fetch)


def same_page_for_ever(query: Any, context: Any) -> Any:
    while True:
        rows = source.page(query, context, "")["items"]
        yield from (source.record(row) for row in rows)
        if len(rows) < 50:
            return


def trust_the_window(query: Any, context: Any) -> Any:
    """Yield whatever the server sends as public at the PIT."""
    for record in good(query, context):
        if record.available_at is not None:
            yield record._replace(available_at=min(record.available_at, query.now), revised_at=None)


def with_payload(record: Record, **more: Any) -> Record:
    return record._replace(payload={**record.payload, **more})


# This module imports what a provider must not: that imports are light and ask nothing is tested with modules of their
# own.
IMPORTS = frozenset({"importing_it_is_light", "importing_it_asks_nothing"})
FIRST = "the_recording_holds_dated_records"
ALL = frozenset(name.removeprefix("test_") for name in TESTS)
LEAKS = "what_is_not_public_changes_no_byte"
# A field more in the payload is one that the operation does not declare.
UNDECLARED = {"records_are_well_formed"}
CLAIMS, NOT_CLAIMED = "a_claim_is_no_later_than_its_proof", "what_is_not_even_claimed_changes_no_byte"


class Wrong(NamedTuple):
    """A provider, the test that is about its mistake, words of the advice, and tests that it makes fail besides."""

    provider: Provider
    test: str
    words: str
    besides: Collection[str] = ()


WRONG = {
    "start-of-day stamp": Wrong(
        by_row(start_of_day), "stamps_are_the_latest_the_source_can_mean", "times.end_of_day", {"stamps_that_say_less"},
    ),
    "a reading without offset taken for UTC": Wrong(
        by_row(any_stamp_as_utc), "stamps_that_say_less", "times.parse_wall_clock", {"schema_drift"},
    ),
    "revisions ignored": Wrong(
        by_row(lambda record, row: record._replace(revised_at=None)),
        "revisions_are_told", "yield revised_at from updated",
    ),
    "crash on drift": Wrong(
        by_row(lambda record, row: record._replace(payload={"title": row["title"].upper()})),
        "schema_drift", "row.get, isinstance", {LEAKS},
    ),
    "naive stamp": Wrong(
        by_row(lambda record, row: record._replace(available_at=datetime(2024, 2, 1))),  # noqa: DTZ001
        FIRST, r"wall_clock\(naive, zone\)", ALL,
    ),
    "one naive stamp": Wrong(by_row(naive_dates), "records_are_well_formed", "wall_clock\\(naive, zone\\)"),
    "no JSON": Wrong(
        by_row(lambda record, row: record._replace(payload={"at": record.available_at})),
        "records_are_well_formed", "no datetime", ALL,
    ),
    "hindsight": Wrong(
        by_row(lambda record, row: record._replace(payload={"daily_return": 1.0})),
        "records_are_well_formed", "leave the field out",
    ),
    "a tag of its own": Wrong(
        by_row(lambda record, row: record._replace(available_at_source="trust_me")),
        "records_are_well_formed", "leave the field out", ALL,
    ),
    "stamp from the PIT": Wrong(
        by_records(lambda records, query: (record._replace(available_at=query.now) for record in records)),
        "stamps_come_from_the_reply_alone", "query.pit",
        {"an_item_is_there_at_its_instant_and_not_before", LEAKS, "schema_drift",
         "stamps_are_the_latest_the_source_can_mean",
         "stamps_that_say_less", "a_server_that_ignores_the_window", "revisions_are_told"},
    ),
    "limit before the filter": Wrong(by_fetch(limit_first), LEAKS, "query.limit"),
    "stop at a late record": Wrong(
        by_records(stop_at_late), LEAKS, "let the framework decide",
        {"an_item_is_there_at_its_instant_and_not_before"},
    ),
    "a count of all in a gap": Wrong(
        by_records(lambda records, query: [*records, gap(Code.USAGE, text=f"{len(records)} rows")]),
        LEAKS, "yield a gap",
    ),
    "the last instant left out": Wrong(
        by_records(narrow_window), "an_item_is_there_at_its_instant_and_not_before", "query.horizon is inclusive",
        {LEAKS},
    ),
    "an order that the source does not keep": Wrong(
        by_records(lambda records, query: [Page(tuple(reversed(records)), newest_first=True)]),
        "the_order_is_as_promised", "leave it out", ALL,
    ),
    "the oldest slice first": Wrong(
        by_records(oldest_slice_first), "the_order_is_as_promised", "a Watermark after each", ALL,
    ),
    "a watermark from a stamp": Wrong(
        by_records(mark_by_stamp), LEAKS, "from the request alone",
    ),
    "the newest version": Wrong(
        chosen(newest), "versions_are_left_to_the_framework", "yield every version",
        {LEAKS, "stamps_that_say_less"},
    ),
    "the first version": Wrong(
        chosen(lambda first, second: first), "versions_are_left_to_the_framework", "yield every version", {LEAKS},
    ),
    "the last version": Wrong(
        chosen(lambda first, second: second), "versions_are_left_to_the_framework", "yield every version", {LEAKS},
    ),
    "undeclared versions": Wrong(
        change_operations(vintages.PROVIDER, archiving=Archiving()),
        "versions_are_left_to_the_framework", "whatever part of the answer is wanted",
    ),
    "a row that cannot be read": Wrong(by_reply(strict_rows), LEAKS, "wire.lenient_json"),
    "a file kept for what is late": Wrong(by_fetch(keep_a_file_for_each), LEAKS, "because of a record"),
    "pages without end": Wrong(
        by_fetch(same_page_for_ever)._replace(page_size=50), "paging_comes_to_an_end", "paging.numbered", {LEAKS},
    ),
    "a failure swallowed": Wrong(by_fetch(swallow), "http_errors", "let UpstreamError pass", ALL),
    "a reply kept": Wrong(by_fetch(in_a_module()), "nothing_is_kept_between_runs", "get_cached"),
    "a text remembered": Wrong(remembering(), "nothing_is_kept_between_runs", "keep nothing between runs"),
    "a hint of what was read": Wrong(hinting(), "nothing_is_kept_between_runs", "keep nothing between runs"),
    "a hash": Wrong(
        by_row(lambda record, row: with_payload(record, key=hash(record.id))),
        "the_answer_is_the_same_at_any_hour_and_anywhere", "nothing else may decide", UNDECLARED,
    ),
    "a header's total": Wrong(by_reply(header_in_the_payload), LEAKS, "where the next page is", UNDECLARED),
    "a gap among records": Wrong(
        by_records(lambda records, query: [Page((*records, gap(Code.RESULT_CAP)))]),  # type: ignore[arg-type]
        FIRST, "a page holds only records", ALL,
    ),
    "past the calendar's end": Wrong(by_row(adds_a_day), LEAKS, "times.delayed", ALL),
    "a claim later than its proof": Wrong(
        claiming(lambda record, row: delayed(record.available_at, timedelta(days=9))), CLAIMS, "leave claimed_at out",
    ),
    "a claim without words": Wrong(
        change_operations(claiming(lambda record, row: record.available_at), dating=Dating()),
        CLAIMS, "which rule a claim rests on",
    ),
    "words without a claim": Wrong(claiming(lambda record, row: None), CLAIMS, "which rule a claim rests on"),
    "a claim that counts what is late": Wrong(change_operations(by_fetch(claim_by_rank), dating=CLAIMED), NOT_CLAIMED,
        "let the framework decide",
    ),
    "a claim of the oldest row": Wrong(
        change_operations(by_fetch(claim_of_the_oldest), dating=CLAIMED), NOT_CLAIMED, "by its own row",
    ),
    "asking while it is imported": Wrong(
        by_fetch(curious.fetch), "importing_it_asks_nothing", "read no environment, no clock", IMPORTS,
    ),
    "server's words repeated": Wrong(
        by_reply(quote_the_server, check=False), "http_errors", "words of your own", {"no_secret_gets_out"},
    ),
    "status ignored": Wrong(
        by_reply(trust_the_body, check=False), "http_errors", "check reply.status", {"odd_bodies", "schema_drift"},
    ),
    "an error taken for nothing": Wrong(
        by_reply(error_as_nothing), "odd_bodies", "a source that failed", {"schema_drift"},
    ),
    "a refusal taken for nothing": Wrong(by_fetch(refusal_as_nothing), "http_errors", "let UpstreamError pass"),
    "a reason that is lost": Wrong(by_fetch(reason_that_is_lost), "http_errors", 'Code.HTTP_STATUS: problem="'),
    "a field that is not declared": Wrong(
        by_row(lambda record, row: with_payload(record, words=1)), "records_are_well_formed", r'Field\("words"\)',
    ),
    "adjusted figures under a caveat": Wrong(
        change_operations(
            by_row(lambda record, row: with_payload(record, adj_close=1)),
            caveats=lambda query: ["adjusted later"], fields=(),
        ),
        "stamps_rest_on_publication", "give the instant as claimed_at",
    ),
    "body not checked": Wrong(by_reply(trust_the_body), "odd_bodies", "lenient_json", {"schema_drift"}),
    "key in the payload": Wrong(
        by_record(lambda record, query, context: with_payload(record, url=f"/items?key={context.credentials['key']}")),
        "no_secret_gets_out", "never put a credential", UNDECLARED,
    ),
    "key in the id": Wrong(
        by_record(lambda record, query, context: record._replace(id=f"{record.id}?{context.credentials['key']}")),
        "no_secret_gets_out", "never put a credential", {"an_item_is_there_at_its_instant_and_not_before"},
    ),
    "around the client": Wrong(
        after(lambda: requests.get("https://api.source.example/items", timeout=5)),
        "it_asks_declared_hosts_only", "ask declared hosts", ALL,
    ),
    "a socket": Wrong(
        after(lambda: socket.create_connection(("tracker.example", 443), timeout=5)),
        "it_asks_declared_hosts_only", "context.http.get",
    ),
    "another program": Wrong(
        after(lambda: subprocess.run(["curl", "https://tracker.example/"], check=False)),
        "it_asks_declared_hosts_only", "context.http.get",
    ),
    "prints": Wrong(after(lambda: print("fetching")), "records_are_well_formed", "take the print out"),  # noqa: T201
    "heavy import": Wrong(by_fetch(heavy.fetch), "importing_it_is_light", "into the function that needs it"),
    "http host": Wrong(
        PROVIDER._replace(hosts=(PROVIDER.hosts[0]._replace(url="http://api.source.example"),)),
        "it_asks_declared_hosts_only", "https://HOST", ALL,
    ),
}  # fmt: skip


def suite_of(wrong: str) -> ProviderSuite:
    provider = WRONG[wrong].provider
    return suite(provider, vintages.REPLY if provider.name == vintages.PROVIDER.name else REPLY)


def accused(wrong: str) -> set[str]:
    """Return the tests of the whole suite that fail for it, but those that are known to fail besides."""
    test, besides = WRONG[wrong].test, WRONG[wrong].besides
    return set(failures(suite_of(wrong), {*besides, *IMPORTS} - {test}))
