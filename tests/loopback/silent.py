"""A server that leaves every request without an answer."""

from __future__ import annotations

from threading import Event

from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest


class Silent:
    """An app; ``asked`` waits until somebody hangs there."""

    def __init__(self) -> None:
        self._asked = Event()

    def __call__(self, request: HttpRequest) -> Response:
        self._asked.set()
        return Response(hang=True)

    def asked(self) -> bool:
        return self._asked.wait(20)
