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
it has. All other commands are left alone.

The tools of Neo4j's MCP server: writes are refused everywhere. With a PIT or under a ceiling, only
the patterns of the query skills are read; without, whatever neither writes nor reaches outside.

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
ADAPTERS = frozenset({"bz-news-api", "alphavantage", "sec_full_text"})

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
    if tool_name.startswith("mcp__") and tool_name.endswith(NEO4J_TOOLS):
        return _decide_neo4j(tool_name, hook.get("tool_input"), environ, gate)
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


# Neo4j: what the MCP server's tools may be asked.

# The server's namespace option puts a prefix before these names.
NEO4J_READ, NEO4J_WRITE, NEO4J_SCHEMA = NEO4J_TOOLS = ("read_neo4j_cypher", "write_neo4j_cypher", "get_neo4j_schema")
OWN_PATTERNS = "cypher"  # the operator's own patterns, beside this file: one whole query in each *.cypher file

WRITES_FORBIDDEN = "Neo4j writes are forbidden"
SCHEMA_IS_TODAYS = "get_neo4j_schema counts what is there today: under a ceiling, see the neo4j-schema skill"
NO_QUERY = "query is not a text: give one Cypher query"
NOT_A_PATTERN = "With a PIT, run a pattern of the query skills exactly as it is printed: only its parameters are yours"
ONLY_PARAMS = "With a PIT, give query and params and nothing else, params as an object"
NO_PIT = "params.pit is missing: params: {pit: '2024-02-15T16:00:00-05:00', ...}"
ONE_PIT = "Name the PIT once, as params.pit"
PIT_MALFORMED = "params.pit is not YYYY-MM-DDTHH:MM:SS with Z or an offset"

# SHA-256 of every pattern that ships, as pattern_lines reads it; python -m tests.repo.seal writes this table. A digest
# and not the files: a skill that somebody changed is no pattern, wherever the hooks were copied, and nothing is read.
SHIPPED_PATTERNS = frozenset(
    {
        "9b91ba68ac798454b6c06c0ddce4b99808967374cce441220d845867deb56689",  # neo4j-vector-search
        "a52f2a68b1f17f64ca85c16f9c964f15529f6e6365f2eaafa7ea1e8bb49df6e3",  # neo4j-vector-search
        "519d9c1337555631a2302d0c6a2b0b81bb413b6b3debf7ff6cfbfab38ac415d8",  # neo4j-vector-search
        "a1cd83cc1af0cb4dfd0575f1f919e229e98aaa243f3ed2986934701543ee1382",  # neo4j-vector-search
        "78aeeaf960c36def15653883f3ab7dc3fbaaea512e800048865082a07e0c6795",  # entity-queries
        "03fb665d4951255294ddb70a16775d8d241d1fb78da59358f60159d49b7d607d",  # entity-queries
        "65de87faa85c43d5414df079a64bdc7ce9941ab4d0a0f774194a1f83c64f9938",  # entity-queries
        "70bbcb0e6fc16b6ecdc5eb0bca8ca3ca926abc69393f99dfd94acae6b78b8fd8",  # entity-queries
        "299e7a54a6c50504ea1f01aa4e5eaa22e668b5d0cbda6fac00f925dbec4f3547",  # entity-queries
        "e3ec2a4363d788bd16ce75d994cd803e06cf54f02ea11300987da38702dcfaee",  # entity-queries
        "6084c2b3e01aa68e24325d570651e5f396442965df48d8728fdb259b705f4631",  # news-queries
        "3762a76ca37cf1aa549d2b5608cf20d25a74124386978fdfa5a1be64807dec3c",  # news-queries
        "95bb7bcdc235608172f66f35452b0528c0556960293bf4b38dccea837516ff66",  # news-queries
        "74d3ab9bf934342c3d40fc99085e547c97b7d7cd0af5316d61d639d779f3206c",  # news-queries
        "e193f502ddb2d1e5d65910ee8725ef3967d5b97704ac8a19aae57c0a88c0fcc2",  # news-queries
        "6072be933691c1f42d74a9e25c86a71dff4e6b6ed06f397a33383c1f88265886",  # news-queries
        "81000328b669f7becc896b8bffc6457feef7d40ce32a327b826fc6ed4f05c18e",  # report-queries
        "daf71e2eaf988e1cadd138a5f3746d44b40328011ca2b9e245ced9a1aef05865",  # report-queries
        "e6757175573dfa4a9d8b4ca322ed06a5a57882ac6f9efeaddbfdfc96c1738246",  # report-queries
        "64c47d3f6da201c792d071e48732daad27c905888ddb2eed4ef0c1d16da983e9",  # report-queries
        "6bca079a744f78a38c5e351ed5c895d578b38d55933cdcd1f14cdd8b8e67161d",  # report-queries
        "49b581f06d3faa86ede6133b41c3eae68b552cf98d73bc54ccadcac1b8355d06",  # report-queries
        "16756a8d7301c836aaed352d72718b0e032674a1c4f0e3edd752d186ceb82e16",  # report-queries
        "fd10040288a98bd2225e1b88f9d8e02aa3656caf4700e54d9b3a22739cbab9db",  # report-queries
        "609f007316c8856cc86271827642025f2f3d1162e1900774b8020d1b3936d26e",  # report-queries
        "2dc877963e078ab8ff064c9ce54e619158ef0fbb9ed5e2b1382a37906169d646",  # report-queries
        "50134661784598cddcb45f840fcd668a15155f7c2087ead1447462742005b834",  # report-queries
        "a034a586330427eee90af2f7762f78813230c1f5148cb68a5febe16884534911",  # report-queries
        "61142dbad3bdb5425ee29e9a4a5da94e29cc35049a36f1ff9a40092fe592401b",  # report-queries
        "4c5d199caa072c4a9fc2dc11533ca6abe88b183f4c3ccb5993ec8fca829d47b5",  # report-queries
        "c9dc99fd3b6244faac065a16de77b3946c3be46e3e0089854b3a37611c0015bf",  # transcript-queries
        "1264b5ddc69b1af466ba3d544304977ebd84da154d714d52fccfc3a867d24dde",  # transcript-queries
        "6486647bf13f15d600f24bc1fe6c28c3911da1fb795c0d328c972c45162103f4",  # transcript-queries
        "047b0ea48e19360c51a3da1e0c354db029577e13355bf3afbe2ee566ee07be0b",  # transcript-queries
        "9cb020437d8dcdd1c49bd473ef6440e5d7d51db97bbca0d8f8ceace919078b48",  # transcript-queries
        "0c2efd78654a1cad2c4409f224020f7bae0d73d0ee24501320eec9c5a9ded340",  # transcript-queries
        "360309ea7478ba073d93ecd3af5455a7fdccf54e97deb4a014ed3c2d4c3171dc",  # transcript-queries
        "f2355c33455c63f9a85c37373e09597dfc5ca3aeac4dee701ff3e1918800bd51",  # transcript-queries
        "efcd7f5d5ace4f496f65ee4553c1ffe6c772a8842bc80dd267aa11f8b57a21e5",  # transcript-queries
        "b542078cd0fe3a72f25d9057ed5eacf22f39bcbbbbf438e567ecfb6789bab2c4",  # transcript-queries
        "08274324438791b87cddabb7d5a988a1623902d40ed9a0c0d4ab72474c2ca74a",  # xbrl-queries
        "834477dca561ff72d36d2eb3fdb4a4e6313a7511c90a1afea31f5cce3ce6dff6",  # xbrl-queries
        "7b00eacbe0f79391d6371ad1e58a0215eb465761b369e52e5265b6aa8d18f269",  # xbrl-queries
        "2431af14a17e2c573f34321c99f86222a79a28bf46be5d8abf6b642f99db12e3",  # xbrl-queries
        "3503f76470ce973e8046cb61b38331822546fe181cef71e70cf49bbbe993991e",  # xbrl-queries
        "3528a3a4c14e2e7d399bcb788df43325651ee22b0c4ee6f2d4ad52eab4dba08e",  # xbrl-queries
    }
)


def _decide_neo4j(
    tool_name: str, tool_input: Any, environ: Mapping[str, str], gate: ModuleType | None = None
) -> Verdict:
    if tool_name.endswith(NEO4J_WRITE):
        return Verdict(WRITES_FORBIDDEN)
    ceiling = environ.get(CEILING_VARIABLE)
    if tool_name.endswith(NEO4J_SCHEMA):
        return ALONE if ceiling is None else Verdict(SCHEMA_IS_TODAYS)
    folder = os.path.dirname(os.path.abspath(__file__))
    gate = gate or load_gate(folder)
    if gate is None:
        return Verdict(GATE_BROKEN)
    given = tool_input if isinstance(tool_input, dict) else {"query": None}
    if not given and ceiling is None:
        return ALONE  # the server asks for the query
    query = given.get("query")
    if not isinstance(query, str):
        return Verdict(NO_QUERY)
    try:
        pits = gate.named_pits(given)
    except Exception:  # noqa: BLE001 - the gate could not tell either
        return Verdict(ONE_PIT)
    if ceiling is None and not pits:
        is_forgotten = "$pit" in query and _is_pattern(query, folder)
        return Verdict(NO_PIT if is_forgotten else refuse_query(query, False, folder))
    return Verdict(_refuse_params(given, pits, ceiling, gate) or refuse_query(query, True, folder))


def refuse_query(query: str, with_pit: bool, folder: str) -> str:
    """Why the read tool may not run a query; "" if it may. ``folder`` holds the operator's own patterns."""
    if not with_pit:
        return _refuse_cypher(query)
    return "" if _is_pattern(query, folder) else NOT_A_PATTERN


def _refuse_params(given: Mapping[str, Any], pits: list[Any], ceiling: str | None, gate: ModuleType) -> str:
    """Why the PIT of a call of the read tool is not one that both the server and the gate will go by."""
    params = given.get("params")
    pit = params.get("pit") if isinstance(params, dict) else None
    if pit is None or not str(pit).strip():
        return NO_PIT
    if given.keys() - {"query", "params"}:
        return ONLY_PARAMS
    if len(pits) != 1:
        return ONE_PIT
    moment = gate.parse_iso8601(pit)
    if moment is None or pit != pit.strip():
        return PIT_MALFORMED
    if ceiling is not None:
        latest = gate.parse_iso8601(ceiling)
        if latest is None:
            return CEILING_MALFORMED
        if moment > latest:
            return f"params.pit must be at or before {ceiling}"
    return ""


def pattern_lines(query: str) -> list[str]:
    """The lines of a query, without indentation, blanks at their ends, and empty ones.

    Lines are never joined: a line break ends a comment, so without it the next line, perhaps the filter, would be
    part of the comment.
    """
    lines = [line.strip(" \t") for line in query.replace("\r\n", "\n").split("\n")]
    return [line for line in lines if line]


def pattern_digest(query: str) -> str:
    try:  # the core of hashlib, which would load OpenSSL: 0.5 ms instead of 5
        from _sha2 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256
    return str(sha256("\n".join(pattern_lines(query)).encode("utf-8", "surrogatepass")).hexdigest())


def _is_pattern(query: str, folder: str) -> bool:
    return pattern_digest(query) in SHIPPED_PATTERNS or pattern_lines(query) in own_patterns(folder)


def own_patterns(folder: str) -> list[list[str]]:
    """The lines of each pattern of the operator's own, which nobody but the operator answers for."""
    own = os.path.join(folder, OWN_PATTERNS)
    if not os.path.isdir(own):
        return []
    found = []
    for name in sorted(os.listdir(own)):
        if name.endswith(".cypher"):
            with open(os.path.join(own, name), encoding="utf-8") as source:
                found.append(pattern_lines(source.read()))
    return [lines for lines in found if lines]


# Free Cypher, without a PIT. Words are judged as Cypher reads them: not in strings, comments, backticks, parameters,
# labels, property names, aliases and keys of maps.

_WRITING = frozenset({"create", "merge", "set", "delete", "detach", "remove", "insert", "foreach"})
# What a statement may begin with; this leaves out administration (DROP, ALTER, GRANT, STOP and so on).
_BEGINNINGS = frozenset({"match", "optional", "with", "return", "unwind", "call", "show", "filter", "let", "for"})
_SHOWN = frozenset(
    {"index", "indexes", "constraint", "constraints", "function", "functions", "procedure", "procedures"}
)
_OF_SHOWN = frozenset(
    {"all", "fulltext", "vector", "range", "text", "point", "lookup", "built", "in", "user", "defined"}
)
_PROCEDURES = frozenset(
    {
        "db.index.fulltext.querynodes", "db.index.fulltext.queryrelationships",
        "db.index.vector.querynodes", "db.index.vector.queryrelationships",
        "db.labels", "db.relationshiptypes", "db.propertykeys",
    }
)  # fmt: skip
_OUTSIDE = frozenset({"apoc", "genai", "ai"})  # functions that read files, call services, or run Cypher of their own
# What can follow a variable that happens to be named call.
_AFTER_VARIABLE = frozenset(
    {
        "as", "asc", "ascending", "desc", "descending", "order", "where", "limit", "skip", "offset", "with", "return",
        "match", "optional", "unwind", "union", "and", "or", "xor", "not", "in", "is", "contains", "starts", "ends",
        "then", "else", "end", "when",
    }
)  # fmt: skip

_LEXEME = (
    r"(?P<skip>\s+|//[^\r\n]*|/\*.*?\*/)"
    r"|(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")"
    r"|`(?P<quoted>(?:[^`]|``)*)`"
    r"|(?P<parameter>(?<!\w)\$(?:\w+|`(?:[^`]|``)*`))"
    r"|(?P<number>\d+(?:\.\d+)?)"
    r"|(?P<word>[^\W\d]\w*)"
    r"|(?P<sign>[^'\"`])"
)


def _refuse_cypher(query: str) -> str:
    """Why a query may not run without a PIT; "" if it only reads.

    Neo4j decodes ``\\uXXXX`` before anything else; other engines do so inside strings, or never. So a query has to be
    harmless however it is read.
    """
    decoded = _decode(query)
    for reading in dict.fromkeys((query, decoded, _decode(decoded))):
        refusal = _refuse_reading(reading)
        if refusal:
            return refusal
    return ""


def _decode(query: str) -> str:
    return re.sub(r"\\u+([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), query)


def _refuse_reading(query: str) -> str:
    tokens = _tokens(query)
    if tokens is None:
        return "The query has a string, a name or a comment without an end"
    while tokens and tokens[-1] == ("sign", ";"):
        tokens.pop()
    if ("sign", ";") in tokens:
        return "Give one statement, not several"
    if not tokens:
        return NO_QUERY
    begin = _beginning(tokens)
    if begin is None:
        return "Begin with MATCH, WITH, RETURN, UNWIND or CALL: other statements are not for reading"
    for place in range(begin, len(tokens)):
        refusal = _refuse_token(tokens, place)
        if refusal:
            return refusal
    return ""


def _tokens(query: str) -> list[tuple[str, str]] | None:
    """Kind and text of each token, words in lower case; None if one has no end."""
    found, position, pattern = [], 0, re.compile(_LEXEME, re.DOTALL)
    while position < len(query):
        match = pattern.match(query, position)
        if match is None or (query.startswith("/*", position) and match.lastgroup != "skip"):
            return None
        position = match.end()
        if match.lastgroup != "skip":
            text = match[match.lastgroup or 0]
            found.append((str(match.lastgroup), text.casefold() if match.lastgroup in ("word", "quoted") else text))
    return found


def _beginning(tokens: list[tuple[str, str]]) -> int | None:
    """Where the statement begins, after EXPLAIN, PROFILE and the options of CYPHER; None if it may not begin so."""
    place = 0
    while place < len(tokens) and tokens[place][1] in ("explain", "profile", "cypher"):
        is_options = tokens[place][1] == "cypher"
        place += 1
        if is_options and place < len(tokens) and tokens[place][0] == "number":
            place += 1
        while is_options and tokens[place + 1 : place + 2] == [("sign", "=")]:
            place += 3
    rest = tokens[place:]
    if not rest or rest[0][0] != "word" or rest[0][1] not in _BEGINNINGS:
        return None
    if rest[0][1] == "show":
        words = [text for kind, text in rest[1:] if kind == "word"]
        shown = next((word for word in words if word not in _OF_SHOWN), "")
        return place if shown in _SHOWN else None
    return place


def _refuse_token(tokens: list[tuple[str, str]], place: int) -> str:
    kind, text = tokens[place]
    if kind not in ("word", "quoted") or _is_name(tokens, place):
        return ""
    after = tokens[place + 1] if place + 1 < len(tokens) else ("", "")
    name, end = _dotted(tokens, place)
    outside = name.partition(".")[0]
    if outside in _OUTSIDE and "." in name and (outside == "apoc" or tokens[end : end + 1] == [("sign", "(")]):
        return f"{outside}.* is not for reading: it can reach outside the database"
    if kind == "quoted":
        return ""
    if text in _WRITING:
        return WRITES_FORBIDDEN
    if text == "load" and after == ("word", "csv"):
        return "LOAD CSV reads files and addresses outside the database"
    if text == "use":
        return "USE chooses another database: read the one that the server was given"
    return _refuse_call(tokens, place + 1) if text == "call" else ""


def _is_name(tokens: list[tuple[str, str]], place: int) -> bool:
    """Whether the word at ``place`` can only be a name: a property, a parameter, a label, an alias, a key of a map."""
    before = tokens[place - 1] if place else ("", "")
    earlier = tokens[place - 2] if place > 1 else ("", "")
    after = tokens[place + 1] if place + 1 < len(tokens) else ("", "")
    if before == ("sign", "."):  # but not in "1.SET", nor in a range
        return earlier[0] != "number" and earlier != ("sign", ".")
    if before in (("sign", ":"), ("word", "as")):
        return True
    if before[1] in ("|", "&", "!") and before[0] == "sign":  # a label or a type after another one
        start = place - 1
        while start > 0 and (tokens[start][1] in ("|", "&", "!") or tokens[start][0] in ("word", "quoted")):
            start -= 1
        return tokens[start] == ("sign", ":")
    return before[0] == "sign" and before[1] in "{," and after == ("sign", ":")


def _refuse_call(tokens: list[tuple[str, str]], place: int) -> str:
    """Why the CALL before ``place`` may not be made. Subqueries are judged token by token, like everything else."""
    first = tokens[place] if place < len(tokens) else ("", "")
    if first == ("sign", "{"):
        return ""
    if first == ("sign", "("):  # a subquery that says which variables it sees
        while place < len(tokens) and tokens[place] != ("sign", ")"):
            place += 1
        if tokens[place + 1 : place + 2] == [("sign", "{")]:
            return ""
    if not first[0] or (first[0] == "sign" and first[1] in ".,:)[]}=<>|+-*/%^"):  # a variable of this name
        return ""
    name = _dotted(tokens, place)[0] if first[0] in ("word", "quoted") else "after CALL"
    if first[0] == "word" and name in _AFTER_VARIABLE:
        return ""
    return "" if name in _PROCEDURES else f"The procedure {name[:60]} is not one of those that only read an index"


def _dotted(tokens: list[tuple[str, str]], place: int) -> tuple[str, int]:
    """The name with dots that begins at ``place``, and where it ends."""
    parts, place = [tokens[place][1]], place + 1
    while tokens[place : place + 1] == [("sign", ".")] and place + 1 < len(tokens):
        parts.append(tokens[place + 1][1])
        place += 2
    return ".".join(parts), place


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
