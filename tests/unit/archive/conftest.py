"""Archives lie in memory, where the machine has that."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.memory_folder import scratch


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    with scratch("archive-") as folder:
        yield Path(folder)
