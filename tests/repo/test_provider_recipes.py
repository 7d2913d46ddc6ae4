"""The recipes for authors of sources: what is code passes the standard tests, and what is named exists.

A recipe that is a block of code has ``record(row)`` and ``OPERATION``. Here both become a provider, which runs through
all standard tests on a reply of its own.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from importlib import import_module
from typing import Any

import pytest

from pit_fetch.errors import PitFetchError
from pit_fetch.provider import Context, Dating, Host, Operation, Provider, Query, Record
from pit_fetch.times import NEW_YORK
from pit_fetch.wire import body_of, rows_in
from tests.demo_source import change_operations
from tests.kit.wrong import IMPORTS, failures, suite
from tests.repo.wheel import ROOT

RECIPES = (ROOT / "docs" / "provider-recipes.md").read_text()
GUIDE = (ROOT / "docs" / "provider-guide.md").read_text()
BLOCKS: dict[str, str] = dict(re.findall(r"<!-- recipe: (\w+) -->\n```python\n(.*?)```\n", RECIPES, re.DOTALL))
HOST = "Recipes"
MODULES = [
    import_module(f"pit_fetch.{name}")
    for name in ("provider", "paging", "times", "wire", "tables", "errors", "gaps", "testing")
]
# The rows of each recipe's reply, and the zone of its clocks.
ROWS: dict[str, tuple[list[dict[str, Any]], str]] = {
    "calendar": (
        [
            {"as_of": day, "value": f"{number}.5"}
            for number, day in enumerate(("2024-03-12", "2024-02-20", "2024-02-13"))
        ],
        "America/New_York",
    ),
    "bar": (
        [
            {"t": f"2024-02-15T{hour}:{minute:02}:00-05:00", "open": 10, "high": 12, "low": 9, "close": 11}
            for hour in (15, 14)
            for minute in (45, 30, 15, 0)
        ],
        "",
    ),
    "event": (
        [
            {"id": "c", "start": "2024-02-15T16:30:00-05:00", "text": "Good afternoon"},
            {"id": "b", "start": "2024-02-14T09:00:00-05:00", "text": "Good morning"},
            {"id": "a", "start": "2024-02-13T08:00:00-05:00", "text": "Hello"},
        ],
        "",
    ),
    "edited": (
        [
            {"id": "c", "published": "2024-02-15T16:30:00-05:00", "updated": None, "text": "Third"},
            {"id": "b", "published": "2024-02-14T09:00:00-05:00", "updated": "2024-02-16T11:00:00-05:00", "text": "2"},
            {"id": "a", "published": "2024-02-13T08:00:00-05:00", "updated": None, "text": "First"},
        ],
        "",
    ),
    "claim": (
        [
            {"id": "2024-01", "released": "2024-02-13", "value": "3.1"},
            {"id": "2023-12", "released": "2024-01-11", "value": "3.4"},
            {"id": "2023-11", "released": "2023-12-12", "value": "3.1"},
        ],
        "America/New_York",
    ),
    "state": ([{"symbol": "ACME", "price": "12.50"}, {"symbol": "BETA", "price": "7.25"}], ""),
    "never": ([{"id": "b", "text": "Second"}, {"id": "a", "text": "First"}], ""),
}


def names_of(recipe: str) -> dict[str, Any]:
    """Return what the recipe's block defines."""
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(BLOCKS[recipe], "docs/provider-recipes.md", "exec", dont_inherit=True), names)
    return names


def provider_of(recipe: str) -> Provider:
    """Return the provider of a list of rows, each of them made a record by the recipe."""
    names = names_of(recipe)
    record, operation = names["record"], names["OPERATION"]
    assert isinstance(operation, Operation)

    def records(body: bytes, received_at: datetime) -> Iterator[Record]:
        for row in rows_in(body, "rows"):
            yield record(row, received_at) if operation.dating.by == "receipt" else record(row)

    def fetch(query: Query, context: Context) -> Iterator[Record]:
        reply = context.http.get(HOST, "/rows")
        body = body_of(reply, HOST)
        yield from () if body is None else records(body, reply.received_at)

    return Provider(
        name="kit-recipe",
        summary="rows of a recipe",
        hosts=(Host(HOST, "https://recipes.example", "PIT_FETCH_RECIPES_URL"),),
        operations=(operation._replace(fetch=fetch, parse_reply=lambda body, query: records(body, query.started)),),
    )


@pytest.mark.parametrize("recipe", BLOCKS)
def test_a_recipe_passes_the_standard_tests(recipe: str) -> None:
    rows, zone = ROWS[recipe]
    found = failures(suite(provider_of(recipe), json.dumps({"rows": rows}).encode(), zone=zone), IMPORTS)
    assert [message for message in found.values() if not message.startswith("not run: ")] == []


def test_a_recipe_that_is_wrong_does_not() -> None:
    rows, zone = ROWS["claim"]
    early = change_operations(provider_of("claim"), dating=Dating())
    found = failures(suite(early, json.dumps({"rows": rows}).encode(), zone=zone), IMPORTS)
    assert any("claimed_at" in message for message in found.values())


def test_the_recipe_for_a_calendar_of_releases() -> None:
    """Friday 15:30 in New York, in winter and in summer."""
    released_at = names_of("calendar")["released_at"]
    assert [released_at(date(2024, month, day)) for month, day in ((2, 13), (3, 12), (2, 14))] == [
        datetime(2024, 2, 16, 20, 30, tzinfo=UTC),
        datetime(2024, 3, 15, 19, 30, tzinfo=UTC),
        None,
    ]


# --- forms of stamps

SIX = datetime(2024, 2, 15, 21, tzinfo=UTC)
FORMS: list[tuple[str, dict[str, Any], datetime]] = [
    ("parse_rfc3339(text)", {"text": "2024-02-15T16:00:00-05:00"}, SIX),
    ("parse_rfc2822(text)", {"text": "Thu, 15 Feb 2024 16:00:00 -0500"}, SIX),
    ("parse_unix(value)", {"value": 1_708_030_800}, SIX),
    ("parse_unix(value, per_second=1_000)", {"value": "1708030800000"}, SIX),
    ("parse_compact(text)", {"text": "20240215T210000Z"}, SIX),
    ("parse_compact(text, ZONE)", {"text": "20240215160000"}, SIX),
    ("parse_wall_clock(text, ZONE)", {"text": "2024-02-15 16:00:00"}, SIX),
    ('parse_wall_clock(f"{day} {clock}", ZONE)', {"day": "2024-02-15", "clock": "16:00:00"}, SIX),
    ("end_of_day(parse_date(text), ZONE)", {"text": "2024-02-15"}, datetime(2024, 2, 16, 5, tzinfo=UTC)),
    ("wall_clock(reading, ZONE)", {"reading": datetime(2024, 2, 15, 16)}, SIX),  # noqa: DTZ001
    ("end_of_day(reading.date(), ZONE)", {"reading": datetime(2024, 2, 15)}, datetime(2024, 2, 16, 5, tzinfo=UTC)),  # noqa: DTZ001
]


@pytest.mark.parametrize(("code", "sent", "instant"), FORMS, ids=[code for code, _, _ in FORMS])
def test_a_form_of_a_stamp(code: str, sent: dict[str, Any], instant: datetime) -> None:
    assert f"`{code}`" in RECIPES
    assert eval(code, {**public(), "datetime": datetime, "UTC": UTC, "ZONE": NEW_YORK, **sent}) == instant


# --- what is named


def public() -> dict[str, Any]:
    return {name: getattr(module, name) for module in MODULES for name in module.__all__}


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Yield the calls in the inline code of both pages, with the code."""
    for code in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", GUIDE + RECIPES, flags=re.DOTALL)):
        try:
            tree = ast.parse(code.replace("…", "..."), mode="eval")
        except SyntaxError:
            continue
        yield from ((code, node) for node in ast.walk(tree) if isinstance(node, ast.Call))


def test_what_inline_code_calls_takes_what_it_is_given() -> None:
    wrong, checked = [], 0
    for code, call in calls():
        called = ast.unparse(call.func).removeprefix("paging.")
        found = public().get(called)
        if found is None:
            continue
        known = inspect.signature(found).parameters
        if any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
            continue  # the parameters of a reason
        checked += 1
        wrong += [code for keyword in call.keywords if keyword.arg not in known]
    assert wrong == []
    assert checked > 40


def test_each_error_of_the_guide_can_be_raised() -> None:
    rows = re.findall(r"^\| `((?:Upstream|Config)Error\(.*\))` \|", GUIDE, re.MULTILINE)
    names = {**public(), "HOST": HOST, "reply": type("Reply", (), {"status": 418})}
    raised = [eval(code, names) for code in rows]
    assert len(raised) == 8
    assert all(isinstance(error, PitFetchError) and str(error) for error in raised)


# --- one rule in two places


def test_what_is_a_claim_is_said_in_the_same_words() -> None:
    evidence = (ROOT / "docs" / "evidence.md").read_text()
    rule = evidence.partition("## Which of the two a source gives\n\n")[2].partition("\n\n")[0]
    assert "claimed_at" in rule
    assert rule in GUIDE
