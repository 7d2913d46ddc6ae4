"""What a server of the tests answers with, as the documents of a recording."""

from __future__ import annotations

from collections.abc import Iterable

from pit_fetch.testing import Document, HttpRequest
from pit_fetch.testing.server import App


def recorded(app: App, paths: Iterable[str], agent: str = "") -> dict[str, Document]:
    """Return the answers to requests for ``paths`` by their path, those with an error as they are."""
    answers = {path: app(HttpRequest("GET", f"https://host{path}", headers={"User-Agent": agent})) for path in paths}
    return {path: Document(made.body, status=made.status, headers=made.headers) for path, made in answers.items()}
