"""The replies that the requests of a capture share: five concepts of one company need the same documents.

Requests that are asked together count as begun at one instant, so each reply was received during all of them. One that
was received before a request began would show nothing of its time, and is asked for again.
"""

from __future__ import annotations

import threading
from datetime import datetime
from typing import NamedTuple

from pit_fetch.transport import MAX_BODY_BYTES, HttpReply, HttpRequest, Transport, TransportError, identity

# How many bytes are kept for the others: of more, the oldest reply is asked for again.
_MOST = 2 * MAX_BODY_BYTES


class Documents:
    """The replies to so many requests that are asked together. Each of them has a :class:`View` of its own.

    began  when all of them began
    """

    def __init__(self, number: int, began: datetime) -> None:
        self.began, self._most = began, _MOST if number > 1 else 0
        self._changed = threading.Condition()
        self._replies: dict[object, HttpReply] = {}
        self._under_way: set[object] = set()

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
            if request.method == "GET" and reply.status == 200 and reply.received_at >= self.began:
                self._keep(key, reply)
            return reply
        finally:
            with self._changed:
                self._under_way.discard(key)
                self._changed.notify_all()

    def _keep(self, key: object, reply: HttpReply) -> None:
        with self._changed:
            self._replies[key] = reply
            while sum(len(kept.body) for kept in self._replies.values()) > self._most:
                del self._replies[next(iter(self._replies))]


class View(NamedTuple):
    """The transport of one request of several. What it asks for twice, it means to ask for again."""

    documents: Documents
    inner: Transport
    asked: set[object]

    def send(self, request: HttpRequest) -> HttpReply:
        key = identity(request)
        is_anew = key in self.asked
        self.asked.add(key)
        return self.documents.send(request, self.inner, is_anew=is_anew)
