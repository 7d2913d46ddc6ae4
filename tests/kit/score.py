"""Scores the author's kit: how many of the named plants it finds, and whether it accuses an honest provider.

    python -m tests.kit.score [--only WORDS] [--no-proof]

Each plant is first shown to leak through the real command, in processes of their own that ask a loopback
server: what leaves the process differs, where the honest provider beneath it leaves the same bytes. Providers
that are wrong without such a leak must fail the test that is about it, and no other. --no-proof leaves out the proof.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

from pit_fetch.request.values import flag_of, format_value
from pit_fetch.testing import HttpRequest, ProviderSuite, Response
from pit_fetch.testing.inprocess import TestClock, files_in, run
from pit_fetch.testing.sandbox import Descriptors
from pit_fetch.testing.server import Answering, serve
from tests.kit import honest
from tests.kit.bases import BASES
from tests.kit.honest import FILE, Made
from tests.kit.plants import PLANTS, Plant
from tests.kit.worlds import Pair, pairs
from tests.kit.wrong import WRONG, accused, failing

ROOT = Path(__file__).parents[2]
# Those that find most come first: a plant is found by its first failure.
_FIRST = ("what_is_not_public", "revisions", "stamps_are", "the_answer_is", "nothing_is_kept")
TESTS = sorted(
    (name for name in dir(ProviderSuite) if name.startswith("test_")),
    key=lambda name: not name.removeprefix("test_").startswith(_FIRST),
)
KEY = "kit-score-0123456789"
SECONDS = 5.0
SHARE = 0.95


# --- the kit's verdict


def suite(made: Made) -> ProviderSuite:
    def serve(self: ProviderSuite, reply: bytes, request: HttpRequest) -> Response:
        return made.serve(reply, request)

    attributes: dict[str, Any] = {
        "provider": made.provider,
        "reply": made.reply,
        "options": made.options,
        "zone": made.zone,
        **made.attributes,
    }
    if made.serve is not honest._as_it_is:
        attributes["serve"] = serve
    suite: ProviderSuite = type("TestIt", (ProviderSuite,), attributes)()
    return suite


def failures(made: Made, all_of_them: bool = False) -> dict[str, str]:
    """The messages of the tests that fail; without ``all_of_them`` only that of the first."""
    # The modules of these providers import what others need: that imports are light is tested elsewhere.
    found = failing(suite(made), (name for name in TESTS if "importing" not in name))
    return dict(found if all_of_them else islice(found, 1))


# --- the proof that a plant leaks


@contextmanager
def bench() -> Iterator[Path]:
    """A folder whose ``site`` makes the providers sources."""
    with tempfile.TemporaryDirectory() as name:
        info = Path(name, "site", "kit_plants-1.dist-info")
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kit-plants\nVersion: 1\n")
        names = [base().provider.name for base in BASES.values()]
        lines = "".join(f"{name} = tests.kit.planted:PROVIDER\n" for name in names)
        (info / "entry_points.txt").write_text(f"[pit_fetch.providers]\n{lines}")
        yield Path(name)


def server(made: Made) -> honest.Serve:
    """The source as it is: it pages by what it is asked for."""

    def answer(reply: bytes, request: HttpRequest) -> Response:
        try:
            asked = json.loads(request.body or b"{}")
            document = json.loads(reply)
            hits = document["result"]["hits"]
            document["result"]["hits"] = hits[asked["from"] : asked["from"] + asked["size"]]
            return Response(json.dumps(document).encode())
        except (ValueError, KeyError, TypeError):
            return made.serve(reply, request)

    return answer


def words(made: Made, plant: Plant | None, pit: datetime) -> list[str]:
    given = plant.words if plant else ()
    options = {name: value for name, value in made.options.items() if flag_of(name) not in given}
    spelt = [f"{flag_of(name)}={format_value(value)}" for name, value in options.items()]
    return ["--source", made.provider.name, "--pit", pit.isoformat(), *spelt, *given]


Left = tuple[bytes, bytes, int, tuple[tuple[str, bytes], ...]]


def command(
    bench: Path, name: str, made: Made, reply: bytes, asked: list[str], environ: Mapping[str, str], code: str = ""
) -> Left:
    """One run of the real command (or of ``code``) in the world of ``reply``."""
    with tempfile.TemporaryDirectory(dir=bench) as folder, serve(partial(server(made), reply)) as running:
        home, work, saved = Path(folder, "home"), Path(folder, "work"), Path(folder, "reply")
        home.mkdir()
        work.mkdir()
        saved.write_bytes(reply)
        variables = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": os.pathsep.join([str(bench / "site"), str(ROOT)]),
            "KIT_PLANT": name,
            "PIT_FETCH_KIT_URL": running.url,
            "KIT_LIBRARY_URL": running.url,
            FILE.variable: str(saved),
            **{one.variables[0]: KEY for one in made.provider.credentials},
            **environ,
        }
        said = [word.replace("@REPLY", "-") for word in asked]
        start = ["-c", code] if code else ["-m", "pit_fetch", *said]
        done = subprocess.run(
            [sys.executable, *start], cwd=work, env=variables, input=reply, capture_output=True, check=False, timeout=60
        )
        return done.stdout, done.stderr, done.returncode, tuple(files_in(work))


def in_process(made: Made, reply: bytes, asked: list[str]) -> Any:
    clock = TestClock(datetime(2026, 11, 1, tzinfo=UTC))
    answering = Answering(lambda request: server(made)(reply, request), clock.now)
    with tempfile.TemporaryDirectory() as folder:
        environ = {one.variables[0]: KEY for one in made.provider.credentials}
        home = Path(folder, "home")
        home.mkdir()
        Path(folder, "reply").write_bytes(reply)
        environ[FILE.variable] = str(Path(folder, "reply"))
        there = os.getcwd()
        os.chdir(home)
        try:
            with _descriptors().caught():
                left = run(
                    [word.replace("@REPLY", "-") for word in asked],
                    transport=answering,
                    clock=clock.value(),
                    environ=environ,
                    folder=home,
                    stdin=reply,
                    provider=made.provider,
                )
            return *left.leaves, _descriptors().text()
        finally:
            os.chdir(there)


@cache
def _descriptors() -> Descriptors:
    return Descriptors()


def witness(name: str, plant: Plant, base: Made) -> Iterator[Pair]:
    """Pairs of worlds that the honest provider does not tell apart, those first that the plant does."""
    rest = []
    for pair in pairs(base):
        asked = [*words(base, plant, pair.pit), *(["--input-file=@REPLY"] if plant.shown == "offline" else [])]
        if in_process(base, pair.one, asked) != in_process(base, pair.other, asked):
            continue
        made = plant.make()
        if in_process(made, pair.one, asked) != in_process(made, pair.other, asked):
            yield pair
        else:
            rest.append(pair)
    yield from rest[:6]


_LATER = """
import sys, pit_fetch
made = [pit_fetch.fetch({source!r}, pit=pit, **{options!r}) for pit in {pits!r}]
print(dict(made[-1]))
"""


def proof(bench: Path, name: str, plant: Plant) -> str:
    """How the plant was shown to leak through the real command; "" if it was not."""
    base = BASES[plant.base]()
    both = (plant.base, name)
    if plant.shown == "runs":
        others = {"USER": "somebody", "TZ": "Asia/Tokyo"}
        asked = words(base, plant, datetime(2024, 3, 1, tzinfo=UTC))
        first = [command(bench, one, base, base.reply, asked, {"TZ": "UTC"}) for one in both]
        time.sleep(0.01)
        again = [command(bench, one, base, base.reply, asked, others) for one in both]
        return "again" if first[0][:3] == again[0][:3] and first[1][:3] != again[1][:3] else ""
    if plant.shown == "before":
        middle = sorted(datetime.fromisoformat(base.public_from(row)) for row in base.rows)[2]
        pits = ["2024-03-01T00:00:00+00:00", middle.isoformat(timespec="microseconds")]
        for count in (1, 2):
            codes = [
                _LATER.format(source=base.provider.name, options=dict(base.options), pits=[*pits[:n], pits[1]])
                for n in (0, count)
            ]
            left = [[command(bench, one, base, base.reply, [], {}, code) for code in codes] for one in both]
            if left[0][0] == left[0][1] and left[1][0] != left[1][1] and left[0][0][2] == 0:
                return "after a later question"
        return ""
    for pair in witness(name, plant, base):
        asked = [*words(base, plant, pair.pit), *(["--input-file=@REPLY"] if plant.shown == "offline" else [])]
        left = [[command(bench, one, base, reply, asked, {}) for reply in (pair.one, pair.other)] for one in both]
        if left[0][0] == left[0][1] and left[1][0] != left[1][1]:
            return pair.what
    return ""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--no-proof", action="store_true")
    parser.add_argument("--messages", action="store_true")
    given = parser.parse_args()
    plants = {name: one for name, one in PLANTS.items() if given.only in name}
    shown: dict[str, str] = {}
    if not given.no_proof:
        with bench() as made:
            for name, one in plants.items():
                shown[name] = proof(made, name, one)
                if not shown[name]:
                    print(f"NOT SHOWN to leak: {name} ({one.base}, {one.kind})", flush=True)
    alarms = slow = 0
    for name, base in BASES.items() if not given.only else ():
        start = time.process_time()
        found = failures(base(), all_of_them=True)
        seconds = time.process_time() - start
        slow += seconds > SECONDS
        alarms += bool(found)
        print(f"honest {name:<10} {seconds:5.1f} s  {'passes' if not found else 'FALSE ALARM'}")
        for test, message in found.items():
            print(f"    {test}: {message}")
    survivors = []
    for name, one in plants.items():
        found = failures(one.make())
        if not found:
            survivors.append(name)
        if given.messages:
            print(f"{name}: {json.dumps(found, indent=1)}")
    blamed = [] if given.only else [name for name, row in WRONG.items() if accused(name) != {row[1]}]
    for name in blamed:
        print(f"not by its own test alone: {name}")
    killed = len(plants) - len(survivors)
    for name in survivors:
        print(f"survives: {name} ({plants[name].base}, {plants[name].kind})")
    unshown = sum(not how for how in shown.values())
    proved = "not asked to leak through the command" if given.no_proof else f"{unshown} not shown to leak"
    print(f"{killed} of {len(plants)} plants found ({killed / len(plants):.0%}), {proved}")
    print(f"{len(BASES)} honest providers: {alarms} false alarms, {slow} suites above {SECONDS:g} s of CPU")
    return int(bool(alarms or slow or blamed) or killed < SHARE * len(plants) or not all(shown.values()))


if __name__ == "__main__":
    sys.exit(main())
