"""Running a piece of the user's program once more, after its end, without a trace outside the process."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradproof.errors import GradproofError
from gradproof.frontends.after.rerun import is_everything_allowed

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_FAMILIES = ("os.", "subprocess.", "socket.", "shutil.", "tempfile.", "urllib.", "smtplib.", "sqlite3.")
_HARMLESS = frozenset({"os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.getxattr", "os.listxattr"})

_threads: set[int] = set()  # those that are inside
_installed = False


class Forbidden(GradproofError):
    """The code would have changed a file, started a process or used the network."""


@contextmanager
def sandbox() -> Iterator[None]:
    """What runs inside prints nothing, and is stopped before it changes anything outside this process.

    A second lock: what cannot be shown to have no effects gets here only in a process that is shut off itself.
    """
    if is_everything_allowed():
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
        return
    _install()
    thread = threading.get_ident()
    writes_bytecode = not sys.dont_write_bytecode
    _threads.add(thread)
    try:
        # A module that is imported in here for the first time leaves no file either.
        sys.dont_write_bytecode = True
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        sys.dont_write_bytecode = not writes_bytecode
        _threads.discard(thread)


def _install() -> None:
    """Python cannot take such a hook out again, so that it is put in once, and only when it is needed."""
    global _installed
    if not _installed:
        _installed = True
        sys.addaudithook(_guard)


def _guard(event: str, args: tuple[Any, ...]) -> None:
    if not _threads or threading.get_ident() not in _threads:
        return
    if event == "open":
        forbidden = isinstance(args[2], int) and bool(args[2] & _WRITING)
    else:
        forbidden = event.startswith(_FAMILIES) and event not in _HARMLESS
    if forbidden:
        raise Forbidden(f"{event} is not done twice")
