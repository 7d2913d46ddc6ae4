"""The laws of the archive as the command keeps them: with a file, on worlds of every source."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from urllib.parse import quote

from pit_fetch.archive import log, schema
from pit_fetch.testing.process import Left
from pit_fetch.testing.same import holds, same_bytes
from pit_fetch.testing.server import App, Response
from pit_fetch.transport import Request
from tests.laws import indexed, memory
from tests.laws.worlds import SECRETS, Case, run

Law = Callable[[Random], int]
Maker = Callable[[Random], Case]


@contextmanager
def archive() -> Iterator[Path]:
    """A place for an archive, away from the folder whose files a run is judged by."""
    with tempfile.TemporaryDirectory(prefix="archive-") as folder:
        yield Path(folder, "a.db")


def environ(path: Path) -> Mapping[str, str]:
    return {"PIT_FETCH_ARCHIVE": str(path)}


def empty(case: Case) -> int:
    """An empty archive changes no byte of any answer."""
    for app in (case.worlds[0], case.worlds[-1]):
        expected = run(case, app)
        with archive() as path:
            left = run(case, app, environ=environ(path))
            assert path.exists() or "config" in expected.out + expected.err  # a refused request asks nobody
        assert replace(left, files=()) == replace(expected, files=()), "an empty archive shows"
    return 2


def offline(case: Case) -> int:
    """What one fetch recorded answers the same question again, without the network."""
    if "--format" in case.words:
        return 0
    with archive() as path:
        live = run(case, case.worlds[-1], environ=environ(path))
        if any(kind in ("truncated", "upstream_error", "config") for kind in live.gap_types):
            return 0
        again = run(case, _nobody, environ=environ(path), words=(*case.words, "--offline"))
    assert again.data == live.data
    return 1


def _nobody(request: Request) -> Response:
    raise AssertionError("the network was asked")


def interference(case: Case) -> int:
    """With what was held at the PIT, worlds that differ only after it still give the same bytes."""
    with archive() as path:
        run(case, case.worlds[0], now=case.moment, environ=environ(path))
        held = path.with_suffix(".held")
        _copy(path, held)

        def ask(app: App) -> Left:
            _copy(held, path)
            return replace(run(case, app, environ=environ(path)), files=())

        same_bytes(ask, case.worlds, SECRETS)
    return len(case.worlds) - 1


def nothing_early(case: Case) -> int:
    """What was recorded after the PIT, in worlds full of what came later, tells nothing at the PIT."""
    later = case.moment + timedelta(days=900)

    def ask(app: App) -> Left:
        with archive() as path:
            run(case, app, pit=later.isoformat(), now=later, environ=environ(path))
            left = run(case, _nobody, environ=environ(path), words=(*case.words, "--offline"))
        return replace(left, files=())

    same_bytes(ask, case.worlds, SECRETS)
    return len(case.worlds) - 1


def secrets(case: Case) -> int:
    """A source that repeats every key it was given leaves none of them in the archive."""

    def echo(request: Request) -> Response:
        keys = [*request.signature.params.values(), *request.signature.headers.values()]
        said = [*keys, *(quote(str(key), safe="") for key in keys)]
        return Response(json.dumps(said).encode(), 401, {"ETag": str(said)})

    with archive() as path:
        run(case, echo, environ=environ(path), pit="")
        with closing(schema.open_to_read(str(path))) as connection:
            tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            everything = [repr(row) for name in tables for row in connection.execute(f"SELECT * FROM {name}")]
            digests = [digest for (digest,) in connection.execute("SELECT digest FROM bodies")]
            everything += [log.read_body(connection, digest).decode() for digest in digests]
    for secret in SECRETS:
        assert not any(holds(text, secret) for text in everything), "a key is in the archive"
    return 0


def _copy(source: Path, target: Path) -> None:
    for suffix in ("-wal", "-shm"):
        Path(f"{target}{suffix}").unlink(missing_ok=True)
    shutil.copy(source, target)


def laws(makers: Mapping[str, Maker]) -> Mapping[str, Law]:
    """Each law for every source."""

    def of(law: Callable[[Case], int], make: Maker) -> Law:
        return lambda rng: law(make(rng))

    return {
        f"{source}: archive {law.__name__.replace('_', ' ')}": of(law, make)
        for law in (empty, offline, interference, nothing_early, secrets)
        for source, make in makers.items()
    } | {**memory.LAWS, **indexed.LAWS}
