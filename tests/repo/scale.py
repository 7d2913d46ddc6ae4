"""Measures what docs/scale.md says, on this machine: python -m tests.repo.scale [--symbols N] [--instants N].

The earnings of made-up companies are captured from a server on loopback, asked as a panel, exported, and asked there.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.panel import Panel
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest
from tests.providers.alphavantage import server as alphavantage
from tests.serving import serve

QUARTERS = 108
SAMPLE = 200
# Of docs/scale.md; {folder} and {pits} are filled in.
ALL = """
SELECT pit, stream ->> 'symbol' AS symbol, versions.* EXCLUDE (stream)
FROM read_parquet('{folder}/alphavantage/DIVIDENDS/*.parquet') AS versions
JOIN read_csv('{pits}', columns = {{'pit': 'TIMESTAMPTZ'}}) AS pits
ON valid_from <= pit AND (valid_to IS NULL OR valid_to > pit)
"""
NEWEST = """
SELECT pit, stream ->> 'symbol' AS symbol, arg_max_null(amount, ex_dividend_date) AS amount
FROM read_parquet('{folder}/alphavantage/DIVIDENDS/*.parquet') AS versions
JOIN read_csv('{pits}', columns = {{'pit': 'TIMESTAMPTZ'}}) AS pits
ON valid_from <= pit AND (valid_to IS NULL OR valid_to > pit)
GROUP BY ALL
"""
# What knows the release of a row alone, and takes the last: of the same export, as other tools do it.
LAST_RELEASED = """
SELECT pit, symbol, amount
FROM (SELECT DISTINCT stream ->> 'symbol' AS symbol FROM read_parquet('{folder}/alphavantage/DIVIDENDS/*.parquet'))
CROSS JOIN read_csv('{pits}', columns = {{'pit': 'TIMESTAMPTZ'}})
ASOF JOIN (
    SELECT stream ->> 'symbol' AS symbol, * FROM read_parquet('{folder}/alphavantage/DIVIDENDS/*.parquet')
) AS versions USING (symbol) WHERE pit >= valid_from
"""
MERGE_ASOF = """
import json, pandas
rows = pandas.read_parquet("versions/alphavantage/DIVIDENDS").sort_values("valid_from")
rows["symbol"] = [json.loads(text)["symbol"] for text in rows["stream"]]
pits = pandas.to_datetime(open("pits.txt").read().split(), utc=True).as_unit("us")
asked = pandas.DataFrame({"pit": pits}).merge(pandas.DataFrame({"symbol": rows["symbol"].unique()}), how="cross")
rows["valid_from"] = pandas.to_datetime(rows["valid_from"], utc=True).astype("datetime64[us, UTC]")
found = pandas.merge_asof(asked.sort_values("pit"), rows, left_on="pit", right_on="valid_from", by="symbol")
found.to_parquet("merged.parquet")
"""


class Cost(NamedTuple):
    """What a process took: seconds, those of the processors, and bytes of memory at the most."""

    seconds: float
    cpu: float
    memory: int


class Scene(NamedTuple):
    """A folder with the archive of so many companies, and the instants to ask about."""

    folder: Path
    environ: Mapping[str, str]
    symbols: Sequence[str]
    pits: Sequence[datetime]

    def run(self, words: Sequence[str]) -> Cost:
        """Run a Python program in the folder, and return what it took."""
        began = perf_counter()
        with subprocess.Popen([sys.executable, *words], cwd=self.folder, env=self.environ, **_SILENT) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode in (0, 1), words  # 1: a limit has cut cells
        return Cost(perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)

    def command(self, *words: str) -> Cost:
        return self.run(["-m", "pit_fetch", *words, "--archive", "a.db"])

    def panel(self, symbols: Sequence[str], *words: str) -> Cost:
        """Ask a panel of some of the companies, all instants."""
        (self.folder / "symbols.txt").write_text("\n".join(symbols))
        question = ("--source", "alphavantage", "DIVIDENDS", "--over", "symbol=@symbols.txt", "--pits", "@pits.txt")
        return self.command("panel", *question, "--offline", "--again", *words)

    def query(self, text: str, target: str) -> Cost:
        """Write what a query finds into a Parquet file, on one thread and within 400 MB of DuckDB's own."""
        filled = text.format(folder="versions", pits="pits.txt")
        settings = "SET threads = 1; SET memory_limit = '400MB'; SET preserve_insertion_order = false"
        statements = (settings, f"COPY ({filled}) TO '{target}'")
        return self.run(["-c", f"import duckdb\nfor text in {statements!r}: duckdb.sql(text)"])


_SILENT: Mapping[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def scene(folder: Path, symbols: int, instants: int) -> tuple[Scene, Cost]:
    """Capture the companies, and choose days near month-ends up to June 2026. Return what the capture took as well."""
    names = [f"T{number}" for number in range(symbols)]
    months = (divmod(2026 * 12 + 5 - back, 12) for back in range(instants))
    pits = sorted(datetime.fromisoformat(f"{year}-{month + 1:02}-28T20:00:00+00:00") for year, month in months)
    (folder / "pits.txt").write_text("".join(f"{pit.isoformat()}\n" for pit in pits))
    (folder / "every.txt").write_text("\n".join(names))
    (folder / "list.toml").write_text(_LIST)
    with serve(_answer) as server:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "ALPHAVANTAGE_API_KEY": alphavantage.KEY,
            "PIT_FETCH_ALPHAVANTAGE_URL": server.url,
            "PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "10000/1",
        }
        made = Scene(folder, environ, names, pits)
        return made, made.command("capture", "list.toml")


_LIST = """
[[request]]
source = "alphavantage"
op = "DIVIDENDS"
over.symbol = "@every.txt"
"""


def _answer(request: HttpRequest) -> Response:
    symbol = request.query["symbol"]
    return Response(json.dumps({"symbol": symbol, "data": [*_rows(Random(symbol))]}).encode())


def _rows(rng: Random) -> Iterator[Mapping[str, str]]:
    for quarter in range(QUARTERS):
        year, ends = 2026 - (quarter + 2) // 4, (3, 12, 9, 6)[quarter % 4]
        end = date(year, ends, 31 if ends in (3, 12) else 30)
        actual, expected = rng.uniform(0, 9), rng.uniform(0, 9)
        yield {
            "ex_dividend_date": end.isoformat(),
            "declaration_date": (end + timedelta(days=rng.randint(15, 45))).isoformat(),
            "amount": f"{actual:.2f}",
            "estimatedEPS": f"{expected:.2f}",
            "surprise": f"{actual - expected:.2f}",
            "surprisePercentage": f"{100 * (actual - expected) / expected:.4f}",
            "reportTime": rng.choice(("pre-market", "post-market")),
        }


def differing(of: Scene, cells: int) -> int:
    """Return how many of so many cells, chosen by chance, the panel and the query answer differently."""
    import duckdb

    rng = Random(0)
    chosen = {(rng.choice(of.symbols), rng.choice(of.pits)) for _ in range(cells)}
    asked = "SELECT symbol, epoch(pit), item FROM read_parquet($file) WHERE symbol IN (SELECT unnest($symbols))"
    symbols = sorted({symbol for symbol, _ in chosen})
    parameters = {"file": str(of.folder / "all.parquet"), "symbols": symbols}
    answers: dict[Any, list[Any]] = {}
    for symbol, seconds, item in duckdb.connect().execute(asked, parameters).fetchall():
        answers.setdefault((symbol, seconds), []).append(json.loads(item))
    wrong = 0
    runtime = real_runtime()._replace(environ=of.environ, folder=str(of.folder))
    options = {"op": "DIVIDENDS", "archive": "a.db", "offline": True}
    for symbol, pit in chosen:
        (cell,) = Panel(grid_of("alphavantage", [pit], {"symbol": [symbol]}, options, runtime))
        wrong += sorted(cell.envelope.data, key=_id) != sorted(answers.get((symbol, pit.timestamp()), []), key=_id)
    return wrong


def _id(item: Mapping[str, Any]) -> str:
    return str(item["id"])


def main(words: Sequence[str] = ()) -> int:
    """Print what everything took. Return 1 if a cell differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--symbols", type=int, default=1000)
    parser.add_argument("--instants", type=int, default=250)
    options = parser.parse_args(words or None)
    with tempfile.TemporaryDirectory() as name:
        folder, few = Path(name), max(options.symbols // 10, 1)
        made, capture = scene(folder, options.symbols, options.instants)
        _show("capture", options.symbols, "requests", capture)
        size, versions = (folder / "a.db").stat().st_size, options.symbols * QUARTERS
        print(f"the archive: {size / 1e6:.1f} MB, {size / versions:.0f} bytes a version")
        every = options.symbols * options.instants
        newest = made.panel(made.symbols, "--newest", "4", "--output", "panel.parquet")
        _show("panel, the 4 newest", every, "cells", newest)
        _show("panel, all items", every, "cells", made.panel(made.symbols, "--output", "panel.parquet"))
        _show("panel, all items, as CSV", every // 10, "cells", made.panel(made.symbols[:few], "--output", "panel.csv"))
        _show("export", versions, "versions", made.command("archive", "export", "versions"))
        exported = sum(path.stat().st_size for path in folder.glob("versions/*/*/*.parquet"))
        print(f"the export: {exported / 1e6:.1f} MB, {exported / versions:.0f} bytes a version")
        _show("query, the newest figure", every, "cells", made.query(NEWEST, "newest.parquet"))
        _show("query, all items", every, "cells", made.query(ALL, "all.parquet"))
        _show("DuckDB's ASOF JOIN", every, "cells", made.query(LAST_RELEASED, "last.parquet"))
        _show("pandas' merge_asof", every, "cells", made.run(["-c", MERGE_ASOF]))
        wrong = differing(made, SAMPLE)
        print(f"of {SAMPLE} cells of panel and query, {wrong} differ")
    return 1 if wrong else 0


def _show(name: str, count: int, unit: str, cost: Cost) -> None:
    rate = count / cost.seconds
    print(
        f"{name:<36} {count:9,} {unit:<8} {cost.seconds:7.1f} s, of the processor {cost.cpu:7.1f} s, {rate:9,.0f} a "
        f"second, {cost.memory / 1e6:5.0f} MB",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
