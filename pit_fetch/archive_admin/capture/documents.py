"""The replies that the requests of a capture share: five concepts of one company need the same documents.

Requests that are asked together begin before the first of them is sent, so each reply was received during all of them.
One that was received before a request began would show nothing of its time, and is asked for again.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

from pit_fetch.transport import HttpReply, HttpRequest, Transport, TransportError, identity

# How long the first request waits for the others to begin: one of them may be held up.
_PATIENCE = 5.0


class Documents:
    """The replies to so many requests that are asked together. Each of them has a :class:`View` of its own."""

    def __init__(self, number: int) -> None:
        self._changed = threading.Condition()
        self._to_begin = number
        self._replies: dict[object, HttpReply] = {}
        self._under_way: set[object] = set()

    def begin(self, wait: bool = True) -> None:
        """Note that one of the requests has begun, or ended without asking, and wait for the others."""
        with self._changed:
            self._to_begin -= 1
            self._changed.notify_all()
            if wait:
                self._changed.wait_for(lambda: self._to_begin <= 0, _PATIENCE)

    def send(self, request: HttpRequest, inner: Transport, *, is_anew: bool) -> HttpReply:
        """Return the reply that another one has received or is about to, unless it is asked for anew."""
        key = identity(request)
        with self._changed:
            if not self._changed.wait_for(lambda: key not in self._under_way, request.timeout):
                raise TransportError("timeout")
            if key in self._replies and not is_anew:
                return self._replies[key]
            self._under_way.add(key)
        try:
            reply = inner.send(request)
            if request.method == "GET" and reply.status == 200:
                self._replies[key] = reply
            return reply
        finally:
            with self._changed:
                self._under_way.discard(key)
                self._changed.notify_all()


class View(NamedTuple):
    """The transport of one request of several. What it asks for twice, it means to ask for again."""

    documents: Documents
    inner: Transport
    asked: set[object]

    def send(self, request: HttpRequest) -> HttpReply:
        key = identity(request)
        if not self.asked:
            self.asked.add(key)
            self.documents.begin()
            return self.documents.send(request, self.inner, is_anew=False)
        is_anew = key in self.asked
        self.asked.add(key)
        return self.documents.send(request, self.inner, is_anew=is_anew)

    def end(self) -> None:
        if not self.asked:  # the others need not wait for it
            self.documents.begin(wait=False)
