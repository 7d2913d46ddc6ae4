"""Run a command where nothing can be reached but a few sockets. A program of its own: ``python -I -S sealed.py FD``.

FD is a Unix socket. It brings the settings, takes the sockets on which the command's connections arrive, and learns of
the command's process. The steps, each of which must succeed:

1. enter new user, network, mount, process and IPC namespaces;
2. listen on the loopback of that network, which has no other interface, and pass these sockets out;
3. mount what the command must see, over what it must not;
4. drop every capability, and keep files from giving any (no_new_privs);
5. let the kernel refuse sockets that no network namespace bounds, typing into the terminal, and io_uring;
6. become the command, with no descriptor but the three standard streams.

Standard library only, and nothing of the package: what runs between the proxy and the command is this file.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import json
import os
import platform
import signal
import socket
import stat
import struct
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

_NAMESPACES = 0x10000000 | 0x40000000 | 0x00020000 | 0x20000000 | 0x08000000  # user, net, mount, pid, ipc
_MS_NOSUID_NODEV_NOEXEC, _MS_BIND, _MS_PRIVATE = 0x2 | 0x4 | 0x8, 0x1000 | 0x4000, 0x40000 | 0x4000
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _ATTR_RDONLY = 442, -100, 0x8000, 1
_PDEATHSIG, _CAPBSET_DROP, _NO_NEW_PRIVS, _SECCOMP, _FILTER = 1, 24, 38, 22, 2
_CAPABILITIES_VERSION = 0x20080522
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
# By machine: the architecture as seccomp names it, and its numbers of socket() and ioctl().
MACHINES = {"x86_64": (0xC000003E, 41, 16), "aarch64": (0xC00000B7, 198, 29)}
# A network namespace bounds these; AF_VSOCK and others reach the machine's host around it.
_FAMILIES = (socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, 16)  # 16: netlink
_TIOCSTI, _TIOCLINUX, _IO_URING_SETUP, _X32 = 0x5412, 0x541C, 425, 0x40000000
_EPERM, _ENOSYS, _EAFNOSUPPORT = 1, 38, 97
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
# Those that mean something to this process and its child alike: the command gets them from the proxy's process.
_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)

_libc = ctypes.CDLL(None, use_errno=True)


def main(control: socket.socket) -> NoReturn:
    control.set_inheritable(False)
    settings = json.loads(_read_line(control))
    _call("prctl", _PDEATHSIG, signal.SIGKILL)
    if os.getppid() != settings["parent"]:
        os._exit(1)
    ignored = {each for each in _SIGNALS if signal.getsignal(each) is signal.SIG_IGN}
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if not settings["sealed"]:
        _become(control, settings, ignored)
    # Until the command has taken its place, a signal of the terminal must not end what carries it.
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    try:
        enter_namespaces()
    except OSError as error:
        _fail(control, f"new namespaces ({error.strerror})")
    read, write = os.pipe()
    first = os.fork()
    if first == 0:
        _run_first_process(control, settings, ignored, write)
    control.close()
    os.close(write)
    status = os.read(read, 4)
    os.waitpid(first, 0)
    _end_like(struct.unpack("i", status)[0] if status else 1 << 8)


def _run_first_process(
    control: socket.socket, settings: Mapping[str, Any], ignored: Iterable[signal.Signals], write: int
) -> NoReturn:
    """Be process 1 of the namespaces: once it ends, the kernel ends every process in them."""
    try:
        _call("prctl", _PDEATHSIG, signal.SIGKILL)
        listeners = _listen(settings["ports"])
        mount_all(settings)
    except OSError as error:
        _fail(control, f"{error.filename or 'the loopback'} ({error.strerror})")
    socket.send_fds(control, [b"+"], [listener.fileno() for listener in listeners])
    for listener in listeners:
        listener.close()
    if not control.recv(1):
        os._exit(1)
    command = os.fork()
    if command == 0:
        try:
            drop_privileges()
        except OSError as error:
            _fail(control, f"fewer privileges ({error.strerror})")
        _become(control, settings, ignored)
    control.close()
    while True:
        ended, status = os.wait()
        if ended == command:
            os.write(write, struct.pack("i", status))
            os._exit(0)


def _become(control: socket.socket, settings: Mapping[str, Any], ignored: Iterable[signal.Signals]) -> NoReturn:
    for each in (*_SIGNALS, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(each, signal.SIG_IGN if each in ignored else signal.SIG_DFL)
    control.send(b"!")
    name, environ = settings["command"][0], settings["environ"]
    try:
        os.chdir(settings["folder"])  # a folder that is still open from before the mounts would lead under them
        os.execvpe(name, settings["command"], environ)  # noqa: S606
    except OSError as error:
        os.write(2, f"pit_fetch: {name}: {error.strerror}\n".encode())
        os._exit(127 if isinstance(error, FileNotFoundError) else 126)


def enter_namespaces() -> None:
    """Enter them as the same user. Raise OSError where the kernel allows it to no such user."""
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _NAMESPACES)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _listen(ports: Iterable[int]) -> list[socket.socket]:
    """Return the sockets on which names are asked for, and connections arrive, on a loopback that is up."""
    names = socket.socket(type=socket.SOCK_DGRAM)
    fcntl.ioctl(names, _SIOCSIFFLAGS, struct.pack("16sh", b"lo", _IFF_UP))
    names.bind(("127.0.0.1", 53))
    return [names, *(socket.create_server(("127.0.0.1", port), backlog=512) for port in ports)]


def mount_all(settings: Mapping[str, Any]) -> None:
    """Mount what the command must see, over what it must not. Raise OSError, with the path as its ``filename``.

    files      what stands in the place of which file: of the resolver and of certificates
    empty      folders that become empty
    covered    files and sockets that become the null device
    read_only  folders that the command could otherwise change under the proxy, or under the kernel
    """
    _mount("none", "/", "", _MS_PRIVATE)
    # Where the machine's own covers a part of /proc (a container), the kernel refuses another; then the old one stays,
    # whose other processes this user namespace has no rights over.
    with contextlib.suppress(PermissionError):
        _mount("proc", "/proc", "proc", _MS_NOSUID_NODEV_NOEXEC)
    for folder in settings["empty"]:
        if os.path.isdir(folder) and not os.path.islink(folder):
            _mount("tmpfs", folder, "tmpfs", _MS_NOSUID_NODEV_NOEXEC, "mode=755")
    for folder in settings["made"]:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    for target, source in settings["files"].items():
        path = os.path.realpath(target)
        if path.startswith(tuple(settings["empty"])):  # what a link leads to is gone
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "a").close()
        if os.path.exists(path):  # without the file, a resolver asks 127.0.0.1 anyway
            _mount(source, path, "", _MS_BIND)
    disks = [entry.path for entry in os.scandir("/dev") if stat.S_ISBLK(entry.stat(follow_symlinks=False).st_mode)]
    for path in (*settings["covered"], *disks, "/dev/mem", "/dev/kmsg", "/proc/sysrq-trigger"):
        if os.path.exists(path):
            _mount("/dev/null", path, "", _MS_BIND)
    for folder in ("/proc/sys", "/sys", *settings["read_only"]):
        if os.path.isdir(folder):
            _mount(folder, folder, "", _MS_BIND)
            attributes = struct.pack("4Q", _ATTR_RDONLY, 0, 0, 0)
            _call("syscall", _MOUNT_SETATTR, _AT_FDCWD, folder, _AT_RECURSIVE, attributes, len(attributes), path=folder)


def _mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    _call("mount", source, target, kind, flags, data, path=target)


def drop_privileges() -> None:
    """Drop all capabilities for good, and refuse the system calls that lead around the namespaces. Raise OSError."""
    for capability in range(64):
        with contextlib.suppress(OSError):  # numbers that this kernel does not have
            _call("prctl", _CAPBSET_DROP, capability, 0, 0, 0)
    _call("capset", struct.pack("Ii", _CAPABILITIES_VERSION, 0), bytes(24))
    _call("prctl", _NO_NEW_PRIVS, 1, 0, 0, 0)
    rows = b"".join(struct.pack("HBBI", *row) for row in filter_rows(platform.machine()))
    buffer = ctypes.create_string_buffer(rows, len(rows))
    program = struct.pack("HP", len(rows) // 8, ctypes.addressof(buffer))
    _call("prctl", _SECCOMP, _FILTER, program, 0, 0)


def filter_rows(machine: str) -> list[tuple[int, int, int, int]]:
    """Return the filter of system calls for a machine: the code, the jumps if it holds and if not, and the value.

    Calls of another architecture (32-bit programs) have other numbers, and are refused.
    """
    architecture, open_socket, control = MACHINES[machine]
    refuse = [(_RETURN, 0, 0, _ERRNO | each) for each in (_ENOSYS, _EAFNOSUPPORT, _EPERM)]
    families = [(_EQUAL, len(_FAMILIES) - place, 0, family) for place, family in enumerate(_FAMILIES)]
    return [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        refuse[0],
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 1, 0, _X32),
        (_EQUAL, 0, 1, _IO_URING_SETUP),  # which opens sockets that this filter does not see
        refuse[0],
        (_EQUAL, 0, len(families) + 3, open_socket),
        (_LOAD, 0, 0, 16),
        *families,
        refuse[1],
        (_RETURN, 0, 0, _ALLOW),
        (_EQUAL, 0, 4, control),
        (_LOAD, 0, 0, 24),
        (_EQUAL, 1, 0, _TIOCSTI),
        (_EQUAL, 0, 1, _TIOCLINUX),
        refuse[2],
        (_RETURN, 0, 0, _ALLOW),
    ]


def _call(name: str, *arguments: Any, path: str | None = None) -> None:
    """Call a function of the C library. Raise OSError if it fails."""
    # As wide as the kernel reads them.
    sent = [
        ctypes.c_long(each) if isinstance(each, int) else each.encode() if isinstance(each, str) else each
        for each in arguments
    ]
    if getattr(_libc, name)(*sent) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), path)


def _read_line(control: socket.socket) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        line += control.recv(65_536) or b"\n"
    return line


def _fail(control: socket.socket, problem: str) -> NoReturn:
    control.send(b"-" + problem.encode())
    os._exit(1)


def _end_like(status: int) -> NoReturn:
    """End as a process with this wait status did."""
    if os.WIFSIGNALED(status):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError):  # SIGKILL
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])))
