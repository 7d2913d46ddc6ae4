"""Every pure module shows an example, and the example is true."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

# A module that does no I/O and reads no clock belongs here: its docstring shows what goes in and what comes out.
PURE_MODULES = (
    "pit_fetch.archive.store.bodies",
    "pit_fetch.archive.store.checksums",
    "pit_fetch.archive.store.history",
    "pit_fetch.archive.store.microseconds",
    "pit_fetch.archive.store.redaction",
    "pit_fetch.archive_admin.capture.estimate",
    "pit_fetch.cli.output_format",
    "pit_fetch.courtesy.command_line",
    "pit_fetch.courtesy.names",
    "pit_fetch.courtesy.panels",
    "pit_fetch.courtesy.paths",
    "pit_fetch.courtesy.timestamps",
    "pit_fetch.formats.columns",
    "pit_fetch.formats.csv",
    "pit_fetch.formats.explanation",
    "pit_fetch.formats.html_page.lines",
    "pit_fetch.formats.html_page.marks",
    "pit_fetch.formats.html_page.markup",
    "pit_fetch.formats.html_page.scale",
    "pit_fetch.formats.jsonl",
    "pit_fetch.formats.table",
    "pit_fetch.gaps",
    "pit_fetch.inspect.verdict",
    "pit_fetch.mcp.documents",
    "pit_fetch.mcp.mapping",
    "pit_fetch.mcp.tools",
    "pit_fetch.mcp.upstream_items",
    "pit_fetch.normalize.items",
    "pit_fetch.normalize.saved",
    "pit_fetch.normalize.stamps",
    "pit_fetch.panels.cells",
    "pit_fetch.panels.instants",
    "pit_fetch.panels.universe",
    "pit_fetch.pipeline.budget",
    "pit_fetch.pipeline.chunks",
    "pit_fetch.pipeline.claims",
    "pit_fetch.pipeline.cursor",
    "pit_fetch.pipeline.envelope",
    "pit_fetch.pipeline.select",
    "pit_fetch.request.coverage",
    "pit_fetch.request.evidence",
    "pit_fetch.request.operations",
    "pit_fetch.request.over",
    "pit_fetch.request.query",
    "pit_fetch.request.values",
    "pit_fetch.support.encoding",
    "pit_fetch.support.redaction",
    "pit_fetch.support.wording",
    "pit_fetch.times",
    "pit_fetch.wire",
    "pit_fetch_providers.alphavantage.adjust",
    "pit_fetch_providers.alphavantage.news",
    "pit_fetch_providers.alphavantage.periods",
    "pit_fetch_providers.alphavantage.reply",
    "pit_fetch_providers.alphavantage.rows",
    "pit_fetch_providers.bz_news_api.articles",
    "pit_fetch_providers.earningscall.calls",
    "pit_fetch_providers.edgar.acceptance",
    "pit_fetch_providers.edgar.daily_index",
    "pit_fetch_providers.edgar.forms",
    "pit_fetch_providers.edgar.header",
    "pit_fetch_providers.fred.vintages",
    "pit_fetch_providers.page_text",
    "pit_fetch_providers.perplexity.pages",
    "pit_fetch_providers.sec_facts.derive",
    "pit_fetch_providers.sec_facts.facts",
    "pit_fetch_providers.sec_facts.lines",
    "pit_fetch_providers.sec_facts.periods",
    "pit_fetch_providers.sec_facts.statements",
    "pit_fetch_providers.sec_filings.documents",
    "pit_fetch_providers.sec_filings.elements",
    "pit_fetch_providers.sec_filings.text",
    "pit_fetch_providers.wayback.address",
    "pit_fetch_providers.wayback.capture",
    "pit_fetch_providers.wayback.index",
    "pit_fetch_providers.wikipedia.titles",
    "pit_fetch_providers.wikipedia.wikitext",
    "pit_fetch_providers.yahoo.news",
    "pit_fetch_providers.yahoo.prices",
    "pit_fetch_providers.yahoo.traded",
)


@pytest.mark.parametrize("name", PURE_MODULES)
def test_the_example_of_a_pure_module_is_true(name: str) -> None:
    result = doctest.testmod(import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
