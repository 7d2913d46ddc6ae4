"""Whether a recorded request asked for all that a question asks for, so that its records answer it. Pure.

Records of requests that shape them alike (:func:`shaping`) belong together: the filters of a question are applied to
them again. :func:`unasked` says by which options a question asks for more than a request did, and :class:`TimeSpan` for
which time a request did.

>>> from pit_fetch.provider import Option
>>> tickers = Option("tickers", "", kind="list", affects_records=False, covered_by="superset")
>>> asks_no_less(tickers, ("AAPL", "MSFT"), ("msft",)), asks_no_less(tickers, ("AAPL",), ("AAPL", "MSFT"))
(True, False)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any, NamedTuple

from pit_fetch.provider import Option, Query
from pit_fetch.request.operations import OPTION, compares_publication
from pit_fetch.request.values import flag_of, format_value

# Before everything.
EVER = datetime.min.replace(tzinfo=UTC)
# A day ends so long before the next one begins: windows of days that follow each other leave no hole.
_INSTANT = timedelta(microseconds=1)


def shaping(query: Query, options: Iterable[Option]) -> Mapping[str, str]:
    """Return the values that shape the records of a request, as one text each, whatever the order of a list."""
    values = {option.name: (option, query.options[option.name]) for option in options}
    return {
        name: format_value(_sorted_value(option, value))
        for name, (option, value) in values.items()
        if option.affects_records and name != OPTION and value not in (None, False, option.default)
    }


def unasked(request: Query, question: Query, options: Iterable[Option]) -> Iterator[str]:
    """Yield the flags of the options by which ``question`` asks for something that ``request`` did not ask for.

    Both are of one operation. Without any, the records of the request hold all that is wanted at the instants that its
    :class:`TimeSpan` covers. All filters of the question are applied to them again.
    """
    for option in options:
        if not asks_no_less(option, request.options[option.name], question.options[option.name]):
            yield flag_of(option.name)
    if not compares_publication(question.operation):
        if request.since is not None and (question.since is None or question.since < request.since):
            yield flag_of("date_from")
        if request.until is not None and (question.until is None or question.until > request.until):
            yield flag_of("date_to")


def asks_no_less(option: Option, request: Any, question: Any) -> bool:
    """Return whether a request with the value ``request`` has every record that one with ``question`` would have."""
    if option.affects_records:
        return bool(_sorted_value(option, request) == _sorted_value(option, question))
    match option.covered_by:
        case "evidence":
            return bool(request) or not question
        case "superset":
            return request is None or (question is not None and _holds(_value_set(request), _value_set(question)))
    return True


def terms(query: Query, options: Iterable[Option]) -> Mapping[str, frozenset[str] | None]:
    """Return the values to which a request is narrowed, by option, without those that it excludes; None: to none.

    A request :func:`asks_no_less` than a question only if, of each option, it is narrowed to nothing, it excludes
    values alone, or it shares one of the values of the question.
    """
    values = {
        option.name: query.options[option.name]
        for option in options
        if not option.affects_records and option.covered_by == "superset"
    }
    sets = {name: None if value is None else _value_set(value) for name, value in values.items()}
    return {name: None if known is None else known - _excluded(known) for name, known in sets.items()}


class TimeSpan(NamedTuple):
    """The time that a request covers: what became public from ``since`` to ``until``."""

    since: datetime
    until: datetime

    @property
    def has_no_beginning(self) -> bool:
        """Whether it has no beginning: it is all that became public by its end."""
        return self.since == EVER


# Of snapshots one is enough, however old it is.
_ALWAYS = TimeSpan(EVER, datetime.max.replace(tzinfo=UTC))


def time_asked(query: Query, instant: datetime | None = None) -> TimeSpan:
    """Return for which time a request asked, or a question asks as of ``instant``."""
    since = (
        (query.operation.archiving.earliest(query) or query.since) if compares_publication(query.operation) else None
    )
    until = query.horizon if instant is None else min(query.horizon, instant)
    return TimeSpan(since or EVER, until)


def covered_until(
    requests: Iterable[tuple[Query, datetime]], question: Query, instant: datetime, options: Sequence[Option]
) -> datetime | None:
    """Return until when requests cover the question as of ``instant``; None if not even the beginning of its time.

    Each request comes with the instant at which its reply was received.
    """
    wanted, covered = time_asked(question, instant), Coverage(question, options)
    for request, seen in requests:
        covered.add(request, seen)
        if covered.until(wanted) == wanted.until:
            break
    return covered.until(wanted)


class Coverage:
    """The time for which requests ask all that a question asks for. Each request is compared with the question once."""

    def __init__(self, question: Query, options: Sequence[Option]) -> None:
        self._is_snapshot, self._options = question.operation.dating.by != "record", options
        self._parts: list[tuple[Query, list[TimeSpan]]] = [(single, []) for single in _single(question, options)]

    def add(self, request: Query, seen: datetime) -> None:
        """Add a request, whose reply was received at ``seen``."""
        span = _ALWAYS if self._is_snapshot else time_asked(request, seen)
        for single, spans in self._parts:
            if span.since <= span.until and not any(unasked(request, single, self._options)):
                spans[:] = _joined([*spans, span])

    def until(self, wanted: TimeSpan) -> datetime | None:
        """Return until when the wanted time is covered; None if not even its beginning is."""
        ends = [covered_without_hole(spans, wanted) for _, spans in self._parts]
        known = [end for end in ends if end is not None]
        return min(known) if len(known) == len(ends) else None


def _single(question: Query, options: Iterable[Option]) -> Iterator[Query]:
    """Yield the questions for one value each that the question for several is: records have any of them."""
    choices: dict[str, Sequence[tuple[str, ...]]] = {}
    for option in options:
        value = question.options[option.name]
        if not option.affects_records and option.covered_by == "superset" and isinstance(value, tuple) and value:
            excluded = tuple(part for part in value if part.startswith("-"))
            choices[option.name] = [(part, *excluded) for part in value if part not in excluded] or [excluded]
    for values in product(*choices.values()):
        yield question._replace(options={**question.options, **dict(zip(choices, values, strict=True))})


def covered_without_hole(recorded: Iterable[TimeSpan], wanted: TimeSpan) -> datetime | None:
    """Return until when the requests cover the wanted time without a hole; None if not even its beginning."""
    if wanted.until < wanted.since:
        return wanted.until
    until: datetime | None = None
    for part in sorted(recorded):
        following = wanted.since if until is None else until + _INSTANT
        if part.since <= following <= part.until:
            until = min(part.until, wanted.until)
    return until


def _joined(spans: Iterable[TimeSpan]) -> Iterator[TimeSpan]:
    """Yield spans, in order, those as one between which there is no hole."""
    joined: TimeSpan | None = None
    for span in sorted(spans):
        if joined is None:
            joined = span
        elif span.since <= joined.until or span.since - _INSTANT <= joined.until:
            joined = joined._replace(until=max(joined.until, span.until))
        else:
            yield joined
            joined = span
    if joined is not None:
        yield joined


def _holds(request: frozenset[str], question: frozenset[str]) -> bool:
    if not request or not question:  # such a list asks for nothing
        return not question
    excluded, further = _excluded(request), _excluded(question)
    included, wanted = request - excluded, question - further
    return excluded <= further and (not included or (bool(wanted) and wanted <= included))


def _excluded(values: frozenset[str]) -> frozenset[str]:
    return frozenset(value for value in values if value.startswith("-"))


def _value_set(value: Any) -> frozenset[str]:
    parts = value if isinstance(value, (tuple, list)) else (value,)
    return frozenset(str(part).casefold() for part in parts)


def _sorted_value(option: Option, value: Any) -> Any:
    """Return one value for all spellings of it."""
    if not isinstance(value, (tuple, list)):
        return value
    return tuple(sorted(_value_set(value) if option.kind == "list" else set(value)))
