"""The law of the gate: whatever another server says besides the public items of its results changes no byte."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from pit_fetch.engine.settings_files import Settings
from pit_fetch.mcp import gate
from pit_fetch.mcp.calls import Runtimes, Server
from pit_fetch.mcp.instant import fixed
from pit_fetch.mcp.mapping import Mapped, read
from pit_fetch.mcp.server import run as serve
from pit_fetch.mcp.streams import Wire
from pit_fetch.runtime import Runtime
from pit_fetch.testing.comparison import CANARY
from pit_fetch.testing.inprocess import Left, TestClock
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
    "unix": ('precision = "unix"', lambda at: at.timestamp()),
}

World = Mapping[str, Any]  # a result of tools/call


def law(rng: Random) -> int:
    """Worlds whose results hold the same public items give the same bytes, in either era."""
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit[:19] + pit[-6:]) if pit[-1] != "Z" else datetime.fromisoformat(pit)
    form = rng.choice(sorted(FORMS))
    settings, spell = FORMS[form]
    mapped = _mapped(settings, rng)
    public = [_item(f"p{n}", moment - _before(rng, form), spell) for n in range(rng.randrange(5))]
    worlds = [_result(public, [], spell, rng), *(_world(public, moment, form, rng) for _ in range(3))]
    arguments: dict[str, Any] = {"topic": "any"} | ({"fields": ["title"]} if rng.random() < 0.3 else {})
    calls: list[tuple[str, dict[str, Any]]] = [
        ("read", arguments),
        ("read", {"pit": "2100-01-01T00:00:00Z"}),
        ("other", {}),
    ]
    script = requests_of(calls, modern=rng.random() < 0.5)
    first = same_bytes(lambda world: _session(world, mapped, pit, script), worlds)
    result = json.loads(first.out.splitlines()[-3])["result"]["structuredContent"]
    # A reading of the hour that a clock change repeats means the later one, which may be after the PIT.
    if form in ("offset", "unix", "day") or not pit.startswith("2023-11-05"):
        assert {item["id"] for item in result["data"]} == {item["id"] for item in public}, "what was public is missing"
    return len(worlds) - 1


def _before(rng: Random, form: str) -> timedelta:
    # A day is over at its end.
    return timedelta(days=2) + near(rng) if form == "day" else near(rng, 1) + timedelta(seconds=1)


def _mapped(settings: str, rng: Random) -> Mapped:
    path = rng.choice((".", "result.rows"))
    keep = rng.choice(("", 'keep = ["title", "id"]'))
    text = f'[tools.read]\nitems = "{path}"\nid = "id"\navailable_at = "at"\nrevised_at = "changed"\n{settings}\n{keep}'
    return read(text)["read"]


def _item(name: str, at: datetime, spell: Callable[[datetime], Any], **more: Any) -> dict[str, Any]:
    return {"id": name, "at": spell(at), "title": f"title of {name}", **more}


def _world(public: Sequence[World], moment: datetime, form: str, rng: Random) -> World:
    spell = FORMS[form][1]
    others: list[Any] = []
    for number in range(noise_count(rng)):
        later = moment + near(rng, 2) + timedelta(seconds=1)
        name = f"{CANARY}{number}"
        others.append(
            rng.choice(
                (
                    _item(name, later, spell, title=CANARY),
                    _item(name, moment - timedelta(days=9), spell, changed=spell(later), title=CANARY),
                    _item(name, moment - timedelta(days=9), spell, changed=CANARY),
                    _item(name, moment - timedelta(days=9), spell, title=[{"n": {"Available_At": later.isoformat()}}]),
                    _item(name, moment - timedelta(days=9), spell, title={"revised_at": CANARY}),
                    {"id": name, "title": CANARY},
                    {"id": name, "at": rng.choice((CANARY, None, [], {}, "", True)), "title": CANARY},
                    rng.choice((CANARY, None, [CANARY], 5)),
                )
            )
        )
    return _result(public, others, spell, rng, loud=True)


def _result(
    public: Sequence[World], others: Sequence[Any], spell: Callable[[datetime], Any], rng: Random, loud: bool = False
) -> World:
    """Return a result in any of the forms that servers use, with whatever else they say if it is ``loud``."""
    rows = [*public, *others]
    rng.shuffle(rows)
    more = {"total": len(rows), "newest": CANARY} if loud else {}
    content = {"content": rows, "more": more}
    text = {"type": "text", "text": ""}
    noise: list[dict[str, Any]] = [{"type": "image", "data": CANARY, "mimeType": "image/png"}] if loud else []
    noise += [{"type": "resource", "resource": {"uri": "x:y", "text": CANARY}}] if loud else []
    return {
        "rows": content["content"],
        "more": more,
        "blocks": [text, *noise],
        "_meta": {"note": CANARY} if loud else {},
    }


def _shaped(world: World, mapped: Mapped) -> dict[str, Any]:
    """Return the world as a result for the mapping's path: structured where its size is even, else as text."""
    rows = world["rows"]
    inner = rows if mapped.items == "." else {"result": {"rows": rows, **world["more"]}, **world["more"]}
    text = {**world["blocks"][0], "text": json.dumps(inner)}
    result = {"content": [text, *world["blocks"][1:]], "_meta": world["_meta"]}
    return {**result, "structuredContent": inner} if len(rows) % 2 else result


def _session(world: World, mapped: Mapped, pit: str, script: Sequence[Mapping[str, Any]]) -> Left:
    def call(name: str, arguments: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        return _shaped(world, mapped)

    environ: Mapping[str, str] = {"CLAUDECODE": "1"}
    with tempfile.TemporaryDirectory() as folder:
        clock = TestClock(datetime.fromisoformat("2026-06-01T16:00:00+00:00"))
        runtime = Runtime(environ, folder, clock.value(), None, None, lambda _: b"")  # type: ignore[arg-type]
        tools = gate.tools_for([mapped], {"read": SCHEMA}, call, pit, 1.0)
        server = Server(tools, fixed(pit, None, environ), Settings(environ), Runtimes(lambda: runtime))
        dialogue = Dialogue(script)
        serve(server, Wire(dialogue, dialogue))  # type: ignore[arg-type]
        assert list(Path(folder).iterdir()) == []
    return Left(dialogue.written.decode(), "", 0)
