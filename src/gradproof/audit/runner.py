"""Runs a program exactly as Python would, and says how it ended."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import thread as thread_pool
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from gradproof.audit.target import AuditTarget, search_from

INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C has ended
LOOK_EVERY = 0.05  # seconds
_OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_HOOKS_FOLDER = _OWN_FOLDER + "frontends" + os.sep


@dataclass(frozen=True)
class Outcome:
    """How a program ended: its exit status and the exception nobody caught, if there was one."""

    exit_status: int
    exception: BaseException | None = None

    @property
    def words(self) -> str | None:
        """The exception as Python's last line says it."""
        if self.exception is None:
            return None
        text = str(self.exception)
        name = type(self.exception).__qualname__
        return f"{name}: {text}" if text else name


def run(target: AuditTarget, arguments: Sequence[str]) -> Outcome:
    """Execute the program as `__main__`. Its traceback, if it fails, is printed as Python prints it."""
    main = target.main_module()
    sys.argv = [target.path if target.spec is not None and target.spec.parent else target.name, *arguments]
    search_from(target.search)
    sys.modules["__main__"] = main
    outcome = _ended(lambda: exec(target.compile(), main.__dict__))
    # Python waits for the threads of a program before it ends; they may still compute gradients.
    waited = _ended(_join_threads)
    return waited if waited.exception is not None else outcome


def _ended(action: Callable[[], Any]) -> Outcome:
    try:
        action()
    except SystemExit as error:
        return Outcome(_status(error.code))
    except BaseException as error:
        ended = error
    else:
        return Outcome(0)
    # Outside the handler: an exception of the user's own hook has nothing to do with this one.
    _print_traceback(ended)
    return Outcome(INTERRUPTED if isinstance(ended, KeyboardInterrupt) else 1, ended)


def _status(code: Any) -> int:
    """The exit status that `sys.exit(code)` means; anything but a number is printed."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    _say(f"{code}\n")
    return 1


def _say(text: str) -> None:
    """What Python itself would write to the error stream at this point; a program may have closed it."""
    if sys.stderr is not None and not sys.stderr.closed:
        sys.stderr.write(text)


def _print_traceback(error: BaseException) -> None:
    """Through the user's own hook if there is one, and without the frames of gradproof."""
    for one in _chain(error):
        one.__traceback__ = _users_part(one.__traceback__)
        leave_out_hooks(one.__traceback__)
    if isinstance(error, KeyboardInterrupt):
        _cut_below_user(error.__traceback__)
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception as fault:
        fault.__traceback__ = _users_part(fault.__traceback__)
        _say("Error in sys.excepthook:\n")
        sys.__excepthook__(type(fault), fault, fault.__traceback__)
        _say("\nOriginal exception was:\n")
        sys.__excepthook__(type(error), error, error.__traceback__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An exception and those that it came of: a framework may give one of them a whole stack, with us below it."""
    found: list[BaseException] = []
    pending: list[BaseException | None] = [error]
    while pending:
        one = pending.pop()
        if one is not None and all(one is not other for other in found):
            found.append(one)
            yield one
            pending += [one.__cause__, one.__context__]


def _users_part(trace: TracebackType | None) -> TracebackType | None:
    """Without the frames of ours that it begins with, and what has started us."""
    below = trace
    while below is not None:
        if below.tb_frame.f_code.co_filename == __file__:
            trace = below.tb_next
        below = below.tb_next
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER):
        trace = trace.tb_next
    return trace


def leave_out_hooks(trace: TracebackType | None) -> None:
    """Take out the frames of hooks that an exception passed on its way through a framework."""
    while trace is not None:
        inner = trace.tb_next
        while inner is not None and inner.tb_frame.f_code.co_filename.startswith(_HOOKS_FOLDER):
            inner = inner.tb_next
        trace.tb_next = inner
        trace = inner


def _cut_below_user(trace: TracebackType | None) -> None:
    """Where in a check of ours Ctrl-C came is nothing to the user, who knows the line of the gradient call."""
    while trace is not None and trace.tb_next is not None:
        if trace.tb_next.tb_frame.f_code.co_filename.startswith(_OWN_FOLDER):
            trace.tb_next = None
        trace = trace.tb_next


def _join_threads() -> None:
    """Wait for threads as Python does, but for those of pools only until they have nothing to do.

    Python tells a pool of the end when it ends itself, which is later: whatever compiles or loads in a pool that nobody
    shuts down would keep this waiting for ever. A thread that has just taken work looks idle for a moment, so that all
    have to look so twice.
    """
    idle_looks = 0
    while idle_looks < 2 and (others := [one for one in threading.enumerate() if _keeps_python(one)]):
        busy = next((one for one in others if not _has_nothing_to_do(one)), None)
        idle_looks = idle_looks + 1 if busy is None else 0
        (busy or others[0]).join(LOOK_EVERY)


def _keeps_python(thread: threading.Thread) -> bool:
    """Whether this thread is to be waited for. One that Ctrl-C kept from starting has no identity, and stays listed."""
    return thread is not threading.current_thread() and thread.ident is not None and not thread.daemon


def _has_nothing_to_do(thread: threading.Thread) -> bool:
    """Whether this is the thread of a pool, of threads or of processes, that waits for work."""
    frame = sys._current_frames().get(thread.ident or 0)
    queue: Any = getattr(thread_pool, "_threads_queues", {}).get(thread)
    if queue is not None:
        return queue.empty() and frame is not None and frame.f_code is thread_pool._worker.__code__
    if getattr(thread, "pending_work_items", True):
        return False
    while frame is not None and frame.f_code.co_name != "wait_result_broken_or_wakeup":
        frame = frame.f_back
    return frame is not None


@contextmanager
def before_hard_exit(action: Callable[[int], int]) -> Iterator[None]:
    """`os._exit` ends a process at once; have `action` called first, with the status and for the status."""
    original, pid = os._exit, os.getpid()

    def exit_after_action(status: int) -> Any:
        if os.getpid() == pid:
            try:
                status = action(status)
            finally:
                original(status)
        original(status)

    os._exit = exit_after_action
    try:
        yield
    finally:
        os._exit = original
