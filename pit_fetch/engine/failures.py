"""What becomes of an answer whose provider crashed."""

from __future__ import annotations

from pit_fetch.engine.report import CollectedRecords
from pit_fetch.gaps import Code, gap
from pit_fetch.pipeline.select import Selection
from pit_fetch.provider import Provider
from pit_fetch.request.fetch_request import FetchRequest
from pit_fetch.support.misuse import Misuse


def failed(request: FetchRequest, collected: CollectedRecords, error: BaseException) -> CollectedRecords:
    """Return ``collected`` without any record of a provider that crashed.

    Which records it had yielded by then may depend on withheld ones.
    """
    # With a PIT even what a provider asks for may come from a record that is withheld.
    hint = f"({_named(error)})" if request.pit is None else "See the audit file (PIT_FETCH_AUDIT)."
    crash = gap(Code.PLUGIN_FAILED, source=request.provider.name, hint=hint)
    return collected._replace(selection=Selection(gaps=(crash,)), failure=_where(error, request.provider))


def _named(error: BaseException) -> str:
    """Return the type of an exception, without its text, which may repeat a reply; the text alone of one of ours."""
    return str(error) if isinstance(error, Misuse) else type(error).__name__


def _where(error: BaseException, provider: Provider) -> str:
    """Return what an exception is, and the last line of the provider's own package that led to it, or the last line."""
    from traceback import walk_tb

    package = provider.fetch.__module__.partition(".")[0]
    every = list(walk_tb(error.__traceback__))
    own = [place for place in every if str(place[0].f_globals.get("__name__")).partition(".")[0] == package]
    for frame, line in (own or every)[-1:]:
        return f"{_named(error)} at {frame.f_code.co_filename}:{line}"
    return _named(error)
