"""Mappings: what a file may say, what dates an item, and the ready ones on results in the shapes of their servers."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pit_fetch.errors import UsageError
from pit_fetch.mcp import gate, mapping
from pit_fetch.mcp.instant import Moment
from pit_fetch.mcp.mapping import Precision, parse_mapping
from pit_fetch.mcp.upstream_items import instant_of, records
from pit_fetch.provider import Record
from tests.demo_source import PIT, PIT_TEXT

NEW_YORK = ZoneInfo("America/New_York")
BUSINESS = "precision = 'day'\nafter = 'next_business_day'\nzone = "
READY = {path.stem: path for path in (Path(mapping.__file__).parent / "mappings").glob("*.toml")}


def text_result(content: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": json.dumps(content)}]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "needs a table"),
        ("[tools.a]\navailable_at = 'x'\n[other]", "nothing beside"),
        ("[tools]\na = 1", "is not a table"),
        ("[tools.a]", "needs available_at"),
        ("[tools.a]\nenvelope = 1", "true or false"),
        ("[tools.a]\navailable_at = 1", "a dotted path"),
        ("[tools.a]\navailable_at = 'x'\nzone = 'Mars/Olympus'", "zone"),
        ("[tools.a]\navailable_at = 'x'\nprecision = 'week'", "precision"),
        ("[tools.a]\navailable_at = 'x'\nsource_tag = 'guess'", "source_tag"),
        ("[tools.a]\navailable_at = 'x'\nkeep = 'title'", "list of names"),
        ("[tools.a]\navailable_at = 'x'\nclamp = {a = 'now'}", "clamp"),
        ("[tools.a]\navailable_at = 'x'\nclamp = {'a..b' = 'day'}", "clamp"),
        ("[tools.a]\navailable_at = 'x'\npin = {'' = 1}", "pin"),
        ("[tools.a]\navailable_at = 'x'\npin = {a = 2024-02-15}", "a date is written as a text"),
        ("[tools.a]\navailable_at = 'x'\nitems = 'a..b'", "a dotted path"),
        ("[tools.a]\navailable_at = 'x'\nkeep = []", "not an empty one"),
        ("[tools.'a b']\navailable_at = 'x'", "no name of a tool"),
        ("[tools.a]\navailable_at = 'x'\navailble = 'y'", "availble"),
        ("[tools.a]\navailable_at = 'x'\npin = {a = 1}\nclamp = {a = 'day'}", "one value"),
        ("[tools.a]\navailable_at = 'x'\npin = {a = {b = 1}}\nclamp = {'a.b' = 'day'}", "one value"),
        ("[tools.a]\navailable_at = 'x'\nkeep = ['a']\ndrop = ['b']", "keep and drop"),
        ("[tools.a]\navailable_at = '.'", "a whole item"),
        ("[tools.a]\navailable_at = 'x'\nonly = {form = '10-K'}", "a list of texts"),
        ("[tools.a]\navailable_at = 'x'\nonly = {form = []}", "a list of texts"),
        ("[tools.a]\navailable_at = 'x'\nafter = 'next_week'", "next_business_day"),
        ("[tools.a]\navailable_at = 'x'\nafter = 'next_business_day'\nzone = 'UTC'", "a business day follows a day"),
        ("[tools.a]\navailable_at = 'x'\nafter = 'next_business_day'\nprecision = 'day'", "and a zone"),
    ],
)
def test_a_mapping_that_could_be_misread_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse_mapping(text)


@pytest.mark.parametrize(
    ("value", "precision", "zone", "meaning"),
    [
        ("2024-02-15T16:00:00-05:00", "instant", None, "2024-02-15T21:00:00"),
        ("2024-02-15T21:00:00Z", "instant", "America/New_York", "2024-02-15T21:00:00"),
        ("2024-02-15 16:00:00", "instant", "America/New_York", "2024-02-15T21:00:00"),
        ("2024-02-15T16:00", "instant", "America/New_York", "2024-02-15T21:00:59.999999"),
        ("20240215T160000", "instant", "America/New_York", "2024-02-15T21:00:00"),
        ("2024-11-03 01:30:00", "instant", "America/New_York", "2024-11-03T06:30:00"),
        ("2024-02-15 16:00:00", "instant", None, None),
        ("2024-02-15T16:00:00-00:00", "instant", None, None),
        ("20240215T160000", "minute", "UTC", "2024-02-15T16:00:59.999999"),
        ("20240215T160001", "minute", "UTC", "2024-02-15T16:00:01"),
        ("20240215T000000", "minute", "UTC", "2024-02-16T00:00:00"),
        ("2024-02-15T00:00:00Z", "minute", "America/New_York", "2024-02-16T05:00:00"),
        ("2024-02-15T00:00:00-05:00", "minute", None, "2024-02-16T05:00:00"),
        ("2024-02-15", "day", "America/New_York", "2024-02-16T05:00:00"),
        ("2024-02-15", "day", None, "2024-02-16T12:00:00"),
        ("2024-02-15T23:00:00-10:00", "day", "America/New_York", None),
        ("2024-02-15T00:00:00Z", "day", "Asia/Tokyo", "2024-02-16T00:00:00"),
        ("2024-02-15T00:00:00Z", "day", "America/New_York", "2024-02-16T05:00:00"),
        ("2024-02-30", "day", None, None),
        (1708030800, "unix", None, "2024-02-15T21:00:00"),
        (1708030800000, "unix_ms", None, "2024-02-15T21:00:00"),
        (True, "unix", None, None),
        (0, "unix", None, None),
        (20240215, "unix", None, None),
        (473385600, "unix", None, "1985-01-01T00:00:00"),
        (1708030800, "unix_ms", None, None),
        (1708030800000, "unix", None, None),
        ("0001-01-01T00:00:00Z", "instant", None, None),
        ("1970-01-01", "day", "America/New_York", None),
        ("1900-01-01", "day", None, None),
        (float("nan"), "unix", None, None),
        ("", "instant", "UTC", None),
        (None, "instant", "UTC", None),
        ([], "day", None, None),
    ],
)
def test_a_stamp_means_the_latest_instant_that_it_could(
    value: object, precision: Precision, zone: str | None, meaning: str | None
) -> None:
    at = instant_of(value, precision, ZoneInfo(zone) if zone else None)
    assert at == (None if meaning is None else datetime.fromisoformat(meaning).replace(tzinfo=UTC))


def _only(text: str) -> mapping.Mapped:
    [mapped] = parse_mapping(f"[tools.a]\n{text}").values()
    return mapped


ITEMS = [{"id": "1", "at": "2024-02-15T10:00:00Z", "deep": {"at": "2024-02-15T11:00:00Z"}}]


@pytest.mark.parametrize(
    ("path", "result"),
    [
        (".", text_result(ITEMS)),
        (".", text_result(ITEMS[0])),
        ("a.b", text_result({"a": {"b": ITEMS}})),
        ("a.b", {"structuredContent": {"a": {"b": ITEMS}}, "content": []}),
        ("a.b", {"structuredContent": {"result": "x"}, **text_result({"a": {"b": ITEMS}})}),
        ("result.b", {"structuredContent": {"result": json.dumps({"b": ITEMS})}}),
        ("0.rows", text_result([{"rows": ITEMS}])),
        ("rows", text_result([{"rows": ITEMS}])),
        ("a.rows", {"structuredContent": {"a": [{"rows": ITEMS}]}}),
        ("a", {"content": [{"type": "text", "text": "Of today:"}, *text_result({"a": ITEMS})["content"]]}),
        ("a", {"content": [{"type": "text", "text": json.dumps({"a": ITEMS[0]}) + "\n"}]}),
    ],
)
def test_items_are_found_in_every_form_of_a_result(path: str, result: dict[str, Any]) -> None:
    for stamp in ("at", "deep.at"):
        [record] = records(result, _only(f"items = '{path}'\nid = 'id'\navailable_at = '{stamp}'"))
        assert (record.id, record.available_at is not None) == ("1", True)


@pytest.mark.parametrize("result", [{}, {"content": 5}, text_result(None), text_result({"b": 1}), text_result("x")])
def test_a_result_without_items_has_none(result: dict[str, Any]) -> None:
    assert list(records(result, _only("items = 'a'\navailable_at = 'at'"))) == []


def _lines(*rows: object) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": "\n".join(map(json.dumps, rows))}]}


def _texts(*contents: object) -> dict[str, Any]:
    return {"content": [block for content in contents for block in text_result(content)["content"]]}


LATER = {"id": "2", "at": "2025-02-15T10:00:00Z"}


@pytest.mark.parametrize(
    ("path", "of_one", "of_two"),
    [
        ("a.rows", text_result({"a": [{"rows": ITEMS}]}), text_result({"a": [{"rows": ITEMS}, {"rows": [LATER]}]})),
        ("a.row", text_result({"a": [{"row": ITEMS[0]}]}), text_result({"a": [{"row": LATER}, {"row": ITEMS[0]}]})),
        ("a", text_result({"a": ITEMS}), _texts({"a": [LATER]}, {"a": ITEMS})),
        (".", text_result(ITEMS[0]), _texts(LATER, ITEMS[0], "x")),
        (".", _lines(ITEMS[0]), _lines(LATER, ITEMS[0])),
        ("a.b", text_result({"a": {"b": ITEMS}}), text_result({"a": [{"b": ITEMS}, {"b": LATER}, [[]], 5, None]})),
    ],
)
def test_an_item_takes_no_other_away(path: str, of_one: dict[str, Any], of_two: dict[str, Any]) -> None:
    mapped = _only(f"items = '{path}'\nid = 'id'\navailable_at = 'at'")
    [record] = records(of_one, mapped)
    found = list(records(of_two, mapped))
    assert record in found
    assert {other.id for other in found} == {"1", "2"}


def _dated(text: str, path: str = ".") -> list[Record]:
    mapped = _only(f"items = '{path}'\nid = 'id'\navailable_at = 'at'")
    found = records({"content": [{"type": "text", "text": text}]}, mapped)
    return [record for record in found if record.available_at]


PUBLIC = json.dumps(ITEMS[0])


@pytest.mark.parametrize(
    "late",
    [
        f'{{"id": "2", "t": "a"b", "c": {PUBLIC}}}',
        f'{{"t": "a"}}", "c": {PUBLIC}}}',
        f'{{"t": ]}} {PUBLIC}',
        f'"t": "a", "c": [{PUBLIC}]}}',  # cut off at its beginning
        f'\n "t": "a",\n "c":\n {PUBLIC}\n}}',
        f't"}}, {PUBLIC}',
        f'{{\n "c": [\n  {PUBLIC}\n  {PUBLIC}\n ]\n}}',  # without a comma
        f'{{\n "c": [x\n  {PUBLIC}]}}',
        f'{PUBLIC}, "changed": "2025-02-15"}}',
    ],
)
def test_a_part_of_a_broken_item_is_no_item(late: str) -> None:
    assert _dated(late) == []


def test_objects_by_key_are_read_each_by_itself() -> None:
    mapped = _only("items = 'a'\navailable_at = '@key'\nprecision = 'day'")
    days = [{"2024-02-14": {"n": 1}}, {"2024-02-15": {"n": 2}}, 5]
    of_one, of_two = (list(records(text_result({"a": part}), mapped)) for part in (days[0], days))
    assert of_two[:1] == of_one
    assert len(of_two) == 2


@pytest.mark.parametrize("structured", [{}, [], {"a": [LATER]}, {"a": []}, {"b": 1}, {"result": 1, "b": 1}])
def test_what_structured_content_holds_does_not_decide_whether_texts_are_read(structured: object) -> None:
    mapped = _only("items = 'a'\nid = 'id'\navailable_at = 'at'")
    found = records({"structuredContent": structured, **text_result({"a": ITEMS})}, mapped)
    assert [record.id for record in found if record.id == "1"] == []


@pytest.mark.parametrize("name", ["revised_at", "first_seen_at", "available_at"])
def test_a_stamp_that_no_path_names_revises_its_item(name: str) -> None:
    [record] = records(text_result({**ITEMS[0], name: "2025-02-15T10:00:00Z"}), _only("id = 'id'\navailable_at = 'at'"))
    assert record.revised_at == datetime(2025, 2, 15, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("part", "revised"),
    [
        ({}, None),
        ({"comments": [{"available_at": "2024-02-15T12:00:00Z"}]}, "2024-02-15T12:00:00"),
        (
            {"a": {"Revised_At": "2024-02-15T12:00:00Z"}, "b": [{"available_at": "2024-02-17T12:00:00Z"}]},
            "2024-02-17T12:00:00",
        ),
        ({"a": {"available_at": "soon"}}, "undated"),
        ({"a": {"available_at": None}}, "undated"),
    ],
)
def test_a_part_with_a_stamp_of_its_own_revises_its_item(part: dict[str, Any], revised: str | None) -> None:
    [record] = records(text_result([{**ITEMS[0], **part}]), _only("available_at = 'at'"))
    if revised == "undated":
        assert record.available_at is None
    else:
        assert record.revised_at == (revised and datetime.fromisoformat(revised).replace(tzinfo=UTC))


# The ready ones.

FEED = [
    {"title": "T", "url": "u1", "time_published": "20240215T205900", "summary": "CANARY", "authors": ["A"]},
    {"title": "CANARY", "url": "u2", "time_published": "20240215T210000"},
]
BARS = {"2024-02-16": {"4. close": "CANARY"}, "2024-02-15": {"4. close": "CANARY"}, "2024-02-14": {"4. close": "1"}}
BARS["2024-02-14"]["5. volume"] = "CANARY"  # restated
FILINGS = [
    {"accession_number": "n2", "form": "8-K", "filed": "2024-02-14", "company": "CANARY"},
    {"accession_number": "n1", "form": "10-K", "filed": "2024-02-13", "company": "CANARY", "cik": "1"},
    {"accession_number": "n0", "form": "CORRESP", "filed": "2024-01-02"},
]
RESULTS: dict[tuple[str, str], tuple[object, list[str]]] = {
    ("alphavantage", "news_sentiment"): ({"items": "2", "feed": FEED}, ["u1"]),
    ("alphavantage", "daily_prices"): ({"Meta Data": {}, "Time Series (Daily)": BARS}, ["2024-02-14"]),
    ("edgartools", "edgar_search"): ({"success": True, "data": {"filings": FILINGS}}, ["n1"]),
    ("edgartools", "edgar_text_search"): ({"success": True, "data": {"results": FILINGS, "count": 2}}, ["n1"]),
}


@pytest.mark.parametrize(("name", "tool"), RESULTS)
def test_a_ready_mapping_dates_what_its_server_returns(name: str, tool: str) -> None:
    content, ids = RESULTS[name, tool]
    mapped = parse_mapping(READY[name].read_text())[tool]
    found = list(records(text_result(content), mapped))
    public = [record for record in found if record.available_at is not None and record.available_at <= PIT]
    assert [record.id for record in public] == ids
    assert "CANARY" not in repr(public)
    assert len(found) > len(public)


def test_a_ready_mapping_takes_no_ticker_without_a_word() -> None:
    """A ticker means whoever has it today: it is refused, or each answer says so."""
    tools = [(name, mapped) for name, path in READY.items() for mapped in parse_mapping(path.read_text()).values()]
    assert [name for name, mapped in tools if not mapped.numbers and "whoever has it today" not in mapped.caveat] == []


# Recorded filings: the filing date, the form, and the first New York day on which it may be served; None for never.
# The header of each shows when it was released: facts that a list of filings does not have.
RELEASED: dict[str, tuple[str, str, str | None]] = {
    "0000320193-24-000061": ("2024-04-29", "CORRESP", None),  # released on 14 June
    "0001193125-24-100942": ("2024-04-18", "485APOS", None),  # on 4 October
    "0000000000-24-003505": ("2024-04-02", "UPLOAD", None),  # on 14 June
    "0001193125-15-377186": ("2015-11-13", "8-K", "2015-11-17"),  # filed on Friday, accepted on Monday at 09:01
    "0000320193-25-000057": ("2025-05-02", "10-Q", "2025-05-06"),
    "a filing without a form": ("2024-02-13", "", None),
    "before Washington's Birthday": ("2024-02-16", "8-K", "2024-02-21"),
    "before Juneteenth, a Wednesday": ("2024-06-18", "8-K", "2024-06-21"),
    "before a holiday that is observed on Friday": ("2020-07-02", "8-K", "2020-07-07"),
    "before Christmas Eve, on which agencies were closed": ("2020-12-23", "8-K", "2020-12-29"),
}


@pytest.mark.parametrize(("tool", "path"), [("edgar_search", "filings"), ("edgar_text_search", "results")])
@pytest.mark.parametrize("name", RELEASED)
def test_a_filing_is_served_after_the_next_business_day_if_its_form_is_ordinary(
    tool: str, path: str, name: str
) -> None:
    filed, form, served = RELEASED[name]
    mapped = parse_mapping(READY["edgartools"].read_text())[tool]
    row = {"accession_number": name, "form": form, "filed": filed}
    [record] = records(text_result({"success": True, "data": {path: [row]}}), mapped)
    day = served and datetime.fromisoformat(served).replace(tzinfo=NEW_YORK).astimezone(UTC)
    assert record.available_at == day


@pytest.mark.parametrize(
    ("value", "passes"), [("10-K", True), ("10-K ", False), (None, False), (1, True), (True, False), (1.0, False)]
)
def test_only_lets_a_value_pass_that_it_names(value: object, passes: bool) -> None:
    mapped = _only("available_at = 'at'\nonly = {'deep.form' = ['10-K', 1]}")
    [record] = records(text_result([{**ITEMS[0], "deep": {"form": value}}]), mapped)
    assert (record.available_at is not None) == passes


@pytest.mark.parametrize("given", ["META", "CIK320193", "", True, ["320193"], "3" * 11, "320193 "])
def test_a_company_is_named_by_its_cik_alone(given: object) -> None:
    for tool in ("edgar_search", "edgar_text_search"):
        with pytest.raises(UsageError, match="identifier is a number, such as a CIK"):
            _asked("edgartools", tool, {"identifier": {}}, identifier=given)
        for cik in (320193, "0000320193"):
            assert _asked("edgartools", tool, {"identifier": {}}, identifier=cik)["identifier"] == cik


def _asked(name: str, tool: str, schema: dict[str, Any], **arguments: Any) -> dict[str, Any]:
    """Return what the other server would be asked."""
    mapped = parse_mapping(READY[name].read_text())[tool]
    tools = gate.tools_for([mapped], {mapped.tool: {"properties": schema}}, lambda *call: {}, PIT_TEXT, 1.0)
    values = tools[tool].values(arguments, Moment(PIT_TEXT, PIT))
    asked: dict[str, Any] = json.loads(values["arguments"])
    return asked


def test_arguments_within_an_argument_are_pinned_and_clamped() -> None:
    schema: dict[str, Any] = {"tool_name": {"type": "string"}, "arguments": {"type": "object"}}
    for given in ("20240215T2200", None):
        inner = {"tickers": "IBM", **({"time_to": given} if given else {}), "sort": "EARLIEST"}
        asked = _asked("alphavantage", "news_sentiment", schema, arguments=inner)
        assert asked["tool_name"] == "NEWS_SENTIMENT"
        assert asked["arguments"] == {
            "tickers": "IBM", "sort": "LATEST", "time_to": "20240215T2059",
        }  # fmt: skip
    assert _asked("edgartools", "edgar_text_search", {"end_date": {}}, end_date="2025-01-01") == {
        "end_date": "2024-02-13"
    }


@pytest.mark.parametrize(
    ("settings", "form", "pit", "sent"),
    [
        ("precision = 'day'\nzone = 'America/New_York'", "day", "2024-02-15T23:59:59-05:00", "2024-02-14"),
        ("precision = 'day'\nzone = 'America/New_York'", "day", "2024-02-16T00:00:00-05:00", "2024-02-15"),
        (f"{BUSINESS}'America/New_York'", "day", "2024-02-15T23:59:59-05:00", "2024-02-13"),
        (f"{BUSINESS}'America/New_York'", "day", "2024-02-20T23:59:59-05:00", "2024-02-15"),
        (f"{BUSINESS}'America/New_York'", "day", "2024-02-21T00:00:00-05:00", "2024-02-19"),
        ("precision = 'day'\nzone = 'UTC'", "compact", "2024-02-15T16:00:00Z", "20240214T2359"),
        ("precision = 'day'", "day", "2024-02-15T11:59:59Z", "2024-02-13"),
        ("precision = 'day'", "day", "2024-02-15T12:00:00Z", "2024-02-14"),
        ("precision = 'minute'\nzone = 'UTC'", "compact", "2024-02-15T16:00:59Z", "20240215T1559"),
        ("precision = 'minute'\nzone = 'UTC'", "compact", "2024-02-15T16:00:59.999999Z", "20240215T1600"),
        ("precision = 'minute'\nzone = 'UTC'", "instant", "2024-02-15T16:00:00Z", "2024-02-15T15:59:59+00:00"),
        ("zone = 'UTC'", "instant", "2024-02-15T16:00:00.5Z", "2024-02-15T16:00:00.500000+00:00"),
        ("zone = 'UTC'", "day", "2024-02-15T16:00:00Z", "2024-02-14"),
        ("zone = 'UTC'", "day", "2024-02-16T00:00:00Z", "2024-02-15"),
        ("precision = 'unix'", "day", "2024-02-15T12:00:00Z", "2024-02-14"),
        ("precision = 'minute'\nzone = 'UTC'", "day", "2024-02-15T16:00:00Z", "2024-02-14"),
        ("precision = 'unix_ms'\nzone = 'UTC'", "compact", "2024-02-15T16:00:59Z", "20240215T1559"),
    ],
)
def test_nothing_is_asked_for_that_could_not_be_shown(settings: str, form: str, pit: str, sent: str) -> None:
    mapped = _only(f"available_at = 'at'\n{settings}\nclamp = {{until = '{form}'}}")
    tools = gate.tools_for([mapped], {"a": {"properties": {"until": {}}}}, lambda *call: {}, pit, 1.0)
    at = instant_of(pit, "instant", None)
    assert at is not None
    assert json.loads(tools["a"].values({}, Moment(pit, at))["arguments"]) == {"until": sent}


def test_an_argument_passes_by_a_name_and_types_that_every_service_takes() -> None:
    """One tool with another name, or with a type that stands twice, and a service refuses all of them."""
    declared: dict[str, Any] = dict.fromkeys(("$filter", "a@b", "x y", "n" * 65), ())
    declared["a.b-c_1"] = {"type": ["string", "string", "null"]}
    declared["b"] = {"type": "array", "items": {"type": "string", "enum": ["x"]}}
    declared["c"] = {"type": ["array", "string"], "items": [5]}
    mapped = _only("available_at = 'at'")
    tool = gate.tools_for([mapped], {"a": {"properties": declared}}, lambda *call: {}, PIT_TEXT, 1.0)["a"]
    assert {name: part for name, part in tool.schema["properties"].items() if name not in ("fields", "after")} == {
        "a.b-c_1": {"type": "string", "nullable": True},
        "b": {"type": "array", "items": {"type": "string"}, "nullable": True},
        "c": {"type": ["array", "string"], "items": {}, "nullable": True},
    }


def test_no_argument_of_the_other_server_is_taken_for_one_of_the_gate() -> None:
    names = ("fields", "envelope_fields", "after")
    mapped = _only("available_at = 'at'")
    declared: dict[str, Any] = {name: {} for name in names}
    tool = gate.tools_for([mapped], {"a": {"properties": declared}}, lambda *call: {}, PIT_TEXT, 1.0)["a"]
    own = ["envelope_envelope_fields", "envelope_after"]
    assert list(tool.schema["properties"]) == [*names, *own]
    values = tool.values({name: [name] for name in (*names, *own)}, Moment(PIT_TEXT, PIT))
    assert (values["fields"], values["after"]) == ([own[0]], [own[1]])
    assert json.loads(values["arguments"]) == {name: [name] for name in names}


def test_an_argument_that_should_be_an_object_is_not_replaced() -> None:
    schema: dict[str, Any] = {"tool_name": {"type": "string"}, "arguments": {"type": "object"}}
    with pytest.raises(UsageError, match="arguments is an object"):
        _asked("alphavantage", "news_sentiment", schema, arguments='{"tickers": "IBM"}')
