"""The rate limit: exact within any window, shared by processes, and without turns for callers that do not wait."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pit_fetch.net.ratelimit import DAY, Limiter, State, limiter, rate_of
from pit_fetch.provider import Host, Rate

FOR_EVER = math.inf


class Hand:
    """A clock that is set by hand."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def alone(rate: Rate, clock: Hand) -> Limiter:
    return Limiter(rate, "", clock, State([]))


@given(
    st.lists(st.tuples(st.floats(0, 2), st.sampled_from([0.5, 1, 3, 60, FOR_EVER])), min_size=1, max_size=120),
    st.integers(1, 10),
    st.sampled_from([0.5, 1.0, 7.0]),
)
def test_no_window_holds_more_than_its_calls_and_no_turn_is_lost(calls, most, seconds) -> None:
    clock, starts = Hand(), list[float]()
    limit = alone(Rate(most, seconds), clock)
    for pause, patience in calls:
        clock.now += pause
        wait = limit.reserve(patience)
        # The earliest start that the granted turns allow, whichever calls were refused meanwhile.
        expected = max(0.0, starts[-most] + seconds - clock.now) if len(starts) >= most else 0.0
        assert wait == pytest.approx(expected, abs=1e-6)
        if wait < patience:
            starts.append(clock.now + wait)
    assert all(later - earlier >= seconds - 1e-6 for earlier, later in zip(starts, starts[most:], strict=False))


@pytest.mark.parametrize(
    ("rate", "within", "waits"),
    [
        (Rate(3), [FOR_EVER] * 4, [0, 0, 0, 1]),  # a burst up to the rate does not wait
        (Rate(1), [2, 2, 1.5, 1.5, 0.5, 3], [0, 1, 2, 2, 2, 2]),  # a caller that cannot wait takes no turn
        (Rate(1, 10.0), [DAY] * 300, [10.0 * place for place in range(300)]),  # a queue of any length is served
    ],
)
def test_turns(rate: Rate, within: list[float], waits: list[float]) -> None:
    limit = alone(rate, Hand())
    assert [limit.reserve(seconds) for seconds in within] == waits


@pytest.mark.parametrize("rate", [Rate(1), Rate(24, 60), Rate(3, 600.0)])
def test_after_a_refusal_no_limiter_of_the_key_grants_a_request_for_as_long(rate: Rate, tmp_path: Path) -> None:
    clock = Hand()
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    first, *others = (limiter(each, "h", environ, clock) for each in (rate, rate, Rate(1, 4.0), Rate(5, 0.5)))
    first.reserve(FOR_EVER)
    first.close(60.0)
    assert [other.reserve(30.0) for other in others] == [60.0, 60.0, 60.0]
    clock.now += 59.0
    assert [other.reserve(0.5) for other in others] == [1.0, 1.0, 1.0]
    clock.now += 1.0
    assert others[-1].reserve(0.5) == 0.0


# Twenty callers in a process without a clock of its own: their waits depend on the file alone.
CALLERS = """
import sys
from pit_fetch.provider import Rate
from pit_fetch.net.ratelimit import limiter
for _ in range(20):
    wait = limiter(Rate(1), 'h', {'XDG_CACHE_HOME': sys.argv[1]}, lambda: 1000.0).reserve(60.0)
    print(wait)
"""


def test_two_hundred_callers_get_a_turn_each_or_none(tmp_path: Path) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", CALLERS, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(10)
    ]
    waits = [float(line) for process in running for line in process.communicate(timeout=60)[0].split()]
    granted = sorted(wait for wait in waits if wait < 60)
    assert granted == [float(second) for second in range(60)]
    assert [wait for wait in waits if wait >= 60] == [60.0] * 140


@pytest.mark.parametrize("back", [0.25, 3_600.0, 86_400.0])
def test_a_clock_that_was_set_back_takes_the_queue_with_it(tmp_path: Path, back: float) -> None:
    environ, clock = {"XDG_CACHE_HOME": str(tmp_path)}, Hand()
    for _ in range(3):
        limiter(Rate(1), "h", environ, clock).reserve(FOR_EVER)
    clock.now -= back
    assert [limiter(Rate(1), "h", environ, clock).reserve(FOR_EVER) for _ in range(2)] == pytest.approx([3, 4])


@pytest.mark.parametrize("plant", ["file", "link", "hard link", "pipe", "folder", "another user's"])
def test_a_state_that_is_not_ours_limits_within_the_process(
    tmp_path: Path, plant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = tmp_path / "pit_fetch", tmp_path / "other"
    other.write_bytes(b"of another")
    if plant == "file":
        folder.write_text("")
    else:
        folder.mkdir(mode=0o700)
    path = folder / "rate-h"
    match plant:
        case "link":
            path.symlink_to(other)
        case "hard link":
            path.hardlink_to(other)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case "another user's":
            monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    limit = limiter(Rate(1), "h", {"XDG_CACHE_HOME": str(tmp_path)}, Hand())
    assert [limit.reserve(FOR_EVER), limit.reserve(FOR_EVER)] == [0, 1]
    assert other.read_bytes() == b"of another"


HOST = Host("Demo", "https://data.demo-host.org", "DEMO_URL", Rate(7, 2.0, "bucket"))


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("", HOST.rate),
        ("5/1", Rate(5, 1.0, "bucket")),
        (" 10000/86400 ", Rate(10_000, 86_400.0, "bucket")),
        ("1/0.25", Rate(1, 0.25, "bucket")),
    ],
)
def test_the_rate_of_a_host_is_a_setting(text: str, rate: Rate) -> None:
    assert rate_of(HOST, {"PIT_FETCH_RATE_DATA_DEMO_HOST_ORG": text}) == rate
    assert rate_of(HOST._replace(rate=None), {"PIT_FETCH_RATE_DATA_DEMO_HOST_ORG": "5/1"}) == Rate(5)
