"""Leaks of the server: a message that moves the instant, and answers that say more than their envelope."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.errors import UpstreamError
from pit_fetch.gaps import Code
from pit_fetch.mcp.instant import Instant
from pit_fetch.mcp.lines import document
from pit_fetch.times import end_of_day_anywhere
from tests.laws.mutants.leak import Mutant, in_module

_LAWS = ("sample: mcp", "bz-news-api: mcp", "sec_full_text: mcp")
_LATER = "2100-01-01T00:00:00Z"


def _argument_moves(real: Any) -> Any:
    def answer(server: Any, name: str, arguments: Any, stop: Any) -> Any:
        if "pit" in arguments:
            server = server._replace(instant=Instant(arguments["pit"], "", {}))
        return real(server, name, {key: value for key, value in arguments.items() if key != "pit"}, stop)

    return answer


def _says_how_much_came(real: Any) -> Any:
    def run(request: Any, runtime: Any, *rest: Any) -> Any:
        sizes: list[int] = []

        def send(asked: Any) -> Any:
            reply = runtime.transport.send(asked)
            sizes.append(len(reply.body))
            return reply

        result = real(request, runtime._replace(transport=type("Counting", (), {"send": staticmethod(send)})), *rest)
        text = str(result.text).replace('"reason": "', f'"reason": "({sum(sizes)} bytes came) ', 1)
        return result._replace(text=text)

    return run


def _start_of_day(real: Any) -> Any:
    def instant_of(value: Any, precision: Any, *rest: Any) -> Any:
        at = real(value, precision, *rest)
        return at - timedelta(days=1) if at is not None and precision == "day" else at

    return instant_of


def _in_utc(real: Any) -> Any:
    return lambda value, precision, zone, *rest: real(value, precision, zone and ZoneInfo("UTC"), *rest)


def _dated_anyhow(real: Any) -> Any:
    def instant_of(*given: Any) -> Any:
        return real(*given) or datetime(2000, 1, 1, tzinfo=UTC)

    return instant_of


def _says_how_many(real: Any) -> Any:
    def records(result: Any, mapped: Any) -> Any:
        found = list(real(result, mapped))
        return [record._replace(payload={**record.payload, "of": len(found)}) for record in found]

    return records


def _first_blocks_too(real: Any) -> Any:
    """What a result says beside its items comes along with each of them."""

    def records(result: Any, mapped: Any) -> Any:
        beside = {"note": result.get("_meta")}
        return [record._replace(payload={**record.payload, **beside}) for record in real(result, mapped)]

    return records


def _as_one_text(real: Any) -> Any:
    def records(result: Any, mapped: Any) -> Any:
        blocks = result.get("content")
        texts = (
            [str(block.get("text")) for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
        )
        return real({**result, "content": [{"type": "text", "text": "".join(texts)}]} if texts else result, mapped)

    return records


def _strictly(real: Any) -> Any:
    def json_tree(body: bytes, *rest: Any) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise UpstreamError(Code.MALFORMED, problem="it is not valid JSON") from None

    return json_tree


def _of_any_number(real: Any) -> Any:
    def instant(value: Any, *given: Any) -> Any:
        return datetime.fromtimestamp(0, UTC) if type(value) is int and value == 0 else real(value, *given)

    return instant


def _a_day_later(real: Any) -> Any:
    """What an argument asks for may be of a day that is not over."""

    def later(tool: Any) -> Any:
        values = tool.values
        return tool._replace(
            values=lambda given, moment: values(given, moment._replace(at=end_of_day_anywhere(moment.at.date())))
        )

    return lambda *given: {name: later(tool) for name, tool in real(*given).items()}


def _as_one_document(real: Any) -> Any:
    def documents(text: str) -> Any:
        tree = document(text.encode("utf-8", "replace"))
        return iter([tree] if isinstance(tree, (dict, list)) else [])

    return documents


_calls = in_module("pit_fetch.mcp.calls")
_items = in_module("pit_fetch.mcp.upstream_items")
_GATE = ("mcp-gate: non-interference",)
_LIMITED = ("mcp-gate: limited lists",)

MUTANTS: tuple[Mutant, ...] = (
    _calls("an argument moves the instant of a server", "answer", _argument_moves, _LAWS),
    _calls(
        "a tool is asked as of later",
        "build",
        lambda real: lambda values, *rest: real({**values, "pit": _LATER}, *rest),
        _LAWS,
    ),
    _calls("an answer of a tool says how much the source sent", "run", _says_how_much_came, _LAWS),
    _items("another server's day begins before it ends", "instant_of", _start_of_day, _GATE),
    _items("another server's wall clock is read as UTC", "instant_of", _in_utc, _GATE),
    _items("what another server does not date passes", "instant_of", _dated_anyhow, _GATE),
    _items(
        "a revision by another server, or of a part of its item, is overlooked",
        "records",
        lambda real: lambda result, mapped: [record._replace(revised_at=None) for record in real(result, mapped)],
        _GATE,
    ),
    _items("a second text of another server takes the first away", "records", _as_one_text, _GATE),
    _items("an unset time of another server is long ago", "instant_of", _of_any_number, _GATE),
    Mutant(
        "an unreadable item costs another server's answer",
        "pit_fetch.mcp.lines:json_tree",
        _strictly,
        _GATE,
    ),
    _items("a document of another server takes the one before it away", "documents", _as_one_document, _GATE),
    Mutant("an argument asks for a day that is not over", "pit_fetch.mcp.gate:tools_for", _a_day_later, _LIMITED),
    Mutant("a gate says how many items came", "pit_fetch.mcp.gate:records", _says_how_many, _GATE),
    Mutant("a gate passes on what stands beside the items", "pit_fetch.mcp.gate:records", _first_blocks_too, _GATE),
)
