"""Worlds of a company's filings: later ones, letters released later, lists cut elsewhere, rows that cannot be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any

from pit_fetch_providers.edgar.forms import INSIDERS, is_ordinary

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.laws import archived
from tests.laws.checks import continued as check_continued
from tests.laws.checks import non_interference
from tests.laws.refusals import Requests, endpoint_of
from tests.laws.worlds import CANARY, NEW_YORK, PITS, Case, always, common, noise_count, options, run
from tests.loopback.broken import wreck
from tests.provider_harness import instead
from tests.providers import pages
from tests.providers.sec_filings import server
from tests.providers.sec_filings.server import Document, Filed
from tests.providers.sec_full_text import hours, lists
from tests.providers.sec_full_text import server as sec
from tests.providers.sec_full_text.harness import failing_from
from tests.providers.sec_full_text.server import Filing

_FORMS = ("10-K", "10-Q", "8-K", "8-K", "4", "10-K/A", "UPLOAD", "DEFA14A")
_INSIDERS = ("4", "4", "3", "4/A", "5", "8-K")
_REPORTS = ("13F-HR", "13F-HR/A", "13F-HR/A", "4")
_QUARTERS = (
    "2024-06-30",
    "2024-03-31",
    "2023-12-31",
    "2023-09-30",
    "2023-06-30",
    "2023-03-31",
    "2022-12-31",
    "2022-09-30",
)
_OPTIONS: Mapping[str, Sequence[tuple[str, ...]]] = {
    "forms": [("forms=8-K",), ("forms=10-K,10-Q",), ("forms=-4",), ("forms=UPLOAD,CORRESP",), ("forms=10-K/A",)],
    "exact": [("--exact",)],
    "item": [("item=2.02",), ("item=9.01",)],
}
# What the SEC says in the place of a file, with a status that means success.
NOTICE = Response(b"<html><head><title>SEC.gov | File Unavailable</title></head><body>Try later.</body></html>")
# What a network can send in the place of any file.
LOGIN = Response(b"<html><head><title>Network login</title></head><body>Please log in.</body></html>")
_TEXT: Mapping[str, Sequence[tuple[str, ...]]] = {
    "document": [("document=EX-99.1",), ("document=EX-99",), ("document=primary",)],
    "find": [("find=going concern",), ("find=nothing like it",)],
    "exact": [("--exact",)],
}
# What an answer says of a book of which a part cannot be read, or is not there.
_OF_NO_BOOK = re.compile(r"\S+ \S+ is public, and is left out|amendment \S+ adds to a report that is not there")
# The amounts of a derivative: a number of shares or a value, by the names of the wire and of the fields.
_AMOUNTS = (
    {"transactionShares": "shares", "transactionTotalValue": "total_value"},
    {"sharesOwnedFollowingTransaction": "owned_after", "valueOwnedFollowingTransaction": "value_owned_after"},
    {"underlyingSecurityShares": "underlying_shares", "underlyingSecurityValue": "underlying_value"},
)
# What a form can have in the place of a number: none of it is one that a schema would take.
_NO_NUMBERS = ("$5", "n/a", "1 000", "1,5", "18<b/>0.5", "<x>5</x>", "5</value><value>6")
# What can be lost in a report or a form: a number, a row, all rows, and all of it to a page that is well formed.
_SPOILT = (
    (b"Prnamt>100<", b"Prnamt>n/a<"),
    (b"<(ns1:|)infoTable>(.*?)</(?:ns1:|)infoTable>", rb"<\1row>\2</\1row>"),
    (b"<(ns1:|)infoTable>.*</(?:ns1:|)infoTable>", b""),
    (b"<nonDerivativeTransaction>(.*?)</nonDerivativeTransaction>", rb"<row>\1</row>"),
    (
        b"<ownershipDocument>.*</ownershipDocument>",
        b"<html><body>The ownershipDocument is not available.</body></html>",
    ),
)
# The same in each of the encodings that a page can have.
_WORDS = ("Caf\u00e9", "Sales \u00b15,234, caf\u00e9", "Sales \u00b16,345 \u00a3")
_BODY = (
    '<html xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><body><ix:header>hidden</ix:header><p>Doubt about a '
    "<b>going</b>\nconcern.</p><table><tr><td>$<td>5</table>"
)


def make(rng: Random, most: int = 3, kind: str = "", recent: Sequence[int] = (2, 5, 1_000)) -> Case:
    pit = rng.choice(PITS)
    moment = datetime.fromisoformat(pit)
    numbers = iter(rng.sample(range(1, 9_999), 60))
    kind = kind or rng.choice(("filings", "form", "accession", "insiders", "holdings"))
    forms = {"insiders": _INSIDERS, "holdings": _REPORTS}.get(kind, _FORMS)
    public = [
        _filed(rng, _public(rng, sec.number(next(numbers)), moment, forms)) for _ in range(rng.choice((0, 1, 3, 6)))
    ]
    true_utc = rng.random() < 0.5
    today = lists.day_of(moment)
    worlds: list[App] = [server.app(public, true_utc=true_utc)]
    asked = sec.number(next(numbers))
    for _ in range(3):
        late = [_late(rng, sec.number(next(numbers)), moment, forms) for _ in range(noise_count(rng) // 2)]
        late += [_late(rng, asked, moment, forms)] if rng.random() < 0.7 else []
        filed = [*public, *(_filed(rng, filing, CANARY) for filing in late)]
        rng.shuffle(filed)
        raw, size = _raw(rng, moment), rng.choice(recent)
        worlds.append(server.app(filed, recent=size, raw=raw, true_utc=true_utc, public_until=today))
    words, choices = _question(rng, kind, [*(entry.filing.accession for entry in public), asked])
    who = rng.choice((("cik=320193",), ("symbol=AAPL",), ("cik=CIK0000320193",)))
    return Case(
        source="sec_filings",
        pit=pit,
        words=(*words, *who, *options(rng, {**_common(kind, moment, rng), **choices}, most)),
        worlds=tuple(worlds),
        page_size=rng.choice((1, 3, 100)),
        terminal=rng.random() < 0.2,
        immutable=kind in ("filings", "insiders"),
    )


def undisturbed(rng: Random) -> Case:
    """Make a world whose filings all stay."""
    kind = rng.choice(("filings", "insiders"))
    return make(rng, most=0, kind=kind)._replace(words=(kind, "cik=320193", "--limit", "1000"))


def continued(rng: Random) -> Case:
    """Make texts that are longer than an answer may be."""
    case = make(rng, most=0)
    day = case.moment.astimezone(NEW_YORK).date() - 30 * hours.DAY
    words = " ".join(rng.choice(("word", "\n\n", "x" * 700, "\u20ac", '"')) for _ in range(rng.choice((3, 60))))
    filing = Filing(sec.number(1), "10-K", f"{hours.weekday(day)} 12:00:00")
    public = Filed(filing, (Document("10-K", "main.txt", words), Document("EX-99.1", "a.txt", words)))
    late = [_filed(rng, _late(rng, sec.number(n), case.moment, _FORMS), CANARY) for n in range(2, 5)]
    return case._replace(
        words=("text", "form=10-K", "cik=320193", "--limit", "9"),
        worlds=(server.app([public]), server.app([public, *late])),
    )


def of_a_day(rng: Random) -> int:
    """Until EDGAR opens next, the filings of a day carry their own hours, and stand in the order of these."""
    day = hours.weekday(date(2024, 1, 2) + rng.randrange(900) * hours.DAY)
    opening = datetime.combine(hours.weekday(day + hours.DAY), time(9), NEW_YORK)
    begin = datetime.combine(day, time(6, 30), NEW_YORK)
    pit = begin + rng.random() * (opening - begin)
    filings = []
    for place in range(1, rng.choice((3, 8))):
        form = rng.choice(("4", "3", "8-K", "10-Q", "10-K/A"))
        minutes = rng.randrange(6 * 60, (22 if form in INSIDERS else 17) * 60)
        accepted = datetime.combine(day, time(minutes // 60, minutes % 60, place), NEW_YORK)
        filings.append(Filing(sec.number(place), form, f"{accepted:%Y-%m-%d %H:%M:%S}"))
    app = server.app([Filed(filing) for filing in filings], true_utc=rng.random() < 0.5)
    case = Case("sec_filings", pit.isoformat(), ("cik=320193", "--limit", "100"), (app,))
    released = {filing.accession: filing.accepted_instant + hours.HOUR for filing in filings}
    expected = sorted(((at, name) for name, at in released.items() if at <= pit), reverse=True)
    items = run(case, app).data
    assert [(datetime.fromisoformat(item["available_at"]), item["id"]) for item in items] == expected
    return 1


def ceiling(rng: Random) -> Case:
    """Make a question under a ceiling: today's tickers differ from world to world."""
    case = make(rng)
    filed = [_filed(rng, _public(rng, sec.number(n), case.moment, _FORMS)) for n in range(1, 4)]
    lists: Sequence[Mapping[str, int]] = ({"AAPL": sec.APPLE}, {"AAPL": sec.TESLA}, {})
    kind = rng.choice(("filings", "form", "accession", "insiders", "holdings"))
    words = (*_question(rng, kind, [sec.number(1)])[0], rng.choice(("symbol=AAPL", "cik=320193")))
    worlds = tuple(server.app(filed, tickers=listed) for listed in lists)
    return case._replace(words=words, worlds=worlds, ceiling=case.pit, plain=None)


def failures(rng: Random) -> Case:
    """Make worlds that fail alike, whatever is public in them; not known, and all of it later, are one outcome."""
    case = make(rng)
    late = [_filed(rng, _late(rng, sec.number(9_990 + n), case.moment, _FORMS), CANARY) for n in range(4)]
    broken: Sequence[Response] = (sec.BLOCKED, sec.MAINTENANCE, Response(b"<html></html>"), Response(b"[]"))
    kinds: Sequence[Sequence[App]] = (
        [server.app([]), server.app(late), server.app(late, raw=_raw(rng, case.moment))],
        *([always(response)] * 2 for response in broken),
    )
    return case._replace(worlds=tuple(rng.choice(kinds)), plain=None)


def named(rng: Random) -> int:
    """A capture of a filing by its number, or of a quarter's reports, answers as the source did at each instant before.

    It says the same of what is no book.
    The hour at which a report of a quarter was released is known of the report's own day, or with exact.
    """
    case, kind = make(rng, most=0), rng.choice(("accession", "holdings"))
    forms = _REPORTS if kind == "holdings" else _FORMS
    filings = [_public(rng, sec.number(place), case.moment, forms) for place in range(1, rng.choice((2, 5)))]
    filed = [_filed(rng, filing) for filing in filings]
    quarter = rng.choice(filed).period or _QUARTERS[2]
    if kind == "holdings" and rng.random() < 0.5:  # the quarter ends on the day of one of the reports, or after it
        quarter = rng.choice(("2023-06-30", "2023-03-31"))
        filings[0] = replace(filings[0], form="13F-HR", accepted=f"{quarter} 16:30:00", written=f"{quarter} 16:30:40")
        filed = [_reported(rng, filing, "", quarter) for filing in filings if filing.root == "13F-HR"]
    what = (
        ("text", f"accession={rng.choice(filings).accession}")
        if kind == "accession"
        else ("holdings", f"period={quarter}", "--exact")
    )
    case = case._replace(words=(*what, "cik=320193", "--limit", "1000", "--max-chars", "0"), terminal=False)
    app = server.app(filed, true_utc=rng.random() < 0.5)
    released = [filing.accepted_instant + rng.choice((0, 1)) * hours.HOUR for filing in filings]
    pits = [at + rng.choice((-1, 0, 60)) * timedelta(seconds=1) for at in rng.sample(released, min(3, len(released)))]
    with archived.archive() as path:
        environ = archived.environ(path)
        captured = archived.capture(case, app, path, case.words)
        assert captured.code == 0 or _OF_NO_BOOK.search(run(case, app, pit="").out), captured.out
        for pit in map(datetime.isoformat, pits):
            left = run(case, archived.nobody, pit=pit, environ=environ, words=(*case.words, "--offline"))
            live = run(case, app, pit=pit)
            assert left.data == live.data, pit
            assert _OF_NO_BOOK.findall(left.out) == _OF_NO_BOOK.findall(live.out), "what is left out is not told"
            assert not any(gap.get("captured") is False for gap in left.envelope["gaps"])
            both = run(case, app, pit=pit, environ=environ)
            assert _OF_NO_BOOK.findall(both.out) == _OF_NO_BOOK.findall(live.out), "it is told twice, or not at all"
    return len(pits)


def left_out(rng: Random) -> int:
    """After a capture, an archive has the filings that the source serves, and those that nothing dates, since it saw.

    What the source leaves out, since it was released too late for its place in the order, the archive leaves out, too.
    Where nothing dates a public filing, the source's answer ends with an error, and the archive's goes on.
    """
    case = make(rng, most=0, kind="filings")
    filings = [_public(rng, sec.number(place), case.moment, _FORMS) for place in range(1, rng.choice((2, 5)))]
    for place in range(10, rng.choice((11, 13))):
        filing = _public(rng, sec.number(place), case.moment, _FORMS)
        filed = filing.accepted_instant.date() - rng.choice((9, 40)) * hours.DAY
        filings.append(replace(filing, filed=f"{filed:%Y-%m-%d}", written=rng.choice((filing.written, ""))))
    app = server.app([_filed(rng, filing) for filing in filings], true_utc=rng.random() < 0.5)
    asked = {name: _OPTIONS[name] for name in ("forms", "exact")}  # with an item, other forms are refused
    words = ("cik=320193", *options(rng, asked, 2), "--limit", "1000", "--max-chars", "0")
    case, pit = case._replace(words=words, terminal=False), (case.moment + 10 * hours.DAY).isoformat()
    with archived.archive() as path:
        environ = archived.environ(path)
        if archived.capture(case, app, path, words, case.moment).code:
            assert "--exact" in words
            assert not all(filing.written for filing in filings)
            return 0
        left = run(case, archived.nobody, pit=pit, environ=environ, words=(*words, "--offline"))
    undated = {item["id"] for item in left.data if "first_seen_at" in item}
    live, of_archive = run(case, app, pit=pit), {*left.ids} - undated
    assert of_archive == {*live.ids} or ("upstream_error" in live.gap_types and of_archive > {*live.ids})
    dated = {filing.accession for filing in filings if "--exact" not in words or filing.written}
    assert undated.isdisjoint(dated), "a filing is said to be public since it was captured, and was released before"
    return 1


def waited(rng: Random) -> int:
    """A capture takes nothing from later answers that it could not date yet.

    What came in an evening under its day's date may have waited for days. After that, its row alone dates it, with an
    archive that holds a capture of these days as without one.
    """
    case = make(rng, most=0, kind="filings")
    evening = hours.late(rng, case.moment)
    filing = Filing(sec.number(1), rng.choice(("8-K", "10-Q", "10-K/A")), f"{evening:%Y-%m-%d %H:%M:%S}")
    other = _public(rng, sec.number(2), case.moment - 9 * hours.DAY, ("10-Q",))  # or the capture would be empty
    app = server.app([_filed(rng, filing), _filed(rng, other)], true_utc=rng.random() < 0.5)
    case = case._replace(words=("cik=320193", "--limit", "1000", "--max-chars", "0"), terminal=False)
    pit = (case.moment + rng.choice((0, 2, 5, 9)) * hours.DAY).isoformat()
    with archived.archive() as path:
        assert archived.capture(case, app, path, case.words, case.moment).code == 0
        left = run(case, app, pit=pit, environ=archived.environ(path))
    assert left.ids == run(case, app, pit=pit).ids
    return 1


def incomplete(rng: Random) -> int:
    """Where one filing that an answer rests on cannot be had, what is left is never served as all of it."""
    case = make(rng, most=0, kind=rng.choice(("holdings", "form", "insiders")))
    narrower = {
        "holdings": [(), ("period=2023-09-30",), ("period=2023-12-31",)],
        "text": [(), ("document=EX-99.1",)],
        "insiders": [(), ("forms=4",)],
    }
    words = (*case.words, *rng.choice(narrower[case.words[0]]), "--limit", "1000", "--max-chars", "0")
    case = case._replace(words=words, terminal=False)
    whole = run(case, case.worlds[0]).data
    accessions = sorted({item["accession"] for item in whole})
    if not accessions:
        return 0
    lost = rng.choice(accessions)
    reply = rng.choice((sec.MISSING, sec.NO_SUCH_KEY, sec.MAINTENANCE, NOTICE, LOGIN, Response(b"")))
    is_in_xml = case.words[0] != "text" and all(item.get("kind") != "unread" for item in whole)
    is_spoilt = is_in_xml and rng.random() < 0.3
    left = run(case, _spoilt(case.worlds[0], lost, rng) if is_spoilt else _without(case.worlds[0], lost, reply))
    before = [item["accession"] for item in whole].index(lost) if case.words[0] == "insiders" else 0
    assert left.data == whole[:before], "something is served in the place of a filing that cannot be had"
    assert "upstream_error" in left.gap_types
    return 1


def refused(rng: Random) -> int:
    """A refusal in the place of a list, or of all that www.sec.gov has, is never an answer without filings."""
    case = make(rng, most=0, kind=rng.choice(("filings", "form", "insiders", "holdings")))
    reply, world = rng.choice((sec.MISSING, sec.UNDECLARED, Response(b"", 404))), rng.choice(case.worlds)
    without_list = instead(world, reply, "/submissions/CIK0000320193.json")
    left = run(case, rng.choice((without_list, failing_from(world, lambda path: True, sec.MISSING))))
    assert (left.data, "upstream_error" in left.gap_types) == ([], True), "a refusal is an answer"
    return 1


def characters(rng: Random) -> int:
    """A document is read alike from a file of its own and from the full submission, whatever stands beside it."""
    case = make(rng, most=0, kind="form")
    kinds = ("", "utf-8", "windows-1252", "iso-8859-1")
    declared = [rng.choice(kinds) for _ in range(3)]
    made = [server.as_filed(_page(name, words), name or "utf-8") for name, words in zip(declared, _WORDS, strict=True)]
    main, *exhibits = (
        Document(kind, f"{kind}.htm".lower(), source)
        for kind, source in zip(("8-K", "EX-99.1", "EX-99.2"), made, strict=True)
    )
    filing = _public(rng, sec.number(1), case.moment, ("8-K",))
    case = case._replace(words=("text", "form=8-K", "document=EX-99", "cik=320193", "--limit", "9"), terminal=False)
    whole = server.app([Filed(filing, (main, *exhibits))])
    alone, contained = (
        run(case, without(whole, filing.accession, ending)) for ending in (f"/{filing.accession}.txt", ".htm")
    )
    assert alone.data == contained.data, "a document has other characters in the full submission"
    assert [item["text"] for item in alone.data] == [*_WORDS[1:]]
    return 1


def without(app: App, accession: str, ending: str) -> App:
    """Return ``app`` without those files of a filing whose paths end so."""
    folder = f"/{accession.replace('-', '')}/"
    return lambda request: sec.MISSING if folder in request.path and request.path.endswith(ending) else app(request)


def _page(charset: str, words: str) -> str:
    meta = f"<meta charset={charset}>" if charset else ""
    return f"<html><head>{meta}</head><body>{words}</body></html>"


def torn(rng: Random) -> int:
    """A file of the list of which one column lacks a value is an error: which values are one row, nothing shows."""
    case = make(rng, most=0, kind="filings")
    case = case._replace(words=("cik=320193", "--limit", "1000", "--max-chars", "0"), terminal=False)
    filed = [_filed(rng, _public(rng, sec.number(place), case.moment, _FORMS)) for place in range(1, 5)]
    whole = server.app(filed, recent=2)
    lost, name = rng.choice((0, 1)), rng.choice([name for name in server.columns((), False) if name != "size"])

    def answer(request: HttpRequest) -> Response:
        match, response = sec.LIST.fullmatch(request.path), whole(request)
        if match is None or sec.part_of(match) != lost:
            return response
        listed = json.loads(response.body)
        if lost:
            return as_json(server.torn(listed, name))
        return as_json({"filings": {**listed["filings"], "recent": server.torn(listed["filings"]["recent"], name)}})

    left, every = run(case, answer), run(case, whole).data
    assert left.data == every[: min(len(left.data), 2)], "a filing is served with what is another one's"
    assert "upstream_error" in left.gap_types
    return 1


def amounts(rng: Random) -> int:
    """Each amount of an insider's form is served as it is given, in shares or by its value, or the form is an error."""
    case = make(rng, most=0, kind="insiders")
    given = [{rng.choice(list(names)): str(rng.randrange(9_999)) for names in _AMOUNTS} for _ in range(3)]
    filing = _public(rng, sec.number(1), case.moment, ("4",))
    case = case._replace(words=("insiders", "cik=320193", "--limit", "9"), terminal=False)
    spoilt = [{**row, rng.choice([*row]): rng.choice(_NO_NUMBERS)} for row in given[:1]]
    left, whole = (
        run(case, server.app([Filed(filing, (server.ownership("4", [], derivatives=rows),))]))
        for rows in ([*spoilt, *given[1:]], given)
    )
    assert (left.data, "upstream_error" in left.gap_types) == ([], True), "an amount that cannot be read is none"
    items = whole.data
    fields = {wire: field for names in _AMOUNTS for wire, field in names.items()}
    expected = [{fields[name]: int(amount) for name, amount in row.items()} for row in given]
    served = [{name: item[name] for name in fields.values() if item[name] is not None} for item in items]
    assert served == expected, "an amount of a form is not served"
    return 1


def last_release(rng: Random) -> int:
    """A release is the newest filing of an item that has the exhibit, however that is numbered.

    The answer tells of newer ones without it, and so does an archive's, once.
    """
    case = make(rng, most=0, kind="filings")
    numbered = {("EX-99.1",): 1, ("EX-99.01", "EX-99.2"): 1, ("EX-99",): 1, ("EX-99", "EX-99"): 0, ("EX-99.2",): 0}
    filings = [_public(rng, sec.number(place), case.moment, ("8-K",)) for place in range(1, rng.choice((2, 4, 7)))]
    kinds = {filing.accession: rng.choice([*numbered]) for filing in filings}
    filed = [
        Filed(filing, tuple(_exhibit(kind, filing.accession, n) for n, kind in enumerate(("8-K", *exhibits))))
        for filing, exhibits in zip(filings, kinds.values(), strict=True)
    ]
    app, most = server.app(filed, true_utc=rng.random() < 0.5), ("cik=320193", "--limit", "1000", "--max-chars", "0")
    listed = [item["accession"] for item in run(case._replace(words=most, terminal=False), app).data]
    results = [name for name in listed if any(name == made.accession and "2.02" in made.items for made in filings)]
    served = next((name for name in results if numbered[kinds[name]]), None)
    passed = results.index(served) if served else 0
    words = ("text", "form=8-K", "item=2.02", "document=EX-99.1", *most)
    case = case._replace(words=words, terminal=False)
    with archived.archive() as path:
        archived.capture(case, app, path, words, case.moment)
        answers = (run(case, app), run(case, app, environ=archived.environ(path), words=(*words, "--offline")))
        # A source that has lost a filing counts fewer than the archive.
        fewer = server.app(rng.sample(filed, len(filed) - 1), true_utc=True)
        left = run(case, fewer, environ=archived.environ(path))
        assert left.out.count("were passed over") <= 1, "one answer counts twice"
    for left in answers:
        assert [item["text"] for item in left.data] == [f"{served} 1"] * bool(served), "another release is served"
        assert re.findall(r"passed over \((\d+), the newest is (\S+)\)", left.out) == (
            [(str(passed), results[0])] if passed else []
        ), "an older release comes in the place of a newer one without a word"
    return 1


def _exhibit(kind: str, accession: str, place: int) -> Document:
    return Document(kind, f"{place}.htm", f"<html><body>{accession} {place}</body></html>")


def of_a_book(rng: Random) -> int:
    """A book is the newest report that is whole by itself, be it an amendment or not, and what was added since."""
    case = make(rng, most=0, kind="holdings")
    case = case._replace(words=("holdings", "cik=320193", "--limit", "9"), terminal=False)
    begin = case.moment.date() - 60 * hours.DAY
    kinds = ["", *rng.choices(("", "RESTATEMENT", "NEW HOLDINGS"), k=rng.choice((1, 4)))]
    filed, period = [], f"{begin - hours.DAY}"
    for place, kind in enumerate(kinds):
        form, day = "13F-HR/A" if kind else "13F-HR", hours.weekday(begin + 7 * place * hours.DAY)
        report = server.report(form, period, [(f"No. {place}", 5_000, 100)], kind)
        filed.append(Filed(Filing(sec.number(place + 1), form, f"{day} 12:00:00"), report, period))
    last = max(place for place, kind in enumerate(kinds) if kind != "NEW HOLDINGS")
    issuers = {item["issuer"] for item in run(case, server.app(filed)).data}
    assert issuers == {f"No. {place}" for place in range(last, len(kinds))}
    return 1


def undated(rng: Random) -> Case:
    """Make worlds where what dates a filing is gone that may not have been public yet: it leaves no trace."""
    kind = rng.choice(("filings", "form", "insiders", "holdings"))
    case, forms = make(rng, most=0, kind=kind), {"insiders": _INSIDERS, "holdings": _REPORTS}.get(kind, _FORMS)
    public = [_filed(rng, _public(rng, sec.number(n), case.moment, forms)) for n in range(1, rng.choice((2, 5)))]
    late, exact = [_late(rng, sec.number(n), case.moment, forms) for n in range(5, 8)], rng.random() < 0.7
    if exact:  # by its acceptance it was public, and nothing shows that it was written by then
        soon = case.moment.astimezone(NEW_YORK) - timedelta(hours=rng.choice((2, 7, 20)))
        late.append(Filing(sec.number(8), rng.choice(forms), f"{soon:%Y-%m-%d %H:%M:%S}", items=(CANARY,)))
    reply = rng.choice((sec.MISSING, sec.NO_SUCH_KEY, sec.MAINTENANCE, Response(b"")))
    whole = server.app([*public, *(_filed(rng, filing, CANARY) for filing in late)])
    worlds = (server.app(public), gone(whole, {filing.accession for filing in late}, reply))
    return case._replace(words=(*case.words, *(("--exact",) if exact else ())), worlds=worlds, plain=None)


def undatable(rng: Random) -> int:
    """Of a filing that was public for days, and that nothing dates any more, an answer says so in its place."""
    kind = rng.choice(("filings", "form", "insiders", "holdings"))
    case = make(rng, most=0, kind=kind)
    case = case._replace(words=(*case.words, "--exact", "--limit", "1000", "--max-chars", "0"), terminal=False)
    whole = run(case, case.worlds[0]).data
    long_ago = case.moment - timedelta(days=5)
    old = [item for item in whole if datetime.fromisoformat(item["available_at"]) < long_ago]
    accessions = {item["accession"] for item in old if is_ordinary(item["form"])}
    if not accessions:
        return 0
    lost = rng.choice(sorted(accessions))
    reply = rng.choice((sec.MISSING, sec.NO_SUCH_KEY, sec.MAINTENANCE, Response(b"")))
    left = run(case, gone(case.worlds[0], {lost}, reply))
    before = [item["accession"] for item in whole].index(lost) if kind in ("filings", "insiders") else 0
    assert left.data == whole[: min(before, len(left.data))], "something is served in the place of a filing"
    assert "upstream_error" in left.gap_types
    return 1


def later_files(rng: Random) -> Case:
    """Make worlds in which the files of older filings fail that hold later ones alone: they are not read."""
    return lists.without_later_files(make(rng, most=1, recent=(1, 2)), rng)


def kept(rng: Random) -> int:
    """What the cache has is served while www.sec.gov fails, whichever filing meets the failure first."""
    case = make(rng, most=0, kind="filings")
    exact = ("--exact",) if rng.random() < 0.5 else ()
    case = case._replace(words=(*case.words, *exact, "--limit", "1000"), terminal=False)
    whole = run(case, case.worlds[0])
    for app in case.worlds:
        failing = failing_from(app, lambda path: "/edgar/data/" in path, sec.MAINTENANCE)
        left = run(case, failing, keep_files=True)
        assert (left.data, left.gap_types) == (whole.data, whole.gap_types), "a later filing shows"
    return len(case.worlds)


def gone(app: App, accessions: Set[str], reply: Response) -> App:
    """Return ``app`` with ``reply`` in the place of what dates the filings."""

    def answer(request: HttpRequest) -> Response:
        accession, _, ending = request.path.rpartition("/")[2].partition(".")
        accession = accession.removesuffix("-index-headers")
        is_evidence = ending in ("txt", "html", "hdr.sgml") and accession in accessions
        return reply if is_evidence else app(request)

    return answer


def _without(app: App, accession: str, reply: Response) -> App:
    """Return ``app`` with ``reply`` in the place of all that a filing consists of: its header is there."""
    folder = f"/{accession.replace('-', '')}/"

    def answer(request: HttpRequest) -> Response:
        is_evidence = request.method == "HEAD" or request.path.endswith(("-index-headers.html", ".hdr.sgml"))
        return reply if folder in request.path and not is_evidence else app(request)

    return answer


def _spoilt(app: App, accession: str, rng: Random) -> App:
    """Return ``app`` with a report or a form of which something cannot be read: a number, a row, all of it."""

    def answer(request: HttpRequest) -> Response:
        response = app(request)
        is_report = request.method == "GET" and request.path.endswith(f"/{accession}.txt")
        if not is_report:
            return response
        changes = [(re.compile(pattern, re.DOTALL), instead_of_it) for pattern, instead_of_it in _SPOILT]
        made = [pattern.sub(instead_of_it, response.body, count=1) for pattern, instead_of_it in changes]
        return replace(response, body=rng.choice([body for body in made if body != response.body]))

    return answer


def _question(
    rng: Random, kind: str, accessions: Sequence[str]
) -> tuple[tuple[str, ...], Mapping[str, Sequence[tuple[str, ...]]]]:
    match kind:
        case "form":
            form = rng.choice(_FORMS[:4])
            return ("text", f"form={form}"), {**_TEXT, **({"item": _OPTIONS["item"]} if form == "8-K" else {})}
        case "accession":
            return ("text", f"accession={rng.choice(accessions)}"), _TEXT
        case "insiders":
            return ("insiders",), {"forms": [("forms=4",), ("forms=-3",)], "exact": _OPTIONS["exact"]}
        case "holdings":
            return ("holdings",), {
                "exact": _OPTIONS["exact"],
                "period": [("period=2023-09-30",), ("period=2023-12-31",)],
            }
    return (), _OPTIONS


def _common(kind: str, moment: datetime, rng: Random) -> Mapping[str, Sequence[tuple[str, ...]]]:
    choices = common(moment, [], rng)
    is_windowed = kind in ("filings", "insiders")
    return {name: choices[name] for name in choices if is_windowed or name not in ("date-from", "date-to")}


def _filed(rng: Random, filing: Filing, words: str = "") -> Filed:
    if filing.root in (*INSIDERS, "13F-HR") and rng.random() < 0.1:
        period = _quarter(rng, filing) if filing.root == "13F-HR" else ""
        return Filed(filing, (Document(filing.form, "", f"On paper. {words}"),), period)
    if filing.root in INSIDERS:
        # Dates are typed by hand: of later years, too.
        rows = [
            {"date": rng.choice(("2035-01-01", "0022-12-13", "2024-02-12", ""))} for _ in range(rng.choice((0, 1, 3)))
        ]
        return Filed(
            filing, (server.ownership(filing.form, [{**row, "code": words or "S"} for row in rows], "2024-02-01"),)
        )
    if filing.root == "13F-HR":
        return _reported(rng, filing, words)
    end = rng.choice(("</html>", ""))  # which shows that a file is whole
    main = Document(filing.form, rng.choice(("main.htm", "main.xml", "main.txt", "")), f"{_BODY}{words}{end}")
    if not main.file:
        main = main._replace(
            source=f"<PAGE>\n\nDoubt about a going\n   concern. {words}\n<TABLE>\n<S>  <C>\nCash  5\n</TABLE>"
        )
    exhibits = (
        [Document("EX-99.1", main.file and "ex991.htm", f"{_BODY}Sales. {words}{end}")] if rng.random() < 0.5 else []
    )
    return Filed(filing, (main, *exhibits), filing.day if rng.random() < 0.5 else "")


def _reported(rng: Random, filing: Filing, words: str, period: str = "") -> Filed:
    period = period or _quarter(rng, filing)
    kind = rng.choice(("RESTATEMENT", "NEW HOLDINGS")) if filing.form.endswith("/A") else ""
    positions = [
        (f"{name} {words}", rng.choice((5, 50, 5_000)) * 100, 100)
        for name in rng.sample(("ACME", "APEX", "ATLAS"), rng.choice((0, 1, 3)))
    ]
    return Filed(filing, server.report(filing.form, period, positions, kind, rng.choice(("", "ns1:"))), period)


def _quarter(rng: Random, filing: Filing) -> str:
    return rng.choice([quarter for quarter in _QUARTERS if quarter < filing.day][:2])


def _public(rng: Random, accession: str, moment: datetime, forms: Sequence[str]) -> Filing:
    """Return a filing of an hour of business, at least two days old, or of the PIT's own day, some hours before it.

    An insider's report may also be one of an evening.
    """
    form, accepted, evening = rng.choice(forms), hours.in_business(rng, moment), hours.late(rng, moment)
    if form in INSIDERS and evening + hours.HOUR <= moment and rng.random() < 0.5:
        accepted = evening
    items = rng.choice((("2.02", "9.01"), ("5.02", "9.01"))) if form == "8-K" else ()
    written = f"{accepted + timedelta(seconds=40):%Y-%m-%d %H:%M:%S}"
    return Filing(accession, form, f"{accepted:%Y-%m-%d %H:%M:%S}", items=items, written=written)


def _late(rng: Random, accession: str, moment: datetime, forms: Sequence[str]) -> Filing:
    """Return a filing accepted after the PIT, or a letter of before that is released after it.

    Or one of an evening before, whose date is that of its day: it may have been moved back.
    """
    if rng.random() < 0.2:
        day, after = moment.astimezone(NEW_YORK).date() - 20 * hours.DAY, moment.astimezone(NEW_YORK).date() + hours.DAY
        return Filing(accession, "UPLOAD", f"{hours.weekday(day)} 12:00:00", released=after.isoformat(), private=True)
    accepted, day = hours.after(rng, moment)
    form, evening = rng.choice((*forms, "DEF 14A")), hours.late(rng, moment)
    if form.removesuffix("/A") not in INSIDERS and evening < moment and rng.random() < 0.2:
        return Filing(accession, form, f"{evening:%Y-%m-%d %H:%M:%S}", items=(CANARY,))
    written = f"{accepted + timedelta(days=1):%Y-%m-%d} 07:15:00" if rng.random() < 0.5 else ""
    return Filing(
        accession, form, f"{accepted:%Y-%m-%d %H:%M:%S}", filed=day.isoformat(), items=(CANARY,), written=written
    )


def _raw(rng: Random, moment: datetime) -> dict[str, list[Any]]:
    """Return rows that cannot be read, or whose release nothing shows."""
    good = {
        "accessionNumber": sec.number(99_999),
        "form": "8-K",
        "filingDate": moment.date().isoformat(),
        "acceptanceDateTime": f"{moment.date() - hours.DAY}T00:00:00.000Z",
        "primaryDocument": CANARY,
    }
    rows: list[dict[str, Any]] = [
        good,
        {**good, "accessionNumber": rng.choice((None, "", 5, "0000320193", wreck(rng)))},
        {**good, "form": rng.choice((None, 8))},
        {**good, "filingDate": rng.choice((None, "", 20240215, "2024-02-30"))},
        {**good, "acceptanceDateTime": rng.choice((None, "soon", 5))},
        {},
    ]
    return server.raw_rows(rng.sample(rows, rng.choice((0, 1, 3))))


def _continues(asked: Sequence[HttpRequest]) -> bool:
    """Return whether the last request is for evidence of one filing, or for a file of older ones."""
    path = asked[-1].path
    is_evidence = path.startswith("/Archives/") and path.endswith(("-index-headers.html", ".hdr.sgml", ".txt"))
    return is_evidence or lists.is_cut_off(path)


def endpoint(request: HttpRequest) -> str:
    """Return what a request is for; a file of older filings continues the list."""
    return endpoint_of(request).replace("-submissions-#", "")


REQUESTS = Requests(_continues, endpoint)
LAWS: Mapping[str, Callable[[Random], int]] = {
    "ceiling": lambda rng: non_interference(ceiling(rng)),
    "failures": lambda rng: non_interference(failures(rng)),
    "day": of_a_day,
    "incomplete": incomplete,
    "torn": torn,
    "refused": refused,
    "characters": characters,
    "amounts": amounts,
    "book": of_a_book,
    "last release": last_release,
    "kept": kept,
    "later files": lambda rng: non_interference(later_files(rng)),
    "left out": left_out,
    "waited": waited,
    "named": named,
    "undatable": undatable,
    "undated": lambda rng: non_interference(undated(rng)),
    "holdings": lambda rng: non_interference(make(rng, most=1, kind="holdings")),
    "continued": lambda rng: check_continued(continued(rng), rng),
    "figures": pages.figures,
    "passages": pages.passages,
}
