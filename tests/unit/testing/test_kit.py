"""The kit can fail: each mistake in a provider fails the test that is about it, by a message that names the fix.

A provider that is right passes all tests, in JSON, XML and CSV.
"""

from __future__ import annotations

import contextlib
import json
import locale
import re
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, ClassVar
from unittest import SkipTest

import pytest
import responses

from pit_fetch.provider import Archiving, Basis, Dating, Field, Option, Query, Record, UpstreamError
from pit_fetch.testing import Bounds, HttpRequest, Left, ProviderSuite, Recording, ask_responses
from pit_fetch.testing.certificate import UNSEEN
from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.observe import public_from
from pit_fetch.testing.state import State
from pit_fetch.testing.suite import NotRun
from pit_fetch.testing.timestamps import LATEST_ZONE
from pit_fetch.times import NEW_YORK, parse_rfc3339, wall_clock
from pit_fetch.transport import HttpReply
from tests.conftest import Run
from tests.demo_source import change_operations
from tests.kit import curious, cursors, markets, score, source, vintages
from tests.kit.bases import BASES
from tests.kit.honest import end_of
from tests.kit.plants import PLANTS
from tests.kit.source import PROVIDER
from tests.kit.wrong import (
    ALL,
    CLAIMED,
    FIRST,
    IMPORTS,
    LEAKS,
    WRONG,
    accused,
    adds_a_day,
    as_of_today,
    by_fetch,
    by_reply,
    by_row,
    failure,
    failures,
    limit_first,
    mark_by_slice,
    suite,
    suite_of,
    trust_the_window,
)  # fmt: skip
from tests.worlds import Interference, same_bytes


def test_a_module_that_asks_names_what_it_asks() -> None:
    message = failure(suite(by_fetch(curious.fetch)), "importing_it_asks_nothing")
    assert message.startswith("importing tests.kit.curious asks os.environ, time.time\n")


def _with(value: Any) -> ProviderSuite:
    """Return the suite of a provider that adds what ``value()`` returns to each payload."""
    return suite(by_row(lambda record, row: record._replace(payload={**record.payload, "extra": str(value())})))


@pytest.mark.parametrize(
    ("asked", "name"),
    [
        (lambda: time.strftime("%Y"), "time.strftime"),
        (lambda: time.gmtime(), "time.gmtime"),
        (lambda: time.asctime(), "time.asctime"),
        (lambda: time.clock_gettime(time.CLOCK_REALTIME), "time.clock_gettime"),
        (lambda: socket.gethostname(), "socket.gethostname"),
        (lambda: locale.getlocale(), "locale.getlocale"),
        (lambda: threading.get_ident(), "threading.get_ident"),
    ],
)
def test_what_is_asked_of_the_machine_is_named(asked: Any, name: str) -> None:
    assert name in failure(_with(asked), "the_answer_is_the_same_at_any_hour_and_anywhere")


def test_an_instant_of_the_reply_in_another_form_asks_no_clock() -> None:
    def format_instants() -> str:
        return time.strftime("%Y", time.gmtime(1_708_030_800)) + time.asctime(time.gmtime(0))

    assert failure(_with(format_instants), "the_answer_is_the_same_at_any_hour_and_anywhere") == ""


def test_a_later_page_that_fails_is_told() -> None:
    quotes = BASES["quotes"].make()

    def first_page_only(query: Any, context: Any) -> Any:
        pages = iter(quotes.provider.operations[0].fetch(query, context))
        yield next(pages)
        with contextlib.suppress(UpstreamError):
            yield from pages

    assert failure(score.suite(quotes), "http_errors") == ""
    swallowing = score.suite(replace(quotes, provider=change_operations(quotes.provider, fetch=first_page_only)))
    assert "when a later page fails" in failure(swallowing, "http_errors")


def test_a_request_that_names_what_is_wanted_is_not_answered_by_a_choice() -> None:
    def newest_alone(query: Any, context: Any) -> Any:
        public = [record for record in source.records(source.page(query, context, "")) if query.in_window(record)]
        yield from [record for record in public if (public_from(record) or query.horizon) <= query.horizon][:1]

    chooses = Archiving(chooses=True, chooses_unless=("of",))
    options = (*PROVIDER.options, Option("of", "the item's author"))
    choosing = change_operations(by_fetch(newest_alone), takes=("of",), archiving=chooses)._replace(options=options)
    message = failure(suite(choosing, options={"of": "her"}), "versions_are_left_to_the_framework")
    assert "is yielded at the PIT" in message
    assert "leave the option out of Archiving.chooses_unless" in message
    honest = change_operations(PROVIDER, takes=("of",), archiving=chooses)._replace(options=options)
    assert failures(suite(honest, options={"of": "her"}), IMPORTS) == {}


@pytest.mark.parametrize("way", cursors.WAYS)
def test_a_page_of_the_list_is_one_however_it_is_asked_for(way: str) -> None:
    suite = score.suite(cursors.paged(way))
    assert len(suite.findings().baseline.exchanges) == 3
    assert failures(suite, IMPORTS) == {}


def test_a_page_of_the_list_is_told_from_the_page_of_a_row() -> None:
    careful, careless = (score.suite(cursors.with_pages_of_rows(is_careful)) for is_careful in (True, False))
    assert failure(careful, "http_errors") == failure(careful, LEAKS) == ""
    assert "with a page of their own that" in failure(careless, LEAKS)
    assert "paging.children (with a probe)" in failure(careless, LEAKS)


def test_what_differs_is_named() -> None:
    message = failure(suite(by_fetch(limit_first)), "what_is_not_public_changes_no_byte")
    assert "item '1' comes and goes" in message
    message = failure(suite(by_row(adds_a_day)), "what_is_not_public_changes_no_byte")
    assert "the provider fails: OverflowError: date value out of range\n    tests/kit/wrong.py:" in message


def test_an_operation_without_proof_is_certified() -> None:
    def undated(record: Record, row: Any) -> Record:
        return record._replace(available_at=None, revised_at=None)

    never = change_operations(by_row(undated), dating=Dating("never", why="the source has no stamps"))
    assert set(failures(suite(never), IMPORTS).values()) == {"not run: nothing of this operation is served with --pit"}


def only_failure(suite: ProviderSuite) -> str:
    """Return the message of the first test, of which every other one reports that it has to be corrected first."""
    messages = failures(suite, IMPORTS)
    assert [name for name, message in messages.items() if not message.startswith("not run: correct test_")] == [FIRST]
    return messages[FIRST]


def test_a_request_that_is_refused_is_one_failure() -> None:
    assert "the provider's (word)" in only_failure(suite(PROVIDER, options={"topic": "x"}))


MISSPELT: Any = ("txt",)


@pytest.mark.parametrize(
    ("option", "operation", "problem"),
    [
        ({"kind": "lst"}, {}, "the option word has the kind 'lst'"),
        ({"covered_by": "all"}, {}, "the option word has the covered_by 'all'"),
        ({"stands_for": "wrd"}, {}, "the option word has the stands_for 'wrd'"),
        ({}, {"needs": ("wrd",)}, "the operation has the option 'wrd'"),
        ({}, {"archiving": Archiving(chooses_unless=("wrd",))}, "the operation has the option 'wrd'"),
        ({}, {"window": "released_on"}, "the operation has the window 'released_on'"),
        ({}, {"period": "quater"}, "the operation has the period 'quater'"),
        ({}, {"fields": (Field("title", *MISSPELT),)}, "the field title has the kind 'txt'"),
    ],
)
def test_a_declaration_that_means_nothing_is_named(option: Any, operation: Any, problem: str) -> None:
    options = (PROVIDER.options[0]._replace(**option), *PROVIDER.options[1:])
    assert problem in only_failure(suite(change_operations(PROVIDER, **operation)._replace(options=options)))


def test_a_bar_that_is_too_early_under_one_option_only() -> None:
    def late_by_the_hour(row: Any, query: Any) -> Record:
        record = markets.candle(row, query)
        early = record.available_at and record.available_at - markets.INTERVALS["5m"]
        return record if query.options["interval"] == "1h" else record._replace(available_at=early)

    wrong = score.suite(markets.candles(late_by_the_hour))
    with pytest.raises(AssertionError, match=r"as Dating\.basis declares"):
        wrong.test_nor_under_any_option()


AS_OF_TODAY = change_operations(by_reply(as_of_today), dating=Dating("receipt"), fields=())


@pytest.mark.parametrize(
    ("good", "skipped"),
    [
        pytest.param(suite(PROVIDER), set(), id="the good provider"),
        pytest.param(suite(vintages.PROVIDER, vintages.REPLY), set(), id="versions asked for with POST"),
        pytest.param(suite(by_fetch(mark_by_slice)), IMPORTS, id="watermarks that rest on the request"),
        pytest.param(
            suite(AS_OF_TODAY, recorded_at="2024-02-18T00:00:00Z"), {*IMPORTS, "revisions_are_told"}, id="a snapshot"
        ),
    ],
)
def test_a_good_provider_passes(good: ProviderSuite, skipped: set[str]) -> None:
    assert failures(good, skipped) == {}


class Remembering:
    rows: ClassVar[list[int]] = [1]


@pytest.mark.parametrize(
    ("memory", "remember"),
    [
        ({"a": [1]}, lambda memory: memory["a"].append(2)),
        ({"a": 1, "b": 2}, lambda memory: memory.update(a=memory.pop("a"))),
        ({1}, lambda memory: memory.add(2)),
        (([1],), lambda memory: memory[0].clear()),
        (deque([1]), lambda memory: memory.appendleft(2)),
        (bytearray(b"a"), lambda memory: memory.extend(b"b")),
        (partial(max, [1]), lambda memory: memory.args[0].append(2)),
        (Remembering, lambda memory: memory.rows.append(2)),
        (Remembering, lambda memory: setattr(memory, "more", 2)),
        (Remembering(), lambda memory: setattr(memory, "rows", [2])),
    ],
)
def test_what_a_run_leaves_in_the_author_s_code_is_put_back(memory: Any, remember: Callable[[Any], object]) -> None:
    def contents() -> str:
        return repr(dict(vars(memory))) if "Remembering" in repr(memory) else repr(memory)

    state, before = State(by_fetch(lambda query, context: memory)), contents()
    remember(memory)
    assert contents() != before
    state.reset()
    assert contents() == before


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_found_and_named(wrong: str) -> None:
    message = failure(suite_of(wrong), WRONG[wrong].test)
    assert re.search(WRONG[wrong].words, message.partition("What to do: ")[2])


# The score of the author's kit (make kit-score, .ci/run) has all of them: here the whole suite would run forty times.
@pytest.mark.parametrize("wrong", ["a count of all in a gap", "the first version"])
@pytest.mark.thorough
def test_nothing_else_is_blamed(wrong: str) -> None:
    assert accused(wrong) == {WRONG[wrong].test}


# A plant of tests/kit/plants.py -> the test that is about it, and words of its message.
FOUND = {
    "pages kept in the module": ("nothing_is_kept_between_runs", "keep nothing between runs"),
    "wall clock in the payload": ("the_answer_is_the_same_at_any_hour_and_anywhere", "reply.received_at"),
    "user in the payload": ("the_answer_is_the_same_at_any_hour_and_anywhere", "an Option, a Credential"),
    "only in read: rows without a title": ("nor_in_a_saved_reply", "let the framework decide"),
    "only in full: total": ("nor_under_any_option", "make the field from its own row"),
    "only in memos: revision ignored": ("revisions_are_told", "yield revised_at from displayTime"),
    "comments in the payload": ("nor_inside_a_public_item", "leave comments out"),
    "bar start": ("stamps_rest_on_publication", "interval_end"),
    "pubDate without its offset": ("stamps_are_the_latest_the_source_can_mean", "a date, times.parse_wall_clock"),
    "start of the day, table": ("stamps_are_the_latest_the_source_can_mean", "times.end_of_day"),
    "a minute as its first second": ("stamps_are_the_latest_the_source_can_mean", "a minute lasts until its end"),
    "the repeated hour, first time": ("stamps_are_the_latest_the_source_can_mean", "its second time"),
    "a file of its own": ("it_asks_declared_hosts_only", "and write none"),
    "a stamp of its own": ("stamps_rest_on_publication", "rests on nothing in the reply"),
    "a weekly report on its Tuesday": ("stamps_rest_on_publication", "as Dating.basis declares"),
    "year, month and day apart, 400 days early": ("stamps_are_the_latest_the_source_can_mean", "is over (2024-02-20"),
    "the end of the day where it ends first": ("stamps_are_the_latest_the_source_can_mean", "set zone ="),
    "replaced_by in the payload": ("what_is_not_public_changes_no_byte", "named by no other row"),
    "a gap where there are more": ("what_is_not_public_changes_no_byte", "leave has_more out of payloads and gaps"),
    "--limit sent as anzahl": ("what_is_not_public_changes_no_byte", "never cut to query.limit"),
    "the newest two thousand": ("what_is_not_public_changes_no_byte", "at the beginning"),
    "points of a thread in the payload": ("nothing_is_as_it_stands_today", "leave points out of the payload"),
    "a range of points in a body": ("nothing_is_as_it_stands_today", "leave the choice to who reads it"),
    "one page of twenty without a bound": ("nothing_is_as_it_stands_today", 'Archiving(reach="newest")'),
    "the name of a list of today": ("what_is_not_public_changes_no_byte", "what the source said by the PIT"),
    "day and month swapped, gazette": ("stamps_are_the_latest_the_source_can_mean", "where date is in the future"),
    "a file descriptor": ("what_is_not_public_changes_no_byte", "stderr differs"),
}


@pytest.mark.parametrize("plant", FOUND)
def test_a_plant_is_found_and_named(plant: str) -> None:
    test, words = FOUND[plant]
    with pytest.raises(AssertionError, match=re.escape(words)):
        getattr(score.suite(PLANTS[plant].make()), f"test_{test}")()


def test_no_wrong_provider_is_missing() -> None:
    tested = {wrong.test for wrong in WRONG.values()} | {test for test, _ in FOUND.values()}
    assert tested | {"a_server_that_ignores_the_window"} == ALL


@pytest.mark.parametrize("base", ["filings", "candles", "feeds", "tables"])
@pytest.mark.thorough
def test_hard_shapes_are_certified(base: str) -> None:
    """SQLite, an option that moves stamps, XML and CSV. tests.kit.score has all the shapes."""
    assert score.failures(BASES[base].make(), all_of_them=True) == {}


def test_the_certificate_says_what_was_checked_and_what_no_test_sees() -> None:
    text = suite(PROVIDER).certificate()
    assert "4 rows, 4 versions of 4 items" in text
    assert "stamps rest on: published, updated" in text
    assert text.count("no test sees: ") == len(UNSEEN)
    other = score.suite(BASES["search"].make()).certificate()
    assert "search.example, with op=notes, query=alpha" in other


def test_a_window_that_only_the_server_keeps() -> None:
    recording = Recording(source.REPLY, window=Bounds("published", to="before"))
    trusted = suite(by_fetch(trust_the_window), recording=recording)
    assert "do not rely on it" in failure(trusted, "a_server_that_ignores_the_window")
    assert failures(suite(PROVIDER, recording=recording), IMPORTS) == {}


def test_a_window_in_the_body_of_a_post() -> None:
    """A server that keeps the window of a POST is one that can be made to ignore it."""

    def trusting(query: Any, context: Any) -> Any:
        for record in vintages.read(vintages.ask(query, context, 1), query):
            if record.available_at is not None:
                yield record._replace(available_at=min(record.available_at, query.now), revised_at=None)

    recording = Recording(vintages.REPLY, window=Bounds("announced", to="until"))
    trusted = suite(change_operations(vintages.PROVIDER, fetch=trusting), recording=recording)
    assert "do not rely on it" in failure(trusted, "a_server_that_ignores_the_window")
    assert failures(suite(vintages.PROVIDER, recording=recording), IMPORTS) == {}


def test_naive_readings_in_a_named_zone() -> None:
    """Eastern readings that are taken for UTC are found once the suite knows the zone of the source."""
    rows = [{"id": n, "published": f"2024-02-1{n} 16:00:00", "updated": None, "title": "T"} for n in (3, 2, 1)]

    def as_utc(record: Record, row: Any) -> Record:
        return record._replace(available_at=parse_rfc3339(str(row.get("published")).replace(" ", "T") + "Z"))

    def as_eastern(record: Record, row: Any) -> Record:
        try:
            naive = datetime.strptime(str(row.get("published")), "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007
        except ValueError:
            return record
        return record._replace(available_at=wall_clock(naive, NEW_YORK))

    reply = json.dumps({"items": rows, "next": None}).encode()
    wrong = suite(by_row(as_utc), reply, zone="America/New_York")
    assert "times.parse_wall_clock" in failure(wrong, "stamps_are_the_latest_the_source_can_mean")
    assert failures(suite(by_row(as_eastern), reply, zone="America/New_York"), ALL - READING) == {}


def test_a_field_that_is_no_revision_can_be_named() -> None:
    provider = by_row(lambda record, row: record._replace(revised_at=None))
    assert failure(suite(provider), "revisions_are_told")
    fixed = Recording(source.REPLY, fields={"updated": "fixed"})
    assert not failure(suite(provider, recording=fixed), "revisions_are_told")


@pytest.mark.parametrize(
    ("role", "test", "words"),
    [
        ("counts_on", "nothing_is_as_it_stands_today", "leave size out of the payload"),
        ("revision", "revisions_are_told", "yield revised_at from seen"),
        ("renewed", FIRST, "write one of constant, fixed, planned, revision, counts_on"),
    ],
)
def test_a_field_is_what_its_author_says(role: Any, test: str, words: str) -> None:
    rows = [{**item, "size": 7, "seen": "2024-02-18T00:00:00Z"} for item in source.ITEMS]
    provider = by_row(lambda record, row: record._replace(payload={**record.payload, "size": row.get("size")}))
    name = "seen" if role == "revision" else "size"
    told = Recording(source.reply_of(rows), fields={name: role})
    plain = provider if role != "revision" else PROVIDER
    assert words in failure(suite(plain, recording=told, recorded_at="2024-02-19T00:00:00Z"), test)


# What depends on how a reply and its stamps are read.
READING = {
    FIRST, "records_are_well_formed", "stamps_are_the_latest_the_source_can_mean", "stamps_that_say_less",
    "what_is_not_public_changes_no_byte", "schema_drift",
}  # fmt: skip


def test_a_server_made_with_responses() -> None:
    request = HttpRequest("GET", "https://api.source.example/items")
    with responses.RequestsMock() as mock:
        mock.get("https://api.source.example/items", body=b"[]")
        assert ask_responses(request)[::2] == (200, b"[]")
    with pytest.raises(RuntimeError, match="no responses mock is active"):
        ask_responses(request)


def lines(reply: HttpReply, query: Query) -> Iterator[Record]:
    for line in reply.body.decode("utf-8", "replace").splitlines():
        name, _, day = line.partition(" ")
        yield Record(name, end_of(day), {})


def test_mistakes_of_the_test_itself_are_named() -> None:
    assert "JSON, JSON Lines, XML or CSV" in failure(suite(by_reply(lines), b"1 2024-02-15\n2 2024-02-14"), FIRST)
    assert "does not come to be read: The source sent an unreadable reply: it has no items" in failure(
        suite(PROVIDER, b"[]"), FIRST
    )
    assert "write it as" in failure(suite(PROVIDER, recorded_at="2024-02-16"), FIRST)


def test_one_failed_precondition_is_one_failure() -> None:
    assert only_failure(suite(PROVIDER, b"[]"))
    assert issubclass(NotRun, SkipTest)


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        (Left("{}", "", 0, (("kept", b"1"),)), "files differs"),
        (Left("{} ", "", 0), "stdout differs"),
        (Left("{}", "x", 0), "stderr differs"),
        (Left("{}", "", 3), "exit code differs"),
        (Left("{}", f"{CANARY}", 0), "not public"),
        (Left("{}", "", 0, (("kept", CANARY.encode()),)), "not public"),
        (Left("{}", "k%2Fy", 0), "a secret"),
        (Left("{}", "Traceback", 70), "the program fails: Traceback"),
    ],
)
def test_every_byte_of_two_worlds_is_compared(other: Left, problem: str) -> None:
    assert same_bytes(lambda world: world, [Left("{}", "", 0)] * 2) == Left("{}", "", 0)
    with pytest.raises(Interference, match=problem) as error:
        same_bytes(lambda world: world, [Left("{}", "", 0), Left("{}", "", 0), other], ["k/y"])
    assert error.value.place == 2


def test_nothing_of_the_kit_is_loaded_by_a_fetch(run: Run) -> None:
    code = "import sys\nfrom pit_fetch.cli.main import main\n"
    code += "main(['--list-sources'])\nsys.exit('pit_fetch.testing' in sys.modules)"
    assert run("-c", code, command=(sys.executable,)).code == 0


# --- what stamps rest on


def in_a_form_of_its_own(record: Record, row: Any) -> Record:
    """Stamp a record by a week and a day of the year, which no test reads."""
    try:
        day = datetime.strptime(str(row.get("published")), "%G-W%V-%u").date()  # noqa: DTZ007
    except ValueError:
        return record._replace(available_at=None)
    return record._replace(available_at=end_of(day.isoformat()))


WEEKS = json.dumps(
    {"items": [{"id": n, "published": f"2024-W07-{n}", "updated": None, "title": "T"} for n in (4, 3, 2)], "next": None}
).encode()
RESTS = "stamps_rest_on_publication"


def with_basis(provider: Any, *basis: Basis) -> Any:
    return provider._replace(
        operations=(provider.operations[0]._replace(dating=provider.operations[0].dating._replace(basis=basis)),)
    )


def test_a_stamp_that_no_test_can_read_asks_for_its_meaning() -> None:
    provider = by_row(in_a_form_of_its_own)
    message = failure(suite(provider, WEEKS), RESTS)
    assert "rests on published = '2024-W07-4'" in message
    assert 'Basis("published")' in message
    declared = suite(with_basis(provider, Basis("published")), WEEKS)
    assert failures(declared, IMPORTS) == {}
    assert "stamps rest on: published" in declared.certificate()


@pytest.mark.parametrize(
    ("basis", "passes"), [((), False), ((Basis("published"),), False), ((Basis("last-modified"),), True)]
)
def test_a_stamp_that_rests_on_nothing_is_no_pass(basis: tuple[Basis, ...], passes: bool) -> None:
    """A declaration of a field that stands in the rows, and moves nothing, is no way out."""
    always = by_row(lambda record, row: record._replace(available_at=datetime(2020, 1, 1, tzinfo=UTC), revised_at=None))
    fixed = Recording(source.REPLY, fields=dict.fromkeys(("updated", "published"), "fixed"))
    message = failure(suite(with_basis(always, *basis), recording=fixed), RESTS)
    assert (message == "") is passes
    assert passes or "rests on nothing in the reply" in message


def test_a_day_that_something_else_makes_an_instant_of() -> None:
    """A release at 15:30 of the day that a row names is before the end of that day, and after what is declared."""
    rows = [{"id": n, "published": f"2024-02-1{n}", "updated": None, "title": "T"} for n in (5, 4, 3)]
    reply = json.dumps({"items": rows, "next": None}).encode()

    def at_half_past_three(record: Record, row: Any) -> Record:
        end = end_of(row.get("published"))
        return record._replace(available_at=end and end - timedelta(hours=8, minutes=30))

    test, provider = "stamps_are_the_latest_the_source_can_mean", by_row(at_half_past_three)
    day = Basis("published", "day", after=timedelta(hours=15, minutes=30))
    assert "is over" in failure(suite(provider, reply, zone="America/New_York"), test)
    assert failures(suite(with_basis(provider, day), reply, zone="America/New_York"), ALL - {test, RESTS}) == {}
    later = suite(with_basis(provider, day._replace(after=timedelta(hours=16))), reply, zone="America/New_York")
    assert "as Dating.basis declares" in failure(later, RESTS)


def test_a_day_in_no_zone_lasts_until_it_is_over_everywhere() -> None:
    tables = BASES["tables"].make()
    test = "stamps_are_the_latest_the_source_can_mean"
    assert "names no zone" in failure(score.suite(replace(tables, zone="")), test)
    anywhere = BASES["tables"].make(
        lambda row, query: rate_of(row)._replace(available_at=end_of(row.get("day"), LATEST_ZONE))
    )
    assert failure(score.suite(replace(anywhere, zone="")), test) == ""


def rate_of(row: Any) -> Record:
    return BASES["tables"].record(row, None)  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("plant", "place"), [("--limit sent as anzahl", ("params", "anzahl", 0)), ("--limit in the path", ("path", 0))]
)
def test_a_size_that_moves_with_the_limit_is_found(plant: str, place: object) -> None:
    assert score.suite(PLANTS[plant].make()).findings().case.sizes == {place}


def test_what_is_the_same_in_each_reply_can_be_named() -> None:
    auctions = BASES["auctions"].make()
    stamps = {"stamps": auctions.recording["stamps"]}
    message = failure(score.suite(replace(auctions, recording=stamps)), "what_is_not_public_changes_no_byte")
    assert 'fields = {"unit": "constant"}' in message


def test_an_honest_claim_is_not_accused() -> None:
    """A claim is one line: the record's own publication, where a later revision is all that is served."""

    def claimed(record: Record, row: dict[str, Any]) -> Record:
        published = str(row.get("published"))
        return record._replace(claimed_at=parse_rfc3339(published) if len(published) > 10 else record.available_at)

    assert failures(suite(change_operations(by_row(claimed), dating=CLAIMED)), but=IMPORTS) == {}
