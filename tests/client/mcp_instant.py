"""What reaches the model through ``pit_fetch mcp`` on the real client, and which ways there are of moving its instant.

``python -m tests.client.mcp_instant`` runs every row, and fails where the client does anything else than it states.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from pit_fetch.claude_code.scripted_model import final_answer, tool_call
from tests.client import harness
from tests.providers.bz_news_api import server as benzinga
from tests.serving import serve

PIT, LATER = "2024-02-15T16:00:00-05:00", "2024-02-16T12:00:00Z"
CANARY = "CANARY-2024-02-16"
AT = datetime.fromisoformat(PIT)
ARTICLES = [
    benzinga.article(1, AT - timedelta(hours=1), title="public"),
    benzinga.article(2, AT + timedelta(hours=1), title=CANARY),
]

# "shown": what was public, and nothing else. "refused": an envelope that says so. "absent": there is no such tool.
Outcome = Literal["shown", "refused", "absent", "leaks"]


@dataclass(frozen=True)
class Row:
    """One session: the words of the server, who tries what, and what must come of it."""

    expected: Outcome
    words: tuple[str, ...] = ("--pit", PIT)
    arguments: Mapping[str, Any] = field(default_factory=dict)
    tool: str = "bz_news_api"
    entry: Mapping[str, str] = field(default_factory=dict)  # the env of the entry
    settings: Mapping[str, str] = field(default_factory=dict)  # the env of the project's settings
    ceiling: str = PIT
    files: Mapping[str, str] = field(default_factory=dict)


ROWS: Mapping[str, Row] = {
    "a call": Row("shown"),
    "a call, the ceiling alone": Row("shown", ()),
    "an argument pit": Row("refused", arguments={"pit": LATER}),
    "arguments that reach into the future": Row("shown", arguments={"date_to": "2030-01-01", "limit": 1000}),
    "another entry, after the ceiling": Row("absent", ("--pit", LATER)),
    "a file in the project sets a later ceiling": Row("shown", files={"pit_fetch.toml": f'ceiling = "{LATER}"'}),
    "the project's settings raise the ceiling, --pit stays": Row("shown", settings={"PIT_FETCH_CEILING": LATER}),
    "the entry raises the ceiling, --pit stays": Row("shown", entry={"PIT_FETCH_CEILING": LATER}),
    # What doctor names as a failure.
    "the project's settings raise the ceiling, which is the instant": Row(
        "leaks", (), settings={"PIT_FETCH_CEILING": LATER}
    ),
    "the entry raises the ceiling, which is the instant": Row("leaks", (), entry={"PIT_FETCH_CEILING": LATER}),
}


def measure(row: Row) -> Outcome | str:
    """Return what reaches the model in one session."""
    with tempfile.TemporaryDirectory(prefix="pit-mcp-") as folder, serve(benzinga.app(ARTICLES)) as server:
        project = Path(folder, "project")
        (project / ".claude").mkdir(parents=True)
        (project / ".claude" / "settings.json").write_text(json.dumps({"env": dict(row.settings)}))
        for name, text in row.files.items():
            (project / name).write_text(text)
        entry = {"command": "pit_fetch", "args": ["mcp", *row.words], "env": dict(row.entry)}
        config = project / ".mcp.json"
        config.write_text(json.dumps({"mcpServers": {"pit_fetch": entry}}))
        keys = {"PIT_FETCH_BENZINGA_URL": server.url, "BENZINGA_API_KEY": benzinga.TOKEN}
        setting = harness.Setting(
            project,
            env={**keys, "PIT_FETCH_CEILING": row.ceiling},
            args=("--mcp-config", str(config), "--strict-mcp-config"),
            allowed=("mcp__pit_fetch",),
        )
        texts = harness.converse(
            setting, {"main": [tool_call(f"mcp__pit_fetch__{row.tool}", **row.arguments), final_answer()]}
        )
    return _outcome("\n".join(texts))


def _outcome(text: str) -> Outcome | str:
    if CANARY in text:
        return "leaks"
    if '"public"' in text:
        return "shown"
    if "whoever started this server" in text:
        return "refused"
    return "absent" if "No such tool" in text else f"something else: {text[:300]}"


def main() -> int:
    harness.enter_namespace("tests.client.mcp_instant")
    failed = 0
    with ThreadPoolExecutor(2) as pool:
        for (name, row), seen in zip(ROWS.items(), pool.map(measure, ROWS.values()), strict=True):
            failed += seen != row.expected
            print(f"{name:<64} {seen}{'' if seen == row.expected else f' INSTEAD OF {row.expected}'}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
