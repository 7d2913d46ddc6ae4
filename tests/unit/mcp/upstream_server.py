"""Another server that says all that the protocol lets it say: its world is the JSON file that is its argument."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def listing(noise: str) -> dict[str, Any]:
    schema = {
        "type": "object",
        "description": noise,
        "properties": {
            "topic": {"type": "string", "description": noise, "enum": ["oil", noise], "default": noise},
            "limit": {"type": ["integer", "null"]},
            "until": {"type": "string"},
            "secret": {"type": "string"},
            **(
                {f"{noise} in a name, with spaces": {"type": "string"}, "limit": {"type": [{}, "integer"]}}
                if noise
                else {}
            ),
        },
        "required": ["topic", "until", "secret", *([[noise], 5] if noise else [])],
    }
    tools = [
        {"name": name, "title": noise, "description": noise, "inputSchema": schema, "annotations": {"title": noise}}
        for name in ("news", "envelopes", "fails", "unmapped")
    ]
    return {"tools": [*tools, *([5, {"name": [noise]}] if noise else [])], "_meta": {"note": noise}}


def result_of(name: str, arguments: dict[str, Any], world: dict[str, Any]) -> dict[str, Any]:
    noise = world["noise"]
    Path(world["log"]).write_text(json.dumps(arguments))
    if name == "fails":
        return {"isError": True, "content": [{"type": "text", "text": f"no such topic, but {noise}"}]}
    text = json.dumps(world[name])
    blocks: list[dict[str, Any]] = [{"type": "text", "text": text, "_meta": {"note": noise}}]
    if noise:
        blocks += [
            {"type": "image", "data": noise, "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "graph://x", "text": noise}},
            {"type": "resource_link", "uri": "graph://x", "name": noise},
        ]
    structured = {"structuredContent": world[name]} if world["structured"] and isinstance(world[name], dict) else {}
    return {"content": blocks, **structured, "_meta": {"note": noise}}


def main() -> None:
    world = json.loads(Path(sys.argv[1]).read_text())
    noise = world["noise"]
    for line in sys.stdin:
        request = json.loads(line)
        method, number = request.get("method"), request.get("id")
        if number is None or method is None:
            continue
        if noise:
            sys.stderr.write(f"{noise}\n")
            sys.stderr.flush()
            sys.stdout.write(f"{noise} is not JSON\n")
            send(method="notifications/message", params={"level": "info", "data": noise})
            send(method="notifications/progress", params={"progressToken": number, "progress": 1, "message": noise})
            send(method="notifications/tools/list_changed")
            send(method="notifications/resources/updated", params={"uri": noise})
            send(method="sampling/createMessage", id="s1", params={"messages": [], "maxTokens": 1})
            send(method="elicitation/create", id="s2", params={"message": noise})
            send(id=number)  # neither a result nor an error: no answer
            # More than their refusals fit into a pipe, before it reads one of them.
            for question in range(1_500 if method == "initialize" else 0):
                send(method="ping", id=f"q{question}")
        match method:
            case "initialize":
                capabilities: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}}
                info = {"name": noise or "news", "version": "1"}
                version = {"protocolVersion": "2025-11-25"}
                send(
                    id=number,
                    result={**version, "capabilities": capabilities, "serverInfo": info, "instructions": noise},
                )
            case "tools/list":
                send(id=number, result=listing(noise))
            case "tools/call":
                name, arguments = request["params"]["name"], request["params"].get("arguments", {})
                if arguments.get("topic") == "refuse":
                    send(id=number, error={"code": -32000, "message": noise, "data": {"note": noise}})
                elif arguments.get("topic") == "die":
                    sys.exit(3)
                else:
                    send(id=number, result=result_of(name, arguments, world))
            case _:
                send(id=number, error={"code": -32601, "message": noise})


if __name__ == "__main__":
    main()
