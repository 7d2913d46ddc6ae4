"""The guide explains every standard test. That the guide works is shown by ``make test-guide``."""

from __future__ import annotations

from pit_fetch.testing import ProviderSuite
from tests.repo.guide import GUIDE, script


def test_the_guide_explains_every_test_of_the_suite() -> None:
    guide = GUIDE.read_text()
    tests = [name.removeprefix("test_") for name in vars(ProviderSuite) if name.startswith("test_")]
    assert [name for name in tests if f"`{name}`" not in guide] == []


def test_the_guide_s_commands_are_found() -> None:
    steps = list(script(GUIDE.read_text()))
    assert "pit_fetch new-provider widget-news" in steps[0]
    assert sum(step.startswith("cat > ") for step in steps) == 3
