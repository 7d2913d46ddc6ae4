"""Standard tests for a provider: subclass one class with a recorded reply.

>>> class TestMySource(ProviderSuite):
...     provider = PROVIDER
...     reply = (Path(__file__).parent / "reply.json").read_bytes()
...     options = {"symbol": "ACME"}

What a source has besides one reply (pages, replies of other paths, forms of stamps) is a ``Recording``.
The tests need no network, no clock and no sleep, and run in any test runner that knows classes.
docs/provider-guide.md walks through it. How a test comes about, module by module:

recording     what the author knows of the source, as data; ``source`` serves it, ``documents`` makes trees of it
findings      which part of the recording is which record, and what its stamps rest on, found by experiments
worlds        the same public rows, beside other late ones: edits of the tree
observe       one run of the whole program in a world, under the eyes of ``sandbox`` and ``state``
comparison    what leaves the process must be the same, byte by byte; ``interference`` compares all worlds
report        what is wrong, what to do about it, and how many worlds were run

``records``, ``stamps``, ``versions``, ``today``, ``replies`` and ``conduct`` check the rest, and ``suite`` lists all
tests. For a test of your own, ``run`` is the whole command in this process, ``Answering`` a server that is one
function, and ``TestClock`` the time.
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
