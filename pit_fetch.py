#!/usr/bin/env python3
"""Run pit_fetch by path, from any folder: ``python3 PATH/pit_fetch.py --source ... --pit ...``.

Only the dependencies need to be installed (see pit_fetch/cli/script.py). A copy of this file elsewhere
runs the installed package, and never anything that happens to lie beside it. This file is short,
since Python compiles it on every start, and any Python can read its syntax.
"""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
OWN = ("pit_fetch/cli/main.py", "providers/pit_fetch_providers/__init__.py", "hooks/pit_gate.py")
LACKING = "pit_fetch is not installed for this interpreter: run python3 -m pip install PATH/TO/CHECKOUT"


def main():
    # The checkout comes first on the path; elsewhere, neither this file's folder nor the working directory is on it.
    own = (HERE, os.path.dirname(os.path.abspath(__file__)), "")
    sys.path[:] = [entry for entry in sys.path if entry not in own]
    checkout = all(os.path.isfile(os.path.join(HERE, path)) for path in OWN)
    if checkout:
        sys.path.insert(0, HERE)
    try:
        from pit_fetch.cli.script import command
    except (ImportError, SyntaxError):
        sys.stdout.write('{"data": [], "gaps": [{"type": "config", "reason": "%s", "query": ""}]}\n' % LACKING)
        sys.stderr.write("pit_fetch: %s\n" % LACKING)
        sys.exit(2)
    command(HERE if checkout else "")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:  # until support/process.py has a handler of its own
        from pit_fetch.support.process import interrupted

        interrupted()
