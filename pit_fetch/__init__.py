"""What did this source say, as of this instant?

>>> import pit_fetch
>>> envelope = pit_fetch.fetch("bz-news-api", pit="2024-02-15T16:00:00-05:00", tickers=["AAPL"])
"""

# Nothing is imported here: with -m, modules are still looked for in the working directory (see __main__.py).
TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Any

__version__ = "0.1.0"
__all__ = ["__version__", "fetch"]


def fetch(source: str, pit: "str | datetime | None" = None, **options: object) -> "dict[str, Any]":
    """The gated envelope of one fetch: ``{"data": [item, …], "gaps": [gap, …]}``.

    source   a provider's name or alias
    pit      ISO 8601 with offset, or an aware datetime; None is open mode
    options  the command line's options with underscores (``limit=5``, ``date_from="2024-02-01"``) and
             the provider's own; lists become comma-separated values

    Items carry ``available_at`` as ISO 8601 in America/New_York. A missing key, an unusable input
    file and a failing provider are gaps, as on the command line. Raises
    :class:`pit_fetch.errors.UsageError` (a ValueError) for a request that is refused.
    """
    import json
    import os

    from pit_fetch.engine import run
    from pit_fetch.inputs import read_stdin
    from pit_fetch.log import Log
    from pit_fetch.registry import load
    from pit_fetch.request import argv_of, parse
    from pit_fetch.world import real_world

    argv = argv_of(source, pit, options)
    request = parse(argv, load(source), os.environ, agent_budget=False)
    outcome = run(request, real_world(os.environ, lambda: read_stdin(request.timeout)), Log(), argv)
    envelope: "dict[str, Any]" = json.loads(outcome.text)
    return envelope
