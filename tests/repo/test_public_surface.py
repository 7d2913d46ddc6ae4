"""The public names of pit_fetch, and that sources use no others."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A name that appears here, or disappears, is a change of the public API: add it to the changelog.
PUBLIC = {
    "pit_fetch": "AsOf CaptureReport Envelope FetchOptions Panel TruncatedWarning __version__ as_of as_of_join capture "
    "diff explain fetch panel sources",
    "pit_fetch.provider": "API_VERSION Archiving Asked Basis Bearer Caveat ConfigError Context CoveredBy Credential "
    "Dating ENVELOPE_FIELDS Field FieldKind FieldRole Gap HeaderKey Host Http HttpReply Listing Meaning Operation "
    "Option OptionKind Page Params Provider Query QueryKey Rate Reach Record Retry RetryAfter Row Stage UpstreamError "
    "UsageError View Watermark gap",
    "pit_fetch.paging": "by_time children follow numbered slices",
    "pit_fetch.times": "NEW_YORK delayed end_of_day end_of_day_anywhere end_of_minute in_new_york is_weekend "
    "next_business_day parse_compact parse_date parse_http_date parse_rfc2822 parse_rfc3339 parse_unix "
    "parse_wall_clock start_of_day wall_clock",
    "pit_fetch.wire": "body_of check_rows columns_in decode_page lenient_json limited page_in read_html record_in "
    "rows_in strict_json text unescape",
    "pit_fetch.tables": "parquet_rows sqlite_rows",
    "pit_fetch.errors": "CaptureError ConfigError ExitStatus GapError InputError PitFetchError TruncatedWarning "
    "UpstreamError UsageError",
    "pit_fetch.gaps": "Code Gap GapType Reason gap",
    "pit_fetch.transport": "Fault HttpReply HttpRequest Params RecordingTransport ReplayingTransport Signature "
    "Transport TransportError",
    "pit_fetch.testing": "Answer Answering Bounds Document Form HttpRequest Left Pages ProviderSuite Recording "
    "Response TestClock ask_responses run",
}
SOURCES = sorted(
    path
    for folder in ("providers", "examples", "pit_fetch/skeleton")
    for pattern in ("*.py", "*.py.txt")
    for path in (ROOT / folder).rglob(pattern)
)


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names(module: str) -> None:
    names = PUBLIC[module].split()
    assert sorted(import_module(module).__all__) == names
    assert [name for name in names if not hasattr(import_module(module), name)] == []


def test_the_guide_lists_the_modules() -> None:
    guide = (ROOT / "docs" / "provider-guide.md").read_text()
    section = guide.partition("## The author's API")[2].partition("\n## ")[0]
    assert [module for module in PUBLIC if f"`{module}`" not in section] == []


def test_the_reference_has_every_module() -> None:
    reference = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    assert [module for module in PUBLIC if f"\n::: {module}\n" not in reference] == []


def imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield each name that a module imports from pit_fetch, with the module that it comes from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] == "pit_fetch":
            yield from ((str(node.module), alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
            yield from (("pit_fetch", name) for name in names if name.startswith("pit_fetch."))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_sources_use_public_names_only(source: Path) -> None:
    tree = ast.parse(source.read_text())
    assert [pair for pair in imported(tree) if pair[1] not in PUBLIC.get(pair[0], "").split()] == []
