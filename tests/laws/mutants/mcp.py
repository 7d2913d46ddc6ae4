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
from pit_fetch.times import end_of_minute
from tests.laws.mutants.leak import Mutant, in_module

_LAWS = ("sample: mcp", "bz-news-api: mcp", "sec_full_text: mcp")
_LATER = "2100-01-01T00:00:00Z"


def _argument_moves(real: Any) -> Any:
    def answer(server: Any, name: str, arguments: Any, stop: Any) -> Any:
        if "pit" in arguments:
            server = server._replace(instant=Instant(arguments["pit"], "", server.instant.environ))
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
    def instant_of(value: Any, precision: Any, zone: Any) -> Any:
        at = real(value, precision, zone)
        return at - timedelta(days=1) if at is not None and precision == "day" else at

    return instant_of


def _in_utc(real: Any) -> Any:
    return lambda value, precision, zone: real(value, precision, zone and ZoneInfo("UTC"))


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


def _one_for_all(real: Any) -> Any:
    """An array on the way to the items is looked into if it has one element."""

    def ends(content: Any, names: Any, *rest: Any) -> Any:
        is_many = isinstance(content, list) and len(content) > 1 and names
        return iter(()) if is_many else real(content, names, *rest)

    return ends


def _as_one_text(real: Any) -> Any:
    return lambda blocks: ["".join(real(blocks))]


def _strictly(real: Any) -> Any:
    def json_tree(body: bytes, *rest: Any) -> Any:
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            raise UpstreamError(Code.MALFORMED, problem="it is not valid JSON") from None

    return json_tree


def _of_any_number(real: Any) -> Any:
    def of_number(value: Any, units: int) -> Any:
        return datetime.fromtimestamp(0, UTC) if value == 0 else real(value, units)

    return of_number


def _at_its_minute(real: Any) -> Any:
    return lambda moment, text, zone: end_of_minute(moment)


def _finer(real: Any) -> Any:
    """What an argument asks for by day or minute may be the one that is not over."""
    return lambda at, mapped, form: real(at, mapped, "instant")


def _as_of_now(real: Any) -> Any:
    return lambda at, mapped, form: at.astimezone(mapped.zone or ZoneInfo("America/New_York"))


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
        "a revision by another server is overlooked",
        "_record",
        lambda real: lambda item, mapped: real(item, mapped._replace(revised_at="")),
        _GATE,
    ),
    _items(
        "a later part of another server's item is overlooked",
        "_stamps_within",
        lambda real: lambda value: (),
        _GATE,
    ),
    _items("a second page of another server takes the first away", "_values_at_path", _one_for_all, _GATE),
    _items("a second text of another server takes the first away", "_texts", _as_one_text, _GATE),
    _items("an unset time of another server is long ago", "_parse_unix", _of_any_number, _GATE),
    _items("a day of another server counts from its midnight", "_end_of_minute", _at_its_minute, _GATE),
    Mutant(
        "an unreadable item costs another server's answer",
        "pit_fetch.mcp.lines:json_tree",
        _strictly,
        _GATE,
    ),
    _items("a document of another server takes the one before it away", "documents", _as_one_document, _GATE),
    Mutant(
        "a text of another server that is cut off loses what was whole",
        "pit_fetch.mcp.documents:_closed",
        lambda real: lambda text: text,
        _GATE,
    ),
    Mutant(
        "a text of another server that is cut off shows what was not whole",
        "pit_fetch.mcp.documents:_closed",
        lambda real: lambda text: real(text).replace('"": NaN', '"": 0').replace("NaN", "0"),
        _GATE,
    ),
    Mutant("an argument asks for a day that is not over", "pit_fetch.mcp.gate:_last", _finer, _LIMITED),
    Mutant("an argument asks for items whose day is not over", "pit_fetch.mcp.gate:_last", _as_of_now, _LIMITED),
    Mutant("a gate says how many items came", "pit_fetch.mcp.gate:records", _says_how_many, _GATE),
    Mutant("a gate passes on what stands beside the items", "pit_fetch.mcp.gate:records", _first_blocks_too, _GATE),
)
