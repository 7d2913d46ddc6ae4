"""The law of the gate: whatever another server says besides the public items of its results changes no byte."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.engine.settings_files import Settings
from pit_fetch.mcp import gate
from pit_fetch.mcp.calls import Runtimes, Server
from pit_fetch.mcp.instant import make_instant
from pit_fetch.mcp.mapping import Mapped, parse_mapping
from pit_fetch.mcp.server import serve
from pit_fetch.mcp.streams import Wire
from pit_fetch.mcp.upstream import parse_message
from pit_fetch.mcp.upstream_items import instant_of
from pit_fetch.runtime import Runtime
from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.inprocess import Left, TestClock
from pit_fetch.times import parse_pit
from tests.laws.mcp import Dialogue, requests_of
from tests.laws.worlds import PITS, near, noise_count
from tests.worlds import same_bytes

NEW_YORK = ZoneInfo("America/New_York")
SCHEMA = {"type": "object", "properties": {"topic": {"type": "string", "description": "any"}, "until": {}}}
# The forms in which servers state an instant, and how the mapping says so.
FORMS: Mapping[str, tuple[str, Callable[[datetime], Any]]] = {
    "offset": ("", lambda at: at.isoformat()),
    "wall clock": ('zone = "America/New_York"', lambda at: f"{at.astimezone(NEW_YORK):%Y-%m-%d %H:%M:%S}"),
    "compact": ('zone = "America/New_York"', lambda at: f"{at.astimezone(NEW_YORK):%Y%m%dT%H%M%S}"),
    "day": ('zone = "America/New_York"\nprecision = "day"', lambda at: f"{at.astimezone(NEW_YORK):%Y-%m-%d}"),
    "midnight": (
        'zone = "America/New_York"\nprecision = "minute"',
        lambda at: f"{at.astimezone(NEW_YORK):%Y-%m-%d}T00:00:00Z",
    ),
    "unix": ('precision = "unix"', lambda at: at.timestamp()),
}

# The forms in which servers write items, and where the mapping says that they are.
SHAPES = {
    "array": ".",
    "object": "result.rows",
    "pages": "result.rows",
    "blocks": ".",
    "lines": ".",
    "in a row": ".",
    "cut off": "result.rows",
}
LAST = datetime.max.replace(tzinfo=UTC)
DEEP = "[" * 2_000 + "]" * 2_000

World = str  # the line of an answer to tools/call
# The forms that state when an item was public, and nothing coarser than that or than a day of their zone.
CLAMPED = ("offset", "wall clock", "compact", "day", "unix")
# How a server of New York reads the end of a time range.
ENDS: Mapping[str, Callable[[datetime], str]] = {
    "day": lambda at: f"{at.astimezone(NEW_YORK):%Y-%m-%d}",
    "compact": lambda at: f"{at.astimezone(NEW_YORK):%Y%m%dT%H%M}",
}


def law(rng: Random) -> int:
    """Worlds whose results hold the same public items give the same bytes, in either era."""
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit[:19] + pit[-6:]) if pit[-1] != "Z" else datetime.fromisoformat(pit)
    form = rng.choice(sorted(FORMS))
    settings, spell = FORMS[form]
    shape = rng.choice(sorted(SHAPES))
    mapped = _mapped(settings, SHAPES[shape], rng)
    public = [_item(f"p{n}", moment - _before(rng, form), spell) for n in range(rng.randrange(5))]
    worlds = [
        _answer(public, shape, rng),
        *(_answer(public, shape, rng, _others(moment, spell, rng)) for _ in range(3)),
    ]
    arguments: dict[str, Any] = {"topic": "any"} | ({"fields": ["title"]} if rng.random() < 0.3 else {})
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read", arguments),
        ("read", {"pit": "2100-01-01T00:00:00Z"}),
        ("other", {}),
    ]
    script = requests_of(calls, modern=rng.random() < 0.5)
    first = same_bytes(lambda world: _session(lambda arguments: world, mapped, pit, script), worlds)
    result = json.loads(first.out.splitlines()[-3])["result"]["structuredContent"]
    # A reading of the hour that a clock change repeats means the later one, which may be after the PIT.
    if form in ("offset", "unix", "day", "midnight") or not pit.startswith("2023-11-05"):
        assert {item["id"] for item in result["data"]} == {json.loads(item)["id"] for item in public}, (
            "what was public is missing"
        )
    return len(worlds) - 1


def limited(rng: Random) -> int:
    """A list that ends after so many items, the newest first, holds the same ones whatever came after the instant."""
    pit = rng.choice([pit for pit in PITS if not pit.startswith("2023-11-05")])
    moment = parse_pit(pit)
    assert moment is not None
    settings, spell = FORMS[rng.choice(CLAMPED)]
    end = rng.choice(("instant", *ENDS))
    mapped = _mapped(f"{settings}\nclamp = {{ until = '{end}' }}", ".", rng)
    times = [moment - near(rng) for _ in range(6)] + [moment - timedelta(days=4)] * rng.randrange(3)
    public = [at for at in times if (instant_of(spell(at), mapped.precision, mapped.zone) or LAST) <= moment]
    worlds = [public, times, *([*times, *(moment + near(rng, 2) for _ in range(noise_count(rng)))] for _ in range(2))]

    def answer(times: Sequence[datetime], arguments: Mapping[str, Any]) -> World:
        within = [at for at in times if _is_within(at, arguments["until"], end)]
        newest = sorted(within, reverse=True)[:3]
        rows = [_item(f"{at.timestamp()}", at, spell) for at in newest]
        return _answer(rows, "array", rng)

    script = requests_of([("read", {})], modern=rng.random() < 0.5)
    same_bytes(lambda times: _session(partial(answer, times), mapped, pit, script), worlds)
    return len(worlds) - 1


def _is_within(at: datetime, until: str, end: str) -> bool:
    return at <= datetime.fromisoformat(until) if end == "instant" else ENDS[end](at) <= until


def _before(rng: Random, form: str) -> timedelta:
    # A day is over at its end.
    return timedelta(days=2) + near(rng) if form in ("day", "midnight") else near(rng, 1) + timedelta(seconds=1)


def _mapped(settings: str, path: str, rng: Random) -> Mapped:
    keep = rng.choice(("", 'keep = ["title", "id"]'))
    text = f'[tools.read]\nitems = "{path}"\nid = "id"\navailable_at = "at"\nrevised_at = "changed"\n{settings}\n{keep}'
    return parse_mapping(text)["read"]


def _item(name: str, at: datetime, spell: Callable[[datetime], Any], **more: Any) -> str:
    return json.dumps({"id": name, "at": spell(at), "title": f"title of {name}", **more})


def _others(moment: datetime, spell: Callable[[datetime], Any], rng: Random) -> list[str]:
    """Return items that were not public, or cannot be read, as their server spells them."""
    early = moment - timedelta(days=9)
    rows: list[str] = []
    for number in range(noise_count(rng)):
        later = moment + near(rng, 2) + timedelta(seconds=1)
        name = f"{CANARY}{number}"
        item = _item(name, early, spell, title=CANARY)
        twice = f', "changed": {json.dumps(spell(early))}, "changed": {json.dumps(spell(later))}}}'
        rows.append(
            rng.choice(
                (
                    _item(name, later, spell, title=CANARY),
                    _item(name, early, spell, changed=spell(later), title=CANARY),
                    _item(name, early, spell, changed=CANARY),
                    _item(name, early, spell, title=[{"n": {"Available_At": later.isoformat()}}]),
                    _item(name, early, spell, title={"revised_at": CANARY}),
                    json.dumps({"id": name, "title": CANARY}),
                    json.dumps({"id": name, "at": rng.choice((CANARY, None, [], {}, "", True)), "title": CANARY}),
                    json.dumps({"id": name, "at": 0, "title": CANARY}),
                    rng.choice((f'"{CANARY}"', "null", f'["{CANARY}"]', "5")),
                    item[:-1] + twice,
                    item[:-1] + f', "n": {rng.choice(("NaN", "1e999", "9" * 5_000, DEEP))}}}',
                    _item(name, later, spell)[:-1] + f', "n": "{CANARY}\x01"}}',
                )
            )
        )
    return rows


def _answer(public: Sequence[str], shape: str, rng: Random, others: Sequence[str] | None = None) -> World:
    """Return the line of an answer in which a server has ``public`` and ``others``, with whatever else it may say."""
    rows = [*public, *(others or ())]
    if shape != "cut off":
        rng.shuffle(rows)
    if shape == "in a row":  # what is no object could be prose with a quote, which ends the reading
        rows = [row for row in rows if row.startswith("{")]
    noise = "" if others is None else f', "total": {len(rows)}, "newest": "{CANARY}"'
    texts = [_written(rows, shape, noise)] if shape != "blocks" else rows
    if shape == "cut off" and others:
        texts = [texts[0][: texts[0].rindex(others[-1]) + rng.randrange(len(others[-1]))]]
    blocks = [{"type": "text", "text": text} for text in texts]
    if others is not None:
        blocks.append({"type": "image", "data": CANARY, "mimeType": "image/png"})
        blocks.append({"type": "resource", "resource": {"uri": "x:y", "text": CANARY}})  # type: ignore[dict-item]
    meta = {"note": CANARY} if others is not None else {}
    result = f'"content": {json.dumps(blocks)}, "_meta": {json.dumps(meta)}'
    if shape in ("array", "object", "pages") and len(rows) % 2:
        result += f', "structuredContent": {texts[0]}'
    return f'{{"jsonrpc": "2.0", "id": 1, "result": {{{result}}}}}'


def _written(rows: Sequence[str], shape: str, noise: str) -> str:
    array = f"[{', '.join(rows)}]"
    pages = ", ".join(f'{{"rows": [{row}]{noise}}}' for row in rows)
    return {
        "array": array,
        "object": f'{{"result": {{"rows": {array}{noise}}}{noise}}}',
        "cut off": f'{{"result": {{"rows": {array}}}}}',
        "pages": f'{{"result": [{pages}]{noise}}}',
        "lines": "\n".join(rows),
        "in a row": "".join(rows),
    }[shape]


def _session(
    answer: Callable[[Mapping[str, Any]], World], mapped: Mapped, pit: str, script: Sequence[Mapping[str, Any]]
) -> Left:
    def call(name: str, arguments: Mapping[str, Any], *rest: object) -> Mapping[str, Any]:
        result: Mapping[str, Any] = parse_message(answer(arguments).encode())["result"]
        return result

    environ: Mapping[str, str] = {"CLAUDECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        clock = TestClock(datetime.fromisoformat("2026-06-01T16:00:00+00:00"))
        runtime = Runtime(environ, folder, clock.value(), None, None, lambda _: b"")  # type: ignore[arg-type]
        tools = gate.tools_for([mapped], {"read": SCHEMA}, call, pit, 1.0)
        server = Server(tools, make_instant(pit, None, environ), Settings(environ), Runtimes(lambda: runtime))
        dialogue = Dialogue(script)
        serve(server, Wire(dialogue, dialogue))  # type: ignore[arg-type]
        assert list(Path(folder).iterdir()) == []
    return Left(dialogue.written.decode(), "", 0)
