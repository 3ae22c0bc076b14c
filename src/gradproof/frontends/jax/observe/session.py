"""The state of listening to JAX: who is recording, which call sites are looked at, what went wrong in here."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jax._src import api, config, core, source_info_util
from jax._src.lax.lax import copy_p

from gradproof.frontends.jax.observe.narrowed import Narrowed
from gradproof.frontends.jax.observe.notes import Ending, Linearisation
from gradproof.frontends.jax.observe.peel import ground, lowest
from gradproof.frontends.jax.observe.trace import (
    JaxCollection,
    JaxEvent,
    RecordTrace,
    codes_here,
    numbers,
    places_here,
)
from gradproof.frontends.record.sites import Policy, Sites

LOST = (
    "derivatives of {names} were traced, and are in nothing that ran as they were traced: they never ran, or a library "
    "has rewritten what it compiled; they were not checked"
)
MOST_NAMES = 3


@contextmanager
def lenient() -> Iterator[None]:
    """What is NaN on purpose, or had better be seen, raises nothing.

    JAX's own way to switch that off for a while takes the check of the whole process out of this thread for good.
    """
    if not (config.debug_nans.value or config.debug_infs.value):
        yield
        return
    replaced = ((config.debug_nans, False), (config.debug_infs, False), (api._post_hook_state, None))
    before = [(state, state.swap_local(value)) for state, value in replaced]
    try:
        yield
    finally:
        for state, value in before:
            state.set_local(value)


class _Thread(threading.local):
    """What one thread is doing."""

    def __init__(self) -> None:
        self.collections: list[JaxCollection] = []
        self.within: list[int] = []
        self.linearising: list[Linearisation] = []
        self.quiet = 0


class JaxSession:
    """One attachment: gives its `receiver` every gradient call that is looked at."""

    def __init__(self, policy: Policy, deliver: Callable[[Ending], None]) -> None:
        self.sites = Sites(policy)
        self.failures: list[str] = []
        self.here = _Thread()
        self.is_told: Callable[[BaseException], bool] = lambda error: False
        self.unfinished: Callable[[set[Any]], list[Ending]] = lambda codes: []
        self.lost: Callable[[], list[str]] = list
        self._deliver = deliver
        self._trace = RecordTrace(self.note)
        self.narrowed = Narrowed(self.note_failure)

    def recount(self) -> None:
        self.sites.recount()

    def remarks(self) -> tuple[str, ...]:
        """What is worth a note, and belongs to no gradient that was seen."""
        names = self.lost()
        shown = ", ".join(names[:MOST_NAMES]) + (" and others" if len(names) > MOST_NAMES else "")
        return (*self.narrowed.remarks(), *((LOST.format(names=shown),) if names else ()))

    def note_failure(self) -> None:
        """Keep the exception being handled: nothing of it may reach the program."""
        self.failures.append(traceback.format_exc())

    @contextmanager
    def silence(self) -> Iterator[None]:
        """What runs in this block is ours: executed plainly, and nobody hears of it."""
        self.here.quiet += 1
        try:
            with core.set_current_trace(core.eval_trace), source_info_util.user_context(None), lenient():
                yield
        finally:
            self.here.quiet -= 1

    def deliver(self, ending: Ending) -> None:
        try:
            with self.silence():
                self._deliver(ending)
        except Exception:
            self.note_failure()

    @contextmanager
    def recording(self, collection: JaxCollection) -> Iterator[None]:
        """Everything that is executed in this block goes into the collection too."""
        self.here.collections.append(collection)
        try:
            with self._on_the_ground():
                yield
        finally:
            self.here.collections.remove(collection)

    @contextmanager
    def _on_the_ground(self) -> Iterator[None]:
        """Our trace takes the place of the one that executes, below whatever the user's program has put on it."""
        current = core.trace_ctx.trace
        if ground(current) is self._trace or not isinstance(ground(current), core.EvalTrace):
            yield
            return
        top = lowest(current)
        if top is None:
            with core.set_current_trace(self._trace):
                yield
            return
        before, top.parent_trace = top.parent_trace, self._trace
        try:
            yield
        finally:
            top.parent_trace = before

    def note_same(self, old: Any, new: Any) -> None:
        """One array goes on under another identity."""
        self.note(copy_p, (old,), {}, (new,))

    def note(self, primitive: Any, args: Any, params: Any, outputs: Any) -> None:
        """One primitive was executed, or Python has done what it would have."""
        here = self.here
        if here.quiet or not here.collections:
            return
        try:
            self.narrowed.look_at(args, sys._getframe(2))
            event = JaxEvent(
                next(numbers),
                primitive,
                params,
                tuple(args),
                tuple(outputs),
                places_here(3),
                str(source_info_util.current_name_stack()),
                tuple(here.within),
                codes_here(3),
            )
            for collection in here.collections:
                collection.append(event)
        except Exception:
            self.note_failure()
