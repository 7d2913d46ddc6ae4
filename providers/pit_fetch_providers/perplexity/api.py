"""Perplexity's API: its two endpoints and their rates, its key, and its errors."""

from __future__ import annotations

from pit_fetch.provider import Bearer, Context, Credential, Host, HttpReply, Rate
from pit_fetch_providers.perplexity.request import Body
from pit_fetch_providers.shared import error_document, key_refused, refuse, status_error

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
    """Return the reply of the Agent API, which costs money, so it is requested once. Raise like :func:`search`."""
    return _checked(context.http.post(AGENT.name, "/v1/agent", body), AGENT)


def _checked(reply: HttpReply, host: Host) -> HttpReply:
    if reply.status == 200:
        return reply
    if reply.status == 401:
        raise key_refused(host, KEY)
    if reply.status == 403 and _kind(reply).endswith("_not_available"):
        # The chat endpoint answers like this since September 2026, with a valid key (recorded).
        refuse(f"{host.name} has retired this endpoint: look for a newer version of this program.")
    raise status_error(reply, host)


def _kind(reply: HttpReply) -> str:
    error = error_document(reply).get("error")
    return str(error.get("type", "")) if isinstance(error, dict) else ""
