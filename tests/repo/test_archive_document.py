"""The pages of the archive, followed word by word: their files are written, their commands run by the real command."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pit_fetch.testing.server import Response
from pit_fetch.transport import HttpRequest
from tests.providers.bz_news_api import server as benzinga
from tests.serving import serve
from tests.unit.archive.scene import KEYS, UNLIMITED, alpha, articles

ROOT = Path(__file__).resolve().parents[2]
PAGE, *MORE = (
    (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("archive", "capture", "archive-care")
)
_BLOCK = re.compile(r"(?:<!-- file: (?P<path>\S+) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)```\n", re.DOTALL)


def steps() -> Iterator[tuple[str, str]]:
    """What the pages say to do: files to write, and lines to run."""
    for block in _BLOCK.finditer("\n".join((PAGE, *MORE))):
        if block["path"]:
            yield block["path"], block["text"]
        elif block["language"] == "python":
            yield "page.py", f"import pit_fetch\n{block['text']}"
            yield "", "python page.py"
        elif block["language"] != "console":  # test_sample_pages.py types those
            assert block["language"] in ("sh", "crontab"), block[0]
            for line in block["text"].splitlines():
                yield "", re.sub(r"^\S+ \S+ \S+ \S+ \S+  ", "", line) if block["language"] == "crontab" else line


def app(request: HttpRequest) -> Response:
    rows = [{"date": "2026-06-30", "horizon": "fiscal quarter", "eps_estimate_average": "2.50"}]
    reported = {"fiscalDateEnding": "2026-03-31", "reportedDate": "2026-04-22", "reportedEPS": "1.85"}
    estimates = alpha(
        EARNINGS_ESTIMATES={"symbol": "IBM", "estimates": rows},
        EARNINGS={"symbol": request.query.get("symbol"), "quarterlyEarnings": [reported]},
    )
    news = articles(benzinga.article(1, datetime.now(UTC) - timedelta(hours=1)))
    return (estimates if "function" in request.query else news)(request)


def test_what_it_is_for_and_who_must_not_see_it_come_first() -> None:
    titles = re.findall(r"^## (.*)", PAGE, re.MULTILINE)
    assert titles[:4] == ["Try it", "Capture, ask, delete", "Who must not see it", "Asking it"]
    assert PAGE.index("Keep it where no agent can read it") < PAGE.index("```")


def test_the_look_back_of_the_list_spans_the_weekend_of_its_cron() -> None:
    (minutes,) = map(int, re.findall(r"lookback_minutes = (\d+)", PAGE))
    assert any("30 16 * * 1-5" in page for page in MORE)
    assert minutes > 3 * 24 * 60


@pytest.mark.thorough
def test_every_command_of_the_pages_runs(tmp_path: Path) -> None:
    script = ["set -e"]
    for path, text in steps():
        if path:
            script.append(f"cat > {path} <<'END_OF_FILE'\n{text}END_OF_FILE")
        else:
            script += [f"echo '$ '{json.dumps(text)} >&2", text]
    with serve(app) as server:
        env = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(tmp_path),
            "PIT_FETCH_BENZINGA_URL": server.url,
            "PIT_FETCH_ALPHAVANTAGE_URL": server.url,
            **KEYS,
            **UNLIMITED,
        }
        done = subprocess.run(
            ["bash", "-c", "\n".join(script)], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
    told = [line for line in done.stderr.splitlines() if not line.startswith("$ ")]
    assert (done.returncode, told) == (0, []), done.stderr
    assert "2 captured, 0 held, 0 failed" in done.stdout
    assert "upstream_error" not in done.stdout
    assert '"type": "config"' not in done.stdout
    assert (tmp_path / "archives" / "research.db").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "archives" / "backup.db").exists()


@pytest.mark.parametrize(
    "name", ["info", "log", "replay", "verify", "backup", "merge", "repair", "rebuild", "drop", "sample"]
)
def test_every_command_is_on_a_page(name: str) -> None:
    assert any(f"pit_fetch archive {name}" in text for path, text in steps() if not path)
