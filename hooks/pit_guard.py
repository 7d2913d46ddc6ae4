#!/usr/bin/env python3
"""The guard: before a Bash command runs, is it one that the gate can judge?

One file, standard library only, Python 3.9 and later; Claude Code runs it as a PreToolUse hook. The
gate (``pit_gate.py``, beside this file) judges what a tool printed, so a command whose output would
not reach the gate must not run: one that fails (the client does not call the PostToolUse hook for
it), one in the background, one that writes a file for a later command to read.

Where Bash is for pit_fetch alone (an adapter subagent, or PIT_FETCH_WRAPPER_ONLY=1), every command
must be exactly one plain pit_fetch call or listing, with only the options that an adapter needs.
Under PIT_FETCH_CEILING, in any session, a command that mentions pit_fetch must also be one plain
call, with a ``--pit`` at or before the ceiling: if a command is not plain, nobody can say which PIT
it has. All other commands are left alone. Neo4j writes are refused everywhere.

A permitted call with a PIT is rewritten to exit with 0 and without stderr, so that the gate sees
everything the model will see; the envelope's gaps also say why a call was refused.

It always exits 0: ``{}`` leaves the call alone. An absent or broken gate means deny.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections import namedtuple
from types import ModuleType

# The process starts on every command of an agent: typing alone would take longer than the rest (see pit_gate.py).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Collection, Mapping, NamedTuple

# The bundled agents; in a plugin they are called "plugin:name".
PERPLEXITY = tuple(f"perplexity-{name}" for name in ("search", "ask", "reason", "research", "sec"))
ADAPTERS = frozenset({"bz-news-api", "alphavantage", "sec_full_text", "fred", "earningscall", *PERPLEXITY})

# The options an adapter may choose: what it asks for, and how much of it. The rest decides how the question is
# asked (--timeout cuts where the clock says, --input-file reads a file), and is left to whoever runs the session.
# A test compares these names with the real parsers.
COMMON_OPTIONS = frozenset(
    {"source", "pit", "date-from", "date-to", "limit", "after", "max-pages", "fields", "max-chars", "pretty"}
)
SOURCE_OPTIONS = frozenset(
    {
        # bz-news-api
        "tickers", "channels", "tags", "keywords", "themes", "lookback-minutes", "updated-since",
        # alphavantage
        "op", "symbol", "topics", "interval", "month", "outputsize", "adjust", "extended-hours", "entitlement",
        "horizon", "from-symbol", "to-symbol", "from-currency", "to-currency", "market", "quarter", "date", "state",
        "contract", "expiration", "require-greeks", "bioguide-id", "maturity", "series-type", "symbols", "range",
        "ohlc", "window-size", "calculations", "time-period", "fastlimit", "slowlimit", "fastperiod", "slowperiod",
        "signalperiod", "fastmatype", "slowmatype", "signalmatype", "fastkperiod", "slowkperiod", "slowdperiod",
        "fastdperiod", "slowkmatype", "slowdmatype", "fastdmatype", "matype", "timeperiod1", "timeperiod2",
        "timeperiod3", "nbdevup", "nbdevdn", "acceleration", "maximum",
        # sec_full_text
        "query", "forms", "ciks", "entity", "exact",
        # fred
        "series-id",
        # earningscall (and op, symbol, quarter, date, above)
        "exchange", "year",
        # perplexity (and op, query, above)
        "max-results", "mode", "domains", "after-date", "recency",
    }
)  # fmt: skip

CEILING_VARIABLE = "PIT_FETCH_CEILING"
ONLY_VARIABLE = "PIT_FETCH_WRAPPER_ONLY"
OPTIONS_VARIABLE = "PIT_FETCH_ADAPTER_OPTIONS"  # more names that adapters may use: those of a plugin's sources
ALARM_SECONDS = 7  # less than the 10 s of the shipped wiring

FORM = "pit_fetch --source SOURCE --pit 2024-02-15T16:00:00-05:00 [options]"
NOT_PLAIN = (
    "Run exactly one plain pit_fetch call and nothing else: no VARIABLE=value before it, and none of "
    f"; & | > < $ ` \\ * ~ # outside quotes. {FORM}"
)
IN_BACKGROUND = "Run pit_fetch in the foreground: output of a background run cannot be checked"
GATE_BROKEN = "pit_gate.py beside this guard is missing or does not withhold a planted leak: run pit_fetch doctor"
CEILING_MALFORMED = (
    "PIT_FETCH_CEILING is not YYYY-MM-DDTHH:MM:SS with Z or an offset: whoever runs this session must correct it"
)
NOT_FOR_ADAPTERS = (
    "{} is not an option that adapters may use: leave it out, or ask whoever runs this session to allow it "
    f"in {OPTIONS_VARIABLE}"
)
NEO4J_WRITE = "Neo4j writes are forbidden"

# Appended to a permitted call. A command that fails never reaches the PostToolUse hook, and the client
# merges stderr into what the model sees (both measured on Claude Code 2.1.329, docs/enforcement.md).
ENDING = " 2>/dev/null || true"

_QUOTING = re.compile(r"[\"'\\]")
_PLANTED = "planted leak"


# What to do with a call: refuse it with a reason, run ``command`` instead, or (both empty) leave it alone.
if TYPE_CHECKING:

    class Verdict(NamedTuple):
        refusal: str = ""
        command: str = ""

else:
    Verdict = namedtuple("Verdict", "refusal command", defaults=("", ""))


ALONE = Verdict()


def decide(hook: Mapping[str, Any], environ: Mapping[str, str], gate: ModuleType | None = None) -> Verdict:
    """The verdict on one PreToolUse hook input. ``gate`` is one known to work; default: the one beside this file."""
    tool_name = str(hook.get("tool_name", ""))
    if tool_name.startswith("mcp__") and tool_name.endswith("__write_neo4j_cypher"):
        return Verdict(NEO4J_WRITE)
    if tool_name != "Bash":
        return ALONE
    tool_input = hook.get("tool_input")
    tool_input = tool_input if isinstance(tool_input, dict) else {}
    command = str(tool_input.get("command") or "")
    wrapper_only = is_wrapper_only(hook, environ)
    if not wrapper_only and (CEILING_VARIABLE not in environ or "pit_fetch" not in _QUOTING.sub("", command)):
        return ALONE
    gate = gate or load_gate(os.path.dirname(os.path.abspath(__file__)))
    if gate is None:
        return Verdict(GATE_BROKEN)
    if not wrapper_only and not gate.names_wrapper(command):
        return ALONE
    if tool_input.get("run_in_background"):
        return Verdict(IN_BACKGROUND)
    allowed = adapter_options(environ) if wrapper_only else None
    return _decide_call(command, str(hook.get("cwd") or os.getcwd()), environ.get(CEILING_VARIABLE), allowed, gate)


def is_wrapper_only(hook: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Whether Bash is for pit_fetch alone in the session or the subagent that makes this call."""
    if environ.get(ONLY_VARIABLE, "").strip().lower() not in ("", "0", "false", "no"):
        return True
    return str(hook.get("agent_type") or "").rpartition(":")[2] in ADAPTERS


def adapter_options(environ: Mapping[str, str]) -> frozenset[str]:
    """The names, without dashes, of the options that an adapter may use."""
    named = re.split(r"[,\s]+", environ.get(OPTIONS_VARIABLE, ""))
    return COMMON_OPTIONS | SOURCE_OPTIONS | {_option(name) for name in named if name}


def _option(name: str) -> str:
    return name.lstrip("-").lower().replace("_", "-")


def _decide_call(
    command: str, folder: str, ceiling: str | None, allowed: Collection[str] | None, gate: ModuleType
) -> Verdict:
    """The verdict on what must be a call; ``allowed`` holds an adapter's options, None elsewhere."""
    arguments = gate.wrapper_arguments(command)
    if arguments is None:
        return Verdict(NOT_PLAIN)
    prefix = gate.plain_words(command)[: -len(arguments) or None]
    if "-m" in prefix and _is_foreign(folder) and not any(set(flag) & {"I", "P"} for flag in prefix[1:-2]):
        return Verdict("Another pit_fetch in this folder would run instead: write pit_fetch, not -m pit_fetch")
    if gate.is_listing(command):
        return ALONE
    options = gate.options_of(arguments)
    refusal = _refuse_options(options) or _refuse_unknown(options, allowed) or _refuse_pit(options, ceiling, gate)
    if refusal:
        return Verdict(refusal)
    is_open = ceiling is None and not any(word.partition("=")[0] == "--pit" for word in options)
    return ALONE if is_open else Verdict(command=command.strip() + ENDING)


def _refuse_options(options: list[str]) -> str:
    if not options or options[0] == "init":
        return f"This is not a fetch: {FORM}"
    if "--fail" in options:
        return "Leave --fail out: the envelope's gaps say what failed"
    if "--verbose" in options or any(re.fullmatch(r"-[A-Za-z]+", word) for word in options):
        return "Leave -v out: only the envelope may be printed"
    return ""


def _refuse_unknown(options: list[str], allowed: Collection[str] | None) -> str:
    """Why an adapter may not use one of the words: an option (``--name`` or ``name=value``) it may not choose."""
    if allowed is None:
        return ""
    if re.fullmatch(r"[a-z][a-z-]*", options[0]):  # one of the commands of pit_fetch, today's or tomorrow's
        return f"Start the call with --source: {FORM}"
    for word in options:
        name, equals, _ = word.partition("=")
        if name.startswith("--"):
            if name[2:] not in allowed:
                return NOT_FOR_ADAPTERS.format(name[:40])
        elif name.startswith("-"):
            if not re.fullmatch(r"-|-\d*\.?\d+", word):
                return NOT_FOR_ADAPTERS.format(name[:40])
        elif equals and re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) and _option(name) not in allowed:
            return NOT_FOR_ADAPTERS.format(f"{name[:40]}=...") + "; write a value that contains = as --name=VALUE"
    return ""


def _refuse_pit(options: list[str], ceiling: str | None, gate: ModuleType) -> str:
    pits = [word[len("--pit=") :] for word in options if word.startswith("--pit=")]
    pits += ["".join(options[n + 1 : n + 2]) for n, word in enumerate(options) if word == "--pit"]
    if len(pits) > 1:
        return "Give --pit once"
    if ceiling is None:
        return ""
    latest = gate.parse_iso8601(ceiling)
    if latest is None:
        return CEILING_MALFORMED
    pit = gate.parse_iso8601(pits[0]) if pits else None
    if pit is None or pit > latest:
        return f"Every call needs a --pit at or before {ceiling}: {FORM}"
    return ""


def _is_foreign(folder: str) -> bool:
    """Whether ``python -m pit_fetch``, run in ``folder``, would run a copy there that is not ours.

    ``-m`` puts the working directory first on the path. Ours is beside this file (a wheel) or beside
    its folder (a checkout, a plugin).
    """
    home = os.path.dirname(os.path.realpath(__file__))
    ours = {os.path.join(place, "pit_fetch") for place in (home, os.path.dirname(home))}
    found = os.path.join(folder, "pit_fetch")
    if os.path.isdir(found):
        return os.path.realpath(found) not in ours
    return os.path.isfile(found + ".py")


def load_gate(folder: str) -> ModuleType | None:
    """The gate in ``folder``, by its file path and never the import path; None if it does not do its job."""
    gate = ModuleType("pit_gate")
    gate.__file__ = os.path.join(folder, "pit_gate.py")
    stdout, sys.stdout = sys.stdout, io.StringIO()  # a broken gate that prints must not corrupt our answer
    try:
        with open(gate.__file__, "rb") as source:
            exec(compile(source.read(), gate.__file__, "exec"), gate.__dict__)  # noqa: S102 - the file beside this one
        return gate if withholds(gate.respond(planted_leak())) else None
    except BaseException:  # noqa: BLE001 - whatever is wrong with it (even sys.exit), it does not guard
        return None
    finally:
        sys.stdout = stdout


def planted_leak() -> dict[str, Any]:
    """A PostToolUse hook input whose output holds an item from the day after the PIT."""
    item = {"available_at": "2024-01-02T00:00:00Z", "available_at_source": "provider_metadata", "title": _PLANTED}
    return {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pit_fetch --source x --pit 2024-01-01T00:00:00Z"},
        "tool_response": {"stdout": json.dumps({"data": [item], "gaps": []}), "stderr": "", "interrupted": False},
    }


def withholds(answer: Any) -> bool:
    """Whether a gate's answer to the planted leak blocks it and replaces it with something else."""
    replacement = answer["hookSpecificOutput"]["updatedToolOutput"]
    complete = {"stdout", "stderr", "interrupted"} <= replacement.keys()
    return answer["decision"] == "block" and complete and _PLANTED not in json.dumps(answer)


def answer_to(verdict: Verdict, tool_input: Any) -> dict[str, Any]:
    """The hook's answer to a verdict."""
    if verdict.refusal:
        return deny(verdict.refusal)
    if not verdict.command:
        return {}
    # No permissionDecision: the user's own rules still decide whether the call may run at all.
    rewritten = {**tool_input, "command": verdict.command}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": rewritten}}


def deny(reason: str) -> dict[str, Any]:
    return {
        "decision": "block",
        "reason": reason,
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    }


def respond(hook: Any, environ: Mapping[str, str], gate: ModuleType | None = None) -> dict[str, Any]:
    """The answer to one PreToolUse hook input: ``{}`` leaves the call alone. It does not raise."""
    try:
        return answer_to(decide(hook, environ, gate), hook.get("tool_input"))
    except Exception as error:  # noqa: BLE001 - what cannot be examined does not run
        return deny(f"Internal guard error: {type(error).__name__}")


# The process.


def _respond_to(raw: bytes) -> dict[str, Any]:
    try:
        hook = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return deny("Hook input is not valid JSON")
    return respond(hook, os.environ)


def _arm(seconds: int, last_words: str) -> None:
    """Ends the process with exit 0 after ``seconds``, having written ``last_words``. 0 disarms."""
    try:  # as in pit_gate.py
        import _signal as signal  # type: ignore[import-not-found]
    except ImportError:
        import signal

    def ring(signum: int, frame: object) -> None:
        os.write(1, last_words.encode("ascii"))
        os._exit(0)

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, ring)
        signal.alarm(seconds)


def main() -> int:
    _arm(ALARM_SECONDS, json.dumps(deny("The guard ran out of time")) + "\n")
    answer = _respond_to(sys.stdin.buffer.read())
    _arm(0, "")
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
