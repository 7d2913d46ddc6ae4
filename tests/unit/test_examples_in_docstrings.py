"""Every pure module shows an example, and the example is true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

# A module that does no I/O and reads no clock belongs here: its docstring shows what goes in and what comes out.
PURE_MODULES = (
    "pit_fetch.formats.columns",
    "pit_fetch.formats.html_page.markup",
    "pit_fetch.gaps",
    "pit_fetch.pipeline.chunks",
    "pit_fetch.pipeline.cursor",
    "pit_fetch.pipeline.envelope",
    "pit_fetch.pipeline.select",
    "pit_fetch.request.timestamp_errors",
    "pit_fetch.request.values",
    "pit_fetch.support.suggest",
    "pit_fetch.testing.certificate",
    "pit_fetch.testing.documents",
    "pit_fetch.testing.timestamps",
    "pit_fetch.times",
    "pit_fetch.wire",
    "pit_fetch_providers.markup.closing",
    "pit_fetch_providers.markup.depth",
    "pit_fetch_providers.markup.folding",
    "pit_fetch_providers.markup.layout",
    "pit_fetch_providers.markup.looks",
    "pit_fetch_providers.markup.marks",
    "pit_fetch_providers.markup.numbering",
    "pit_fetch_providers.markup.sheets",
    "pit_fetch_providers.markup.styles",
    "pit_fetch_providers.wikipedia.templates",
)


@pytest.mark.parametrize("name", PURE_MODULES)
def test_the_example_of_a_pure_module_is_true(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
