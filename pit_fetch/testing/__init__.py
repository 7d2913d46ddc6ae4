"""Standard tests for a provider: subclass one class with a recorded reply.

>>> class TestMySource(ProviderSuite):
...     provider = PROVIDER
...     reply = (Path(__file__).parent / "reply.json").read_bytes()
...     options = {"symbol": "ACME"}

No network, no clock, no sleep; any test runner that knows classes will do. docs/provider-guide.md
walks through it. For a test of your own, ``run`` is the whole command in this process, asking a
server that is one function, ``Answering``, at the time of a ``TestClock``.
"""

from pit_fetch.testing.inprocess import Left, TestClock, run
from pit_fetch.testing.server import Answering
from pit_fetch.testing.suite import ProviderSuite
from pit_fetch.testing.transport import Answer, HttpRequest, Response, ask_responses

__all__ = [
    "Answer",
    "Answering",
    "HttpRequest",
    "Left",
    "ProviderSuite",
    "Response",
    "TestClock",
    "ask_responses",
    "run",
]
