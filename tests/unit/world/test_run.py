"""``pit_fetch run`` around real programs: what they get, what the operator gets, and what stays theirs."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pit_fetch.archive.store import schema
from pit_fetch.world import sealed
from tests.unit.world.driver import BIG, SEALED_VARIABLE
from tests.unit.world.sealable import needs_sealing, outside
from tests.unit.world.ways_out import WORD

ROOT = Path(__file__).parents[3]
PIT = "2024-02-15T16:00:00-05:00"
PROGRAM, WAYS_OUT = (str(ROOT / "tests/unit/world" / name) for name in ("program.py", "ways_out.py"))
pytestmark = needs_sealing


def words(*options: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.unit.world.driver", "--pit", PIT, *options)


def run(*options: str, stdin: str = "", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    outer = {name: text for name, text in os.environ.items() if not name.startswith(("PIT_FETCH_", "CLAUDECODE"))}
    environ = {**outer, "PYTHONWARNINGS": "ignore", **(env or {})}
    done = subprocess.run(
        words(*options), cwd=ROOT, env=environ, input=stdin, capture_output=True, text=True, timeout=120
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def model() -> Iterator[int]:
    """A model's API on this machine, which streams."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "6")
            self.end_headers()
            self.wfile.write(b"models")

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for part in (b"data: 0\n", b"data: 1\n", b""):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))

        def log_message(self, *rest: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def shown(model: int, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program of :mod:`tests.unit.world.program` got, and the report of its run."""
    report = tmp_path_factory.mktemp("report") / "report.json"
    done = run("--allow", f"localhost:{model}", "--report", str(report), "--", sys.executable, PROGRAM, str(model))
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return {**result, "report": json.loads(report.read_text())}


BIG_HASH = [len(BIG), hashlib.sha256(BIG).hexdigest()]
EXPECTED = {
    "without variables": "/x",
    "http": "http",
    "an address in a query": "/x?url=https://a.test/y",
    "post": True,
    "chunked": "abb",
    "compressed request": 200,
    "compressed reply": ["gzip", "{"],
    "a range": [206, "bytes 2-5/4000", 4, "2345"],
    "the end": [206, "bytes 3996-3999/4000", 4, "cdef"],
    "beyond": [416, "bytes */4000", 0, ""],
    "several": [200, None, 4_000, "01234567"],
    "HEAD": [200, str(len(BIG)), 0],
    "50 MB": BIG_HASH,
    "50 MB, HTTP/2": BIG_HASH,
    "post, HTTP/2": True,
    "HEAD, HTTP/2": 0,
    "64 streams": True,
    "64 connections": True,
    "allowed": ["models"],
    "a web tool": [403, "not_allowed"],
    "its own sockets": ["own", "own"],
}


def test_a_program_gets_what_it_asks_for_in_every_way_of_http(model: int, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = run("--allow", f"localhost:{model}", "--report", str(report), "--", sys.executable, PROGRAM, str(model))
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert {name: shown[name] for name in EXPECTED} == EXPECTED
    _check_request(shown["requests"]["echo"])
    _check_refusals(shown)
    _check_clock(shown)
    _check_report(json.loads(report.read_text()))
    assert shown["ms a request"] < 50  # 1.5 on an idle core


def _check_request(echo: dict[str, Any]) -> None:
    """Check that a view gets the request as it was, but for what depends on a later state."""
    assert (echo["method"], echo["scheme"], echo["host"], echo["port"]) == ("GET", "https", "echo.test", 443)
    assert (echo["target"], echo["pit"]) == ("/a?b=%2F&c=d%20e", "2024-02-15T21:00:00+00:00")
    names = {name.lower() for name, _ in echo["headers"]}
    assert "x-own" in names
    assert not names & {"if-none-match", "range", "accept-encoding", "connection", "proxy-connection"}


def _check_refusals(shown: dict[str, Any]) -> None:
    """Check that what is refused names the fix, and no cause."""
    status, body, header = shown["a refused host"]
    assert (status, header, body["error"]["type"]) == (403, "refused", "not_viewed")
    assert "--allow" in body["error"]["message"]
    status, body = shown["a bug of a view"]
    assert (status, body["error"]["type"]) == (403, "not_viewed")
    assert "a bug" not in body["error"]["message"]


def _check_clock(shown: dict[str, Any]) -> None:
    """Check that the clock and every date stand at the instant, but for an allowed host's."""
    assert shown["now"].startswith("2024-02-15T21:0")
    assert 0.01 <= shown["a wait"] < 5
    assert shown["requests"]["headers"]["date"].startswith("Thu, 15 Feb 2024 21:0")
    assert not shown["a stream"][0].startswith("Thu, 15 Feb 2024")
    assert shown["a stream"][1] == ["data: 0", "data: 1"]


def _check_report(report: dict[str, Any]) -> None:
    assert (report["pit"], report["network"]) == ("2024-02-15T21:00:00+00:00", "sealed")
    rows = {(row["host"], row["path"]): row for row in report["exchanges"]}
    assert rows["echo.test", "/big"]["left_out"] == 2
    assert rows["other.test", "/x"]["verdict"] == "refused"
    assert {row["verdict"] for row in report["exchanges"]} == {"viewed", "refused", "allowed"}
    assert set(rows["echo.test", "/a"]) == {
        "method", "host", "path", "status", "verdict", "source", "kept", "left_out",
    }  # fmt: skip


def test_no_way_leads_out(tmp_path: Path) -> None:
    archive = tmp_path / "archive.db"
    schema.open_to_write(str(archive)).close()
    with outside(tmp_path, archive) as (host, descriptor):
        words_ = words("--archive", str(archive), "--allow", "allowed.test", "--", sys.executable, WAYS_OUT, str(host))
        done = subprocess.run(words_, cwd=ROOT, stdout=subprocess.PIPE, pass_fds=[descriptor], timeout=120)
    shown = json.loads(done.stdout)
    assert len(shown) > 100
    open_ways = {name for name, (state, _) in shown.items() if state == "open"}
    # Which tell the time of the machine, and nothing that came after the instant (docs/run.md).
    assert open_ways == {name for name in shown if name.endswith("(open)")}, {n: shown[n] for n in open_ways}
    assert WORD.decode() not in done.stdout.decode()


# Which reach what this machine has, where nothing is sealed. The others would leave it.
LOCAL_WAYS = (
    "TCP: another port of the loopback", "IPv6: the loopback", "UDP: the machine's loopback",
    "Unix socket: an absolute path", "Unix socket: a relative path", "Unix socket: a link to it",
    "Unix socket: datagrams", "Unix socket: an abstract name", "Unix socket: a hard link to it",
    "descriptors: those that were inherited", "root: of a process outside", "process: its variables",
    "process: end one outside", "process: shared memory of System V", "files: the program of the run",
    "files: what holds the replies of today",
)  # fmt: skip


def test_without_a_run_the_same_ways_are_open(tmp_path: Path) -> None:
    (tmp_path / "archive.db").write_bytes(WORD)
    with outside(tmp_path, tmp_path / "archive.db") as (host, descriptor):
        command = (sys.executable, WAYS_OUT, str(host), *LOCAL_WAYS)
        done = subprocess.run(command, stdout=subprocess.PIPE, pass_fds=[descriptor], timeout=120)
    assert {name: state for name, (state, _) in json.loads(done.stdout).items()} == dict.fromkeys(LOCAL_WAYS, "open")


# A step of the seal that is left out, and a way that then meets something else.
MUTANTS = {
    "no process namespace": ("| 0x20000000", "", "process: end one outside"),
    "no IPC namespace": ("| 0x08000000", "", "process: shared memory of System V"),
    "sockets are not covered": ('*settings["covered"]', "*()", "Unix socket: an absolute path"),
    "the archive is not covered": ('*settings["covered"]', "*()", "files: what holds the replies of today"),
    "the program is not protected": ('*settings["read_only"]', "*()", "files: the program of the run"),
    "folders are not emptied": ('in settings["empty"]:', "in ():", "Unix socket: a folder of /run"),
    "no filter": ('_call("prctl", _SECCOMP, _FILTER, program, 0, 0)', "pass", "socket: packets of an interface"),
    "descriptors stay": ("control.set_inheritable(False)", "pass", "descriptors: those that were inherited"),
    "capabilities stay": ("range(64)", "()", "process: capabilities"),
}


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0, reason="some steps matter for root alone")
@pytest.mark.parametrize("mutant", MUTANTS)
def test_each_step_of_the_seal_closes_a_way(mutant: str, tmp_path: Path) -> None:
    old, new, way = MUTANTS[mutant]
    text = Path(sealed.__file__).read_text()
    assert text.count(old) == 1
    leaky, archive = tmp_path / "sealed.py", tmp_path / "archive.db"
    leaky.write_text(text.replace(old, new))
    schema.open_to_write(str(archive)).close()
    with outside(tmp_path, archive) as (host, _):
        command = ("--archive", str(archive), "--", sys.executable, WAYS_OUT, str(host), way)
        closed, opened = run(*command), run(*command, env={SEALED_VARIABLE: str(leaky)})
    assert json.loads(closed.stdout)[way][0] == "closed"
    assert json.loads(opened.stdout)[way] != json.loads(closed.stdout)[way]


def test_node_and_curl_pass() -> None:
    code = (
        "fetch('https://echo.test/n').then(async r => console.log((await r.json()).target, new Date().getFullYear()))"
    )
    done = run("--", "sh", "-c", f'node -e "{code}"; curl -s https://echo.test/c; env -i curl -s http://echo.test/d')
    if "node: not found" not in done.stderr:
        assert done.stdout.startswith("/n 2024\n")
    assert '"target": "/c"' in done.stdout
    assert '"target": "/d"' in done.stdout  # which knows of no proxy


def test_streams_and_exit_status_are_the_commands() -> None:
    done = run("--", "sh", "-c", "cat; echo complaint >&2; exit 7", stdin="from stdin")
    assert (done.returncode, done.stdout, done.stderr) == (7, "from stdin", "complaint\n")
    missing = run("--", "no-such-command")
    assert missing.returncode == 127
    assert "no-such-command" in missing.stderr


@pytest.mark.parametrize(("script", "status"), [("kill -9 $$", -9), ("kill -TERM $$", -15), ("exit 255", 255)])
def test_the_end_is_that_of_the_command(script: str, status: int) -> None:
    assert run("--", "sh", "-c", script).returncode == status


def test_signals_reach_the_command_and_nothing_outlives_it(tmp_path: Path) -> None:
    ready, lived = tmp_path / "ready", tmp_path / "lived"
    script = f"trap 'exit 5' TERM; (sleep 3; touch {lived}) & touch {ready}; while :; do sleep 0.05; done"
    with subprocess.Popen(words("--", "sh", "-c", script), cwd=ROOT, start_new_session=True) as started:
        while not ready.exists():
            time.sleep(0.02)
        started.send_signal(signal.SIGTERM)
        assert started.wait(30) == 5
    left = subprocess.run(("pgrep", "--full", f"touch {lived}"), capture_output=True)
    assert not left.stdout


def test_a_source_that_hangs_holds_up_nobody_once_the_command_has_ended() -> None:
    started = time.monotonic()
    assert run("--", "curl", "-s", "--max-time", "0.5", "https://echo.test/hanging").returncode == 28
    assert time.monotonic() - started < 30


def test_a_killed_run_takes_the_command_with_it(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"touch {ready}; while :; do sleep 0.05; touch {tmp_path}/alive; done"
    with subprocess.Popen(words("--", "sh", "-c", script), cwd=ROOT) as started:
        while not ready.exists():
            time.sleep(0.02)
        started.kill()
    deadline = time.monotonic() + 10
    while subprocess.run(("pgrep", "--full", f"touch {ready}"), capture_output=True).stdout:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_variables_of_the_operator_name_nothing_of_later(tmp_path: Path) -> None:
    archive = str(tmp_path / "archive.db")
    done = run("--archive", archive, "--", "sh", "-c", f"env; wc -c < {archive}-wal; wc -c < {archive}; ls /run")
    assert "PIT_FETCH_ARCHIVE" not in done.stdout
    assert done.stdout.endswith("\n0\n0\n")


def test_the_record_has_what_was_shown_without_keys(tmp_path: Path) -> None:
    record = tmp_path / "runs.db"
    run(
        "--record",
        str(record),
        "--",
        "curl",
        "-s",
        "https://echo.test/a?apikey=secret&x=1",
        env={"PIT_FETCH_RUN": "r1"},
    )
    with closing(sqlite3.connect(record)) as connection:
        ((name, request, source),) = connection.execute("SELECT run, request, source FROM calls")
    assert (name, request, source) == ("r1", "GET https://echo.test/a?apikey=***&x=1", "echo")
    verify = (sys.executable, "-m", "pit_fetch", "runs", "verify", "r1", "--record", str(record), "--json")
    done = subprocess.run((*verify, "--archive", str(record)), cwd=ROOT, capture_output=True, text=True)
    assert json.loads(done.stdout)["not_answerable"][0]["reason"].startswith("a program asked this")


def test_a_proxy_says_that_it_is_no_seal() -> None:
    done = run("--network", "proxy", "--", "curl", "-s", "https://echo.test/p")
    assert '"target": "/p"' in done.stdout
    assert done.stderr == "pit_fetch: a program can go around --network proxy: it is no seal\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "behind --"),
        (("--allow", "http://x.test", "--", "true"), "--allow takes hosts"),
        (("--clock", "now", "--", "true"), "--clock is T or off"),
        (("--offline", "--", "true"), "--offline needs an archive"),
        (("--network", "open", "--", "true"), "--network"),
    ],
)
def test_a_wrong_option_starts_nothing(options: tuple[str, ...], said: str) -> None:
    done = run(*options)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_kernel_without_namespaces_is_named() -> None:
    script = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    user = ("unshare", "--user", "--map-root-user", "sh", "-c", script, "sh")
    done = subprocess.run((*user, *words("--", "true")), cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, "--network sealed needs new namespaces" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("options", [("--report", "report.json"), ("--evidence", "claimed")])
def test_an_agents_client_gets_no_report_and_grants_no_claims(options: tuple[str, ...]) -> None:
    done = run(*options, "--", "true", env={"CLAUDECODE": "1"})
    assert (done.returncode, options[0] in done.stderr) == (2, True)


def test_an_agent_that_is_bound_runs_nothing() -> None:
    done = run("--", "true", env={"PIT_FETCH_CEILING": PIT})
    assert done.returncode == 2


def test_nothing_of_a_run_stays(tmp_path: Path) -> None:
    done = run("--", "sh", "-c", "ls $TMPDIR/*/certificates.pem", env={"TMPDIR": str(tmp_path)})
    assert done.stdout
    assert list(tmp_path.iterdir()) == []
