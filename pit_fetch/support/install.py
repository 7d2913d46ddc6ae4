"""The command that installs a package where this process would find it. Imported only where one is missing."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec


def install_command(package: str) -> str:
    """Return the command that installs ``package``, or several, into the environment of this process.

    ``python3`` alone may be another: that of a shell, while pipx, uv and the .venv of a checkout have their own.
    """
    package = shlex.join(package.split())  # unquoted, a shell would write what pip says into the file of mcp>=2
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"pipx inject {shlex.quote(os.path.basename(sys.prefix))} {package}"
    if _is_of_uv():
        return f"uv pip install --python {shlex.quote(sys.prefix)} {package}"
    return f"{_python()} -m pip install {package}"


def _is_of_uv() -> bool:
    """Return whether uv made the environment: without pip."""
    try:
        with open(os.path.join(sys.prefix, "pyvenv.cfg"), encoding="utf-8") as file:
            return any(line.startswith("uv ") for line in file) and find_spec("pip") is None
    except (OSError, UnicodeDecodeError):
        return False


def _python() -> str:
    """Return the name of this interpreter: ``python3`` if a shell would start the same one by it."""
    from shutil import which

    named = which("python3")
    is_same = named is not None and os.path.dirname(named) == os.path.dirname(sys.executable)
    return "python3" if is_same else shlex.quote(sys.executable or "python3")
