"""Every bundled provider has its standard tests, and every module of standard tests a bundled provider."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from pit_fetch import registry
from pit_fetch.siblings import load
from pit_fetch.testing import ProviderSuite

guard = load("pit_guard")

MODULES = {path.stem for path in Path(__file__).parent.glob("test_*.py")} - {Path(__file__).stem}


def module_of(name: str) -> str:
    return f"test_{name.replace('-', '_')}"


def test_each_bundled_provider_has_a_module_and_each_module_a_provider() -> None:
    expected = {module_of(name) for name in registry.BUNDLED_NAMES}
    assert expected - MODULES == set(), (
        "write tests/providers/<module>.py with a ProviderSuite (docs/provider-guide.md)"
    )
    assert MODULES - expected == set(), "this module tests no bundled provider: remove it"


@pytest.mark.parametrize("name", registry.BUNDLED_NAMES)
def test_a_fetch_ends_before_the_client_of_an_agent_gives_up(name: str) -> None:
    longest = max(operation.timeout for operation in registry.load(name).operations)
    assert longest + 60 < guard.TIMEOUT_MS / 1000


@pytest.mark.parametrize("name", [name for name in registry.BUNDLED_NAMES if module_of(name) in MODULES])
def test_the_module_runs_the_suite_on_its_provider(name: str) -> None:
    values = vars(import_module(f"tests.providers.{module_of(name)}"))
    suites = [
        value
        for key, value in values.items()
        if key.startswith("Test") and isinstance(value, type) and issubclass(value, ProviderSuite)
    ]
    assert [suite for suite in suites if suite.provider is registry.load(name)] == suites != []
