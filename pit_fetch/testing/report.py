"""What an author is told: what is wrong and what to do about it, and how many worlds were run.

What to do stands in ``docs/kit-advice.md``, a section for each kind of finding, and beside this module in a wheel.

>>> print(failure("item '7' has no id", "id-of-another-type"))
item '7' has no id
  What to do: make it a text: str(row["id"]). (docs/kit-advice.md#id-of-another-type)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from string import Template
from textwrap import fill

_HERE = Path(__file__)
_PAGES = (_HERE.with_name("advice.md"), _HERE.parents[2] / "docs" / "kit-advice.md")


@cache
def advice() -> Mapping[str, str]:
    """Return what to do about each kind of finding, by its name."""
    page = next(page for page in _PAGES if page.is_file()).read_text("utf-8")
    sections = re.findall(r"^### (\S+)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    return {name: " ".join(text.split()) for name, text in sections}


def failure(problem: str, kind: str, **words: object) -> AssertionError:
    """Return the error that tells an author what is wrong and what to do about it; ``words`` stand in the advice."""
    text = Template(advice()[kind]).substitute(words)
    return AssertionError(f"{problem}\n  What to do: {text[0].lower()}{text[1:]} (docs/kit-advice.md#{kind})")


@dataclass
class WorldCount:
    """How many worlds each test ran, and how many it skipped since the format of the recording cannot hold them."""

    run: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    test: str = ""

    def begin(self, test: str) -> None:
        self.test = test
        self.run.pop(test, None)
        self.skipped.pop(test, None)

    def check(self) -> None:
        """Check that no more than a tenth of a test's worlds were skipped."""
        ran, skipped = self.run[self.test], self.skipped[self.test]
        if 10 * skipped > ran + skipped:
            raise failure(
                f"{skipped} of {ran + skipped} worlds were skipped, so nothing is known of them: the documents of the "
                "recording cannot hold them",
                "worlds-skipped",
            )


def worlds_text(worlds_run: Mapping[str, int], worlds_skipped: Mapping[str, int]) -> str:
    """Return how many worlds were run and skipped, in all and by each test.

    >>> print(worlds_text({"test_a": 90, "test_b": 7}, {"test_a": 3}))
      worlds run: 97 of 100 (97 %)
      worlds_run: test_a 90, test_b 7
      worlds_skipped: test_a 3
    """
    ran, skipped = sum(worlds_run.values()), sum(worlds_skipped.values())
    lines = [("worlds run", f"{ran} of {ran + skipped} ({100 * ran // max(1, ran + skipped)} %)")]
    for title, worlds in (("worlds_run", worlds_run), ("worlds_skipped", worlds_skipped)):
        lines.append((title, ", ".join(f"{test} {count}" for test, count in sorted(worlds.items())) or "none"))
    return "\n".join(map(wrapped, lines))


def wrapped(line: tuple[str, str]) -> str:
    """Return a line of a certificate, its title before a colon, wrapped at 110 columns."""
    return fill(": ".join(line), 110, initial_indent="  ", subsequent_indent="    ")
