"""What a leak is made of, and what several of them do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

from pit_fetch.errors import PitFetchError, UpstreamError
from pit_fetch.provider import Page, Record
from tests.laws.plant import Make

# The laws of the sources that together see most of what a pipeline can do wrong.
ANY = (
    "sample: non-interference",
    "bz-news-api: non-interference",
    "alphavantage: non-interference",
    "sec_full_text: non-interference",
)


class Mutant(NamedTuple):
    """One leak.

    target  "module:name" or "module:Class.name" of what it replaces
    make    what stands there -> what leaks in its place
    laws    those that ought to see it first
    """

    name: str
    target: str
    make: Make
    laws: tuple[str, ...]


def in_module(module: str) -> Callable[[str, str, Make, tuple[str, ...]], Mutant]:
    """Return a maker of the leaks of one module, which names their targets without it."""
    return lambda name, target, make, laws: Mutant(name, f"{module}:{target}", make, laws)


def nothing(real: Any) -> Callable[..., None]:
    """A check that finds nothing."""
    return lambda *given, **named: None


def first(real: Any) -> Callable[[Any], Any]:
    """A rule that changes nothing."""
    return lambda value: value


def overlooking(code: str) -> Make:
    """A check that does not refuse what its gap ``code`` is for."""

    def make(real: Any) -> Callable[..., Any]:
        def check(*given: Any, **named: Any) -> Any:
            try:
                return real(*given, **named)
            except PitFetchError as error:
                if error.gap.code != code:
                    raise
            return None

        return check

    return make


def kept(stream: Iterable[Any], keep: Callable[[Record], bool]) -> Iterator[Any]:
    """A source's stream with the records that ``keep`` is true of, alone and in pages."""
    for element in stream:
        if isinstance(element, Page):
            yield element._replace(records=tuple(filter(keep, element.records)))
        elif not isinstance(element, Record) or keep(element):
            yield element


def echoing(*codes: str) -> Make:
    """Return the leak of an error, with one of ``codes`` if any are given, that repeats the body of the reply."""

    def make(real: Any) -> Callable[..., Any]:
        def check(reply: Any, *given: Any) -> Any:
            try:
                return real(reply, *given)
            except UpstreamError as error:
                if codes and error.gap.code not in codes:
                    raise
                text = reply.body.decode("utf-8", "replace")
                raise UpstreamError(error.gap.code, **{**error.gap.params, "host": text}) from None

        return check

    return make


def readable_alone(real: Any) -> Callable[..., Any]:
    """A reader that fails as a whole where one row cannot be read."""

    def read(*given: Any) -> Any:
        records = list(real(*given))
        return records if all(record.id for record in records) else fails()

    return read


def fails(problem: str = "a row cannot be read") -> NoReturn:
    """What a reader does that cannot leave out a row."""
    raise UpstreamError("malformed", problem=problem)
