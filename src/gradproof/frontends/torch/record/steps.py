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
    """Counts the steps, knows what the optimizers have that make them, and hands each on to those who wait for one.

    A program makes thousands of steps a second, and mostly nobody waits.
    """

    def __init__(self, failed: Callable[[], object]) -> None:
        self._failed = failed
        self.count = 0
        self.stepped: set[int] = set()  # the ids of all that the optimizers have
        self._sizes: dict[int, int] = {}  # how many parameters each optimizer had when they were looked at
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
        try:
            self._note(optimizer)
        except Exception:
            self._failed()
        for listener in self._listeners:
            try:
                listener(optimizer, args, kwargs)
            except Exception:
                self._failed()

    def _note(self, optimizer: Any) -> None:
        self.count += 1
        size = 0
        for group in optimizer.param_groups:  # no generator: it costs more than all the rest
            size += len(group["params"])
        if self._sizes.get(id(optimizer)) != size:
            self._sizes[id(optimizer)] = size
            self.stepped.update(id(one) for group in optimizer.param_groups for one in group["params"])
