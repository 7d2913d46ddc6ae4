#!/usr/bin/env python3
"""The guard: refuses a call that the gate could not judge, before it runs.

One file, standard library only, Python 3.9 and later. Claude Code runs it as a PreToolUse hook, together with the gate
(``pit_gate.py``, beside this file) as a PostToolUse hook.

Where Bash is for pit_fetch alone (an adapter subagent, or PIT_FETCH_WRAPPER_ONLY=1), every command must be exactly one
plain call or listing of the installed pit_fetch, with only the options that an adapter needs: another file of that name
may be the agent's own. Under PIT_FETCH_CEILING, in any session, a command that calls pit_fetch must also be one plain
call, with a ``--pit`` at or before the ceiling, since the PIT of any other command cannot be known. Commands that only
mention pit_fetch, and all others, are left alone.

Of the tools of Neo4j's MCP server, writes are refused everywhere. With a PIT or under a ceiling, only the patterns of
the query skills may be read; without, any query that neither writes nor reaches outside the database.

The command that runs is never the original text: it is rebuilt from the words that the guard has read. A call with a
PIT also gets a private file for its envelope, and prints only a sentinel. The gate judges the file and puts it in the
sentinel's place, so a gate that fails shows nothing.

The guard always exits 0: ``{}`` leaves the call alone. Without a gate that can be loaded, calls are refused.
"""

from __future__ import annotations

import gc
import io
import json
import os
import re
import signal
import sys
import time
from importlib.machinery import SourceFileLoader
from types import ModuleType

TYPE_CHECKING = False  # typing itself is slow to import, and this process starts on every Bash command of an agent
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from typing import Any

# The bundled agents, from the providers' declarations (python -m tests.repo.seal). In a plugin they are "plugin:name".
ADAPTERS = frozenset(
    {
        "alphavantage", "bz-news-api", "earningscall", "fred", "perplexity", "sec-facts", "sec-filings",
        "sec_full_text", "wayback", "wikipedia", "yahoo",
    }
)  # fmt: skip

# Adapters of earlier versions: an edited file of one, which an upgrade keeps, stays as narrow as it was.
FORMER_ADAPTERS = frozenset(
    {"perplexity-ask", "perplexity-reason", "perplexity-research", "perplexity-search", "perplexity-sec"}
)

# The options that an adapter may choose: what it asks for, and how much of it. The rest decides how the question is
# asked (--timeout cuts where the clock says, --input-file reads a file), and is the operator's choice.
# A test compares these names with the real parsers.
COMMON_OPTIONS = frozenset(
    {"source", "pit", "date-from", "date-to", "limit", "after", "max-pages", "fields", "max-chars", "pretty"}
)
# Those of the bundled sources, from the same declarations; of both, those that take no value; and the sources' names.
SOURCE_OPTIONS = frozenset(
    {
        "acceleration", "accession", "adjust", "after-date", "agency", "as", "author", "bioguide-id", "calculations",
        "category", "channels", "cik", "ciks", "concept", "contract", "date", "document", "domain", "domains",
        "entitlement", "entity", "exact", "exchange", "expiration", "extended-hours", "fastdmatype", "fastdperiod",
        "fastkperiod", "fastlimit", "fastmatype", "fastperiod", "find", "form", "forms", "from-currency", "from-symbol",
        "horizon", "ids", "index", "interval", "item", "keywords", "lang", "lookback-minutes", "market", "match",
        "maturity", "matype", "max-results", "maximum", "mode", "month", "nbdevdn", "nbdevup", "ohlc", "op",
        "outputsize", "period", "quarter", "query", "range", "recency", "report", "require-greeks", "series-id",
        "series-type", "signalmatype", "signalperiod", "slowdmatype", "slowdperiod", "slowkmatype", "slowkperiod",
        "slowlimit", "slowmatype", "slowperiod", "source-country", "source-lang", "state", "statement", "story",
        "symbol", "symbols", "tab", "tags", "term", "themes", "tickers", "time-period", "timeperiod1", "timeperiod2",
        "timeperiod3", "title", "to-currency", "to-symbol", "topics", "type", "unit", "updated-since", "url", "vintage",
        "window-size", "year",
    }
)  # fmt: skip
FLAGS = frozenset(
    {
        "exact", "pretty",
    }
)  # fmt: skip
SOURCES = frozenset(
    {
        "alfred", "alpaca_news", "alpha-vantage", "alphavantage", "arxiv", "av", "benzinga", "benzinga-news",
        "bz-news-api", "earnings-call", "earningscall", "ecall", "federal_register", "finnhub", "fr", "fred", "gdelt",
        "hacker-news", "hackernews", "hn", "index_members", "internet-archive", "official", "perplexity", "pplx",
        "sec_facts", "sec_filings", "sec_full_text", "tiingo_news", "wayback", "wayback-machine", "wiki", "wikipedia",
        "xbrl", "yahoo", "yahoo-finance", "yfinance",
    }
)  # fmt: skip

# The MCP servers whose tools the gate judges; a plugin's server has a longer name.
GATED_SERVERS = ("neo4j-cypher", "perplexity")
READ_RESOURCE, LIST_RESOURCES = RESOURCE_TOOLS = ("ReadMcpResourceTool", "ListMcpResourcesTool")

CEILING_VARIABLE = "PIT_FETCH_CEILING"
ONLY_VARIABLE = "PIT_FETCH_WRAPPER_ONLY"
RESTRICTIONS = (CEILING_VARIABLE, ONLY_VARIABLE)
UNREADABLE = "1"  # the value of a restriction whose name is misspelt: it holds, and as a ceiling lets nothing pass
OPTIONS_VARIABLE = "PIT_FETCH_ADAPTER_OPTIONS"  # more names that adapters may use: those of a plugin's sources
# No slips, for which the gate need not be loaded to say so: that takes a tenth of the time of a command.
WELL_KNOWN = frozenset(
    {
        *(CEILING_VARIABLE, ONLY_VARIABLE, OPTIONS_VARIABLE, "PIT_GATE_LOG"),
        *("PIT_FETCH_ARCHIVE", "PIT_FETCH_AUDIT", "PIT_FETCH_CONTACT", "PIT_FETCH_EVIDENCE"),
        *("PIT_FETCH_MAX_CHARS", "PIT_FETCH_OFFLINE", "PIT_FETCH_PLAN"),
        *("PIT_FETCH_AGENT", "PIT_FETCH_RECORD", "PIT_FETCH_RUN", "PIT_FETCH_STEP"),
    }
)
ALARM_SECONDS = 7  # less than the 10 s of the shipped wiring

# Longer than any fetch: a call whose time is up goes on in the background, where the gate cannot judge it.
TIMEOUT_MS = 600_000
PRIVATE_SECONDS = 3_600  # a private file that is older belongs to a call that the gate never saw

EXAMPLE_PIT = "2024-02-15T16:00:00-05:00"  # in a refusal under a ceiling, the ceiling stands in its place
FORM = f"pit_fetch --source SOURCE --pit {EXAMPLE_PIT} [options]"
NOT_PLAIN = (
    "Run exactly one plain pit_fetch call and nothing else: no VARIABLE=value before it, and none of "
    f"; & | > < $ ` * ? [ {{ ~ # ! outside single quotes. {FORM}"
)
CALLS_UNDER_CEILING = (
    "Under PIT_FETCH_CEILING a command that runs pit_fetch is one plain call, so that its PIT and its output can be "
    "checked. "
)
NOT_JSON = "Leave --format out, or add --output FILE: only JSON can be checked"
CHANGES_HOOKS = "init changes the hooks that check this session: run it outside"
NOT_IN_MONITOR = "pit_fetch runs in Bash, not in Monitor, whose output cannot be checked"
NO_RESOURCES = "A server's resources are not dated: use its tools (to list those of another server, name it)"
GATE_BROKEN = "pit_gate.py beside this guard is missing, broken or lets a planted leak pass: run pit_fetch doctor"
NOT_FOR_ADAPTERS = (
    "{} is not an option for this session: {}leave it out. If it is one of a plugin's, its operator may allow it in "
    f"{OPTIONS_VARIABLE}"
)
ONLY_FETCHES = "Bash is for pit_fetch alone here. "
NOT_A_FETCH = f"{{}} is no call for this session, which only fetches. Start with --source: {FORM}"
CLAIMS_ARE_GRANTED = "Leave --evidence out: whether claims are served is the choice of the operator of this session"
FOREIGN_LISTING = "Only the installed program may list: write pit_fetch"
FOREIGN_PROGRAM = f"Only the installed pit_fetch may run in this session, by its name or its own path: {FORM}"
RELATIVE_PATH = (
    "PATH has a folder that is not absolute, so which {} runs depends on where the session is: the operator of this "
    f"session takes it out. {FORM}"
)
NO_MODULE = (
    "Which pit_fetch python3 -m runs depends on the folder: write pit_fetch, or python3 /PATH/TO/pit_fetch.py, "
    "and leave the rest as it is"
)
NO_PRIVATE_FILE = "No private file can be made for the envelope ({}): set TMPDIR to a folder that is this user's own"
NO_CALL_ID = "This client gives a call no id, so its envelope cannot be released: update it"

RECORD = "pit_fetch.path"  # beside the hooks: the paths of the program that init was run by, one a line

_HERE = os.path.dirname(os.path.abspath(__file__))
_QUOTING = str.maketrans("", "", "\"'\\\n$")
_PLANTED = "planted leak"


class Refusal(Exception):
    """A call may not run; the text is the reason."""


class RebuiltCommand:
    """The ``words`` of a plain call, to run instead of the original text. With ``private``, for a private file."""

    __slots__ = ("private", "words")

    def __init__(self, words: Sequence[str], private: bool) -> None:
        self.words, self.private = words, private


def decide(hook: Mapping[str, Any], environ: Mapping[str, str], gate: ModuleType) -> RebuiltCommand | str | None:
    """Return what runs instead of the call of a PreToolUse hook input: a call of pit_fetch, or a Cypher query.

    None leaves it alone. Raise Refusal if nothing may run.
    """
    if not _needs_gate(hook, environ):
        return None
    tool_input = _input_of(hook)
    if _is_query(hook):
        return _read_query(tool_input, environ, gate)
    command, is_only = str(tool_input.get("command") or ""), is_wrapper_only(hook, environ)
    if not is_only and not gate.runs_wrapper(command):
        return None
    if hook["tool_name"] == "Monitor":
        raise Refusal(NOT_IN_MONITOR)
    folder = str(hook.get("cwd") or os.getcwd())
    return _read_call(command, environ, adapter_options(environ) if is_only else None, gate, folder)


def _misspelt_restrictions(environ: Mapping[str, str], gate: ModuleType | None) -> dict[str, str]:
    """Return the restrictions whose names the operator has misspelt, each with how to write it."""
    names = [name for name in environ if name[:3].upper() == "PIT" or "FETCH" in name.upper()]
    names = [name for name in names if name not in WELL_KNOWN and not name.endswith("_URL")]
    if not names:
        return {}
    try:
        gate = gate or load_gate(with_trial=False)
    except Refusal:  # of what needs the gate nothing runs then, and all else is not to be held up
        return {}
    return {
        meant: gate.NOT_A_VARIABLE.format(name, meant) for name, meant in gate.misspelt_variables(names, RESTRICTIONS)
    }


def _needs_gate(hook: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Return whether the command or query of a call must be read. Raise Refusal if no such call may run."""
    tool_name = str(hook.get("tool_name", ""))
    if tool_name.startswith("mcp__"):
        if tool_name.endswith(NEO4J_WRITE):
            raise Refusal(WRITES_FORBIDDEN)
        if tool_name.endswith(NEO4J_SCHEMA) and CEILING_VARIABLE in environ:
            raise Refusal(SCHEMA_IS_TODAYS)
        return tool_name.endswith(NEO4J_READ)
    is_only, tool_input = is_wrapper_only(hook, environ), _input_of(hook)
    if not is_only and CEILING_VARIABLE not in environ:
        return False
    if tool_name in RESOURCE_TOOLS:
        server = tool_input.get("server") or (GATED_SERVERS[0] if tool_name == LIST_RESOURCES else "")
        if str(server).endswith(GATED_SERVERS):  # without a name it lists those of every server
            raise Refusal(NO_RESOURCES)
    names_wrapper = "pit_fetch" in str(tool_input.get("command")).translate(_QUOTING).lower()
    return tool_name in ("Bash", "Monitor") and (is_only or names_wrapper)


def _is_query(hook: Mapping[str, Any]) -> bool:
    return hook["tool_name"] not in ("Bash", "Monitor")


def _input_of(hook: Mapping[str, Any]) -> Mapping[str, Any]:
    tool_input = hook.get("tool_input")
    return tool_input if isinstance(tool_input, dict) else {}


def is_wrapper_only(hook: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Return whether Bash is for pit_fetch alone in the session or the subagent that makes this call."""
    if environ.get(ONLY_VARIABLE, "").strip().lower() not in ("", "0", "false", "no"):
        return True
    return is_adapter(str(hook.get("agent_type") or ""))


def is_adapter(agent: str) -> bool:
    """Return whether an agent, also one of a plugin (``plugin:name``), may run pit_fetch alone."""
    return agent.rpartition(":")[2] in ADAPTERS | FORMER_ADAPTERS


def adapter_options(environ: Mapping[str, str]) -> frozenset[str]:
    """Return the names, without dashes, of the options that an adapter may use."""
    named = environ.get(OPTIONS_VARIABLE, "").replace(",", " ").split()
    return COMMON_OPTIONS | SOURCE_OPTIONS | set(map(_option, named))


def _option(name: str) -> str:
    return name.lstrip("-").lower().replace("_", "-")


def _read_call(
    command: str, environ: Mapping[str, str], allowed: Collection[str] | None, gate: ModuleType, folder: str
) -> RebuiltCommand:
    """Return the call that a command, to be run in ``folder``, must be.

    ``allowed`` holds the options where Bash is for pit_fetch alone; None elsewhere.
    """
    words = gate.plain_words(command)
    arguments = gate.wrapper_arguments(command)
    if arguments is None:
        raise Refusal((CALLS_UNDER_CEILING if allowed is None else ONLY_FETCHES) + NOT_PLAIN)
    program = words[: -len(arguments) or None]
    if "-m" in program:  # Python looks in the working directory first, for every module that the program imports
        raise Refusal(NO_MODULE)
    options = gate.options_of(arguments)
    if gate.RELEASE_OPTION in {word.partition("=")[0] for word in options}:
        raise Refusal(NOT_FOR_ADAPTERS.format(gate.RELEASE_OPTION, ""))
    is_listing = gate.is_listing(command)
    # The gate believes the stamps of whatever runs, and a listing it does not judge. In an ordinary session, which can
    # run any program, it judges what another pit_fetch writes.
    if allowed is not None or is_listing:
        _check_program(program, folder, environ, FOREIGN_LISTING if allowed is None else FOREIGN_PROGRAM)
    if is_listing:
        _check_listing(arguments, allowed)
        return RebuiltCommand(words, private=False)
    _check_options(options)
    if set(gate.values_of("--evidence", options)) - {"proved"}:
        raise Refusal(CLAIMS_ARE_GRANTED)
    if allowed is not None:
        _check_adapter_options(options, allowed, gate.values_of("--source", options))
    ceiling, pits = environ.get(CEILING_VARIABLE), gate.values_of("--pit", options)
    _check_pits(pits, 2 if gate.is_diff(options) else 1, ceiling, gate)
    if set(gate.values_of("--format", options)) - {"json"} and not gate.values_of("--output", options):
        raise Refusal(NOT_JSON)
    return RebuiltCommand(words, private=ceiling is not None or bool(pits))


def _check_listing(arguments: Sequence[str], allowed: Collection[str] | None) -> None:
    """Raise Refusal if a listing may not run where Bash is for pit_fetch alone."""
    if allowed is not None:
        command, rest = arguments[0], set(arguments[1:]) - {"--json", "--help", "-h"}
        if command == "sources":
            rest -= SOURCES
        if command in ("doctor", "lint", "sources") and rest:
            raise Refusal(
                f"{command} takes no more here than --json" + " and a bundled source" * (command == "sources")
            )
        if command in ("config", "completion", "new-provider"):
            raise Refusal(NOT_A_FETCH.format(command))


def _check_program(program: Sequence[str], folder: str, environ: Mapping[str, str], reason: str) -> None:
    """Raise Refusal, for ``reason``, unless bash, in ``folder``, or Python behind it starts the installed program.

    An agent may have written any other file of this name. A link is refused as well: it may point elsewhere by the
    time the call runs.
    """
    path = environ.get("PATH", os.environ.get("PATH", os.defpath))
    name, scripts = os.path.basename(program[0]), program[1:][-1:]
    if name == program[0]:
        if not os.path.isabs(next(_programs_named(name, path), os.sep)):
            raise Refusal(RELATIVE_PATH.format(name))
    elif not _is_named(program[0], folder, _programs_named(name, path) if scripts else _installed_programs(path)):
        raise Refusal(reason)
    if not all(_is_named(script, folder, _installed_programs(path)) for script in scripts):
        raise Refusal(reason)


def _is_named(word: str, folder: str, programs: Iterator[str]) -> bool:
    """Return whether ``word``, seen from ``folder``, is the path of one of ``programs``, without a link on the way."""
    if os.pardir in word.split(os.sep):
        return False
    paths = {os.path.normpath(os.path.join(place, word)) for place in (folder, os.path.realpath(folder))}
    known = filter(os.path.isabs, programs)
    return any(not paths.isdisjoint((program, os.path.realpath(program))) for program in known)


def _installed_programs(path: str) -> Iterator[str]:
    """Yield the paths of pit_fetch: beside these hooks, first on PATH, and of the program that init was run by."""
    hooks = os.path.dirname(os.path.realpath(__file__))
    above = os.path.dirname(hooks)
    if os.path.basename(above) != ".claude":  # a wheel has the program beside its hooks, a checkout one folder above
        yield from (os.path.join(folder, "pit_fetch.py") for folder in (hooks, above))
    for name in ("pit_fetch", "pit_fetch.py"):
        yield next(_programs_named(name, path), "")
    record = os.path.join(_HERE, RECORD)
    if os.path.isfile(record):
        with open(record, encoding="utf-8") as lines:
            yield from lines.read().splitlines()


def _programs_named(name: str, path: str) -> Iterator[str]:
    """Yield what bash may find by a name, in order. In a folder that is not absolute it may be any file."""
    for folder in path.split(os.pathsep):
        file = os.path.join(folder, name)
        if not os.path.isabs(folder) or (os.path.isfile(file) and os.access(file, os.X_OK)):
            yield file


def _check_options(options: list[str]) -> None:
    if options[:1] == ["init"]:
        raise Refusal(CHANGES_HOOKS)
    if not options:
        raise Refusal(f"This is not a fetch: {FORM}")
    if "--fail" in options:
        raise Refusal("Leave --fail out: the envelope's gaps say what failed")
    if "--verbose" in options or any(re.fullmatch("-[A-Za-z]+", word) for word in options):
        raise Refusal("Leave -v out: only the envelope may be printed")


def _check_adapter_options(options: list[str], allowed: Collection[str], sources: Collection[str]) -> None:
    """Raise Refusal for a word that an adapter may not use. An option is ``--name`` or ``name=value``.

    The value of an option that takes one may look like either. Of a plugin's source the guard does not know which do.
    """
    if re.fullmatch("[a-z][A-Za-z0-9_-]*", options[0]):  # a command of pit_fetch, today's or tomorrow's
        raise Refusal(NOT_A_FETCH.format(options[0][:40]))
    valued = COMMON_OPTIONS - FLAGS
    if sources and set(map(_option, SOURCES)).issuperset(map(_option, sources)):
        valued |= SOURCE_OPTIONS - FLAGS
    takes_value = False
    for word in options:
        name, equals, _ = word.partition("=")
        is_value, takes_value = takes_value, not takes_value and word.startswith("--") and word[2:] in valued
        is_number = re.fullmatch(r"-|-[0-9]*\.?[0-9]+", word)
        if name.startswith("-") and not is_number and not (name.startswith("--") and name[2:] in allowed):
            raise Refusal(NOT_FOR_ADAPTERS.format(name[:40], _suggestion(name, allowed)))
        is_pair = equals and not is_value and re.fullmatch("[A-Za-z][A-Za-z0-9_-]*", name)
        if is_pair and _option(name) not in allowed:
            reason = NOT_FOR_ADAPTERS.format(f"{name[:40]}=...", _suggestion(name, allowed))
            raise Refusal(f"{reason}; write a value that contains = as --name=VALUE")


def _suggestion(name: str, allowed: Collection[str]) -> str:
    """Return a question after the option that a mistyped one is likely to mean; "" for none."""
    from difflib import get_close_matches  # slow to import, and a good call needs none of it

    option = _option(name[:40])
    longer = sorted(
        (known for known in allowed if known.startswith(f"{option}-")), key=lambda known: (len(known), known)
    )
    likely = longer or get_close_matches(option, sorted(allowed), 1, 0.85)
    return f"did you mean --{likely[0]}? If not, " if likely and option not in allowed else ""


def _check_pits(pits: list[str], most: int, ceiling: str | None, gate: ModuleType) -> None:
    if len(pits) > most:
        raise Refusal("Give --pit once")
    if ceiling is None:
        return
    latest = _parse_ceiling(ceiling, gate)
    moments = list(map(gate.parse_pit, pits))
    if None in moments and all(pits):
        raise Refusal(f"--pit is not {gate.PIT_FORM}: {FORM}")
    if not moments or any(pit is None or pit > latest for pit in moments):
        raise Refusal(f"Every call needs a --pit at or before {ceiling}: {FORM}")


def _parse_ceiling(ceiling: str, gate: ModuleType) -> Any:
    latest = gate.parse_pit(ceiling)
    if latest is None:
        raise Refusal(f"{CEILING_VARIABLE} is not {gate.PIT_FORM}: the operator of this session must correct it")
    return latest


# The private file.


def private_file(hook: Mapping[str, Any], environ: Mapping[str, str], gate: ModuleType) -> str:
    """Make the empty file that the envelope of this call goes to. Raise Refusal if that is not possible."""
    label = gate.call_label(hook)
    if not label:
        raise Refusal(NO_CALL_ID)
    project = environ.get("CLAUDE_PROJECT_DIR") or str(hook.get("cwd") or os.getcwd())
    problem = "no folder for temporary files"
    for place in (environ.get("TMPDIR", ""), "/tmp", "/var/tmp"):  # noqa: S108 - in a folder that is private
        store = os.path.join(place, f"pit_fetch-{os.geteuid()}")
        if not re.fullmatch("/[A-Za-z0-9_./-]+", store) or _is_inside(store, project):
            continue  # the command names it without quotes, and an agent reads its project
        try:
            _make_private(store, gate)
            path = os.path.join(store, f"{label}.{os.urandom(16).hex()}")
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
            return path
        except OSError as error:
            problem = f"{store}: {error.strerror}"
    raise Refusal(NO_PRIVATE_FILE.format(problem))


def _is_inside(path: str, project: str) -> bool:
    project = os.path.realpath(project)
    return project != os.sep and os.path.realpath(path).startswith(os.path.join(project, ""))


def _make_private(store: str, gate: ModuleType) -> None:
    """Make the folder unless it exists, and remove files that no gate took. Raise OSError if others may enter it."""
    try:
        os.mkdir(store, 0o700)
    except FileExistsError:
        if not gate.is_private(os.lstat(store), folder=True):
            raise OSError(0, "it is not a folder of this user's with mode 0700") from None
    with os.scandir(store) as entries:
        for entry in entries:
            try:
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > PRIVATE_SECONDS:
                    os.unlink(entry.path)
            except OSError:
                continue


def load_gate(with_trial: bool) -> ModuleType:
    """Return the gate beside this file, by its path and never the import path.

    Raise Refusal if it cannot be loaded or, ``with_trial``, does not withhold a planted leak.
    """
    gate = ModuleType("pit_gate")
    path = gate.__file__ = os.path.join(_HERE, "pit_gate.py")
    stdout, sys.stdout = sys.stdout, io.StringIO()  # what it prints would corrupt our answer
    try:
        # As an import does it: compiling the file for every command would take longer than all the rest.
        code = SourceFileLoader("pit_gate", path).get_code("pit_gate")
        exec(code or "", gate.__dict__)  # noqa: S102 - the file beside this one
        is_sound = bool(gate.ENDING) and (not with_trial or withholds(gate.respond(planted_leak())))
    except BaseException:  # noqa: BLE001 - whatever is wrong with the gate, even SystemExit
        is_sound = False
    finally:
        sys.stdout = stdout
    if not is_sound:
        raise Refusal(GATE_BROKEN)
    return gate


def planted_leak() -> dict[str, Any]:
    """Return a PostToolUse hook input whose output holds an item from the day after the PIT."""
    late = '{"available_at": "2024-01-02T00:00:00Z", "available_at_source": "provider_metadata", "title": "%s"}'
    envelope = '{"data": [%s], "gaps": []}' % (late % _PLANTED)
    return {
        "hook_event_name": "PostToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "pit_fetch --source x --pit 2024-01-01T00:00:00Z"},
        "tool_response": {"stdout": envelope, "stderr": "", "interrupted": False},
    }


def withholds(answer: Any) -> bool:
    """Return whether a gate's answer to the planted leak blocks it and replaces it with something else."""
    replacement = answer["hookSpecificOutput"]["updatedToolOutput"]
    complete = {"stdout", "stderr", "interrupted"} <= replacement.keys()
    return answer["decision"] == "block" and complete and _PLANTED not in str(answer)


def rebuild_command(call: RebuiltCommand, path: str, gate: ModuleType) -> str:
    """Return the command that runs. ``path`` is the private file of a call that has one."""
    if not call.private:
        return str(gate.join_words(call.words))
    options = len(gate.options_of(call.words))  # the file is named behind the last of them
    words = [*call.words[:options], gate.RELEASE_OPTION, path, *call.words[options:]]
    return f"{gate.join_words(words)}{gate.ENDING}"


def _run_instead(hook: Mapping[str, Any], call: RebuiltCommand, path: str, gate: ModuleType) -> dict[str, Any]:
    """Return the hook's answer that lets a rebuilt command run, in the foreground and to its end."""
    tool_input = {name: value for name, value in _input_of(hook).items() if name != "run_in_background"}
    if call.private:
        tool_input["timeout"] = TIMEOUT_MS
    tool_input["command"] = rebuild_command(call, path, gate)
    return _change_input(tool_input)


def _change_input(tool_input: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hook's answer that changes a call's input. The user's own rules still decide whether it may run."""
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": tool_input}}


def _name_ceiling(reason: str, ceiling: str | None, gate: ModuleType | None) -> str:
    """Return a refusal whose example holds to the ceiling, and names it."""
    latest = gate.parse_pit(ceiling) if gate else None
    if latest is None or EXAMPLE_PIT not in reason:
        return reason
    return f"{reason.replace(EXAMPLE_PIT, latest.isoformat())} (this session's ceiling is {ceiling})"


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
    """Return the answer to one PreToolUse hook input: ``{}`` leaves the call alone. It does not raise.

    ``gate`` is one that is known to withhold a leak; default: the one beside this file.
    """
    slips: Mapping[str, str] = {}
    try:
        slips = _misspelt_restrictions(environ, gate)
        environ = {**environ, **dict.fromkeys(slips, UNREADABLE)}
        if not _needs_gate(hook, environ):
            return {}
        # The result of an MCP tool is shown unless the gate withholds it, so the gate is tried first. That of a
        # Bash call is shown only if the gate releases it.
        gate = gate or load_gate(with_trial=_is_query(hook))
        call = decide(hook, environ, gate)
        if call is None:
            return {}
        if isinstance(call, str):
            return _change_input({**_input_of(hook), "query": call})
        return _run_instead(hook, call, private_file(hook, environ, gate) if call.private else "", gate)
    except Refusal as refusal:
        if slips:
            return deny(f"{next(iter(slips.values()))}. The operator of this session must correct it")
        return deny(_name_ceiling(str(refusal), environ.get(CEILING_VARIABLE), gate))
    except Exception as error:  # noqa: BLE001 - what cannot be examined does not run
        return deny(f"Internal guard error: {type(error).__name__}")


# Neo4j: which calls of the MCP server's tools may run.

# The server's namespace option puts a prefix before these names.
NEO4J_READ, NEO4J_WRITE, NEO4J_SCHEMA = NEO4J_TOOLS = ("read_neo4j_cypher", "write_neo4j_cypher", "get_neo4j_schema")
OWN_PATTERNS = "cypher"  # the operator's own patterns, beside this file: one whole query in each *.cypher file

WRITES_FORBIDDEN = "Neo4j writes are forbidden"
IN_BACKTICKS = ": a name of yours like that is written in backticks"
SCHEMA_IS_TODAYS = "get_neo4j_schema counts what is there today: under a ceiling, see the neo4j-schema skill"
NO_QUERY = "query is not a text: give one Cypher query"
NOT_A_PATTERN = (
    "With a PIT, the query is the name of a pattern of the query skills ('news: Latest'), or its text exactly as it is "
    "printed: only its parameters are yours"
)
NO_PATTERN = "The text of {!r} is not in {} as it ships: the operator runs pit_fetch init --with neo4j --upgrade"
ONLY_PARAMS = "With a PIT, give query and params and nothing else, params as an object"
NO_PIT = f"params.pit is missing: params: {{pit: '{EXAMPLE_PIT}', ...}}"
ONE_PIT = "Name the PIT once, as params.pit"
PIT_MALFORMED = "params.pit is not YYYY-MM-DDTHH:MM:SS with Z or an offset"

# BLAKE2b of every pattern that ships, as pattern_lines reads it, and its name; python -m tests.repo.seal writes this
# table. Digests, so that an edited skill is no pattern, wherever the hooks were copied.
SHIPPED_PATTERNS = {
    "921def0d4d134fda0192ced8f786b8c6160f43da761342af": "entity: Latest prices",
    "f5bff6a1c38dff801cdf6118fb96092c9f7fb3b3620ed1ec": "entity: Prices in a range",
    "0338c8c568c955f609f7e74e39258938636597c35cb6caf5": "entity: Latest dividends",
    "da6e3032a179a5f1fb4ecde5096b798c0ff35136093ab578": "entity: Dividends in a range",
    "35213dc32808c4e7e1dc677b83e8518baa329d5c18217ec3": "entity: Latest splits",
    "d3e85adfe86c8a23bd10c8deeb27d8484fe3e965642f9cc3": "entity: Splits in a range",
    "8d54335191117fe2e7dc4f313c5103ba3faf518a5ec76d5e": "news: Latest",
    "72982acb634ba0ca3417c0cefc8bc8697f4a2f6ed89353a6": "news: Latest, with the full text",
    "144cc3756832b917a8428603ea445493e683a0e73cbec7bf": "news: In a range",
    "10cb28c12659228fbe85bbf9368410a3e11ced86683532ec": "news: By channel",
    "d6e72b2692183171e830ba1aa46a80b070f44a0efee896de": "news: By words",
    "02972a16e4fb67f884de7c65440e2bd6b660d0c30b7a01c4": "news: By words, any company",
    "dbcc29842fbdd97d20ad39afb27d891d9d30fcfe02507004": "report: Latest",
    "6269d2d7aac9ff53ad29e78f48d097dd57333abefb6fb601": "report: In a range",
    "6fcefb20622349e5b2998c3725ee65ced495dd810398c1d8": "report: By form",
    "4e73bce96ecba1ca3b9457cceabfbc6dba5cf5f2a43a4eab": "report: By item",
    "88540fe95963c05bd4049c111d42ae621322b7b02eb159a5": "report: By fiscal period",
    "3b892e8a32bd7429f3c0a7d887c4fa8fa7c8ba0b837f941a": "report: By accession number",
    "0171fc75df82c2d4ad12481347cfcd87a800f76e033f2f68": "report: Filings whose sections match words",
    "bad5c366b24db71f607f2463aa31b00365c0bbf2d335a2c1": "report: Sections that match words",
    "d77bb9157a06b83cd960ea159582369975d162b578c2abdf": "report: Exhibits that match words",
    "ad2408bd452840ab994275b4fc9feb1ef6ea1c163558ecdc": "report: What sections a filing has",
    "1f81a3087ab9503752464609d256f27724a768076426d806": "report: One section of a filing",
    "f7ec86367777b500da76ba8abae7aae57401281c571571bb": "report: One exhibit of a filing",
    "3b2cc7c3e85bbffe4f66a86ca16e3e8474575bd04a966cb6": "report: Financial statements of a filing",
    "03547ea535e0bc31aac0a26c2a3eadb1d3248c5237799f35": "report: The text of a filing without sections",
    "e390efbb4e948ccb2612f579c881517178b32ce813ee5839": "transcript: Latest",
    "1141eb208d6301e61fd7571dad04766a5c97ee3d816f87bd": "transcript: In a range",
    "130335a14196cf6977902565020607034d5e8f5bc7c12d43": "transcript: By fiscal year and quarter",
    "8e88d3f02506969d26d274f2d2c07fcb4a71a3e3ee4523aa": "transcript: Questions and answers of a call",
    "a8fb46d4dcb998c0624be0b9fbee1c68e157101dcb5ca7bc": "transcript: Questions and answers that match words",
    "03677fed4de01cbe4c23a7423b54ba6b29b6d01b97980673": "transcript: Questions of one person",
    "4475476eee621ff4cf1b68488444b8480a316d60d25bd99a": "transcript: Prepared remarks of a call",
    "9eb22e531d994a51dcf2adb063edcdd3a937ff4292fdad6d": "transcript: Prepared remarks that match words",
    "3914120637e0791e50d048ea5f3aa24944934b210e65da23": "transcript: Questions and answers in one text",
    "53167fdb3394773eabf7ef1c80b2633bf007f7fcbd9700c6": "transcript: Full text of a call",
    "d5751e82c572caf0c8106f484e6906a293d92f032c221522": "vector: News near an embedding",
    "35cbf06eed87fc4218b8bb67592b742d407e47fce73f83bf": "vector: News like a public item",
    "eb31e744634bd80efe9022d8e9ce5d855f7e44b86e94bb5d": "vector: Questions and answers near an embedding",
    "d520da3690e77cd3ef562dd8b9f4c686e9e5b6ce72b3025e": "vector: Questions and answers like a public one",
    "a76d962a4fd8485aa592633eeb38e6b2af9cff5955f5ccf1": "xbrl: By concept",
    "8ab82baf8ecd923c20b8d3a3527103c06b024f670318609c": "xbrl: By concept and period",
    "7686260efd553fa679b93662b2838904b2a2b80f96f4e4c7": "xbrl: By concept, at an instant",
    "c1a1210a5707e85b51c5a0eaff55dfdd791cd535a33fba00": "xbrl: By period",
    "585e08fa2b18870376a0dc135e9b5daea2b5c1da3bf5b261": "xbrl: By accession number",
    "0dea038a4c032a30ac40c2eab0211656c99bf3fcd4e84102": "xbrl: By accession number and concept",
}


def _read_query(arguments: Mapping[str, Any], environ: Mapping[str, str], gate: ModuleType) -> str | None:
    """Return the text of the pattern that a call names; None for any other query. Raise Refusal if it may not run."""
    ceiling, query = environ.get(CEILING_VARIABLE), arguments.get("query")
    if not isinstance(query, str):
        raise Refusal(NO_QUERY)
    pattern = named_pattern(query, _HERE)
    query = query if pattern is None else pattern
    try:
        pits = gate.named_pits(arguments)
    except Exception:  # noqa: BLE001 - the gate could not read them either
        raise Refusal(ONE_PIT) from None
    with_pit = ceiling is not None or bool(pits)
    if with_pit:
        _check_params(arguments, pits, ceiling, gate)
    elif "$pit" in query and _is_pattern(query, _HERE):
        raise Refusal(NO_PIT)
    check_query(query, with_pit, _HERE)
    return pattern


def named_pattern(query: str, folder: str) -> str | None:
    """Return the text of the shipped pattern that a query names ("news: Latest"); None if it names none.

    It is in a skill beside the hooks' ``folder``, or in the package that holds it. Raise Refusal if it is not.
    """
    wanted = query.strip().casefold()
    name = next((name for name in SHIPPED_PATTERNS.values() if name.casefold() == wanted), None)
    if name is None:
        return None
    skill = os.path.join("skills", f"{name.partition(':')[0]}-patterns", "SKILL.md")
    for home in (os.path.dirname(folder), os.path.join(folder, "pit_fetch", "claude_code", "data")):
        if os.path.isfile(os.path.join(home, skill)):
            with open(os.path.join(home, skill), encoding="utf-8") as file:
                for pattern in re.findall(r"(?ms)^```cypher\n(.*?)\n```$", file.read()):
                    if SHIPPED_PATTERNS.get(pattern_digest(pattern)) == name:
                        return str(pattern)
    raise Refusal(NO_PATTERN.format(name, skill))


def check_query(query: str, with_pit: bool, folder: str) -> None:
    """Raise Refusal if the read tool may not run a query. ``folder`` holds the operator's own patterns."""
    if not with_pit:
        _check_cypher(query)
    elif not _is_pattern(query, folder):
        raise Refusal(NOT_A_PATTERN)


def _check_params(arguments: Mapping[str, Any], pits: list[Any], ceiling: str | None, gate: ModuleType) -> None:
    """Raise Refusal if the server and the gate might not go by the same PIT, or if it is after the ceiling."""
    params = arguments.get("params")
    pit = params.get("pit") if isinstance(params, dict) else None
    if pit is None or not str(pit).strip():
        raise Refusal(NO_PIT)
    if arguments.keys() - {"query", "params"}:
        raise Refusal(ONLY_PARAMS)
    if len(pits) != 1:
        raise Refusal(ONE_PIT)
    moment = gate.parse_iso8601(pit)
    if moment is None or pit != pit.strip():
        raise Refusal(PIT_MALFORMED)
    if ceiling is not None and moment > _parse_ceiling(ceiling, gate):
        raise Refusal(f"params.pit must be at or before {ceiling}")


def pattern_lines(query: str) -> list[str]:
    """Return the lines of a query, without indentation, blanks at their ends, and empty ones.

    Lines are never joined: a line break ends a comment, so without it the next line, perhaps the filter, would be
    part of the comment.
    """
    lines = [line.strip(" \t") for line in query.replace("\r\n", "\n").split("\n")]
    return [line for line in lines if line]


def pattern_digest(query: str) -> str:
    from hashlib import blake2b  # loads OpenSSL, which only a query needs

    text = "\n".join(pattern_lines(query)).encode("utf-8", "surrogatepass")
    return str(blake2b(text, digest_size=24).hexdigest())


def _is_pattern(query: str, folder: str) -> bool:
    lines = pattern_lines(query)
    return pattern_digest(query) in SHIPPED_PATTERNS or (bool(lines) and lines in list(own_patterns(folder)))


def own_patterns(folder: str) -> Iterator[list[str]]:
    """Yield the lines of each pattern of the operator's own, for which the operator alone is responsible."""
    own = os.path.join(folder, OWN_PATTERNS)
    for name in sorted(os.listdir(own)) if os.path.isdir(own) else ():
        if name.endswith(".cypher"):
            with open(os.path.join(own, name), encoding="utf-8") as source:
                yield pattern_lines(source.read())


# Free Cypher, without a PIT. A word that writes, or that reaches outside the database, is refused wherever it stands
# outside strings and comments. In backticks it is a name: Cypher takes no keywords there.

# How a statement may begin; this leaves out administration (DROP, ALTER, GRANT, STOP and so on).
_BEGINNING = (
    r"\s*(?:(?:explain|profile|cypher(?:\s+[0-9.]+)?(?:\s+\w+\s*=\s*\w+)*)\s+)*(?:match|optional|with|return|unwind|call"
    r"|filter|let|for|show(?:\s+(?:all|fulltext|vector|range|text|point|lookup|built|in|user|defined))*"
    r"\s+(?:index|indexes|constraints?|functions?|procedures?))\b(?!\s*=)"
)
# "csv" is that of LOAD CSV. Behind a number a word needs no blank: n.x=1SET, 0x1FSET.
_KEYWORD = r"(?:[0-9]\w*)?(call|create|csv|delete|detach|foreach|insert|merge|remove|set|use)"
_PROCEDURES = frozenset(
    {
        "db.index.fulltext.querynodes", "db.index.fulltext.queryrelationships",
        "db.index.vector.querynodes", "db.index.vector.queryrelationships",
        "db.labels", "db.relationshiptypes", "db.propertykeys",
    }
)  # fmt: skip
# The namespaces of Neo4j's own functions. Any other function with a namespace is a plugin's: apoc, genai and others
# read files, call services, or run Cypher of their own.
_NAMESPACES = frozenset(
    {"date", "datetime", "localdatetime", "localtime", "time", "duration", "point", "vector", "coll"}
)
_NAME = r"(?<![\w$])[\w$]+(?:\s*\.\s*[\w$]+)*"
# What follows a name: the arguments of a function. And CALL: a subquery, or the end of a variable of this name.
_ARGUMENTS, _AFTER_CALL = r"\s*\(", rf"\s*(?:[{{(:,)\]]|$|({_NAME}))"
_UNREAD = (
    r"(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<string>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")|`(?P<name>(?:[^`]|``)*)`"
    r"|['\"`]|/\*"
)


def _check_cypher(query: str) -> None:
    """Raise Refusal unless a query, which runs without a PIT, only reads.

    Neo4j decodes ``\\uXXXX`` before anything else; other engines do so inside strings, or never. So a query has to be
    harmless however it is read.
    """
    decoded = _decode(query)
    for reading in dict.fromkeys((query, decoded, _decode(decoded))):
        text = re.sub(_UNREAD, _without_content, reading, flags=re.DOTALL).casefold().rstrip("; \t\r\n")
        if not text.strip():
            raise Refusal(NO_QUERY)
        if ";" in text:
            raise Refusal("Give one statement, not several")
        if not re.match(_BEGINNING, text):
            raise Refusal("Begin with MATCH, WITH, RETURN, UNWIND or CALL: other statements are not for reading")
        for match in re.finditer(_NAME, text):
            _check_name(_joined_name(match[0]), text, match.end())


def _decode(query: str) -> str:
    return re.sub(r"\\u+([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), query)


def _without_content(match: re.Match[str]) -> str:
    """Return what stands for a comment, a string or a name in backticks, which then is like no keyword."""
    if match.lastgroup is None:
        raise Refusal("The query has a string, a name or a comment without an end")
    if match.lastgroup == "name":
        return " _" + re.sub(r"[^\w.]", "_", match["name"]) + " "
    return " " if match.lastgroup == "comment" else "''"


def _joined_name(name: str) -> str:
    return re.sub(r"\s", "", name)


def _check_name(name: str, text: str, end: int) -> None:
    """Raise Refusal if a name with dots, which ends at ``end`` of ``text``, writes or reaches outside the database."""
    parts = name.split(".")
    keywords = [match[1] if (match := re.fullmatch(_KEYWORD, part)) else "" for part in parts]
    outside = next((word for word in keywords if word not in ("", "call")), "")
    if outside:
        raise Refusal(f"{outside.upper()} is no word of reading{IN_BACKTICKS}")
    if keywords[-1]:
        after = re.compile(_AFTER_CALL).match(text, end)
        if after is None or (after[1] and _joined_name(after[1]) not in _PROCEDURES):
            raise Refusal(f"CALL is for subqueries and the procedures that only read an index{IN_BACKTICKS}")
    is_called = re.compile(_ARGUMENTS).match(text, end) is not None
    if is_called and len(parts) > 1 and parts[0] not in _NAMESPACES and name not in _PROCEDURES:
        raise Refusal(f"{parts[0]}.* is not Neo4j's own: such a function can reach outside the database")


# The process.


def _arm(seconds: int, last_words: str) -> None:
    """Have the process write ``last_words`` and exit with status 0 after ``seconds``. 0 disarms."""

    def ring(signum: int, frame: object) -> None:
        os.write(1, last_words.encode("ascii"))
        os._exit(0)

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, ring)
        signal.alarm(seconds)


def main() -> int:
    _arm(ALARM_SECONDS, json.dumps(deny("The guard ran out of time")) + "\n")
    try:
        answer = respond(json.loads(sys.stdin.buffer.read().decode("utf-8", "replace")), os.environ)
    except (ValueError, RecursionError):
        answer = deny("Hook input is not valid JSON")
    _arm(0, "")
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    gc.freeze()  # to look for garbage at the end would take a tenth of the time
    return 0


if __name__ == "__main__":
    sys.exit(main())
