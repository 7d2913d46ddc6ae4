"""``python3 -m pit_fetch``, and ``python3 PATH/pit_fetch`` on the folder. Old syntax, see support/process.py."""

import os
import sys

if __name__ == "__main__":
    # Python put the working directory first, and a json.py there would be taken for the standard library's.
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        del sys.path[0]
    if not __package__:  # run as a folder: only this package is found by its location
        sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        import pit_fetch

        del sys.path[0], pit_fetch
    try:
        from pit_fetch.cli.entry_point import command
    except KeyboardInterrupt:  # until support/process.py has a handler of its own
        from pit_fetch.support.process import interrupted as command
    command()
