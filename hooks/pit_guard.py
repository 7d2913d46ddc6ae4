#!/usr/bin/env python3
"""The guard: before a Bash command runs, is it one that the gate can judge?

One file, standard library only, Python 3.9 and later; Claude Code runs it as a PreToolUse hook,
together with the gate (``pit_gate.py``, beside this file) as a PostToolUse hook.

Where Bash is for pit_fetch alone (an adapter subagent, or PIT_FETCH_WRAPPER_ONLY=1), every command
must be exactly one plain pit_fetch call or listing, with only the options that an adapter needs.
Under PIT_FETCH_CEILING, in any session, a command that calls pit_fetch must also be one plain call,
with a ``--pit`` at or before the ceiling: if a command is not plain, nobody can say which PIT it has.
Commands that only mention pit_fetch, and all others, are left alone. Neo4j writes are refused everywhere.

What runs is never the text that was asked for: the command is rebuilt from the words that the guard
has read. A call with a PIT also gets a private file for its envelope, and prints only a sentinel; the
gate judges the file and puts it in the sentinel's place. So a gate that fails shows nothing.

It always exits 0: ``{}`` leaves the call alone. An absent or broken gate means deny.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
import time
from collections import namedtuple
from types import ModuleType

try:
    from _frozen_importlib_external import SourceFileLoader  # importlib.machinery takes 3 ms to import
except ImportError:
    from importlib.machinery import SourceFileLoader

# The process starts on every command of an agent: typing alone would take longer than the rest (see pit_gate.py).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Collection, Mapping, NamedTuple, Sequence

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

# The MCP servers whose tools the gate judges; a plugin's server has a longer name.
GATED_SERVERS = ("neo4j-cypher", "perplexity")

CEILING_VARIABLE = "PIT_FETCH_CEILING"
ONLY_VARIABLE = "PIT_FETCH_WRAPPER_ONLY"
OPTIONS_VARIABLE = "PIT_FETCH_ADAPTER_OPTIONS"  # more names that adapters may use: those of a plugin's sources
ALARM_SECONDS = 7  # less than the 10 s of the shipped wiring

# Longer than any fetch: a call whose time is up goes on in the background, where nobody judges it.
TIMEOUT_MS = 600_000
PRIVATE_SECONDS = 3_600  # a private file that is older belongs to a call that the gate never saw

FORM = "pit_fetch --source SOURCE --pit 2024-02-15T16:00:00-05:00 [options]"
NOT_PLAIN = (
    "Run exactly one plain pit_fetch call and nothing else: no VARIABLE=value before it, and none of "
    f"; & | > < $ ` * ? [ {{ ~ # ! outside single quotes. {FORM}"
)
NOT_IN_MONITOR = "pit_fetch runs in Bash, not in Monitor, whose output cannot be checked"
NO_RESOURCES = "A server's resources are not dated: use its tools"
GATE_BROKEN = "pit_gate.py beside this guard is missing or does not withhold a planted leak: run pit_fetch doctor"
CEILING_MALFORMED = (
    "PIT_FETCH_CEILING is not YYYY-MM-DDTHH:MM:SS with Z or an offset: whoever runs this session must correct it"
)
NOT_FOR_ADAPTERS = (
    "{} is not an option that adapters may use: leave it out, or ask whoever runs this session to allow it "
    f"in {OPTIONS_VARIABLE}"
)
FOREIGN_LISTING = "Only the installed program may list: write pit_fetch, or python3 -P -m pit_fetch"
NO_PRIVATE_FILE = "No private file can be made for the envelope ({}): set TMPDIR to a folder that is this user's own"
NO_CALL_ID = "This client gives a call no id, so its envelope cannot be released: update it"
NEO4J_WRITE = "Neo4j writes are forbidden"

_QUOTING = re.compile(r"[\"'\\\n]")
_PLANTED = "planted leak"


# What to do with a call: refuse it with a reason, run ``words`` instead, or (both empty) leave it alone. With
# ``private``, its envelope goes to a private file.
if TYPE_CHECKING:

    class Verdict(NamedTuple):
        refusal: str = ""
        words: Sequence[str] = ()
        private: bool = False

else:
    Verdict = namedtuple("Verdict", "refusal words private", defaults=("", (), False))


ALONE = Verdict()


def decide(hook: Mapping[str, Any], environ: Mapping[str, str], gate: ModuleType) -> Verdict:
    """The verdict on one PreToolUse hook input; ``gate`` is one that is known to work."""
    verdict = _at_a_glance(hook, environ)
    return _examined(hook, environ, gate) if verdict is None else verdict


def _at_a_glance(hook: Mapping[str, Any], environ: Mapping[str, str]) -> Verdict | None:
    """The verdict on a call that needs no reading of a command; None for all others."""
    tool_name = str(hook.get("tool_name", ""))
    if tool_name.startswith("mcp__") and tool_name.endswith("__write_neo4j_cypher"):
        return Verdict(NEO4J_WRITE)
    is_only = is_wrapper_only(hook, environ)
    is_ruled = is_only or CEILING_VARIABLE in environ
    tool_input = _input_of(hook)
    if tool_name == "ReadMcpResourceTool" and is_ruled and _is_gated_server(tool_input.get("server")):
        return Verdict(NO_RESOURCES)
    if tool_name not in ("Bash", "Monitor") or not is_ruled:
        return ALONE
    return None if is_only or "pit_fetch" in _QUOTING.sub("", str(tool_input.get("command"))) else ALONE


def _examined(hook: Mapping[str, Any], environ: Mapping[str, str], gate: ModuleType) -> Verdict:
    """The verdict on a command of Bash or Monitor that may be a call."""
    command, is_only = str(_input_of(hook).get("command") or ""), is_wrapper_only(hook, environ)
    if not is_only and (not gate.names_wrapper(command) or _only_mentions(command, gate)):
        return ALONE
    if hook["tool_name"] == "Monitor":
        return Verdict(NOT_IN_MONITOR)
    folder = str(hook.get("cwd") or os.getcwd())
    return _decide_call(command, folder, environ, adapter_options(environ) if is_only else None, gate)


def _only_mentions(command: str, gate: ModuleType) -> bool:
    return gate.wrapper_arguments(command) is None and bool(gate.only_mentions(command))


def _input_of(hook: Mapping[str, Any]) -> Mapping[str, Any]:
    tool_input = hook.get("tool_input")
    return tool_input if isinstance(tool_input, dict) else {}


def _is_gated_server(name: Any) -> bool:
    return isinstance(name, str) and any(name.endswith(server) for server in GATED_SERVERS)


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
    command: str, folder: str, environ: Mapping[str, str], allowed: Collection[str] | None, gate: ModuleType
) -> Verdict:
    """The verdict on what must be a call; ``allowed`` holds an adapter's options, None elsewhere."""
    words = gate.plain_words(command)
    arguments = gate.wrapper_arguments(command)
    if arguments is None:
        return Verdict(NOT_PLAIN)
    prefix = words[: -len(arguments) or None]
    if "-m" in prefix and _is_foreign(folder) and not _is_isolated(prefix):
        return Verdict("Another pit_fetch in this folder would run instead: write pit_fetch, not -m pit_fetch")
    options = gate.options_of(arguments)
    if gate.RELEASE_OPTION in {word.partition("=")[0] for word in options}:
        return Verdict(NOT_FOR_ADAPTERS.format(gate.RELEASE_OPTION))
    ceiling = environ.get(CEILING_VARIABLE)
    if gate.is_listing(command):
        refusal = _refuse_listing(prefix, arguments, folder, allowed, environ)
        return Verdict(refusal, words)
    refusal = _refuse_options(options) or _refuse_unknown(options, allowed) or _refuse_pit(options, ceiling, gate)
    return Verdict(refusal, words, ceiling is not None or bool(gate.pits_of(options)))


def _refuse_listing(
    prefix: Sequence[str],
    arguments: Sequence[str],
    folder: str,
    allowed: Collection[str] | None,
    environ: Mapping[str, str],
) -> str:
    """Why a listing, whose text nobody judges, may not run: another program than ours would print it."""
    if allowed is not None and arguments[0] in ("doctor", "lint") and set(arguments[1:]) - {"--json", "--help", "-h"}:
        return f"{arguments[0]} takes no option here but --json"
    paths = [prefix[0]] if "/" in prefix[0] else []
    if len(prefix) > 1 and "-m" not in prefix:
        paths.append(prefix[-1])
    if not all(_is_ours(path, folder, environ) for path in paths):
        return FOREIGN_LISTING
    # Python looks in the working directory first, for every module that the program imports.
    if "-m" in prefix and not _is_isolated(prefix) and not _is_home(folder):
        return FOREIGN_LISTING
    return ""


def _is_isolated(prefix: Sequence[str]) -> bool:
    return any(set(flag) & {"I", "P"} for flag in prefix[1:-2])


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
    pits = gate.pits_of(options)
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


# Which program runs. Ours is beside this file (a wheel) or beside its folder (a checkout, a plugin), or on PATH.

_HOME = os.path.dirname(os.path.realpath(__file__))
_HOMES = (_HOME, os.path.dirname(_HOME))


def _is_foreign(folder: str) -> bool:
    """Whether ``python -m pit_fetch``, run in ``folder``, would run a copy there that is not ours."""
    if _is_home(folder):
        return False
    try:
        return any(re.fullmatch(r"pit_fetch(\.pyc?|\.(.+\.)?(so|pyd))?", name) for name in os.listdir(folder))
    except OSError:
        return False


def _is_home(folder: str) -> bool:
    """Whether the pit_fetch in ``folder`` is the one that this file belongs to."""
    found = os.path.join(folder, "pit_fetch")
    return os.path.isdir(found) and os.path.dirname(os.path.realpath(found)) in _HOMES


def _is_ours(path: str, folder: str, environ: Mapping[str, str]) -> bool:
    """Whether the program or script at ``path``, as written in a command, is the installed one."""
    if path.startswith("~/"):
        path = environ.get("HOME", "") + path[1:]
    real = os.path.realpath(os.path.join(folder, path))
    if os.path.basename(path).startswith("python"):
        return not _is_inside(real, folder)
    ours = [os.path.join(home, "pit_fetch.py") for home in _HOMES]
    ours += [os.path.join(place, name) for place in environ.get("PATH", "").split(os.pathsep) for name in _NAMES]
    return real in map(os.path.realpath, filter(os.path.isfile, ours))


_NAMES = ("pit_fetch", "pit_fetch.py")


# The private file.


class NoPrivateFile(Exception):
    """Why there is none."""


def private_file(hook: Mapping[str, Any], environ: Mapping[str, str], gate: ModuleType) -> str:
    """Makes the empty file that the envelope of this call goes to. Raises NoPrivateFile if it cannot."""
    named = hook.get("tool_use_id")
    if not isinstance(named, str) or not re.fullmatch(r"[\w-]{1,100}", named, re.ASCII):
        raise NoPrivateFile(NO_CALL_ID)
    project = environ.get("CLAUDE_PROJECT_DIR") or str(hook.get("cwd") or os.getcwd())
    problem = "no folder for temporary files"
    for place in (environ.get("TMPDIR", ""), "/tmp", "/var/tmp"):  # noqa: S108 - in a folder that is private
        store = os.path.join(place, f"pit_fetch-{os.geteuid()}")
        if not re.fullmatch(r"/[\w./-]+", store, re.ASCII) or _is_inside(store, project):
            continue  # the command names it without quotes; and an agent reads its project
        try:
            _make_private(store, gate)
            path = os.path.join(store, f"{named}.{os.urandom(16).hex()}")
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
            return path
        except OSError as error:
            problem = f"{store}: {error.strerror}"
    raise NoPrivateFile(NO_PRIVATE_FILE.format(problem))


def _is_inside(path: str, project: str) -> bool:
    project = os.path.realpath(project)
    return project != os.sep and os.path.realpath(path).startswith(os.path.join(project, ""))


def _make_private(store: str, gate: ModuleType) -> None:
    """Makes the folder unless it is there, and removes what no gate took. Raises OSError if others may enter it."""
    try:
        os.mkdir(store, 0o700)
    except FileExistsError:
        if not gate.is_private(os.lstat(store), folder=True):
            raise OSError(0, "it is not a folder of this user's with mode 0700") from None
    with os.scandir(store) as found:
        for entry in found:
            try:
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > PRIVATE_SECONDS:
                    os.unlink(entry.path)
            except OSError:
                continue


def load_gate(folder: str) -> ModuleType | None:
    """The gate in ``folder``, by its file path and never the import path; None if it does not do its job."""
    gate = ModuleType("pit_gate")
    gate.__file__ = os.path.join(folder, "pit_gate.py")
    stdout, sys.stdout = sys.stdout, io.StringIO()  # a broken gate that prints must not corrupt our answer
    try:
        # As an import does it: compiling the file for every command would take longer than all the rest.
        code = SourceFileLoader("pit_gate", gate.__file__).get_code("pit_gate")
        exec(code or "", gate.__dict__)  # noqa: S102 - the file beside this one
        return gate if gate.ENDING and withholds(gate.respond(planted_leak())) else None
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


def rebuilt(verdict: Verdict, path: str, gate: ModuleType) -> str:
    """The command that runs; ``path`` is the private file of a verdict that has one."""
    if not verdict.private:
        return str(gate.joined(verdict.words))
    options = len(gate.options_of(verdict.words))  # the file is named behind the last of them
    words = [*verdict.words[:options], gate.RELEASE_OPTION, path, *verdict.words[options:]]
    return f"{gate.joined(words)}{gate.ENDING}"


def _run_instead(hook: Mapping[str, Any], verdict: Verdict, path: str, gate: ModuleType) -> dict[str, Any]:
    """The hook's answer that lets a rebuilt command run, in the foreground and to its end."""
    tool_input = {name: value for name, value in _input_of(hook).items() if name != "run_in_background"}
    if verdict.private:
        tool_input["timeout"] = TIMEOUT_MS
    tool_input["command"] = rebuilt(verdict, path, gate)
    # No permissionDecision: the user's own rules still decide whether the call may run at all.
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": tool_input}}


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
    """The answer to one PreToolUse hook input: ``{}`` leaves the call alone. It does not raise.

    ``gate`` is one known to work; default: the one beside this file.
    """
    try:
        verdict = _at_a_glance(hook, environ)
        if verdict is None:
            gate = gate or load_gate(os.path.dirname(os.path.abspath(__file__)))
            if gate is None:
                return deny(GATE_BROKEN)
            verdict = _examined(hook, environ, gate)
        if verdict.refusal:
            return deny(verdict.refusal)
        if gate is None or not verdict.words:
            return {}
        path = private_file(hook, environ, gate) if verdict.private else ""
        return _run_instead(hook, verdict, path, gate)
    except NoPrivateFile as error:
        return deny(str(error))
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
