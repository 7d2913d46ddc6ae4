"""Worlds of a source that is made for this: it offers all that the framework does something with.

Newest first by page, slices of days with a watermark behind each, one reply in any order, versions of one item,
a state of today, what is computed across records, a window on a date of the records' own. Bundled
sources have some of it each; here each stands for every source to come.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, time, timedelta
from itertools import pairwise
from random import Random
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from pit_fetch.formats import BINARY, NAMES
from pit_fetch.gaps import Code
from pit_fetch.paging import follow, numbered
from pit_fetch.provider import (
    Context,
    Credential,
    Field,
    Gap,
    Host,
    HttpReply,
    Operation,
    Option,
    Page,
    Provider,
    Query,
    QueryKey,
    Record,
    Stage,
    UpstreamError,
    Watermark,
)
from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.times import NEW_YORK, parse_rfc3339
from pit_fetch.transport import HttpRequest
from pit_fetch.wire import lenient_json
from tests.laws.hostile import harmless_text, long_id, refused_text
from tests.laws.refusals import Requests
from tests.laws.worlds import CANARY, PITS, SAMPLE_KEY, Case, common, near, noise_count, options, provider_of
from tests.loopback.broken import body_of, wreck

PAGE_SIZE = 4
DAY, MICROSECOND = timedelta(days=1), timedelta(microseconds=1)
# Beyond the slices there is nothing: they reach further back than any row, from any PIT that a law asks.
SLICE, SLICES, PATIENCE = 10 * DAY, 10, 2
HOST = Host("Sample", "https://sample.example", "PIT_FETCH_SAMPLE_URL", auth=QueryKey("key", "apikey"))
# ``place`` is where the server puts it, and is not sent.
Row = dict[str, Any]


# The source.


def fetch(query: Query, context: Context) -> Iterator[Record | Page | Gap | Watermark]:
    """``until`` narrows the server's window, by days and with one to spare; ``WHOLE`` is served whole."""
    today = query.horizon.astimezone(NEW_YORK).date()

    def ask(**params: str) -> HttpReply:
        reply = context.http.get(HOST.name, "/rows", params)
        if reply.status != 200:
            raise UpstreamError(Code.HTTP_STATUS, host=HOST.name, status=reply.status)
        return reply

    def page(number: int) -> list[Record]:
        return _records(ask(until=f"{today + DAY}", page=str(number), size=str(PAGE_SIZE)))

    def linked(path: str) -> tuple[list[Record], str | None]:
        reply = json.loads(context.http.get(HOST.name, path).body)
        return [_record(row) for row in reply["rows"]], reply.get("next")

    match query.operation.name:
        case "LINKS":
            yield from follow(linked, "/links")
        case "PAGES":
            yield from numbered(page, size=PAGE_SIZE, newest_first=True)
        case "SLICES" | "PATIENT" as name:
            for first in (today + DAY - n * SLICE for n in range(1, SLICES)):
                yield from _records(ask(since=f"{first}", until=f"{first + SLICE - DAY}"))
                yield Watermark(datetime.combine(first, time(0), NEW_YORK), PATIENCE if name == "PATIENT" else 0)
        case "TODAY":
            reply = ask()
            for record in _records(reply):
                yield record._replace(available_at=reply.received_at, at_receipt=True)
        case _:
            yield from _records(ask())


def _records(reply: HttpReply) -> list[Record]:
    return [_record(row) for row in lenient_json(reply.body, 1)]


def _record(row: Any) -> Record:
    if not isinstance(row, dict) or not isinstance(row.get("id"), str):
        return Record("", None, {})
    at, revised = parse_rfc3339(row.get("at")), parse_rfc3339(row.get("revised"))
    is_dated = revised is not None or "revised" not in row
    payload = {name: row[name] for name in ("title", "day", "inner") if name in row}
    claimed_at = parse_rfc3339(row.get("claim"))
    return Record(row["id"], at if is_dated else None, payload, revised, claimed_at=claimed_at)


def select(query: Query, record: Record) -> bool:
    word = query.options["word"]
    return word is None or word in str(record.payload.get("title"))


def derive(query: Query) -> Stage | None:
    """Numbers the items from the newest one on, and says what stands before each."""

    def stage(records: Iterator[Record]) -> Iterator[Record]:
        before = ""
        for number, record in enumerate(records):
            yield record._replace(payload={**record.payload, "number": number, "before": before})
            before = record.id

    return stage if query.options["numbered"] else None


_OPERATION = Operation(
    fetch=fetch,
    parse_reply=lambda body, query: iter(()),
    takes=("word", "numbered"),
    fields=(Field("title", is_required=True), Field("day", "date"), Field("inner", "object")),
)
PROVIDER = Provider(
    name="sample",
    summary="a source",
    select=select,
    derive=derive,
    hosts=(HOST,),
    credentials=(Credential("key", ("SAMPLE_API_KEY",)),),
    options=(
        Option("word", "in the title"),
        Option("numbered", "with a number", kind="flag"),
    ),
    operations=(
        *(_OPERATION._replace(name=name) for name in ("PAGES", "SLICES", "PATIENT", "LINKS")),
        _OPERATION._replace(name="WHOLE", window="day"),
        _OPERATION._replace(name="TODAY", window="", dating=_OPERATION.dating._replace(by="receipt")),
    ),
)


def app(rows: Sequence[Row]) -> App:
    """The server of ``rows``, which stand in any order: pages and slices are cut by their ``place``."""

    def answer(request: HttpRequest) -> Response:
        query = {**dict(parse_qsl(urlsplit(request.url).query)), **{k: str(v) for k, v in request.query.items()}}
        if query.get("apikey") != SAMPLE_KEY:
            return as_json({"error": f"unknown key {query.get('apikey')}"}, 401)
        by_day = [(row["place"].astimezone(NEW_YORK).date().isoformat(), row) for row in rows]
        served = [row for day, row in by_day if query.get("since", day) <= day <= query.get("until", day)]
        if "page" in query:
            page, size = int(query["page"]), int(query["size"])
            served = sorted(served, key=_newest_first)[page * size : (page + 1) * size]
        bare = [{name: value for name, value in row.items() if name != "place"} for row in served]
        return Response(body_of(bare))

    return answer


def _newest_first(row: Row) -> float:
    return -float(row["place"].timestamp())


# Its worlds.


def _continues(asked: Sequence[HttpRequest]) -> bool:
    """Whether the last request is for a further page."""
    return int(asked[-1].query.get("page", 0)) > 0


REQUESTS = Requests(_continues)


def make(rng: Random, most: int = 4, operations: Sequence[str] = ("PAGES", "SLICES", "WHOLE")) -> Case:
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    public = [_public(rng, f"r{number}", moment) for number in range(rng.choice((0, 1, 3, 6, 12)))]
    worlds = [public, *([*public, *_noise(rng, moment, public)] for _ in range(3))]
    for rows in worlds:
        rng.shuffle(rows)
    ids = [row["id"] for row in public]
    choices: Mapping[str, Sequence[tuple[str, ...]]] = {
        **common(moment, ids, rng),
        "word": [("--word", "Oil"), ("--word", "merger")],
        "numbered": [("--numbered",)],
        "fields": [("--fields", "title"), ("--fields", "day,inner")],
        "format": [("--format", form) for form in NAMES if form not in BINARY],
    }
    sizes = [{f"{__name__}:PAGE_SIZE": size, "pit_fetch.pipeline.select:MOST_REPEATED": 10} for size in (1, 2, 3, 50)]
    plain = ("--limit", "500", "--max-pages", "1000")
    is_plain = most > 0 and rng.random() < 0.2
    return Case(
        source="sample",
        pit=pit,
        words=(rng.choice(operations), *(plain if is_plain else options(rng, choices, most))),
        worlds=tuple(map(app, worlds)),
        sizes=rng.choice(sizes),
        resized=tuple(rng.sample(sizes, 2)),
        terminal=rng.random() < 0.2,
        plain=frozenset(ids) if is_plain else None,
        provider=PROVIDER._replace(page_size=rng.choice((1, 3, 100))),
    )


def claimed(rng: Random) -> Case:
    """Worlds that agree on what was proved or claimed at the PIT: rows that were edited since, and undated ones."""
    case = make(rng)
    public = [_public(rng, f"r{number}", case.moment) for number in range(rng.choice((0, 1, 3, 6)))]
    agreed = [*public, *(_on_a_claim(rng, f"c{number}", case.moment) for number in range(rng.choice((0, 1, 3, 6))))]
    worlds = [agreed]
    for _ in range(3):
        noise = _noise(rng, case.moment, public)
        worlds.append([*agreed, *(_claiming_later(rng, row, case.moment) for row in noise)])
    for rows in worlds:
        rng.shuffle(rows)
    operations = tuple(
        operation._replace(dating=operation.dating._replace(claims="by its claim"))
        for operation in provider_of(case).operations
    )
    return case._replace(
        worlds=tuple(map(app, worlds)),
        provider=provider_of(case)._replace(operations=operations),
        plain=None if case.plain is None else frozenset(row["id"] for row in agreed),
    )


def _on_a_claim(rng: Random, name: str, moment: datetime) -> Row:
    """Return a row that nothing proves at ``moment``, and that claims to be from before it."""
    row, after = _public(rng, name, moment, unrevised=True), (moment + near(rng, 1)).isoformat()
    change: Row = rng.choice(({"revised": after}, {"revised": None}, {"at": None}, {"at": after}, {"at": "soon"}))
    return {**row, **change, "claim": row["at"]}


def _claiming_later(rng: Random, row: Row, moment: datetime) -> Row:
    """Return a withheld row with a claim from after ``moment``, with one that cannot be read, or without one."""
    naive = f"{moment - near(rng):%Y-%m-%dT%H:%M:%S}"
    claim = rng.choice(((moment + near(rng, 1)).isoformat(), (moment + MICROSECOND).isoformat(), naive, "soon", None))
    return row if rng.random() < 0.3 else {**row, "claim": claim}


def promised(rng: Random) -> tuple[Case, frozenset[str], bool]:
    """Worlds of which some public rows lack a field that each row of the source has; those that do not, and if any do.

    What is withheld lacks it, too, or all of it does.
    """
    case = make(rng, most=0)
    public = [_public(rng, f"r{number}", case.moment) for number in range(rng.choice((0, 1, 3, 6)))]
    for row in public:
        if rng.random() < 0.4:
            del row["title"]
    worlds = [public]
    for _ in range(3):
        noise = _noise(rng, case.moment, public)
        if rng.random() < 0.5:
            noise = [{name: value for name, value in row.items() if name != "title"} for row in noise]
        worlds.append([*public, *noise])
        rng.shuffle(worlds[-1])
    whole = frozenset(row["id"] for row in public if "title" in row)
    plain = ("--limit", "500", "--max-pages", "1000")
    case = case._replace(words=(case.words[0], *plain), worlds=tuple(map(app, worlds)), plain=whole, terminal=False)
    return case, whole, len(whole) < len(public)


def patient(rng: Random) -> Case:
    """Slices of which a few without a public record end the search, so that it need not find all that was public."""
    return make(rng, operations=("PATIENT",))._replace(plain=None)


def undisturbed(rng: Random) -> Case:
    """A world of which nothing is revised, so that what was once public stays so."""
    case = make(rng, most=0)
    rows = [
        _public(rng, f"r{number}", case.moment + near(rng) * rng.choice((0, 1)), unrevised=True) for number in range(12)
    ]
    return case._replace(words=(*case.words, "--limit", "1000", "--max-pages", "1000"), worlds=(app(rows),))


def versions(rng: Random) -> Case:
    """Items of which older versions are served as well, and later ones: the newest that is public stands alone."""
    case = make(rng, most=0)
    newest = [_public(rng, f"r{number}", case.moment) for number in range(rng.choice((1, 3, 6)))]
    worlds = [newest]
    for _ in range(3):
        older = [_older(rng, row) for row in newest for _ in range(rng.choice((0, 1, 2)))]
        worlds.append([*newest, *older, *_noise(rng, case.moment, newest)])
        rng.shuffle(worlds[-1])
    choices: dict[str, Sequence[tuple[str, ...]]] = {
        "word": [("--word", "Oil"), ("--word", "A")],
        "limit": [("--limit", "1"), ("--limit", "3")],
        "max-pages": [("--max-pages", "2")],
        "numbered": [("--numbered",)],
    }
    ends = common(case.moment, [row["id"] for row in newest], rng)
    choices |= {name: ends[name] for name in ("date-from", "date-to", "after")}
    words = (case.words[0], *options(rng, choices, 3))
    return case._replace(words=words, worlds=tuple(map(app, worlds)), provider=_of_versions(case.provider))


def _of_versions(provider: Provider | None) -> Provider:
    operations = tuple(
        operation._replace(archiving=operation.archiving._replace(versions=True))
        for operation in (provider or PROVIDER).operations
    )
    return (provider or PROVIDER)._replace(operations=operations)


def disordered(rng: Random) -> Case:
    """Pages that are not in the order that they promise: neighbours swapped, or a newer version behind an older one.

    Whether that is seen depends on what is public, and not on where withheld rows move the end of a page.
    """
    case = make(rng, most=0)
    public = [_public(rng, f"r{number}", case.moment, unrevised=True) for number in range(rng.choice((3, 6, 12)))]
    first, second = rng.sample(public, 2)
    if rng.random() < 0.5:
        first["place"], second["place"] = second["place"], first["place"]
    else:
        before = first["place"] - near(rng, 1)
        public.append({**first, "at": before.isoformat(), "revised": case.pit, "place": before, "title": "A new one"})
    # Where two rows stand at one place, the server leaves them as they are.
    worlds = [public, *([*_noise(rng, case.moment, public), *public] for _ in range(3))]
    words = ("PAGES", *rng.choice(((), ("--limit", "3"), ("--word", "Oil"))))
    return case._replace(words=words, worlds=tuple(map(app, worlds)), provider=_of_versions(case.provider))


def snapshots(rng: Random) -> Case:
    """A state of today, of which a PIT a little ahead serves every row."""
    case = undisturbed(rng)
    # There is no window on a state.
    words = [word for pair in pairwise(case.words) if not {*pair} & {"--date-from", "--date-to"} for word in pair[1:]]
    return case._replace(words=("TODAY", *words))


def long_texts(rng: Random) -> Case:
    """Items whose texts are longer than an answer may be, with a key somewhere in them, among what was not public."""
    case = make(rng, most=0)
    public = [_public(rng, f"r{number}", case.moment) for number in range(rng.choice((1, 2, 4)))]
    for row in public:
        parts = ("word", "\n", "x" * 900, "\u20ac", '"', SAMPLE_KEY, "\U0001f600")
        row["title"] = " ".join(rng.choice(parts) for _ in range(rng.choice((1, 5, 40))))
        row["inner"] = {"note": "x" * rng.choice((1, 1, 1_500))}
    worlds = [public, *([*public, *_noise(rng, case.moment, public)] for _ in range(2))]
    for rows in worlds:
        rng.shuffle(rows)
    words = (case.words[0], "--limit", rng.choice(("1", "3", "50")))
    return case._replace(words=words, worlds=tuple(map(app, worlds)), resized=(), plain=None)


def hostile_texts(rng: Random) -> tuple[Case, Mapping[str, str]]:
    """Worlds whose public items have texts, and ids, of people who mean harm; and the titles of the harmless ones."""
    case = make(rng, most=0)
    public = [_public(rng, f"r{number}", case.moment, unrevised=True) for number in range(rng.choice((2, 4, 7)))]
    harmless = {}
    for number, row in enumerate(public):
        text = harmless_text(rng, case.moment)
        match rng.choice(("harmless", "harmless", "title", "inner", "id")):
            case "harmless":
                harmless[row["id"]] = row["title"] = text
            case "title":
                row["title"] = refused_text(rng, case.moment)
            case "inner":
                row |= {"title": text, "inner": {"note": [refused_text(rng, case.moment)]}}
            case "id":
                row |= {"title": text, "id": long_id(rng, number)}
    worlds = [public, *([*public, *_noise(rng, case.moment, public)] for _ in range(2))]
    for rows in worlds:
        rng.shuffle(rows)
    in_order = sorted(public, key=lambda row: (_newest_first(row), row["id"]))
    expected = {row["id"]: harmless[row["id"]] for row in in_order if row["id"] in harmless}
    operation = rng.choice(("PAGES", "SLICES"))  # WHOLE has a window on another date
    case = case._replace(words=(operation,), worlds=tuple(map(app, worlds)), resized=(), plain=None, terminal=False)
    return case, expected


def changed(rng: Random) -> Case:
    """A world with one long item, and one in which the source has changed its text without a mark."""
    case = make(rng, most=0)
    row = _public(rng, "r0", case.moment)
    before = " ".join(rng.choice(("word", "x" * 300, "\u20ac", SAMPLE_KEY)) for _ in range(60)) + "y" * 4_000
    place = rng.randrange(len(before))
    now = rng.choice(("", before[:place], before[:place] + "z" + before[place:], before[:place] + before[place + 1 :]))
    worlds = tuple(app([{**row, "title": title}]) for title in (before, now))
    return case._replace(words=(case.words[0], "--limit", "5"), worlds=worlds, resized=(), plain=None)


def windows(rng: Random) -> tuple[Case, Sequence[tuple[str, ...]]]:
    """A request for all that there is, and what narrows it. Items are numbered, and there are several versions."""
    case = versions(rng)
    choices = common(case.moment, [f"r{number}" for number in range(6)], rng)
    parts = [words for name in ("limit", "max-pages", "date-from", "date-to", "after") for words in choices[name]]
    words = (case.words[0], "--numbered", "--limit", "1000", "--max-pages", "1000")
    return case._replace(words=words), rng.sample([part for part in parts if part[0][2] in "da"], 3)


def refused(rng: Random) -> Case:
    """Worlds with a public item in which something stands that the gate refuses."""
    case = make(rng, most=0)
    after = (case.moment + near(rng, 1)).isoformat()
    inner = {"note": CANARY, rng.choice(("available_at", "revised_at")): after}
    rows = [_public(rng, "r0", case.moment), _public(rng, "r1", case.moment) | {"inner": inner, "title": CANARY}]
    return case._replace(worlds=(app(rows),))


def redirects(rng: Random) -> Case:
    """Worlds whose server has moved: to another address of its own, or, which is not followed, to somebody else's."""
    case = make(rng)
    plain = case.worlds[0]

    def moved(location: str) -> App:
        def answer(request: HttpRequest) -> Response:
            if request.path == "/moved":
                return plain(request)
            headers = {"Location": location % urlencode(request.query)}
            return Response(CANARY.encode(), rng.choice((301, 302, 307)), headers)

        return answer

    here = ("/moved?%s", "https://sample.example/moved?%s", f"/moved?x=1&%s#{CANARY}")
    elsewhere = (
        *("https://elsewhere.example/rows?%s", f"//elsewhere.example/{CANARY}?%s", "http://sample.example/moved?%s"),
        *("https://sample.example:8443/moved?%s", "https://sample.example.elsewhere.example/moved?%s"),
    )
    if rng.random() < 0.5:
        return case._replace(worlds=(plain, *map(moved, here)), plain=None)
    return case._replace(worlds=tuple(map(moved, elsewhere)), plain=None)


def links(rng: Random) -> Case:
    """Worlds whose replies say where the next page is: with somebody else, who is not asked."""
    case = make(rng, most=0)
    rows = [_public(rng, f"r{number}", case.moment) for number in range(3)]

    def linking(path: str) -> App:
        bare = [{name: value for name, value in row.items() if name != "place"} for row in rows]
        return lambda request: as_json({"rows": bare, "next": path} if request.path == "/links" else {"rows": []})

    elsewhere = ("@elsewhere.example/x", ".elsewhere.example/x", ":8443/x", "//elsewhere.example/x", f"x/{CANARY}")
    return case._replace(words=("LINKS",), worlds=tuple(map(linking, elsewhere)), plain=frozenset(("r0", "r1", "r2")))


def _public(rng: Random, name: str, moment: datetime, *, unrevised: bool = False) -> Row:
    at = moment - near(rng)
    revised = {} if unrevised or rng.random() < 0.6 else {"revised": rng.choice((at, moment)).isoformat()}
    return {
        "id": name,
        "at": at.isoformat(),
        **revised,
        "title": rng.choice(("Oil", "A merger", "Gas")),
        "day": (at - rng.choice((0, 1, 30)) * DAY).date().isoformat(),
        "inner": {"note": "x"},
        "place": at,
    }


def _older(rng: Random, newest: Row) -> Row:
    """A version that was public before. Its words may be the ones that are looked for, and its window, too."""
    at = newest["place"] - near(rng, 1)
    revised = rng.choice(({}, {"revised": at.isoformat()}))
    older = {name: value for name, value in newest.items() if name != "revised"}
    day = (newest["place"] - rng.choice((0, 8, 30)) * DAY).date().isoformat()
    return {**older, **revised, "at": at.isoformat(), "place": at, "title": f"A {CANARY}: Oil", "day": day}


def _noise(rng: Random, moment: datetime, public: Sequence[Row]) -> list[Row]:
    """What was not public, wherever the server puts it; sometimes the same row again and again."""
    rows = [_withheld(rng, f"n{number}", moment, public) for number in range(noise_count(rng))]
    return rows + rows[:1] * rng.choice((0, 0, 4, 20, 60))


def _withheld(rng: Random, name: str, moment: datetime, public: Sequence[Row]) -> Row:
    before, after = moment - near(rng), moment + (near(rng, 1) if rng.random() < 0.8 else MICROSECOND)
    row = _public(rng, name, moment) | {"title": f"Oil {CANARY}", "inner": {"note": CANARY}}
    row["place"] = rng.choice((row["place"], after, before))
    if rng.random() < 0.1:
        del row["title"]
    naive, unknown = f"{before:%Y-%m-%dT%H:%M:%S}", f"{before:%Y-%m-%dT%H:%M:%S}-00:00"
    change: Mapping[str, Any]
    match rng.choice(("late", "late", "revised", "undated", "spoilt", "version")):
        case "late":
            change = {"at": after.isoformat(), "revised": after.isoformat()}
        case "revised":
            change = {"revised": after.isoformat()}
        case "undated":
            change = {rng.choice(("at", "revised")): rng.choice((naive, unknown, "soon", None, 5))}
        case "version" if public:
            stamp = rng.choice(({"at": after.isoformat()}, {"revised": after.isoformat()}))
            change = {**rng.choice(public), "title": CANARY, "inner": {"note": CANARY}, **stamp}
        case _:
            change = rng.choice(({"id": None}, {"id": 5}, {"title": wreck(rng), "at": after.isoformat()}))
    return {**row, **change}
