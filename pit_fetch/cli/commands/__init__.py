"""The commands other than a fetch, one module each: its parser, its help and its run.

To add one, write ``cli/commands/NAME.py`` and a row of :data:`COMMANDS`; the help, the completion script and the
hints for mistyped commands follow.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

# "plain"    run(argv, environ, folder) -> CommandResult
# "archive"  run(argv, runtime, progress) -> CommandResult: needs a clock, the network and a progress line
# "server"   run(argv, runtime) -> CommandResult, once its client ends: it takes the standard streams for itself
# "fetch"    takes a fetch's options and writes an envelope: FORM, and run(argv, runtime, output)
Kind = Literal["plain", "archive", "server", "fetch"]


class Command(NamedTuple):
    """A word that a command line can begin with, in the place of a fetch.

    other_names  its names in other tools, for a hint
    is_listing   it fetches nothing, and prints nothing that came after a PIT: the gate lets it pass
    """

    kind: Kind = "plain"
    other_names: str = ""
    is_listing: bool = False

    @staticmethod
    def module(name: str) -> str:
        return f"{__name__}.{name.replace('-', '_')}"


# In the order of --help.
COMMANDS = {
    "init": Command(other_names="setup install add-hooks initialise initialize"),
    "lint": Command(other_names="validate verify check-agents", is_listing=True),
    "doctor": Command(other_names="check status diagnose health selftest", is_listing=True),
    "new-provider": Command(other_names="new create scaffold generate plugin provider add-provider", is_listing=True),
    "config": Command(other_names="settings configure preferences", is_listing=True),
    "completion": Command(other_names="complete completions autocomplete", is_listing=True),
    "sources": Command(other_names="list providers ls source list-providers", is_listing=True),
    "diff": Command("fetch", other_names="compare changes delta"),
    "explain": Command("fetch", other_names="why debug"),
    "capture": Command("archive", other_names="record snapshot"),
    "panel": Command("archive", other_names="grid matrix batch bulk backtest"),
    "archive": Command("archive", other_names="info log replay merge rebuild drop database db store history"),
    "normalize": Command("fetch"),
    "mcp": Command("server", other_names="serve server mcp-server serve-mcp stdio"),
    "mcp-gate": Command("server", other_names="gate proxy mcp-proxy mcp_gate"),
}
