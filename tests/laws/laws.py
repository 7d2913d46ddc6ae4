"""The laws: each takes a case, raises AssertionError where it is broken, and says how many pairs it compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from random import Random

from tests.laws import alphavantage, bz, command, corpus, sec, shell
from tests.laws.worlds import CANARY, SECRETS, Case, Left, near, run
from tests.loopback.server import Request, Response

Law = Callable[[Random], int]


def non_interference(case: Case) -> int:
    """Worlds that serve the same public records give the same bytes, and nothing of the others shows."""
    expected = run(case, case.worlds[0])
    _clean(expected)
    for app in case.worlds[1:]:
        left = run(case, app)
        _clean(left)
        assert left == expected
    if case.plain is not None:
        assert case.plain <= set(expected.ids), "what was public is missing"
    return len(case.worlds) - 1


def files(case: Case, bodies: Sequence[bytes]) -> int:
    """Saved replies and exports that hold the same public records give the same bytes, however they are written."""
    expected = run(case, _unasked, stdin=bodies[0])
    _clean(expected)
    for body in bodies[1:]:
        left = run(case, _unasked, stdin=body)
        _clean(left)
        assert left == expected
    return len(bodies) - 1


def _unasked(request: Request) -> Response:
    raise AssertionError("a file was to be read")


def clock(case: Case, rng: Random) -> int:
    """The wall clock changes nothing once it is past the PIT."""
    app = case.worlds[-1]
    early, late = (case.moment + timedelta(days=3) + near(rng) for _ in range(2))
    assert run(case, app, now=early) == run(case, app, now=late + timedelta(days=rng.choice((0, 9, 2_000))))
    return 1


def future(case: Case) -> int:
    """A PIT that is yet to come is read as "up to now": nothing is served before its time."""
    if not alphavantage.SNAPSHOTS.isdisjoint(case.words[:1]):  # which are of now, whatever they hold
        return 0
    late = (case.moment + timedelta(days=400)).isoformat()
    for app in case.worlds:
        left = run(case, app, pit=late, now=case.moment, words=_without_ends(case.words))
        assert CANARY not in left.out + left.err, "a canary got out"
    return 0


def _without_ends(words: Sequence[str]) -> tuple[str, ...]:
    """The request without --date-to and --after: with them the end of the window is not the PIT."""
    ends = [place for place, word in enumerate(words) if word in ("--date-to", "--after")]
    return tuple(word for place, word in enumerate(words) if place not in ends and place - 1 not in ends)


def sizes(case: Case) -> int:
    """The size of a page of the source's changes nothing; its order is shuffled in every world."""
    expected = run(case, case.worlds[-1])
    for other in case.resized:
        assert run(case, case.worlds[-1], sizes={**case.sizes, **other}) == expected
    return len(case.resized)


def repeated(case: Case) -> int:
    """A fetch at a later PIT before it, in the same process and with the files that it left, changes nothing."""
    app = case.worlds[-1]
    expected = run(case, app)
    run(case, app, pit=(case.moment + timedelta(days=5)).isoformat())
    again = run(case, app, keep_files=True)
    assert again._replace(files=()) == expected._replace(files=())
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
        cursors = [gap["reason"].split("--after ")[1] for gap in left.gaps if "--after " in gap["reason"]]
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


def kept(rng: Random) -> int:
    """What a fetch of an earlier day has left in the cache changes nothing: no index of a day that was not over."""
    case, earlier, then, now = sec.kept(rng)
    app = case.worlds[0]
    expected = run(case, app, now=now)
    run(case, earlier, pit=then.isoformat(), now=then)
    again = run(case, app, now=now, keep_files=True)
    assert again._replace(files=()) == expected._replace(files=())
    return 1


def _clean(left: Left) -> None:
    everything = left.out + left.err + "".join(name + body.decode("latin-1") for name, body in left.files)
    assert CANARY not in everything, "a canary got out"
    assert not any(secret in everything for secret in SECRETS), "a secret got out"
    assert left.code in (0, 3, 4, 5), left.err


Maker = Callable[[Random], Case]
_MAKERS: Mapping[str, tuple[Maker, Maker]] = {
    "bz-news-api": (bz.make, bz.unrevised),
    "alphavantage": (alphavantage.make, alphavantage.undisturbed),
    "sec_full_text": (sec.make, sec.undisturbed),
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
    "bz-news-api: ceiling": lambda rng: non_interference(bz.crowded(rng)),
    "bz-news-api: files": lambda rng: files(*bz.files(rng)),
    "bz-news-api: failures": lambda rng: non_interference(bz.failures(rng)),
    "alphavantage: failures": lambda rng: non_interference(alphavantage.failures(rng)),
    "sec_full_text: ordered": lambda rng: non_interference(sec.ordered(rng)),
    "alphavantage: news": lambda rng: non_interference(alphavantage.news(rng)),
    "alphavantage: foreign": lambda rng: non_interference(alphavantage.foreign(rng)),
    "alphavantage: snapshots": lambda rng: paging(alphavantage.snapshots(rng), rng, ahead=timedelta(hours=1)),
    "sec_full_text: kept": kept,
    "sec_full_text: failures": lambda rng: non_interference(sec.failures(rng)),
    "gate: judges": command.gate_judges,
    "gate: hook": command.gate_hook,
    "guard: shell": shell.law,
    "guard: options": shell.options,
    "command: refusals": command.refusals,
    "corpus: no leak": corpus.law,
}
