"""What an examination finds: one line of its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "note", "warn", "fail"]


@dataclass(frozen=True)
class Finding:
    """One line of the report. "fail" means that the PIT is not enforced; "warn" that it may not be."""

    level: Level
    check: str
    message: str
    fix: str = ""
