"""Leaks of the server: a message that moves the instant, and answers that say more than their envelope."""

from __future__ import annotations

from typing import Any

from pit_fetch.mcp.instant import Instant
from tests.laws.mutants.leak import Mutant, in_module

_LAWS = ("sample: mcp", "bz-news-api: mcp", "sec_full_text: mcp")
_LATER = "2100-01-01T00:00:00Z"


def _argument_moves(real: Any) -> Any:
    def answer(server: Any, name: str, arguments: Any, stop: Any) -> Any:
        if "pit" in arguments:
            server = server._replace(instant=Instant(arguments["pit"], "", server.instant.environ))
        return real(server, name, {key: value for key, value in arguments.items() if key != "pit"}, stop)

    return answer


def _says_how_much_came(real: Any) -> Any:
    def run(request: Any, runtime: Any, *rest: Any) -> Any:
        sizes: list[int] = []

        def send(asked: Any) -> Any:
            reply = runtime.transport.send(asked)
            sizes.append(len(reply.body))
            return reply

        result = real(request, runtime._replace(transport=type("Counting", (), {"send": staticmethod(send)})), *rest)
        result.envelope.gaps[0]["reason"] += f" ({sum(sizes)} bytes came)"
        return result

    return run


_calls = in_module("pit_fetch.mcp.calls")

MUTANTS: tuple[Mutant, ...] = (
    _calls("an argument moves the instant of a server", "answer", _argument_moves, _LAWS),
    _calls(
        "a tool is asked as of later",
        "build",
        lambda real: lambda values, *rest: real({**values, "pit": _LATER}, *rest),
        _LAWS,
    ),
    _calls("an answer of a tool says how much the source sent", "run", _says_how_much_came, _LAWS),
)
