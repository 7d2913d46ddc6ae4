"""Laws of the command line and of the gate, which hold whatever a source serves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from pit_fetch.engine import registry
from pit_fetch.errors import UsageError
from pit_fetch.request.evidence import VARIABLE
from pit_fetch.request.fetch_request import from_values
from pit_fetch.support.bundled import gate
from tests.laws.worlds import CANARY, PITS, near, run
from tests.providers.bz_news_api import worlds as bz

MICROSECOND = timedelta(microseconds=1)
REFUSED: Sequence[tuple[str, ...]] = (
    ("--pi", "2030-01-01T00:00:00Z"),
    ("--pit", "2030-01-01T00:00:00Z"),
    ("--pit=2030-01-01T00:00:00Z",),
    ("--lim", "3"),
)
BAD_PITS = ("2024-02-15", "2024-02-15T16:00:00", "now", "2024-02-15 16:00:00Z", "1708030800", "2024-02-15T16:00Z", " ")


def refusals(rng: Random) -> int:
    """A command line that a reader could mistake is refused, and nothing is fetched."""
    case = bz.make(rng)
    words = [*case.words, *rng.choice(REFUSED)]
    bad = [
        run(case, case.worlds[-1], words=words),
        run(case, case.worlds[-1], pit=rng.choice(BAD_PITS)),
        run(case, case.worlds[-1], environ={"PIT_FETCH_CEILING": (case.moment - near(rng, 1)).isoformat()}),
        run(case, case.worlds[-1], environ={"PIT_FETCH_CEILING": rng.choice(BAD_PITS)}),
        run(case, case.worlds[-1], pit="", environ={"PIT_FETCH_CEILING": case.pit}),
        run(case, case.worlds[-1], words=[*case.words, "--evidence", "claimed"], environ=_bound(rng, case.pit)),
    ]
    for left in bad:
        assert (left.code, left.ids, CANARY in left.out + left.err) == (2, [], False)
    return 0


def _bound(rng: Random, pit: str) -> dict[str, str]:
    """Return the environment of a caller who may not accept claims."""
    grant = rng.choice(({}, {VARIABLE: "proved"}, {VARIABLE: "yahoo=claimed"}))
    return {**rng.choice(({"PIT_FETCH_CEILING": pit}, {"PIT_FETCH_WRAPPER_ONLY": "1"}, {"CLAUDECODE": "1"})), **grant}


def library_refusals(rng: Random) -> int:
    """A Python call is refused alike: for a PIT above the ceiling or without a zone, or for none at all."""
    case = bz.make(rng)
    provider, ceiling = registry.load(case.source), (case.moment - near(rng, 1)).isoformat()
    for pit in (case.pit, case.moment, case.moment.replace(tzinfo=None), rng.choice(BAD_PITS), False, None):
        try:
            made = from_values({"pit": pit, "limit": 3}, provider, {"PIT_FETCH_CEILING": ceiling})
        except UsageError:
            continue
        raise AssertionError(f"{pit!r} is taken as {made.pit}")
    assert from_values({"pit": ceiling}, provider, {"PIT_FETCH_CEILING": ceiling}).pit is not None
    return 0


def gate_judges(rng: Random) -> int:
    """An envelope with one thing after the PIT, at any depth, is refused; the same without it passes."""
    pit = datetime.fromisoformat(rng.choice(PITS))
    before, after = (pit - near(rng)).isoformat(), (pit + near(rng, 1)).isoformat()
    item = {"available_at": before, "available_at_source": "provider_metadata", "id": "1"}
    clean = {"data": [dict(item), {**item, "inner": [{"available_at": before}]}], "gaps": []}
    assert gate.check(json.dumps(clean), pit) is None
    finer = f"{pit:%Y-%m-%dT%H:%M:%S}.{pit.microsecond:06d}1{pit.isoformat()[-6:]}"
    late: list[dict[str, Any]] = [
        {**item, "available_at": after},
        {**item, "available_at": (pit + MICROSECOND).isoformat()},
        {**item, "available_at": finer},
        {**item, "revised_at": after},
        {**item, "first_seen_at": after},
        {**item, "deep": {"deeper": [{"available_at": after}]}},
        {**item, "deep": {"deeper": [{"revised_at": after}]}},
        {**item, "deep": {"deeper": [{"first_seen_at": after}]}},
        {**item, "available_at": before[:19]},
        {**item, "available_at": None},
        {**item, "available_at_source": "guess"},
        {**item, "Daily_Return": 1},
        {**item, "deep": [{"hourly_stock": 1}]},
        {**item, rng.choice(["Available_At", "REVISED_AT", "first_Seen_at ", " available_at"]): after},
        {**item, "deep": [{"Revised_At": after}]},
        {**item, "body": _quoted(rng, {"data": [{rng.choice(["available_at", "Revised_At"]): after}]})},
        {**item, "body": _quoted(rng, [{"deep": {"Daily_Stock": 1}}])},
        {**item, _quoted(rng, {"available_at": after}): 1},
    ]
    inner: Any = {"available_at": before, "revised_at": None, "daily": 1, "note": 'the word "available_at": an instant'}
    text = rng.choice(["available_at: {}", "note: {{'revised_at': '{}'}}", '<row first_seen_at="{}"/>']).format(after)
    innocent = {**item, "Revised_At": before, "body": _quoted(rng, [inner]), "text": text}
    assert gate.check(json.dumps({"data": [innocent], "gaps": []}), pit) is None, innocent
    envelopes: list[Any] = [{"data": [dict(item), other], "gaps": []} for other in late]
    envelopes += [
        {"data": [], "gaps": [{"available_at": after}]},
        {"data": [], "gaps": [], "more": 1},
        {"gaps": []},
        [clean, clean],
    ]
    texts = list(map(json.dumps, envelopes))
    texts += ['{"data": [], "data": []}', '{"data": [], "gaps": [NaN]}', json.dumps(clean)[:-3], ""]
    for text in texts:
        violation = gate.check(text, pit)
        assert violation is not None, text
        assert after not in violation.detail
    return 0


def _quoted(rng: Random, document: Any) -> str:
    """Return ``document`` as a text that is JSON, quoted once or more."""
    text = json.dumps(document, indent=rng.choice([None, 1]))
    for _ in range(rng.choice([0, 0, 1, 2])):
        text = json.dumps(text)
    return rng.choice(["", "", "\ufeff \n"]) + text + rng.choice(["", "\n"])


def gate_releases(rng: Random) -> int:
    """Of a prepared call's output, the gate shows a clean envelope and nothing else; the file is gone either way."""
    pit = datetime.fromisoformat(rng.choice(PITS[:3]))
    after, later = (pit + near(rng, 1)).isoformat(), (pit + near(rng, 2)).isoformat()
    item = {"available_at": after, "available_at_source": "provider_metadata", "title": CANARY}
    dirty, clean = json.dumps({"data": [item], "gaps": []}), json.dumps({"data": [], "gaps": []})
    cases = [
        (clean, pit.isoformat(), None, {}, True),
        (dirty, pit.isoformat(), None, {}, False),
        (dirty, pit.isoformat(), later, {}, False),
        (dirty, later, pit.isoformat(), {}, False),
        (CANARY, pit.isoformat(), None, {}, False),
        (clean, pit.isoformat(), None, {"stdout": CANARY}, False),
        (clean, pit.isoformat(), None, {"stderr": CANARY}, False),
        (clean, pit.isoformat(), None, {"backgroundTaskId": CANARY}, False),
    ]
    with TemporaryDirectory() as folder:
        for text, named, ceiling, more, is_shown in cases:
            path = Path(folder, f"toolu_1.{rng.getrandbits(128):032x}")
            path.touch(0o600)
            path.write_text(text)
            hook = {
                "tool_name": "Bash",
                "tool_use_id": "toolu_1",
                "tool_input": {"command": f"pit_fetch --pit {named} --release {path}{gate.ENDING}"},
                "tool_response": {"stdout": gate.SENTINEL, "stderr": "", **more},
            }
            reply = json.dumps(gate.respond(hook, ceiling))
            assert (clean in json.loads(reply)["hookSpecificOutput"]["updatedToolOutput"]["stdout"]) == is_shown, hook
            assert CANARY not in reply
            assert after not in reply
            assert not any(Path(folder).iterdir())
    return 0


def gate_hook(rng: Random) -> int:
    """As a hook the gate judges every text of the answer, at the earliest instant that the call names."""
    pit = datetime.fromisoformat(rng.choice(PITS[:3]))
    after = pit + near(rng, 1)
    item = {"available_at": after.isoformat(), "available_at_source": "provider_metadata"}
    dirty, clean = json.dumps({"data": [item], "gaps": []}), json.dumps({"data": [], "gaps": []})
    call = "python3 pit_fetch.py --source bz-news-api --pit"

    def bash(command: str, stdout: str) -> Mapping[str, Any]:
        return {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {"stdout": stdout}}

    refused: list[Mapping[str, Any]] = [
        bash(f"{call} {pit.isoformat()}", dirty),
        bash(f"{call}={pit.isoformat()}", dirty),
        bash(f"{call} {(after + near(rng, 1)).isoformat()} --pit {pit.isoformat()}", dirty),
        bash(f"pit_fetch --help; {call} {pit.isoformat()}", dirty),
        bash(f"pit_fetch --help && {call} {pit.isoformat()}", dirty),
        {"tool_name": "Bash", "tool_input": {"command": f"{call} {pit.isoformat()}"}, "tool_response": None},
        bash(f"{call} {pit.isoformat()}", ""),
        bash(f"{call} yesterday", clean),
        bash(f"python3 -m pit_fetch --source x --pit {pit.isoformat()}", dirty),
        bash(f"python3 -I -m pit_fetch --source x --pit {pit.isoformat()}", dirty),
        bash(f"PIT_FETCH --source x --pit {pit.isoformat()}", dirty),
        bash(f"pit_fetch diff --pit {pit.isoformat()} --pit {(pit - near(rng)).isoformat()}", dirty),
        {
            "tool_name": "mcp__news",
            "tool_input": {"pit": pit.isoformat()},
            "tool_response": [{"type": "text", "text": clean}, {"type": "text", "text": dirty}],
        },
    ]
    unusable: Any = rng.choice(["", " ", None, False, 0, [], {}, "yesterday", PITS[0][:10]])
    for named in (unusable, pit.isoformat()):
        for parameters in ({"pit": named}, {"params": {"pit": named}}, {"parameters": {"filters": [{"Pit": named}]}}):
            tool_input = rng.choice([parameters, json.dumps(parameters), {"arguments": json.dumps(parameters)}])
            refused.append({"tool_name": "mcp__news", "tool_input": tool_input, "tool_response": dirty})
    for hook in refused:
        assert "reason" in gate.respond(dict(hook)), hook
    assert "reason" in gate.respond(dict(bash("pit_fetch --source x", dirty)), pit.isoformat())
    assert gate.respond(dict(bash(f"{call} {pit.isoformat()}", clean))) == {}
    assert gate.respond(dict(bash(f"pit_fetch diff --pit {pit.isoformat()} --pit {after.isoformat()}", dirty))) == {}
    return 0
