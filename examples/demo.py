"""The main job on bundled sample data: what a source said as of an instant. Needs no key and no network."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

SAMPLE = Path(os.path.relpath(Path(__file__).parent / "sample" / "bz_news.json"))
PIT = "2024-02-15T16:00:00-05:00"
LATER = "2024-02-20T16:00:00-05:00"

NEXT = """
Try next, without a key:
  .venv/bin/pit_fetch archive sample sample.db
  .venv/bin/pit_fetch --source bz-news-api --pit 2024-02-16T09:00:00-05:00 --input-file {sample} --pretty
  .venv/bin/pit_fetch --list-sources
With a key:
  BENZINGA_API_KEY=... .venv/bin/pit_fetch --source bz-news-api --pit {pit} --tickers AAPL --limit 5
"""


SHOWN = ("title", "snippet", "end", "value", "form")
told: set[str] = set()


def run(*words: str, folder: str | None = None) -> bytes:
    """Shows a call, runs it in ``folder``, and returns what it prints."""
    print("$ pit_fetch " + shlex.join(words))
    command = [str(Path(sys.executable).parent / "pit_fetch"), *words]
    return subprocess.run(command, check=True, capture_output=True, cwd=folder).stdout


def pit_fetch(*words: str, folder: str | None = None) -> dict[str, Any]:
    """Shows a call and its answer, and returns its envelope. What a gap says is shown once."""
    envelope: dict[str, Any] = json.loads(run(*words, folder=folder))
    for item in envelope["data"]:
        values = [item["id"]] if "value" not in item else []
        values += [str(item[name]) for name in SHOWN if item.get(name)]
        print(f"  {item['available_at'] or 'undated':<26} {'  '.join(values)}")
    for gap in envelope["gaps"]:
        if gap["reason"] not in told:
            print(f"  gap: {gap['type']}: {gap['reason']}")
            told.add(gap["reason"])
    print()
    return envelope


def main() -> None:
    offline = ("--source", "bz-news-api", "--input-file", str(SAMPLE), "--fields", "title")
    print("Six sample articles, as the source serves them today:\n")
    today = pit_fetch(*offline)
    print(f"The same reply as of {PIT}, the close of 15 February 2024:\n")
    then = pit_fetch(*offline, "--pit", PIT)
    kept = {item["id"] for item in then["data"]}
    why = {
        "1006": "published the next morning",
        "1005": "published one second after the close",
        "1004": "published before the close, but rewritten after it: the original text is gone",
        "1001": "has no time of last revision: nothing shows that it said this then",
    }
    print("Withheld; you can see this because you have the whole reply (an agent is not told):\n")
    for item in today["data"]:
        if item["id"] not in kept:
            print(f"  {item['id']}  {why[item['id']]}")
    ask_an_archive()
    ask_of_saved_pages()
    print(NEXT.format(sample=SAMPLE, pit=PIT))


def ask_an_archive() -> None:
    """Answer from what was captured: what had Acme earned a share, by its filings, at the close and five days later?"""
    print("\nAcme's earnings per share as filed, from an archive: a later report adds 2023, and restates 2022:\n")
    question = ("concept=EarningsPerShareDiluted", "cik=9000001", "period=annual", "--date-from", "2022-01-01")
    with tempfile.TemporaryDirectory() as folder:
        run("archive", "sample", "sample.db", folder=folder)
        for pit in (PIT, LATER):
            words = ("--source", "sec_facts", *question, "--archive", "sample.db", "--offline", "--pit", pit)
            pit_fetch(*words, folder=folder)


def ask_of_saved_pages() -> None:
    """Answer from saved captures: what growth did Acme's page promise at the close?"""
    print("What a model extracted from two saved captures, as of the close: the lower outlook is of the day after:\n")
    pages = SAMPLE.with_name("pages")
    pit_fetch("normalize", "--pages", str(pages), "--input-file", str(pages / "items.json"), "--pit", PIT)


if __name__ == "__main__":
    main()
