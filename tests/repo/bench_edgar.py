"""A company's fundamentals: what a statement takes over a fetch of fifty articles, and what the largest reply takes.

The company has the size of the largest that is recorded: seventeen years, 500 concepts, 3.5 MB. A statement of an
archive is held against articles of a file, and one of the network against articles of the network, since the client
takes as long to import as either. The filings' own files never change: they are in the cache from the first run on.

Milliseconds say little on another machine, or in a slower hour of this one. They are therefore given at the pace at
which a fetch of the articles from a file takes 42 ms.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[2]))

from pit_fetch_providers.sec_facts.lines import LINES

from tests.providers.bz_news_api import server as benzinga
from tests.providers.sec_facts import server
from tests.providers.sec_facts.server import Reported
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.server import Filing
from tests.repo.bench import articles
from tests.serving import serve

RUNS = 21
DAY = timedelta(days=1)
PIT = "2025-06-30T16:00:00-04:00"
FIRST, LAST, CONCEPTS = 2008, 2025, 500
# Milliseconds of CPU, as the limits are.
OF_FILE = 42
# Each figure of twelve months is a sum of three periods. Of the network, reading 3.8 MB of JSON by rows takes most.
OF_ARCHIVE, OF_NETWORK = {"annual": 60, "quarter": 60, "ttm": 75}, 180


class Spent(NamedTuple):
    """What a process took: seconds of CPU, seconds by the clock, and megabytes at its peak."""

    cpu: float
    wall: float
    memory: float


def facts() -> list[Reported]:
    """Return what a company reports in seventeen years: each quarter beside that of the year before.

    An amount is the sum of its days, so that quarters make up years.
    """
    names = [concept.partition(":")[2] for lines in LINES.values() for line in lines for concept in line.concepts[:1]]
    named = [*dict.fromkeys(names), *(f"Note{number}OfTheStatementsDisclosedInDetail" for number in range(CONCEPTS))]
    flows = {line.concepts[0].partition(":")[2] for name in ("income", "cashflow") for line in LINES[name]}
    found: list[Reported] = []
    for report in _reports():
        # Notes are in annual reports alone.
        for place, concept in enumerate(named[: CONCEPTS if report.filing.form == "10-K" else len({*names})]):
            amount = 1_000_000 * (place + 1)
            if concept in flows or place % 3 == 0:
                spans = report.spans if concept in flows else report.spans[:2]
                found += (
                    Reported(report.filing, concept, f"{end}", amount * (end - start + DAY).days, f"{start}")
                    for start, end in spans
                )
            else:
                found += (Reported(report.filing, concept, f"{end}", amount + end.toordinal()) for end in report.ends)
    return found


class _Report(NamedTuple):
    """A report, the days for which it has a balance, and the spans for which it has flows."""

    filing: Filing
    ends: Sequence[date]
    spans: Sequence[tuple[date, date]]


def _reports() -> Iterator[_Report]:
    for year in range(FIRST, LAST):
        for quarter in range(1, 5):
            years = (year, year - 1, year - 2) if quarter == 4 else (year, year - 1)
            spans = [(date(each, 1, 1), _quarter_end(each, quarter)) for each in years]
            if quarter > 1:
                spans += [(_quarter_start(end), end) for _, end in spans]
            end = spans[0][1]
            filed = end + timedelta(days=30 + 4 - (end + timedelta(days=30)).weekday())
            filing = Filing(sec.number(10 * year + quarter), "10-K" if quarter == 4 else "10-Q", f"{filed} 12:00:00")
            yield _Report(filing, (end, date(year - 1, 12, 31)), spans)


def _quarter_end(year: int, quarter: int) -> date:
    return date(year + quarter // 4, quarter * 3 % 12 + 1, 1) - timedelta(days=1)


def _quarter_start(end: date) -> date:
    return end.replace(month=end.month - 2, day=1)


def spent(command: Sequence[str], env: Mapping[str, str]) -> Spent:
    """Run a command to its end."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0, command
    return Spent(usage.ru_utime + usage.ru_stime, time.perf_counter() - begun, usage.ru_maxrss / 1024)


def more_than(base: Sequence[str], command: Sequence[str], of_file: Sequence[str], env: Mapping[str, str]) -> float:
    """Return how many milliseconds of CPU a command takes more than ``base``, where ``of_file`` takes OF_FILE.

    It is the least of each, by turns.
    """
    spent(command, env)
    rounds = [[spent(each, env).cpu for each in (command, base, of_file)] for _ in range(RUNS)]
    ours, theirs, pace = (float(min(times)) for times in zip(*rounds, strict=True))
    return OF_FILE * (ours - theirs) / pace


def judged(name: str, value: float, unit: str, at_most: float) -> bool:
    """Print a row, and return whether its value is within its limit."""
    is_good = value <= at_most
    print(f"{name:<34} {value:7.1f} {unit}  (at most {at_most} {unit}{'' if is_good else ': EXCEEDED'})")
    return is_good


def main() -> int:
    program = str(Path(sys.executable).parent / "pit_fetch")
    reported, news = facts(), articles(50)
    with tempfile.TemporaryDirectory() as folder, serve(server.app(reported)) as edgar, serve(benzinga.app(news)) as bz:
        saved = Path(folder) / "reply.json"
        saved.write_text(json.dumps(news))
        env = {"PATH": os.environ["PATH"], "HOME": folder, **server.VARIABLES, "PIT_FETCH_RATE_127_0_0_1": "10000/1"}
        env |= {f"PIT_FETCH_SEC_{host}_URL": edgar.url for host in ("DATA", "WWW", "EFTS")}
        env |= {"PIT_FETCH_BENZINGA_URL": bz.url, "BENZINGA_API_KEY": benzinga.TOKEN}
        of_network = [program, "--source", "bz-news-api", "--pit", PIT]
        of_file = [*of_network, "--input-file", str(saved)]
        asked = [program, "--source", "sec_facts", "--pit", PIT, "cik=320193", "--max-chars", "0"]
        archive = ["--archive", f"{folder}/facts.db"]
        spent([*asked, "statement", *archive], env)
        spent([program, "archive", "rebuild", *archive], env)
        pace = 1000 * min(spent(of_file, env).cpu for _ in range(RUNS))
        print(f"a fetch from a file takes {pace:.1f} ms here; given at the pace of {OF_FILE} ms:")
        rows = []
        for period, at_most in OF_ARCHIVE.items():
            statement = [*asked, "statement", f"period={period}"]
            offline, live = [*statement, *archive, "--offline"], statement
            rows.append(judged(f"{period}, of an archive", more_than(of_file, offline, of_file, env), "ms", at_most))
            rows.append(
                judged(f"{period}, of the network", more_than(of_network, live, of_file, env), "ms", OF_NETWORK)
            )
        reads = [spent([*asked, "concepts", "--limit", "1000"], env) for _ in range(5)]
        megabytes = len(json.dumps(server.document(reported))) / 1e6
        print(f"the concepts of a reply of {megabytes:.1f} MB, {len(reported):,} facts")
        rows += [
            judged("by the clock", statistics.median(read.wall for read in reads), "s", 1),
            judged("memory at its peak", max(read.memory for read in reads), "MB", 200),
        ]
    return 0 if all(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
