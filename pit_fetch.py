#!/usr/bin/env python3
"""Runs pit_fetch by path, from any folder: ``python3 PATH/pit_fetch.py --source … --pit …``.

Nothing has to be installed but the dependencies. Where this interpreter has no requests and a
``.venv`` lies beside this file, the script goes on in there. A copy of this file elsewhere runs
the installed package, and never what happens to lie around it.
"""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
VENV_PYTHON = os.path.join(HERE, ".venv", "bin", "python")


def in_checkout() -> bool:
    """Whether this file stands in its own repository, and not beside some folder of the same name."""
    own = ("pit_fetch/cli.py", "providers/pit_fetch_providers/__init__.py", "hooks/pit_gate.py")
    return all(os.path.isfile(os.path.join(HERE, path)) for path in own)


def put_on_path() -> None:
    """The checkout first on the path; elsewhere neither this file's folder nor the working directory."""
    own = {HERE, os.path.dirname(os.path.abspath(__file__)), ""}
    sys.path[:] = [entry for entry in sys.path if entry not in own]
    if in_checkout():
        sys.path.insert(0, HERE)


def needs_venv() -> bool:
    """Whether the dependencies are missing here, and a virtual environment beside this file may have them."""
    from importlib.util import find_spec

    inside = os.path.realpath(sys.prefix) == os.path.realpath(os.path.join(HERE, ".venv"))
    return not inside and os.path.isfile(VENV_PYTHON) and in_checkout() and find_spec("requests") is None


if __name__ == "__main__":
    put_on_path()
    if needs_venv():
        os.execv(VENV_PYTHON, [VENV_PYTHON, os.path.realpath(__file__), *sys.argv[1:]])  # noqa: S606 - no shell
    try:
        from pit_fetch.cli import command
    except ImportError:
        fix = "pit_fetch is not installed for this interpreter: run python3 -m pip install pit-fetch"
        sys.stdout.write(f'{{"data": [], "gaps": [{{"type": "config", "reason": "{fix}", "query": ""}}]}}\n')
        sys.stderr.write(fix + "\n")
        sys.exit(2)
    command()
