"""The law of hostile texts: anybody can publish any text, and no text may cost the other items anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from pit_fetch.provider import ENVELOPE_FIELDS
from pit_fetch.support.bundled import gate
from tests.laws.worlds import SECRETS, Case, near, run
from tests.worlds import same_bytes

_MOST_PAGES = 120
# An id that is longer than some answers may be.
_LONG_ID = "x" * 5_000


def hostile(case: Case, harmless: Mapping[str, str], field: str, rng: Random) -> int:
    """Every harmless item comes exactly once and whole, each cursor leads on, and the gate's hook agrees.

    ``harmless`` has their ids, in the order of an answer, with the text of ``field``. Any other item may come, or not.
    """
    budget = rng.choice((0, 4_000, 5_500, 28_000))
    limited = rng.choice((("--limit", "1"), ("--limit", "3"), ("--limit", "50")))
    parts: list[Mapping[str, Any]] = []
    cursors: set[str] = set()
    after: tuple[str, ...] = ()
    for _ in range(_MOST_PAGES):
        words = (*case.words, *limited, "--max-chars", str(budget), *after)
        left = same_bytes(lambda app, words=words: run(case, app, words=words), case.worlds, SECRETS)  # type: ignore[misc]
        assert (left.code, left.err) == (0, "")
        assert not budget or len(left.out.rstrip()) <= budget, "the answer is larger than it may be"
        # From another place on the stack: how deep Python can read a text depends on it.
        assert gate.check(left.out, case.moment) is None, "the hook refuses what the program prints"
        parts += left.data
        cursor = next((gap["cursor"] for gap in left.envelope["gaps"] if "cursor" in gap), None)
        if cursor is None:
            break
        assert cursor not in cursors, "a cursor leads to where it was"
        cursors.add(cursor)
        after = ("--after", cursor)
    else:
        raise AssertionError("the answer has no end")
    runs = [name for place, name in enumerate(_ids(parts)) if not place or name != _ids(parts)[place - 1]]
    assert [name for name in runs if name in harmless] == list(harmless), "an item is missing, or comes twice"
    for name, text in harmless.items():
        assert "".join(str(part.get(field, "")) for part in parts if part["id"] == name) == text, "a text is not whole"
    return len(case.worlds) - 1


def _ids(parts: Sequence[Mapping[str, Any]]) -> list[str]:
    return [part[ENVELOPE_FIELDS[-1]] for part in parts]


def harmless_text(rng: Random, pit: datetime) -> str:
    """Return a text that is served, whatever it looks like."""
    document, size = _late_document(rng, pit), rng.choice((0, 1, 150, 250, 900, 3_000, 9_000))
    blank = rng.choice((" ", "\n", "\ufeff", "  ", "\u00a0", "")) * rng.choice((0, 1, 40, 250, 3_000))
    words = " ".join(rng.choice(("word", "x" * 40, "€", '"', "{", "]")) for _ in range(rng.choice((1, 5, 60))))
    depth = rng.randrange(850, 1_050)
    return rng.choice((
        "Oil",
        f"{document}{blank}{words}",  # a stretch of it is a document that the gate refuses
        f"{words}{blank}{document}",
        f"{document}{blank}{document}",
        "y" * (size + 1) + blank + document,
        "[" * depth + document + "]" * depth,  # deeper than the gate looks, and as deep as Python can read
        "[" * rng.choice((5, 101, 4_000)),
        '{"available_at": ' * 50,
        f"available_at: {(pit + timedelta(days=1)).isoformat()}",
        "<" * size + "\x00\x1b[2J\ud800" + "&#" + "9" * 5_000,
        "\u0315\u0300" * size,
    ))  # fmt: skip


def refused_text(rng: Random, pit: datetime) -> str:
    """Return a text that the gate refuses: a JSON document with a later stamp, however often it is quoted."""
    text = _late_document(rng, pit)
    for _ in range(rng.choice((0, 0, 1, 2))):
        text = json.dumps(rng.choice((text, [text], {text: 1}, [[[text]]])))
    blank = rng.choice(("", " ", "\ufeff\n"))
    return blank + text + blank


def long_id(rng: Random, number: int) -> str:
    """Return an id that fits into no small answer, and begins like others of its kind."""
    return _LONG_ID + f"{number}" + rng.choice(("", "\U0001f600" * 900))


def _late_document(rng: Random, pit: datetime) -> str:
    stamp = {rng.choice(("available_at", "Revised_At", "first_seen_at ")): (pit + near(rng, 1)).isoformat()}
    filler = rng.choice(({}, {}, {"note": "z" * rng.randrange(4_000)}, {"many": ["z " * 9] * 150}))
    document = json.dumps(rng.choice(({**filler, **stamp}, {**stamp, **filler}, [{"data": [stamp]}, filler])))
    # Some versions of Python do not read such a number.
    return document.replace("{", '{"digits": ' + "7" * 5_000 + ", ", 1) if rng.random() < 0.1 else document
