"""What the hooks cost: the gate against a process that only parses the same two JSON layers (and jq, for reference),
guard and gate together, as on each call of Bash, against an interpreter that does nothing.

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
GUARD = GATE.with_name("pit_guard.py")
PARSE = "import json, sys\njson.loads(json.loads(sys.stdin.buffer.read())['tool_response']['stdout'])\nprint('{}')\n"
JQ = ".tool_response.stdout | fromjson | .data | length"
PIT = datetime(2024, 2, 15, 21, tzinfo=UTC)
# items -> the most that the gate may take, in multiples of the parse
LIMITS = {50: 2.0, 10_000: 2.2}
RUNS = {50: 41, 10_000: 15}
# The most that guard and gate may take together, in multiples of a bare interpreter (70 ms where that takes 9: 7.8).
CALL_LIMIT, CALL_RUNS = 10, 41


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


def one_call(python: Sequence[str], folder: Path) -> tuple[float, float]:
    """The median times, in seconds, of a bare interpreter and of both hooks of one call."""
    env = {"PATH": os.environ["PATH"], "PIT_GATE_LOG": "", "PIT_FETCH_CEILING": PIT.isoformat(), "TMPDIR": str(folder)}
    envelope = json.loads(hook_input(50))["tool_response"]["stdout"]
    call = f"pit_fetch --source bz-news-api --pit {PIT.isoformat()} --tickers AAPL"
    hook = {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": call}, "cwd": "/nowhere"}
    bare, both = [], []
    for _ in range(CALL_RUNS):
        begun = time.perf_counter()
        subprocess.run([*python, "-c", "pass"], input=b"", capture_output=True, env=env, check=True)
        bare.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        tool_input = _hook([*python, str(GUARD)], hook, env)["updatedInput"]
        guarded = time.perf_counter() - begun
        Path(tool_input["command"].partition(" --release ")[2].partition(" ")[0]).write_text(envelope)
        response = {"stdout": "PIT_NOT_RELEASED: the gate did not run", "stderr": "", "interrupted": False}
        begun = time.perf_counter()
        shown = _hook([*python, str(GATE)], {**hook, "tool_input": tool_input, "tool_response": response}, env)
        both.append(guarded + time.perf_counter() - begun)
        assert shown["updatedToolOutput"]["stdout"] == envelope
    return statistics.median(bare), statistics.median(both)


def _hook(command: Sequence[str], stdin: Mapping[str, object], env: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the part of a hook's answer that is for its event."""
    done = subprocess.run(command, input=json.dumps(stdin).encode(), capture_output=True, env=env, check=True)
    answer: dict[str, dict[str, str]] = json.loads(done.stdout)["hookSpecificOutput"]
    return answer


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
        bare, both = one_call(python, Path(folder))
        missed = missed or both / bare > CALL_LIMIT
        verdict = "" if both / bare <= CALL_LIMIT else "  TOO SLOW"
        shown = f"bare {bare * 1000:6.1f} ms  both {both * 1000:6.1f} ms{verdict}"
        sys.stdout.write(f"guard and gate: {both / bare:4.2f} of a bare interpreter (at most {CALL_LIMIT})  {shown}\n")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
