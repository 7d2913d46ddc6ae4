"""The main job on bundled sample data: what a source said as of an instant. Needs no key and no network."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

SAMPLE = Path(os.path.relpath(Path(__file__).parent / "sample" / "bz_news.json"))
PIT = "2024-02-15T16:00:00-05:00"

NEXT = """
Try next, without a key:
  .venv/bin/pit_fetch --source bz-news-api --pit 2024-02-16T09:00:00-05:00 --input-file {sample} --pretty
  .venv/bin/pit_fetch --source bz-news-api --pit {pit} --input-file {sample} --themes oil
  .venv/bin/pit_fetch --list-sources
With a key:
  BENZINGA_API_KEY=... .venv/bin/pit_fetch --source bz-news-api --pit {pit} --tickers AAPL --limit 5
"""


def pit_fetch(*words: str) -> dict[str, Any]:
    """Shows a call, runs it, and returns its envelope."""
    print("$ pit_fetch " + shlex.join(words))
    command = [str(Path(sys.executable).parent / "pit_fetch"), *words]
    done = subprocess.run(command, check=True, capture_output=True)
    envelope: dict[str, Any] = json.loads(done.stdout)
    for item in envelope["data"]:
        shown = [str(item[name]) for name in ("title", "snippet", "digest") if item.get(name)]
        print(f"  {item['available_at'] or 'undated':<26} {'  '.join([item['id'], *shown])}")
    for gap in envelope["gaps"]:
        print(f"  gap: {gap['type']}: {gap['reason']}")
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
    ask_the_web_archive()
    print(NEXT.format(sample=SAMPLE, pit=PIT))


def ask_the_web_archive() -> None:
    """Answer from saved captures: what growth did Acme's page promise at the close, and had it changed by then?"""
    print("\nCaptures of Acme's page for investors, as of the close: two, alike, each public after five minutes:\n")
    index = ("--source", "wayback", "--input-file", str(SAMPLE.with_name("wayback_index.txt")))
    pit_fetch(*index, "captures", "url=www.acme.example/investors", "--pit", PIT, "--fields", "digest")
    print("What a model extracted from two saved captures, as of the close: the lower outlook is of the day after:\n")
    pages = SAMPLE.with_name("pages")
    pit_fetch("normalize", "--pages", str(pages), "--input-file", str(pages / "items.json"), "--pit", PIT)


if __name__ == "__main__":
    main()
