"""Captures ask for several things at once, within each host's rate, and tell whoever watches what became of each."""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.testing.server import App, Response, as_json
from pit_fetch.transport import HttpRequest
from tests.loopback.silent import Silent
from tests.providers.bz_news_api import server as benzinga
from tests.serving import serve
from tests.unit.archive.scene import Archive, articles, at, estimates

FAST = {"PIT_FETCH_RATE_API_BENZINGA_COM": "1000/1", "PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "1000/1"}


def listed(archive: Archive, count: int, more: str = "") -> None:
    tables = (f"[[request]]\nname = 'n{n}'\nsource = 'benzinga'\ntickers = ['T{n}']\n{more}\n" for n in range(count))
    (archive.folder / "list.toml").write_text("may_be_empty = true\n".join([*tables, ""]))


class Slow:
    """A server that takes its time, and counts how many requests are under way at once."""

    def __init__(self, app: App, seconds: float) -> None:
        self.app, self.seconds, self.lock = app, seconds, threading.Lock()
        self.now = self.most = 0
        self.begun: list[float] = []

    def __call__(self, request: HttpRequest) -> Any:
        with self.lock:
            self.begun.append(time.monotonic())
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(self.seconds)
        with self.lock:
            self.now -= 1
        return self.app(request)


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path, app=articles(benzinga.article(1, at("2026-06-01 14:30"))))


def test_sixty_requests_of_a_tenth_of_a_second_take_three(archive: Archive) -> None:
    listed(archive, 60)
    archive.app = slow = Slow(archive.app, 0.1)
    began = time.monotonic()
    left = archive.command("capture list.toml --json", "2026-06-01 15:00", env=FAST)
    assert (left.code, json.loads(left.out)["captured"]) == (0, 60)
    assert time.monotonic() - began < 6, "one after another they take more; alone on the machine it is 2 s"
    assert slow.most == 8
    assert [row["name"] for row in json.loads(left.out)["requests"]] == [f"n{n}" for n in range(60)]
    assert archive.command("archive verify").code == 0


def test_one_at_a_time_is_possible(archive: Archive) -> None:
    listed(archive, 4)
    archive.app = slow = Slow(archive.app, 0.02)
    assert archive.command("capture list.toml --parallel 1", "2026-06-01 15:00", env=FAST).code == 0
    assert slow.most == 1


def test_no_hosts_rate_is_exceeded(archive: Archive) -> None:
    """A process, whose clock is that of the machine: ten requests in any second, also where no folder has a state."""
    listed(archive, 24, "lookback_minutes = 10000000")
    for home in (str(archive.folder), ""):
        slow = Slow(archive.app, 0.01)
        with serve(slow) as server:
            env = {"PIT_FETCH_RATE_API_BENZINGA_COM": "10/1", "HOME": home}
            process = archive.process(server.url, "capture", "list.toml", "--again", env=env)
            out, err = process.communicate(timeout=60)
        begun = sorted(slow.begun)
        assert (process.returncode, len(begun)) == (0, 24), (out, err)
        # The first one is sent half a second after its turn: it loads what all of them need.
        assert begun[20] - begun[10] > 0.8
        assert begun[11] - begun[1] > 0.3


def test_a_source_with_a_slow_rate_keeps_no_other_waiting(archive: Archive) -> None:
    asked: list[str] = []
    listed(archive, 6)
    symbols = "".join(
        f"[[request]]\nsource = 'alphavantage'\nop = 'EARNINGS_ESTIMATES'\nsymbol = 'S{n}'\n" for n in range(6)
    )
    (archive.folder / "list.toml").write_text(symbols + (archive.folder / "list.toml").read_text())
    by_function, by_token = Slow(estimates(("2026-06-30", "1")), 0.1), archive.app

    def answer(request: HttpRequest) -> Any:
        asked.append("slow" if "function" in request.query else "fast")
        return by_function(request) if "function" in request.query else by_token(request)

    archive.app = answer
    slow = {**FAST, "PIT_FETCH_RATE_WWW_ALPHAVANTAGE_CO": "1/2"}
    left = archive.command("capture list.toml --json", "2026-06-01 15:00", env=slow)
    assert json.loads(left.out)["failed"] == 6, "the replies are about another symbol"
    assert asked.index("fast") < 5


def test_two_lists_at_once_lose_nothing(archive: Archive) -> None:
    archives = []
    for name in ("one", "two"):
        listed(archive, 12)
        (archive.folder / "list.toml").rename(archive.folder / f"{name}.toml")
        archives.append(Archive(archive.folder, app=archive.app))
    codes: list[int] = []

    def capture(name: str, each: Archive) -> None:
        codes.append(each.command(f"capture {name}.toml --json", "2026-06-01 15:00", env=FAST).code)

    both = [threading.Thread(target=capture, args=pair) for pair in zip(("one", "two"), archives, strict=True)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert codes == [0, 0]
    assert len(json.loads(archive.command("archive log --json").out)) == 24
    assert archive.command("archive verify").code == 0


def log_of(archive: Archive) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (archive.folder / "log.jsonl").read_text().splitlines()]


SUMMARY = "captured held failed not_asked exchanges bytes retries holes seconds started ended version"
WATCHED = "capture list.toml --log log.jsonl --metrics m.prom"


def test_a_log_has_a_line_for_each_request_and_a_summary(archive: Archive) -> None:
    listed(archive, 2, "lookback_minutes = 1500")
    failing = archive.app
    replies = iter([Response(b"busy", status=503)])
    archive.app = lambda request: next(replies, None) or failing(request)
    assert archive.command(WATCHED, "2026-06-01 15:00", env=FAST).code == 0
    *rows, last = log_of(archive)
    assert {row["status"] for row in rows} == {"captured"}
    assert sum(row["retries"].get("503", 0) for row in rows) == 1
    assert {*rows[0]} == {"request", "name", "status", "exchanges", "bytes", "seconds", "retries", "error", "hole"}
    assert {*last["summary"]} == {*SUMMARY.split()}
    assert (last["summary"]["captured"], last["summary"]["retries"]) == (2, {"503": 1})
    metrics = (archive.folder / "m.prom").read_text()
    assert 'pit_fetch_capture_requests{list="list.toml",status="captured"} 2\n' in metrics
    assert 'pit_fetch_capture_retries{list="list.toml",cause="503"} 1\n' in metrics
    assert all(re.fullmatch(r"(# (HELP|TYPE) \w+ .+|\w+\{.*\} [0-9.e+]+)", line) for line in metrics.splitlines())
    # A hole has an exit status of its own, and a failure outweighs it.
    assert archive.command(WATCHED, "2026-06-04 15:00", env=FAST).code == 6
    assert log_of(archive)[-1]["summary"]["holes"] == 2
    archive.app = lambda request: as_json({"error": "no"}, status=400)
    assert archive.command(WATCHED, "2026-06-08 15:00", env=FAST).code == 1
    assert log_of(archive)[-1]["summary"]["failed"] == 2
    assert all(row["error"] for row in log_of(archive)[-3:-1])


def test_names_are_capped_where_they_are_printed(archive: Archive) -> None:
    listed(archive, 14)
    archive.app = lambda request: as_json({"error": "no"}, status=400)
    left = archive.command("capture list.toml", "2026-06-01 15:00", env=FAST)
    assert (left.code, left.err.count(", n"), left.err.endswith("and 4 more\n")) == (1, 9, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_summary(archive: Archive, number: int) -> None:
    listed(archive, 3, "lookback_minutes = 10000000")
    silent = Silent()
    with serve(silent) as server:
        process = archive.process(server.url, *WATCHED.split(), "--quiet")
        assert silent.asked()
        process.send_signal(number)
        process.communicate(timeout=20)
    assert process.returncode == 130
    assert log_of(archive)[-1]["summary"]["not_asked"] == 3
    assert 'status="not_asked"} 3' in (archive.folder / "m.prom").read_text()
