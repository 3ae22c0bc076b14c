"""From the raw record of one gradient call to the frozen one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from tensorflow.python.util import nest

from gradproof.frontends.tensorflow.recorder import (
    Collection,
    RawEvent,
    RawLeave,
    RawPullback,
    RawScope,
    Ring,
)
from gradproof.frontends.tensorflow.recording import (
    Api,
    CustomScope,
    FunctionCall,
    GradientCall,
    Leave,
    Mode,
    Observed,
    Operand,
    OpEvent,
    Pullback,
    Tape,
    Value,
    Variable,
)
from gradproof.frontends.tensorflow.source import Place, argument, call_at, names_of, span_of, spans_of
from gradproof.frontends.tensorflow.values import (
    observed_of,
    optional_value_of,
    plain_attrs,
    value_of,
    variable_of,
    variable_value,
)

_PARAMETERS = {
    "gradient": ("target", "sources", "output_gradients", "unconnected_gradients"),
    "jacobian": ("target", "sources", "unconnected_gradients"),
    "batch_jacobian": ("target", "source", "unconnected_gradients"),
    "gradients": ("ys", "xs", "grad_ys"),
    "jvp": ("primals", "unconnected_gradients"),
}


@dataclass(eq=False)
class Ending:
    """A gradient call as it was made: where, with what, to what end."""

    id: int
    api: str
    places: tuple[Place, ...]
    function: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    occurrence: int = 1
    tape: Tape | None = None
    result: Any = None
    error: BaseException | None = None
    mode: Mode = "eager"
    observed_from: Literal["returned", "rerun", "interpreted"] = "returned"
    extra: dict[str, Any] = field(default_factory=dict)

    def given(self, name: str) -> Any:
        """The value the user passed for a parameter, None if left out."""
        if name in self.kwargs:
            return self.kwargs[name]
        position = _PARAMETERS[self.api].index(name)
        return self.args[position] if position < len(self.args) else None

    def names(self, parameter: str, structure: Any) -> list[str]:
        """The user's names for the leaves of an argument."""
        call = call_at(span_of(self.places[0])) if self.places else None
        position = _PARAMETERS[self.api].index(parameter)
        return names_of(argument(call, position, parameter), structure, parameter)


def build_call(ending: Ending, collection: Collection, ring: Ring) -> GradientCall:
    """Everything about one call; what fails in here is told in the record, the rest is kept."""
    assert ending.tape is not None
    spans = spans_of(ending.places)
    parameters = _PARAMETERS[ending.api]
    targets = _operands(ending, parameters[0])
    sources = _operands(ending, parameters[1])
    raw_events = collection.events
    older = _older(raw_events, ring, [o.value.id for o in targets])
    events = tuple(_event(raw, ending.id) for raw in raw_events)
    scopes = tuple(_scope(raw) for raw in collection.scopes)
    return GradientCall(
        id=ending.id,
        api=cast(Api, ending.api),
        span=spans[0] if spans else None,
        stack=spans,
        through=ending.function,
        occurrence=ending.occurrence,
        mode=ending.mode,
        tape=ending.tape,
        targets=targets,
        sources=sources,
        observed=_observed(ending),
        observed_from=ending.observed_from,
        output_gradients=_output_gradients(ending),
        unconnected_gradients=_unconnected(ending),
        events=events,
        older=tuple(_event(raw, ending.id) for raw in older),
        older_complete=ring.complete,
        pullbacks=tuple(_pullbacks(collection.pullbacks, raw_events)),
        scopes=scopes,
        calls=(),
        leaves=tuple(_leave(raw) for raw in collection.leaves),
        variables=_variables(sources),
        exception=None if ending.error is None else f"{type(ending.error).__name__}: {ending.error}",
        failure=collection.failure,
    )


def _operands(ending: Ending, parameter: str) -> tuple[Operand, ...]:
    structure = ending.given(parameter)
    leaves = nest.flatten(structure)
    names = ending.names(parameter, structure)
    if len(names) != len(leaves):
        names = [f"{parameter}[{i}]" for i in range(len(leaves))]
    return tuple(_operand(name, leaf) for name, leaf in zip(names, leaves))


def _operand(name: str, leaf: Any) -> Operand:
    if hasattr(leaf, "handle"):
        return Operand(name, variable_value(leaf), variable_of(leaf))
    value = optional_value_of(leaf)
    return Operand(name, Value(0, "none", None, unknown="it is None") if value is None else value)


def _observed(ending: Ending) -> tuple[Observed | None, ...]:
    if ending.error is not None:
        return ()
    return tuple(observed_of(gradient) for gradient in nest.flatten(ending.result))


def _output_gradients(ending: Ending) -> tuple[Value | None, ...] | None:
    if "output_gradients" not in _PARAMETERS[ending.api]:
        return None
    given = ending.given("output_gradients")
    return None if given is None else tuple(optional_value_of(leaf) for leaf in nest.flatten(given))


def _unconnected(ending: Ending) -> str:
    if "unconnected_gradients" not in _PARAMETERS[ending.api]:
        return "none"
    given = ending.given("unconnected_gradients")
    return "none" if given is None else str(getattr(given, "value", given))


def _older(events: list[RawEvent], ring: Ring, wanted: Iterable[int]) -> list[RawEvent]:
    """The events before the tape on which something in it, or a target, depends."""
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
    return found[::-1]


def _event(raw: RawEvent, call_id: int) -> OpEvent:
    spans = spans_of(raw.places)
    return OpEvent(
        raw.index,
        raw.op,
        tuple(value_of(tensor) for tensor in raw.inputs),
        tuple(value_of(tensor) for tensor in raw.outputs),
        plain_attrs(raw.op, raw.attrs),
        spans[0] if spans else None,
        spans,
        "backward" if call_id in raw.within else "forward",
        raw.within,
        raw.tapes,
        raw.scope,
        raw.pullback,
    )


def _scope(raw: RawScope) -> CustomScope:
    code = getattr(raw.function, "__code__", None)
    return CustomScope(
        raw.id,
        raw.name,
        cast(Any, raw.kind),
        raw.parent,
        span_of(raw.places[0]) if raw.places else None,
        None if code is None else span_of((code, 0)),
        tuple(value_of(tensor) for tensor in raw.inputs),
        tuple(value_of(tensor) for tensor in raw.outputs),
        tuple(variable.handle._id for variable in raw.variables),
        raw.complete,
    )


def _pullbacks(raws: list[RawPullback], events: list[RawEvent]) -> Iterable[Pullback]:
    """Each pullback with the op it differentiates: same op, same tensors, and the latest one not yet taken."""
    by_op: dict[str, list[RawEvent]] = {}
    for event in events:
        by_op.setdefault(event.op, []).append(event)
    taken: set[int] = set()
    for raw in raws:
        forward = None
        for event in reversed(by_op.get(raw.op, [])):
            if event.index < raw.id and event.index not in taken and _same(raw, event):
                forward = event.index
                taken.add(event.index)
                break
        yield Pullback(
            raw.id,
            raw.op,
            forward,
            raw.scope,
            tuple(optional_value_of(tensor) for tensor in raw.upstream),
            tuple(optional_value_of(tensor) for tensor in raw.results),
            raw.exception,
        )


def _same(raw: RawPullback, event: RawEvent) -> bool:
    """Whether the tensors that the tape kept are those of the event; it drops those no rule needs."""
    inputs = [t._id for t in raw.inputs if hasattr(t, "_id")]
    outputs = [t._id for t in raw.outputs if hasattr(t, "_id")]
    if not inputs and not outputs:
        return False
    ins, outs = {t._id for t in event.inputs}, {t._id for t in event.outputs}
    return ins.issuperset(inputs) and outs.issuperset(outputs)


def _leave(raw: RawLeave) -> Leave:
    return Leave(
        raw.index, raw.how, value_of(raw.tensor), span_of(raw.places[0]) if raw.places else None, raw.tapes
    )


def _variables(sources: Iterable[Operand]) -> Mapping[int, Variable]:
    return {source.variable.id: source.variable for source in sources if source.variable is not None}


__all__ = ["Ending", "FunctionCall", "build_call"]
