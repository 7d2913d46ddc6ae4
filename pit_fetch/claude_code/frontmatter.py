"""Read the frontmatter of an agent or a skill, and refuse all that readers could interpret differently.

A client with another interpretation would run other hooks than the ones checked. So no key may
appear twice, nothing may be anchored, merged or tagged, and every scalar is text, whatever it looks like.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code


def split(text: str) -> tuple[dict[str, Any], str]:
    """Return the frontmatter as a mapping, and the body.

    Raise ValueError if the frontmatter is missing or cannot be read, and ConfigError if PyYAML is missing.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        raise ValueError("no frontmatter")
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), None)
    if end is None:
        raise ValueError("the frontmatter has no end")
    parsed = _load("\n".join(["", *lines[1:end]]))  # an empty first line, so that errors name the file's lines
    if not isinstance(parsed, dict):
        raise ValueError("the frontmatter is not a mapping")
    return parsed, "\n".join(lines[end + 1 :])


def as_list(value: Any) -> list[str]:
    """Return a list of names, which may also be written as ``a, b``."""
    if isinstance(value, list):
        return [str(part) for part in value]
    return [part.strip() for part in str(value).split(",") if part.strip()] if value else []


@lru_cache(maxsize=64)  # reading YAML takes 20 ms; no caller changes the result
def _load(text: str) -> Any:
    try:
        import yaml
    except ImportError:
        raise ConfigError(Code.DEPENDENCY_MISSING, package="PyYAML") from None
    try:
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            if (getattr(event, "anchor", None) or getattr(event, "tag", None)) and event.start_mark:
                raise ValueError(f"line {event.start_mark.line + 1}: anchors, aliases and tags are not supported")
        return _value_of(yaml.compose(text, Loader=yaml.BaseLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}: " if mark else ""
        raise ValueError(f"{place}{getattr(error, 'problem', None) or 'not YAML'}") from None


def _value_of(node: Any) -> Any:
    """Return the value of a YAML node, every scalar as its text."""
    import yaml

    if node is None:
        return {}
    if isinstance(node, yaml.ScalarNode):
        return node.value
    if isinstance(node, yaml.SequenceNode):
        return [_value_of(part) for part in node.value]
    place = f"line {node.start_mark.line + 1}: " if node.start_mark else ""
    mapping: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise ValueError(f"{place}a key is not text")
        if key.value in mapping:
            raise ValueError(f"{place}{key.value} appears twice")
        mapping[key.value] = _value_of(value)
    return mapping
