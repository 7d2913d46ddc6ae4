"""A server that answers no request."""

from __future__ import annotations

from threading import Event

from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest


class Silent:
    """An app. ``asked`` waits until a request hangs there, and returns whether one does."""

    def __init__(self) -> None:
        self._asked = Event()

    def __call__(self, request: HttpRequest) -> Response:
        self._asked.set()
        return Response(hang=True)

    def asked(self) -> bool:
        return self._asked.wait(20)
