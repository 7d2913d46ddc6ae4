"""The documents say what the program does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    """To a file that is there, and to a heading of it."""
    for target, anchor in re.findall(r"\]\(([^)#: ]*)#?([^): ]*)\)", document.read_text()):
        page = document.parent / target if target else document
        assert page.exists(), target
        assert not anchor or anchor in anchors(page), f"{target}#{anchor}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_bar_is_escaped(document: Path) -> None:
    """GitHub shows code in a table without the backslash, the site with it."""
    assert "\\|" not in document.read_text()


def anchors(page: Path) -> set[str]:
    """Return the names that GitHub gives to the headings of ``page``."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_name_on_the_page_of_the_layout_is_in_the_code() -> None:
    """A name that was changed in the code alone sends the reader to nothing."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = set(re.findall(r"`(?:[A-Z][A-Za-z]+\.)?(_?[A-Za-z]+_[A-Za-z_]*|[A-Z]{4,}|_[A-Z]+)\b[^`/]*`", page))
    code = [path for folder in ("pit_fetch", "providers", "hooks", "tests") for path in (ROOT / folder).rglob("*.py")]
    words = set(
        re.findall(
            r"\w+", "".join(path.read_text(encoding="utf-8") for path in code if path.name != Path(__file__).name)
        )
    )
    assert {"_check_listing", "_LISTING_WORDS", "is_listing", "laws_of_all"} <= named
    assert not named - words


def test_the_site_has_every_page() -> None:
    """In its navigation; what is decided has an index of its own."""
    navigation = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    pages = [page.relative_to(ROOT).as_posix() for page in DOCUMENTS if not page.name.startswith("00")]
    assert [page for page in pages if f"{page}\n" not in navigation] == []


def test_every_environment_variable_is_documented() -> None:
    """In docs/settings.md, or on the page of the source that uses it."""
    settings = (ROOT / "docs" / "settings.md").read_text()
    missing = []
    for root in ("pit_fetch", "providers/pit_fetch_providers", "hooks"):
        for path in (ROOT / root).rglob("*.py"):
            page = ROOT / "docs" / f"{path.parent.name}.md"
            documented = settings + (page.read_text() if root.startswith("providers") and page.is_file() else "")
            names = re.findall(r"\"((?:PIT_FETCH_|PIT_GATE_LOG)[A-Z_]*)\"", path.read_text())
            missing += [name for name in names if name not in documented and "skeleton" not in path.parts]
    assert missing == []


def test_every_exit_status_is_documented() -> None:
    from pit_fetch.errors import ExitStatus

    documented = (ROOT / "docs" / "command.md").read_text()
    assert [status.name for status in ExitStatus if f"| {status.value} |" not in documented] == []


def test_every_gap_type_is_documented() -> None:
    from pit_fetch.gaps import GapType

    documented = (ROOT / "docs" / "envelope.md").read_text()
    assert {kind for kind in GapType if f"`{kind}`" not in documented} == set()


def test_the_changelog_begins_with_this_version() -> None:
    from pit_fetch import __version__

    versions = re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == __version__
