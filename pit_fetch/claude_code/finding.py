"""What an examination finds: one line of its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warn", "open", "fail"]


@dataclass(frozen=True)
class Finding:
    """One line of the report.

    "fail" means that calls of pit_fetch are not held to the PIT, "warn" that they may not be, and "open" that an agent
    has a way past them.
    """

    level: Level
    check: str
    message: str
    fix: str = ""
