"""Gradient calls inside traced functions: one record per execution, from the function's graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from tensorflow.python.framework import dtypes, indexed_slices

from gradproof.frontends.record.model import (
    Api,
    GradientCall,
    Observed,
    Operand,
    Phase,
)
from gradproof.frontends.tensorflow.eager.events import EventProgram
from gradproof.frontends.tensorflow.eager.freeze import older, unseen, variables
from gradproof.frontends.tensorflow.eager.recorder import RawEvent, numbers
from gradproof.frontends.tensorflow.observation import TensorFlowObservation
from gradproof.frontends.tensorflow.replicas import replica_of
from gradproof.frontends.tensorflow.traced.functions import Expansion, FunctionRun, expand
from gradproof.frontends.tensorflow.traced.graph_operands import read, source_in, value_in
from gradproof.frontends.tensorflow.traced.interpret import Frame, Step
from gradproof.frontends.tensorflow.traced.tracing import GraphGradient, Traces, components
from gradproof.frontends.tensorflow.traced.unseen_calls import failed_call
from gradproof.frontends.tensorflow.values import (
    UnknownTensor,
)
from gradproof.ir.span import Span

Origin = Literal["returned", "rerun", "interpreted"]


def emit_calls(
    observation: TensorFlowObservation, traces: Traces, run: FunctionRun, expected: Sequence[GraphGradient]
) -> None:
    """Hand over every gradient call that a checked execution of a function made.

    Those that are `expected` but could not be reached, such as in a loop over data that cannot be seen, are
    handed over with the reason.
    """
    unseen = [gradient for gradient in expected if gradient.unseen is not None]
    if unseen:
        for gradient in unseen:
            observation.deliver(failed_call(observation, gradient, str(gradient.unseen)))
        return
    if expected and not _is_taken_apart(observation, traces, run, expected):
        return
    try:
        with observation.recorder.silence():
            expansion = expand(run, traces)
            made = [
                (frame, gradient)
                for frame in expansion.interpretation.frames
                for gradient in _gradients(traces, frame)
                if frame.parent is not None or any(gradient is one for one in expected)
            ]
    except Exception:
        observation.note_failure()
        return
    if expansion.failure is not None:
        observation.failures.append(expansion.failure)
    for frame, gradient, occurrence in _looked_at(observation, made):
        _hand_over(observation, traces, run, frame, gradient, occurrence)
    if not made:
        reason = expansion.failure or "; ".join(sorted(expansion.interpretation.not_known))
        for gradient in expected:
            observation.deliver(failed_call(observation, gradient, f"it was not reached: {reason}"))


def _is_taken_apart(
    observation: TensorFlowObservation, traces: Traces, run: FunctionRun, expected: Sequence[GraphGradient]
) -> bool:
    """Interpret the call within the time there is; where that is over, every gradient in it is told so."""

    def work() -> None:
        with observation.recorder.silence():
            expand(run, traces)

    with observation.recorder.silence():
        observation.spend(work, lambda reason: failed_call(observation, expected[0], reason))
    if run.expansion is None:
        for gradient in expected[1:]:
            observation.deliver(
                failed_call(observation, gradient, "the function was not taken apart in time")
            )
    return run.expansion is not None


def _hand_over(
    observation: TensorFlowObservation,
    traces: Traces,
    run: FunctionRun,
    frame: Frame,
    gradient: GraphGradient,
    occurrence: int,
) -> None:
    def work() -> GradientCall:
        with observation.recorder.silence():
            return replace(build(observation, traces, run, frame, gradient), occurrence=occurrence)

    try:
        with observation.recorder.silence():
            call = observation.build(work, lambda reason: failed_call(observation, gradient, reason))
    except Exception:
        call = failed_call(observation, gradient, observation.note_failure())
    if call is not None:
        observation.deliver(call)


def _looked_at(
    observation: TensorFlowObservation, made: Sequence[tuple[Frame, GraphGradient]]
) -> Iterator[tuple[Frame, GraphGradient, int]]:
    """Of a call that a loop made again and again some executions only; each with its number."""
    counted: set[str] = set()
    rounds: dict[int, int] = {}
    for frame, gradient in made:
        if gradient.key in counted:
            observation.count(gradient.key)
        counted.add(gradient.key)
        rounds[id(gradient)] = rounds.get(id(gradient), 0) + 1
        if observation.policy(rounds[id(gradient)]):
            yield frame, gradient, observation.executions.get(gradient.key, 1)


def _gradients(traces: Traces, frame: Frame) -> Sequence[GraphGradient]:
    notes = traces.peek(frame.graph)
    return () if notes is None else notes.gradients


def build(
    observation: TensorFlowObservation,
    traces: Traces,
    run: FunctionRun,
    frame: Frame,
    gradient: GraphGradient,
) -> GradientCall:
    """The record of one gradient call that an execution of a graph made."""
    program, expansion = EventProgram(traces), expand(run, traces)

    def phase_of(step: Step | None) -> Phase:
        position = None if step is None else _position_in(frame, step)
        inside = position is not None and gradient.first <= position < gradient.last
        return "backward" if inside else "forward"

    def keep(step: Step) -> bool:
        """What comes after the gradients, such as the optimiser's update, is no part of them."""
        position = _position_in(frame, step)
        return position is None or position < gradient.last

    program.add_run(run, None, phase_of, keep)
    kept = [step for step in expansion.interpretation.steps if keep(step)]
    events = [replace(e, heard=_is_heard(gradient, frame, step)) for e, step in zip(program.events, kept)]
    sources = tuple(
        source_in(name, source, handle, frame, run, expansion, traces)
        for name, source, handle in zip(gradient.source_names, gradient.sources, gradient.handles)
    )
    seen, origin = _observed(gradient, frame, run, expansion)
    called = RawEvent(0, run.name, run.args, (), run.outputs, run.places, (), (), None, None)
    before = older([called], observation.recorder.ring, (), traces)
    return GradientCall(
        id=next(numbers),
        api=cast(Api, gradient.api),
        span=gradient.spans[0] if gradient.spans else None,
        stack=gradient.spans,
        through=gradient.through,
        occurrence=observation.executions.get(gradient.key, 1),
        mode="xla" if frame.xla else "graph",
        tape=replace(gradient.tape, watched=_watched(gradient, frame, expansion)),
        targets=tuple(
            Operand(name, value_in(frame.get(target), expansion))
            for name, target in zip(gradient.target_names, gradient.targets)
        ),
        sources=sources,
        observed=seen,
        observed_from=origin,
        output_gradients=None
        if gradient.output_gradients is None
        else tuple(None if t is None else read(t, frame, expansion) for t in gradient.output_gradients),
        tangents=None
        if gradient.tangents is None
        else tuple(read(t, frame, expansion) for t in gradient.tangents),
        unconnected_gradients=gradient.unconnected,
        events=tuple(events),
        older=tuple(replace(event, heard=False) for event in before),
        unseen=unseen((*before, *events), observation.recorder.ring, (), sources),
        pullbacks=tuple(program.pullbacks),
        scopes=tuple(program.scopes),
        calls=tuple(program.calls),
        inner=tuple(program.inner),
        variables=variables(sources),
        failure=_failure(seen, expansion),
        replica=max(map(replica_of, gradient.targets), default=0),
        stopped=frozenset(value_in(frame.get(symbol), expansion).id for symbol in gradient.stopped),
    )


def _failure(seen: Sequence[Observed | None], expansion: Expansion) -> str | None:
    if expansion.failure is not None:
        return expansion.failure
    return next((one.values.unknown for one in seen if one is not None and one.values.unknown), None)


def _watched(
    gradient: GraphGradient, frame: Frame, expansion: Expansion
) -> tuple[tuple[int, Span | None], ...]:
    """What the tape was told to watch, by the numbers of what ran."""
    return tuple((value_in(frame.get(symbol), expansion).id, span) for symbol, span in gradient.watched)


def _is_heard(gradient: GraphGradient, frame: Frame, step: Step) -> bool:
    """Whether the tape was recording when its graph got the op, or the call that led to it."""
    if gradient.heard is None:
        return True
    position = _position_in(frame, step)
    return position is not None and any(start <= position < end for start, end in gradient.heard)


def _position_in(frame: Frame, step: Step) -> int | None:
    """Where a step stands in a given execution of a graph, itself or by the op that led to it."""
    at: Frame | None = step.frame
    position = step.position
    while at is not None and at is not frame:
        position, at = at.parent_position, at.parent
    return None if at is None else position


def _observed(
    gradient: GraphGradient, frame: Frame, run: FunctionRun, expansion: Expansion
) -> tuple[tuple[Observed | None, ...], Origin]:
    """The gradients as the user's mode had them, as far as that can be known."""
    returned = _returned(frame, run)
    tensors = components(gradient.results)
    if all(tensor._id in returned for tensor in tensors):
        values = {tensor._id: returned[tensor._id] for tensor in tensors}
        origin: Origin = "returned"
    elif frame.id in expansion.reruns:
        values = expansion.reruns[frame.id]
        origin = "rerun"
    else:
        values = {tensor._id: frame.get(tensor) for tensor in tensors}
        origin = "interpreted"
    return tuple(_one(result, values, frame, expansion) for result in gradient.results), origin


def _one(result: Any, values: dict[int, Any], frame: Frame, expansion: Expansion) -> Observed | None:
    if result is None:
        return None
    tensors = components([result])
    ids = tuple(value_in(frame.get(tensor), expansion).id for tensor in tensors)
    seen = [value_in(values.get(tensor._id), expansion) for tensor in tensors]
    if not isinstance(result, indexed_slices.IndexedSlices):
        return Observed(seen[0], ids=ids)
    return Observed(seen[0], seen[1], _dense_shape(result, frame), ids)


def _dense_shape(slices: Any, frame: Frame) -> tuple[int, ...] | None:
    shape = None if slices.dense_shape is None else frame.get(slices.dense_shape)
    if shape is not None and not isinstance(shape, UnknownTensor):
        return tuple(int(n) for n in shape._numpy_internal())
    return tuple(slices.shape.as_list()) if slices.shape.is_fully_defined() else None


def _returned(frame: Frame, run: FunctionRun) -> dict[int, Any]:
    """The tensors of the outermost graph that its caller received."""
    if frame.parent is not None:
        return {}
    found = {}
    for symbol, output in zip(run.graph.outputs, run.outputs):
        while True:
            if output.dtype not in (dtypes.resource, dtypes.variant):
                found[symbol._id] = output
            if symbol.op.type != "Identity":
                break
            symbol = symbol.op.inputs[0]
    return found
