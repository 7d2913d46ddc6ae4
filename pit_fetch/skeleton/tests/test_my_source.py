"""my-source on a recorded reply: the standard tests of pit_fetch, and tests of its own."""

from pathlib import Path

from pit_fetch_my_source import PROVIDER

import pit_fetch
from pit_fetch.testing import ProviderSuite

REPLY = Path(__file__).parent / "reply.json"


class TestMySource(ProviderSuite):
    provider = PROVIDER
    reply = REPLY.read_bytes()
    options = {}


def test_what_was_public_at_the_close() -> None:
    envelope = pit_fetch.fetch("my-source", pit="2024-02-15T16:00:00-05:00", input_file=REPLY)
    assert [item["title"] for item in envelope["data"]] == ["First"]


def test_a_word() -> None:
    envelope = pit_fetch.fetch("my-source", pit="2024-03-01T00:00:00Z", input_file=REPLY, word="third")
    assert [item["id"] for item in envelope["data"]] == ["c"]
