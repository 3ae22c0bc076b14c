"""The steps of all optimizers: one hook, which stays while a program is observed.

PyTorch walks through its hooks as it calls them: one that is taken out in a step would raise in the user's program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.optim import optimizer as optimizers

Listener = Callable[[Any, Any, Any], None]
"""Is given an optimizer that is about to step, and its arguments."""


class Steps:
    """Hands each step on to those who listen, which should be few: a program steps thousands of times a second."""

    def __init__(self, failed: Callable[[], object]) -> None:
        self._failed = failed
        self._listeners: tuple[Listener, ...] = ()  # one may go while they are told
        self._handle: Any = None

    def begin(self) -> None:
        self._handle = optimizers.register_optimizer_step_pre_hook(self._step)

    def end(self) -> None:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None

    def listen(self, listener: Listener) -> None:
        if listener not in self._listeners:
            self._listeners += (listener,)

    def leave(self, listener: Listener) -> None:
        self._listeners = tuple(one for one in self._listeners if one != listener)

    def _step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        for listener in self._listeners:
            try:
                listener(optimizer, args, kwargs)
            except Exception:
                self._failed()
