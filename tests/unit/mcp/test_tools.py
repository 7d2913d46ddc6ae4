"""The tools that the declarations of the sources become."""

from __future__ import annotations

import pytest

from pit_fetch.engine import registry
from pit_fetch.mcp.answers import EXPLAINED
from pit_fetch.mcp.server import protocol_tool
from pit_fetch.mcp.tools import MAX_DESCRIPTION_BYTES, Tool, form_of_answers, tools_for
from pit_fetch.provider import Dating, Operation, Option
from pit_fetch.request.options import COMMON_OPTIONS
from tests.demo_source import PIT_TEXT, demo
from tests.unit.mcp.in_memory import call

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


@pytest.mark.parametrize("tool", TOOLS.values(), ids=list(TOOLS))
def test_a_description_names_the_instant_and_fits(tool: Tool) -> None:
    assert PIT_TEXT in tool.description
    assert len(tool.description.encode()) <= MAX_DESCRIPTION_BYTES
    assert tool.provider is None or tool.description.startswith(tool.provider.summary)


def test_a_list_of_ten_tools_is_short() -> None:
    sizes = (len(protocol_tool(tool).model_dump_json(by_alias=True, exclude_none=True)) for tool in TOOLS.values())
    assert sum(sorted(sizes)[-10:]) <= 9_000


def test_what_a_server_says_once_fits_into_its_instructions_and_names_each_code() -> None:
    texts = [form_of_answers(shape) for shape in ("columns", "items")]
    assert max(len(text.encode()) for text in texts) < MAX_DESCRIPTION_BYTES - 300  # the instant stands before it
    assert all(f"- {code}: " in texts[0] for code in EXPLAINED)
    assert all(f"- {name}: " in text for name in CHOOSING for text in texts)


def test_each_kind_of_option_has_its_type_and_what_is_needed_is_described() -> None:
    options = (
        Option("word", "w", choices=("a", "b"), default="a"),
        Option("many", "m", kind="list", choices=("x", "y")),
        Option("texts", "t", repeatable=True),
        Option("count", "c", kind="integer", minimum=3),
        Option("since", "s", kind="instant"),
        Option("exact", "e", kind="flag", default=False),
        Option("letter", "l", choices=tuple("abcdefghi")),
    )
    names = tuple(option.name for option in options)
    operations = (Operation("one", needs=("count",), takes=names), Operation("two", takes=names))
    tool = tools_for([demo(options=options, operations=operations)], PIT_TEXT)["demo"]
    strings = {"type": "array", "items": {"type": "string"}}
    assert {name: tool.schema["properties"][name] for name in names} == {
        "word": {"type": "string", "enum": ["a", "b"], "default": "a"},
        "many": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
        "texts": strings,
        "count": {"type": "integer", "description": "c"},
        "since": {"type": "string"},
        "exact": {"type": "boolean"},
        "letter": {"type": "string"},
    }
    assert tool.description.endswith(f"as of {PIT_TEXT}. one needs count.")
    described = call(demo(options=options, operations=operations), tool="sources", name="demo").content
    assert described["arguments"]["letter"] == "l (a, b, c, d, e, f, g, h, i)"
    assert described["arguments"]["since"] == "s"


def test_an_operation_that_shows_nothing_as_of_an_instant_is_not_offered() -> None:
    operations = (
        Operation("past", needs=("symbol",), takes=("day",)),
        Operation("snapshot", dating=Dating(by="receipt"), needs=("symbol",)),
        Operation("now", dating=Dating(by="never"), needs=("key",)),
    )
    options = tuple(Option(name, name) for name in ("symbol", "day", "key"))
    tool = tools_for([demo(operations=operations, options=options)], PIT_TEXT)["demo"]
    assert tool.arguments["op"]["enum"] == ["past", "snapshot"]
    assert (tool.schema["required"], "key" in tool.arguments) == (["symbol"], False)
