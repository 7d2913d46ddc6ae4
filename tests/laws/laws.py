"""The laws: each takes a case, raises AssertionError where it is broken, and says how many pairs it compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from random import Random

from pit_fetch.formats import BINARY
from pit_fetch.formats import NAMES as FORMS
from pit_fetch.provider import STAMPS
from pit_fetch.testing.comparison import CANARY, same_bytes
from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest
from tests.laws import archived, command, corpus, looks, sample, shell, zones
from tests.laws.worlds import SECRETS, Case, near, run
from tests.neo4j import guarded
from tests.neo4j import laws as neo4j
from tests.neo4j.kglite_engine import Kglite
from tests.providers.alphavantage import worlds as alphavantage
from tests.providers.bz_news_api import worlds as bz
from tests.providers.earningscall import worlds as earningscall
from tests.providers.fred import worlds as fred
from tests.providers.perplexity import worlds as perplexity
from tests.providers.sec_full_text import worlds as sec
from tests.providers.yahoo import worlds as yahoo
from tests.unit.normalize import worlds as normalized

Law = Callable[[Random], int]
_SNAPSHOTS = alphavantage.SNAPSHOTS | yahoo.SNAPSHOTS


def non_interference(case: Case) -> int:
    """Worlds that serve the same public records give the same bytes, and nothing of the others shows."""
    expected = same_bytes(lambda app: run(case, app), case.worlds, SECRETS)
    if case.plain is not None:
        assert case.plain <= set(expected.ids), "what was public is missing"
    return len(case.worlds) - 1


def files(case: Case, bodies: Sequence[bytes]) -> int:
    """Saved replies and exports that hold the same public records give the same bytes, however they are written."""
    same_bytes(lambda body: run(case, _unasked, stdin=body), bodies, SECRETS)
    return len(bodies) - 1


def _unasked(request: HttpRequest) -> Response:
    raise AssertionError("a file was to be read")


def clock(case: Case, rng: Random) -> int:
    """The wall clock changes nothing once it is past the PIT."""
    app = case.worlds[-1]
    early, late = (case.moment + timedelta(days=3) + near(rng) for _ in range(2))
    clocks = (early, late + timedelta(days=rng.choice((0, 9, 2_000))))
    same_bytes(lambda now: run(case, app, now=now), clocks, SECRETS)
    return 1


def future(case: Case) -> int:
    """A PIT that is yet to come is read as "up to now": nothing is served before its time."""
    if not _SNAPSHOTS.isdisjoint(case.words[:1]):  # which are of now, whatever they hold
        return 0
    late = (case.moment + timedelta(days=400)).isoformat()
    for app in case.worlds:
        left = run(case, app, pit=late, now=case.moment, words=_without_ends(case.words), still=True)
        assert CANARY not in left.out + left.err, "a canary got out"
    return 0


def _without_ends(words: Sequence[str]) -> tuple[str, ...]:
    """The request without --date-to and --after: with them the end of the window is not the PIT."""
    ends = [place for place, word in enumerate(words) if word in ("--date-to", "--after")]
    return tuple(word for place, word in enumerate(words) if place not in ends and place - 1 not in ends)


def sizes(case: Case) -> int:
    """The size of a page of the source's changes nothing; its order is shuffled in every world."""
    every = [case.sizes, *({**case.sizes, **other} for other in case.resized)]
    same_bytes(lambda sizes: run(case, case.worlds[-1], sizes=sizes), every, SECRETS)
    return len(case.resized)


def repeated(case: Case) -> int:
    """A fetch at a later PIT before it, in the same process and with the files that it left, changes nothing."""
    app = case.worlds[-1]
    run(case, app, pit=(case.moment + timedelta(days=5)).isoformat())
    same_bytes(lambda keep: replace(run(case, app, keep_files=keep), files=()), (True, False), SECRETS)
    return 1


def monotone(case: Case, rng: Random) -> int:
    """A later PIT takes nothing away that is never revised."""
    app = case.worlds[-1]
    late = case.moment + near(rng)
    earlier = run(case, app)
    later = run(case, app, pit=late.isoformat())
    if "truncated" not in later.gap_types:
        assert set(earlier.ids) <= set(later.ids)
    return 1


def paging(case: Case, rng: Random, ahead: timedelta = timedelta(0)) -> int:
    """By cursor, a few at a time and each time later, every item once and in the order of one long answer."""
    app, limit = case.worlds[-1], rng.choice((1, 2, 3, 7))
    begin = case.moment - ahead if ahead else case.moment + timedelta(days=900)
    answer = run(case, app, now=begin)
    assert answer.code == 0, answer.err
    whole = answer.ids
    if len(whole) > 12 * limit:
        return 0
    few = _with(case.words, "--limit", str(limit))
    ids: list[str] = []
    after: tuple[str, ...] = ()
    for page in range(len(whole) + 1):
        left = run(case, app, now=begin + timedelta(seconds=7 * page), words=(*few, *after))
        ids += left.ids
        cursors = [gap["reason"].split("--after ")[1] for gap in left.envelope["gaps"] if "--after " in gap["reason"]]
        if not cursors:
            break
        after = ("--after", cursors[0])
    assert ids == whole
    assert len(set(ids)) == len(ids)
    return 1


def _with(words: Sequence[str], option: str, value: str) -> tuple[str, ...]:
    """The request with another value of an option that it has."""
    place = list(words).index(option)
    return (*words[:place], option, value, *words[place + 2 :])


def continued(case: Case, rng: Random) -> int:
    """Within a budget, by cursor, texts of any length come whole, in the same parts in every world."""
    budget = rng.choice((4_000, 5_500, 9_000))
    plain = case.words[: case.words.index("--limit")]
    whole = run(case, case.worlds[0], words=(*plain, "--limit", "500")).data
    parts: list[Mapping[str, object]] = []
    after: tuple[str, ...] = ()
    for _ in range(400):
        words = (*case.words, "--max-chars", str(budget), *after)
        left = same_bytes(lambda app, words=words: run(case, app, words=words), case.worlds, SECRETS)  # type: ignore[misc]
        assert len(left.out.rstrip()) <= budget
        parts += left.data
        cursors = [gap["reason"].split("--after ")[1] for gap in left.envelope["gaps"] if "--after " in gap["reason"]]
        if not cursors:
            break
        after = ("--after", cursors[0])
    assert list(dict.fromkeys(part["id"] for part in parts)) == [item["id"] for item in whole]
    for item in whole:
        own = [part for part in parts if part["id"] == item["id"]]
        for name, value in item.items():
            if isinstance(value, str) and name not in STAMPS:
                assert "".join(str(part.get(name, "")) for part in own) == value, name
            else:
                assert all(part[name] == value for part in own), name
    return len(case.worlds) - 1


def changed(case: Case) -> int:
    """Parts of an item, joined, are one of the texts that it has had: never a piece of one and a piece of another."""
    plain = case.words[: case.words.index("--limit")]
    titles = [run(case, app, words=plain).data[0]["title"] for app in case.worlds]
    first = run(case, case.worlds[0], words=(*case.words, "--max-chars", "4000"))
    after = next(gap["cursor"] for gap in first.envelope["gaps"] if "cursor" in gap)
    rest = run(case, case.worlds[1], words=(*plain, "--after", after))
    if any("has changed since" in gap["reason"] for gap in rest.envelope["gaps"]):
        assert [item["title"] for item in rest.data] == titles[1:]
    else:
        assert first.data[0]["title"] + rest.data[0]["title"] == titles[1]
    return 1


def windows(case: Case, parts: Sequence[Sequence[str]]) -> int:
    """What narrows a request leaves items out and changes none: neither which version it is, nor what is derived."""
    items = run(case, case.worlds[-1]).data
    for words in parts:
        left = run(case, case.worlds[-1], words=(*case.words, *words))
        assert all(item in items for item in left.data)
    return len(parts)


def forms(case: Case) -> int:
    """What the gate refuses is not printed in any form."""
    for name in FORMS:
        to_a_file = ("--output", "answer") if name in BINARY else ()
        left = run(case, case.worlds[0], words=(*case.words, "--format", name, *to_a_file))
        assert (left.code, CANARY in left.out + left.err) == (70, False), name
        assert not any(path == "answer" for path, _ in left.files), name
    return 0


def kept(rng: Random) -> int:
    """What a fetch of an earlier day has left in the cache changes nothing: no index of a day that was not over."""
    case, earlier, then, now = sec.kept(rng)
    app = case.worlds[0]
    expected = run(case, app, now=now)
    run(case, earlier, pit=then.isoformat(), now=then)
    again = run(case, app, now=now, keep_files=True)
    assert replace(again, files=()) == replace(expected, files=())
    return 1


Maker = Callable[[Random], Case]
_MAKERS: Mapping[str, tuple[Maker, Maker]] = {
    "sample": (sample.make, sample.undisturbed),
    "bz-news-api": (bz.make, bz.unrevised),
    "alphavantage": (alphavantage.make, alphavantage.undisturbed),
    "sec_full_text": (sec.make, sec.undisturbed),
    "fred": (fred.make, fred.undisturbed),
    "perplexity": (perplexity.make, perplexity.undisturbed),
    "earningscall": (earningscall.make, earningscall.undisturbed),
    "yahoo": (yahoo.make, yahoo.undisturbed),
}


def _laws(make: Maker, undisturbed: Maker) -> Mapping[str, Law]:
    return {
        "non-interference": lambda rng: non_interference(make(rng)),
        "clock": lambda rng: clock(make(rng), rng),
        "future": lambda rng: future(make(rng)),
        "sizes": lambda rng: sizes(make(rng)),
        "repeated": lambda rng: repeated(make(rng)),
        "monotone": lambda rng: monotone(undisturbed(rng), rng),
        "paging": lambda rng: paging(undisturbed(rng), rng),
    }


# "source: law" -> the law.
LAWS: Mapping[str, Law] = {
    **{f"{source}: {name}": law for source, makers in _MAKERS.items() for name, law in _laws(*makers).items()},
    "sample: patience": lambda rng: non_interference(sample.patient(rng)),
    "sample: versions": lambda rng: non_interference(sample.versions(rng)),
    "sample: order": lambda rng: non_interference(sample.disordered(rng)),
    "sample: windows": lambda rng: windows(*sample.windows(rng)),
    "sample: snapshots": lambda rng: paging(sample.snapshots(rng), rng, ahead=timedelta(hours=1)),
    "sample: continued": lambda rng: continued(sample.long_texts(rng), rng),
    "sample: changed": lambda rng: changed(sample.changed(rng)),
    "sample: forms": lambda rng: forms(sample.refused(rng)),
    "sample: redirects": lambda rng: non_interference(sample.redirects(rng)),
    "sample: links": lambda rng: non_interference(sample.links(rng)),
    "bz-news-api: versions": lambda rng: non_interference(bz.versions(rng)),
    "bz-news-api: cap": lambda rng: non_interference(bz.crowded(rng)),
    "bz-news-api: files": lambda rng: files(*bz.files(rng)),
    "bz-news-api: failures": lambda rng: non_interference(bz.failures(rng)),
    "alphavantage: failures": lambda rng: non_interference(alphavantage.failures(rng)),
    "sec_full_text: ordered": lambda rng: non_interference(sec.ordered(rng)),
    "sec_full_text: ahead": lambda rng: non_interference(sec.ahead(rng)),
    "alphavantage: adjusted": lambda rng: non_interference(alphavantage.adjusted(rng)),
    "alphavantage: reach": lambda rng: non_interference(alphavantage.reach(rng)),
    "alphavantage: news": lambda rng: non_interference(alphavantage.news(rng)),
    "alphavantage: foreign": lambda rng: non_interference(alphavantage.foreign(rng)),
    "alphavantage: snapshots": lambda rng: paging(alphavantage.snapshots(rng), rng, ahead=timedelta(hours=1)),
    "sec_full_text: kept": kept,
    "sec_full_text: failures": lambda rng: non_interference(sec.failures(rng)),
    "fred: failures": lambda rng: non_interference(fred.failures(rng)),
    "earningscall: failures": lambda rng: non_interference(earningscall.failures(rng)),
    "earningscall: continued": lambda rng: continued(earningscall.continued(rng), rng),
    "yahoo: failures": lambda rng: non_interference(yahoo.failures(rng)),
    "yahoo: held": lambda rng: archived.held(yahoo.snapshots(rng), rng),
    "alphavantage: held": lambda rng: archived.held(alphavantage.snapshots(rng), rng),
    "yahoo: snapshots": lambda rng: paging(yahoo.snapshots(rng), rng, ahead=timedelta(hours=1)),
    "perplexity: failures": lambda rng: non_interference(perplexity.failures(rng)),
    "gate: judges": command.gate_judges,
    "gate: hook": command.gate_hook,
    "gate: releases": command.gate_releases,
    "gate: zones": zones.law,
    "guard: shell": shell.law,
    "guard: mentions": shell.mentions,
    "guard: options": shell.options,
    "command: refusals": command.refusals,
    "library: refusals": command.library_refusals,
    "looks: diff": looks.differences,
    "looks: explain": looks.explanations,
    "looks: verdicts": looks.verdicts,
    "looks: settings": looks.settings,
    "normalize: non-interference": normalized.law,
    "corpus: no leak": corpus.law,
    **{f"neo4j: {name}": partial(law, Kglite) for name, law in neo4j.LAWS.items()},
    **{f"guard: Cypher {name}": law for name, law in guarded.LAWS.items()},
    **archived.laws({source: make for source, (make, _) in _MAKERS.items()}),
}
