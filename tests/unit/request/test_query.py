"""The operation of a request: its choice, its window, and what it cannot show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.cli.parser import operations_text
from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.provider import (
    Caveat,
    Context,
    Credential,
    Dating,
    Field,
    Host,
    Operation,
    Option,
    Provider,
    Query,
    Record,
)
from pit_fetch.request.fetch_request import from_values
from pit_fetch.request.operations import caveats, resolve_operation, serves_nothing
from pit_fetch.testing.server import Response
from tests.demo_source import PIT, at_pit, demo, record
from tests.inprocess import NOW

BARS = Operation("BARS", dating=Dating(rule="the end of the day"), needs=("symbol",), takes=("size",))
NEWS = Operation("NEWS", dating=Dating(rule="its publication"), takes=("topics",))
OVERVIEW = Operation("OVERVIEW", dating=Dating(why="it is restated", by="receipt"), needs=("symbol",))
RATING = Operation("RATING", dating=Dating(why="it has no date", by="never"), needs=("symbol", "size"))
OPTIONS = (
    Option("symbol", "of this"),
    Option("size", "this large", default="small"),
    Option("topics", "on these", kind="list"),
    Option("exact", "to the letter", kind="flag", default=False),
)
SEVERAL = demo(operations=(BARS, NEWS, OVERVIEW, RATING), options=OPTIONS)


def query(operation: Operation | None = None, **changes: Any) -> Query:
    made = Query(PIT, NOW, PIT, None, None, PIT, 50, {}, operation or Operation())
    return made._replace(**changes)


def asking(given: Mapping[str, Any], offline: bool = False) -> Query:
    return query(options={**{option.name: option.default for option in OPTIONS}, **given}, offline=offline)


@pytest.mark.parametrize(
    ("given", "offline", "name"),
    [
        ({"op": "BARS", "symbol": "A"}, False, "BARS"),
        ({"op": "BARS", "symbol": "A", "size": "large"}, False, "BARS"),
        ({"op": "BARS"}, True, "BARS"),  # a reply in a file needs no parameters
        ({"op": "NEWS"}, False, "NEWS"),
        ({"op": "NEWS", "topics": ("a",), "exact": False}, False, "NEWS"),  # a flag that is not set
        ({"op": "NEWS", "size": "small"}, False, "NEWS"),  # the default of an option that it does not take
        ({"op": "RATING", "symbol": "A"}, False, "RATING"),  # a default is a value, too
    ],
)
def test_the_operation_that_is_asked_for(given: dict[str, Any], offline: bool, name: str) -> None:
    assert resolve_operation(SEVERAL, asking(given, offline)).operation.name == name


@pytest.mark.parametrize(
    ("given", "offline", "fix"),
    [
        ({"op": None}, False, "demo needs an operation, such as BARS; --help lists them."),
        ({"op": None}, True, "demo needs an operation"),
        ({"op": "BARS"}, False, "BARS needs symbol: BARS symbol=..."),
        ({"op": "RATING", "size": None}, False, "RATING needs symbol, size: RATING symbol=..."),
        ({"op": "BARS", "symbol": "A", "topics": ("a",)}, False, "BARS does not take topics; see --help."),
        ({"op": "NEWS", "exact": True, "symbol": "A"}, False, "NEWS does not take exact, symbol; see --help."),
        ({"op": "NEWS", "symbol": "A"}, True, "NEWS does not take symbol"),
    ],
)
def test_a_request_that_makes_no_sense_names_the_fix(given: dict[str, Any], offline: bool, fix: str) -> None:
    with pytest.raises(ConfigError) as refused:
        resolve_operation(SEVERAL, asking(given, offline))
    assert str(refused.value).startswith(fix)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("BAR", "demo has no such operation: did you mean BARS?"),
        ("XYZ", "demo has no such operation: it has BARS, NEWS, OVERVIEW, RATING; see --help."),
        ("X" * 5_000, "demo has no such operation: it has BARS"),
    ],
)
def test_an_operation_that_there_is_not_is_refused(name: str, fix: str) -> None:
    with pytest.raises(UsageError) as refused:
        from_values({"op": name, "symbol": "A"}, SEVERAL, {})
    assert str(refused.value).startswith(fix)
    assert len(str(refused.value)) < 200


def test_a_source_with_one_operation_needs_no_name_and_takes_what_it_declares() -> None:
    plain = demo(options=OPTIONS)
    assert resolve_operation(plain, asking({"symbol": "A", "topics": ("a",)})).operation is plain.operations[0]
    narrow = demo(operations=(Operation(needs=("symbol",), takes=("size",)),), options=OPTIONS)
    for given, fix in (
        ({}, "demo needs symbol: symbol=..."),
        ({"symbol": "A", "topics": ("a",)}, "demo does not take topics"),
    ):
        with pytest.raises(ConfigError) as refused:
            resolve_operation(narrow, asking(given))
        assert str(refused.value).startswith(fix)


def test_an_operation_may_read_its_options_in_its_own_way() -> None:
    """Before they are checked: another name for an option is that option."""

    def understand(query: Query) -> Query:
        if query.options["size"] == "huge":
            raise ConfigError(Code.USAGE, text=f"{query.operation.name} has no huge ones.")
        topics = query.options["topics"]
        return query._replace(options={**query.options, "symbol": topics[0], "topics": None}) if topics else query

    bars = demo(operations=(BARS._replace(normalize=understand), NEWS), options=OPTIONS)
    assert resolve_operation(bars, asking({"op": "BARS", "topics": ("A",)})).options["symbol"] == "A"
    with pytest.raises(ConfigError, match="BARS has no huge ones"):
        resolve_operation(bars, asking({"op": "BARS", "symbol": "A", "size": "huge"}))
    assert resolve_operation(bars, asking({"op": "NEWS", "topics": ("A",)})).options["topics"] == ("A",)


# What is out of reach.


@pytest.mark.parametrize(
    ("operation", "pit", "out"),
    [
        (BARS, PIT, False),
        (BARS, None, False),
        (OVERVIEW, PIT, True),
        (OVERVIEW, NOW - timedelta(microseconds=1), True),
        (OVERVIEW, NOW, False),
        (OVERVIEW, NOW + timedelta(seconds=9), False),
        (OVERVIEW, None, False),
        (RATING, PIT, True),
        (RATING, NOW + timedelta(days=9), True),
        (RATING, None, False),
    ],
)
def test_what_no_reply_could_serve_is_out_of_reach(operation: Operation, pit: datetime | None, out: bool) -> None:
    assert serves_nothing(query(operation, pit=pit)) is out


@pytest.mark.parametrize(
    ("op", "gap"),
    [
        ("OVERVIEW", "OVERVIEW is a snapshot (it is restated)"),
        ("RATING", "RATING cannot be verified at all (it has no date)"),
    ],
)
def test_what_is_out_of_reach_is_not_asked_for(tmp_path: Path, op: str, gap: str) -> None:
    def source(query: Query, context: Context) -> Iterator[Record]:
        pytest.fail("it was asked for")

    provider = demo(source, operations=(BARS, NEWS, OVERVIEW, RATING), options=OPTIONS)
    for words in ((), ("--input-file", "-")):
        left = at_pit(tmp_path, provider, op, "symbol=A", *words, body=b"{}")
        assert (left.code, left.data) == (0, [])
        assert left.gap_types == ["pit_excluded", "unverifiable", "unverifiable", "no_data"]
        assert gap in left.reasons
        assert left.audit["requests"] == 0


def test_out_of_reach_or_not_a_missing_key_is_said(tmp_path: Path) -> None:
    provider = demo(operations=(BARS, RATING), options=OPTIONS, credentials=(Credential("key", ("DEMO_KEY",)),))
    for words in (("RATING", "symbol=A"), ("BARS", "symbol=A")):
        assert at_pit(tmp_path, provider, *words).gap_types == ["config"]
        assert at_pit(tmp_path, provider, *words, env={"DEMO_KEY": "a-demo-key"}).gap_types[-1] == "no_data"


def test_a_request_that_makes_no_sense_asks_for_nothing(tmp_path: Path) -> None:
    provider = demo(
        lambda query, context: [context.http.get("Demo", "/")],  # type: ignore[list-item]
        operations=(BARS, NEWS),
        options=OPTIONS,
        hosts=(Host("Demo", "https://demo.invalid", "DEMO_URL"),),
    )
    left = at_pit(tmp_path, provider, "BARS", "--fail")
    assert (left.code, left.gap_types, left.audit["requests"]) == (3, ["config"], 0)
    assert left.err == "pit_fetch: BARS needs symbol: BARS symbol=...\n"


# Fields.


def test_an_unknown_field_is_refused_before_anything_is_asked_for(tmp_path: Path) -> None:
    def source(query: Query, context: Context) -> Iterator[Record]:
        yield record("a", title="t", body="b")

    provider = demo(source, operations=(Operation(fields=(Field("title"), Field("body"))),))
    assert list(at_pit(tmp_path, provider, "--fields", "title").data[0]) == [
        "available_at", "available_at_source", "id", "title",
    ]  # fmt: skip
    left = at_pit(tmp_path, provider, "--fields", "title,bdy")
    assert (left.code, left.data, left.gap_types, left.audit) == (2, [], ["config"], {})
    assert left.err == "pit_fetch: --fields: bdy is not one of title, body (did you mean body?)\n"


def test_where_fields_are_not_declared_one_that_no_item_has_is_named(tmp_path: Path) -> None:
    provider = demo([record("a", title="t"), record("b", body="b"), record("late", -60, later="x")])
    left = at_pit(tmp_path, provider, "--fields", "title,bdy,later", "--limit", "5")
    assert [item.get("title") for item in left.data] == ["t", None]
    reason = "--fields: no item of this answer has bdy, later; they have title, body."
    assert [gap["reason"] for gap in left.envelope["gaps"] if gap["type"] == "config"] == [reason]
    assert "config" not in at_pit(tmp_path, provider, "--fields", "title,revised_at,id").gap_types
    assert "config" not in at_pit(tmp_path, demo([record("late", -60)]), "--fields", "bdy").gap_types


# Windows.


@pytest.mark.parametrize("option", ["--date-from", "--date-to"])
def test_a_window_is_refused_where_there_is_none(tmp_path: Path, option: str) -> None:
    provider = demo([record("a")], operations=(Operation("STATE", window=""),))
    assert [item["id"] for item in at_pit(tmp_path, provider).data] == ["a"]
    left = at_pit(tmp_path, provider, option, "2024-02-11")
    assert (left.data, left.gap_types) == ([], ["config"])
    assert left.reasons == ("STATE has no dates to choose from: leave out --date-from and --date-to.")


def test_the_window_and_the_limit_together(tmp_path: Path) -> None:
    rows = [record(str(day), 60 * 24 * day, day=f"2024-02-{15 - day:02}") for day in range(6)]
    left = at_pit(
        tmp_path,
        demo(rows, operations=(Operation(window="day"),)),
        *("--date-from", "2024-02-11", "--date-to", "2024-02-13", "--limit", "2"),
    )
    assert [item["day"] for item in left.data] == ["2024-02-13", "2024-02-12"]
    assert left.gap_types == ["pit_excluded", "unverifiable", "truncated"]


# What a request cannot show.


@pytest.mark.parametrize(
    ("operation", "pit", "codes"),
    [
        (BARS, PIT, []),
        (OVERVIEW, PIT, ["snapshot"]),
        (OVERVIEW, None, []),
        (RATING, PIT, ["never_dated"]),
        (RATING, None, []),
        (BARS._replace(caveats=lambda query: ["one", "two"]), PIT, ["caveat", "caveat"]),
        (OVERVIEW._replace(caveats=lambda query: ["one"]), PIT, ["snapshot", "caveat"]),
        (BARS._replace(caveats=lambda query: ["one"] if query.pit else []), None, []),
        (BARS._replace(caveats=lambda query: [Caveat("a list", of_today=True)]), PIT, ["caveat"]),
    ],
)
def test_caveats(operation: Operation, pit: datetime | None, codes: list[str]) -> None:
    gaps = list(caveats(query(operation, pit=pit), "mine"))
    assert [gap.code for gap in gaps] == codes
    assert all(gap.type == "unverifiable" for gap in gaps)


@pytest.mark.parametrize(
    ("environ", "refused"),
    [
        ({}, False),
        ({"PIT_FETCH_WRAPPER_ONLY": "1", "CLAUDECODE": "1"}, False),
        ({"PIT_FETCH_CEILING": PIT.isoformat()}, True),
    ],
)
def test_what_is_identified_by_a_list_of_today_is_refused_under_a_ceiling(
    tmp_path: Path, environ: dict[str, str], refused: bool
) -> None:
    operation = Operation(
        caveats=lambda query: [Caveat("--name is looked up in today's list: give --number.", of_today=True)]
    )
    left = at_pit(tmp_path, demo([record("a")], operations=(operation,)), env=environ)
    assert left.ids == ([] if refused else ["a"])
    assert left.gap_types == (["config"] if refused else ["pit_excluded", "unverifiable", "unverifiable"])
    assert "give --number" in left.reasons


def test_caveats_stand_in_every_envelope_whatever_was_found(tmp_path: Path) -> None:
    operation = Operation(caveats=lambda query: ["Figures are restated without a mark."])
    for rows in ([], [record("a")], [record("late", -1)]):
        left = at_pit(tmp_path, demo(rows, operations=(operation,)))
        assert left.gap_types[:3] == ["pit_excluded", "unverifiable", "unverifiable"]
        assert "Figures are restated without a mark." in left.reasons


# When nothing was found.


@pytest.mark.parametrize(
    ("rows", "hinted"), [([], True), ([record("late", -1)], True), ([record("a")], False), ([record("a", 9_999)], True)]
)
def test_what_to_try_is_said_where_nothing_was_found_and_nowhere_else(
    tmp_path: Path, rows: list[Record], hinted: bool
) -> None:
    provider = demo(rows, when_empty=lambda query: "Look further back.")
    left = at_pit(tmp_path, provider, "--date-from", "2024-02-15")
    assert ("Look further back." in left.reasons) is hinted
    assert (left.gap_types[-1] == "no_data") is hinted


def test_nothing_to_try_is_not_said(tmp_path: Path) -> None:
    reason = at_pit(tmp_path, demo()).envelope["gaps"][-1]["reason"]
    assert reason == "Nothing public matched, or the source does not know what was asked for."


def test_a_hint_is_no_answer_to_an_error(tmp_path: Path) -> None:
    hosts = (Host("Demo", "https://demo.invalid", "DEMO_URL"),)
    provider = demo(
        lambda query, context: [context.http.get("Demo", "/")],  # type: ignore[list-item]
        hosts=hosts,
        when_empty=lambda query: "Look further back.",
    )
    left = at_pit(tmp_path, provider, app=lambda _: Response(status=500))
    assert left.gap_types == ["pit_excluded", "unverifiable", "upstream_error"]


# Help.


def test_help_shows_the_operations_by_what_a_pit_can_show_of_them() -> None:
    assert [" ".join(line.split()) for line in operations_text(SEVERAL).splitlines()] == [
        "Dated record by record: --pit serves what was public:",
        "BARS the end of the day (needs symbol)",
        "NEWS its publication",
        "Snapshots: public when fetched, so nothing is served for a PIT in the past:",
        "OVERVIEW (needs symbol)",
        "Unverifiable: nothing is served with --pit:",
        "RATING (needs symbol, size)",
    ]


def test_help_shows_choices_defaults_and_fields(tmp_path: Path) -> None:
    provider: Provider = demo(
        operations=(Operation(fields=(Field("title"), Field("value", "number"))),),
        options=(Option("size", "this large", choices=("small", "large"), default="small"),),
    )
    shown = at_pit(tmp_path, provider, "--help").out
    assert "this large (small, large; default small)" in " ".join(shown.split())
    assert "fields: title, value" in shown
    assert "(default 50)" in shown


def test_an_operation_without_a_name_or_a_reason_is_called_by_its_source() -> None:
    (snapshot,) = caveats(query(Operation(dating=Dating(by="receipt")), pit=PIT), "mine")
    assert snapshot.reason.startswith("mine is a snapshot: it counts")
