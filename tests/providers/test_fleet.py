"""Every bundled provider has its standard tests, and every folder of tests a bundled provider."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from pit_fetch.claude_code import bundle
from pit_fetch.engine import registry
from pit_fetch.support.bundled import load
from pit_fetch.testing import HttpRequest, ProviderSuite, Response
from tests.provider_harness import run_command
from tests.providers import folder_of

guard = load("pit_guard")

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


PIT = "2024-02-15T16:00:00-05:00"
# Source and words -> what to give instead of what is known today; "" where nothing of today's is asked.
OF_TODAY = {
    "sec_full_text concern --tickers META": "--ciks",
    "sec_full_text concern --entity Meta": "--ciks",
    "sec_full_text concern --tickers META --ciks 1326801": "--ciks",
    "sec_full_text concern --ciks 1326801": "",
    "earningscall transcript symbol=META": "exchange=",
    "earningscall events symbol=META year=2023": "exchange=",
    "earningscall slides symbol=META": "exchange=",
    "earningscall transcript symbol=META exchange=NASDAQ": "",
    "earningscall calendar date=2023-02-01": "",
}


@pytest.mark.parametrize(("call", "fix"), OF_TODAY.items())
def test_under_a_ceiling_nothing_is_looked_up_in_a_list_of_today(tmp_path: Path, call: str, fix: str) -> None:
    asked: list[str] = []

    def app(request: HttpRequest) -> Response:
        asked.append(request.path)
        return Response(b"", 404)

    source, *words = call.split()
    done = run_command(source, tmp_path, app, "--pit", PIT, *words, env={"PIT_FETCH_CEILING": PIT})
    gaps = done.envelope["gaps"]
    assert not {"/symbols-v2.txt", "/files/company_tickers.json"} & {*asked}
    if fix:
        assert (asked, [gap["type"] for gap in gaps]) == ([], ["config"])
        assert fix in gaps[0]["reason"]
    else:
        assert asked
        assert "config" not in [gap["type"] for gap in gaps]


@pytest.mark.parametrize("name", registry.BUNDLED_NAMES)
def test_the_module_runs_the_suite_on_its_provider(name: str) -> None:
    values = vars(import_module(f"tests.providers.{folder_of(name)}.test_suite"))
    suites = [
        value
        for key, value in values.items()
        if key.startswith("Test") and isinstance(value, type) and issubclass(value, ProviderSuite)
    ]
    assert [suite for suite in suites if suite.provider is registry.load(name)] == suites != []
