"""What an author's own server is written in: a request, and an answer, as a tuple or as a Response."""

from __future__ import annotations

from collections.abc import Mapping

from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest

__all__ = ["Answer", "HttpRequest", "Response", "ask_responses"]

# Status, headers and body.
Answer = tuple[int, Mapping[str, str], bytes]


def response_of(answer: Answer | Response) -> Response:
    if isinstance(answer, Response):
        return answer
    status, headers, body = answer
    return Response(body, status, headers)


def ask_responses(request: HttpRequest) -> Answer:
    """The answer of the active ``responses`` mock, for use inside ``serve``.

    >>> with responses.RequestsMock() as mock:
    ...     mock.get("https://api.example.com/items", body=reply)
    ...     return ask_responses(request)
    """
    import requests

    if "responses" not in requests.adapters.HTTPAdapter.send.__module__:
        raise RuntimeError("no responses mock is active: call ask_responses inside `with responses.RequestsMock()`")
    response = requests.request(
        request.method,
        request.url,
        params=dict(request.query),
        headers=dict(request.sent_headers),
        data=request.body,
        timeout=request.timeout,
    )
    return response.status_code, dict(response.headers), response.content
