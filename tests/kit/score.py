"""Score the author's kit: how many of the named plants it finds, and whether it accuses an honest provider.

    python -m tests.kit.score [--only WORDS] [--no-proof] [--messages]

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
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import chdir, contextmanager
from datetime import UTC, datetime
from functools import cache, partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from pit_fetch.request.values import flag_of, format_value
from pit_fetch.testing import HttpRequest, ProviderSuite, Recording, Response
from pit_fetch.testing.inprocess import TestClock, files_in, run
from pit_fetch.testing.sandbox import Descriptors
from pit_fetch.testing.server import Answering
from tests.kit.bases import BASES
from tests.kit.honest import FILE, KitSource, Serve
from tests.kit.plants import PLANTS, Plant
from tests.kit.worlds import Pair, pairs
from tests.kit.wrong import WRONG, accused, failing
from tests.serving import serve

ROOT = Path(__file__).parents[2]
# A plant is found by its first failure, so those that find much in little time come first.
_FIRST = (
    "test_nothing_is_as_it_stands_today", "test_revisions_are_told", "test_stamps_are_the_latest_the_source_can_mean",
    "test_stamps_rest_on_publication", "test_nor_inside_a_public_item", "test_what_is_not_public_changes_no_byte",
    "test_nothing_is_kept_between_runs", "test_the_answer_is_the_same_at_any_hour_and_anywhere",
    "test_nor_under_any_option", "test_nor_in_a_saved_reply",
)  # fmt: skip
TESTS = [*_FIRST, *sorted(name for name in dir(ProviderSuite) if name.startswith("test_") and name not in _FIRST)]
KEY = "kit-score-0123456789"
SECONDS = 5.0
SHARE = 0.95


# --- the kit's verdict


def suite(source: KitSource) -> ProviderSuite:
    attributes: dict[str, Any] = {
        "provider": source.provider,
        "recording": Recording(**{"documents": source.reply, **source.recording}),
        "options": source.options,
        "zone": source.zone,
        **source.attributes,
    }
    suite: ProviderSuite = type("TestIt", (ProviderSuite,), attributes)()
    return suite


def failures(source: KitSource, all_of_them: bool = False) -> dict[str, str]:
    """Return the messages of the tests that fail; without ``all_of_them`` only that of the first."""
    # The modules of these providers import what others need: that imports are light is tested elsewhere.
    messages = failing(suite(source), (name for name in TESTS if "importing" not in name))
    return dict(messages if all_of_them else islice(messages, 1))


# --- the proof that a plant leaks


@contextmanager
def bench() -> Iterator[Path]:
    """Yield a folder whose ``site`` makes the providers sources."""
    with tempfile.TemporaryDirectory() as name:
        info = Path(name, "site", "kit_plants-1.dist-info")
        info.mkdir(parents=True)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kit-plants\nVersion: 1\n")
        names = [base.make().provider.name for base in BASES.values()]
        lines = "".join(f"{name} = tests.kit.planted:PROVIDER\n" for name in names)
        (info / "entry_points.txt").write_text(f"[pit_fetch.providers]\n{lines}")
        yield Path(name)


def server(source: KitSource) -> Serve:
    """Return the source's server as it is outside the tests: it pages by what it is asked for."""

    if source.live is not None:
        return source.live

    def answer(reply: bytes, request: HttpRequest) -> Response:
        params = {name: int(str(value)) for name, value in request.params.items() if str(value).isdigit()}
        if "page" in params and len(params) == 2:  # the other is the size of a page, whatever it is called
            page, size = params.pop("page"), next(iter(params.values()), 0)
            rows = json.loads(reply).get("pages")
            if rows is not None:
                return Response(json.dumps({"pages": rows[size * (page - 1) : size * page]}).encode())
        try:
            asked = json.loads(request.body or b"{}")
            document = json.loads(reply)
            hits = document["result"]["hits"]
            document["result"]["hits"] = hits[asked["from"] : asked["from"] + asked["size"]]
            return Response(json.dumps(document).encode())
        except (ValueError, KeyError, TypeError):
            return Response(reply)

    return answer


def command_line(source: KitSource, plant: Plant, pit: datetime) -> list[str]:
    """Return the words of the request that shows the plant. A saved reply comes by standard input."""
    options = {name: value for name, value in source.options.items() if flag_of(name) not in plant.words}
    flags = [f"{flag_of(name)}={format_value(value)}" for name, value in options.items()]
    offline = ["--input-file=-"] if plant.shown == "offline" else []
    return ["--source", source.provider.name, "--pit", pit.isoformat(), *flags, *plant.words, *offline]


def credentials(source: KitSource) -> dict[str, str]:
    return {each.variables[0]: KEY for each in source.provider.credentials if not each.is_file}


Left = tuple[bytes, bytes, int, tuple[tuple[str, bytes], ...]]


def command(bench: Path, name: str, source: KitSource, reply: bytes, environ: Mapping[str, str], *words: str) -> Left:
    """Run Python on ``words``, in the world of ``reply``, as the plant or the honest provider ``name``."""
    with tempfile.TemporaryDirectory(dir=bench) as folder, serve(partial(server(source), reply)) as running:
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
            FILE.variables[0]: str(saved),
            **credentials(source),
            **environ,
        }
        done = subprocess.run(
            [sys.executable, *words], cwd=work, env=variables, input=reply, capture_output=True, check=False, timeout=60
        )
        return done.stdout, done.stderr, done.returncode, tuple(files_in(work))


def in_process(source: KitSource, reply: bytes, words: list[str]) -> Any:
    clock = TestClock(datetime(2026, 11, 1, tzinfo=UTC))
    answering = Answering(partial(server(source), reply), clock.now)
    with tempfile.TemporaryDirectory() as folder:
        home, saved = Path(folder, "home"), Path(folder, "reply")
        home.mkdir()
        saved.write_bytes(reply)
        with chdir(home), _descriptors().caught():
            left = run(
                words,
                transport=answering,
                clock=clock.value(),
                environ={**credentials(source), FILE.variables[0]: str(saved)},
                folder=home,
                stdin=reply,
                provider=source.provider,
            )
        return *left.leaves, _descriptors().text()


@cache
def _descriptors() -> Descriptors:
    return Descriptors()


def witnesses(plant: Plant, base: KitSource) -> Iterator[Pair]:
    """Yield pairs of worlds that the honest provider does not tell apart, those first that the plant does."""
    rest = []
    for pair in pairs(base):
        words = command_line(base, plant, pair.pit)
        if in_process(base, pair.first, words) != in_process(base, pair.second, words):
            continue
        planted = plant.make()
        if in_process(planted, pair.first, words) != in_process(planted, pair.second, words):
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
    """Return how the plant was shown to leak through the real command, "" if it was not."""
    base = BASES[plant.base].make()

    def runs(*ways: tuple[bytes, Mapping[str, str], tuple[str, ...]]) -> list[list[Left]]:
        """Run the honest provider, and the plant, in each way."""
        return [
            [command(bench, each, base, reply, environ, *words) for reply, environ, words in ways]
            for each in (plant.base, name)
        ]

    if plant.shown == "runs":
        words = ("-m", "pit_fetch", *command_line(base, plant, datetime(2024, 3, 1, tzinfo=UTC)))
        here, there = {"TZ": "UTC"}, {"USER": "somebody", "TZ": "Asia/Tokyo"}
        honest, planted = runs((base.reply, here, words), (base.reply, there, words))
        return "again" if honest[0][:3] == honest[1][:3] and planted[0][:3] != planted[1][:3] else ""
    if plant.shown == "before":
        middle = sorted(datetime.fromisoformat(base.public_from(row)) for row in base.rows)[2]
        pits = ["2024-03-01T00:00:00+00:00", middle.isoformat(timespec="microseconds")]
        for count in (1, 2):
            codes = [
                _LATER.format(source=base.provider.name, options=dict(base.options), pits=[*pits[:number], pits[1]])
                for number in (0, count)
            ]
            honest, planted = runs(*((base.reply, {}, ("-c", code)) for code in codes))
            if honest[0] == honest[1] and planted[0] != planted[1] and honest[0][2] == 0:
                return "after a later question"
        return ""
    for pair in witnesses(plant, base):
        words = ("-m", "pit_fetch", *command_line(base, plant, pair.pit))
        honest, planted = runs((pair.first, {}, words), (pair.second, {}, words))
        if honest[0] == honest[1] and planted[0] != planted[1]:
            return pair.what
    return ""


# --- every provider, each in one of several processes


@contextmanager
def judges() -> Iterator[ProcessPoolExecutor]:
    """Yield one process for each core. What they leave in temporary folders goes with them."""
    with tempfile.TemporaryDirectory(prefix="kit-score-") as folder:
        context = get_context("fork")  # what is imported here need not be imported there
        with ProcessPoolExecutor(os.cpu_count(), context, initializer=_keep_to, initargs=(folder,)) as pool:
            yield pool


def _keep_to(folder: str) -> None:
    tempfile.tempdir = folder


def proof_of(bench: Path, name: str) -> str:
    return proof(bench, name, PLANTS[name])


def caught(name: str) -> dict[str, str]:
    """Return the message of the test that finds the plant, none if it survives."""
    return failures(PLANTS[name].make())


class Honest(NamedTuple):
    messages: dict[str, str]
    seconds: float


def honest(name: str) -> Honest:
    """Return what accuses an honest provider, and the CPU time of its suite."""
    start = time.process_time()
    messages = failures(BASES[name].make(), all_of_them=True)
    return Honest(messages, time.process_time() - start)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--no-proof", action="store_true")
    parser.add_argument("--messages", action="store_true")
    with judges() as pool:
        return score(pool, parser.parse_args())


def score(pool: Executor, arguments: argparse.Namespace) -> int:
    plants = [name for name in PLANTS if arguments.only in name]
    bases = [] if arguments.only else [*BASES]
    mistakes = [] if arguments.only else [*WRONG]
    proofs: dict[str, str] = {}
    with bench() as folder:
        asked = [] if arguments.no_proof else plants
        for name, how in zip(asked, pool.map(partial(proof_of, folder), asked), strict=True):
            proofs[name] = how
            if not how:
                print(f"NOT SHOWN to leak: {name} ({PLANTS[name].base})", flush=True)
    alarms = slow = 0
    for name, (messages, seconds) in zip(bases, pool.map(honest, bases), strict=True):
        slow += seconds > SECONDS
        alarms += bool(messages)
        print(f"honest {name:<10} {seconds:5.1f} s  {'passes' if not messages else 'FALSE ALARM'}", flush=True)
        for test, message in messages.items():
            print(f"    {test}: {message}")
    survivors = []
    for name, messages in zip(plants, pool.map(caught, plants), strict=True):
        if not messages:
            survivors.append(name)
        if arguments.messages:
            print(f"{name}: {json.dumps(messages, indent=1)}")
    accusers = zip(mistakes, pool.map(accused, mistakes), strict=True)
    blamed = [name for name, tests in accusers if tests != {WRONG[name].test}]
    for name in blamed:
        print(f"not by its own test alone: {name}")
    killed = len(plants) - len(survivors)
    for name in survivors:
        print(f"survives: {name} ({PLANTS[name].base})")
    unproved = sum(not how for how in proofs.values())
    proved = "not asked to leak through the command" if arguments.no_proof else f"{unproved} not shown to leak"
    share = killed / max(1, len(plants))
    print(f"caught: {killed} of {len(plants)} plants ({share:.0%}), {proved}")
    if not arguments.only:
        print(f"caught: {len(WRONG) - len(blamed)} of {len(WRONG)} mistakes, by the test that is about them alone")
        print(f"honest accused: {alarms} of {len(BASES)}; {slow} suites above {SECONDS:g} s of CPU")
    return int(bool(alarms or slow or blamed) or share < SHARE or not all(proofs.values()))


if __name__ == "__main__":
    sys.exit(main())
