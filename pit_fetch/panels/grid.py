"""Make the grid of a panel: which question is asked about whom as of when, checked before anything is asked."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import cache, partial
from itertools import product
from typing import NamedTuple, TypeVar

from pit_fetch import answers
from pit_fetch.archive.archived import OpenArchives
from pit_fetch.archive.store import schema
from pit_fetch.archive.store.errors import ArchiveError, translating
from pit_fetch.archive.store.journal import ends
from pit_fetch.archive_admin.operators import require_operator
from pit_fetch.engine import settings_files
from pit_fetch.engine.fetch import archive_of
from pit_fetch.engine.input_files import read_file
from pit_fetch.engine.real_runtime import real_runtime
from pit_fetch.engine.report import FetchResult
from pit_fetch.engine.run import run
from pit_fetch.engine.sweep import Sweep, can_sweep
from pit_fetch.errors import ConfigError, PitFetchError, UsageError
from pit_fetch.gaps import Code, GapType
from pit_fetch.panels.answered_subjects import key_of
from pit_fetch.panels.cells import PIT, REASON, STATUS, Answer, AskSession, Grid
from pit_fetch.panels.instants import instants
from pit_fetch.panels.universe import Subject, members, subjects
from pit_fetch.pipeline.claims import PROVED
from pit_fetch.pipeline.envelope import EVIDENCE
from pit_fetch.provider import ENVELOPE_FIELDS, FieldKind, Query
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.request.operations import candidate_operations, series_fields
from pit_fetch.request.query import build_query
from pit_fetch.runtime import Runtime
from pit_fetch.support.wording import truncate

T = TypeVar("T")

# Options that all cells have in common: where they are asked, and for how long.
_SHARED = frozenset(["archive", "offline", "input_file", "timeout", "max_pages", "limit", "newest", "fields", "after"])


class Questions(NamedTuple):
    """What the questions of a panel have in common: the source, the options, the settings, the surroundings.

    given  the surroundings without the settings, as a single fetch finds them
    """

    source: str
    options: answers.Options
    settings: settings_files.Settings
    runtime: Runtime
    given: Runtime

    def call(self, over: answers.Options, pit: datetime) -> answers.FetchCall:
        """Return a question as the call of a fetch."""
        return answers.FetchCall(self.source, {**self.options, **over, "pit": pit}, "keep")

    def request(self, over: answers.Options, pit: datetime) -> FetchRequest:
        """Return the request of a question. Raise UsageError if it cannot be asked."""
        return answers.request_of(self.source, self.call(over, pit).options, self.settings, self.runtime)

    @contextmanager
    def session(self, example: FetchRequest) -> Iterator[AskSession]:
        """Yield what asks a question like ``example``, with the archives kept open for the next."""
        with closing(OpenArchives(self.runtime.find)) as archives:
            state = cache(partial(_state, example, self.runtime, archives))

            def key(subject: Subject) -> str:
                request = self.request(subject.over, subject.pits[-1])
                return key_of(request, subject, state(), self.runtime.environ)

            ask, sweep = partial(self._ask, archives), partial(self._sweep, archives)
            yield AskSession(ask, key, archives.check_unchanged, sweep)

    def fetch(self, over: answers.Options, pit: datetime) -> answers.Envelope:
        """Return what a single fetch answers, which shares nothing with the panel."""
        return answers.fetch(self.call(over, pit), self.given)

    def _sweep(self, archives: OpenArchives, subject: Subject) -> Iterator[Answer]:
        """Yield the answers about a subject: by one sweep, or by a fetch each where that cannot answer."""
        sweep = None
        with suppress(Exception):  # a fetch says what is wrong
            first, last = (self.request(subject.over, pit) for pit in (subject.pits[0], subject.pits[-1]))
            sweep = Sweep(first, last, self.runtime, archives) if can_sweep(first, self.runtime) else None
        for pit in subject.pits:
            answer = None
            try:
                if sweep is not None and not sweep.was_asked(pit):
                    items, is_plain, write = sweep.at(pit)
                    written = partial(self._envelope, write, subject.over, pit)
                    answer = Answer(items, sweep.provenance, written, is_plain=is_plain)
            except Exception:  # noqa: BLE001 - as above; what is known of the subject by now may be half of it
                sweep = None
            yield answer or Answer.written(self._ask(archives, subject.over, pit))

    def _envelope(self, write: Callable[[], FetchResult], over: answers.Options, pit: datetime) -> answers.Envelope:
        envelope = answers.envelope_of(write(), {**self.settings.options, **self.options})
        envelope.call = self.call(over, pit)
        return envelope

    def _ask(self, archives: OpenArchives, over: answers.Options, pit: datetime) -> answers.Envelope:
        call = self.call(over, pit)
        try:
            options = {**self.settings.options, **call.options}
            envelope = answers.ask([self.request(over, pit)], options, self.runtime, partial(run, archives=archives))
        except PitFetchError as error:
            envelope = answers.refusal_envelope(error)
        envelope.call = call
        return envelope


def grid_of(
    source: str, pits: object, over: Mapping[str, object], options: answers.Options, runtime: Runtime | None = None
) -> Grid:
    """Return the grid of a panel: see :func:`pit_fetch.panel`. Raise UsageError, ConfigError or InputError."""
    if not isinstance(over, Mapping):
        raise UsageError(Code.USAGE, text='over names the option of the values: {"symbol": ["IBM", "AAPL"]}')
    twice = sorted({"pit", *over} & options.keys())
    if twice:
        where = "pits" if twice[0] == "pit" else "over"
        raise UsageError(Code.USAGE, text=f"{twice[0]} is given as an option, and {where} says it for each cell")
    taken = sorted({PIT, STATUS, REASON} & over.keys())
    if taken:
        raise UsageError(Code.USAGE, text=f"over: {taken[0]} is a column of every panel, and no value to ask for")
    shared = sorted(_SHARED & over.keys())
    if shared:
        raise UsageError(Code.USAGE, text=f"over: {shared[0]} is one for all cells: give it as an option")
    runtime = real_runtime() if runtime is None else runtime
    require_operator(runtime, "panel")
    named = {name: members(name, value, runtime.read_text) for name, value in over.items()}
    moments = instants(pits, runtime.read_text)
    asked = [*subjects(named, moments)]
    if not asked:
        raise UsageError(Code.USAGE, text="over: no value belongs to the panel at any of its instants")
    # A ceiling bounds the latest instant, even if no subject belongs to the universe then.
    values = product(*([member.value for member in each] for each in named.values()))
    every = [Subject(dict(zip(named, each, strict=True)), moments[-1:]) for each in values]
    return subjects_grid(source, asked, options, runtime, every)


def subjects_grid(
    source: str, asked: Sequence[Subject], options: answers.Options, runtime: Runtime, every: Sequence[Subject] = ()
) -> Grid:
    """Return the grid of these subjects. ``every`` are those of which it is checked that they can be asked about.

    Raise UsageError, ConfigError or InputError.
    """
    given, (runtime, settings) = runtime, settings_files.with_settings(runtime)
    runtime = runtime._replace(find=cache(runtime.find))  # each of thousands of cells would load its source again
    # A limit of the settings would cut cells without a word.
    questions = Questions(source, {"limit": None, **options}, settings, runtime, given)
    columns: dict[str, FieldKind] = {}
    for subject in every or asked:
        try:
            latest = questions.request(subject.over, subject.pits[-1])
            query = build_query(latest, runtime.clock.now())
        except (UsageError, ConfigError) as error:
            raise _name_subject(error, subject.over, questions) from None
        columns |= _columns(latest, query)
    with closing(OpenArchives(runtime.find)) as archives:
        _state(latest, runtime, archives)
    session = partial(questions.session, latest)
    operation = query.operation
    return Grid(
        asked,
        session,
        runtime.clock.now,
        questions.fetch,
        columns,
        _caution(latest),
        title=" ".join([latest.provider.name, *filter(None, [operation.name])]),
        period=operation.period,
        series=series_fields(operation),
    )


def _columns(request: FetchRequest, query: Query) -> dict[str, FieldKind]:
    """Return the columns that the items of a request have by declaration, with their kinds."""
    stamps = (name for name in ENVELOPE_FIELDS if name != EVIDENCE or request.evidence != PROVED)
    fields = query.operation.fields
    wanted = {field.name: field.kind for field in fields if not request.fields or field.name in request.fields}
    return {**dict.fromkeys(stamps, "text"), **wanted}


def _caution(request: FetchRequest) -> str:
    """Return what is wrong with a limit for an operation with a period; "" without both."""
    # Items come newest release first: after a 10-K/A that restates 2021, the first one is of 2021.
    period = candidate_operations(request.provider, request.options)[0].period
    if not period or request.limit >= answers.ALL:
        return ""
    return (
        f"a limit keeps what was released last, which after an amendment is an old {period}: newest=N keeps the newest "
        "ones of each series"
    )


def _name_subject(
    error: UsageError | ConfigError, subject: Mapping[str, object], questions: Questions
) -> UsageError | ConfigError:
    """Return the error, which says about whom nothing can be asked, and how to ask about several."""
    from pit_fetch.courtesy.panels import over_list

    about = ", ".join(f"{name}={truncate(str(value))}" for name, value in subject.items())
    asked = over_list(error.gap.reason, questions.options, questions.runtime.find(questions.source))
    if error.gap.type != GapType.CONFIG or not (about or asked):
        return error
    reason = f"{about}: {error.gap.reason}" if about else error.gap.reason
    fix = f". To ask about each of them: --over {asked}" if asked and "--over" not in reason else ""
    return UsageError(Code.USAGE, text=f"{reason.rstrip('.')}{fix}" if fix else reason)


def _state(request: FetchRequest, runtime: Runtime, archives: OpenArchives) -> Sequence[object]:
    """Return what identifies the state of the archive, or of the saved reply, that answers.

    Raise ConfigError, InputError or UsageError if what answers cannot be read, or not once for each cell.
    """
    if request.input_file == "-":
        raise UsageError(
            Code.USAGE, text="a panel reads a saved reply for each cell: put it into a file, and name that"
        )
    if request.input_file:
        return (hashlib.sha256(read_file(runtime.path(request.input_file), request.timeout)).hexdigest(),)
    if request.offline:
        return _read_archive(request, runtime, archives, ends)
    path = archive_of(request, runtime)
    return (os.path.realpath(runtime.path(path)),) if path else ()  # each cell records, so its content says nothing


def _read_archive(
    request: FetchRequest, runtime: Runtime, archives: OpenArchives, read: Callable[[sqlite3.Connection], T]
) -> T:
    """Return what is read of the archive that alone answers. Raise ConfigError."""
    path = archive_of(request, runtime)
    if not path:
        raise ConfigError(Code.OFFLINE_WITHOUT_ARCHIVE)
    try:
        with translating(), schema.checking(archives.check_unchanged):
            return read(archives.open_archive(runtime.path(path)).connection)
    except ArchiveError as error:
        raise ConfigError(Code.ARCHIVE_UNUSABLE, problem=error.problem) from error
