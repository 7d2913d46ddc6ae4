"""The tools that the declarations of the sources become."""

from __future__ import annotations

import pytest

from pit_fetch.engine import registry
from pit_fetch.mcp.tools import MAX_DESCRIPTION_BYTES, Tool, tools_for
from pit_fetch.provider import Dating, Operation, Option
from pit_fetch.request.options import COMMON_OPTIONS
from tests.demo_source import PIT_TEXT, demo

PROVIDERS = [listing.provider for listing in registry.listings() if listing.provider]
TOOLS = tools_for(PROVIDERS, PIT_TEXT)
# What an argument may be named of the options that every source has: none that decides as of when, or from where.
CHOOSING = {"fields", "limit", "after", "date_from", "date_to", "max_pages"}


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_a_tool_says_what_it_takes_and_leaves_the_instant_out(tool: Tool) -> None:
    assert (tool.schema["type"], tool.schema["additionalProperties"]) == ("object", False)
    common = {option.name for option in COMMON_OPTIONS} & tool.arguments.keys()
    assert common == (CHOOSING if tool.provider else set())
    assert set(tool.schema.get("required", ())) <= tool.arguments.keys()
    assert all(argument["description"] for argument in tool.arguments.values())


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_a_description_begins_with_the_instant_and_fits(tool: Tool) -> None:
    first, _, rest = tool.description.partition("\n" if tool.provider else ": ")
    assert PIT_TEXT in first
    assert len(tool.description.encode()) <= MAX_DESCRIPTION_BYTES
    if tool.provider:
        assert "complete envelope" in first
        assert all(word in rest for word in ("`fields`", "`cursor`", "`after`", tool.provider.summary))


def test_each_kind_of_option_has_its_type() -> None:
    options = (
        Option("word", "w", choices=("a", "b"), default="a"),
        Option("many", "m", kind="list", choices=("x", "y")),
        Option("texts", "t", repeatable=True),
        Option("count", "c", kind="integer", minimum=3),
        Option("since", "s", kind="instant"),
        Option("exact", "e", kind="flag", default=False),
    )
    schema = tools_for([demo(options=options)], PIT_TEXT)["demo"].schema
    listed = {name: dict(schema["properties"][name]) for name in ("word", "many", "texts", "count", "since", "exact")}
    assert all(part.pop("nullable") for part in listed.values())  # some models set every argument
    strings = {"type": "array", "items": {"type": "string"}}
    assert listed == {
        "word": {"type": "string", "enum": ["a", "b"], "default": "a", "description": "w"},
        "many": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}, "description": "m"},
        "texts": {**strings, "description": "t"},
        "count": {"type": "integer", "minimum": 3, "description": "c"},
        "since": {"type": "string", "description": "s"},
        "exact": {"type": "boolean", "description": "e"},
    }
    assert "required" not in schema


def test_an_operation_that_shows_nothing_as_of_an_instant_is_not_offered() -> None:
    operations = (
        Operation("past", needs=("symbol",), takes=("day",)),
        Operation("snapshot", dating=Dating(by="receipt"), needs=("symbol",)),
        Operation("now", dating=Dating(by="never"), needs=("key",)),
    )
    options = tuple(Option(name, name) for name in ("symbol", "day", "key"))
    tool = tools_for([demo(operations=operations, options=options)], PIT_TEXT)["demo"]
    assert tool.arguments["op"]["enum"] == ["past", "snapshot"]
    assert [name for name in tool.schema["required"] if "nullable" in tool.arguments[name]] == []
    assert "`sources`" in tool.arguments["op"]["description"]
    assert (tool.schema["required"], "key" in tool.arguments) == (["symbol"], False)
    assert "now" not in tool.description.split("gaps.\n")[-1]
