"""Custom gradients whose rule never ran, because no gradient was computed: run after the program has ended.

Not earlier: a rule may draw random numbers, and those of the user's program must stay what they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tensorflow.python.framework import ops as tf_ops
from tensorflow.python.ops import array_ops

from gradproof.frontends.after.effects import effect_of
from gradproof.frontends.after.rerun import may_run
from gradproof.frontends.after.sandbox import sandbox
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.tensorflow.eager.freeze import program_of
from gradproof.frontends.tensorflow.eager.listening import Listener
from gradproof.frontends.tensorflow.eager.recorder import Collection, RawPullback, RawScope
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.traced.tracing import Traces

MOST = 16  # calls kept until the end, with the tensors they hold; a loop repeats what its first turns show


@dataclass(eq=False)
class Untried:
    """A call that returned None, and the custom gradients before it that were not asked."""

    call: GradientCall
    collection: Collection
    scopes: list[RawScope]


def _is_known(pullback: RawPullback) -> bool:
    """Whether a rule ran on numbers, and not on the tensors of a graph."""
    return not any(isinstance(one, tf_ops.SymbolicTensor) for one in pullback.upstream)


class UntriedRules:
    """Keeps the calls, and runs their rules when it is asked to."""

    def __init__(self, observation: TensorFlowObservation, listener: Listener, traces: Traces) -> None:
        self._observation = observation
        self._listener = listener
        self._traces = traces
        self._kept: list[Untried] = []

    def keep(self, call: GradientCall, collection: Collection) -> None:
        asked = {pullback.scope for pullback in collection.pullbacks if _is_known(pullback)}
        scopes = [s for s in collection.scopes if s.complete and s.rule is not None and s.id not in asked]
        # A Jacobian has its rules traced and run for all rows at once, which shows nothing of them.
        is_jacobian = "jacobian" in call.api and any(pullback.scope for pullback in collection.pullbacks)
        unseen = is_jacobian or any(seen is None for seen in call.observed) or not call.observed
        if not scopes or len(self._kept) >= MOST or not unseen:
            return
        copy = Collection(
            collection.id,
            list(collection.events),
            list(collection.pullbacks),
            list(collection.scopes),
            inner=list(collection.inner),
        )
        self._kept.append(Untried(call, copy, scopes))

    def run(self) -> list[GradientCall]:
        """The calls again, with what each rule makes of an upstream gradient of ones."""
        found = [self._run(one) for one in self._kept]
        self._kept.clear()
        return found

    def _run(self, one: Untried) -> GradientCall:
        recorder = self._observation.recorder
        recorder.collections.append(one.collection)
        recorder.within.append(one.call.id)
        self._listener.update()
        try:
            for scope in one.scopes:
                self._ask(scope)
        finally:
            recorder.within.remove(one.call.id)
            recorder.collections[:] = [c for c in recorder.collections if c is not one.collection]
            self._listener.update()
        program = program_of(one.collection, one.call.id, self._traces, one.call.older)
        return replace(
            one.call,
            events=tuple(program.events),
            pullbacks=tuple(program.pullbacks),
            scopes=tuple(program.scopes),
            calls=tuple(program.calls),
            inner=tuple(program.inner),
        )

    def _ask(self, scope: RawScope) -> None:
        written = scope.rule if scope.written is None else scope.written
        if not may_run(f"what the hand-written gradient of `{scope.name}` returns", effect_of(written)):
            return
        with self._observation.recorder.silence():
            ones = [array_ops.ones(output.shape, output.dtype) for output in scope.outputs]
        try:
            with sandbox():
                scope.rule(*ones)
        except Exception:  # the record of the rule has its exception
            return
