"""Every named leak still has its place in the program: one that does not fit it would prove nothing."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.laws.laws import LAWS
from tests.laws.mutants import MUTANTS, Mutant
from tests.laws.plant import Make, find, leak_at, plant

# A module whose things another one holds: by import, under another name, in a table.
HOLDER = """
import re
from functools import cache

LIMIT, WORD = 3, re.compile("a")

def first(real, other=1): return real + other
def countdown(n): return n and countdown(n - 1)
@cache
def kept(n): return n
class Rule:
    def holds(self, n, *, strictly=False): return n > 0
"""
IMPORTER = "from planted_holder import LIMIT, WORD as PATTERN, Rule, first, kept\nTABLE = {'first': first}"
NAMESAKE = "LIMIT = 3"


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    monkeypatch.syspath_prepend(tmp_path)
    texts = {"holder": HOLDER, "importer": IMPORTER, "namesake": NAMESAKE}
    for name, text in texts.items():
        (tmp_path / f"planted_{name}.py").write_text(text)
    yield {name: import_module(f"planted_{name}") for name in texts}
    for name in texts:
        del sys.modules[f"planted_{name}"]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits(mutant: Mutant) -> None:
    leak_at(find(mutant.target), mutant.make)
    names = mutant.target.partition(":")[2].split(".")
    assert not any(re.match("_(?!_)", name) for name in names), "a private name"
    assert mutant.laws
    assert set(mutant.laws) <= set(LAWS)


def test_names_are_unique() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


def test_the_page_says_how_many_there_are() -> None:
    page = Path(__file__).parents[2] / "docs" / "proof.md"
    assert f" {len(MUTANTS)} leaks." in page.read_text(encoding="utf-8")


def test_a_planted_function_is_seen_wherever_it_is_held(modules: dict[str, Any]) -> None:
    assert plant("planted_holder:first", lambda real: lambda *given: 10 * real(*given)) == []
    importer = modules["importer"]
    assert (importer.first(1), importer.TABLE["first"](1, 2), modules["holder"].first(1, 1)) == (20, 30, 20)


def test_a_method_is_planted_with_its_defaults(modules: dict[str, Any]) -> None:
    plant("planted_holder:Rule.holds", lambda real: lambda self, n, *, strictly=True: strictly and not real(self, n))
    assert modules["importer"].Rule().holds(0)


def test_a_constant_is_planted_where_it_was_imported_and_not_in_its_namesake(modules: dict[str, Any]) -> None:
    plant("planted_holder:LIMIT", lambda real: real + 1)
    plant("planted_holder:WORD", lambda real: "b")
    assert [modules[name].LIMIT for name in ("holder", "importer", "namesake")] == [4, 4, 3]
    assert (modules["holder"].WORD, modules["importer"].PATTERN) == ("b", "b")


@pytest.mark.parametrize("target", ["planted_holder:gone", "planted_holder:Rule.gone", "planted_holder:Gone.holds"])
def test_a_target_that_is_gone_is_an_error(modules: dict[str, Any], target: str) -> None:
    with pytest.raises(AttributeError, match="one"):
        plant(target, lambda real: real)


@pytest.mark.parametrize(
    ("target", "make"),
    [
        ("planted_holder:first", lambda real: lambda: real(1)),
        ("planted_holder:first", lambda real: lambda first: real(first)),
        ("planted_holder:first", lambda real: lambda first, second: real(first, second)),
        ("planted_holder:Rule.holds", lambda real: lambda self, n: real(self, n)),
        ("planted_holder:LIMIT", lambda real: real),
    ],
)
def test_a_leak_that_does_not_fit_is_an_error(modules: dict[str, Any], target: str, make: Make) -> None:
    with pytest.raises(TypeError):
        plant(target, make)


def test_the_mistakes_of_a_leak_are_noted_and_what_it_calls_may_fail(modules: dict[str, Any]) -> None:
    holder = modules["holder"]
    noted = plant("planted_holder:first", lambda real: lambda first, other=1: first.gone)
    with pytest.raises(AttributeError):
        holder.first(1)
    with pytest.raises(TypeError):
        holder.first(real=1)
    assert len(noted) == 2
    assert "gone" in noted[0]
    noted = plant("planted_holder:countdown", lambda real: lambda n: real(n))
    with pytest.raises(TypeError):
        holder.countdown("1")
    assert noted == []


def test_the_mistakes_of_a_generator_are_noted_too(modules: dict[str, Any]) -> None:
    def make(real: Any) -> Any:
        def numbers(n: Any) -> Iterator[Any]:
            yield real(n)
            yield n.gone

        return numbers

    noted = plant("planted_holder:countdown", make)
    found = modules["holder"].countdown(0)
    assert next(found) == 0
    with pytest.raises(AttributeError):
        next(found)
    assert len(noted) == 1
