"""Standard tests for a provider: subclass one class with a recorded reply.

>>> class TestMySource(ProviderSuite):
...     provider = PROVIDER
...     reply = (Path(__file__).parent / "reply.json").read_bytes()
...     options = {"symbol": "ACME"}

What a source has besides one reply (pages, replies of other paths, forms of stamps) is a ``Recording``.
They need no network, no clock and no sleep, and run in any test runner that knows classes.
docs/provider-guide.md walks through it. For a test of your own, ``run`` is the whole command in this
process, ``Answering`` a server that is one function, and ``TestClock`` the time.
"""

from pit_fetch.testing.inprocess import Left, TestClock, run
from pit_fetch.testing.recording import Bounds, Document, Form, Pages, Recording
from pit_fetch.testing.server import Answering, Response, ask_responses
from pit_fetch.testing.server import ServerAnswer as Answer
from pit_fetch.testing.suite import ProviderSuite
from pit_fetch.transport import HttpRequest

__all__ = [
    "Answer",
    "Answering",
    "Bounds",
    "Document",
    "Form",
    "HttpRequest",
    "Left",
    "Pages",
    "ProviderSuite",
    "Recording",
    "Response",
    "TestClock",
    "ask_responses",
    "run",
]
