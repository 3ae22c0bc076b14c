"""Cuts the running process off from the world: no network, and files that it can only read.

On Linux by namespaces of its own, where files are mounted read-only and the folders a script usually writes to get a
layer in memory that ends with the process; where those are not allowed, by Landlock. Elsewhere files cannot grow, which
is all that can be had. It has to be called before a second thread is started.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Sequence

_NEW_MOUNTS, _NEW_USER, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_RECURSIVE, _PRIVATE = 0x4000, 0x40000
_AT_HERE, _AT_RECURSIVE, _READ_ONLY = -100, 0x8000, 1
_MOUNT_SETATTR, _LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 442, 444, 446  # system calls, the same on all machines
_NO_NEW_PRIVILEGES = 38
_SET_FLAGS, _UP = 0x8914, 0x1  # of a network device
# Of Landlock's rights to files all that change something, by the version that knows them; and TCP from version 4.
_WRITES = {1: 0x1FF2, 2: 0x2000, 3: 0x4000}
_TCP = 0x3


def isolate(scratch: str, writable: Sequence[str]) -> tuple[str, ...]:
    """What holds from now on, in words. `scratch` is an empty folder, `writable` those that get a layer in memory."""
    if not sys.platform.startswith("linux"):
        return _small_files()
    libc = ctypes.CDLL(None, use_errno=True)
    held = _namespaces(libc, scratch, writable) or _landlock(libc)
    return held or _small_files()


def _namespaces(libc: ctypes.CDLL, scratch: str, writable: Sequence[str]) -> tuple[str, ...]:
    user, group, here = os.getuid(), os.getgid(), os.getcwd()
    if libc.unshare(_NEW_USER | _NEW_MOUNTS | _NEW_NETWORK) != 0:
        return ()
    with contextlib.suppress(OSError):
        _write("/proc/self/setgroups", "deny")
    try:
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    except OSError:
        return ("no network", *_landlock(libc))
    libc.mount(b"none", b"/", None, _RECURSIVE | _PRIVATE, None)
    attributes = struct.pack("QQQQ", _READ_ONLY, 0, 0, 0)
    done = libc.syscall(_MOUNT_SETATTR, _AT_HERE, b"/", _AT_RECURSIVE, attributes, len(attributes))
    if done != 0:
        return ("no network", *_landlock(libc))
    if libc.mount(b"tmpfs", os.fsencode(scratch), b"tmpfs", 0, None) == 0:
        for number, folder in enumerate(_outermost(writable)):
            _layer(libc, scratch, folder, number)
    os.chdir(here)  # into the layer
    _own_loopback()
    return "no network", "files read-only"


def _own_loopback() -> None:
    """A program that talks to itself can go on to: nobody else is in its network."""
    import fcntl
    import socket

    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP))


def _layer(libc: ctypes.CDLL, scratch: str, folder: str, number: int) -> None:
    """What is written below a folder goes to memory; where that is refused the folder stays read-only."""
    if any(sign in folder for sign in ",:\\"):
        return  # signs that the option has a meaning of its own for
    upper, work = (os.path.join(scratch, f"{kind}{number}") for kind in ("upper", "work"))
    os.mkdir(upper)
    os.mkdir(work)
    options = f"lowerdir={folder},upperdir={upper},workdir={work},userxattr"
    libc.mount(b"overlay", os.fsencode(folder), b"overlay", 0, os.fsencode(options))


def _outermost(folders: Sequence[str]) -> list[str]:
    """Each once, and none that lies in another; never the root, which the layers themselves need."""
    found: list[str] = []
    for folder in sorted({os.path.realpath(folder) for folder in folders}):
        if folder != os.sep and not any(folder.startswith(other + os.sep) for other in found):
            found.append(folder)
    return found


def _landlock(libc: ctypes.CDLL) -> tuple[str, ...]:
    version = libc.syscall(_LANDLOCK_CREATE, None, 0, 1)
    if version < 1:
        return ()
    files = sum(right for since, right in _WRITES.items() if since <= version)
    rules = struct.pack("QQ", files, _TCP) if version >= 4 else struct.pack("Q", files)
    ruleset = libc.syscall(_LANDLOCK_CREATE, rules, len(rules), 0)
    if ruleset < 0 or libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return ()
    if libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) != 0:
        return ()
    return ("no network", "files read-only") if version >= 4 else ("files read-only",)


def _small_files() -> tuple[str, ...]:
    """No file can be written to beyond its first byte: the oldest of all limits."""
    try:
        import resource
        import signal
    except ImportError:
        return ()
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    return ("no file can grow",)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
