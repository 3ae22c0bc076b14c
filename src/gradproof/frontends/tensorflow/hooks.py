"""Installing the hooks on TensorFlow and taking them out again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction
from tensorflow.python.framework import ops as tf_ops

from gradproof.frontends.record.patches import apply, wrap
from gradproof.frontends.record.sites import Policy, by_powers_of_ten
from gradproof.frontends.tensorflow.after.unused_rules import UntriedRules
from gradproof.frontends.tensorflow.eager.accumulators import Accumulators
from gradproof.frontends.tensorflow.eager.customs import Customs
from gradproof.frontends.tensorflow.eager.function_gradients import FunctionGradients
from gradproof.frontends.tensorflow.eager.listening import Listener
from gradproof.frontends.tensorflow.eager.py_functions import PyFunctions
from gradproof.frontends.tensorflow.eager.tapes import Tapes
from gradproof.frontends.tensorflow.eager.variables import Variables
from gradproof.frontends.tensorflow.observation import Receiver, TensorFlowObservation
from gradproof.frontends.tensorflow.sessions import Sessions
from gradproof.frontends.tensorflow.traced.autograph import line_patches
from gradproof.frontends.tensorflow.traced.earlier_traces import StaleTraces
from gradproof.frontends.tensorflow.traced.failed_traces import StoppedTraces
from gradproof.frontends.tensorflow.traced.functions import Functions
from gradproof.frontends.tensorflow.traced.graph_calls import emit_calls
from gradproof.frontends.tensorflow.traced.graph_gradients import GraphGradients
from gradproof.frontends.tensorflow.traced.random_ops import RandomOps
from gradproof.frontends.tensorflow.traced.trace_reads import BakedValues
from gradproof.frontends.tensorflow.traced.tracing import Traces
from gradproof.frontends.tensorflow.traced.unseen_calls import deliver_raised


@contextmanager
def observe(
    policy: Policy = by_powers_of_ten, receiver: Receiver | None = None
) -> Iterator[TensorFlowObservation]:
    """See the gradients that are computed in this block; the program itself runs as it would without."""
    observation = TensorFlowObservation(policy, receiver)
    remove = install(observation)
    try:
        yield observation
    finally:
        remove()


_INSTALLED: list[TensorFlowObservation] = []


@contextmanager
def unobserved() -> Iterator[None]:
    """What runs in this block is not the program's own: nobody who is listening already hears of it."""
    with ExitStack() as stack:
        for observation in _INSTALLED:
            stack.enter_context(observation.recorder.silence())
        yield


def install(observation: TensorFlowObservation) -> Callable[[], None]:
    """Put the hooks in; returns what takes them out."""
    variables = Variables()
    traces = Traces(observation, variables)
    listener = Listener(observation, traces)
    random_ops = RandomOps()
    emit = partial(emit_calls, observation, traces)
    functions = Functions(observation, listener, traces, random_ops, emit)
    untried = UntriedRules(observation, listener, traces)
    tapes = Tapes(observation, listener, traces, untried)
    observation.open_tapes = tapes.open_tapes
    traces.on_raised = partial(deliver_raised, observation)
    observation.try_rules = untried.run
    observation.listen = listener.update
    remove = apply(
        [
            *line_patches(),
            *variables.patches(),
            *random_ops.patches(),
            *BakedValues(observation, StoppedTraces(observation, traces).around).patches(),
            *StaleTraces(observation).patches(),
            *tapes.patches(),
            *Accumulators(observation, listener, traces).patches(),
            *FunctionGradients(observation, listener, traces).patches(),
            *GraphGradients(observation, traces).patches(),
            *Sessions(observation, traces, emit).patches(),
            *Customs(observation, traces).patches(),
            *PyFunctions(observation).patches(),
            wrap(tf_ops._EagerTensorBase, "_numpy", listener.on_numpy),
            wrap(AtomicFunction, "call_flat", functions.call_flat),
        ]
    )
    listener.update()
    _INSTALLED.append(observation)

    def uninstall() -> None:
        _INSTALLED[:] = [one for one in _INSTALLED if one is not observation]
        remove()
        listener.close()

    return uninstall
