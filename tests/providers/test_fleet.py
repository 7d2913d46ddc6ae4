"""Every bundled provider has its standard tests, and every folder of tests a bundled provider."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from pit_fetch.claude_code import bundle
from pit_fetch.engine import registry
from pit_fetch.request.evidence import key
from pit_fetch.support.bundled import load
from pit_fetch.testing import ProviderSuite
from tests.providers import folder_of

guard = load("pit_guard")

FOLDERS = {path.parent.name for path in Path(__file__).parent.glob("*/test_suite.py")}


def test_each_bundled_provider_has_a_folder_and_each_folder_a_provider() -> None:
    expected = {folder_of(name) for name in registry.BUNDLED_NAMES}
    assert expected - FOLDERS == set(), "write tests/providers/<name>/test_suite.py with a ProviderSuite"
    assert FOLDERS - expected == set(), "this folder tests no bundled provider: remove it"


def test_each_bundled_agent_is_named_as_its_source_or_reads_the_graph() -> None:
    agents = {Path(name).stem for name in bundle.files() if name.startswith("agents/") and not bundle.is_neo4j(name)}
    assert set(map(key, agents)) <= set(map(key, registry.BUNDLED_NAMES))


@pytest.mark.parametrize("name", registry.BUNDLED_NAMES)
def test_a_fetch_ends_before_the_client_of_an_agent_gives_up(name: str) -> None:
    longest = max(operation.timeout for operation in registry.load(name).operations)
    assert longest + 60 < guard.TIMEOUT_MS / 1000


@pytest.mark.parametrize("name", registry.BUNDLED_NAMES)
def test_the_module_runs_the_suite_on_its_provider(name: str) -> None:
    values = vars(import_module(f"tests.providers.{folder_of(name)}.test_suite"))
    suites = [
        value
        for key, value in values.items()
        if key.startswith("Test") and isinstance(value, type) and issubclass(value, ProviderSuite)
    ]
    assert [suite for suite in suites if suite.provider is registry.load(name)] == suites != []
