"""Discovery, and what a careless plugin can and cannot do. Each plugin is a package on disk, found by entry point."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pit_fetch import runtime
from pit_fetch.engine import registry
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.mcp.prepare import prepare_server
from pit_fetch.provider import API_VERSION
from pit_fetch.request.options import COMMON_OPTIONS
from pit_fetch.runtime import alarm
from pit_fetch.testing.server import Answering
from tests.demo_source import PIT_TEXT, nobody
from tests.inprocess import NOW, Answer
from tests.inprocess import fetch as run_here

PLUGIN = """
from datetime import UTC, datetime, timedelta
from pit_fetch.provider import Operation, Provider, Record

def record(name="1", stamp=datetime(2024, 1, 1, tzinfo=UTC), **payload):
    return Record(name, stamp, payload)

def read(body, query):
    return iter(())

{body}

PROVIDER = Provider(name="{name}", summary="a plugin", operations=(Operation(fetch=fetch, parse_reply=read),){more})
"""
Install = Callable[..., dict[str, str]]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Write a plugin package where this process finds it. Return the variables by which another process finds it."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(site)

    def lay(
        body: str, name: str = "plug", package: str = "plug_package", more: str = "", source: str = ""
    ) -> dict[str, str]:
        module = site / f"{package}.py"
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        module.write_text(source or PLUGIN.format(body=body, name=name, more=more))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[pit_fetch.providers]\n{name} = {package}:PROVIDER\n")
        monkeypatch.delitem(sys.modules, package, raising=False)
        return {"PYTHONPATH": str(site)}

    return lay


def fetch(folder: Path, *words: str, name: str = "plug", **given: Any) -> Answer:
    transport = Answering(nobody, lambda: NOW)
    return run_here(folder, "--source", name, "--pit", PIT_TEXT, *words, transport=transport, **given)


def sources(folder: Path) -> Answer:
    return run_here(folder, "--list-sources", "--json")


GOOD = "def fetch(query, context):\n    yield record()"


def test_a_plugin_is_a_source(tmp_path: Path, install: Install) -> None:
    install(GOOD)
    assert fetch(tmp_path).ids == ["1"]
    assert fetch(tmp_path, name="PLUG").ids == ["1"]


def test_a_plugin_is_listed_and_described_like_a_bundled_source(tmp_path: Path, install: Install) -> None:
    declared = (
        ", aliases=('other-name',), listing=Listing(search_terms='gossip'), options=(Option('word', 'with this word'),)"
    )
    dated = "parse_reply=read, dating=Dating(rule='when it was posted', why='it says so')"
    plugin = PLUGIN.replace("import Operation", "import Dating, Listing, Operation, Option").replace(
        "parse_reply=read", dated
    )
    install("", source=plugin.format(body=GOOD, name="plug", more=declared))
    assert fetch(tmp_path, name="other_name").ids == ["1"]
    assert "did you mean plug?" in fetch(tmp_path, name="gossip").err
    assert ", plug, and see --list-sources" in run_here(tmp_path, "--help").out
    assert "dated: when it was posted (it says so)" in run_here(tmp_path, "--source", "plug", "--help").out
    page = run_here(tmp_path, "sources", "plug", "--markdown").out
    assert "| when it was posted | it says so |" in page
    assert "| `word` | with this word |" in page
    assert "plug" in run_here(tmp_path, "completion", "bash").out
    assert "plug" in prepare_server(real_runtime(), PIT_TEXT).tools


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        (
            "def fetch(query, context):\n    import sys\n    print(1), print(2, file=sys.stderr)\n    yield record()",
            ["1"],
        ),
        ("def fetch(query, context):\n    yield record(stamp=datetime(2024, 1, 1))\n    yield record('2')", ["2"]),
        ("def fetch(query, context):\n    yield record(stamp='2024-01-01')\n    yield record('2')", ["2"]),
        ("def fetch(query, context):\n    yield record(stamp=datetime(2024, 3, 1, tzinfo=UTC))", []),
        ("def fetch(query, context):\n    return [record()]", ["1"]),
    ],
    ids=["prints", "a naive stamp", "a stamp that is text", "a late record", "a list"],
)
def test_careless_and_harmless(tmp_path: Path, install: Install, body: str, ids: list[str]) -> None:
    install(body)
    done = fetch(tmp_path)
    assert (done.code, done.ids, done.err) == (0, ids, "")


@pytest.mark.parametrize(
    "body",
    [
        "def fetch(query, context):\n    yield record()\n    raise RuntimeError('SECRET')",
        "def fetch(query, context):\n    yield record()\n    raise SystemExit(0)",
        "def fetch(query, context):\n    import sys; sys.exit('SECRET')",
        "def fetch(query, context):\n    yield 'SECRET'",
        "def fetch(query, context):\n    yield record(value={1, 2})",
        "def fetch(query, context):\n    return 5",
        "def fetch(query, context):\n    yield record(stamp=datetime(2024, 1, 1, tzinfo=UTC), x=float('nan'))",
        "def fetch(query, context):\n    yield record()._replace(available_at_source='trust_me')",
    ],
    ids=["raises", "exits", "exits with a text", "yields text", "no JSON", "no records", "NaN", "a lying tag"],
)
def test_a_plugin_that_fails_is_named_and_nothing_of_it_is_used(tmp_path: Path, install: Install, body: str) -> None:
    install(body)
    done = fetch(tmp_path)
    assert (done.code, done.data, done.gap_types) == (70, [], ["internal_error"])
    assert "SECRET" not in done.out + done.err
    assert done.err.count("\n") == 1


def test_a_plugin_that_loops_for_ever_is_interrupted(tmp_path: Path, install: Install) -> None:
    rings = "__import__('signal').setitimer(0, 0.001)"  # only here, however slow the machine is
    install(f"def fetch(query, context):\n    yield record()\n    {rings}\n    while True: pass")
    done = fetch(tmp_path, alarm=alarm)
    assert (done.code, done.ids) == (0, ["1"])
    assert done.gap_types[-2:] == ["truncated", "upstream_error"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_alarm_that_a_finalizer_swallows_rings_again(
    tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runtime, "RINGS_AGAIN_SECONDS", 0.05)
    loops = "type('Loops', (), {'__del__': lambda self: [None for _ in iter(int, 1)]})()"
    install(f"def fetch(query, context):\n    yield record()\n    {loops}\n    while True: pass")
    done = fetch(tmp_path, alarm=lambda seconds: alarm(0.5))
    assert (done.code, done.ids, done.gap_types[-2:]) == (0, ["1"], ["truncated", "upstream_error"])


OUTDATED = (
    f"cannot be loaded ({{}}): it is made for another provider API, and this is {API_VERSION}; docs/provider-api-4.md"
)
OF_API_3 = 'from pit_fetch.provider import Provider\nPROVIDER = Provider("plug", "", fetch=print)'
BROKEN = [
    ("raise RuntimeError('SECRET')", "cannot be loaded (RuntimeError)"),
    ("raise SystemExit", "cannot be loaded (SystemExit)"),
    ("import no_such_module", "cannot be loaded (ModuleNotFoundError)"),
    (OF_API_3, OUTDATED.format("TypeError")),
    ("from pit_fetch.provider import STAMPS", OUTDATED.format("ImportError")),
    ("from pit_fetch.paging import newest_first", OUTDATED.format("ImportError")),
    ("PROVIDER = 5", "does not hold a Provider"),
    (PLUGIN.format(body=GOOD, name="another", more=""), "registers 'another' under the name 'plug'"),
    *(
        (
            f"from pit_fetch.provider import Option\n{PLUGIN}".format(
                body=GOOD, name="plug", more=f", options=({made},)"
            ),
            f"declares the option {problem}",
        )
        for made, problem in [
            ("Option('limit', 'a limit')", "limit, which every source has"),
            ("Option('word', 'a word'), Option('word', 'a word')", "word twice"),
        ]
    ),
]


@pytest.mark.parametrize(("source", "problem"), BROKEN)
def test_a_broken_plugin_is_named(tmp_path: Path, install: Install, source: str, problem: str) -> None:
    install("", source=source)
    done = fetch(tmp_path)
    assert (done.code, done.gap_types) == (2, ["config"])
    assert f"plug_package 1.0 {problem}" in done.err
    assert "SECRET" not in done.err


@pytest.mark.parametrize("name", ["bz-news-api", "benzinga", "BZ_News_API"])
def test_a_bundled_name_cannot_be_taken(tmp_path: Path, install: Install, name: str) -> None:
    install(GOOD, name=name)
    done = fetch(tmp_path, name=name)
    assert "BENZINGA_API_KEY" in done.reasons, "the bundled one was asked, whose key is missing"
    assert "claims the name of a bundled source: refused" in sources(tmp_path).out


def test_two_claims_of_one_name_are_both_refused(tmp_path: Path, install: Install) -> None:
    install(GOOD)
    install(GOOD, package="other_package")
    done = fetch(tmp_path)
    assert (done.code, "other_package 1.0, plug_package 1.0" in done.err) == (2, True)


def test_the_table_of_bundled_sources_agrees_with_the_providers() -> None:
    common = {option.name for option in COMMON_OPTIONS}
    for listing in registry.listings():
        if listing.name in registry.BUNDLED_NAMES:
            assert listing.provider is not None
            for name in (listing.provider.name, *listing.provider.aliases):
                assert registry.load(name) is listing.provider
            assert not {option.name for option in listing.provider.options} & common
