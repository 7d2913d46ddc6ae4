"""What the gate costs: its process against one that only parses the same two JSON layers, and jq for reference.

Ratios of medians of runs that take turns, so that the machine's own speed drops out. Exits 1 above the limits.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

GATE = Path(__file__).resolve().parent.parent.parent / "hooks" / "pit_gate.py"
PARSE = "import json, sys\njson.loads(json.loads(sys.stdin.buffer.read())['tool_response']['stdout'])\nprint('{}')\n"
JQ = ".tool_response.stdout | fromjson | .data | length"
PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)
# items -> the most that the gate may take, in multiples of the parse
LIMITS = {50: 1.6, 10_000: 2.2}
RUNS = {50: 41, 10_000: 15}


def hook_input(count: int) -> bytes:
    """A hook input whose envelope holds ``count`` news items."""
    items = [
        {
            "available_at": (PIT - timedelta(minutes=number)).isoformat(),
            "available_at_source": "provider_metadata",
            "revised_at": (PIT - timedelta(minutes=number)).isoformat(),
            "id": str(30_000_000 + number),
            "title": f"Company {number} reports results of the quarter and raises its guidance",
            "teaser": "The company said that demand was strong in all regions. " * 3,
            "url": f"https://www.example.com/news/{number}",
            "symbols": ["AAPL", "MSFT"],
            "channels": ["News", "Earnings"],
        }
        for number in range(count)
    ]
    stdout = json.dumps({"data": items, "gaps": []})
    command = f"pit_fetch --source bz-news-api --pit {PIT.isoformat()}"
    response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
    return json.dumps({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response}).encode()


def medians(commands: Mapping[str, Sequence[str]], stdin: bytes, runs: int) -> dict[str, float]:
    """The median wall time of each command in seconds."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    env = {"PATH": os.environ["PATH"], "PIT_GATE_LOG": ""}
    for _ in range(runs):
        for name, command in commands.items():
            begun = time.perf_counter()
            subprocess.run(command, input=stdin, capture_output=True, env=env, check=True)
            times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(taken) for name, taken in times.items()}


def main() -> int:
    python = [sys._base_executable if hasattr(sys, "_base_executable") else sys.executable, "-I", "-S"]
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        parse = Path(folder, "parse.py")
        parse.write_text(PARSE)
        commands: dict[str, list[str]] = {"parse": [*python, str(parse)], "gate": [*python, str(GATE)]}
        if shutil.which("jq"):
            commands["jq"] = ["jq", JQ]
        for count, limit in LIMITS.items():
            taken = medians(commands, hook_input(count), RUNS[count])
            ratio = taken["gate"] / taken["parse"]
            missed = missed or ratio > limit
            shown = "  ".join(f"{name} {seconds * 1000:6.1f} ms" for name, seconds in taken.items())
            verdict = "" if ratio <= limit else "  TOO SLOW"
            sys.stdout.write(f"gate, {count:6,} items: {ratio:4.2f} of a parse (at most {limit})  {shown}{verdict}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
