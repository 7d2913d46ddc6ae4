"""Hold this machine's clock against the ``Date`` of each reply from the network.

What a snapshot shows was public at its receipt, so a clock that is behind would serve today's as of an earlier instant,
and one that is ahead would take a running bar for a finished one.

A sender writes ``Date`` when it makes a reply. A cache in front of it says in ``Age`` for how many seconds it has kept
the reply (RFC 9111, 5.1), and keeps its ``Date`` or, as Cloudflare does, writes its own. So a right clock lies between
``Date`` and ``Date`` plus ``Age``. A reply from this program's cache or an archive says nothing about now, and is not
looked at.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlsplit

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.times import parse_http_date
from pit_fetch.transport import HttpReply, HttpRequest, Transport

MOST_APART = timedelta(minutes=10)
# The oldest form of HTTP (RFC 9110, 5.6.7) names no zone. A wrong one would be refused here; it dates nothing.
_ASCTIME = r"^([A-Z][a-z]{2}) ([A-Z][a-z]{2}) {1,2}([0-9]{1,2}) ([0-9:]{8}) ([0-9]{4})$"
_OLDEST = 10**9  # seconds, some thirty years: more than any cache keeps a reply


class ClockedTransport(NamedTuple):
    """The network, ``inner``, whose replies are received no earlier than they were sent."""

    inner: Transport

    def send(self, request: HttpRequest) -> HttpReply:
        """Return the reply. Raise ConfigError if the clocks are apart, and TransportError."""
        reply = self.inner.send(request)
        return reply._replace(received_at=receipt(reply, urlsplit(request.url).netloc))


def receipt(reply: HttpReply, host: str) -> datetime:
    """Return when a reply was received: by this machine's clock, but never before the reply's ``Date``.

    Raise ConfigError if the clocks are more than ten minutes apart.
    """
    stated = reply.header("Date").strip()
    sent = parse_http_date(stated) or parse_http_date(re.sub(_ASCTIME, r"\1, \3 \2 \5 \4 GMT", stated))
    if sent is None:
        return reply.received_at
    age = reply.header("Age").strip()
    kept = timedelta(seconds=min(int(age[:10]), _OLDEST) if age.isascii() and age.isdigit() else 0)
    if sent - reply.received_at > MOST_APART:
        raise ConfigError(Code.CLOCK_BEHIND, host=host)
    if reply.received_at - sent > MOST_APART + kept:
        raise ConfigError(Code.CLOCK_AHEAD, host=host)
    return max(sent, reply.received_at)
