"""Which operation a request asks for, whether it makes sense, and what it can show at a PIT. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Gap, gap
from pit_fetch.provider import Operation, Provider, Query, Record, Window
from pit_fetch.support import suggest
from pit_fetch.times import NEW_YORK, end_of_day, parse_date, parse_rfc3339

if TYPE_CHECKING:
    from pit_fetch.request.fetch_request import FetchRequest

# The option that names the operation, where a provider has several.
OPTION = "op"

# How the records of an operation are dated, in words.
DATINGS: Mapping[str, str] = {
    "record": "Dated record by record: --pit serves what was public",
    "receipt": "Snapshots: public when fetched, so nothing is served for a PIT in the past",
    "never": "Unverifiable: nothing is served with --pit",
}


# As many operations as a reason can list.
_FEW = 8
# The smallest unit of time: a record at the very end of a day belongs to that day.
_INSTANT = timedelta(microseconds=1)


def chosen(provider: Provider, query: Query) -> Query:
    """The query with the operation it names, provided that it is a valid request. Raises ConfigError.

    A reply read from a file needs no parameters. An option that the operation does not know is
    refused: silently ignoring a filter would answer a different question.
    """
    operation = _named(provider, query.options[OPTION]) if len(provider.operations) > 1 else provider.operations[0]
    name = operation.name or provider.name
    if operation.window is None and not (query.since is None and query.until is None):
        _refuse(f"{name} has no dates to choose from: leave out --date-from and --date-to.")
    query = operation.normalize_query(query._replace(operation=operation))
    options = query.options
    given = {name for name, value in options.items() if value is not None and value is not False} - {OPTION}
    missing = [needed for needed in operation.needs if needed not in given]
    if missing and not query.offline:
        _refuse(f"{name} needs {', '.join(missing)}: {f'{operation.name} {missing[0]}=...'.strip()}")
    defaults = {one.name for one in provider.options if options[one.name] == one.default}
    surplus = sorted(given - defaults - {*operation.needs, *operation.takes})
    if surplus and (operation.needs or operation.takes or len(provider.operations) > 1):
        _refuse(f"{name} does not take {', '.join(surplus)}; see --help.")
    return query


def named(provider: Provider, options: Mapping[str, Any]) -> Sequence[Operation]:
    """The operation that ``options`` name, if there is one; all of them otherwise."""
    return [one for one in provider.operations if one.name == options.get(OPTION)] or provider.operations


def understood(request: FetchRequest, started: datetime) -> Query:
    """What ``request`` asks its provider, when it is asked at ``started``. Raises ConfigError."""
    now = request.pit or started
    query = Query(
        now=now,
        started=started,
        pit=request.pit,
        since=request.since,
        until=request.until,
        horizon=now,
        limit=request.limit,
        options=request.options,
        offline=request.input_file is not None,
    )
    query = chosen(request.provider, query)
    return query._replace(horizon=_horizon(request, query))


def _horizon(request: FetchRequest, query: Query) -> datetime:
    """The instant after which no record can be wanted.

    A stage that computes across records needs all of them, and so does the choice among versions.

    --date-to narrows it only where it compares what the records are ordered by, or where the provider
    applies it: what was published late may carry an early date of another kind.
    """
    if query.operation.versions or request.provider.derive(query):
        return query.now
    until = request.until if is_of_publication(query.operation) else None
    after = request.after.instant if request.after else None
    return min(bound for bound in (query.now, until, after) if bound is not None)


def is_of_publication(operation: Operation) -> bool:
    """Whether --date-from and --date-to compare when a record was public, or what a provider applies itself."""
    return operation.window in ("", "available_on", Window.BY_SELECT, Window.BY_ASKING)


def _named(provider: Provider, name: str | None) -> Operation:
    if name is None:
        _refuse(f"{provider.name} needs an operation, such as {provider.operations[0].name}; --help lists them.")
    for operation in provider.operations:
        if operation.name == name:
            return operation
    names = [one.name for one in provider.operations]
    aliases = next((one.synonyms for one in provider.options if one.name == OPTION), {})
    close = suggest.operation(str(name), names) or suggest.operation(str(name), aliases)
    listed = f"it has {', '.join(names)}; see --help." if len(names) <= _FEW else "--help lists them."
    hint = f"did you mean {close}?" if close else listed
    raise ConfigError("usage", text=f"{suggest.shown(str(name))} is not an operation of {provider.name}: {hint}")


def _refuse(text: str) -> None:
    raise ConfigError("usage", text=text)


def is_out_of_reach(query: Query) -> bool:
    """Whether nothing could be served at the PIT, no matter what the source says: asking would be a waste."""
    dating = query.operation.dating
    return query.pit is not None and (dating == "never" or (dating == "receipt" and query.pit < query.started))


def caveats(query: Query, source: str) -> Iterator[Gap]:
    """What the request cannot show; derived from the request alone."""
    operation = query.operation
    name, why = operation.name or source, f" ({operation.why})" if operation.why else ""
    if query.pit is not None and operation.dating == "never":
        yield gap("never_dated", operation=name, why=why)
    elif query.pit is not None and operation.dating == "receipt":
        yield gap("snapshot", operation=name, why=why)
    for text in operation.caveats(query):
        yield gap("caveat", text=text)


def in_window(query: Query, record: Record) -> bool:
    """Whether the record lies within --date-from and --date-to, by the field that its operation declares.

    A record without a readable date there is kept: a filter must not hide what it cannot judge.
    """
    moment = _moment(query.operation, record)
    if moment is None:
        return True
    return (query.since is None or moment >= query.since) and (query.until is None or moment <= query.until)


def _moment(operation: Operation, record: Record) -> datetime | None:
    if operation.window in (None, Window.BY_SELECT, Window.BY_ASKING):
        return None
    if operation.window in ("", "available_on"):
        public = record.available_at
        return public - _INSTANT if public is not None and operation.window else public
    text = record.payload.get(operation.window)
    moment = parse_rfc3339(text)
    if moment is not None or not isinstance(text, str):
        return moment
    # A time without an offset is not an instant, but it has a day.
    day = parse_date(text[:10]) if text[10:11] in ("", " ", "T") else None
    midnight = None if day is None else end_of_day(day, NEW_YORK)
    return None if midnight is None else midnight - _INSTANT


def by_dating(provider: Provider) -> Iterator[tuple[str, list[Operation]]]:
    """The operations, grouped under their titles in --help."""
    for dating, title in DATINGS.items():
        rows = [one for one in provider.operations if one.dating == dating]
        if rows:
            yield title, rows


def help_text(provider: Provider) -> str:
    """The operations with their rules, as plain text for --help; "" if there is no choice."""
    if len(provider.operations) == 1:
        return ""
    width = max(len(one.name) for one in provider.operations)
    lines = []
    for title, rows in by_dating(provider):
        lines.append(f"{title}:")
        for one in rows:
            needs = f" (needs {', '.join(one.needs)})" if one.needs else ""
            lines.append(f"  {one.name:<{width}}  {one.rule if one.dating == 'record' else ''}{needs}".rstrip())
    return "\n".join(lines) + "\n"
