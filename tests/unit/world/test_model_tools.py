"""Which requests to a model's API would look at today's web."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pit_fetch.world.model_tools import web_tool

OPENAI, ANTHROPIC, GOOGLE = "api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com"
GENERATE = "/v1beta/models/gemini-2.5-pro:generateContent"
ASK: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "web_search"}]}
FUNCTION = {"type": "function", "function": {"name": "web_search", "parameters": {"type": "object", "properties": {}}}}
REFUSED: list[tuple[str, str, Any]] = [
    (OPENAI, "/v1/responses", {"model": "gpt-5", "tools": [FUNCTION, {"type": "web_search"}]}),
    (OPENAI, "/v1/responses", {"model": "gpt-5", "tools": [{"type": "web_search_preview_2025_03_11"}]}),
    (OPENAI, "/v1/responses", {"model": "gpt-5", "tools": [{"type": "mcp", "server_url": "https://x.test"}]}),
    (OPENAI, "/v1/responses", {"model": "gpt-5", "prompt": {"id": "pmpt_1"}}),
    (OPENAI, "/v1/responses", {"model": "o3-deep-research", "input": "x"}),
    (OPENAI, "/v1/chat/completions", {**ASK, "web_search_options": {}}),
    (OPENAI, "/v1/chat/completions", {**ASK, "model": "gpt-4o-search-preview"}),
    (OPENAI, "/v1/batches", {"input_file_id": "file-1", "endpoint": "/v1/responses"}),
    (ANTHROPIC, "/v1/messages", {**ASK, "tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
    (ANTHROPIC, "/v1/messages", {**ASK, "tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}),
    (ANTHROPIC, "/v1/messages", {**ASK, "mcp_servers": [{"type": "url", "url": "https://x.test"}]}),
    (
        ANTHROPIC,
        "/v1/messages/batches",
        {"requests": [{"params": {**ASK, "tools": [{"type": "web_search_20250305"}]}}]},
    ),
    (GOOGLE, GENERATE, {"contents": [], "tools": [{"google_search": {}}]}),
    (GOOGLE, GENERATE, {"contents": [], "tools": {"googleSearch": {}}}),
    (GOOGLE, GENERATE, {"contents": [], "tools": [{"googleSearchRetrieval": {}}, {"urlContext": {}}]}),
    ("api.x.ai", "/v1/chat/completions", {**ASK, "search_parameters": {"mode": "auto"}}),
    ("api.x.ai", "/v1/responses", {"model": "grok-4", "tools": [{"type": "x_search"}]}),
    ("api.perplexity.ai", "/chat/completions", {**ASK, "model": "sonar"}),
    ("api.perplexity.ai", "/search", {"query": "x"}),
    ("api.mistral.ai", "/v1/conversations", {"model": "m", "inputs": "x", "tools": [{"type": "web_search_premium"}]}),
    ("api.mistral.ai", "/v1/conversations", {"agent_id": "ag_1", "inputs": "x"}),
    ("openrouter.ai", "/api/v1/chat/completions", {**ASK, "model": "openai/gpt-5:online"}),
    ("openrouter.ai", "/api/v1/chat/completions", {**ASK, "plugins": [{"id": "web"}]}),
    ("gateway.test", "/v1/responses", {"model": "gpt-5", "tools": [{"type": "web_search"}]}),
]
PASSING: list[tuple[str, str, Any]] = [
    (OPENAI, "/v1/chat/completions", {**ASK, "tools": [FUNCTION]}),
    (OPENAI, "/v1/responses", {"model": "gpt-5", "input": "look at google_search", "tools": [{"type": "file_search"}]}),
    (OPENAI, "/v1/embeddings", {"model": "text-embedding-3-small", "input": ["web_search"]}),
    (ANTHROPIC, "/v1/messages", {**ASK, "tools": [{"name": "web_search", "input_schema": {"type": "object"}}]}),
    (ANTHROPIC, "/v1/messages", {**ASK, "messages": [{"content": [{"type": "web_search_tool_result"}]}]}),
    (GOOGLE, GENERATE, {"contents": [], "tools": [{"functionDeclarations": [{"name": "google_search"}]}]}),
    ("api.x.ai", "/v1/chat/completions", {**ASK, "search_parameters": {"mode": "off"}}),
    ("api.perplexity.ai", "/chat/completions", {**ASK, "model": "sonar", "disable_search": True}),
    ("api.mistral.ai", "/v1/chat/completions", ASK),
]


def _name(case: tuple[str, str, Any]) -> str:
    return f"{case[0]}{case[1]} {json.dumps(case[2])[-60:]}"


@pytest.mark.parametrize("case", REFUSED, ids=_name)
def test_it_looks_at_the_web(case: tuple[str, str, Any]) -> None:
    host, path, body = case
    assert web_tool(host, path, json.dumps(body).encode()) is not None


@pytest.mark.parametrize("case", PASSING, ids=_name)
def test_it_does_not(case: tuple[str, str, Any]) -> None:
    host, path, body = case
    assert web_tool(host, path, json.dumps(body).encode()) is None


def test_what_cannot_be_read_is_refused() -> None:
    assert web_tool(OPENAI, "/v1/responses", b'{"model": "gpt-5", "tools": [{"type": "web_search"},]}') is not None
    assert web_tool(OPENAI, "/v1/responses", b'{"tools": [{"type": "web_search"}], "tools": []}') is not None


def test_what_is_no_json_passes() -> None:
    assert web_tool(OPENAI, "/v1/files", b"--boundary", "multipart/form-data; boundary=boundary") is None
    assert web_tool(OPENAI, "/v1/models", b"") is None
