"""Takes recorded NumPy calls apart into the ops of a program, once, when a gradient is first asked for."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.trace import Traced, Tracer
from gradproof.errors import InvalidInput, NotSupported
from gradproof.frontends.record.place import Place
from gradproof.ir.program import OPAQUE, Phase
from gradproof.ops import Arithmetic
from gradproof.tape.functions import LOWERINGS
from gradproof.tape.functions._kinds import COMPLEX
from gradproof.tape.functions._operands import converted
from gradproof.tape.record import CALL, CUSTOM, ITEM, Record, TapeToken, ancestors, constant


class RecordBuilder:
    """Takes the place of a program's builder under a tracer: nodes become records, their own ids."""

    def __init__(self, tapes: tuple[TapeToken, ...], keeps_values: bool) -> None:
        self.tapes, self.keeps_values = tapes, keeps_values

    def add(
        self,
        op: str,
        *inputs: Record,
        params: Any = None,
        value: Any = None,
        span: Any = None,
        phase: Phase = "forward",
        scope: int | None = None,
    ) -> Record:
        return Record(
            op, inputs, value if self.keeps_values else None, span, self.tapes, params or {}, phase, scope
        )

    def constant(self, value: Any, span: Any = None, phase: Phase = "forward") -> Record:
        return constant(value, phase=phase, place=span)


_FLOATING_POINT = Arithmetic(Ieee())  # it has no state, so one serves all


class RecordTracer(Tracer):
    """A tracer whose nodes are records of tapes.

    Without `keeps_values` the records hold none, and memory is free as soon as a value is used up;
    `value_of` finds them again, bit for bit.
    """

    builder: Any

    def __init__(self, tapes: tuple[TapeToken, ...], phase: Phase, keeps_values: bool = True) -> None:
        super().__init__(RecordBuilder(tapes, keeps_values), phase)  # type: ignore[arg-type]
        self.inner = _FLOATING_POINT
        self.place: Place | None = None

    def work_on(self, record: Record) -> None:
        """What follows is done on behalf of a record: it has its place and its scope."""
        self.at(record.place, record.scope)  # type: ignore[arg-type]  # made a span only when a program is built
        self.place = record.place

    def of(self, record: Record) -> Traced:
        return Traced(self, record, record.value)  # type: ignore[arg-type]

    def of_item(self, record: Record, index: int) -> Traced:
        part = record.value[index]
        return self.of(
            Record(
                ITEM,
                (record,),
                part,
                record.place,
                record.tapes,
                {"index": index},
                record.phase,
                record.scope,
            )
        )


_RECOMPUTING = RecordTracer((), "backward")


def value_of(record: Record, known: Mapping[Record, Any]) -> Any:
    """The value of a record, computed again from those of its inputs in `known` where it was not kept."""
    if record.value is not None:
        return record.value
    if record.op == ITEM:
        return known[record.inputs[0]][record.params["index"]]
    arguments = [Traced(_RECOMPUTING, x, known[x]) for x in record.inputs]  # type: ignore[arg-type]
    value = _RECOMPUTING.compute(record.op, arguments, dict(record.params))
    return tuple(np.asarray(part) for part in value) if isinstance(value, tuple) else np.asarray(value)


class _Lowering(threading.local):
    """One tracer per thread: what it learns about ops serves every call."""

    def __init__(self) -> None:
        self.tracer = RecordTracer((), "forward")

    def on(self, record: Record) -> RecordTracer:
        self.tracer.builder.tapes = record.tapes
        self.tracer.phase = record.phase
        self.tracer.work_on(record)
        return self.tracer


_LOWERING = _Lowering()


def lowered(record: Record) -> Any:
    """The record, or tuple of records, that ends the ops a record stands for."""
    if record.lowered is None:
        for ancestor in ancestors([record], _unlowered_inputs):
            if ancestor.lowered is None:
                ancestor.lowered = _lower(ancestor)
    return record.lowered


def _unlowered_inputs(record: Record) -> tuple[Record, ...]:
    if record.lowered is not None:
        return ()
    inner = record.call.outputs if record.op == CUSTOM else ()
    return (*record.inputs, *inner)


def _lower(record: Record) -> Any:
    if record.op == ITEM:
        whole = record.inputs[0].lowered
        if isinstance(whole, tuple):
            return whole[record.params["index"]]
        return record if whole is record.inputs[0] else _again(record, (whole,))
    if record.op == CUSTOM:
        return _again(record, tuple(x.lowered for x in record.inputs))
    if record.op != CALL:
        return record
    m = _LOWERING.on(record)
    lowering = LOWERINGS.get(record.call.function)
    if lowering is None or not _takes_kind(record):
        return _opaque(record)
    try:
        return _settle(m, _apply(lowering, m, record), record)
    except (NotSupported, InvalidInput):
        return _opaque(record)


def _takes_kind(record: Record) -> bool:
    """Whether a function was tried with the kind of numbers it is given. About decisions the judge has the say."""
    results = record.value if isinstance(record.value, tuple) else (record.value,)
    if record.call.function in COMPLEX or all(part.dtype.kind in "biu" for part in results):
        return True
    given = (part for x in record.inputs for part in (x.value if isinstance(x.value, tuple) else (x.value,)))
    return not any(np.iscomplexobj(part) for part in given)


def _again(record: Record, inputs: tuple[Record, ...]) -> Record:
    """The same record on lowered inputs."""
    return Record(
        record.op,
        inputs,
        record.value,
        record.place,
        record.tapes,
        record.params,
        record.phase,
        record.scope,
        record.call,
    )


def _apply(lowering: Any, m: RecordTracer, record: Record) -> Any:
    args = tuple(_operand(m, item) for item in record.call.args)
    kwargs = {key: _operand(m, item) for key, item in record.call.kwargs.items()}
    with np.errstate(all="ignore"):
        if isinstance(record.call.function, np.ufunc):
            return _apply_ufunc(lowering, m, record, args, kwargs)
        return lowering(m, record.value, *args, **kwargs)


def _apply_ufunc(lowering: Any, m: RecordTracer, record: Record, args: Any, kwargs: dict[str, Any]) -> Any:
    """`where` keeps entries of `out`; without `out` they are whatever was in memory, hence constants."""
    where, out = kwargs.pop("where", True), kwargs.pop("out", None)
    for option in ("dtype", "casting", "order", "subok", "signature"):
        kwargs.pop(option, None)  # they are seen in the dtype of the result
    if where is True:
        return lowering(m, record.value, *args, **kwargs)
    everywhere = record.call.function(*(x.value if isinstance(x, Traced) else x for x in args))
    result = lowering(m, np.asarray(everywhere, record.value.dtype), *args, **kwargs)
    return m.select(where, result, m.literal(record.value) if out is None else out)


def _operand(m: RecordTracer, item: Any) -> Any:
    if isinstance(item, Record):
        return m.of(item.lowered)
    if isinstance(item, tuple):
        return tuple(_operand(m, part) for part in item)
    if isinstance(item, list):
        return [_operand(m, part) for part in item]
    return item


def _settle(m: RecordTracer, result: Any, record: Record) -> Any:
    """The last record of a lowering carries what NumPy itself returned, in its dtype and shape."""
    given = {x.lowered for x in record.inputs if isinstance(x.lowered, Record)}
    if isinstance(record.value, tuple):
        return tuple(
            _settle_one(m, part, value, given) for part, value in zip(result, record.value, strict=True)
        )
    return _settle_one(m, result, record.value, given)


def _settle_one(m: RecordTracer, result: Any, value: Any, given: set[Record]) -> Record:
    if not isinstance(result, Traced):
        result = m.of(constant(result, place=m.place))
    if value.dtype.kind not in "biu":
        result = converted(m, result, value.dtype)
    if result.value.shape != value.shape:
        result = m.broadcast(result, shape=value.shape)
    last: Record = result.id
    if last not in given and last.op != ITEM:
        last.value = value
    return last


def _opaque(record: Record) -> Any:
    """A function without a meaning: its value stands, and a gradient that must pass through it says so."""
    inputs = tuple(x.lowered for x in record.inputs)
    whole = Record(
        OPAQUE + record.call.name,
        inputs,
        record.value,
        record.place,
        record.tapes,
        {},
        record.phase,
        record.scope,
    )
    if not isinstance(record.value, tuple):
        return whole
    return tuple(
        Record(ITEM, (whole,), part, record.place, record.tapes, {"index": k}, record.phase, record.scope)
        for k, part in enumerate(record.value)
    )
