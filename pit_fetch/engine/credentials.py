"""Credentials, from the environment or else from the nearest ``.env``."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence

from pit_fetch.engine import trusted_files
from pit_fetch.engine.input_files import nearest
from pit_fetch.errors import ConfigError
from pit_fetch.gaps import Code
from pit_fetch.provider import Credential, Provider

# A shorter text stands in ordinary words and in the requests themselves: redacted, they would be other requests.
SHORTEST_SECRET = 8
_QUOTES = frozenset("\"'`\u2018\u2019\u201c\u201d")


def resolve(provider: Provider, environ: Mapping[str, str], folder: str) -> dict[str, str]:
    """Return the provider's credentials by name. Raise ConfigError for one that is missing or malformed."""
    values = {}
    for credential in provider.credentials:
        variable, value = lookup(credential, environ, folder)
        if not value:
            raise ConfigError(
                Code.CREDENTIAL_MISSING,
                source=provider.name,
                variables=" or ".join(credential.variables),
                hint=credential.hint,
            )
        problem = _typing_mistake(variable, value) or (credential.check(value) if credential.check else None)
        if problem is None and not value.isprintable():
            problem = "it contains control characters."
        if problem is None and not _is_sendable(value):
            problem = "it contains characters that a request's header cannot carry (beyond Latin-1)."
        if (
            problem is None
            and credential.secret
            and not credential.is_file
            and not is_secret(credential, value)
            and value not in credential.public
        ):
            problem = f"it has fewer than {SHORTEST_SECRET} characters."
        if problem:
            raise ConfigError(Code.CREDENTIAL_MALFORMED, variable=variable, problem=problem, hint=credential.hint)
        values[credential.name] = value
    return values


def is_secret(credential: Credential, value: str) -> bool:
    """Return whether a value of the credential must not get out."""
    is_open = credential.is_file or value in credential.public
    return credential.secret and not is_open and len(value) >= SHORTEST_SECRET


def path_of(file: Credential, value: str, folder: str) -> str:
    """Return the path that is the value of a credential. Raise ConfigError if it is not that of a readable file."""
    path = os.path.join(folder, os.path.expanduser(value))
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        raise ConfigError(Code.FILE_UNREADABLE, variable=" or ".join(file.variables))
    return path


def _typing_mistake(variable: str, value: str) -> str | None:
    """Return what is wrong with a value that was not copied as it is, or None."""
    if value.startswith(f"{variable}="):
        return f"it begins with {variable}= once more."
    if value[0] in _QUOTES and value[-1] in _QUOTES:
        return "it has quotes around it."
    is_variable = value[0] == "$" and value.isupper() and value[1:].strip("{}").isidentifier()
    if is_variable or (value[0], value[-1]) == ("<", ">") or value.lower().startswith(("your_", "your-", "insert_")):
        return "it is a placeholder for a key."
    return None


def _is_sendable(value: str) -> bool:
    try:
        return bool(value.encode("latin-1"))
    except UnicodeEncodeError:
        return False


def lookup(credential: Credential, environ: Mapping[str, str], folder: str) -> tuple[str, str]:
    """Return the declared variable that is set, and its value; ("", "") if none is.

    Raise ConfigError if there is a ``.env`` file that cannot be read, that is another user's, or that names a variable
    otherwise than as NAME=VALUE.
    """
    for variable in credential.variables:
        if environ.get(variable, "").strip():
            return variable, environ[variable].strip()
    path = nearest(folder, ".env")
    if path:  # only now is dotenv imported: most calls have their key in the environment
        from io import StringIO

        try:
            from dotenv import dotenv_values
        except ImportError:
            from pit_fetch.support.install import install_command

            variables = " or ".join(credential.variables)
            command = f"{install_command('python-dotenv')}, or set {variables} in the environment"
            raise ConfigError(
                Code.DEPENDENCY_MISSING, package="python-dotenv (it reads .env)", command=command
            ) from None
        try:
            text = trusted_files.read_trusted(path).decode("utf-8-sig")
        except trusted_files.UntrustedFile as error:
            raise ConfigError(Code.ENV_FILE_UNTRUSTED, file=path, problem=str(error)) from None
        except (OSError, ValueError):
            raise ConfigError(Code.ENV_FILE_UNREADABLE) from None
        values = dotenv_values(stream=StringIO(text), interpolate=False)  # a key may contain ${
        for variable in credential.variables:
            value = (values.get(variable) or "").strip()
            if value:
                return variable, value
        _check_lines(text, credential.variables)
    return "", ""


# How else a variable is given a value: YAML, shells, JSON.
_OTHER_FORMS = r"""\s*(?:(?:export|set|setenv|\$env:|-)\s*)?["']?({names})\b["']?\s*[:=]?\s*["']?[^\s"'#:=]"""


def _check_lines(text: str, variables: Sequence[str]) -> None:
    """Raise ConfigError if a line of a ``.env`` file gives a variable in a form that dotenv does not read."""
    form = re.compile(_OTHER_FORMS.format(names="|".join(map(re.escape, variables))))
    for number, line in enumerate(text.splitlines(), 1):
        match = form.match(line)
        if match is not None:
            raise ConfigError(Code.ENV_FILE_LINE, variable=match[1], line=number)


def known_secrets(provider: Provider, environ: Mapping[str, str], folder: str) -> tuple[str, ...]:
    """Return the values that must not get out: every secret that is set, usable or not."""
    values: list[str] = []
    for credential in provider.credentials:
        with contextlib.suppress(ConfigError):
            _, value = lookup(credential, environ, folder)
            values += [value] if is_secret(credential, value) else []
    return tuple(values)
