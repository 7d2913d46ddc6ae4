"""The command for a missing package installs it where this process looks for it, not where a shell's python3 does."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from pit_fetch.support.install import install_command


@pytest.fixture
def prefix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment whose interpreter no shell finds by its name."""
    prefix = tmp_path / "pit-fetch"
    (prefix / "bin").mkdir(parents=True)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(sys, "executable", str(prefix / "bin" / "python"))
    return prefix


def test_pipx_injects_it(prefix: Path) -> None:
    (prefix / "pipx_metadata.json").write_text("{}")
    assert install_command("curl_cffi") == "pipx inject pit-fetch curl_cffi"


def test_uv_installs_into_its_environment_which_has_no_pip(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nimplementation = CPython\nuv = 0.13.9\n")
    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if "Path" in repr(finder)])
    monkeypatch.delitem(sys.modules, "pip", raising=False)
    assert install_command("curl_cffi") == f"uv pip install --python {prefix} curl_cffi"


def test_another_environment_is_named_by_its_interpreter(prefix: Path) -> None:
    assert install_command("curl_cffi") == f"{prefix}/bin/python -m pip install curl_cffi"


def test_an_environment_that_the_shell_is_in_is_that_of_python3(prefix: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python = prefix / "bin" / "python3"
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(prefix / "bin"), os.environ["PATH"]]))
    assert install_command("curl_cffi") == "python3 -m pip install curl_cffi"
