"""Guide, skeleton and example tell one story. That the guide works is shown by ``make test-guide``."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

from pit_fetch.cli.commands.new_provider import files
from pit_fetch.testing import ProviderSuite
from tests.repo.guide import EXAMPLES, GUIDE, script
from tests.repo.wheel import ROOT


def test_an_example_has_the_layout_that_new_provider_writes() -> None:
    for name in EXAMPLES:
        home = ROOT / "examples" / name
        found = {path.relative_to(home).as_posix() for path in home.rglob("*") if path.is_file()}
        kept = {path for path in found if "__pycache__" not in path and "cache" not in path and "egg-info" not in path}
        assert kept == set(files(name.removeprefix("pit-fetch-")))


def test_the_guide_explains_every_test_of_the_suite() -> None:
    guide = GUIDE.read_text()
    tests = [name.removeprefix("test_") for name in vars(ProviderSuite) if name.startswith("test_")]
    assert [name for name in tests if f"`{name}`" not in guide] == []


def test_the_guide_s_commands_are_found() -> None:
    steps = list(script(GUIDE.read_text()))
    assert "pit_fetch new-provider widget-news" in steps[0]
    assert sum(step.startswith("cat > ") for step in steps) == 3


def test_the_recipe_for_a_calendar_of_releases() -> None:
    """Friday 15:30 in New York, in winter and in summer."""
    page = (ROOT / "docs" / "provider-recipes.md").read_text()
    code = page.partition("<!-- recipe: calendar -->\n```python\n")[2].partition("```")[0]
    names: dict[str, Any] = {}
    exec(compile(code, "docs/provider-recipes.md", "exec"), names)
    released = [names["released_at"](date(2024, month, day)) for month, day in ((2, 13), (3, 12), (2, 14))]
    assert released == [
        datetime(2024, 2, 16, 20, 30, tzinfo=UTC),
        datetime(2024, 3, 15, 19, 30, tzinfo=UTC),
        None,
    ]
