"""From the raw record of one gradient call to the frozen one."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, cast

from tensorflow.python.util import nest

from gradproof.frontends.record.model import (
    NO_TENSOR,
    Api,
    Exit,
    GradientCall,
    Mode,
    Observed,
    OpenTape,
    Operand,
    OpEvent,
    Parameter,
    Tape,
    Value,
)
from gradproof.frontends.record.source import user_places
from gradproof.frontends.tensorflow.eager.arguments import (
    PARAMETERS,
    bind,
    call_text,
    operand_names,
    weights_of,
)
from gradproof.frontends.tensorflow.eager.events import EventProgram
from gradproof.frontends.tensorflow.eager.recorder import (
    Collection,
    RawEvent,
    RawInner,
    RawLeave,
    Recorder,
    Ring,
    in_order,
)
from gradproof.frontends.tensorflow.eager.remembered import remembered
from gradproof.frontends.tensorflow.replicas import replica_here
from gradproof.frontends.tensorflow.traced.autograph import own_spans
from gradproof.frontends.tensorflow.traced.tracing import Traces
from gradproof.frontends.tensorflow.values import observed_of, optional_value_of, variable_of, variable_value
from gradproof.ir import types

_NUMBERS = (*types.REAL_BITS, *types.COMPLEX_BITS)


@dataclass(eq=False)
class TapeEnding:
    """A gradient call as it was made: where, with what, to what end."""

    id: int
    api: str
    frame: FrameType
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    occurrence: int
    tape: Tape
    result: Any = None
    error: BaseException | None = None


def build_call(ending: TapeEnding, collection: Collection, ring: Ring, traces: Traces) -> GradientCall:
    """Everything about one eager call."""
    places = user_places(ending.frame)
    spans = own_spans(places)
    given = bind(ending.api, ending.args, ending.kwargs)
    targets, sources = (
        operands(ending.frame, ending.api, name, given.get(name)) for name in PARAMETERS[ending.api][:2]
    )
    before = older(collection.events, ring, [target.value.id for target in targets], traces)
    program = program_of(collection, ending.id, traces, before)
    weights = weights_of(given.get("output_gradients"), nest.flatten(given.get(PARAMETERS[ending.api][0])))
    return GradientCall(
        id=ending.id,
        api=cast(Api, ending.api),
        span=spans[0] if spans else None,
        stack=spans,
        through=call_text(spans),
        occurrence=ending.occurrence,
        mode=mode_of(program),
        tape=ending.tape,
        targets=targets,
        sources=sources,
        observed=observed(ending),
        observed_from="returned",
        output_gradients=None if weights is None else tuple(map(optional_value_of, weights)),
        unconnected_gradients=unconnected(given),
        events=tuple(program.events),
        older=before,
        unseen=unseen((*before, *program.events), ring, targets, sources),
        pullbacks=tuple(program.pullbacks),
        scopes=tuple(program.scopes),
        calls=tuple(program.calls),
        leaves=tuple(_leave(raw, program) for raw in collection.leaves),
        inner=tuple(program.inner),
        variables=variables(sources),
        exception=None if ending.error is None else f"{type(ending.error).__name__}: {ending.error}",
        failure=collection.failure,
        doubt=program.doubt,
        replica=replica_here(),
    )


def note_inner(recorder: Recorder, api: str, args: Any, kwargs: Any, result: Any) -> None:
    """Tapes that are still recording may differentiate what a gradient call has returned."""
    given = bind(api, args, kwargs)
    targets = tuple(nest.flatten(given.get("target")))
    asked = given.get("output_gradients")
    weights = (None,) * len(targets) if asked is None else tuple(weights_of(asked, targets) or ())
    parts = (tuple(map(remembered, part)) for part in (targets, weights, nest.flatten(result)))
    inner = RawInner(api, *parts)
    for collection in recorder.collections:
        collection.inner.append(inner)


def failed_call(ending: TapeEnding, reason: str) -> GradientCall:
    """What can be said when taking the record failed: that there was a call, and why it is not judged."""
    spans = own_spans(user_places(ending.frame))
    targets, sources, seen = _asked_for(ending)
    return GradientCall(
        id=ending.id,
        api=cast(Api, ending.api),
        span=spans[0] if spans else None,
        stack=spans,
        through=call_text(spans),
        occurrence=ending.occurrence,
        mode="eager",
        tape=ending.tape,
        targets=targets,
        sources=sources,
        observed=seen,
        observed_from="returned",
        exception=None if ending.error is None else f"{type(ending.error).__name__}: {ending.error}",
        failure=reason,
        doubt=reason if sources else None,
        replica=replica_here(),
    )


def _asked_for(
    ending: TapeEnding,
) -> tuple[tuple[Operand, ...], tuple[Operand, ...], tuple[Observed | None, ...]]:
    """The targets, sources and results of a call, if these at least can be read."""
    target, source = PARAMETERS[ending.api][:2]
    if ending.api == "jvp":
        return (), (), ()
    try:
        given = bind(ending.api, ending.args, ending.kwargs)
        named = [operands(ending.frame, ending.api, name, given.get(name)) for name in (target, source)]
        return named[0], named[1], observed(ending)
    except Exception:
        return (), (), ()


def build_open(tape: Tape, collection: Collection, traces: Traces) -> OpenTape:
    program = program_of(collection, -1, traces, ())
    leaves = tuple(_leave(raw, program) for raw in collection.leaves)
    rules = tuple(scope.written for scope in collection.scopes if scope.written is not None)
    return OpenTape(tape, tuple(program.events), leaves, rules)


def program_of(
    collection: Collection,
    call_id: int,
    traces: Traces,
    before: Iterable[OpEvent],
) -> EventProgram:
    program = EventProgram(traces)
    program.produced.update(value.id for event in before for value in event.outputs)
    for raw in in_order(collection.events):
        program.add_raw(raw, call_id)
    program.add_scopes(collection.scopes, collection.leaves)
    program.add_inner(collection.inner)
    program.add_pullbacks(collection.pullbacks, collection.events)
    return program


def mode_of(program: EventProgram) -> Mode:
    """The mode the gradient was computed in: that of the functions that took part."""
    modes = {call.mode for call in program.calls}
    return "xla" if "xla" in modes else "graph" if "graph" in modes else "eager"


def operands(frame: FrameType, api: str, parameter: str, structure: Any) -> tuple[Operand, ...]:
    names = operand_names(frame, api, parameter, structure)
    return tuple(operand(name, leaf) for name, leaf in zip(names, nest.flatten(structure)))


def operand(name: str, leaf: Any) -> Operand:
    if hasattr(leaf, "handle"):
        return Operand(name, variable_value(leaf), variable_of(leaf))
    value = optional_value_of(leaf)
    return Operand(name, Value(NO_TENSOR, "none", None, unknown="it is None") if value is None else value)


def observed(ending: TapeEnding) -> tuple[Observed | None, ...]:
    if ending.error is not None:
        return ()
    return tuple(observed_of(gradient) for gradient in nest.flatten(ending.result))


def unconnected(given: Mapping[str, Any]) -> str:
    choice = given.get("unconnected_gradients", "none")
    return str(getattr(choice, "value", choice))


def older(events: list[RawEvent], ring: Ring, wanted: Iterable[int], traces: Traces) -> tuple[OpEvent, ...]:
    """The events before the tape on which something in it, or a target, depends; counted from -1 down."""
    first = events[0].index if events else None
    needed = set(wanted)
    for event in events:
        needed.update(tensor._id for tensor in event.inputs if hasattr(tensor, "_id"))
    found = []
    for event in reversed(ring.events):
        if first is not None and event.index >= first:
            continue
        if any(tensor._id in needed for tensor in event.outputs):
            found.append(event)
            needed.update(tensor._id for tensor in event.inputs)
    program = EventProgram(traces)
    for event in reversed(found):
        program.add_raw(event, -1, whole=True)
    n_older = len(program.events)
    return tuple(replace(event, index=event.index - n_older) for event in program.events)


def unseen(
    events: Sequence[OpEvent], ring: Ring, targets: Iterable[Operand], sources: Iterable[Operand]
) -> frozenset[int]:
    """Tensors that are younger than a source and older than the ring: TensorFlow counts them as they are made."""
    if ring.complete:
        return frozenset()
    kept = (tensor._id for event in ring.events for tensor in event.outputs)
    begins, born = next(kept, sys.maxsize), min((one.value.id for one in sources), default=sys.maxsize)
    made = {value.id for event in events for value in event.outputs}
    used = (*(one.value for one in targets), *(value for event in events for value in event.inputs))
    return frozenset(
        value.id
        for value in used
        if born < value.id < begins and value.id not in made and value.dtype in _NUMBERS
    )


def variables(sources: Iterable[Operand]) -> Mapping[int, Parameter]:
    return {source.variable.id: source.variable for source in sources if source.variable is not None}


def _leave(raw: RawLeave, program: EventProgram) -> Exit:
    spans = own_spans(raw.places)
    value = optional_value_of(raw.tensor)
    assert value is not None
    return Exit(program.place_of(raw.index), raw.how, value, spans[0] if spans else None, raw.tapes, spans)
