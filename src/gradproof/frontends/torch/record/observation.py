"""Listening to a program: which executions are looked at, when the ear is on, and who takes the calls."""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import FrameType
from typing import Any

import torch

from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.record.on_import import on_import
from gradproof.frontends.record.patches import apply, wrap
from gradproof.frontends.record.sites import Policy, Site, Sites, by_powers_of_ten
from gradproof.frontends.torch.record import autocasts, transforms
from gradproof.frontends.torch.record.batched import as_jacobians, as_rows
from gradproof.frontends.torch.record.compiled import CompiledCode
from gradproof.frontends.torch.record.emptied import Emptied
from gradproof.frontends.torch.record.engine import Engine
from gradproof.frontends.torch.record.engine_run import EngineRun
from gradproof.frontends.torch.record.finish import Finish
from gradproof.frontends.torch.record.forward import ForwardMode
from gradproof.frontends.torch.record.hooks import Hooks
from gradproof.frontends.torch.record.lost import Lost, lost_leaves
from gradproof.frontends.torch.record.mode import Ear, push_below, take_out
from gradproof.frontends.torch.record.recorder import TorchRecorder
from gradproof.frontends.torch.record.scopes import Scopes
from gradproof.frontends.torch.record.steps import Steps
from gradproof.frontends.torch.record.unstepped import Unstepped
from gradproof.frontends.torch.record.waiting import Waiting
from gradproof.frontends.torch.record.whole_calls import WholeCalls

Receiver = Callable[[GradientCall], None]
_INSTALLED: list[TorchObservation] = []
LINGER = 0.5
"""Seconds of computing, in all, for which the ear stays on though no execution is wanted.

Behind a short loop there is often a gradient call at another line: nobody hears of it before it comes, and its ops
have run by then.
"""


class TorchObservation:
    """One observer of a program; `failures` are faults of ours, which the program did not notice."""

    def __init__(self, receiver: Receiver, policy: Policy = by_powers_of_ten) -> None:
        self.receiver = receiver
        self.recorder = TorchRecorder()
        self.sites = Sites(policy)
        self.failures: list[str] = []
        self._ear = Ear(self.recorder, self.note_failure)
        self._unhide: Callable[[], None] = lambda: None
        self._unlisten: Callable[[], None] = lambda: None
        self._remove: Callable[[], None] | None = None
        self._compiled = CompiledCode(self.recorder, self.note_failure)
        self._calls = WholeCalls()
        self._steps = Steps(self.note_failure)
        self._lost = Lost(self._steps, self._deliver_silently)
        self._emptied = Emptied(self._steps, self.recorder.leftovers, self._deliver_silently)
        self.unstepped = Unstepped(self._steps)
        self._waiting: Waiting | None = None  # a call that is told only when the program has gone on
        self._lingered = 0.0
        self._lingers_since: float | None = None
        self._raised = (0, "")  # by the last call that did: to hold the exception would keep its frames alive

    def install(self) -> Callable[[], None]:
        engine = Engine(self.recorder, self._begin, self._finished, self._unseen, self.note_failure)
        scopes = Scopes(self.recorder, lambda: self.recorder.is_on, self.note_failure)
        forward = ForwardMode(self.recorder, self._begin, self._deliver, self.note_failure)
        self._remove = apply(
            [
                *engine.patches(),
                *forward.patches(),
                *self._calls.patches(),
                *scopes.patches(),
                *autocasts.patches(self.recorder),
                *transforms.patches(self._transform),
                *transforms.legacy_patches(self._legacy_batch),
                *Hooks(self.recorder, self.note_failure).patches(),
                wrap(threading.Thread, "run", self._thread),
            ]
        )
        self._unhide = on_import(_hide_from_compiler, "torch._dynamo")
        self._unlisten = self._compiled.listen()
        self._steps.begin()
        self._switch(True)
        _INSTALLED.append(self)
        return self.uninstall

    def _thread(self, original: Any, thread: Any) -> Any:
        """A thread of the program is listened to like the program itself, as long as a call is wanted."""
        self._guarded(lambda: self._switch(not self.sites.table or self._is_wanted()))
        try:
            return original(thread)
        finally:
            self._guarded(lambda: self._switch(False))

    def _transform(self, more: int) -> None:
        self.recorder.memory.transforms += more

    def _legacy_batch(self, more: int) -> None:
        self.recorder.legacy_batches += more

    def uninstall(self) -> None:
        _INSTALLED[:] = [one for one in _INSTALLED if one is not self]
        self.tell_the_rest()
        self._unhide()
        self._unlisten()
        self._steps.end()
        self._switch(False)
        if self._remove is not None:
            self._remove()
            self._remove = None

    def tell_the_rest(self) -> None:
        """The program has ended: nothing more will show what became of gradients that were waited with."""
        self._guarded(self._resolve)
        self._guarded(self._lost.close)
        self._guarded(self._emptied.close)

    def note_failure(self) -> str:
        """Keep the exception being handled: nothing of it may reach the program."""
        text = traceback.format_exc()
        self.failures.append(text)
        return f"a fault of gradproof ({text.strip().splitlines()[-1]}); please report it"

    def _guarded(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception:
            self.note_failure()

    def recount(self) -> None:
        """Begin to count anew; the next call is then wanted."""
        self.sites.recount()
        self._switch(True)

    def _begin(self, frame: FrameType) -> tuple[Site, bool]:
        self._guarded(self._resolve)
        return self._calls.begin(self.sites, (frame.f_code, frame.f_lineno))

    def has_told(self, error: BaseException) -> bool:
        """Whether an exception came out of a gradient call that was listened to."""
        return self._raised == (id(error), str(error))

    def _finished(self, run: EngineRun) -> None:
        finish = Finish(run, self.recorder)
        call = finish.call()
        if run.error is not None:
            self._raised = (id(run.error), str(run.error))
        if run.is_batched:
            for one in as_rows(run, call) if run.is_opaque else as_jacobians(run, call):
                self._deliver(one)
            self._settle()
            return
        lost = lost_leaves(finish, call)
        if lost is not None:
            self._lost.add(lost)
        if run.create_graph:
            finish.rules.keep()
        elif not self.recorder.within:
            # What is differentiated once more, or runs inside, is no step that is over.
            self.recorder.previous = run.first
        self.recorder.freed |= dict.fromkeys(finish.made - self.recorder.freed.keys(), (run.first, call.span))
        if run.error is None:
            self.recorder.leftovers.after(run)
            self.recorder.gone_through.note(run)
        if run.held:
            self._waiting = finish.waiting(call)
        if not run.create_graph:  # what comes out of it goes into a call that nobody knows yet
            self._settle()
        # For nobody's tensors, it is a part of another.
        if not run.held and (call.sources or not run.is_inside):
            for one in self._calls.beside(call):
                self._deliver(one)
        if run.error is None and run.accumulates and not (run.inputs or run.is_inside):
            self._emptied.await_step(call, list(run.leaves.values()), finish.values.later())
            self.unstepped.note(run.leaves.values(), (source.name for source in call.sources))

    def _deliver(self, call: GradientCall) -> None:
        try:
            self.receiver(call)
        except Exception:
            self.note_failure()
        if self._lingers_since is not None:  # what the check took is not the program's time
            self._lingers_since = time.process_time()

    def _deliver_silently(self, call: GradientCall) -> None:
        with self.recorder.silence(), torch.no_grad():
            self._deliver(call)

    def _resolve(self) -> None:
        """What was left in leaves before a call is known to be stale once they have been updated with it again."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            with self.recorder.silence(), torch.no_grad():
                self._deliver(waiting.settled(self.recorder.leftovers))

    def _unseen(self, site: Site, outputs: Sequence[Any]) -> None:
        """After a call that nobody looked at: is the next one wanted?"""
        try:
            with self.recorder.silence():
                is_bad = not is_finite(outputs)
            if is_bad:
                site.nonfinite_unchecked += 1
                site.suspicious = True
            self._settle()
        except Exception:
            self.note_failure()

    def _settle(self) -> None:
        if not self.recorder.within:  # as a checkpoint calls the engine inside of a call, which goes on
            self._switch(self._is_wanted() or self._lingers())

    def _is_wanted(self) -> bool:
        return self._calls.is_wanted or self.sites.is_waiting()

    def _lingers(self) -> bool:
        """Whether an ear that is on and not needed stays on for a while."""
        if not self.recorder.is_on or self._lingered >= LINGER:
            self._lingers_since = None
            return False
        now = time.process_time()
        self._lingered += now - (now if self._lingers_since is None else self._lingers_since)
        self._lingers_since = now
        return True

    def _switch(self, on: bool) -> None:
        """In this thread: modes belong to threads."""
        if on == self.recorder.is_on:
            return
        self.recorder.is_on = on
        if on:
            self.recorder.begin()
            push_below(self._ear)
        else:
            take_out(self._ear)
            self.recorder.clear()


@functools.cache
def _hide_from_compiler() -> None:
    """The compiler follows a program into what it calls; our own code is not to be compiled with it.

    Once is enough: every time costs the compiler a tenth of a second.
    """
    with contextlib.suppress(
        Exception
    ):  # another version may call it otherwise: then it compiles some of our code
        importlib.import_module("torch._dynamo.trace_rules").add("gradproof")


def is_finite(tensors: Sequence[Any]) -> bool:
    """Whether the targets of a call that nobody looks at are numbers; large ones are not asked."""
    for one in tensors:
        is_small = isinstance(one, torch.Tensor) and one.numel() == 1 and one.is_floating_point()
        if is_small and not math.isfinite(one.item()):
            return False
    return True


@contextmanager
def observe(receiver: Receiver, policy: Policy = by_powers_of_ten) -> Iterator[TorchObservation]:
    """See the gradients that are computed in this block."""
    observation = TorchObservation(receiver, policy)
    remove = observation.install()
    try:
        yield observation
    finally:
        remove()


@contextmanager
def unobserved() -> Iterator[None]:
    """What runs in this block is not the program's own: nobody who is listening already hears of it."""
    with ExitStack() as stack:
        for observation in _INSTALLED:
            stack.enter_context(observation.recorder.silence())
        yield
