"""Discovery, and what a careless plugin can and cannot do. Each plugin is a package on disk, found by entry point."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pit_fetch import registry
from tests.conftest import Finished, Run

PLUGIN = """
from datetime import UTC, datetime, timedelta
from pit_fetch.provider import Provider, Record

def record(name="1", stamp=datetime(2024, 1, 1, tzinfo=UTC), **payload):
    return Record(name, stamp, "provider_metadata", payload)

def read(body, query):
    return iter(())

{body}

PROVIDER = Provider(name="{name}", summary="a plugin", fetch=fetch, read=read{more})
"""
Install = Callable[..., dict[str, str]]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Lays a plugin package with metadata into a folder, and returns the environment that finds it."""
    site = tmp_path / "site"

    def lay(
        body: str, name: str = "plug", package: str = "plug_package", more: str = "", source: str = ""
    ) -> dict[str, str]:
        module = site / f"{package}.py"
        info = site / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        module.write_text(source or PLUGIN.format(body=body, name=name, more=more))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[pit_fetch.providers]\n{name} = {package}:PROVIDER\n")
        return {"PYTHONPATH": str(site)}

    return lay


def fetch(run: Run, env: dict[str, str], *words: str, name: str = "plug") -> Finished:
    return run("--source", name, "--pit", "2024-02-15T16:00:00-05:00", *words, env=env)


GOOD = "def fetch(query, context):\n    yield record()"


def test_a_plugin_is_a_source(run: Run, install: Install) -> None:
    env = install(GOOD)
    assert fetch(run, env).ids == ["1"]
    assert fetch(run, env, name="PLUG").ids == ["1"]
    assert b"plug " in run("--list-sources", env=env).out


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
def test_careless_and_harmless(run: Run, install: Install, body: str, ids: list[str]) -> None:
    done = fetch(run, install(body))
    assert (done.code, done.ids, done.err) == (0, ids, b"")


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
    ],
    ids=["raises", "exits", "exits with a text", "yields text", "no JSON", "no records", "NaN"],
)
def test_a_plugin_that_fails_is_named_and_nothing_of_it_is_used(run: Run, install: Install, body: str) -> None:
    done = fetch(run, install(body))
    assert (done.code, done.envelope["data"], done.gap_types) == (70, [], ["internal_error"])
    assert b"SECRET" not in done.out + done.err
    assert done.err.count(b"\n") == 1


def test_a_lying_tag_does_not_pass_the_gate(run: Run, install: Install) -> None:
    body = "def fetch(query, context):\n    yield record()._replace(source='trust_me')"
    done = fetch(run, install(body))
    assert (done.code, done.envelope["data"], done.gap_types) == (70, [], ["internal_error"])


@pytest.mark.parametrize(
    "loop",
    ["while True: pass", "while True: yield record(stamp=datetime(2025, 1, 1, tzinfo=UTC))"],
    ids=["silently", "with late records"],
)
def test_a_plugin_that_loops_for_ever_ends_at_the_deadline(run: Run, install: Install, loop: str) -> None:
    body = f"def fetch(query, context):\n    yield record()\n    {loop}"
    done = fetch(run, install(body), "--timeout", "0.2")
    assert (done.code, done.ids) == (0, ["1"])
    assert done.gap_types[-2:] == ["truncated", "upstream_error"]


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("raise RuntimeError('SECRET')", b"cannot be loaded (RuntimeError)"),
        ("raise SystemExit", b"cannot be loaded (SystemExit)"),
        ("import no_such_module", b"cannot be loaded (ModuleNotFoundError)"),
        ("PROVIDER = 5", b"is made for provider API None, this is 1"),
        ("from types import SimpleNamespace as S\nPROVIDER = S(api_version=1)", b"does not hold a Provider"),
    ],
)
def test_a_broken_plugin_fails_alone_and_by_name(run: Run, install: Install, source: str, problem: bytes) -> None:
    env = install("", source=source)
    done = fetch(run, env)
    assert (done.code, done.gap_types) == (2, ["config"])
    assert b"plug_package 1.0 " + problem in done.err
    assert b"SECRET" not in done.err
    listed = {row["name"]: row["usable"] for row in json.loads(run("--list-sources", "--json", env=env).out)}
    assert (listed["plug"], listed["bz-news-api"]) == (False, True)


def test_another_api_version_is_refused_by_name(run: Run, install: Install) -> None:
    done = fetch(run, install(GOOD, more=", api_version=2"))
    assert b"plug_package 1.0 is made for provider API 2, this is 1" in done.err


@pytest.mark.parametrize("name", ["bz-news-api", "benzinga", "BZ_News_API"])
def test_a_bundled_name_cannot_be_taken(run: Run, install: Install, name: str) -> None:
    env = install(GOOD, name=name)
    assert fetch(run, env, name=name).gap_types == ["config"]  # Benzinga's key is missing: the bundled one was asked
    assert b"claims the name of a bundled source: refused" in run("--list-sources", env=env).out


def test_two_claims_of_one_name_are_both_refused(run: Run, install: Install) -> None:
    install(GOOD)
    done = fetch(run, install(GOOD, package="other_package"))
    assert (done.code, b"other_package 1.0, plug_package 1.0" in done.err) == (2, True)


def test_the_table_of_bundled_sources_agrees_with_the_providers() -> None:
    for listing in registry.listings():
        if listing.name in registry.BUNDLED_NAMES:
            assert listing.provider is not None
            for name in (listing.provider.name, *listing.provider.aliases):
                assert registry.load(name) is listing.provider
            assert not {option.name for option in listing.provider.options} & {"pit", "source", "limit", "fields"}
