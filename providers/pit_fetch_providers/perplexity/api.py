"""Perplexity's API: its two endpoints and their rates, its key, and its errors."""

from __future__ import annotations

from pit_fetch.errors import ConfigError
from pit_fetch.provider import Bearer, Context, Credential, Host, HttpReply, Rate, UpstreamError
from pit_fetch_providers.perplexity.request import Body
from pit_fetch_providers.shared import error_document

# Both are one host. The Search API takes 50 requests a second, the Agent API 50 a minute from a new account
# (documentation), so each is counted by itself.
SEARCH = Host(
    "Perplexity",
    "https://api.perplexity.ai",
    "PIT_FETCH_PERPLEXITY_URL",
    Rate(50, 1, "perplexity-search"),
    Bearer("key"),
)
AGENT = SEARCH._replace(name="Perplexity's Agent API", rate=Rate(50, 60, "perplexity-agent"))
KEY = Credential(
    name="key",
    variables=("PERPLEXITY_API_KEY",),
    hint="Keys come from https://console.perplexity.ai.",
)


def search(context: Context, body: Body) -> bytes:
    """Return the reply of the Search API. Raise UpstreamError and ConfigError."""
    return _checked(context.http.post(SEARCH.name, "/search", body, repeatable=True), SEARCH).body


def ask(context: Context, body: Body) -> HttpReply:
    """Return the reply of the Agent API, which costs money: it is asked for once. Raise like :func:`search`."""
    return _checked(context.http.post(AGENT.name, "/v1/agent", body), AGENT)


def _checked(reply: HttpReply, host: Host) -> HttpReply:
    if reply.status == 200:
        return reply
    if reply.status == 401:
        raise UpstreamError("credential_refused", host=host.name, variables=KEY.variables[0])
    if reply.status == 403 and _kind(reply).endswith("_not_available"):
        # Recorded of the chat endpoint since September 2026, with a valid key.
        raise ConfigError(
            "usage", text=f"{host.name} has retired this endpoint: look for a newer version of this program."
        )
    if reply.status == 404:
        raise UpstreamError("moved", host=host.name, variable=host.url_variable)
    raise UpstreamError("http_status", host=host.name, status=reply.status)


def _kind(reply: HttpReply) -> str:
    document = error_document(reply)
    error = document.get("error") if isinstance(document, dict) else None
    return str(error.get("type", "")) if isinstance(error, dict) else ""
