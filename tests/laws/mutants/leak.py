"""What a leak is made of, and what several of them do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, NoReturn

from pit_fetch.errors import PitFetchError, UpstreamError
from pit_fetch.formats import RenderOptions, renderer
from pit_fetch.gaps import Code
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


class LastReply:
    """A source's client that keeps the last reply."""

    def __init__(self, http: Any) -> None:
        self._http, self.reply = http, None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._http, name)

    def get(self, *given: Any, **named: Any) -> Any:
        self.reply = self._http.get(*given, **named)
        return self.reply

    def post(self, *given: Any, **named: Any) -> Any:
        self.reply = self._http.post(*given, **named)
        return self.reply


def echoing(*codes: str) -> Make:
    """Return the leak of a request to a source whose error, with one of ``codes`` if any are given, repeats the reply.

    The request is a function of a context and of what is asked for.
    """

    def make(real: Any) -> Callable[..., Any]:
        def ask(context: Any, *given: Any) -> Any:
            http = LastReply(context.http)
            try:
                found = real(context._replace(http=http), *given)
                return list(found) if isinstance(found, Iterator) else found
            except UpstreamError as error:
                if http.reply is None or (codes and error.gap.code not in codes):
                    raise
                text = http.reply.body.decode("utf-8", "replace")
                raise UpstreamError(error.gap.code, **{**error.gap.params, "host": text}) from None

        return ask

    return make


def refusing_unknown(real: Any) -> Callable[..., Any]:
    """Fail where a request to a source finds that there is no such subject."""

    def ask(context: Any, *given: Any) -> Any:
        http = LastReply(context.http)
        found = real(context._replace(http=http), *given)
        is_unknown = http.reply is not None and http.reply.status in (400, 403, 404)
        return fails("it is not known") if is_unknown and not found else found

    return ask


def retold(change: Callable[[dict[str, Any], Any], dict[str, Any] | None]) -> Make:
    """Return the leak of a report whose gaps are each as ``change`` makes it, or left out."""

    def make(real: Any) -> Callable[..., Any]:
        def report(request: Any, collected: Any) -> Any:
            result = real(request, collected)
            changed = [change(gap, collected) for gap in result.envelope.gaps]
            return rewritten(result, request, gaps=[gap for gap in changed if gap is not None])

        return report

    return make


def rewritten(result: Any, request: Any, **parts: Any) -> Any:
    """Return an answer with other ``data`` or ``gaps``."""
    result.envelope.update(parts)
    layout = RenderOptions(request.pretty, request.width)
    return result._replace(text=renderer(request.format)(result.envelope, layout))


def redated(rows: Callable[..., Iterable[Any]], change: Callable[[Any, Record], Record]) -> Make:
    """Return the leak of a reader that makes a record of each of ``rows``: as ``change`` makes it of both."""

    def make(real: Any) -> Callable[..., Any]:
        def read(*given: Any) -> Iterator[Record]:
            for row, record in zip(rows(*given), real(*given), strict=True):
                yield change(row, record) if record.id else record

        return read

    return make


def readable_alone(real: Any) -> Callable[..., Any]:
    """A reader that fails as a whole where one row cannot be read."""

    def read(*given: Any) -> Any:
        records = list(real(*given))
        return records if all(record.id for record in records) else fails()

    return read


def changing(change: Callable[[Any, Record], Record]) -> Make:
    """Return the leak of a function that makes a record of a row: as ``change`` makes it of both."""

    def make(real: Any) -> Any:
        def record(row: Any, *given: Any) -> Record:
            made: Record = real(row, *given)
            return change(row, made) if made.id else made

        return record

    return make


def without_revision(row: Any, made: Record) -> Record:
    return made._replace(revised_at=None)


def refusing_unreadable(real: Any) -> Any:
    """Fail as a whole where one row cannot be read."""

    def record(row: Any, *given: Any) -> Any:
        return real(row, *given) if row else fails()

    return record


def fails(problem: str = "a row cannot be read") -> NoReturn:
    """What a reader does that cannot leave out a row."""
    raise UpstreamError(Code.MALFORMED, problem=problem)
