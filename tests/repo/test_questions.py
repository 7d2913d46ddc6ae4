"""The commands on the pages that ask a source can be asked as they stand there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from pit_fetch.engine import registry
from pit_fetch.testing.inprocess import unhurried
from pit_fetch.testing.server import Answering, Response
from tests.inprocess import NOW, fetch
from tests.laws.worlds import VARIABLES
from tests.repo.test_documents import DOCUMENTS


def questions() -> Iterator[tuple[Path, list[str]]]:
    """Yield each command on a page that asks a bundled source, as the words behind ``pit_fetch``."""
    for page in DOCUMENTS:
        lines = re.sub(r"\\\n\s*", "", page.read_text())
        for command in re.findall(
            r"^(?: {2,})?(?:\$ )?pit_fetch ((?:diff |explain )?--source .*)$", lines, re.MULTILINE
        ):
            words = shlex.split(command, comments=True)
            if words[words.index("--source") + 1] in registry.BUNDLED_NAMES and "--input-file" not in words:
                yield page, words


@pytest.mark.parametrize(
    ("page", "words"), [*questions()], ids=lambda value: value.stem if isinstance(value, Path) else " ".join(value)
)
def test_a_question_on_a_page_is_one_that_can_be_asked(page: Path, words: list[str], tmp_path: Path) -> None:
    """With keys, and a network that refuses: the source is asked, or the archive, of which there is none."""
    for folder in re.findall(r"^mkdir -p (\w+)$", page.read_text(), re.MULTILINE):
        (tmp_path / folder).mkdir()
    served = Answering(lambda request: Response(b"{}", 418), lambda: NOW)
    provider = unhurried(registry.load(words[words.index("--source") + 1]))
    answer = fetch(tmp_path, *words, env={**VARIABLES, "HOME": str(tmp_path)}, transport=served, provider=provider)
    assert answer.status in ((0, 3, 5) if "--offline" in words else (0, 5)), answer.complaint
    assert served.exchanges or "--offline" in words, answer.text
