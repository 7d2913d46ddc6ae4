"""How many calls a capture makes, and how long its sources' rates make it take: known before anything is asked. Pure.

>>> from pit_fetch.provider import Host, Rate
>>> host = Host("Example", "https://api.example.com", "EXAMPLE_URL", Rate(5, 60), free_calls=25)
>>> plan = source_plan("example", host, [1] * 43, {})
>>> print(plan.in_words)
example: 43 requests, at least 43 calls, which take 8 min or more; a free key has 25 calls a day: 2 days, with --missing
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

from pit_fetch.archive_admin.capture.request_list import SECONDS
from pit_fetch.net.ratelimit import DAY, rate_of, variable
from pit_fetch.provider import Host, Provider
from pit_fetch.support.wording import counted

_UNITS = (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172_800), ("days", 86_400, float("inf")))


class SourcePlan(NamedTuple):
    """What a capture asks of a source.

    calls    the HTTP requests: as many as each request took in the last run, and one for any other
    seconds  how long the rate limit makes them take, at least
    a_day    the calls that the key has in a day, if that is what it has; 0 if that is not known
    is_free  a free key has that many, and no other limit was set
    """

    source: str
    requests: int
    calls: int
    seconds: float
    a_day: int = 0
    is_free: bool = False

    @property
    def days(self) -> int:
        """On how many days the capture has to run; 1 if no number of calls a day is known."""
        return ceil(self.calls / self.a_day) if self.a_day else 1

    @property
    def in_words(self) -> str:
        """What the plan of a capture says, on one line."""
        return f"{self.calls_in_words}, with --missing" if self.days > 1 else self.calls_in_words

    @property
    def calls_in_words(self) -> str:
        """How many calls there are, and how long they take, on one line."""
        text = f"{self.source}: {counted(self.requests, 'request')}, at least {counted(self.calls, 'call')}"
        if self.seconds >= 1:
            text += f", which take {duration(self.seconds)} or more"
        if self.days > 1:
            whose = "a free key has" if self.is_free else "its rate allows"
            text += f"; {whose} {self.a_day:,} calls a day: {self.days:,} days"
        return text


def plans(due: Iterable[tuple[Provider, int]], environ: Mapping[str, str]) -> tuple[SourcePlan, ...]:
    """Return a plan for each source of requests that are due, each with its number of calls. Raise ConfigError."""
    calls: dict[str, list[int]] = {}
    hosts: dict[str, Host | None] = {}
    for provider, count in due:
        calls.setdefault(provider.name, []).append(count)
        hosts[provider.name] = provider.hosts[0] if provider.hosts else None
    return tuple(source_plan(source, hosts[source], counts, environ) for source, counts in calls.items())


def source_plan(source: str, host: Host | None, calls: Sequence[int], environ: Mapping[str, str]) -> SourcePlan:
    """Return the plan of requests that make so many calls each. Raise ConfigError for a malformed rate."""
    plan = SourcePlan(source, len(calls), sum(calls), 0)
    rate = None if host is None else rate_of(host, environ)
    if host is None or rate is None:
        return plan
    # A rate that was set takes the place of a free key's.
    free = 0 if environ.get(variable(host), "").strip() else host.free_calls
    windows = (plan.calls - 1) // rate.calls
    if rate.seconds > SECONDS:  # no request waits that long for its turn: the next window is for another run
        return plan._replace(a_day=int(rate.calls * DAY / rate.seconds))
    return plan._replace(seconds=windows * rate.seconds, a_day=free, is_free=bool(free))


def duration(seconds: float) -> str:
    """Return a duration as people say it, rounded up: ``43 s``, ``8 min``, ``4 days``."""
    unit, size, _ = next(row for row in _UNITS if seconds < row[2])
    return f"{ceil(seconds / size):,} {unit}"
