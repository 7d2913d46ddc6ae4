"""A back-test to copy: a model at 24 instants, what it was shown, its scores, and whether all of it can be had again.

    python examples/backtest/backtest.py FOLDER

It makes the sample archive of an invented company in FOLDER, and asks no source. Put your model in the place of
``scripted_model``, your archive in the place of the sample, and leave out ``offline`` where sources may be asked.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pit_fetch

MONTHS = [(2023, month) for month in range(3, 13)] + [(2024, 1), (2024, 2)]
PIT_FETCH = (sys.executable, "-m", "pit_fetch")
INSTANTS = [f"{year}-{month:02}-{day}T16:00:00[America/New_York]" for year, month in MONTHS for day in ("01", "15")]
AFTERWARDS = "2024-02-20T16:00:00[America/New_York]"
EARNINGS = {"concept": ["EarningsPerShareDiluted"], "cik": "9000001", "period": "annual", "fields": ["end", "value"]}


async def scripted_model(tools: dict[str, Any]) -> tuple[str, float]:
    """Return a fiscal year and its expected earnings a share: last year's growth goes on."""
    answer = json.loads(await tools["sec_facts"].call(**EARNINGS))
    rows = [answer["shared"] | dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]
    last, before = rows[0], rows[1]
    return str(int(last["end"][:4]) + 1), last["value"] ** 2 / before["value"]


async def expectation(pit: str, archive: Path, record: Path) -> tuple[str, float]:
    names = {"run": "growth", "step": pit[:10], "agent": "scripted"}
    async with pit_fetch.as_of(pit, archive=archive, offline=True, record=record, **names) as then:
        return await scripted_model({tool.name: tool for tool in then.tools(["sec_facts"])})


async def expectations(archive: Path, record: Path) -> list[tuple[str, float]]:
    return await asyncio.gather(*(expectation(pit, archive, record) for pit in INSTANTS))


def main(folder: Path) -> int:
    archive, record = folder / "sample.db", folder / "runs.db"
    subprocess.run([*PIT_FETCH, "archive", "sample", str(archive)], check=True, stdout=subprocess.DEVNULL)
    expected = asyncio.run(expectations(archive, record))
    known = pit_fetch.fetch("sec_facts", AFTERWARDS, archive=archive, offline=True, options=EARNINGS)
    actual = {item["end"][:4]: item["value"] for item in known.data}
    errors = [value / actual[year] - 1 for year, value in expected]
    for pit, (year, value), error in zip(INSTANTS, expected, errors, strict=True):
        print(f"{pit[:10]}  {year}: {value:.2f} expected, {error:+.0%}")
    print(f"mean error: {sum(map(abs, errors)) / len(errors):.1%}")
    words = ("runs", "verify", "growth", "--record", str(record), "--archive", str(archive))
    return subprocess.run([*PIT_FETCH, *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
