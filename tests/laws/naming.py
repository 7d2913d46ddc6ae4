"""Laws by name, put together without losing one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

Law = TypeVar("Law")


def together(*parts: Mapping[str, Law]) -> dict[str, Law]:
    """Return the laws of all ``parts``. Raise ValueError if two have one name: only the last of them would run."""
    laws: dict[str, Law] = {}
    for part in parts:
        if twice := laws.keys() & part.keys():
            raise ValueError(f"two laws have the name {min(twice)}")
        laws |= part
    return laws
