"""Modes that a process settles once and for all run in a process of their own, which is handed the program as data.

The child knows nothing of the user's script: it is given ops and numbers, and returns numbers. It is started when it is
first asked, and ends with `ended`.
"""

from __future__ import annotations

import importlib
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection, Pipe
from typing import Any, Literal

from gradproof.clock import seconds_left, tick
from gradproof.ir.types import Array
from gradproof.modes.feed import Feed
from gradproof.modes.model import Mode, NotRun

ONLY_HERE = "it needs a process of its own, and only this one was asked for"
ANSWERS_IN = 300.0  # seconds that a child may take for one answer, which begins with importing the framework
_CODE = "import sys; sys.path[:] = [p for p in sys.path if p]; from gradproof.frontends.apart import serve; serve({})"
# What libraries read when they count their threads; a child is held to one processor besides.
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")

Ask = Literal["values", "gradient"]


@dataclass(frozen=True)
class Setting:
    """What a child process is started with: variables of its environment, a word for `prepare`, one thread or all."""

    variables: tuple[tuple[str, str], ...] = ()
    prepare: str = ""
    has_one_thread: bool = False


@dataclass(frozen=True, eq=False)
class _Child:
    process: subprocess.Popen[bytes]
    line: Connection


_children: dict[tuple[str, Setting], _Child] = {}


def apart(mode: Mode, setting: Setting, **facts: Any) -> Mode:
    """A mode as it runs in a child process with other settings."""
    ask = partial(_asked, setting, mode)
    begin = partial(_begin, mode.framework, setting)
    values, gradient = partial(ask, "values"), partial(ask, "gradient")
    return replace(mode, values=values, gradient=gradient, begin=begin, is_apart=True, **facts)


def with_one_thread(mode: Mode) -> Mode:
    """A mode that can also be run with one thread, in a child process."""
    alone = apart(mode, Setting(has_one_thread=True))
    return replace(mode, rethreaded=alone, begin=alone.begin)


def _asked(setting: Setting, mode: Mode, what: Ask, feed: Feed, *rest: Any) -> Any:
    key = (mode.framework, setting)
    try:
        text = pickle.dumps((what, mode.name, feed, rest))
    except Exception as error:
        raise NotRun("the program cannot be handed to a process of its own") from error
    try:
        child = _child(*key)
        child.line.send_bytes(text)
        left = seconds_left()
        if not child.line.poll(ANSWERS_IN if left is None else min(left, ANSWERS_IN)):
            raise EOFError
        done, found = pickle.loads(child.line.recv_bytes())
    except (OSError, EOFError, ValueError) as error:
        _end(key)
        tick()  # that it had no more time is another reason
        raise NotRun("the process that it needs of its own ended or did not answer") from error
    if not done:
        raise NotRun(found)
    return found


def _child(framework: str, setting: Setting) -> _Child:
    """The process, which is started when it is first asked for."""
    key = (framework, setting)
    return _children.get(key) or _children.setdefault(key, _started(*key))


def _begin(framework: str, setting: Setting) -> None:
    with suppress(OSError):  # it is told when the mode is asked
        _child(framework, setting)


def _started(framework: str, setting: Setting) -> _Child:
    ours, theirs = Pipe()
    environment = {**os.environ, **dict(setting.variables)}
    if setting.has_one_thread:
        environment |= dict.fromkeys(_ONE_THREAD, "1")
    code = _CODE.format(f"{framework!r}, {theirs.fileno()}, {setting.prepare!r}, {setting.has_one_thread}")
    quiet = subprocess.DEVNULL
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=quiet, stdout=quiet, stderr=quiet, env=environment,
        pass_fds=[theirs.fileno()], start_new_session=True,
    )  # fmt: skip
    theirs.close()
    return _Child(process, ours)


def _end(key: tuple[str, Setting]) -> None:
    child = _children.pop(key, None)
    if child is not None:
        child.line.close()
        child.process.kill()
        child.process.wait()


@contextmanager
def ended() -> Iterator[None]:
    """Children that were started inside end with the block."""
    try:
        yield
    finally:
        for key in list(_children):
            _end(key)


def serve(framework: str, line: int, prepare: str, has_one_thread: bool) -> None:
    """The child: answers until the other side is gone."""
    if has_one_thread and hasattr(os, "sched_setaffinity"):
        with suppress(OSError):
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    connection = Connection(line)
    try:
        modes = _prepared(framework, prepare)
        while True:
            what, name, feed, rest = pickle.loads(connection.recv_bytes())
            connection.send_bytes(pickle.dumps(_answer(modes[name], what, feed, rest)))
    except (EOFError, OSError):
        return


def _prepared(framework: str, prepare: str) -> dict[str, Mode]:
    from gradproof.frontends.select import plain_modes

    modes = plain_modes(framework)
    if prepare:
        importlib.import_module(f"gradproof.frontends.{framework}.modes").prepare(prepare)
    return {mode.name: mode for mode in modes}


def _answer(mode: Mode, what: Ask, feed: Feed, rest: Sequence[Any]) -> tuple[bool, list[Array] | Any]:
    try:
        return True, getattr(mode, what)(feed, *rest)
    except NotRun as reason:
        return False, str(reason)
    except Exception as error:
        return False, f"it fails in a process of its own: {type(error).__name__}"
