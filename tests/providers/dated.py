"""Worlds of a source whose rows are dated one by one: late, revised, undated and spoilt rows around public ones.

A source says of its rows what a :class:`Rows` holds. What it alone can do wrong has worlds of its own in its folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any, NamedTuple

from pit_fetch.testing.server import App, Response, as_json
from tests.laws.checks import non_interference
from tests.laws.worlds import CANARY, PITS, Case, always, common, near, noise_count, options
from tests.loopback.broken import wreck

Row = dict[str, Any]
Law = Callable[[Random], int]
# Stamps without an instant, whatever the form of the source's is.
UNDATED: tuple[Any, ...] = (None, "", "soon", [], {}, 20240215.5, "2024-02-30T10:00:00Z", "2024-02-15T10:00:00-00:00")
_PLAIN = ("--limit", "500", "--max-pages", "1000")


class Rows(NamedTuple):
    """The rows of one operation.

    source    its name; words: the request
    app       (the rows, whether it ignores the window that is asked for) -> the server that has them, in any order
    row       (number, when it was public, when it was revised or None, its text) -> a row
    ids       the ids of the items of a row
    stamps    the keys without which a row is undated; texts: keys whose value may be spoilt
    revised   whether a row states its last revision
    floor     (instant) -> the last one that a row can have, not after it; rounded: the first one, not before it
    choices   options that narrow the request, besides those of every source
    plain     the words of a request that nothing but the PIT narrows
    sizes     sizes of pages, as :class:`Case` has them
    failures  responses that fail alike, besides those of every source
    most      how long before the PIT a public row can be
    """

    source: str
    words: tuple[str, ...]
    app: Callable[[Sequence[Any], bool], App]
    row: Callable[[int, datetime, datetime | None, str], Row]
    ids: Callable[[Row], Sequence[str]]
    stamps: tuple[str, ...]
    texts: tuple[str, ...]
    revised: bool = False
    floor: Callable[[datetime], datetime] = lambda moment: moment.replace(microsecond=0)
    rounded: Callable[[datetime], datetime] = lambda moment: moment
    choices: Mapping[str, Sequence[tuple[str, ...]]] = {}
    plain: tuple[str, ...] = ()
    sizes: Sequence[Mapping[str, Any]] = ()
    failures: Sequence[Sequence[Response]] = ()
    most: timedelta = timedelta(days=40)

    def make(self, rng: Random, most: int = 4, claimed: bool = False) -> Case:
        """Return a case of any kind. ``claimed``: its worlds agree on what was claimed, too."""
        pit = rng.choice(PITS)
        moment = datetime.fromisoformat(pit)
        public = [self._public(rng, number, moment) for number in rng.sample(range(1, 400), rng.choice((0, 1, 3, 6)))]
        agreed = [self._edited(rng, 500 + n, moment, "x") for n in range(rng.choice((0, 1, 3)))]
        agreed = agreed if claimed and self.revised else []
        worlds = [[*public, *agreed]]
        kinds = ("late", "late", "spoilt", "unreadable") + (() if claimed else ("undated", "revised", "copy"))
        for _ in range(3):
            noise = [self._noise(rng, 1_000 + n, moment, public, kinds) for n in range(noise_count(rng))]
            worlds.append([*worlds[0], *noise])
        for rows in worlds:
            rng.shuffle(rows)
        is_careless = rng.random() < 0.4
        ids = [name for row in public for name in self.ids(row)]
        is_plain = most > 0 and rng.random() < 0.2
        choices = {**common(moment, ids, rng), **self.choices}
        return Case(
            source=self.source,
            pit=pit,
            words=(*self.words, *((*_PLAIN, *self.plain) if is_plain else options(rng, choices, most))),
            worlds=tuple(self.app(rows, is_careless) for rows in worlds),
            sizes=rng.choice(self.sizes or [{}]),
            resized=tuple(self.sizes),
            page_size=rng.choice((1, 3, 100)),
            terminal=rng.random() < 0.2,
            plain=frozenset(ids) if is_plain and not claimed else None,
            immutable=not self.revised,
        )

    def claimed(self, rng: Random) -> Case:
        """Return a case whose worlds agree on what was proved or claimed."""
        return self.make(rng, claimed=True)

    def undisturbed(self, rng: Random) -> Case:
        """Return a case of one world in which no row is ever revised."""
        case = self.make(rng, most=0)
        moments = [case.moment + near(rng) * rng.choice((-1, 1)) for _ in range(12)]
        rows = [self.row(n, self.floor(moment), None, f"Text {n}") for n, moment in enumerate(moments, 1)]
        words = (*self.words, "--limit", "1000", "--max-pages", "1000", *self.plain)
        return case._replace(words=words, worlds=(self.app(rows, False),), immutable=True)

    def failing(self, rng: Random) -> Case:
        """Return worlds that fail alike with different texts. One kind: nothing is known, or all of it is later."""
        case = self.make(rng)
        late = [self._noise(rng, n, case.moment, (), ("late", "spoilt")) for n in range(1, 5)]
        texts = ("A word of its own", f"{CANARY}: published in March", "Your key is 0123456789")
        groups: list[Sequence[Any]] = [
            [self.app(rows, is_careless) for rows in ([], late, [*late, None, 5, {}]) for is_careless in (True, False)],
            *(
                [always(as_json({"message": text}, status)) for text in texts]
                for status in (400, 401, 403, 422, 429, 500)
            ),
            [always(Response(text.encode())) for text in texts],
            [always(as_json({"error": text})) for text in texts],
            *([always(response) for response in group] for group in self.failures),
        ]
        return case._replace(worlds=tuple(rng.choice(groups)), plain=None, sizes={}, resized=())

    @property
    def laws(self) -> dict[str, Law]:
        return {"failures": lambda rng: non_interference(self.failing(rng))}

    def _public(self, rng: Random, number: int, moment: datetime) -> Row:
        public = self.floor(moment - min(near(rng), self.most))
        revised = max(public, self.floor(moment - near(rng))) if self.revised else None
        return self.row(number, public, revised, "x" * rng.choice((10, 10, 3_000)))

    def _edited(self, rng: Random, number: int, moment: datetime, text: str) -> Row:
        """Return a row that was public at ``moment``, and revised later."""
        return self.row(
            number, self.floor(moment - min(near(rng), self.most)), self.rounded(moment + near(rng, 1)), text
        )

    def _noise(self, rng: Random, number: int, moment: datetime, public: Sequence[Row], kinds: Sequence[str]) -> Any:
        """Return a row that was not public at ``moment``."""
        before, after = (self.floor(moment - min(near(rng), self.most)), self.rounded(moment + near(rng, 1)))
        late = self.row(number, after, after + near(rng) if self.revised else None, CANARY)
        match rng.choice(kinds):
            case "revised" if self.revised:
                return self._edited(rng, number, moment, CANARY)
            case "copy" if self.revised and public:
                made, original = self.row(number, before, after, CANARY), rng.choice(public)
                return {
                    **made,
                    **{
                        key: original[key]
                        for key in original
                        if key in ("id", "objectID", "created_at", self.stamps[0])
                    },
                }
            case "undated":
                made = self.row(number, before, before if self.revised else None, CANARY)
                return {**made, rng.choice(self.stamps): rng.choice(UNDATED)}
            case "spoilt":
                return {**late, rng.choice(self.texts): wreck(rng)}
            case "unreadable":
                return rng.choice((None, 5, CANARY, [], {}, {**late, "x": wreck(rng)}))
            case _:
                return late
