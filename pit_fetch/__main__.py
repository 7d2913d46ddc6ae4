"""``python3 -m pit_fetch``."""

import sys

from pit_fetch.cli import main

if __name__ == "__main__":
    sys.exit(main())
