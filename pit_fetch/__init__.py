"""Fetch what a source had published as of an instant.

>>> import pit_fetch
>>> envelope = pit_fetch.fetch("bz-news-api", pit="2024-02-15T16:00:00-05:00", tickers=["AAPL"])
"""

# Nothing is imported here: with -m, Python still searches the working directory for modules (see __main__.py).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from typing import Any, Unpack

    from pit_fetch.api import Envelope
    from pit_fetch.errors import TruncatedWarning
    from pit_fetch.request.keywords import Keywords
    from pit_fetch.support.version import __version__

__all__ = ["Envelope", "TruncatedWarning", "__version__", "diff", "explain", "fetch", "sources"]


def fetch(
    source: str,
    pit: "str | datetime | None" = None,
    *,
    on_gap: str = "raise",
    options: "Mapping[str, object] | None" = None,
    **keywords: "Unpack[Keywords]",
) -> "Envelope":
    """Return the gated envelope of one fetch: a dict of ``data`` and ``gaps``, which are also its attributes.

    source   a provider's name or alias
    pit      ISO 8601 with offset or a zone in brackets, or an aware datetime; None is open mode
    on_gap   "raise": a fetch that failed raises; "keep": its envelope reports it in a gap, as on the command line
    keywords  the command line's options with underscores (``limit=5``, ``date_from="2024-02-01"``) and those of the
             bundled sources; an option that takes several values accepts any iterable of strings
    options  further ones by name, such as those of a plugin

    Without ``limit``, here or in the settings, there are at most 50 items, and an answer that was cut warns with
    :class:`TruncatedWarning`.
    ``limit=None`` asks for all of them, however many requests that takes. :attr:`Envelope.is_complete` says whether
    anything was cut or failed.

    Items carry ``available_at`` as ISO 8601 in America/New_York. What an answer cannot show, and where it was cut,
    remain gaps. Raises :class:`pit_fetch.errors.UsageError` (a ValueError) for a request that is refused, and
    :class:`pit_fetch.errors.GapError`, whose ``envelope`` contains what was fetched, for a missing key, an unusable
    file, a failing provider.
    """
    from pit_fetch import api

    wanted = {"pit": pit, **(options or {}), **keywords}
    envelope = api.fetch(source, wanted, on_gap)
    api.warn_if_cut(envelope)
    return envelope


def diff(
    source: str, pits: "tuple[str | datetime, str | datetime]", *, on_gap: str = "raise", **options: object
) -> "Envelope":
    """Return what became public between two instants, what changed, and what disappeared.

    Each item has a ``change``: "new", "changed" (``before`` contains the earlier values of the fields that differ) or
    "gone". Options and errors are those of :func:`fetch`.
    """
    from pit_fetch import api

    return api.diff(source, pits, options, on_gap)


def explain(source: str, pit: "str | datetime", *, on_gap: str = "raise", **options: object) -> "Envelope":
    """Return each record that the source sent around ``pit``, with its ``verdict``, why, and the rule that dated it.

    It is for operators: it contains what :func:`fetch` withholds, so it is refused under a ceiling and to an agent. It
    looks a day beyond the PIT, or as far as ``date_to``.
    """
    from pit_fetch import api

    return api.explain(source, {"pit": pit, **options}, on_gap)


def sources() -> "list[dict[str, Any]]":
    """Return every installed source: names, operations with their rules and fields, options, and which keys are set."""
    from pit_fetch import api

    return api.sources()


def __getattr__(name: str) -> "Any":
    if name == "Envelope":
        from pit_fetch.api import Envelope

        return Envelope
    if name == "TruncatedWarning":
        from pit_fetch.errors import TruncatedWarning

        return TruncatedWarning
    if name == "__version__":
        from pit_fetch.support.version import __version__

        return __version__
    raise AttributeError(name)
