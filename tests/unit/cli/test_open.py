"""``--open``: a browser shows the page that was written, to people only."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.demo_source import at_pit, demo, record

PUBLIC = [record("a", 1, title="Public"), record("b", -1, title="SECRET")]


@pytest.mark.parametrize("words", [(), ("--output", "my page.html"), ("--format", "html"), ("--output", "page")])
def test_a_browser_shows_the_page(tmp_path: Path, words: tuple[str, ...]) -> None:
    shown = list[str]()

    def browse(address: str) -> bool:
        shown.append(address)
        return True

    left = at_pit(tmp_path, demo(PUBLIC), "--open", *words, browse=browse)
    path = Path(unquote(urlsplit(shown[0]).path))
    text = path.read_text()
    assert (left.code, left.out, left.err) == (0, "", f"pit_fetch: the page is {path}\n")
    assert ("<!doctype html>" in text, "Public" in text, "SECRET" in text) == (True, True, False)
    assert path.parent.stat().st_mode & 0o077 == 0 or "--output" in words


def test_without_a_browser_the_page_is_named(tmp_path: Path) -> None:
    left = at_pit(tmp_path, demo(PUBLIC), "--open", "--output", "page.html")
    assert (left.code, "no browser could be opened: the page is" in left.err) == (0, True)


def test_a_failure_opens_nothing(tmp_path: Path) -> None:
    def nobody(address: str) -> bool:
        raise AssertionError(address)

    left = at_pit(tmp_path, demo(PUBLIC), "--open", "--input-file", "absent.json", browse=nobody)
    assert (left.code, left.gap_types) == (4, ["input_error"])


@pytest.mark.parametrize(
    ("words", "env", "reason"),
    [
        ((), {"CLAUDECODE": "1"}, "--open shows a page to a person: it does not run under"),
        ((), {"PIT_FETCH_WRAPPER_ONLY": "1"}, "--open shows a page to a person: it does not run under"),
        ((), {"PIT_FETCH_CEILING": "2024-02-15T16:00:00-05:00"}, "--open shows a page to a person"),
        (("--format", "csv"), {}, "--open shows a page: leave it out"),
        (("--output", "t.jsonl"), {}, "--open shows a page: leave it out"),
        (("--json",), {}, "--open shows a page: leave it out"),
    ],
)
def test_what_is_no_page_and_whoever_is_no_person_is_refused(
    tmp_path: Path, words: tuple[str, ...], env: dict[str, str], reason: str
) -> None:
    left = at_pit(tmp_path, demo(PUBLIC), "--open", *words, env=env)
    assert (left.code, left.data) == (2, [])
    assert reason in left.reasons
