"""The process around a fetch: slow readers, interrupts, input that does not end, hostile neighbours, terminals."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.conftest import Run
from tests.loopback.silent import Silent
from tests.providers.bz_news_api.server import TOKEN, article
from tests.serving import serve

ROOT = Path(__file__).resolve().parents[2]
PIT_TEXT = "2024-02-15T16:00:00-05:00"
PIT = datetime.fromisoformat(PIT_TEXT)
AT_PIT = ("--source", "bz-news-api", "--pit", PIT_TEXT)
MODULE = (sys.executable, "-m", "pit_fetch")
ENTRIES = {
    "console": (str(Path(sys.executable).parent / "pit_fetch"),),
    "module": MODULE,
    "script": (sys.executable, str(ROOT / "pit_fetch.py")),
}
SAMPLE = str(ROOT / "examples" / "sample" / "bz_news.json")
INTERRUPTED = "Interrupted; nothing from the fetch is printed."


@pytest.fixture
def large(tmp_path: Path) -> str:
    """A reply whose envelope fills a pipe several times."""
    path = tmp_path / "large.json"
    articles = [article(n, PIT - timedelta(seconds=n), body="x" * 5_000) for n in range(1, 61)]
    path.write_text(json.dumps(articles))
    return str(path)


def set_nonblocking(fd: int) -> None:
    fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK)


def test_a_pipe_that_does_not_block_gets_the_whole_envelope(large: str) -> None:
    read, write = os.pipe()
    set_nonblocking(write)
    process = subprocess.Popen([*MODULE, *AT_PIT, "--limit", "60", "--input-file", large], stdout=write)
    os.close(write)
    capacity = fcntl.fcntl(read, fcntl.F_GETPIPE_SZ)
    waiting = int.from_bytes(fcntl.ioctl(read, 0x541B, b"\0" * 4), sys.byteorder)  # FIONREAD
    while waiting < capacity and process.poll() is None:  # a slow reader: it starts once the pipe is full
        waiting = int.from_bytes(fcntl.ioctl(read, 0x541B, b"\0" * 4), sys.byteorder)
    with open(read, "rb") as stream:
        out = stream.read()
    assert process.wait(20) == 0
    assert len(out) > 4 * capacity
    assert len(json.loads(out)["data"]) == 60


def test_a_reader_that_leaves_in_the_middle_ends_it_quietly(large: str) -> None:
    read, write = os.pipe()
    set_nonblocking(write)
    process = subprocess.Popen(
        [*MODULE, *AT_PIT, "--input-file", large], stdout=write, stderr=subprocess.PIPE, text=True
    )
    os.close(write)
    assert os.read(read, 10)
    os.close(read)
    assert (process.communicate(timeout=20)[1], process.returncode) == ("", 141)


def test_a_full_stderr_costs_no_envelope() -> None:
    read, write = os.pipe()
    set_nonblocking(write)
    os.write(write, b"x" * fcntl.fcntl(read, fcntl.F_GETPIPE_SZ))
    done = subprocess.run([*MODULE, "--source", "nope"], stdout=subprocess.PIPE, stderr=write, timeout=20, check=False)
    assert (done.returncode, json.loads(done.stdout)["gaps"][0]["type"]) == (2, "config")
    os.close(read)
    os.close(write)


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ("console", "gaps"),
        ("module", "request.fetch_request"),
        ("script", "courtesy.timestamps"),
        ("script", "gaps"),
    ],
)
def test_an_interrupt_while_modules_are_loaded_ends_with_an_envelope(
    run: Run, tmp_path: Path, entry: str, name: str
) -> None:
    # An import hook sends the interrupt in the middle of an import.
    (tmp_path / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Striker:\n"
        "    def find_spec(self, found, path=None, target=None):\n"
        f"        if found == 'pit_fetch.{name}': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Striker())\n"
    )
    done = run("--source", "benzinga", "--pit", "now", command=ENTRIES[entry], env={"PYTHONPATH": str(tmp_path)})
    assert (done.code, done.envelope["gaps"][0]["reason"]) == (130, INTERRUPTED)
    assert done.err.decode() == f"pit_fetch: {INTERRUPTED}\n"


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_interrupt_at_any_time_ends_with_an_envelope_or_after_it(entry: str) -> None:
    # Before the program's first line an interrupt is Python's own; stderr shows how far the process is.
    words = [*ENTRIES[entry], *AT_PIT, "--input-file", SAMPLE]
    env = {"PATH": os.environ["PATH"], "PYTHONPROFILEIMPORTTIME": "1"}
    steps = ["pit_fetch.support.process", "pit_fetch.errors", "argparse", "pit_fetch.times", "pit_fetch.engine.run"]
    for step in steps if entry == "module" else steps[:2]:  # from there on they are one
        process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        for line in process.stderr:
            if line.rpartition("|")[2].strip() == step:
                process.send_signal(signal.SIGINT)
                break
        out, err = process.communicate(timeout=20)
        assert process.returncode in (0, 130), (step, err)
        assert set(json.loads(out)) == {"data", "gaps"}
        assert "Traceback" not in err


def test_an_ignored_interrupt_stays_ignored(tmp_path: Path) -> None:
    # As under nohup, or in a background job of a script.
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen([*MODULE, *AT_PIT, "--input-file", str(fifo)], stdout=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    with fifo.open("w") as writer:  # opens once it is read
        process.send_signal(signal.SIGINT)
        writer.write("[]")
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, json.loads(out)["gaps"][-1]["type"]) == (0, "no_data")


def test_an_interrupted_capture_says_that_it_goes_on(tmp_path: Path) -> None:
    (tmp_path / "list.toml").write_text('[[request]]\nsource = "bz-news-api"\n')
    silent = Silent()
    with serve(silent) as server:
        env = {"PATH": os.environ["PATH"], "BENZINGA_API_KEY": TOKEN, "PIT_FETCH_BENZINGA_URL": server.url}
        words = [*MODULE, "capture", "list.toml", "--archive", "a.db"]
        process = subprocess.Popen(words, env=env, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert silent.asked()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    text = "Interrupted; what was done is kept, and the same command goes on from there."
    assert (process.returncode, json.loads(out)["gaps"][0]["reason"]) == (130, text)
    assert err.decode().endswith(f"pit_fetch: {text}\n")


def test_an_interrupt_on_a_terminal_leaves_the_envelope_on_a_line_of_its_own() -> None:
    leader, follower = pty.openpty()
    silent = Silent()
    with serve(silent) as server:
        env = {"PATH": os.environ["PATH"], "BENZINGA_API_KEY": TOKEN, "PIT_FETCH_BENZINGA_URL": server.url}
        process = subprocess.Popen(
            [*MODULE, *AT_PIT], env=env, stdin=follower, stdout=follower, stderr=follower, start_new_session=True
        )
        os.close(follower)
        assert silent.asked()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    shown = read_all(leader)
    progress, _, rest = shown.partition("\r\x1b[K")
    assert progress == "bz-news-api: fetching ..."
    envelope, line, end = rest.split("\r\n")
    assert json.loads(envelope)["gaps"][0]["reason"] == INTERRUPTED
    assert (line, end) == (f"pit_fetch: {INTERRUPTED}", "")


@pytest.mark.parametrize(
    ("words", "summary"),
    [
        ((), r"0 items, .* \(gaps: config\). bz-news-api needs BENZINGANEWS_API_KEY or BENZINGA_API_KEY: set it"),
        (("--input-file", "absent"), r"0 items, .* \(gaps: input_error\). --input-file cannot be read: No such file"),
        (("--input-file", SAMPLE), r"2 items, .* \(gaps: pit_excluded, unverifiable\)\r\n$"),
    ],
)
def test_a_terminal_gets_a_summary_with_the_reason_if_there_is_nothing(
    tmp_path: Path, words: tuple[str, ...], summary: str
) -> None:
    for fail in ((), ("--fail",)):
        leader, follower = pty.openpty()
        subprocess.run(
            [*MODULE, *AT_PIT, *words, *fail],
            stdout=subprocess.PIPE,
            stderr=follower,
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"]},
            check=False,
        )
        os.close(follower)
        shown = read_all(leader)
        assert re.search(f"bz-news-api: {summary}", shown)
        assert "as of Thursday 2024-02-15 16:00:00 in New York (-05:00) (gaps" in shown
        assert shown.count("\n") == 1


def read_all(leader: int) -> str:
    """Return the text that a terminal was sent. Linux reports its end as an error."""
    shown = b""
    while select.select([leader], [], [], 0)[0]:
        try:
            part = os.read(leader, 65_536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(leader)
    return shown.decode()


@pytest.mark.thorough
@pytest.mark.parametrize("source", ["fifo", "/dev/zero", "-", "terminal"])
def test_the_deadline_or_a_size_ends_an_input_that_does_not(run: Run, tmp_path: Path, source: str) -> None:
    leader, follower = pty.openpty()
    held, stdin = os.pipe()
    path = {"terminal": os.ttyname(follower), "fifo": str(tmp_path / "fifo")}.get(source, source)
    os.mkfifo(tmp_path / "fifo")
    begun = time.monotonic()
    process = subprocess.Popen(
        [*MODULE, *AT_PIT, "--timeout", "0.4", "--fail", "--input-file", path],
        stdin=held,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    out, err = process.communicate(timeout=20)
    for fd in (leader, follower, held, stdin):
        os.close(fd)
    gap = json.loads(out)["gaps"][0]
    assert (process.returncode, gap["type"]) == (4, "input_error")
    assert "did not end before the deadline (--timeout)" in gap["reason"] or "larger than 64 MB" in gap["reason"]
    assert time.monotonic() - begun < 10
    assert err.count(b"\n") == 1


def test_an_input_that_comes_in_time_is_read_whole(run: Run, tmp_path: Path, large: str) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = subprocess.Popen(["/bin/sh", "-c", 'cat "$1" > "$2"', "sh", large, str(fifo)])
    done = run(*AT_PIT, "--limit", "60", "--input-file", str(fifo))
    assert (writer.wait(20), len(done.ids)) == (0, 60)
    read, write = os.pipe()
    set_nonblocking(read)  # a standard input that does not block is waited for, too
    process = subprocess.Popen([*MODULE, *AT_PIT, "--input-file", "-"], stdin=read, stdout=subprocess.PIPE)
    os.close(read)
    os.write(write, json.dumps([article(1, PIT - timedelta(minutes=1))]).encode())
    os.close(write)
    assert len(json.loads(process.communicate(timeout=20)[0])["data"]) == 1


@pytest.mark.parametrize("name", ["fifo", "/tmp", "/dev/full", "/dev/stdout", "/dev/stderr", "/dev/fd/1"])
def test_an_audit_file_is_a_file_of_its_own(run: Run, tmp_path: Path, name: str, large: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    env = {"PIT_FETCH_AUDIT": str(tmp_path / "fifo") if name == "fifo" else name}
    done = run(*AT_PIT, "--input-file", large, env=env)
    assert (done.code, done.gap_types) == (2, ["config"])
    assert b"PIT_FETCH_AUDIT cannot be used" in done.err
    assert b"name a file" in done.err


ESCAPES = ("\x1b[31m", "\x9b31m", "\r", "\x07", "\u202e", "\u2028", "\udcff")


@pytest.mark.parametrize("raw", ESCAPES)
@pytest.mark.parametrize(
    "words",
    [
        ("--source", "benzinga", "--{}x"),
        ("--source", "benzinga", "{}x=1"),
        ("--source", "x{}"),
        ("x{}",),
        ("--x{}",),
        ("--source", "benzinga", "--fields", "titl{}e"),
        ("init", "no{}"),
        ("lint", "--x{}"),
        ("new-provider", "a{}"),
        ("--source", "benzinga", "--pit", "2024{}"),
    ],
)
def test_nothing_of_the_users_words_drives_the_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfdbinary, words: tuple[str, ...], raw: str
) -> None:
    from pit_fetch.cli.main import main

    monkeypatch.chdir(tmp_path)
    assert main([word.format(raw) for word in words]) == 2
    out, err = capfdbinary.readouterr()
    text = (out + err).decode()
    assert all(char.isprintable() or char == "\n" for char in text)
    assert err.count(b"\n") == 1


@pytest.mark.parametrize("entry", [*ENTRIES.values(), (sys.executable, str(ROOT / "pit_fetch"))])
def test_modules_of_the_working_directory_are_not_taken(run: Run, tmp_path: Path, entry: tuple[str, ...]) -> None:
    for name in ("json", "argparse", "signal", "typing", "datetime", "select", "requests", "dotenv", "pit_gate", "io"):
        (tmp_path / f"{name}.py").write_text("import os; os.write(1, b'foreign code ran'); os._exit(9)\n")
    (tmp_path / "__future__.py").write_text("raise SystemExit('foreign code ran')\n")
    done = run(*AT_PIT, "--input-file", SAMPLE, cwd=tmp_path, command=entry)
    assert (done.code, done.ids) == (0, ["1003", "1002"])


def test_without_a_working_directory(run: Run, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    for words in (("--list-sources",), ("doctor", "--help"), ("--source", "benzinga", "--pit", "x")):
        gone.mkdir()
        command = ("/bin/sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", ENTRIES["console"][0])
        done = run(*words, cwd=gone, command=command)
        assert done.code == (2 if "--pit" in words else 0)
