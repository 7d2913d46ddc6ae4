#!/usr/bin/env python3
"""The point-in-time gate: the one check that nothing after the PIT gets out.

One file, standard library only, Python 3.9 and later. It is used twice on the same bytes:
``pit_fetch`` calls :func:`check` before the first byte of its standard output, and Claude Code
runs this file as a PostToolUse hook on what the tool printed.

The rules, in the order in which :func:`check` applies them to an envelope:

 1. it is one JSON document: no NaN, no duplicate key                    PIT_INVALID_JSON
 2. no key, at any depth, is a forbidden return-data field               PIT_FORBIDDEN_FIELD
 3. it is an object (or an array that holds exactly one)                 PIT_INVALID_JSON
 4. its keys are ``data``, an array, and ``gaps``, an array              PIT_MISSING_ENVELOPE
 5. every item is an object                                              PIT_INVALID_ITEM_TYPE
 6. with an ``available_at``                                             PIT_MISSING_AVAILABLE_AT
 7. that is an ISO 8601 date and time                                    PIT_INVALID_AVAILABLE_AT_FORMAT
 8. with an offset                                                       PIT_MISSING_TZ
 9. and a known ``available_at_source``                                  PIT_INVALID_AVAILABLE_AT_SOURCE
10. no ``available_at``, ``revised_at`` or ``first_seen_at``, at any
    depth, in any case, and in text that holds JSON, is after the PIT   PIT_VIOLATION_GT_CUTOFF

As a hook it reads the hook's JSON on stdin and always exits 0.

The output of a call that the guard let run (``pit_guard.py``) is not on its stdout but in a private
file, and the model would see only :data:`SENTINEL`: the gate takes the file, judges it, and puts it
in the sentinel's place. If the gate does not run, nothing is shown.

Output of another tool, or of a call in a session that has no guard, is in front of the model
already: ``{}`` leaves it there, and ``{"decision": "block", "reason": "<CODE>: <detail>"}`` blocks. A
block alone hides nothing (measured on Claude Code 2.1.329, docs/enforcement.md), so blocked output is
also replaced, in the shape of the tool that was called (``updatedToolOutput``).
A reason names an index and a field. It never quotes a value: the value is what must not get out.
"""

from __future__ import annotations

import os
import stat
import sys

# The process starts on every call by an agent, and importing json, re and datetime takes as long as starting Python
# does. So the C cores of modules are used where there are such, and re where a call has need of it; ADR 24 has the
# figures, tests/repo/bench_gate.py holds the limit.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime, timedelta, timezone
    from typing import Any, Callable, Collection, Iterable, Iterator, List, Optional, Tuple
else:
    try:
        from _datetime import datetime, timedelta, timezone
    except ImportError:
        from datetime import datetime, timedelta, timezone

VALID_SOURCES = frozenset({"neo4j_created", "edgar_accepted", "time_series_timestamp", "provider_metadata"})

FORBIDDEN_KEYS = frozenset(
    {
        "daily_stock", "hourly_stock", "session_stock",
        "daily_return",
        "daily_macro", "daily_industry", "daily_sector",
        "hourly_macro", "hourly_industry", "hourly_sector",
    }
)  # fmt: skip

# When a record became public, its last revision, and when an archive first held what no stamp of the source proves.
_OTHER_STAMPS = ("revised_at", "first_seen_at")
_STAMPS = frozenset({"available_at", *_OTHER_STAMPS})

PIT_PARSE_ERROR = "PIT_PARSE_ERROR"
PIT_INVALID_PIT = "PIT_INVALID_PIT"
PIT_INVALID_JSON = "PIT_INVALID_JSON"
PIT_MISSING_ENVELOPE = "PIT_MISSING_ENVELOPE"
PIT_INVALID_ITEM_TYPE = "PIT_INVALID_ITEM_TYPE"
PIT_MISSING_AVAILABLE_AT = "PIT_MISSING_AVAILABLE_AT"
PIT_INVALID_AVAILABLE_AT_FORMAT = "PIT_INVALID_AVAILABLE_AT_FORMAT"
PIT_MISSING_TZ = "PIT_MISSING_TZ"
PIT_INVALID_AVAILABLE_AT_SOURCE = "PIT_INVALID_AVAILABLE_AT_SOURCE"
PIT_VIOLATION_GT_CUTOFF = "PIT_VIOLATION_GT_CUTOFF"
PIT_FORBIDDEN_FIELD = "PIT_FORBIDDEN_FIELD"
PIT_NOT_RELEASED = "PIT_NOT_RELEASED"

# How the guard ends a call: FILE is private, and its name begins with the id that the client gave to the call.
RELEASE_OPTION = "--release"
SENTINEL = f"{PIT_NOT_RELEASED}: the gate did not run"
ENDING = f" >/dev/null 2>&1; echo '{SENTINEL}'"

CEILING_VARIABLE = "PIT_FETCH_CEILING"
LOG_VARIABLE = "PIT_GATE_LOG"
LOG_MAX_BYTES = 1_000_000
# Less than the 10 s that the shipped wiring gives the hook: the client kills a late hook and shows the output.
ALARM_SECONDS = 7
LOG_SECONDS = 1

_DIGITS_TO_ZERO = str.maketrans("123456789", "000000000")

_NAIVE_INSTANT = r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(?:\.[0-9]+)?"

# The name of a zone in brackets, as its database spells it: "posix/" and "right/" (which counts leap seconds) are not.
_ZONED = r"([^\[\s]+)\[(UTC|[A-Z][A-Za-z_]*(?:/[A-Za-z0-9_+-]+)+)\]"

# What bash takes literally outside quotes, besides letters and digits; and all but the latter inside double quotes.
_BARE_SIGNS = frozenset("_./:=,@%+^-")
_LIVE_IN_DOUBLE_QUOTES = frozenset("$`\t\n")
_ESCAPED_IN_DOUBLE_QUOTES = frozenset('$`"\\')

# What a command that only mentions pit_fetch may hold besides: lists, globs, output that is thrown away, and
# "$(cat <<'EOF' ... EOF)", the form in which agents write a long message (the quoted word makes it literal). No line of
# it may begin with that word: bash takes "EOF)" for the end.
_LOOSE_PIECE = (
    r'"\$\(cat <<[ ]*\'(?P<mark>\w+)\'\n(?P<body>(?:(?!(?P=mark)).*\n)*)(?P=mark)\n[ \t]*\)"'
    r"|(?P<away>(?:[12]?>[ \t]*/dev/null|2>&1)(?![^ \t\n|&;]))|(?P<next>&&|\|\|?|;|\n)|(?P<glob>[*?~])"
)

_HARMLESS_PYTHON_FLAGS = frozenset("BEIOPqsSu")
_JSON_BLANKS = " \t\n\r"
_UNREADABLE_PIT = r"(?i)(?<![a-z])pit\s*[\"']?\s*:"
# A string of a JSON document that may be a JSON document in turn, that holds the name of a stamp, or that is written
# with escapes nobody needs (some encoders write every quote as one).
_EMBEDDED = r'"(?:\s|\ufeff|\\+(?:[nrt]|u(?:[fF][eE][fF]{2}|000[9aAdD])))*[\[{]'
_STAMP_NAME = r"(?i:available_at|revised_at|first_seen_at)"
_NAME_IN_TEXT = _STAMP_NAME + r'(?!(?:_source)?")'  # not the key of an object
_ESCAPED_ASCII = r"(?<!\\)\\+u00([2-7][0-9A-Fa-f])"
# In JSON, however often it was quoted, in a dict of Python's, in YAML, as an argument or an attribute, as an element, a
# row of a table. No two of the marks can begin alike, so what is no stamp is seen to be none in one pass.
_MARKS = (
    r"""(?:\s|\\+[nrt]|\\*["'`*]|&#?\w+;|[ub](?=\\*["'])|<!\[CDATA\[|[\[(]|![!\w:/.,-]*\s"""
    r"""|(?:new )?[A-Za-z_][\w.]{0,40}\()*"""
)
_BEFORE_STAMP = rf"(?:{_STAMP_NAME}{_MARKS}[:=>|][=>]?|<[\w:]{{0,40}}{_STAMP_NAME}\s[^<>]{{0,200}}>)"
_STAMP_IN_TEXT = rf"""{_BEFORE_STAMP}{_MARKS}([+-]?[0-9][^\s"'`*\\,;&}}\])<|]*)"""
_CWD_NOTICE = r"\s*(?:Shell cwd was reset to [^\n]*)?\s*"

_WRAPPER = "pit_fetch"
_OPTION_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_PIT_OPTION = r"""--pit(?![\w-])(?:(?:=|\s+)["']?([^\s"';&|)]+))?"""

_LISTING_FLAGS = frozenset({"--help", "-h", "--version", "--list-sources"})
_LISTING_WORDS = frozenset({"doctor", "lint", "help", "sources", "config", "completion", "new-provider"})

# Programs that read, move or check files, which may have the name, and what makes some of them run what they are given.
_READERS = frozenset(
    {
        "basename", "cat", "cd", "chmod", "cmp", "comm", "cp", "cut", "diff", "dirname", "du", "echo", "egrep", "fgrep",
        "file", "find", "grep", "head", "jq", "less", "ln", "ls", "md5sum", "mkdir", "mv", "mypy", "nl", "pip", "pip3",
        "pwd", "pytest", "readlink", "realpath", "rg", "rm", "rmdir", "ruff", "sha256sum", "sort", "stat", "tail",
        "tar", "tee", "test", "touch", "tree", "type", "uniq", "wc", "which",
    }
)  # fmt: skip
_READER_RUNS = r"-(exec|ok|delete|f(print|ls))|--(pre(=|$)|hostname|py(?!args))|-[\w-]*[*?]"
# Of some programs: an index is arithmetic for test -v, which runs what is in it; pip config runs an editor, sort --co a
# compressor, less +! and tar -I (or xIf) a command, tar HOST:FILE a shell.
_PROGRAM_RUNS = {
    "less": r"\+|--(cm|le)|-[A-Za-z]*k",
    "pip": r"config$",
    "pip3": r"config$",
    "sort": r"--co",
    "tar": r"--(?!exclude=)|-[A-Za-z]*[IF]|[A-Za-z]*[IF][A-Za-z]*$|[^/]*:",
    "test": r"-[vR]$",
}
# Those that an argument can make run something; so what xargs would give them is not known to be harmless.
_RUNNERS = frozenset({*_PROGRAM_RUNS, "find", "mypy", "pytest", "rg"})
# What makes another program run under the name of a reader that follows in the list.
_REDEFINING = frozenset({"alias", "builtin", "command", "enable", "eval", "hash", "trap"})
_READING_MODULES = frozenset({"mypy", "pip", "pytest", "ruff"})
_READING_SED = r"[0-9]+(,(\+?[0-9]+|\$))?p"
_GH_COMMANDS = frozenset({"issue", "pr", "release", "run", "search"})
# The commands of git that record or show; -c, -O and the like (long ones may be shortened) make git run what they name.
_GIT_COMMANDS = frozenset(
    {
        "add", "blame", "branch", "checkout", "commit", "diff", "fetch", "grep", "log", "ls-files", "mv", "push",
        "reset", "restore", "rev-parse", "rm", "show", "stash", "status", "switch", "tag",
    }
)  # fmt: skip
_GIT_RUNS = r"-\w*O|--op|--ext|--textc|--ex?e?(=|$)|--exe|--rece|--upl|.*ext::|-c$|-\w*F$|-[\w-]*[*?]"

# What Claude Code 2.1.329 adds to a Bash result. Anything else that holds text is unknown, so it is withheld.
_HARMLESS_BASH_FIELDS = frozenset({"stdout", "stderr", "returnCodeInterpretation"})


class Finding:
    """Why output must not pass: one of the codes above, and a detail that quotes no value."""

    __slots__ = ("code", "detail")

    def __init__(self, code: str, detail: str) -> None:
        self.code, self.detail = code, detail


class _Refused(Exception):
    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code)
        self.finding = Finding(code, detail)


# The pure core: text in, finding out.


def parse_iso8601(text: object, round_up: bool = False) -> Optional[datetime]:
    """An aware datetime from ``YYYY-MM-DDTHH:MM:SS[.frac](Z|±HH:MM)``; None for anything looser.

    Digits beyond the microsecond are dropped or, with ``round_up``, rounded up: a PIT is rounded down
    and a record's stamp up, so that neither ever lets more through than it says.
    """
    if not isinstance(text, str):
        return None
    text = text.strip()
    if text.endswith("Z"):
        text = text[:-1] + "+00:00"
    shape = text.translate(_DIGITS_TO_ZERO)  # of any other script's digits there are none in it
    if shape[:19] != "0000-00-00T00:00:00" or shape[-6:] not in ("+00:00", "-00:00"):
        return None
    if text[11:13] > "23" or text[-2:] > "59":  # not every version of datetime insists on these two
        return None
    dot, fraction = text[19:-6][:1], text[20:-6]
    if dot and (dot != "." or not fraction or shape[20:-6].strip("0")):
        return None
    try:
        moment = datetime.fromisoformat(f"{text[:19]}.{fraction[:6]:0<6}{text[-6:]}" if dot else text)
        if round_up and fraction[6:].strip("0"):
            moment += timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None
    return moment


def parse_pit(text: object) -> Optional[datetime]:
    """An aware datetime from a PIT: an instant as above, or with an IANA zone in brackets; None for anything looser.

    ``2024-07-15T16:00:00[America/New_York]`` is a wall clock in that zone, and must be shown there exactly
    once. With an offset as well (RFC 9557), the zone must have that offset at that instant. Where there is
    no zone database, neither can be read.
    """
    if not isinstance(text, str) or not text.rstrip().endswith("]"):
        return parse_iso8601(text)
    import re
    import zoneinfo  # costs more than the rest of a small check, and few calls need it

    match = re.fullmatch(_ZONED, text.strip())
    if match is None:
        return None
    try:
        zone = zoneinfo.ZoneInfo(match[2])
        moment = parse_iso8601(match[1])
        if moment is not None:
            return moment if moment.astimezone(zone).utcoffset() == moment.utcoffset() else None
        wall = parse_iso8601(match[1] + "Z")
        if wall is None:
            return None
        early, late = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
        return early.astimezone(timezone.utc) if early.utcoffset() == late.utcoffset() else None
    except (KeyError, OSError, ValueError, OverflowError):  # no such zone, or no database
        return None


def _is_naive(text: str) -> bool:
    """Whether ``text`` is a date and time that lacks only the offset."""
    import re

    match = re.fullmatch(_NAIVE_INSTANT, text)
    return match is not None and parse_iso8601(f"{match[1]}T{match[2]}{match[3] or ':00'}Z") is not None


def check(text: str, pit: datetime) -> Optional[Finding]:
    """The first finding against an envelope in JSON ``text`` at the instant ``pit``; None if it is clean."""
    try:
        payload, stamped = _load(text)
        finding = _check_payload(payload, stamped, pit)
        if finding is None and _may_quote_stamps(text):
            finding = _check_embedded(payload, pit)
        return finding
    except _Refused as refused:
        return refused.finding


def _may_quote_stamps(text: str) -> bool:
    """Whether a string of a JSON document may hold stamps: what is quick to see, first."""
    lower, is_escaped = text.lower(), "\\" in text
    if is_escaped and ("\\u017f" in lower or "\\u0131" in lower):  # for re other forms of s and i
        return True
    if is_escaped and "\\u00" in text and any(f"\\u00{digit}" in text for digit in "234567"):  # _ESCAPED_ASCII
        return True
    signs = ['"{', '"[', *(['"\\'] if is_escaped else [])]  # what _EMBEDDED needs
    if '" ' in text:
        signs += ['" {', '" [', '"  ', '" \\']
    is_nested = not text.isascii() or any(sign in text for sign in signs)  # re knows more blanks
    is_named = lower.count("_at") != lower.count('_at"') + lower.count('_at_source"')  # what _NAME_IN_TEXT needs
    if not is_nested and not is_named:
        return False
    import re

    return bool(re.search(_EMBEDDED, text) or re.search(_NAME_IN_TEXT, text))


def _load(text: str) -> tuple[Any, list[dict[str, Any]]]:
    """The parsed document, and every object in it, at any depth, that carries a timestamp.

    Objects are checked as the parser builds them: no second pass, and no depth limit of our own.
    """
    stamped: list[dict[str, Any]] = []
    harmless: set[str] = set()
    misspelt: set[str] = set()  # names of stamps in another case; who has one is listed once more

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) != len(pairs):  # (1): no duplicate key
            raise _Refused(PIT_INVALID_JSON, "Tool output repeats a JSON key")
        if not harmless.issuperset(built):
            for key in built.keys() - harmless:
                if key.lower() in FORBIDDEN_KEYS:  # (2): no forbidden field, at any depth
                    raise _Refused(PIT_FORBIDDEN_FIELD, f"Forbidden return-data field: {key.lower()}")
                if key not in _STAMPS and _is_stamp(key):
                    misspelt.add(key)
                harmless.add(key)
        if "available_at" in built or "revised_at" in built or "first_seen_at" in built:
            stamped.append(built)
        if misspelt and not misspelt.isdisjoint(built):
            stamped.append(built)
        return built

    def constant(_: str) -> Any:  # (1): no NaN
        raise _Refused(PIT_INVALID_JSON, "Tool output contains a number that is not valid JSON")

    try:
        return read_json(text, build, constant), stamped
    except (ValueError, RecursionError):  # (1): one JSON document
        raise _Refused(PIT_INVALID_JSON, "Tool output is not valid JSON in PIT mode") from None


def _is_stamp(key: str) -> bool:
    return key.strip().lower() in _STAMPS


def _check_payload(payload: Any, stamped: list[dict[str, Any]], pit: datetime) -> Optional[Finding]:
    # (3): an object, or an array that holds exactly one
    if isinstance(payload, list) and payload and all(isinstance(record, dict) for record in payload):
        if len(payload) > 1:
            return Finding(PIT_MISSING_ENVELOPE, "Several records instead of one envelope")
        payload = payload[0]
    if not isinstance(payload, dict):
        return Finding(PIT_INVALID_JSON, "Tool output is not a JSON object")
    # (4): data and gaps, two arrays, and nothing else
    if "data" not in payload:
        return Finding(PIT_MISSING_ENVELOPE, "Missing data[] in response envelope")
    data = payload["data"]
    if not isinstance(data, list):
        return Finding(PIT_MISSING_ENVELOPE, "data is not an array")
    if not isinstance(payload.get("gaps", []), list):
        return Finding(PIT_MISSING_ENVELOPE, "gaps is not an array")
    if not payload.keys() <= {"data", "gaps"}:
        return Finding(PIT_MISSING_ENVELOPE, "Unknown top-level key besides data and gaps")
    for index, item in enumerate(data):
        finding = _check_item(item, pit, index)
        if finding is not None:
            return finding
    if len(stamped) > len(data):
        return _check_nested(stamped, data, pit)
    return None


def _check_item(item: Any, pit: datetime, index: int) -> Optional[Finding]:
    if not isinstance(item, dict):  # (5)
        return Finding(PIT_INVALID_ITEM_TYPE, f"data[{index}] is not an object")
    stamp = item.get("available_at")
    if not stamp or not isinstance(stamp, str):  # (6)
        return Finding(PIT_MISSING_AVAILABLE_AT, f"data[{index}] missing available_at")
    moment = parse_iso8601(stamp, round_up=True)
    if moment is None:
        if _is_naive(stamp.strip()):  # (8): an offset
            return Finding(PIT_MISSING_TZ, f"data[{index}].available_at has no UTC offset")
        return Finding(  # (7): a date and time
            PIT_INVALID_AVAILABLE_AT_FORMAT, f"data[{index}].available_at is not an ISO 8601 date and time with offset"
        )
    source = item.get("available_at_source")
    if not isinstance(source, str) or source.strip() not in VALID_SOURCES:  # (9)
        return Finding(PIT_INVALID_AVAILABLE_AT_SOURCE, f"data[{index}].available_at_source is missing or unknown")
    if moment > pit:  # (10): the item itself; its other stamps and nested ones follow
        return Finding(PIT_VIOLATION_GT_CUTOFF, f"data[{index}].available_at is after the PIT")
    for field in _OTHER_STAMPS:
        if item.get(field) not in (None, stamp):
            finding = _check_stamp(item[field], pit, f"data[{index}].{field}")
            if finding is not None:
                return finding
    return None


def _check_stamp(stamp: Any, pit: datetime, name: str) -> Optional[Finding]:
    """(10) for any other stamp, which must be readable for that."""
    moment = parse_iso8601(stamp, round_up=True)
    if moment is None:
        return Finding(PIT_INVALID_AVAILABLE_AT_FORMAT, f"{name} is not an ISO 8601 date and time with offset")
    return Finding(PIT_VIOLATION_GT_CUTOFF, f"{name} is after the PIT") if moment > pit else None


def _check_nested(stamped: list[dict[str, Any]], data: list[Any], pit: datetime) -> Optional[Finding]:
    """(10) below the items, in the gaps, and under names in another case."""
    items = {id(item) for item in data}
    for holder in stamped:
        checked = _STAMPS if id(holder) in items else ()
        for field, stamp in holder.items():
            if stamp is None or field in checked or not _is_stamp(field):
                continue
            finding = _check_stamp(stamp, pit, f"a nested {field.strip().lower()}")
            if finding is not None:
                index = next((i for i, item in enumerate(data) if _holds(item, holder)), None)
                where = "gaps" if index is None else f"data[{index}]"
                return Finding(finding.code, f"{where}: {finding.detail}")
    return None


def _check_embedded(payload: Any, pit: datetime) -> Optional[Finding]:
    """(2) and (10) in strings that hold JSON: an item may quote an envelope, or a careless plugin put one there.

    A string that is JSON as a whole is parsed, and what it quotes in turn. In any other the stamps are looked for by
    their names: an envelope may stand behind a word, be one line of several, or be written otherwise than as JSON.
    """
    import re

    stamps: list[Any] = []

    def values(pairs: list[tuple[str, Any]]) -> list[Any]:
        for key, value in pairs:
            if key.lower() in FORBIDDEN_KEYS:
                raise _Refused(PIT_FORBIDDEN_FIELD, f"Forbidden return-data field in embedded JSON: {key.lower()}")
            if value is not None and _is_stamp(key):
                stamps.append(value)
        return [part for pair in pairs for part in pair]

    pending = [payload]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending.extend(node.keys())
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, str):
            text = node.strip("\ufeff \t\r\n")
            if text[:1] in ("{", "[", '"'):
                try:
                    pending.append(read_json(text, values))
                    continue
                except (ValueError, RecursionError):
                    pass
            text = re.sub(_ESCAPED_ASCII, lambda match: chr(int(match[1], 16)), text)
            if "_at" in text.lower():
                stamps += (stamp.rstrip(".") for stamp in re.findall(_STAMP_IN_TEXT, text))
    return next(filter(None, (_check_stamp(stamp, pit, "a stamp in a text") for stamp in stamps)), None)


def _holds(tree: Any, target: dict[str, Any]) -> bool:
    pending = [tree]
    while pending:
        node = pending.pop()
        if node is target:
            return True
        if isinstance(node, dict):
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return False


# JSON, by the core of json.


class _Reading:
    """What json's scanner asks of a decoder."""

    strict, object_hook, parse_float, parse_int = True, None, float, int

    def __init__(self, pairs: Any, constant: Any) -> None:
        self.object_pairs_hook, self.parse_constant = pairs, constant or float


def read_json(text: str, pairs: Any = None, constant: Any = None) -> Any:
    """As json.loads, with its object_pairs_hook and parse_constant. Raises ValueError or RecursionError."""
    try:
        from _json import make_scanner

        scan: Any = make_scanner(_Reading(pairs, constant))  # type: ignore[arg-type]
    except (ImportError, AttributeError, TypeError):  # another Python than CPython, or a later one
        import json

        scan = json.JSONDecoder(object_pairs_hook=pairs, parse_constant=constant).raw_decode
    try:
        value, end = scan(text, len(text) - len(text.lstrip(_JSON_BLANKS)))
    except StopIteration:
        raise ValueError("not JSON") from None
    if text[end:].strip(_JSON_BLANKS):
        raise ValueError("more than one JSON document")
    return value


def write_json(value: Any) -> str:
    """As json.dumps."""
    try:
        from _json import encode_basestring_ascii, make_encoder

        write: Any = make_encoder
        write = write(None, None, encode_basestring_ascii, None, ": ", ", ", False, False, True)
        return "".join(write(value, 0))
    except (ImportError, TypeError):
        import json

        return json.dumps(value)


# The command line: which calls are calls of the wrapper.

if TYPE_CHECKING:
    _Piece = Tuple[str, int, str]
    _Command = Tuple[str, List[str]]


def _is_call(command: str) -> bool:
    """Whether a command may fetch: it names pit_fetch, and is neither a listing nor a mention."""
    if not names_wrapper(command) or is_listing(command):
        return False
    return wrapper_arguments(command) is not None or not only_mentions(command)


def names_wrapper(command: str) -> bool:
    """Whether a shell command mentions pit_fetch at all, however it is quoted."""
    return _names_wrapper(command.lower()) or _names_wrapper(_bare(command).lower())


def _names_wrapper(text: str) -> bool:
    """Whether ``text``, in lower case since some file systems ignore it, has the name as a word.

    It may stand behind letters that are options: python3 -mpit_fetch.
    """
    place = text.find(_WRAPPER)
    while place >= 0:
        before, after = text[:place], text[place + len(_WRAPPER) :][:1]
        letters = before.rstrip(_OPTION_LETTERS)
        if letters != before and letters.endswith("-"):
            before = letters[:-1]
        is_behind_escape = "\\" in before[-4:] or "$" in before[-4:]  # \npit_fetch for printf, $1pit_fetch
        if (is_behind_escape or not _is_in_word(before[-1:])) and not _is_in_word(after):
            return True
        place = text.find(_WRAPPER, place + 1)
    return False


def _is_in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_" or letter == "-"


def _bare(command: str) -> str:
    return command.replace("\\\n", "").replace('"', "").replace("'", "").replace("\\", "")


def plain_words(command: str) -> Optional[List[str]]:
    """The words of one simple command, as bash splits and unquotes them; None for anything that is not plain.

    Not plain are an operator, a redirection, an expansion, a glob, a comment and a second line. It is
    an allow-list, so anything it does not know is not plain. The one exception is a home folder, ``~/``,
    at the start of the path of a program or script; it stays in the word.
    """
    if not command.replace("\n", "").replace("\t", "").isprintable():
        return None  # a control character, half a character, a blank that only some programs take for one
    commands = _commands(command, _piece)
    return commands[0][1] if commands else None


def _commands(text: str, piece_at: "Callable[[str, int], Optional[_Piece]]") -> "Optional[List[_Command]]":
    """What stands before each command of a list of them, and its words; None if ``text`` has more than such pieces."""
    found: "List[_Command]" = [("", [])]
    word: Optional[str] = None
    text = text.lstrip(" \t\n")
    position = 0
    while position < len(text):
        read = piece_at(text, position)
        if read is None:
            return None
        kind, position, piece = read
        if kind in ("blank", "next", "away"):
            if word is not None:
                found[-1][1].append(word)
                word = None
            if kind == "next":
                found.append((piece, []))
            continue
        if kind == "joint":
            continue
        if word is None and kind == "inner":
            return None  # a comment, or the word that negates
        is_home = piece[:1] == "~" and word is None and _is_path(found[-1][1])
        if is_home != (kind == "home"):
            return None  # an argument that bash expands, or a folder whose name is "~"
        word = (word or "") + piece
    if word is not None:
        found[-1][1].append(word)
    return found


def _is_path(words: List[str]) -> bool:
    """Whether the word that follows ``words`` is the path of a program or of Python's script."""
    return not words or _after_python(words) == []


def _piece(text: str, place: int) -> "Optional[_Piece]":
    """The kind of the piece at ``place`` of a plain command as bash reads it, where it ends, and what it stands for.

    None for whatever has a meaning of its own outside quotes: an operator, an expansion, a glob.
    """
    letter, end = text[place], place + 1
    if letter in " \t":
        return "blank", end, ""
    if letter == "\n":  # nothing may follow
        return None if text[place:].strip(" \t\n") else ("blank", len(text), "")
    if letter == "'":
        end = text.find("'", end)
        quoted = text[place + 1 : end]
        return None if end < 0 or "\t" in quoted or "\n" in quoted else ("quoted", end + 1, quoted)
    if letter == '"':
        return _double_quoted(text, end)
    if letter == "\\":  # it vanishes with the line feed behind it
        escaped = text[end : end + 1]
        if escaped == "\n":
            return "joint", end + 1, ""
        return ("quoted", end + 1, escaped) if escaped and escaped != "\t" else None
    if text.startswith("~/", place):
        return "home", end + 1, "~/"
    if letter in "#!":
        return "inner", end, letter
    while end <= len(text) and (text[end - 1].isalnum() or text[end - 1] in _BARE_SIGNS):
        end += 1
    return ("bare", end - 1, text[place : end - 1]) if end - 1 > place else None


def _double_quoted(text: str, place: int) -> "Optional[_Piece]":
    """The same, for a piece whose opening quote is before ``place``. A backslash escapes only $ ` " and itself."""
    read: List[str] = []
    while place < len(text):
        letter, after = text[place], text[place + 1 : place + 2]
        if letter == '"':
            return "quoted", place + 1, "".join(read)
        if letter in _LIVE_IN_DOUBLE_QUOTES or (letter == "\\" and after in ("", "\t")):
            return None
        if letter == "\\" and after == "\n":
            place += 2
        elif letter == "\\" and after in _ESCAPED_IN_DOUBLE_QUOTES:
            read.append(after)
            place += 2
        else:
            read.append(letter)
            place += 1
    return None


def _loose_piece(text: str, place: int) -> "Optional[_Piece]":
    """The same, for commands that only mention pit_fetch."""
    import re

    match = re.compile(_LOOSE_PIECE).match(text, place)
    if match is None:
        return _piece(text, place)
    kind = str(match.lastgroup)
    return kind, match.end(), match["body"].rstrip("\n") if kind == "body" else match[0]


def joined(words: List[str]) -> str:
    """The command that every shell reads as exactly ``words``, those of :func:`plain_words`."""
    return " ".join(
        "~/" + _quoted(word[2:]) if word.startswith("~/") and _is_path(words[:place]) else _quoted(word)
        for place, word in enumerate(words)
    )


def _quoted(word: str) -> str:
    """As shlex.quote, which imports re; and zsh takes =cat for the path of cat."""
    is_bare = word.isascii() and all(letter.isalnum() or letter in _BARE_SIGNS for letter in word)
    if word and is_bare and not word.startswith("=") and "^" not in word:
        return word
    return "'" + word.replace("'", "'\"'\"'") + "'"


def only_mentions(command: str) -> bool:
    """Whether what names pit_fetch in a command only reads or records text: ``git commit -m``, ``grep`` and so on.

    It tells a slip from a call in ordinary sessions, where an agent may run any program anyway: so the other commands
    of a list may be any, but not behind a pipe, where a shell might run what it reads.
    """
    commands = _commands(command, _loose_piece)
    return bool(commands) and all(
        _is_reader(words) or (before != "|" and _is_nameless(words)) for before, words in commands or () if words
    )


def _is_nameless(words: List[str]) -> bool:
    """Whether a command has nothing to do with pit_fetch: no name, no pattern for it, no new meaning for a reader."""
    if words[0] in _REDEFINING or any(word.startswith("PATH=") or "BASH_" in word for word in words):
        return False
    return not names_wrapper(" ".join(words)) and not any("*" in word or "?" in word for word in words)


def _is_reader(words: List[str]) -> bool:
    import re

    if words[0] == "git":
        words = words[2:] if words[1:2] == ["-C"] else words  # another folder
        named = words[1:2] != [] and words[1] in _GIT_COMMANDS
        return named and not any(re.match(_GIT_RUNS, word) for word in words[2:])
    if words[0] == "gh":  # its other commands include aliases and extensions
        return words[1:2] != [] and words[1] in _GH_COMMANDS
    if words[0] == "sed":  # a script that prints lines; others, which an option may add, can run commands
        is_reading = words[1:2] == ["-n"] and re.fullmatch(_READING_SED, "".join(words[2:3]))
        return bool(is_reading) and not any(word.startswith("-") for word in words[3:])
    if words[:2] in (["command", "-v"], ["command", "-V"]):
        return True
    if words[0] == "xargs":  # what it reads are further arguments
        return words[1:2] != [] and words[1] in _READERS - _RUNNERS and _is_reader(words[1:])
    module = _after_python(words)
    if module is not None and module[:1] == ["-m"]:
        words = module[1:]
        return bool(words) and words[0] in _READING_MODULES and not _runs_another(words)
    return words[0] in _READERS and not _runs_another(words)


def _runs_another(words: List[str]) -> bool:
    """Whether an argument makes a reader run what it names."""
    import re

    runs = _READER_RUNS + "|" + _PROGRAM_RUNS.get(words[0], _READER_RUNS)
    return any(re.match(runs, word) for word in words[1:])


def wrapper_arguments(command: str) -> Optional[List[str]]:
    """The arguments of a command that is exactly one plain pit_fetch call; None for any other command.

    Three forms: the installed name, ``python3 -m pit_fetch``, and the script by its path.
    """
    words = plain_words(command)
    if not words:
        return None
    if _program(words[0]) in ("pit_fetch", "pit_fetch.py"):
        return words[1:]
    rest = _after_python(words)
    if not rest:
        return None
    if rest[:2] == ["-m", "pit_fetch"]:
        return rest[2:]
    return rest[1:] if _program(rest[0]) == "pit_fetch.py" else None


def _after_python(words: List[str]) -> Optional[List[str]]:
    """What follows Python and its harmless flags; None if the first word is not Python."""
    name, dot, minor = _program(words[0]).partition(".")
    if name not in ("python", "python3") or (dot and not (name == "python3" and minor.isascii() and minor.isdigit())):
        return None
    flags = 1
    while flags < len(words) and _is_python_flag(words[flags]):
        flags += 1
    return words[flags:]


def _is_python_flag(word: str) -> bool:
    return word[:1] == "-" and len(word) > 1 and _HARMLESS_PYTHON_FLAGS.issuperset(word[1:])


def _program(word: str) -> str:
    """The name of the program whose path ``word`` is; "" if a shell or Python could read it as anything else.

    "=" would make it an assignment (the program is then the next word), a leading "%" a job of the shell, and a leading
    "-" an option for the Python that is to run it.
    """
    is_path = word.startswith(("/", "~/", ".", "_")) or word[:1].isalnum()
    return os.path.basename(word) if is_path and "=" not in word else ""


def options_of(arguments: List[str]) -> List[str]:
    """The arguments that can be options: those before ``--``."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def is_listing(command: str) -> bool:
    """One plain call of --help, --version, --list-sources or of a command that fetches nothing, so no envelope."""
    arguments = wrapper_arguments(command)
    if not arguments:
        return False
    return arguments[0] in _LISTING_WORDS or not _LISTING_FLAGS.isdisjoint(options_of(arguments))


def pits_in(command: str) -> List[str]:
    """Every value given to ``--pit`` in a shell command. Raises for a ``--pit`` whose value cannot be read."""
    arguments = wrapper_arguments(command)
    if arguments is not None:
        return pits_of(options_of(arguments))
    import re

    bare = _bare(command)
    values: List[str] = re.findall(_PIT_OPTION, command)
    if bare != command:
        values += re.findall(_PIT_OPTION, bare)
    if "" in values:
        raise _Refused(PIT_INVALID_PIT, "--pit has no value")
    return values


def pits_of(options: List[str]) -> List[str]:
    """Every value given to ``--pit`` among a call's options; "" for one that is missing."""
    return values_of("--pit", options)


def is_diff(arguments: List[str]) -> bool:
    """Whether a call is ``diff``, the one that has two PITs and shows what was public at the later one."""
    return arguments[:1] == ["diff"]


def values_of(option: str, options: List[str]) -> List[str]:
    """Every value given to ``option``, as ``--name VALUE`` or ``--name=VALUE``; "" for one that is missing."""
    values = [word[len(option) + 1 :] for word in options if word.startswith(option + "=")]
    return values + ["".join(options[n + 1 : n + 2]) for n, word in enumerate(options) if word == option]


# The hook: which call is judged, at which PIT, on which text.


def judge(hook: dict[str, Any], ceiling: Optional[str] = None) -> Optional[Finding]:
    """The finding against one PostToolUse hook input; None allows it. ``ceiling`` is PIT_FETCH_CEILING."""
    tool_input = hook.get("tool_input")
    tool_input = tool_input if isinstance(tool_input, dict) else {}
    command = str(tool_input.get("command") or "")
    tool = str(hook.get("tool_name", "")).lower()
    is_bash = "bash" in tool and not tool.startswith("mcp__")  # a server may have any word in its name
    if is_bash and not _is_call(command):
        return None
    try:
        pit = _cutoff(hook.get("tool_input"), command, ceiling)
        if pit is None:
            return None
        if tool_input.get("run_in_background"):
            raise _Refused(PIT_INVALID_JSON, "The call runs in the background: its output cannot be checked")
        for text in _texts(hook.get("tool_response")):
            finding = check(text, pit)
            if finding is not None:
                return _with_advice(finding, command) if is_bash else finding
        if is_bash and ceiling is not None:  # under a ceiling the guard prepares every call: here, it did not run
            raise _Refused(PIT_NOT_RELEASED, "The guard did not prepare this call: run pit_fetch doctor")
    except _Refused as refused:
        return refused.finding
    except Exception as error:  # noqa: BLE001 - whatever went wrong, unjudged output must not pass
        return Finding(PIT_PARSE_ERROR, f"Internal gate error: {type(error).__name__}")
    return None


def _with_advice(finding: Finding, command: str) -> Finding:
    """What to do about output that is not an envelope because the call is only a part of the command."""
    if finding.code not in (PIT_INVALID_JSON, PIT_MISSING_ENVELOPE):
        return finding
    arguments = wrapper_arguments(command)
    if arguments is None:
        return Finding(finding.code, f"{finding.detail}: run the pit_fetch call alone, without pipe or redirection")
    form = values_of("--format", options_of(arguments))
    return Finding(finding.code, f"{finding.detail}: leave --format out") if form else finding


def _cutoff(tool_input: Any, command: str, ceiling: Optional[str]) -> Optional[datetime]:
    """The earliest of the ceiling and all the PITs that the call names; None is open mode."""
    asked = list(map(_moment, pits_in(command)))
    if len(asked) == 2 and is_diff(wrapper_arguments(command) or []):
        asked = [max(asked)]
    asked.extend(map(_moment, named_pits(tool_input)))
    if ceiling is not None:
        asked.append(_moment(ceiling))
    return min(asked, default=None)


def _moment(pit: object) -> datetime:
    moment = parse_pit(pit)
    if moment is None:
        raise _Refused(PIT_INVALID_PIT, "The PIT is not YYYY-MM-DDTHH:MM:SS with Z, an offset or a [Zone/Name]")
    return moment


def named_pits(tool_input: Any) -> list[object]:
    """Every value under a key ``pit``, at any depth and in any case: if there is one, this is never open mode.

    Some MCP servers also take parameters as JSON text, so such texts are searched as well.
    """
    named: list[object] = []

    def values(pairs: Iterable[tuple[str, Any]]) -> list[Any]:
        named.extend(value for key, value in pairs if str(key).strip().lower() == "pit")
        return [value for _, value in pairs]

    pending = [tool_input]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending.extend(values(node.items()))
        elif isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, str) and node.lstrip("\ufeff \t\r\n").startswith(("{", "[", '"')):
            try:
                pending.append(read_json(node.lstrip("\ufeff"), values))
            except (ValueError, RecursionError):
                import re

                if re.search(_UNREADABLE_PIT, node):
                    raise _Refused(PIT_INVALID_PIT, "The parameters that name a PIT are not JSON") from None
    return named


def _texts(response: Any) -> list[str]:
    """Every text in a tool's result: Bash stdout, a string, MCP text blocks, or an object as it is."""
    texts = list(_unwrap(response))
    if not any(text.strip() for text in texts):
        raise _Refused(PIT_INVALID_JSON, "Empty tool output in PIT mode (after pit_fetch: is it installed here?)")
    return texts


def _unwrap(response: Any, stringified: bool = True) -> Iterator[str]:
    if isinstance(response, str):
        wrapper = _wrapper_in(response) if stringified else None
        if wrapper is None:
            yield response
        else:
            yield from _unwrap(wrapper, stringified=False)
    elif isinstance(response, dict) and "stdout" in response:
        yield _bash_stdout(response)
    elif isinstance(response, dict) and "data" not in response and _has_blocks(response):
        chosen = "result" if "result" in response else "content"
        _refuse_other_content(response, {chosen})
        yield from _unwrap(response[chosen], stringified)
    elif isinstance(response, list) and _is_blocks(response):
        for block in response:
            if not isinstance(block, dict) or not isinstance(block.get("text"), str):
                raise _Refused(PIT_INVALID_JSON, "Tool output has a block that is not text")
            _refuse_other_content(block, {"text", "type"})
            yield block["text"]
    elif isinstance(response, (dict, list)):
        yield write_json(response)


def _bash_stdout(response: dict[str, Any]) -> str:
    """The standard output of a Bash result that is complete and all that the model will see."""
    if response.get("persistedOutputPath") or response.get("persistedOutputSize"):
        raise _Refused(PIT_INVALID_JSON, "Tool output is too long for the client: ask for less, or set --max-chars")
    if response.get("backgroundTaskId"):
        raise _Refused(PIT_INVALID_JSON, "The call runs in the background: its output cannot be checked")
    if response.get("interrupted") or response.get("timedOutAfterMs") or response.get("isImage"):
        raise _Refused(PIT_INVALID_JSON, "Tool output was interrupted or is not text")
    stderr = response.get("stderr")
    if stderr and not _is_cwd_notice(str(stderr)):
        raise _Refused(PIT_INVALID_JSON, "Tool output has diagnostics besides the envelope")
    _refuse_other_content(response, _HARMLESS_BASH_FIELDS)
    return str(response["stdout"] or "")


def _is_cwd_notice(stderr: str) -> bool:
    import re

    return bool(re.fullmatch(_CWD_NOTICE, stderr))


def _refuse_other_content(holder: dict[str, Any], known: Collection[str]) -> None:
    """Refuses any text, list or object besides what is judged: it might reach the model as well."""
    if any(name not in known and value and isinstance(value, (str, list, dict)) for name, value in holder.items()):
        raise _Refused(PIT_INVALID_JSON, "Tool output holds more than the envelope")


def _has_blocks(response: dict[str, Any]) -> bool:
    return isinstance(response.get("result", response.get("content")), (str, list))


def _is_blocks(response: list[Any]) -> bool:
    return any(isinstance(block, dict) and ("text" in block or "type" in block) for block in response)


def _wrapper_in(text: str) -> Any:
    """The MCP wrapper that a client passed as a JSON string; None if the text is not a wrapper."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        parsed = read_json(text, _without_repeats)
    except (ValueError, RecursionError):
        return None
    if isinstance(parsed, dict) and "data" not in parsed and _has_blocks(parsed):
        return parsed
    if isinstance(parsed, list) and _is_blocks(parsed):
        return parsed
    return None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise _Refused(PIT_INVALID_JSON, "Tool output repeats a JSON key")
    return built


def block_output(finding: Finding, tool_name: str = "Bash", response: Any = None) -> dict[str, Any]:
    """The hook's answer to a finding, with the replacement that actually withholds the output."""
    reason = f"{finding.code}: {finding.detail}"
    replacement = _replacement(f"{reason} (output withheld)", tool_name, response)
    return {
        "decision": "block",
        "reason": reason,
        "hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": replacement},
    }


def _replacement(text: str, tool_name: str, response: Any) -> Any:
    """``text`` in the shape of the tool's result.

    Claude Code 2.1.329 drops a Bash replacement that lacks stdout, stderr or interrupted, and shows the
    raw output; for an MCP tool it takes blocks, a string or any object (measured).
    """
    is_mcp = tool_name.startswith("mcp__")
    if isinstance(response, str) and (is_mcp or "bash" not in tool_name.lower()):
        return text
    if is_mcp:
        return [{"type": "text", "text": text}]
    return {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}


def respond(hook: dict[str, Any], ceiling: Optional[str] = None) -> dict[str, Any]:
    """The answer to one PostToolUse hook input: ``{}`` leaves the output as it is. It does not raise."""
    if not hook:
        return {}
    command, path = prepared_call(hook)
    if path:
        return _release(hook, command, path, ceiling)
    finding = judge(hook, ceiling)
    return {} if finding is None else block_output(finding, str(hook.get("tool_name")), hook.get("tool_response"))


# The private file: what the model would see of a call is the sentinel.


def prepared_call(hook: dict[str, Any]) -> tuple[str, str]:
    """The call in a command that the guard prepared, and its private file; both "" for any other command."""
    tool_input = hook.get("tool_input")
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if hook.get("tool_name") != "Bash" or not isinstance(command, str) or not command.endswith(ENDING):
        return "", ""
    call = command[: -len(ENDING)]
    files = values_of(RELEASE_OPTION, options_of(wrapper_arguments(call) or []))
    if len(files) != 1 or not _is_private_name(files[0], str(hook.get("tool_use_id"))):
        return "", ""
    return call, files[0]


def _is_private_name(path: str, call_id: str) -> bool:
    """Whether ``path`` is one that the guard gives to the call: /FOLDER/ID.<32 hex>."""
    folder, _, name = path.rpartition("/")
    random = name[-32:]
    is_random = len(random) == 32 and set(random) <= set("0123456789abcdef")
    return folder.startswith("/") and len(folder) > 1 and is_random and name == f"{call_id}.{random}"


def _release(hook: dict[str, Any], call: str, path: str, ceiling: Optional[str]) -> dict[str, Any]:
    """The answer that shows what the private file holds, if it may be shown."""
    try:
        text = _take(path)
        if _bash_stdout(hook.get("tool_response") or {}).strip() != SENTINEL:
            raise _Refused(PIT_NOT_RELEASED, "The call printed something beside its envelope")
        if text is None:  # another gate is about to answer, or has answered; what is shown is the sentinel
            return {}
        pit = _cutoff(hook.get("tool_input"), call, ceiling)
        if pit is None:
            raise _Refused(PIT_NOT_RELEASED, "The call has no PIT")
        if not text.strip():
            if values_of("--output", options_of(wrapper_arguments(call) or [])):
                raise _Refused(PIT_NOT_RELEASED, "The call has --output, so there is nothing to show but that file")
            raise _Refused(PIT_NOT_RELEASED, "The call wrote no envelope (is pit_fetch installed here?)")
        finding = check(text, pit)
        return _shown(text.rstrip("\n")) if finding is None else block_output(_with_advice(finding, call))
    except _Refused as refused:
        return block_output(refused.finding)
    except Exception as error:  # noqa: BLE001 - whatever went wrong, unjudged output must not pass
        return block_output(Finding(PIT_PARSE_ERROR, f"Internal gate error: {type(error).__name__}"))


def _take(path: str) -> Optional[str]:
    """The text of a private file, which is gone afterwards; None if it is gone already.

    Raises for anything but a regular file that only this user can have written, in such a folder.
    """
    taken = path + ".taken"
    if not is_private(os.lstat(os.path.dirname(path)), folder=True):
        raise _Refused(PIT_NOT_RELEASED, "The private file is not in a private folder")
    try:
        os.rename(path, taken)  # of two gates, one gets it
    except FileNotFoundError:
        return None
    try:
        handle = os.open(taken, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    finally:
        os.unlink(taken)
    with open(handle, encoding="utf-8", errors="strict", newline="") as file:
        if not is_private(os.fstat(handle)):
            raise _Refused(PIT_NOT_RELEASED, "The private file is not private")
        return file.read()


def is_private(found: os.stat_result, folder: bool = False) -> bool:
    """Whether a file or a folder is this user's, and nobody else may enter, read or write it."""
    wanted = stat.S_IFDIR | 0o700 if folder else stat.S_IFREG | 0o600
    return found.st_uid == os.geteuid() and found.st_mode == wanted


def _shown(text: str) -> dict[str, Any]:
    """The hook's answer that puts ``text`` in the sentinel's place."""
    replacement = _replacement(text, "Bash", None)
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": replacement}}


# The process.


def _respond_to(raw: bytes) -> tuple[dict[str, Any], str]:
    """The answer to the bytes on stdin, and the name of the tool for the log."""
    tool_name = "unknown"
    try:
        text = raw.decode("utf-8", "replace")
        hook = read_json(text) if text.strip() else {}
        if not isinstance(hook, dict):
            return block_output(Finding(PIT_PARSE_ERROR, "Hook input is not a JSON object")), tool_name
        tool_name = ascii(hook.get("tool_name", tool_name))[1:-1][:100]
        return respond(hook, os.environ.get(CEILING_VARIABLE)), tool_name
    except (ValueError, RecursionError):
        return block_output(Finding(PIT_PARSE_ERROR, "Hook input is not valid JSON")), tool_name
    except BaseException as error:  # noqa: BLE001 - whatever went wrong, unjudged output must not pass
        finding = Finding(PIT_PARSE_ERROR, f"Internal gate error: {type(error).__name__}")
        return block_output(finding), tool_name


def _log(verdict: str) -> None:
    """One line, best effort: an unwritable log decides nothing, and the log never holds content."""
    path = os.environ.get(LOG_VARIABLE, os.path.join(os.path.dirname(os.path.abspath(__file__)), "pit_gate.log"))
    if not path:
        return
    try:
        if os.path.exists(path) and os.path.getsize(path) > LOG_MAX_BYTES:
            os.replace(path, path + ".1")
        with open(path, "a", encoding="utf-8") as log:
            log.write(f"[{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}] {verdict}\n")
    except (OSError, ValueError):
        pass


def _write(answer: dict[str, Any]) -> None:
    sys.stdout.write(write_json(answer) + "\n")
    sys.stdout.flush()


def _arm(seconds: int, last_words: str) -> None:
    """Ends the process with exit 0 after ``seconds``, having written ``last_words``. 0 disarms."""
    try:  # the core of signal: building its enums takes longer than a small check
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
    late = block_output(Finding(PIT_PARSE_ERROR, "The gate ran out of time"))
    _arm(ALARM_SECONDS, write_json(late) + "\n")
    answer, tool_name = _respond_to(sys.stdin.buffer.read())
    _arm(0, "")
    _write(answer)
    _arm(LOG_SECONDS, "")  # the answer is out: a log on a stalled disk must not get us killed by the client
    _log(f"BLOCK tool={tool_name} {answer['reason']}" if "reason" in answer else f"ALLOW tool={tool_name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
