#!/usr/bin/env python3
"""The point-in-time gate: the one check that nothing after the PIT gets out.

One file, standard library only, Python 3.9 and later. It runs twice on the same bytes: ``pit_fetch`` calls
:func:`check` before the first byte of its standard output, and Claude Code runs this file as a PostToolUse hook.

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
    depth and in any case, is after the PIT                              PIT_VIOLATION_GT_CUTOFF
11. rules 2 and 10 hold in every string that is itself a JSON document, of up to 100 levels

In other text (prose, YAML, markup, JSON among other words) nothing is looked for: what an article mentions is not
when it became public.

As a hook the gate reads the hook's JSON on stdin and always exits 0.

The output of a call that the guard prepared (``pit_guard.py``) is in a private file, and the model would see only
:data:`SENTINEL`. The gate takes the file, checks it, and puts its text in the sentinel's place. If the gate does not
run, nothing is shown.

Any other output is already in front of the model. ``{}`` leaves it there, and ``{"decision": "block", "reason":
"<CODE>: <detail>"}`` blocks it. A block alone hides nothing (measured on Claude Code 2.1.329, docs/enforcement.md), so
the gate also replaces the output, in the shape of the tool that was called (``updatedToolOutput``).
A reason names an index and a field. It never quotes a value: the value is what must not get out.
"""

from __future__ import annotations

import gc
import json
import os
import re
import stat
import sys
from datetime import datetime, timedelta, timezone
from functools import lru_cache

TYPE_CHECKING = False  # typing itself is slow to import, and this process starts on every Bash command of an agent
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Optional

VALID_SOURCES = frozenset({"neo4j_created", "edgar_accepted", "time_series_timestamp", "provider_metadata"})

FORBIDDEN_KEYS = frozenset(
    {
        "daily_stock", "hourly_stock", "session_stock",
        "daily_return",
        "daily_macro", "daily_industry", "daily_sector",
        "hourly_macro", "hourly_industry", "hourly_sector",
    }
)  # fmt: skip

# When an item became public, when it was last revised, and when an archive first saw it (if no stamp of the source
# proves an earlier instant).
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

# The guard appends both to a call: the option names the private file, the ending leaves only the sentinel to see.
RELEASE_OPTION = "--release"
SENTINEL = f"{PIT_NOT_RELEASED}: the gate did not run"
ENDING = f" >/dev/null 2>&1; echo '{SENTINEL}'"

PIT_FORM = "YYYY-MM-DDTHH:MM:SS with Z, an offset or a [Zone/Name]"
CEILING_VARIABLE = "PIT_FETCH_CEILING"
NOT_A_VARIABLE = "{} is not a variable of pit_fetch: write {}"
LOG_VARIABLE = "PIT_GATE_LOG"
LOG_MAX_BYTES = 1_000_000
# Together less than the 10 s that the shipped wiring gives the hook: the client kills a late hook and shows the output.
ALARM_SECONDS = 7
LOG_SECONDS = 1

_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_INSTANT = rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}T{_CLOCK}:[0-5][0-9])(?:\.([0-9]+))?(Z|[+-]{_CLOCK})"
_NAIVE_INSTANT = r"([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}:[0-9]{2})(:[0-9]{2})?(?:\.[0-9]+)?"
# A zone in brackets, as its database spells it. "posix/" and "right/" (which counts leap seconds) are not accepted.
_ZONED = r"([^\[\s]+)\[(UTC|[A-Z][A-Za-z_]*(?:/[A-Za-z0-9_+-]+)+)\]"

_BLANKS = "\ufeff \t\r\n"
# How a text begins that can be a JSON document with strings in it.
_FIRST_OF_JSON = frozenset(f'{{["{_BLANKS}')
# Deeper nesting is not looked into. No envelope is nested like that, and from some level on, which depends on its
# version and on the calls under way, Python cannot read it: program and hook would judge one text differently.
_MAX_QUOTED_LEVELS = 100
# How a JSON string begins, in its raw form, if its value can be a JSON document: with a bracket, a blank or an escape.
_BEGINNINGS_OF_JSON = ('"{', '"[', '"\\', '" ', '"\ufeff')
# Both patterns run in linear time: no two of their parts can match the same blanks.
_UNREADABLE_PIT = r"(?i)(?<![a-z])pit\s*(?:[\"']\s*)?:"
_CWD_NOTICE = r"\s*(?:Shell cwd was reset to [^\n]*(?:\n\s*)?)?"

# What Claude Code 2.1.329 adds to a Bash result. Any other field that holds text is unknown, so it is withheld.
_HARMLESS_BASH_FIELDS = frozenset({"stdout", "stderr", "returnCodeInterpretation"})

_LISTING_FLAGS = frozenset({"--help", "-h", "--version", "--list-sources"})
_LISTING_WORDS = frozenset({"doctor", "lint", "help", "sources", "config", "completion", "new-provider"})

# The pieces of a plain command: what bash takes literally. An operator, a redirection, an expansion, a glob or a second
# line matches no piece, so a command that has one is not plain.
_PIECE = (
    r"(?P<blank>[ \t]+|\n[ \t\n]*\Z)"
    r"|'(?P<single>[^'\t\n]*)'"
    r'|"(?P<double>(?:[^"\\$`\t\n]|\\[^\t])*)"'
    r"|\\\n"
    r"|\\(?P<escaped>[^\t\n])"
    r"|(?P<bare>[^\x00-$&-*;<>?\[-\]`{-\x7f]+)"  # letters, digits and _./:=,@%+^- and all that is not ASCII
    r"|(?P<inner>[#!])"
)
# Control characters, surrogates, other line ends, and marks that change how a text looks. To bash, all other characters
# beyond ASCII are letters, even the blanks and joiners of other scripts.
_NOT_IN_WORDS = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
_DOUBLE_ESCAPE = r'\\([$`"\\\n])'
# Words that every shell takes literally. "^" is not among them, nor "=" at the start: zsh expands =cat.
_BARE_WORD = r"(?!=)[A-Za-z0-9_./:=,@%+-]+"
_HARMLESS_PYTHON_FLAG = r"-[BEIOPqsSu]+"
_PYTHON = r"python3?|python3\.[0-9]+"
_PIT_OPTION = r"""--pit(?![\w-])(?:(?:=|\s+)["']?([^\s"';&|)]+))?"""

# The tokens of any command, in a list and between double quotes. What fits nothing else stands for itself.
_IN_QUOTES = r"\\\n|\\(?P<escaped>.)|(?P<opening>\$\()|(?P<backquote>`)|(?P<quote>\")|(?P<bare>[^\\`$\"]+|.)"
_IN_LIST = (
    r"(?<![^\s;&|()])#[^\n]*|(?P<blank>[ \t]+)|(?P<end>[;&|\n)]|\(\))|(?P<opening>[$<>]?\()|(?P<backquote>`)"
    r"|\$'(?P<ansi>(?:[^'\\]|\\.)*)'|'(?P<single>[^']*)'|\$?(?P<quote>\")|\\\n|\\(?P<escaped>.)"
    r"|<<-?[ \t]*\\?['\"]?(?P<document>[A-Za-z_]\w*)['\"]?|(?P<redirection>[0-9]*(?:<<<|&>>?|>>|>\||[<>]&?)[ \t]*)"
    r"|(?P<bare>[^\\`$'\"<>()&;|\n \t]+|.)"
)
_TARGET = "\0"  # what the word behind a redirection begins with
_WORDS = "=("  # opens the words of an array or a pattern, which are no commands
_ASSIGNMENT = r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?="
# Behind these words a command begins. The last two are options of "time".
_RESERVED = frozenset(("!", "{", "if", "then", "elif", "else", "do", "while", "until", "time", "-p", "--"))
# Programs that run the rest of their words, each with those of its options that a value follows. Agents write them in
# front of a call, and one of them could take the ceiling out of its environment.
_RUNNERS = {
    "env": "uC",
    "sudo": "ugCDhpRrTt",
    "doas": "uC",
    "timeout": "ks",
    "nice": "n",
    "ionice": "cnp",
    "nohup": "",
    "setsid": "",
    "stdbuf": "ioe",
    "xargs": "adEILnPs",
    "command": "vV",
    "builtin": "",
    "exec": "a",
    "time": "fo",
}
_RUNNER_OPERAND = r"[0-9.]+[smhd]?|PIT_FETCH_\w*|-"
# What these run is a script, or a text among their words.
_SHELLS = frozenset(("bash", "dash", "eval", "sh", "trap", "zsh"))


class Violation(Exception):
    """The reason why output must not pass: one of the codes above, and a detail that quotes no value."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code)
        self.code, self.detail = code, detail


# The pure core: an envelope in, a violation out.


def parse_iso8601(text: object, round_up: bool = False) -> Optional[datetime]:
    """Return the aware datetime that ``YYYY-MM-DDTHH:MM:SS[.frac](Z|±HH:MM)`` states; None for anything looser.

    Digits beyond the microsecond are dropped or, with ``round_up``, rounded up: a PIT is rounded down and a record's
    stamp up, so that neither lets through more than it states.
    """
    match = re.fullmatch(_INSTANT, text.strip()) if isinstance(text, str) else None
    if match is None:
        return None
    whole, fraction, offset = match[1], match[2] or "", match[3].replace("Z", "+00:00")
    try:
        moment = datetime.fromisoformat(f"{whole}.{fraction[:6]:0<6}{offset}")
        if round_up and fraction[6:].strip("0"):
            moment += timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None
    return moment


def parse_pit(text: object) -> Optional[datetime]:
    """Return the aware datetime of a PIT: an instant as above, or with an IANA zone in brackets; None for others.

    ``2024-07-15T16:00:00[America/New_York]`` is a wall-clock time that must occur exactly once in that zone. With an
    offset as well (RFC 9557), the zone must have that offset at that instant. Without a zone database, None.
    """
    if not isinstance(text, str) or not text.rstrip().endswith("]"):
        return parse_iso8601(text)
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
    """Return whether ``text`` is a date and time that lacks only the offset."""
    match = re.fullmatch(_NAIVE_INSTANT, text)
    return match is not None and parse_iso8601(f"{match[1]}T{match[2]}{match[3] or ':00'}Z") is not None


def check(text: str, pit: datetime) -> Optional[Violation]:
    """Return the first violation of an envelope, given as JSON, at the instant ``pit``; None if it is clean."""
    try:
        envelope, stamped = _load(text)
        _check_envelope(envelope, stamped, pit)
        if any(beginning in text for beginning in _BEGINNINGS_OF_JSON):
            check_texts(envelope, pit)
    except Violation as violation:
        return violation
    return None


def _load(text: str) -> tuple[Any, list[dict[str, Any]]]:
    """Return the parsed document, and every object in it, at any depth, that carries a timestamp.

    Objects are checked as the parser builds them: no second pass, and no depth limit of our own.
    """
    stamped: list[dict[str, Any]] = []
    harmless: set[str] = set()
    misspelt: set[str] = set()  # names of stamps in another case: an object with one is listed once more

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = _build_object(pairs)  # (1): no duplicate key
        if not harmless.issuperset(built):
            for key in built.keys() - harmless:
                if key.lower() in FORBIDDEN_KEYS:  # (2): no forbidden field, at any depth
                    raise Violation(PIT_FORBIDDEN_FIELD, f"Forbidden return-data field: {key.lower()}")
                if key not in _STAMPS and _is_stamp(key):
                    misspelt.add(key)
                harmless.add(key)
        if "available_at" in built or "revised_at" in built or "first_seen_at" in built:
            stamped.append(built)
        if misspelt and not misspelt.isdisjoint(built):
            stamped.append(built)
        return built

    def constant(_: str) -> Any:  # (1): no NaN
        raise Violation(PIT_INVALID_JSON, "Tool output contains a number that is not valid JSON")

    try:
        return json.loads(text, object_pairs_hook=build, parse_constant=constant), stamped
    except (ValueError, RecursionError):  # (1): one JSON document
        raise Violation(PIT_INVALID_JSON, "Tool output is not valid JSON in PIT mode") from None


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    if len(built) != len(pairs):
        raise Violation(PIT_INVALID_JSON, "Tool output repeats a JSON key")
    return built


def _is_stamp(key: str) -> bool:
    return key.strip().lower() in _STAMPS


def _check_envelope(envelope: Any, stamped: list[dict[str, Any]], pit: datetime) -> None:
    # (3): an object, or an array that holds exactly one
    if isinstance(envelope, list) and envelope and all(isinstance(record, dict) for record in envelope):
        if len(envelope) > 1:
            raise Violation(PIT_MISSING_ENVELOPE, "Several records instead of one envelope")
        envelope = envelope[0]
    if not isinstance(envelope, dict):
        raise Violation(PIT_INVALID_JSON, "Tool output is not a JSON object")
    # (4): data and gaps, two arrays, and nothing else
    if "data" not in envelope:
        raise Violation(PIT_MISSING_ENVELOPE, "Missing data[] in response envelope")
    data = envelope["data"]
    if not isinstance(data, list):
        raise Violation(PIT_MISSING_ENVELOPE, "data is not an array")
    if not isinstance(envelope.get("gaps", []), list):
        raise Violation(PIT_MISSING_ENVELOPE, "gaps is not an array")
    if not envelope.keys() <= {"data", "gaps"}:
        raise Violation(PIT_MISSING_ENVELOPE, "Unknown top-level key besides data and gaps")
    for index, item in enumerate(data):
        _check_item(item, pit, index)
    if len(stamped) > len(data):
        _check_nested(stamped, data, pit)


def _check_item(item: Any, pit: datetime, index: int) -> None:
    if not isinstance(item, dict):  # (5)
        raise Violation(PIT_INVALID_ITEM_TYPE, f"data[{index}] is not an object")
    stamp = item.get("available_at")
    if not stamp or not isinstance(stamp, str):  # (6)
        raise Violation(PIT_MISSING_AVAILABLE_AT, f"data[{index}] missing available_at")
    moment = parse_iso8601(stamp, round_up=True)
    if moment is None:
        if _is_naive(stamp.strip()):  # (8): an offset
            raise Violation(PIT_MISSING_TZ, f"data[{index}].available_at has no UTC offset")
        raise Violation(  # (7): a date and time
            PIT_INVALID_AVAILABLE_AT_FORMAT, f"data[{index}].available_at is not an ISO 8601 date and time with offset"
        )
    source = item.get("available_at_source")
    if not isinstance(source, str) or source.strip() not in VALID_SOURCES:  # (9)
        raise Violation(PIT_INVALID_AVAILABLE_AT_SOURCE, f"data[{index}].available_at_source is missing or unknown")
    if moment > pit:  # (10): the item itself; its other stamps and nested ones follow
        raise Violation(PIT_VIOLATION_GT_CUTOFF, f"data[{index}].available_at is after the PIT")
    for field in _OTHER_STAMPS:
        if item.get(field) not in (None, stamp):
            _check_stamp(item[field], pit, f"data[{index}].{field}")


def _check_stamp(stamp: Any, pit: datetime, name: str) -> None:
    """Apply (10) to any other stamp. One that cannot be read is a violation too."""
    moment = parse_iso8601(stamp, round_up=True)
    if moment is None:
        raise Violation(PIT_INVALID_AVAILABLE_AT_FORMAT, f"{name} is not an ISO 8601 date and time with offset")
    if moment > pit:
        raise Violation(PIT_VIOLATION_GT_CUTOFF, f"{name} is after the PIT")


def _check_nested(stamped: list[dict[str, Any]], data: list[Any], pit: datetime) -> None:
    """Apply (10) below the items, in the gaps, and to names in another case."""
    items = {id(item) for item in data}
    for holder in stamped:
        checked = _STAMPS if id(holder) in items else ()
        for field, stamp in holder.items():
            if stamp is None or field in checked or not _is_stamp(field):
                continue
            try:
                _check_stamp(stamp, pit, f"a nested {field.strip().lower()}")
            except Violation as violation:
                index = next((i for i, item in enumerate(data) if any(node is holder for node in _nodes(item))), None)
                where = "gaps" if index is None else f"data[{index}]"
                raise Violation(violation.code, f"{where}: {violation.detail}") from None


def _nodes(root: Any) -> Iterator[Any]:
    """Yield every value and every key of JSON documents, at any depth."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, dict):
            pending.extend(node.keys())
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def _beginnings(root: Any) -> list[str]:
    """Return the strings, keys too, in JSON documents at any depth that begin as a JSON document may."""
    # Every item of every answer is looked through, so this does not go through _nodes.
    texts: list[str] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, str):
            if node[:1] in _FIRST_OF_JSON:
                texts.append(node)
        elif isinstance(node, dict):
            pending.extend(node)
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return texts


def check_texts(root: Any, pit: datetime) -> None:
    """Apply (11): (2) and (10) to strings that are JSON documents, and to the strings in those in turn.

    A careless plugin can put an envelope into a text field, and so can anybody who publishes a text. So each string
    is judged by itself: an envelope is refused here if, and only if, one of its items is.
    """
    members: list[tuple[str, Any]] = []

    def flatten(pairs: list[tuple[str, Any]]) -> list[Any]:
        members.extend(pairs)  # every pair, since a document that is quoted may repeat a key
        return [part for pair in pairs for part in pair]

    texts = _beginnings(root)
    while texts:
        text = texts.pop().strip(_BLANKS)
        if text[:1] not in ("{", "[", '"'):
            continue
        members.clear()
        try:  # parse_int: some versions of Python do not read a long number
            document = json.loads(text, object_pairs_hook=flatten, parse_int=str)
        except (ValueError, RecursionError):  # not JSON as a whole, or too deep
            continue
        inner = _strings(document)
        if inner is None:
            continue
        texts += inner
        for key, value in members:
            if key.lower() in FORBIDDEN_KEYS:
                raise Violation(PIT_FORBIDDEN_FIELD, f"Forbidden return-data field in a text: {key.lower()}")
            if _is_stamp(key) and value is not None:
                _check_stamp(value, pit, "a stamp in a text")


def _strings(document: Any) -> Optional[list[str]]:
    """Return the strings in nested lists; None if there are more levels than :data:`_MAX_QUOTED_LEVELS`."""
    strings: list[str] = []
    level = [document]
    for _ in range(_MAX_QUOTED_LEVELS + 1):
        strings += [node for node in level if isinstance(node, str)]
        level = [part for node in level if isinstance(node, list) for part in node]
        if not level:
            return strings
    return None


# The command line: which commands call pit_fetch, and with which words.


def runs_wrapper(command: str) -> bool:
    """Return whether a command runs pit_fetch, anywhere in a list, itself or by a program that runs others.

    This tells a call from a mention (``git commit -m``, ``grep``) in an ordinary session. A quote or a substitution
    without an end makes a call of whatever names pit_fetch, since nobody can say what it holds.
    """
    if "pit_fetch" not in _without_quotes(command).lower():
        return False
    try:
        return wrapper_arguments(command) is not None or any(map(_is_call, _commands(command)))
    except (ValueError, RecursionError):
        return True


def _is_call(words: list[str]) -> bool:
    place = 0
    while place < len(words):
        word, values = words[place], _RUNNERS.get(os.path.basename(words[place]))
        is_operand = word in _RESERVED or re.match(_ASSIGNMENT, word) or re.fullmatch(_RUNNER_OPERAND, word)
        if values is None and not is_operand:
            break
        place += 1
        while values is not None and place < len(words) and words[place].startswith("-"):
            place += 2 if words[place][1:] in set(values) else 1
    # In $HOME/bin/pit_fetch the expansion is not known. Some file systems ignore case.
    program, rest = "".join(words[place : place + 1]).lstrip("~${").lower(), words[place + 1 :]
    if os.path.basename(program) in _SHELLS:
        operands = [word for word in rest if not word.startswith("-")]
        is_text = program in ("eval", "trap") or any(re.match("-[a-z]*c", word) for word in rest)
        return any(map(runs_wrapper, operands if is_text else operands[:1]))
    if place and re.search(r"\s", program):  # as of ``env -S``
        return runs_wrapper(words[place])
    return _arguments_of([program, *rest]) is not None


class _Line:
    """The simple command that is being read: its words, and the open one (None between words)."""

    __slots__ = ("is_quoted", "opener", "word", "words")

    def __init__(self, opener: str = "") -> None:
        self.opener = opener  # of the list that it is in
        self.words: list[str] = []
        self.word: Optional[str] = None
        self.is_quoted = False

    def add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def end_word(self) -> None:
        if self.word is not None and not self.word.startswith(_TARGET):
            self.words.append(self.word)
        self.word = None

    def end(self) -> list[str]:
        self.end_word()
        words, self.words = self.words, []
        return [] if self.opener == _WORDS else words


def _commands(text: str) -> Iterator[list[str]]:
    """Yield the words of each simple command of a list and of its substitutions. Raise ValueError if one has no end."""
    line, place = _Line(), 0
    outer: list[_Line] = []  # the commands around the substitution that is being read
    documents: list[str] = []  # the delimiters of here-documents that are to come
    while place < len(text):
        match = re.compile(_IN_QUOTES if line.is_quoted else _IN_LIST, re.DOTALL).match(text, place)
        kind = match.lastgroup if match else None
        part, place = (match[kind or 0], match.end()) if match else ("", place + 1)
        if kind == "blank":
            line.end_word()
        elif kind == "quote":
            line.is_quoted = not line.is_quoted
            line.add("")
        elif kind in ("escaped", "ansi", "single", "bare"):
            line.add(part)
        elif kind == "redirection":
            line.end_word()
            line.add(_TARGET)
        elif kind == "document":
            line.end_word()
            documents.append(part)
        elif kind == "opening" or (kind == "backquote" and line.opener != "`"):
            opener = _WORDS if part == "(" and line.word is not None else part
            line.add("$")
            outer.append(line)
            line = _Line(opener)
        elif kind is not None:
            yield line.end()
            if part == "`" or (part == ")" and line.opener.endswith("(")):
                line = outer.pop()
            if part == "\n":
                while documents:
                    place = _end_of_document(text, place, documents.pop(0))
    yield line.end()
    if outer or line.is_quoted:
        raise ValueError


def _end_of_document(text: str, place: int, delimiter: str) -> int:
    """Return where the line behind a here-document begins, whose body begins at ``place``."""
    while place < len(text):
        begin, place = place, text.find("\n", place) + 1 or len(text)
        if text[begin:place].strip("\t\n") == delimiter:
            break
    return place


def _without_quotes(command: str) -> str:
    return command.replace("\\\n", "").replace('"', "").replace("'", "").replace("\\", "")


def plain_words(command: str) -> Optional[list[str]]:
    """Return the words of one simple command, as bash splits and unquotes them; None for anything that is not plain.

    Plain is an allow-list of pieces (:data:`_PIECE`), not a parser of shell syntax.
    """
    if not command.replace("\n", "").replace("\t", "").isprintable() and re.search(_NOT_IN_WORDS, command):
        return None
    words: list[str] = []
    word: Optional[str] = None
    text = command.lstrip(" \t\n")
    place, piece_at = 0, re.compile(_PIECE).match
    while place < len(text):
        match = piece_at(text, place)
        if match is None or (match.lastgroup == "inner" and word is None):
            return None  # "#" begins a comment and "!" negates, but not inside a word
        place = match.end()
        if match.lastgroup == "blank":
            words += [] if word is None else [word]
            word = None
        elif match.lastgroup == "double":
            word = (word or "") + re.sub(_DOUBLE_ESCAPE, lambda escape: escape[1].strip("\n"), match["double"])
        elif match.lastgroup is not None:  # None: a backslash at the end of a line, which joins the two
            word = (word or "") + match[match.lastgroup]
    return words if word is None else [*words, word]


def join_words(words: Iterable[str]) -> str:
    """Return the command that every shell reads as exactly ``words``."""
    return " ".join(map(_quote, words))


def _quote(word: str) -> str:
    return word if re.fullmatch(_BARE_WORD, word) else "'" + word.replace("'", "'\"'\"'") + "'"


def wrapper_arguments(command: str) -> Optional[list[str]]:
    """Return the arguments of a command that is exactly one plain pit_fetch call; None for any other command.

    Three forms: the program by its name or path, ``python3 PATH/pit_fetch.py``, and ``python3 -m pit_fetch``.
    """
    return _arguments_of(plain_words(command) or [])


def _arguments_of(words: list[str]) -> Optional[list[str]]:
    if not words:
        return None
    if _program(words[0]) in ("pit_fetch", "pit_fetch.py"):
        return words[1:]
    if not re.fullmatch(_PYTHON, _program(words[0])):
        return None
    rest = words[1:]
    while rest and re.fullmatch(_HARMLESS_PYTHON_FLAG, rest[0]):
        rest = rest[1:]
    if rest[:2] == ["-m", "pit_fetch"]:
        return rest[2:]
    return rest[1:] if rest and _program(rest[0]) == "pit_fetch.py" else None


def _program(word: str) -> str:
    """Return the name of the program whose path ``word`` is; "" if a shell or Python could read it as anything else.

    With "=" it is an assignment (the program is then the next word), a leading "%" makes it a job of the shell, and a
    leading "-" an option for the Python that is to run it.
    """
    is_path = word.startswith(("/", ".", "_")) or word[:1].isalnum()
    return os.path.basename(word) if is_path and "=" not in word else ""


def options_of(arguments: list[str]) -> list[str]:
    """Return the arguments that can be options: those before ``--``."""
    return arguments[: arguments.index("--")] if "--" in arguments else arguments


def is_listing(command: str) -> bool:
    """Return whether a command is one plain call that prints no envelope: --help, --version, doctor and the like."""
    arguments = wrapper_arguments(command)
    if not arguments:
        return False
    return arguments[0] in _LISTING_WORDS or not _LISTING_FLAGS.isdisjoint(options_of(arguments))


def pits_in(command: str) -> list[str]:
    """Return every value of ``--pit`` in a shell command. Raise for a ``--pit`` whose value cannot be read."""
    arguments = wrapper_arguments(command)
    if arguments is not None:
        return values_of("--pit", options_of(arguments))
    values: list[str] = re.findall(_PIT_OPTION, command)
    bare = _without_quotes(command)
    if bare != command:
        values += re.findall(_PIT_OPTION, bare)
    if "" in values:
        raise Violation(PIT_INVALID_PIT, "--pit has no value")
    return values


def is_diff(arguments: list[str]) -> bool:
    """Return whether a call is ``diff``, which takes two PITs and shows what was public at the later one."""
    return arguments[:1] == ["diff"]


def values_of(option: str, options: list[str]) -> list[str]:
    """Return every value of ``option``, as ``--name VALUE`` or ``--name=VALUE``; "" for one that is missing."""
    values = [word[len(option) + 1 :] for word in options if word.startswith(option + "=")]
    return values + ["".join(options[n + 1 : n + 2]) for n, word in enumerate(options) if word == option]


# The names of variables. A slip in one would silently be no restriction at all.


def misspelt_variables(names: Iterable[str], meant: Sequence[str]) -> list[tuple[str, str]]:
    """Return the variables that are probably meant as one of ``meant``, each with that one.

    Case and separators aside, such a name differs by one letter that is missing, added, wrong or swapped; or by two,
    and the word behind the prefix keeps its first letter. Or it lacks PIT or FETCH, or the end of the word. What a
    source calls its own, such as PIT_FETCH_CEILING_URL, is further away.
    """
    ours = [(name, _letters(name)) for name in names]
    ours = [(name, word) for name, word in ours if name not in meant and (word[:3] == "PIT" or "FETCH" in word)]
    return [(name, known) for name, word in ours for known in meant if _is_slip(word, _letters(known))]


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name.upper()))


@lru_cache(maxsize=1024)  # a loop of questions has one environment
def _is_slip(word: str, known: str) -> bool:
    start = len("PITFETCH")
    keeps_first = word[:start] != known[:start] or word[start : start + 1] == known[start]
    is_begun = known.startswith(word) and len(word) >= start + 4
    shorter = (known.replace(part, "", 1) for part in ("PIT", "FETCH"))
    return is_begun or _is_near(word, known, 1 + keeps_first) or any(_is_near(word, each, 1) for each in shorter)


def _is_near(word: str, known: str, most: int) -> bool:
    """Return whether at most so many letters are missing, added, wrong or swapped with their neighbours."""
    if not word or not known:
        return len(word + known) <= most
    if word[0] == known[0]:
        return _is_near(word[1:], known[1:], most)
    rests = [(word[1:], known), (word, known[1:]), (word[1:], known[1:])]
    if word[:2] == known[1::-1]:
        rests.append((word[2:], known[2:]))
    return most > 0 and any(_is_near(*rest, most - 1) for rest in rests)


def ceiling_of(environ: Mapping[str, str]) -> Optional[str]:
    """Return the operator's ceiling. A misspelt variable is one that cannot be read, so that nothing passes."""
    slips = misspelt_variables(environ, [CEILING_VARIABLE])
    return NOT_A_VARIABLE.format(*slips[0]) if slips else environ.get(CEILING_VARIABLE)


# The hook: which call is judged, at which PIT, on which text.


def _judge(hook: dict[str, Any], ceiling: Optional[str]) -> None:
    """Raise the violation in the output of a call, if there is one."""
    tool_input = hook.get("tool_input")
    arguments = tool_input if isinstance(tool_input, dict) else {}
    command = str(arguments.get("command") or "")
    tool = str(hook.get("tool_name", "")).lower()
    is_bash = "bash" in tool and not tool.startswith("mcp__")  # a server may have any word in its name
    if is_bash and (not runs_wrapper(command) or is_listing(command)):
        return
    pit = _cutoff(tool_input, command, ceiling)
    if pit is None:
        return
    if arguments.get("run_in_background"):
        raise Violation(PIT_INVALID_JSON, "The call runs in the background: its output cannot be checked")
    for text in _texts(hook.get("tool_response")):
        violation = check(text, pit)
        if violation is not None:
            raise _add_advice(violation, command) if is_bash else violation
    if is_bash and ceiling is not None:  # under a ceiling the guard prepares every call: here, it did not run
        raise Violation(PIT_NOT_RELEASED, "The guard did not prepare this call: run pit_fetch doctor")


def _add_advice(violation: Violation, command: str) -> Violation:
    """Add what to do if the output is not an envelope because the call is only a part of the command."""
    if violation.code not in (PIT_INVALID_JSON, PIT_MISSING_ENVELOPE):
        return violation
    arguments = wrapper_arguments(command)
    if arguments is None:
        advice = "run the pit_fetch call alone, without pipe or redirection"
    elif values_of("--format", options_of(arguments)):
        advice = "leave --format out"
    else:
        return violation
    return Violation(violation.code, f"{violation.detail}: {advice}")


def _cutoff(tool_input: Any, command: str, ceiling: Optional[str]) -> Optional[datetime]:
    """Return the earliest of the ceiling and all the PITs that the call names; None is open mode."""
    pits = list(map(_moment, pits_in(command)))
    if len(pits) == 2 and is_diff(wrapper_arguments(command) or []):
        pits = [max(pits)]
    pits.extend(map(_moment, named_pits(tool_input)))
    if ceiling is not None:
        latest = parse_pit(ceiling)
        if latest is None:
            raise Violation(PIT_INVALID_PIT, f"The ceiling cannot be read: {ascii(ceiling)[1:-1][:100]}")
        pits.append(latest)
    return min(pits, default=None)


def _moment(pit: object) -> datetime:
    moment = parse_pit(pit)
    if moment is None:
        raise Violation(PIT_INVALID_PIT, f"The PIT is not {PIT_FORM}")
    return moment


def named_pits(tool_input: Any) -> list[object]:
    """Return every value under a key ``pit``, at any depth and in any case. If there is one, this is never open mode.

    Some MCP servers also take parameters as JSON text, so such texts are searched as well.
    """
    pits: list[object] = []

    def values(pairs: Iterable[tuple[str, Any]]) -> list[Any]:
        pits.extend(value for key, value in pairs if str(key).strip().lower() == "pit")
        return [value for _, value in pairs]

    pending = [tool_input]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            pending.extend(values(node.items()))
        elif isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, str) and node.lstrip(_BLANKS).startswith(("{", "[", '"')):
            try:
                pending.append(json.loads(node.lstrip("\ufeff"), object_pairs_hook=values))
            except (ValueError, RecursionError):
                if re.search(_UNREADABLE_PIT, node):
                    raise Violation(PIT_INVALID_PIT, "The parameters that name a PIT are not JSON") from None
    return pits


def _texts(response: Any) -> list[str]:
    """Return every text in a tool's result: Bash stdout, a string, MCP text blocks, or an object as it is."""
    texts = list(_unwrap(response))
    if not any(text.strip() for text in texts):
        raise Violation(PIT_INVALID_JSON, "Empty tool output in PIT mode (after pit_fetch: is it installed here?)")
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
                raise Violation(PIT_INVALID_JSON, "Tool output has a block that is not text")
            _refuse_other_content(block, {"text", "type"})
            yield block["text"]
    elif isinstance(response, (dict, list)):
        yield json.dumps(response)


def _bash_stdout(response: dict[str, Any]) -> str:
    """Return the standard output of a Bash result. Raise unless that is complete, and all that the model will see."""
    if response.get("persistedOutputPath") or response.get("persistedOutputSize"):
        raise Violation(PIT_INVALID_JSON, "Tool output is too long for the client: ask for less, or set --max-chars")
    if response.get("backgroundTaskId"):
        raise Violation(PIT_INVALID_JSON, "The call runs in the background: its output cannot be checked")
    if response.get("interrupted") or response.get("timedOutAfterMs") or response.get("isImage"):
        raise Violation(PIT_INVALID_JSON, "Tool output was interrupted or is not text")
    stderr = response.get("stderr")
    if stderr and not re.fullmatch(_CWD_NOTICE, str(stderr)):
        raise Violation(PIT_INVALID_JSON, "Tool output has diagnostics besides the envelope")
    _refuse_other_content(response, _HARMLESS_BASH_FIELDS)
    return str(response["stdout"] or "")


def _refuse_other_content(holder: dict[str, Any], known: Collection[str]) -> None:
    """Raise for any text, list or object besides what is judged: it might reach the model as well."""
    if any(name not in known and value and isinstance(value, (str, list, dict)) for name, value in holder.items()):
        raise Violation(PIT_INVALID_JSON, "Tool output holds more than the envelope")


def _has_blocks(response: dict[str, Any]) -> bool:
    return isinstance(response.get("result", response.get("content")), (str, list))


def _is_blocks(response: list[Any]) -> bool:
    return any(isinstance(block, dict) and ("text" in block or "type" in block) for block in response)


def _wrapper_in(text: str) -> Any:
    """Return the MCP wrapper that a client passed as a JSON string; None if the text is not a wrapper."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        parsed = json.loads(text, object_pairs_hook=_build_object)
    except (ValueError, RecursionError):
        return None
    if isinstance(parsed, dict) and "data" not in parsed and _has_blocks(parsed):
        return parsed
    if isinstance(parsed, list) and _is_blocks(parsed):
        return parsed
    return None


def block_output(violation: Violation, tool_name: str = "Bash", response: Any = None) -> dict[str, Any]:
    """Return the hook's answer to a violation, with the replacement that actually withholds the output."""
    reason = f"{violation.code}: {violation.detail}"
    return {
        "decision": "block",
        "reason": reason,
        **_replace_output(f"{reason} (output withheld)", tool_name, response),
    }


def _replace_output(text: str, tool_name: str = "Bash", response: Any = None) -> dict[str, Any]:
    """Return the hook's answer that puts ``text``, in the shape of the tool's result, in its place.

    Claude Code 2.1.329 drops a Bash replacement that lacks stdout, stderr or interrupted, and shows the
    raw output; for an MCP tool it takes blocks, a string or any object (measured).
    """
    is_mcp = tool_name.startswith("mcp__")
    replacement: Any = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
    if isinstance(response, str) and (is_mcp or "bash" not in tool_name.lower()):
        replacement = text
    elif is_mcp:
        replacement = [{"type": "text", "text": text}]
    return {"hookSpecificOutput": {"hookEventName": "PostToolUse", "updatedToolOutput": replacement}}


def respond(hook: dict[str, Any], ceiling: Optional[str] = None) -> dict[str, Any]:
    """Return the answer to one PostToolUse hook input: ``{}`` leaves the output as it is. It does not raise."""
    if not hook:
        return {}
    try:
        call, path = prepared_call(hook)
        if path:
            return _release(hook, call, path, ceiling)
        _judge(hook, ceiling)
    except Violation as violation:
        reason = violation
    except Exception as error:  # noqa: BLE001 - whatever went wrong, unjudged output must not pass
        reason = Violation(PIT_PARSE_ERROR, f"Internal gate error: {type(error).__name__}")
    else:
        return {}
    return block_output(reason, str(hook.get("tool_name")), hook.get("tool_response"))


# The private file. What the model would see of the call itself is the sentinel.


def prepared_call(hook: dict[str, Any]) -> tuple[str, str]:
    """Return the call in a command that the guard prepared, and its private file; both "" for any other command."""
    tool_input = hook.get("tool_input")
    command = tool_input.get("command") if isinstance(tool_input, dict) else None
    if hook.get("tool_name") != "Bash" or not isinstance(command, str) or not command.endswith(ENDING):
        return "", ""
    call = command[: -len(ENDING)]
    files = values_of(RELEASE_OPTION, options_of(wrapper_arguments(call) or []))
    label = call_label(hook)  # as the guard gives it to the call
    is_named = label and len(files) == 1 and re.fullmatch(rf"/[^\0]+/{label}\.[0-9a-f]{{32}}", files[0])
    return (call, files[0]) if is_named else ("", "")


def call_label(hook: Mapping[str, Any]) -> str:
    """Return what the name of a call's private file begins with: the client's id of the call, whatever its form.

    "" without an id.
    """
    call_id = hook.get("tool_use_id")
    return re.sub("[^A-Za-z0-9_-]", "_", call_id[:100]) if isinstance(call_id, str) else ""


def _release(hook: dict[str, Any], call: str, path: str, ceiling: Optional[str]) -> dict[str, Any]:
    """Return the answer that shows the text of the private file. Raise Violation if it may not be shown."""
    text = _take(path)
    if _bash_stdout(hook.get("tool_response") or {}).strip() != SENTINEL:
        raise Violation(PIT_NOT_RELEASED, "The call printed something beside its envelope")
    if text is None:  # another gate is about to answer, or has answered; what is shown is the sentinel
        return {}
    pit = _cutoff(hook.get("tool_input"), call, ceiling)
    if pit is None:
        raise Violation(PIT_NOT_RELEASED, "The call has no PIT")
    if not text.strip():
        if values_of("--output", options_of(wrapper_arguments(call) or [])):
            raise Violation(PIT_NOT_RELEASED, "The call has --output, so there is nothing to show but that file")
        raise Violation(PIT_NOT_RELEASED, "The call wrote no envelope (is pit_fetch installed here?)")
    violation = check(text, pit)
    if violation is not None:
        raise _add_advice(violation, call)
    return _replace_output(text.rstrip("\n"))


def _take(path: str) -> Optional[str]:
    """Return the text of a private file and remove it; None if it is gone already.

    Raise for anything but a regular file that only this user can have written, in such a folder.
    """
    taken = path + ".taken"
    if not is_private(os.lstat(os.path.dirname(path)), folder=True):
        raise Violation(PIT_NOT_RELEASED, "The private file is not in a private folder")
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
            raise Violation(PIT_NOT_RELEASED, "The private file is not private")
        return file.read()


def is_private(status: os.stat_result, folder: bool = False) -> bool:
    """Return whether a file or a folder is this user's, with permissions for no other user."""
    mode = stat.S_IFDIR | 0o700 if folder else stat.S_IFREG | 0o600
    return status.st_uid == os.geteuid() and status.st_mode == mode


# The process.


def _respond_to(raw: bytes) -> tuple[dict[str, Any], object]:
    """Return the answer to the bytes on stdin, and the name of the tool for the log."""
    tool_name: object = "unknown"
    try:
        text = raw.decode("utf-8", "replace")
        hook = json.loads(text) if text.strip() else {}
        if isinstance(hook, dict):
            tool_name = hook.get("tool_name", tool_name)
            return respond(hook, ceiling_of(os.environ)), tool_name
        problem = "Hook input is not a JSON object"
    except (ValueError, RecursionError):
        problem = "Hook input is not valid JSON"
    except BaseException as error:  # noqa: BLE001 - whatever went wrong, unjudged output must not pass
        problem = f"Internal gate error: {type(error).__name__}"
    return block_output(Violation(PIT_PARSE_ERROR, problem)), tool_name


def log_verdict(path: str, tool_name: object, answer: Mapping[str, Any]) -> None:
    """Write one line, best effort: an unwritable log decides nothing, and the log never holds content."""
    if not path:
        return
    tool = ascii(tool_name)[1:-1][:100]
    decision = f"BLOCK tool={tool} {answer['reason']}" if "reason" in answer else f"ALLOW tool={tool}"
    try:
        if os.path.exists(path) and os.path.getsize(path) > LOG_MAX_BYTES:
            os.replace(path, path + ".1")
        with open(path, "a", encoding="utf-8") as log:
            log.write(f"[{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}] {decision}\n")
    except (OSError, ValueError):
        pass


def _arm(seconds: int, last_words: str) -> None:
    """Have the process write ``last_words`` and exit with status 0 after ``seconds``. 0 disarms."""
    import signal  # not at the top: pit_fetch itself loads this file at every start, and needs no alarm

    def ring(signum: int, frame: object) -> None:
        os.write(1, last_words.encode("ascii"))
        os._exit(0)

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, ring)
        signal.alarm(seconds)


def main() -> int:
    late = block_output(Violation(PIT_PARSE_ERROR, "The gate ran out of time"))
    _arm(ALARM_SECONDS, json.dumps(late) + "\n")
    answer, tool_name = _respond_to(sys.stdin.buffer.read())
    _arm(0, "")
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    _arm(LOG_SECONDS, "")  # the answer is out: a log on a stalled disk must not get us killed by the client
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pit_gate.log")
    log_verdict(os.environ.get(LOG_VARIABLE, beside), tool_name, answer)
    gc.freeze()  # to look for garbage at the end would take a tenth of the time
    return 0


if __name__ == "__main__":
    sys.exit(main())
