"""Every option of every operation of every bundled source, through the real command and into an archive."""

from __future__ import annotations

from pathlib import Path

import pytest

from pit_fetch.engine import registry
from pit_fetch.errors import UsageError
from pit_fetch.provider import Operation, Option, Provider
from pit_fetch.request.fetch_request import from_values
from pit_fetch.request.values import flag_of
from pit_fetch.testing.inprocess import unhurried
from pit_fetch.testing.server import Answering, Response
from tests.inprocess import NOW, fetch
from tests.laws.worlds import VARIABLES

OPERATIONS = [(name, operation) for name in registry.BUNDLED_NAMES for operation in registry.load(name).operations]


@pytest.mark.parametrize(("name", "operation"), OPERATIONS, ids=lambda value: getattr(value, "name", value))
def test_every_option_of_every_operation_is_sent_and_recorded(name: str, operation: Operation, tmp_path: Path) -> None:
    """An option's value may be of any kind: what it becomes in a request must be right for every transport."""
    provider = unhurried(registry.load(name))
    served = Answering(lambda request: Response(b"{}", 418), lambda: NOW)
    environ = {**VARIABLES, "PIT_FETCH_ARCHIVE": str(tmp_path / "a.db"), "HOME": str(tmp_path)}
    words = ["--source", name, *(["--op", operation.name] if len(provider.operations) > 1 else [])]
    words += [word for option in _options_of(provider, operation) for word in _words(option)]
    answer = fetch(tmp_path, *words, env=environ, transport=served, provider=provider)
    assert answer.status in (0, 5), words
    assert served.exchanges, answer.reasons
    assert all(isinstance(value, (str, list)) for request, _ in served.exchanges for value in request.params.values())


@pytest.mark.parametrize("name", sorted({name for name, operation in OPERATIONS if operation.name}))
def test_every_source_refuses_an_operation_that_it_does_not_have(name: str, tmp_path: Path) -> None:
    provider = registry.load(name)
    if len(provider.operations) == 1:
        return
    answer = fetch(tmp_path, "--source", name, "--op", "no-such-one", env=VARIABLES, provider=provider)
    assert (answer.status, answer.data, len(answer.reasons.splitlines())) == (2, [], 1)
    assert "no-such-one" not in answer.out + answer.err, "it may be a key"
    with pytest.raises(UsageError):
        from_values({"op": "no-such-one"}, provider, {})


def _options_of(provider: Provider, operation: Operation) -> list[Option]:
    is_only = len(provider.operations) == 1
    taken = {option.name for option in provider.all_options} if is_only else {*operation.needs, *operation.takes}
    # These say in another way what an option beside them says, and are refused together with it.
    twice = {"recency"} | ({"symbol"} if "cik" in taken else set())
    twice |= {"ids"} if "category" in taken else set()
    twice |= {"form", "item"} if "accession" in taken else set()
    return [option for option in provider.all_options if option.name in taken - {"op"} - twice]


_VALUES = {
    **dict.fromkeys(("date", "expiration", "after_date", "date_from"), "2024-02-15"),
    "month": "2024-02",
    "year": "2024",
    "range": "2month",
    "forms": "4,8-K",
    "item": "2.02",
    "ciks": "320193",
    "cik": "320193",
    "ids": "8863",
    "market": "239747",
    "accession": "0000320193-25-000057",
    "url": "example.com/news",
}


def _words(option: Option) -> list[str]:
    if option.kind == "flag":
        return [flag_of(option.name)]
    plain = {"integer": "20", "instant": "2024-02-15"}.get(option.kind, "IBM")
    quarter = {"quarter": "4" if option.kind == "integer" else "2024Q1"}
    period = {"period": "annual" if option.choices else "2024-03-31"}
    value = {**_VALUES, **quarter, **period}.get(option.name, plain)
    return [flag_of(option.name), value if value in option.choices or not option.choices else option.choices[0]]
