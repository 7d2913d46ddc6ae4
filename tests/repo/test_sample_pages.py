"""Readers of the documents type their commands on the sample archive, and see what the documents show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repo.consoles import printed, typed
from tests.repo.test_recipes import asking, servers

__all__ = ["asking", "servers"]
ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
MAKE = "pit_fetch archive sample sample.db\n"


@pytest.mark.parametrize("name", [name for name, page in PAGES.items() if "```console\n" in page])
def test_the_output_is_the_one_that_is_printed(name: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    printed(MAKE, tmp_path)
    assert MAKE in PAGES[name] or "sample.db" not in PAGES[name], "the page makes what it asks"
    for command, output in typed(PAGES[name]):
        assert printed(command, tmp_path) == output


def test_the_commands_of_the_page_on_fundamentals_work_as_pasted(asking: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGES["sec_facts.md"], re.DOTALL | re.MULTILINE)
    assert MAKE in blocks
    shown = printed("".join(blocks), asking)
    assert "upstream_error" not in shown
    assert '"type": "config"' not in shown


def test_the_readers_first_pages_lead_to_the_sample() -> None:
    """Without a key and a network, which is how a newcomer begins."""
    assert "archive.md#try-it" in PAGES["README.md"]
    assert MAKE in (ROOT / "README.md").read_text(encoding="utf-8")
    assert PAGES["archive.md"].index(MAKE) < PAGES["archive.md"].index("pit_fetch capture")
