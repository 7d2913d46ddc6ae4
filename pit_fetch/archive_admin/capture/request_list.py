"""Read a list of requests to capture, and plan each of them. TOML, a table for each request, or for many (``over``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pit_fetch.archive_admin.capture.run_log import without_pit
from pit_fetch.errors import ConfigError, PitFetchError, UsageError
from pit_fetch.gaps import Code
from pit_fetch.provider import Query
from pit_fetch.request.fetch_request import UNLIMITED, FetchRequest, from_values
from pit_fetch.request.over import each, from_file, listed
from pit_fetch.request.query import build_query
from pit_fetch.request.values import flag_of, format_value
from pit_fetch.runtime import Runtime
from pit_fetch.support.toml import NotToml, parse_toml
from pit_fetch.support.wording import truncate

# The common options that a request of the list may have. The others determine as of when, or how an answer is printed.
OPTIONS = ("date_from", "date_to", "limit", "max_pages", "timeout")
# A request may have to wait for its turn, page after page.
SECONDS = 600
_EMPTY = "may_be_empty"


class CaptureRequest(NamedTuple):
    """One request of a list, as it is written there. ``may_be_empty``: that it brings nothing is no failure."""

    name: str
    source: str
    options: Mapping[str, object]
    may_be_empty: bool = False


class PlannedFetch(NamedTuple):
    """The fetch of a request that is ``wanted``; ``note`` says what a later question has to know of it, or ""."""

    wanted: CaptureRequest
    request: FetchRequest
    query: Query
    note: str

    @property
    def text(self) -> str:
        """The request in its canonical form, the same whenever it is asked."""
        return without_pit(self.request.canonical)


def parse(text: str, runtime: Runtime) -> list[PlannedFetch]:
    """Return the fetches of a capture file. Raise UsageError, which names the request that cannot be used.

    Files that it names are read from ``runtime.folder``.
    """
    try:
        table = parse_toml(text)
    except NotToml as error:
        raise UsageError(Code.USAGE, text=f"it is not TOML: {error}") from None
    unknown = [name for name in table if name != "request"]
    if unknown or not isinstance(table.get("request"), list) or not table["request"]:
        problem = f"it has {truncate(unknown[0])}, which means nothing there" if unknown else "it has no requests"
        raise UsageError(Code.USAGE, text=f'{problem}: write [[request]], and source = "NAME" below it')
    return fetches_of(table["request"], runtime)


def fetches_of(tables: Iterable[Any], runtime: Runtime) -> list[PlannedFetch]:
    """Return the fetches of tables, those of ``over`` one by one. Raise UsageError as :func:`parse` does."""
    now = runtime.clock.now()
    return [
        plan(request, runtime, now)
        for place, table in enumerate(tables, 1)
        for request in _requests(place, table, runtime)
    ]


def _requests(place: int, table: Any, runtime: Runtime) -> Iterator[CaptureRequest]:
    where = f"request {place}"
    if not isinstance(table, Mapping):
        raise UsageError(Code.USAGE, text=f"{where} is not a table: write [[request]]")
    options = {name: value for name, value in table.items() if value is not None}  # Python says so for not given
    source, name, may_be_empty = options.pop("source", None), options.pop("name", None), options.pop(_EMPTY, False)
    if not isinstance(source, str):
        raise UsageError(Code.USAGE, text=f'{where} has no source: write source = "NAME"')
    if name is not None and (not isinstance(name, str) or not name):
        raise UsageError(Code.USAGE, text=f'{where} has a name that is not a text: write name = "NAME"')
    if not isinstance(may_be_empty, bool):
        raise UsageError(Code.USAGE, text=f"{where}: {_EMPTY} is true or false")
    title = name or f"{where} ({source})"
    try:
        over = _take_over(options, runtime)
        options = {name: _listed(name, value, source, runtime) for name, value in options.items()}
    except PitFetchError as error:
        raise UsageError(Code.USAGE, text=f"{title}: {error.gap.reason}") from None
    for values in each(over):
        label = ", ".join(f"{name}={format_value(value)}" for name, value in values.items())
        yield CaptureRequest(f"{title} {label}".strip(), source, {**options, **values}, may_be_empty)


def _take_over(options: dict[str, object], runtime: Runtime) -> dict[str, list[Any]]:
    """Take ``over`` from the options, and return the values in it by name."""
    over = options.pop("over", {})
    if not isinstance(over, Mapping):
        raise UsageError(Code.USAGE, text='over is a table: write over.symbol = ["IBM", "AAPL"], or "@FILE"')
    for name in over:
        if name in options:
            raise UsageError(Code.USAGE, text=f"{truncate(name)} stands in over as well: write it once")
    return {name: listed(name, value, runtime.read_text) for name, value in over.items()}


def _listed(name: str, value: object, source: str, runtime: Runtime) -> object:
    """Return the value of an option, of a list the values in the file that ``@FILE`` names."""
    if isinstance(value, str) and value.startswith("@"):
        provider = runtime.find(source)
        if any(option.name == name and option.kind == "list" for option in provider.all_options):
            return from_file(name, value, runtime.read_text)
    return value


def plan(wanted: CaptureRequest, runtime: Runtime, now: datetime) -> PlannedFetch:
    """Return the fetch to be made ``now``. Raise UsageError, which names the request.

    The PIT is ``now``, so that a source is asked for everything that dates its records. Snapshots, which no PIT
    serves, are fetched without one. A request with a limit is as well: it is recorded as a normal fetch.
    """
    try:
        provider = runtime.find(wanted.source)
        known = {*OPTIONS, _EMPTY, *(option.name for option in provider.all_options)}
        unknown = next((name for name in wanted.options if name not in known), None)
        if unknown is not None:
            from pit_fetch.courtesy.names import hint

            text = f"{truncate(unknown)} is not an option of a capture from {provider.name}{hint(unknown, known)}"
            raise UsageError(Code.USAGE, text=text)
        values = {"timeout": SECONDS, **wanted.options}
        request, refusal = from_values(values, provider, {}), ""
        # A snapshot is refused with a PIT of now: it would be of a moment after it.
        is_dated = build_query(request, now).operation.dating.by == "record"
        if is_dated:
            dated, refusal = _dated(values, request, now)
            request = request if {"limit", "max_pages"} & values.keys() else dated
    except PitFetchError as error:
        raise UsageError(Code.USAGE, text=f"{wanted.name}: {error.gap.reason}") from None
    request = request._replace(
        capture=True,
        limit=request.limit if "limit" in wanted.options else UNLIMITED,
        max_pages=request.max_pages if "max_pages" in wanted.options else UNLIMITED,
    )
    query = build_query(request, now)
    return PlannedFetch(wanted, request, query, " ".join(_notes(request, query, refusal)))


def _dated(values: Mapping[str, object], undated: FetchRequest, now: datetime) -> tuple[FetchRequest, str]:
    """Return the request as of ``now``; if that is refused, the request without a PIT, and why."""
    request = from_values({**values, "pit": now}, undated.provider, {})
    try:
        build_query(request, now)
    except ConfigError as error:
        return undated, error.gap.reason
    return request, ""


def _notes(request: FetchRequest, query: Query, refusal: str) -> Iterator[str]:
    """Yield a sentence for each way in which later questions are not answered as one may think.

    ``refusal`` is why the same request is refused with a PIT, or "".
    """
    provider = request.provider
    if UNLIMITED not in (request.limit, request.max_pages) or request.limit != request.max_pages:
        yield "With a limit, it answers for no time before the capture."
    elif query.chooses:
        options = " or ".join(query.operation.archiving.chooses_unless)
        unless = f", unless it gives {options}" if options else ""
        yield f"A fetch reads only what is wanted at its PIT: it answers for no time before the capture{unless}."
    if refusal:
        yield f"With --pit the same question is refused: {refusal}"
    same = [
        flag_of(option.name)
        for option in provider.all_options
        if option.affects_records
        and (option.kind == "list" or option.repeatable)
        and len(query.options[option.name] or ()) > 1
    ]
    if same:
        yield (
            f"It answers only questions with the same {' and '.join(same)}: for others, make a request of each of them."
        )
    own = query.operation.archiving.note(query)
    if own:
        yield own
