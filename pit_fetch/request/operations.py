"""The operation of a request: its choice, the checks of its options, and what it can show at a PIT. Pure.

>>> compares_publication(Operation()), compares_publication(Operation(window="fiscal_date"))
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from pit_fetch.errors import ConfigError, UsageError
from pit_fetch.gaps import Code, Gap, gap
from pit_fetch.provider import Caveat, Operation, Provider, Query, Record
from pit_fetch.request import audience

# The option that names the operation, where a provider has several.
OPTION = "op"

# How the records of an operation are dated, for --help.
DATINGS: Mapping[str, str] = {
    "record": "Dated record by record: --pit serves what was public",
    "receipt": "Snapshots: public when fetched, so nothing is served for a PIT in the past",
    "never": "Unverifiable: nothing is served with --pit",
}
# A caller that wants the present names an instant a little ahead of it. A PIT further ahead may be a mistake.
_AHEAD = timedelta(days=1)
# What fields are called that say of what kind an item is, and of whom.
_SERIES = ("record_type", "symbol")
# As many operations as a reason can list.
_FEW = 8


def resolve_operation(provider: Provider, query: Query) -> Query:
    """Return the query with the operation that it names. Raise ConfigError unless it is a valid request.

    A reply read from a file needs no parameters.
    """
    operation = _chosen(provider, query.options[OPTION]) if len(provider.operations) > 1 else provider.operations[0]
    name = operation.name or provider.name
    if not operation.window and not (query.since is None and query.until is None):
        _refuse(f"{name} has no dates to choose from: leave out --date-from and --date-to.")
    query = operation.normalize(query._replace(operation=operation))
    options = query.options
    present = {name for name, value in options.items() if value is not None and value is not False} - {OPTION}
    missing = [name for name in operation.needs if name not in present]
    if missing and not query.offline:
        _refuse(f"{name} needs {', '.join(missing)}: {f'{operation.name} {missing[0]}=...'.strip()}")
    # Silently ignoring a filter would answer a different question.
    further = present.difference(operation.needs, operation.takes)
    surplus = sorted(
        option.name for option in provider.options if option.name in further and options[option.name] != option.default
    )
    if surplus and (operation.needs or operation.takes or len(provider.operations) > 1):
        _refuse(f"{name} does not take {', '.join(surplus)}; see --help.")
    return query


def candidate_operations(provider: Provider, options: Mapping[str, Any]) -> Sequence[Operation]:
    """Return the operation that ``options`` name, alone; all operations if they name none."""
    name = options.get(OPTION)
    named = next((operation for operation in provider.operations if operation.name == name), None)
    return provider.operations if named is None else (named,)


def compares_publication(operation: Operation) -> bool:
    """Return whether --date-from and --date-to compare when a record was public, or are applied by the provider."""
    return operation.window in ("available_at", "available_on", "select")


def series_fields(operation: Operation) -> tuple[str, ...]:
    """Return the fields by which items belong to different series: those of one differ in their period alone."""
    return tuple(field.name for field in operation.fields if field.role == "series" or field.name in _SERIES)


def check_operation(provider: Provider, options: Mapping[str, Any]) -> None:
    """Raise UsageError if ``options`` name an operation that the provider does not have.

    A value that an option does not take is refused, whether or not the option declares its choices.
    """
    name = options.get(OPTION)
    names = [operation.name for operation in provider.operations]
    if name is None or len(names) == 1 or name in names:
        return
    from pit_fetch.courtesy.names import closest

    search_terms = {operation.name: operation.search_terms for operation in provider.operations}
    close = closest(str(name), names, search_terms)
    few = f"{', '.join(names)}; see --help."
    many = f"{', '.join(names[:3])} and {len(names) - 3} more; --help lists them."
    listed = f"it has {few if len(names) <= _FEW else many}"
    hint = f"did you mean {close}?" if close else listed
    # Without the word, which may be a key.
    raise UsageError(Code.USAGE, text=f"{provider.name} has no such operation: {hint}")


def _chosen(provider: Provider, name: str | None) -> Operation:
    if name is None:
        _refuse(f"{provider.name} needs an operation, such as {provider.operations[0].name}; --help lists them.")
    named = candidate_operations(provider, {OPTION: name})
    if len(named) > 1:
        check_operation(provider, {OPTION: name})
    return named[0]


def _refuse(text: str) -> None:
    raise ConfigError(Code.USAGE, text=text)


def serves_nothing(query: Query) -> bool:
    """Return whether no reply could be served at the PIT, so that a request would be wasted."""
    dating = query.operation.dating.by
    is_past = query.pit is not None and (dating == "never" or (dating == "receipt" and query.pit < query.started))
    return is_past and not accepts_claims(query)


def is_wanted(provider: Provider, query: Query, record: Record) -> bool:
    """Return whether a record is in the window, and the provider's own filter keeps it."""
    return query.in_window(record) and provider.select(query, record)


def wants_all(provider: Provider, query: Query) -> bool:
    """Return whether every record is wanted: there is no filter, and no window."""
    return query.since is None and query.until is None and provider.select is Provider._field_defaults["select"]


def accepts_claims(query: Query) -> bool:
    """Return whether records of the query's operation are served on a claim, if it has a PIT."""
    return query.accepts_claims and bool(query.operation.dating.claims)


def _caveats(query: Query) -> Iterator[Caveat]:
    return (Caveat(made) if isinstance(made, str) else made for made in query.operation.caveats(query))


def caveats(query: Query, source: str) -> Iterator[Gap]:
    """Yield a gap for each thing that the request cannot show, whatever is returned, and from wherever."""
    operation = query.operation
    name, why = operation.name or source, f" ({operation.dating.why})" if operation.dating.why else ""
    if query.pit is not None and accepts_claims(query):
        yield gap(Code.CLAIMED, claims=operation.dating.claims)
    elif query.pit is not None and operation.dating.by == "never":
        yield gap(Code.NEVER_DATED, operation=name, why=why)
    elif query.pit is not None and operation.dating.by == "receipt":
        yield gap(Code.SNAPSHOT, operation=name, why=why)
    elif operation.archiving.reach == "newest":
        yield gap(Code.NEWEST_ONLY, operation=name)
    for caveat in _caveats(query):
        yield gap(Code.CAVEAT, text=caveat.text)
    if query.pit is not None and query.pit - query.started > _AHEAD:
        yield gap(Code.PIT_AHEAD)


def refuse_what_is_of_today(query: Query, environ: Mapping[str, str]) -> None:
    """Raise ConfigError, under a ceiling, for a request that identifies something by a list or a name of today's.

    Whoever chooses the PIT is told by a gap. Under a ceiling the caller must not learn what was listed later.
    """
    if audience.CEILING_VARIABLE in environ:
        for caveat in _caveats(query):
            if caveat.of_today:
                raise ConfigError(Code.OF_TODAY, text=caveat.text)


# Starts a stream of an operation for a query.
Run = Callable[[Query], Iterable[Any]]


def wrap_operations(provider: Provider, around: Callable[[Run, Query], Iterable[Any]]) -> Provider:
    """Return the provider with ``around(run, query)`` in the place of what each ``fetch`` and ``parse_reply`` yields.

    ``run(query)`` is the stream that it would be.
    """

    def wrapped(operation: Operation) -> Operation:
        fetch, parse_reply = operation.fetch, operation.parse_reply
        made = operation._replace(fetch=lambda query, context: around(lambda asked: fetch(asked, context), query))
        if parse_reply is None:
            return made
        return made._replace(parse_reply=lambda body, query: around(partial(parse_reply, body), query))

    return provider._replace(operations=tuple(map(wrapped, provider.operations)))
