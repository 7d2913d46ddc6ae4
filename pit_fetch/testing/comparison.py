"""Non-interference, the first law: worlds that serve the same public records leave the same bytes."""

from __future__ import annotations

from collections.abc import Collection

from pit_fetch.errors import ExitStatus
from pit_fetch.support.redaction import spellings
from pit_fetch.testing.inprocess import Left

# It stands in the texts of records that were not public, so wherever it turns up is a leak.
CANARY = "PIT-CANARY"

_FETCHED = frozenset({ExitStatus.OK, ExitStatus.CONFIG, ExitStatus.INPUT, ExitStatus.UPSTREAM})
_AROUND = 60


def interference(expected: Left, other: Left, secrets: Collection[str] = ()) -> str:
    """Return what is wrong with ``other``: a canary, a secret, a failure, another byte than ``expected``, or ""."""
    everything = other.out + other.err + "".join(name + body.decode("latin-1") for name, body in other.files)
    if CANARY in everything:
        return "a text of a record that was not public gets out"
    if any(holds(everything, secret) for secret in secrets):
        return "a secret gets out"
    if other.code not in _FETCHED:
        return f"the program fails: {other.err or other.out}"
    return first_difference(expected, other)


def first_difference(expected: Left, other: Left) -> str:
    """Return where two runs begin to differ, quoting both, or "" when every byte is the same."""
    for place, left, right in zip(
        ("stdout", "stderr", "exit code", "files"), expected.leaves, other.leaves, strict=True
    ):
        if left != right:
            texts = str(left), str(right)
            start = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
            excerpts = [f"  {text[max(0, start - _AROUND) : start + _AROUND]!r}" for text in texts]
            return "\n".join([f"{place} differs:", *excerpts])
    return ""


def holds(text: str, secret: str) -> bool:
    """Return whether ``text`` contains a secret, as it is or as a URL spells it."""
    return any(spelling in text for spelling in spellings([secret]))
