"""The rate limit: exact within any window, and shared by processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.provider import Rate
from pit_fetch.ratelimit import Limiter, limiter


class Hand:
    """A clock that is set by hand."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@given(st.lists(st.floats(0, 0.5), min_size=1, max_size=60), st.integers(1, 10))
def test_no_window_holds_more_than_its_calls(gaps: list[float], calls: int) -> None:
    clock, starts = Hand(), []
    one = Limiter(Rate(calls), "", clock, [])
    for gap in gaps:
        clock.now += gap
        starts.append(clock.now + one.reserve())
    assert all(later - earlier >= 1 - 1e-6 for earlier, later in zip(starts, starts[calls:], strict=False))


def test_a_burst_up_to_the_rate_does_not_wait() -> None:
    one = Limiter(Rate(3), "", Hand(), [])
    assert [one.reserve() for _ in range(4)] == [0, 0, 0, 1]


def test_limiters_of_one_key_share_their_state(tmp_path: Path) -> None:
    environ, clock = {"XDG_CACHE_HOME": str(tmp_path)}, Hand()
    first, second, other = (limiter(Rate(2), key, environ, clock) for key in ("a:1", "a:1", "b:1"))
    assert [first.reserve(), second.reserve(), first.reserve(), other.reserve()] == [0, 0, 1, 0]


def test_processes_share_their_state(tmp_path: Path) -> None:
    code = (
        "import sys; from pit_fetch.provider import Rate; from pit_fetch.ratelimit import limiter\n"
        "one = limiter(Rate(5), 'h', {'XDG_CACHE_HOME': sys.argv[1]}, lambda: 1000.0)\n"
        "print(sum(one.reserve() == 0 for _ in range(5)))"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert sum(int(process.communicate(timeout=30)[0]) for process in running) == 5


@pytest.mark.parametrize("content", [b"", b"garbage", b"\xff" * 400])
def test_a_damaged_state_is_no_obstacle(tmp_path: Path, content: bytes) -> None:
    environ, clock = {"XDG_CACHE_HOME": str(tmp_path)}, Hand()
    limiter(Rate(2), "h", environ, clock).reserve()
    (tmp_path / "pit_fetch" / "rate-h").write_bytes(content)
    assert [limiter(Rate(2), "h", environ, clock).reserve() for _ in range(3)] == [0, 0, 1]


def test_a_clock_that_was_set_back_does_not_stop_everything(tmp_path: Path) -> None:
    environ, clock = {"XDG_CACHE_HOME": str(tmp_path)}, Hand()
    limiter(Rate(1), "h", environ, clock).reserve()
    clock.now -= 86_400
    assert limiter(Rate(1), "h", environ, clock).reserve() == 0


def test_an_unwritable_cache_limits_within_the_process(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    one = limiter(Rate(1), "h", {"XDG_CACHE_HOME": str(tmp_path / "file")}, Hand())
    assert [one.reserve(), one.reserve()] == [0, 1]
