"""Every bundled provider has its standard tests, and every folder of tests a bundled provider."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from pit_fetch.claude_code import bundle
from pit_fetch.engine import registry
from pit_fetch.provider import Operation, Option, Provider
from pit_fetch.request.values import flag_of
from pit_fetch.support.bundled import load
from pit_fetch.testing import ProviderSuite
from pit_fetch.testing.inprocess import unhurried
from pit_fetch.testing.server import Answering, Response
from tests.inprocess import NOW, fetch
from tests.providers import folder_of, modules

guard = load("pit_guard")

KEYS = {name: value for server in modules("server").values() for name, value in server.VARIABLES.items()}
OPERATIONS = [(name, operation) for name in registry.BUNDLED_NAMES for operation in registry.load(name).operations]

FOLDERS = {path.parent.name for path in Path(__file__).parent.glob("*/test_suite.py")}


def test_each_bundled_provider_has_a_folder_and_each_folder_a_provider() -> None:
    expected = {folder_of(name) for name in registry.BUNDLED_NAMES}
    assert expected - FOLDERS == set(), "write tests/providers/<name>/test_suite.py with a ProviderSuite"
    assert FOLDERS - expected == set(), "this folder tests no bundled provider: remove it"


def test_each_bundled_agent_is_declared_by_a_provider_or_reads_the_graph() -> None:
    agents = {Path(name).stem for name in bundle.files() if name.startswith("agents/") and not bundle.is_neo4j(name)}
    assert agents == {agent for name in registry.BUNDLED_NAMES for agent in registry.load(name).agents}


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


@pytest.mark.parametrize(("name", "operation"), OPERATIONS, ids=lambda value: getattr(value, "name", value))
def test_every_option_of_every_operation_is_sent_and_recorded(name: str, operation: Operation, tmp_path: Path) -> None:
    """An option's value may be of any kind: what it becomes in a request must be right for every transport."""
    provider = unhurried(registry.load(name))
    served = Answering(lambda request: Response(b"{}", 403), lambda: NOW)
    environ = {**KEYS, "PIT_FETCH_ARCHIVE": str(tmp_path / "a.db"), "HOME": str(tmp_path)}
    words = ["--source", name, *(["--op", operation.name] if len(provider.operations) > 1 else [])]
    words += [word for option in _options_of(provider, operation) for word in _words(option)]
    answer = fetch(tmp_path, *words, env=environ, transport=served, provider=provider)
    assert (answer.status, answer.complaint) == (0, ""), words
    assert served.exchanges, answer.reasons
    assert all(isinstance(value, (str, list)) for request, _ in served.exchanges for value in request.params.values())


def _options_of(provider: Provider, operation: Operation) -> list[Option]:
    is_only = len(provider.operations) == 1
    taken = {option.name for option in provider.options} if is_only else {*operation.needs, *operation.takes}
    # Perplexity refuses it beside --after-date, which says the same in another way.
    return [option for option in provider.options if option.name in taken - {"op", "recency"}]


_VALUES = {
    **dict.fromkeys(("date", "expiration", "after_date", "date_from"), "2024-02-15"),
    "month": "2024-02",
    "year": "2024",
    "quarter": "4",
    "range": "2month",
    "ciks": "320193",
}


def _words(option: Option) -> list[str]:
    if option.kind == "flag":
        return [flag_of(option.name)]
    plain = {"integer": "20", "instant": "2024-02-15"}.get(option.kind, "IBM")
    return [flag_of(option.name), option.choices[0] if option.choices else _VALUES.get(option.name, plain)]
