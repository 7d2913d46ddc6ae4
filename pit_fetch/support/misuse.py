"""The error for a provider that uses a name which neither the author's API nor the provider declares: a host, say.

Its text names what was asked for and what there is, so that the author can mend it. It is shown by the author's kit, in
the audit file and in an answer without a PIT. An answer with a PIT does not show it: the name may come from a reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

T = TypeVar("T")
_LONGEST = 60


class Misuse(KeyError):
    """A provider uses the author's API otherwise than it can be used. The text names the fix."""

    def __str__(self) -> str:
        return str(self.args[0])


class Declared(dict[str, T]):
    """What a provider declares of one kind, by name. Raise Misuse for another name.

    ``kind`` is what the author calls one of them, ``place`` where they are declared.
    """

    def __init__(self, kind: str, place: str, declared: Mapping[str, T]) -> None:
        super().__init__(declared)
        self.kind, self.place = kind, place

    def __repr__(self) -> str:
        return f"<{self.kind}: {', '.join(self)}>"  # the values of credentials are keys

    def __missing__(self, name: object) -> T:
        known = ", ".join(self) or "none"
        asked = redact_address(str(name))
        raise Misuse(f"{asked} is no declared {self.kind}: {self.place} has {known}. Declare it, or use one of these")


def redact_address(text: str) -> str:
    """Return a name as it is, and of an address the host alone: a path or a query may hold a key."""
    if any(mark in text for mark in "/?#@="):
        from urllib.parse import urlsplit

        try:
            host = urlsplit(text if "//" in text else f"//{text}").hostname or ""
        except ValueError:
            host = ""
        text = "an address" if not host or "=" in host else host
    return "".join(character if character.isprintable() else "?" for character in text[:_LONGEST])
