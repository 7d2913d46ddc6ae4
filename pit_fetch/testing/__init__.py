"""Standard tests for a provider: subclass one class with a recorded reply.

>>> class TestMySource(ProviderSuite):
...     provider = PROVIDER
...     reply = (Path(__file__).parent / "reply.json").read_bytes()
...     options = {"symbol": "ACME"}

No network, no clock, no sleep; any test runner that knows classes will do. docs/provider-guide.md
walks through it.
"""

from pit_fetch.testing.suite import ProviderSuite
from pit_fetch.testing.transport import Answer, Request, ask_responses

__all__ = ["Answer", "ProviderSuite", "Request", "ask_responses"]
