"""Which requests to a model's API let the model look at today's web, on the side of its provider. Pure.

An allowed host gets what the program asks of it, and a model that searches would answer a question as of then with
what is known now. The shapes are those of OpenAI, Anthropic, Google, xAI, Perplexity, Mistral, and of gateways that
take the same (OpenRouter). They are looked for whatever the host: it may be a gateway of the user's own.

>>> web_tool("api.openai.com", "/v1/responses", b'{"model": "gpt-5", "tools": [{"type": "web_search"}]}')
'web_search'
>>> web_tool("api.openai.com", "/v1/responses", b'{"model": "gpt-5", "tools": [{"type": "function"}]}')
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

# The type of a tool: OpenAI, Anthropic, xAI, Mistral. A remote MCP server reaches whatever it likes.
_TYPES = re.compile(
    r"(web_search|web_fetch)(_preview|_premium)?(_\d.*)?|x_search|live_search|browser_search|computer_use_preview"
    r"|google_(search|maps)|url_context|mcp|connector"
)
# The name of a tool in Google's form, an object of one key; compared without case and underscores.
_GOOGLE = frozenset(
    {"googlesearch", "googlesearchretrieval", "enterprisewebsearch", "urlcontext", "googlemaps", "externalapi"}
)
# Parameters of a request. What is kept at the provider (a prompt, an agent, a file of requests) has tools of its own.
_PARAMETERS = frozenset(
    {"web_search_options", "search_parameters", "mcp_servers", "agent_id", "input_file_id", "connectors"}
)
# Models that search by themselves.
_MODELS = re.compile(r"-search(-|$)|deep-research|(^|/)sonar|(^|/)compound|:online$")
_UNREADABLE = "a body that cannot be read"


def web_tool(host: str, path: str, body: bytes, content_type: str = "application/json") -> str | None:
    """Return the name of what would look at today's web in a request; None if nothing would."""
    is_perplexity = host == "perplexity.ai" or host.endswith(".perplexity.ai")
    if re.search(r"-search(-|$)|deep-research", path) or (is_perplexity and path.startswith("/search")):
        return path
    try:
        # Of a repeated key, the provider may read either value. Some read JSON whatever its type is said to be.
        document = json.loads(body, object_pairs_hook=Pairs) if body else None
    except (ValueError, RecursionError):
        return _UNREADABLE if "json" in content_type or body.lstrip()[:1] in (b"{", b"[") else None
    if is_perplexity:
        return None if not body or ("disable_search", True) in _pairs(document) else "its own search"
    return next(_found(document, ""), None)


class Pairs(list[tuple[str, Any]]):
    """The members of an object, with repeated keys."""


def _pairs(value: Any) -> list[tuple[str, Any]]:
    return value if isinstance(value, Pairs) else []


def _found(value: Any, key: str) -> Iterator[str]:
    """Yield what looks at the web in ``value``, which stands under ``key``."""
    for name, inner in _pairs(value):
        if key == "tools" and name == "type" and isinstance(inner, str) and _TYPES.fullmatch(inner):
            yield inner
        elif key == "tools" and name.replace("_", "").lower() in _GOOGLE:
            yield name
        elif key == "plugins" and name == "id" and inner == "web":
            yield "web"
        elif key != "properties" and name in _PARAMETERS and not _is_off(inner):
            yield name
        elif key != "properties" and name == "prompt" and any(part == "id" for part, _ in _pairs(inner)):
            yield "prompt.id"
        elif name == "model" and isinstance(inner, str) and _MODELS.search(inner):
            yield inner
        # What is said to a model is no tool, whatever it quotes.
        elif name not in ("content", "text", "parts", "arguments"):
            yield from _found(inner, name)
    if isinstance(value, list) and not isinstance(value, Pairs):
        for inner in value:
            yield from _found(inner, key)


def _is_off(value: Any) -> bool:
    return value is None or value is False or ("mode", "off") in _pairs(value)
