"""Subjects spread over the workers of Dask, which answer from the archive as this process would.

What was asked travels, and nothing else: each worker has its own keys, settings and environment, and makes the panel's
grid anew. The key of a subject names all that its cells depend on, so a worker that would answer otherwise refuses.
"""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from pit_fetch.errors import ConfigError, PitFetchError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.panels.cells import Ask, Grid, Question, cells_of
from pit_fetch.panels.grid import grid_of
from pit_fetch.panels.parts import Answered, Due, SubjectPart, part_of
from pit_fetch.panels.universe import Subject
from pit_fetch.support.version import __version__
from pit_fetch.support.wording import truncate

if TYPE_CHECKING:
    import distributed

# How many subjects wait for each thread of a worker: no more answers than these are in memory.
_AHEAD = 2
# How many seconds a scheduler, and its first worker, may take to answer.
_PATIENCE = 10
# A cluster of our own shows no pages, and leaves no answers on a disk.
_SETTINGS: dict[str, object] = {
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
}


def spreading(
    engine: str | distributed.Client, grid: Grid
) -> Callable[[Sequence[Due], Ask], Generator[Answered, None, None]]:
    """Return what answers about subjects, in any order. Raise UsageError for what cannot be spread, ConfigError."""
    address = _address(engine) if isinstance(engine, str) else None
    if not grid.question.is_offline:
        raise UsageError(
            Code.USAGE, text="--engine dask needs --offline: an archive answers many workers, and a source only one"
        )
    _require_packages()

    def answers(due: Sequence[Due], ask: Ask) -> Generator[Answered, None, None]:
        if due:
            with _client(address) if isinstance(engine, str) else nullcontext(engine) as client:
                yield from _answers(client, grid, due)

    return answers


def _address(engine: str) -> str | None:
    """Return the address of a scheduler, None for a cluster of our own. Raise UsageError."""
    name, has_address, address = engine.partition("=")
    if name != "dask" or (has_address and not address):
        raise UsageError(Code.USAGE, text=f"--engine is local, dask or dask=ADDRESS, and not {truncate(engine)}")
    return address or None


def _require_packages() -> None:
    try:
        import cryptography  # noqa: F401 - for the keys of a cluster of our own
        import distributed  # noqa: F401
    except ImportError as error:
        from pit_fetch.support.install import install_command

        command = install_command("distributed cryptography")
        raise ConfigError(Code.DEPENDENCY_MISSING, package=error.name, command=command) from None


@contextmanager
def _client(address: str | None) -> Iterator[distributed.Client]:
    """Yield a client of the cluster at an address, or of one on this machine. Raise ConfigError."""
    from distributed import Client

    with ExitStack() as stack:
        try:
            cluster = address or stack.enter_context(_cluster())
            client = stack.enter_context(Client(cluster, timeout=_PATIENCE, set_as_default=False))
            client.wait_for_workers(1, timeout=_PATIENCE)
        except (OSError, RuntimeError, ValueError, TypeError) as error:
            where = f"at {truncate(address)} " if address else ""
            fix = "; a tls:// address needs the certificates of distributed.comm.tls" if "tls" in where else ""
            problem = f"no scheduler with a worker {where}could be reached ({type(error).__name__}){fix}"
            raise _unusable(problem) from None
        yield client


@contextmanager
def _cluster() -> Iterator[distributed.LocalCluster]:
    """Yield workers on this machine, a process for each core. No other user can connect to them."""
    import dask
    from distributed import LocalCluster

    with (
        _raised_interrupts(),
        dask.config.set(_SETTINGS),
        LocalCluster(
            threads_per_worker=1,
            security=True,  # TLS, with keys of its own: a client of a scheduler may run anything on its workers
            dashboard_address="127.0.0.1:0",  # of two clusters at once, the second would complain about a port
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        yield cluster


@contextmanager
def _raised_interrupts() -> Iterator[None]:
    """Let an interrupt raise KeyboardInterrupt, so that the workers are ended before this process is."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _answers(client: distributed.Client, grid: Grid, due: Sequence[Due]) -> Generator[Answered, None, None]:
    """Yield what the workers answer. Raise ConfigError if they cannot, or are lost."""
    from distributed import as_completed

    tasks = (Task(__version__, grid.question, subject, key, grid.now()) for key, subject in due)
    # Not pure: Dask would return an older answer to an equal task.
    futures = (client.submit(answered, task, pure=False) for task in tasks)
    pending = as_completed(islice(futures, _AHEAD * sum(client.nthreads().values())), loop=client.loop)
    try:
        for future in pending:
            yield _result(future)
            pending.update(islice(futures, 1))
    finally:
        pending.clear()  # the cluster drops tasks without a waiting client


def _result(future: distributed.Future) -> Answered:
    from distributed import KilledWorker

    try:
        result: Answered | str = future.result()
    except KilledWorker:  # after distributed.scheduler.allowed-failures attempts
        raise _unusable("the workers that were asked about a subject died: they may need more memory") from None
    except Exception as error:  # noqa: BLE001 - the cluster's own: its text has addresses
        lost = f"a worker was lost, or has no pit_fetch {__version__} ({type(error).__name__})"
        raise _unusable(lost) from None
    if isinstance(result, str):
        raise _unusable(result)
    return result


def _unusable(problem: str) -> ConfigError:
    return ConfigError(Code.ENGINE_UNUSABLE, problem=problem)


# In a worker.


class Task(NamedTuple):
    """A subject to be answered, as it travels to a worker.

    version  that of the program that asks
    key      what it calls the subject
    now      when it asks, by its own clock
    """

    version: str
    question: Question
    subject: Subject
    key: str
    now: datetime


def answered(task: Task) -> tuple[str, SubjectPart] | str:
    """Return a subject's key and answers; or, in a sentence, why this process cannot give those of the asking one."""
    if task.version != __version__:
        return f"a worker has version {__version__} of pit_fetch, and not {task.version}: install the same everywhere"
    try:
        part = _part(task)
    except PitFetchError as error:
        return f"a worker refuses: {str(error).rstrip('.')}"
    except Exception as error:  # noqa: BLE001 - its text could be one of the source, or name a file
        return f"a worker failed: {type(error).__name__}"
    if part is None:
        return (
            "a worker has other data or settings: give all of them the same archive, which nothing records to "
            "meanwhile, and the same PIT_FETCH_ variables"
        )
    return task.key, part


def _part(task: Task) -> SubjectPart | None:
    """Return the answers, None if they would be other ones. Raise PitFetchError."""
    source, options, _ = task.question
    over = {name: [value] for name, value in task.subject.over.items()}
    grid = grid_of(source, task.subject.pits, over, options)
    (subject,) = grid.subjects
    with grid.asking() as asking:
        if asking.key(subject) != task.key:
            return None
        return part_of([*cells_of(subject, asking.ask, lambda: task.now)])
