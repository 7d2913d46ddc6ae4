"""Credentials, from the environment or else the nearest ``.env``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from pit_fetch.errors import ConfigError
from pit_fetch.provider import Credential, Provider


def resolve(provider: Provider, environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """The provider's credentials by name. Raises ConfigError for one that is missing or malformed."""
    found = {}
    for credential in provider.credentials:
        variable, value = lookup(credential, environ, folder)
        if not value:
            raise ConfigError(
                "credential_missing",
                source=provider.name,
                variables=" or ".join(credential.variables),
                hint=credential.hint,
            )
        problem = credential.check(value) if credential.check else None
        if problem is None and not value.isprintable():
            problem = "it contains control characters."
        if problem is None and not _is_sendable(value):
            problem = "it contains characters that a request's header cannot carry (beyond Latin-1)."
        if problem:
            raise ConfigError("credential_malformed", variable=variable, problem=problem, hint=credential.hint)
        found[credential.name] = value
    return found


def _is_sendable(value: str) -> bool:
    try:
        return bool(value.encode("latin-1"))
    except UnicodeEncodeError:
        return False


def lookup(credential: Credential, environ: Mapping[str, str], folder: str) -> tuple[str, str]:
    """The variable that is set, and its value; ("", "") if none is. Only declared variables are looked at.

    Raises ConfigError if there is a ``.env`` file that cannot be read.
    """
    for variable in credential.variables:
        if environ.get(variable, "").strip():
            return variable, environ[variable].strip()
    path = _nearest_env_file(folder)
    if path:
        try:
            from dotenv import dotenv_values
        except ImportError:
            instead = (
                f"python3 -m pip install python-dotenv, or set {' or '.join(credential.variables)} in the environment"
            )
            raise ConfigError("dependency_missing", package="python-dotenv (it reads .env)", command=instead) from None
        try:
            values = dotenv_values(path, interpolate=False)
        except (OSError, ValueError):
            raise ConfigError("env_file_unreadable") from None
        for variable in credential.variables:
            value = (values.get(variable) or "").strip()
            if value:
                return variable, value
    return "", ""


def secret_values(provider: Provider, resolved: Mapping[str, str]) -> tuple[str, ...]:
    """The values that must not get out."""
    return tuple(resolved[c.name] for c in provider.credentials if c.secret and resolved.get(c.name))


def known_secrets(provider: Provider, environ: Mapping[str, str], folder: str) -> tuple[str, ...]:
    """The values that must not get out, of those that are set, usable or not."""
    found: list[str] = []
    for credential in provider.credentials:
        if credential.secret:
            with contextlib.suppress(ConfigError):
                found.append(lookup(credential, environ, folder)[1])
    return tuple(value for value in found if value)


def _nearest_env_file(folder: str) -> str | None:
    while True:
        path = os.path.join(folder, ".env")
        if os.path.isfile(path):
            return path
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
