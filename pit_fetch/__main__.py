"""``python3 -m pit_fetch``."""

from pit_fetch.cli import command

if __name__ == "__main__":
    command()
