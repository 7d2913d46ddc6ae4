"""Pages of HTML as text, for several sources: their characters, their depth, their elements as lines."""

from __future__ import annotations

from pit_fetch.gaps import Code
from pit_fetch.provider import ConfigError


def require_parser() -> None:
    """Raise ConfigError if the parser is not installed, before anything is asked."""
    try:
        import selectolax.lexbor  # noqa: F401
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="selectolax") from None
