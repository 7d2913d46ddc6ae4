"""A scripted model: the Messages API on a loopback port, which answers each request with the next turn of a script.

It shows what reaches a model, not how a model reacts. It keeps every request of the client.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from operator import itemgetter
from typing import Any
from uuid import uuid4

Block = dict[str, Any]
# A turn gets the text that the client has sent so far, so that it can use a path that the client named.
Turn = Callable[[str], list[Block]]
Script = Mapping[str, Sequence[Turn]]


def tool_call(tool: str, **tool_input: Any) -> Turn:
    """Return a turn that calls a tool."""
    return lambda seen: [{"type": "tool_use", "name": tool, "input": tool_input}]


def final_answer(text: str = "done") -> Turn:
    """Return a turn that ends the conversation."""
    return lambda seen: [{"type": "text", "text": text}]


@dataclass
class Model:
    """A script, and what the client has sent to it so far.

    script     the turns of "main", and of each subagent under a text that its prompt contains
    results    the texts that reached the model, in order
    answers    each call of a tool, and the text that the client returned for it
    bodies     every request body
    """

    script: Script
    url: str = ""
    results: list[str] = field(default_factory=list)
    answers: list[tuple[Block, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    _calls: dict[str, Block] = field(default_factory=dict)
    _ids: Iterator[int] = field(default_factory=count)

    def answer(self, body: Mapping[str, Any]) -> list[Block]:
        """Return the next turn of the conversation whose messages so far are in ``body``."""
        messages = body.get("messages", [])
        if not body.get("tools"):  # titles and other small talk of the client's own
            return [{"type": "text", "text": "ok"}]
        first = _text(messages[0]) if messages else ""
        name = next((key for key in self.script if key != "main" and key in first), "main")
        turns = self.script[name]
        texts = [_text(message) for message in messages[1:] if message["role"] != "assistant"]
        self.results.extend(text for text in texts if text not in self.results)
        for message in messages:
            for block in message["content"] if isinstance(message.get("content"), list) else ():
                if block.get("type") == "tool_result" and block["tool_use_id"] in self._calls:
                    self.answers.append((self._calls.pop(block["tool_use_id"]), _text(block)))
        position = sum(message["role"] == "assistant" for message in messages)
        turn = turns[position] if position < len(turns) else final_answer()
        blocks = [_add_id(block, next(self._ids)) for block in turn("\n".join(texts))]
        self._calls.update((block["id"], block) for block in blocks if block["type"] == "tool_use")
        return blocks


@contextmanager
def serve_model(script: Script) -> Iterator[Model]:
    """Serve the model on a port of its own, for as long as the block runs."""
    model = Model(script)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(model))
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    read: Mapping[Any, Callable[[Any], str]] = {"tool_result": _text, "text": itemgetter("text")}
    return "\n".join(read.get(block.get("type"), json.dumps)(block) for block in content)


def _add_id(block: Block, number: int) -> Block:
    return {**block, "id": f"toolu_{number:024}"} if block["type"] == "tool_use" else block


def _handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self._send(200, b"", "text/plain")

        def do_GET(self) -> None:
            self._send(404, b"{}", "application/json")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            model.bodies.append(raw)
            body = json.loads(raw or b"{}")
            path = self.path.partition("?")[0]
            if path.endswith("/count_tokens"):
                self._send(200, b'{"input_tokens": 100}', "application/json")
            elif not path.endswith("/v1/messages"):
                self._send(404, b"{}", "application/json")
            elif body.get("stream"):
                self._send(200, b"".join(_events(body, model.answer(body))), "text/event-stream")
            else:
                self._send(200, json.dumps(_message(body, model.answer(body))).encode(), "application/json")

        def _send(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler


def _message(body: Mapping[str, Any], blocks: list[Block]) -> dict[str, Any]:
    return {
        "id": f"msg_{uuid4().hex}",  # the client drops a message whose id it has seen
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": blocks,
        "stop_reason": "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 10},
    }


def _events(body: Mapping[str, Any], blocks: list[Block]) -> Iterator[bytes]:
    whole = _message(body, blocks)
    yield _event("message_start", message={**whole, "content": [], "stop_reason": None})
    for index, block in enumerate(blocks):
        start: Block
        if block["type"] == "text":
            start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=index, content_block=start)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=stop, usage={"output_tokens": 10})
    yield _event("message_stop")


def _event(name: str, **data: Any) -> bytes:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n".encode()
