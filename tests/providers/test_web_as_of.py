"""The skill web-as-of, followed by its own words under a ceiling: each call finds an address, or reads a page."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.provider_harness import run_command
from tests.providers.perplexity import server as perplexity
from tests.providers.sec_filings import server as filings
from tests.providers.sec_full_text import server as sec
from tests.providers.wayback import server as wayback
from tests.providers.wayback.server import Capture
from tests.providers.wikipedia import server as wikipedia
from tests.providers.wikipedia.server import Page, Revision, Wiki

SKILL = Path(__file__).parents[2] / "skills" / "web-as-of" / "SKILL.md"
PIT = "2024-02-15T16:00:00-05:00"
LATER = "SECRET"
HOME = "https://www.acme.example/"

_REPORT = filings.Document("10-K", "main.htm", "<p>Apple Inc.</p><p>Our website is www.acme.example.</p>")
_CAPTURED = b"<title>Acme</title><main>What it said. <a href=/news/1>News</a></main>"
APPS = {
    "perplexity": perplexity.app(
        [perplexity.page("a", url=HOME), perplexity.page("b", "2024-03-01", url=f"{HOME}{LATER}")]
    ),
    "sec_filings": filings.app(
        [filings.Filed(sec.Filing(sec.number(1), "10-K", "2023-11-02 18:04:00", text="Apple Inc."), (_REPORT,))]
    ),
    "wikipedia": wikipedia.app(
        Wiki([Page(7, "Apple Inc.", [Revision(1, "2024-01-01T00:00:00Z", f"It. [{HOME} Site]"), Revision(
            9, "2024-03-01T00:00:00Z", LATER)])])
    ),
    "wayback": wayback.app(
        [Capture(f"2024{month}01000000", f"{HOME}{path}", body)
         for month, body in (("01", _CAPTURED), ("03", LATER.encode())) for path in ("", "news/1")]
    ),
}  # fmt: skip
APPS["sec_full_text"] = APPS["sec_filings"]
# Source and operation -> what the call shows, by which the next step is made.
SHOWS = {
    "perplexity search": HOME,
    "sec_filings text": "Our website is www.acme.example.",
    "sec_full_text --query": "0000320193",
    "wikipedia title=Apple Inc.": HOME,
    "wayback captures": f"{HOME}news/1",
    "wayback page": f"{HOME}news/1 News",
}


def calls() -> list[list[str]]:
    """Return the words of each call in the skill, about the pages of :data:`APPS`, after ``pit_fetch``."""
    text = SKILL.read_text()
    written = re.findall(r"`(pit_fetch [^`]+|captures [^`]+)`|^    (pit_fetch .+)$", text, re.MULTILINE)
    lines = ["".join(parts).removeprefix("pit_fetch ") for parts in written]
    lines = [line if line.startswith("--source") else f"--source wayback --pit T {line}" for line in lines]
    made = [re.sub(r"--pit \S+", f"--pit {PIT}", line) for line in lines]
    return [
        shlex.split(re.sub("ADDRESS|DOMAIN", "www.acme.example", line.replace("epa.gov", "acme.example")))
        for line in made
    ]


@pytest.mark.parametrize("words", calls(), ids=" ".join)
def test_each_call_of_the_skill_leads_on(words: list[str], tmp_path: Path) -> None:
    source, rest = words[1], words[2:]
    (shown,) = [text for call, text in SHOWS.items() if call in f"{source} {' '.join(rest[2:])}"]
    done = run_command(
        source, tmp_path, APPS[source], *rest, env={"PIT_FETCH_CEILING": PIT, "PIT_FETCH_EVIDENCE": "claimed"}
    )
    assert done.ids, done.out
    assert shown in done.out
    assert LATER not in done.out


def test_the_skill_names_every_way_that_is_tried() -> None:
    assert {words[1] for words in calls()} == {*APPS}
