#!/usr/bin/env python3
"""The point-in-time gate: the one check that nothing after the PIT goes out.

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
 9. and an ``available_at_source`` of the known ones                     PIT_INVALID_AVAILABLE_AT_SOURCE
10. no ``available_at`` or ``revised_at``, at any depth, is after the PIT PIT_VIOLATION_GT_CUTOFF

As a hook it reads the hook's JSON on stdin and always exits 0: ``{}`` allows, and
``{"decision": "block", "reason": "<CODE>: <detail>"}`` blocks. Since a block alone leaves the output
in front of the model, a blocked Bash result is replaced as well (``updatedToolOutput``).
A reason names an index and a field. It never quotes a value: the value is what must not get out.
"""

from __future__ import annotations

import json
import os
import re
import sys
from datetime import datetime, timedelta, timezone
from typing import Any, Iterator, NamedTuple, Optional

VALID_SOURCES = frozenset({"neo4j_created", "edgar_accepted", "time_series_timestamp", "provider_metadata"})

FORBIDDEN_KEYS = frozenset(
    {
        "daily_stock", "hourly_stock", "session_stock",
        "daily_return",
        "daily_macro", "daily_industry", "daily_sector",
        "hourly_macro", "hourly_industry", "hourly_sector",
    }
)  # fmt: skip

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

CEILING_VARIABLE = "PIT_FETCH_CEILING"
LOG_VARIABLE = "PIT_GATE_LOG"
LOG_MAX_BYTES = 1_000_000
ALARM_SECONDS = 8  # below the 10 s that the shipped wiring gives the hook: a killed hook is an open gate

_INSTANT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?:\.(?P<fraction>[0-9]+))?"
    r"(?P<offset>Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
)
_NAIVE_INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?")
_BASH_PIT = re.compile(r"""--pit(?:=|\s+)["']?([^\s"';&|)]+)""")
_WRAPPER = re.compile(r"(?<![\w-])pit_fetch(?:\.py)?(?![\w-])")
_LISTING = re.compile(r"(?<!\S)(?:--help|-h|--version|--list-sources)(?!\S)")
_SHELL_SYNTAX = re.compile(r"[;&|<>$`\n\r(){}\\]")


class Finding(NamedTuple):
    """Why an output must not pass: one of the codes above, and a detail without any value in it."""

    code: str
    detail: str


class _Refused(Exception):
    def __init__(self, code: str, detail: str) -> None:
        super().__init__(code)
        self.finding = Finding(code, detail)


# The pure core: text in, finding out.


def parse_iso8601(text: object, round_up: bool = False) -> Optional[datetime]:
    """An aware datetime from ``YYYY-MM-DDTHH:MM:SS[.frac](Z|±HH:MM)``; None for anything looser.

    Digits beyond the microsecond are dropped, or, with ``round_up``, carried up: a PIT is rounded
    down and a record's stamp up, so that neither ever lets more through than it says.
    """
    if not isinstance(text, str):
        return None
    text = text.strip()
    match = _INSTANT.fullmatch(text)
    if match is None:
        return None
    fraction = match["fraction"] or ""
    offset = "+00:00" if match["offset"] == "Z" else match["offset"]
    micros = "." + fraction[:6].ljust(6, "0") if fraction else ""
    try:
        moment = datetime.fromisoformat(text[:19] + micros + offset)
        if round_up and fraction[6:].strip("0"):
            moment += timedelta(microseconds=1)
    except (ValueError, OverflowError):
        return None
    return moment


def check(text: str, pit: datetime) -> Optional[Finding]:
    """The first finding against an envelope in JSON ``text`` at the instant ``pit``; None when clean."""
    try:
        payload, stamped = _load(text)
        return _check_payload(payload, stamped, pit)
    except _Refused as refused:
        return refused.finding


def _load(text: str) -> tuple[Any, list[dict[str, Any]]]:
    """The parsed document, and every object in it, at any depth, that carries a time stamp.

    Objects are checked as the parser builds them: no second walk, and no depth limit of ours.
    """
    stamped: list[dict[str, Any]] = []
    harmless: set[str] = set()

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) != len(pairs):
            raise _Refused(PIT_INVALID_JSON, "Tool output repeats a JSON key")
        if not harmless.issuperset(built):
            for key in built.keys() - harmless:
                if key.lower() in FORBIDDEN_KEYS:
                    raise _Refused(PIT_FORBIDDEN_FIELD, f"Forbidden return-data field: {key.lower()}")
                harmless.add(key)
        if "available_at" in built or "revised_at" in built:
            stamped.append(built)
        return built

    def constant(_: str) -> Any:
        raise _Refused(PIT_INVALID_JSON, "Tool output holds a number that JSON does not have")

    try:
        return json.loads(text, object_pairs_hook=build, parse_constant=constant), stamped
    except (ValueError, RecursionError):
        raise _Refused(PIT_INVALID_JSON, "Tool output is not valid JSON in PIT mode") from None


def _check_payload(payload: Any, stamped: list[dict[str, Any]], pit: datetime) -> Optional[Finding]:
    if isinstance(payload, list) and payload and all(isinstance(record, dict) for record in payload):
        if len(payload) > 1:
            return Finding(PIT_MISSING_ENVELOPE, "Several records where one envelope is expected")
        payload = payload[0]
    if not isinstance(payload, dict):
        return Finding(PIT_INVALID_JSON, "Tool output is not a JSON object")
    if "data" not in payload:
        return Finding(PIT_MISSING_ENVELOPE, "Missing data[] in response envelope")
    data = payload["data"]
    if not isinstance(data, list):
        return Finding(PIT_MISSING_ENVELOPE, "data is not an array")
    if not isinstance(payload.get("gaps", []), list):
        return Finding(PIT_MISSING_ENVELOPE, "gaps is not an array")
    if not payload.keys() <= {"data", "gaps"}:
        return Finding(PIT_MISSING_ENVELOPE, "Unknown top-level key beside data and gaps")
    for index, item in enumerate(data):
        finding = _check_item(item, pit, index)
        if finding is not None:
            return finding
    if len(stamped) > len(data):
        return _check_nested(stamped, data, pit)
    return None


def _check_item(item: Any, pit: datetime, index: int) -> Optional[Finding]:
    if not isinstance(item, dict):
        return Finding(PIT_INVALID_ITEM_TYPE, f"data[{index}] is not an object")
    stamp = item.get("available_at")
    if not stamp or not isinstance(stamp, str):
        return Finding(PIT_MISSING_AVAILABLE_AT, f"data[{index}] missing available_at")
    moment = parse_iso8601(stamp, round_up=True)
    if moment is None:
        if _NAIVE_INSTANT.fullmatch(stamp.strip()):
            return Finding(PIT_MISSING_TZ, f"data[{index}].available_at has no UTC offset")
        return Finding(
            PIT_INVALID_AVAILABLE_AT_FORMAT, f"data[{index}].available_at is not an ISO 8601 date and time with offset"
        )
    source = item.get("available_at_source")
    if not isinstance(source, str) or source.strip() not in VALID_SOURCES:
        return Finding(PIT_INVALID_AVAILABLE_AT_SOURCE, f"data[{index}].available_at_source is missing or unknown")
    if moment > pit:
        return Finding(PIT_VIOLATION_GT_CUTOFF, f"data[{index}].available_at is after the PIT")
    revised = item.get("revised_at")
    return None if revised is None else _check_stamp(revised, pit, f"data[{index}].revised_at")


def _check_stamp(stamp: Any, pit: datetime, name: str) -> Optional[Finding]:
    moment = parse_iso8601(stamp, round_up=True)
    if moment is None:
        return Finding(PIT_INVALID_AVAILABLE_AT_FORMAT, f"{name} is not an ISO 8601 date and time with offset")
    return Finding(PIT_VIOLATION_GT_CUTOFF, f"{name} is after the PIT") if moment > pit else None


def _check_nested(stamped: list[dict[str, Any]], data: list[Any], pit: datetime) -> Optional[Finding]:
    items = {id(item) for item in data}
    for holder in stamped:
        if id(holder) in items:
            continue
        for field in ("available_at", "revised_at"):
            if holder.get(field) is not None:
                finding = _check_stamp(holder[field], pit, f"a nested {field}")
                if finding is not None:
                    index = next((i for i, item in enumerate(data) if _holds(item, holder)), None)
                    where = "gaps" if index is None else f"data[{index}]"
                    return Finding(finding.code, f"{where}: {finding.detail}")
    return None


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


# The hook: which call is judged, at which PIT, on which text.


def judge(hook: dict[str, Any], ceiling: Optional[str] = None) -> Optional[Finding]:
    """The finding against one PostToolUse hook input; None allows. ``ceiling`` is PIT_FETCH_CEILING."""
    tool_input = hook.get("tool_input")
    tool_input = tool_input if isinstance(tool_input, dict) else {}
    command = str(tool_input.get("command") or "")
    is_bash = "bash" in str(hook.get("tool_name", "")).lower()
    if is_bash and (not _WRAPPER.search(command) or _is_listing(command)):
        return None
    try:
        pit = _cutoff(tool_input, command, ceiling)
        if pit is None:
            return None
        for text in _texts(hook.get("tool_response")):
            finding = check(text, pit)
            if finding is not None:
                return finding
    except _Refused as refused:
        return refused.finding
    return None


def _is_listing(command: str) -> bool:
    """One plain call of --help, --version or --list-sources: no fetch, so no envelope."""
    return bool(_LISTING.search(command)) and not _SHELL_SYNTAX.search(command)


def _cutoff(tool_input: dict[str, Any], command: str, ceiling: Optional[str]) -> Optional[datetime]:
    """The earliest of all PITs that the call names and of the ceiling; None is open mode."""
    named: list[object] = []
    for holder in (tool_input.get("parameters"), tool_input.get("params"), tool_input):
        if isinstance(holder, dict) and "pit" in holder:
            named.append(holder["pit"])
    named.extend(_BASH_PIT.findall(command))
    if ceiling is not None:
        named.append(ceiling or "empty")
    moments = []
    for pit in named:
        if isinstance(pit, str) and not pit.strip():
            continue
        moment = parse_iso8601(pit)
        if moment is None:
            raise _Refused(PIT_INVALID_PIT, "The PIT is not YYYY-MM-DDTHH:MM:SS with Z or an offset")
        moments.append(moment)
    return min(moments, default=None)


def _texts(response: Any) -> list[str]:
    """Every text of a tool's result: Bash stdout, a string, MCP text blocks, or an object as it is."""
    texts = list(_unwrap(response))
    if not any(text.strip() for text in texts):
        raise _Refused(PIT_INVALID_JSON, "Empty tool output in PIT mode")
    return texts


def _unwrap(response: Any, stringified: bool = True) -> Iterator[str]:
    if isinstance(response, str):
        wrapper = _wrapper_in(response) if stringified else None
        if wrapper is None:
            yield response
        else:
            yield from _unwrap(wrapper, stringified=False)
    elif isinstance(response, dict) and "stdout" in response:
        yield str(response["stdout"] or "")
    elif isinstance(response, dict) and "data" not in response and _has_blocks(response):
        yield from _unwrap(response.get("result", response.get("content")), stringified)
    elif isinstance(response, list) and _is_blocks(response):
        for block in response:
            if not isinstance(block, dict) or not isinstance(block.get("text"), str):
                raise _Refused(PIT_INVALID_JSON, "Tool output has a block that is not text")
            yield block["text"]
    elif isinstance(response, (dict, list)):
        yield json.dumps(response)


def _has_blocks(response: dict[str, Any]) -> bool:
    return isinstance(response.get("result", response.get("content")), (str, list))


def _is_blocks(response: list[Any]) -> bool:
    return any(isinstance(block, dict) and ("text" in block or "type" in block) for block in response)


def _wrapper_in(text: str) -> Any:
    """The MCP wrapper that a client handed over as a JSON string; None when the text is no wrapper."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(parsed, dict) and "data" not in parsed and _has_blocks(parsed):
        return parsed
    if isinstance(parsed, list) and _is_blocks(parsed):
        return parsed
    return None


def block_output(finding: Finding, tool_name: str) -> dict[str, Any]:
    """The hook's answer to a finding; for Bash with the replacement that really withholds the output."""
    reason = f"{finding.code}: {finding.detail}"
    answer: dict[str, Any] = {"decision": "block", "reason": reason}
    if tool_name == "Bash":
        # The client drops a replacement that lacks one of these three keys and shows the raw output.
        withheld = {"stdout": f"{reason} (output withheld)", "stderr": "", "interrupted": False, "isImage": False}
        answer["hookSpecificOutput"] = {"hookEventName": "PostToolUse", "updatedToolOutput": withheld}
    return answer


# The process.


def _log(verdict: str) -> None:
    """One line, best effort: an unwritable log never decides anything, and never holds content."""
    path = os.environ.get(LOG_VARIABLE, os.path.join(os.path.dirname(os.path.abspath(__file__)), "pit_gate.log"))
    if not path:
        return
    try:
        if os.path.exists(path) and os.path.getsize(path) > LOG_MAX_BYTES:
            os.replace(path, path + ".1")
        with open(path, "a", encoding="utf-8") as log:
            log.write(f"[{datetime.now(timezone.utc):%Y-%m-%dT%H:%M:%SZ}] {verdict}\n")
    except OSError:
        pass


def _arm_alarm() -> None:
    import signal

    def late(signum: int, frame: object) -> None:
        raise TimeoutError

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, late)
        signal.alarm(ALARM_SECONDS)


def main() -> int:
    tool_name = "unknown"
    finding: Optional[Finding]
    try:
        _arm_alarm()
        raw = sys.stdin.buffer.read().decode("utf-8", "replace")
        hook = json.loads(raw) if raw.strip() else {}
        if not isinstance(hook, dict):
            raise _Refused(PIT_PARSE_ERROR, "Hook input is not a JSON object")
        tool_name = str(hook.get("tool_name", "unknown"))[:100]
        finding = judge(hook, os.environ.get(CEILING_VARIABLE)) if hook else None
    except _Refused as refused:
        finding = refused.finding
    except (ValueError, RecursionError):
        finding = Finding(PIT_PARSE_ERROR, "Hook input is not valid JSON")
    except BaseException as error:  # noqa: BLE001 - whatever went wrong, an unjudged output must not pass
        finding = Finding(PIT_PARSE_ERROR, f"Internal gate error: {type(error).__name__}")
    _log(f"ALLOW tool={tool_name}" if finding is None else f"BLOCK tool={tool_name} {finding.code}: {finding.detail}")
    sys.stdout.write(json.dumps({} if finding is None else block_output(finding, tool_name)) + "\n")
    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
