"""What did this source say, as of this instant?

>>> import pit_fetch
>>> envelope = pit_fetch.fetch("bz-news-api", pit="2024-02-15T16:00:00-05:00", tickers=["AAPL"])
"""

# Nothing is imported here: with -m, Python still searches the working directory for modules (see __main__.py).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

    from pit_fetch.envelope import Envelope

__version__ = "0.1.0"
__all__ = ["Envelope", "__version__", "fetch"]


def fetch(source: str, pit: "str | datetime | None" = None, **options: object) -> "Envelope":
    """The gated envelope of one fetch: a dict of ``data`` and ``gaps``, which are also its attributes.

    source   a provider's name or alias
    pit      ISO 8601 with offset, or an aware datetime; None is open mode
    options  the command line's options with underscores (``limit=5``, ``date_from="2024-02-01"``) and
             the provider's own; an option that takes several values accepts any iterable of strings

    Items carry ``available_at`` as ISO 8601 in America/New_York. A missing key, an unusable input
    file and a failing provider become gaps, as on the command line. Raises
    :class:`pit_fetch.errors.UsageError` (a ValueError) for a request that is refused.
    """
    import shlex

    from pit_fetch.engine import run
    from pit_fetch.errors import UsageError
    from pit_fetch.log import Log
    from pit_fetch.request import of_values
    from pit_fetch.world import real_world

    if not isinstance(source, str):
        raise UsageError("usage", text=f"source is the name of a provider, not a value of type {type(source).__name__}")
    world = real_world()
    request = of_values({"pit": pit, **options}, world.find(source), world.environ)
    return run(request, world, Log(), shlex.split(request.canonical)).envelope


def __getattr__(name: str) -> "Any":
    if name == "Envelope":
        from pit_fetch.envelope import Envelope

        return Envelope
    raise AttributeError(name)
