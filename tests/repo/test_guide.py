"""Guide, skeleton and example tell one story. That the guide works is shown by ``make test-guide``."""

from __future__ import annotations

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
