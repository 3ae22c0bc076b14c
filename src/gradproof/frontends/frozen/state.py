"""What a gradient call shows about state: random numbers drawn, frozen Python values, modes that disagree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gradproof.frontends.assemble.dialect import dialect_of
from gradproof.frontends.frozen.sampled import is_sample
from gradproof.frontends.record.model import RETURN_OP, FunctionCall, GradientCall, OpEvent
from gradproof.frontends.record.source import short_name
from gradproof.ir.capture import Capture
from gradproof.ir.surroundings import Baked, Drawn, ModeGap
from gradproof.ir.types import Array

# Far beyond what another order of the same roundings can do, even where some digits cancel.
_GAP = {"float16": 0.1, "bfloat16": 0.3, "float32": 1e-2, "float64": 1e-6}


def with_state(capture: Capture, call: GradientCall) -> Capture:
    needed, computed = _needed(call)
    calls = {function.id: function for function in call.calls}
    around = replace(
        capture.around,
        drawn=tuple(_drawn(call, needed)),
        baked=(*(baked for function in call.calls for baked in function.baked), *_aliases(call)),
        mode_gaps=tuple(_gaps(call, calls)),
    )
    targets = tuple(target.value.id for target in call.targets)
    return replace(
        capture, around=around, run=replace(capture.run, targets=targets, made_of=frozenset(computed))
    )


def _aliases(call: GradientCall) -> Iterator[Baked]:
    """A variable that a function got as its argument and also knows by name: it was traced for another one."""
    for function in call.calls:
        handles = [value.id for value in function.inputs if value.dtype == "resource"]
        for source in call.sources:
            if source.variable is not None and handles.count(source.variable.id) > 1:
                yield Baked(short_name(function.name), source.name, "", source.name, call.span)


def _needed(call: GradientCall) -> tuple[set[int], set[int]]:
    """The tensors that the targets were computed from, by ops that the tape has seen; and those it saw computed.

    What ran inside another gradient call leads back to its target, too; but a derivative of it is no sum with it.
    """
    needed = {target.value.id for target in call.targets}
    summed, computed = set(needed), set[int]()
    for event in reversed(call.events):
        seen = event.phase == "forward" and (event.is_heard_by(call.tape) or event.scope is not None)
        made = {value.id for value in event.outputs}
        if seen and made & needed:
            needed.update(value.id for value in event.inputs)
        if seen and made & summed and not set(event.within) - {call.id}:
            computed |= made
            summed.update(value.id for value in event.inputs)
    return needed, computed


def _drawn(call: GradientCall, needed: set[int]) -> Iterator[Drawn]:
    for event in call.events:
        if dialect_of(call.framework).role(event) != "draw" or event.phase != "forward" or event.span is None:
            continue
        if any(value.id in needed for value in event.outputs):
            yield Drawn(event.op, event.span, is_sample(call, event))


def _gaps(call: GradientCall, calls: dict[int, FunctionCall]) -> Iterator[ModeGap]:
    role = dialect_of(call.framework).role
    for event in call.events:
        function = None if event.call is None else calls.get(event.call)
        if event.op != RETURN_OP or function is None or function.mode == "eager" or function.not_known:
            continue
        if any(role(other) == "draw" for other in call.events if other.call == function.id):
            continue
        yield from _gap_of(event, function)


def _gap_of(event: OpEvent, function: FunctionCall) -> Iterator[ModeGap]:
    for single, compiled in zip(event.inputs, event.outputs):
        a, b = single.array, compiled.array
        if a is None or b is None or a.dtype.name not in _GAP or a.shape != b.shape or not a.size:
            continue
        if _are_near(a, b, _GAP[single.dtype]):
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        with np.errstate(all="ignore"):
            size = max(float(np.max(np.nan_to_num(np.abs(one), nan=0.0, posinf=np.inf))) for one in (a, b))
            off = np.abs(a - b) > _GAP[single.dtype] * size
        off |= np.isfinite(a) != np.isfinite(b)
        if off.any():
            index = tuple(int(k) for k in np.argwhere(off)[0])
            yield ModeGap(
                short_name(function.name),
                function.mode,
                str(b[index]),
                str(a[index]),
                function.span or event.span,
            )
            return


def _are_near(a: Array, b: Array, share: float) -> bool:
    """Whether nothing is apart, of numbers that are all finite: asked first, since it is so nearly always."""
    with np.errstate(all="ignore"):
        apart = np.subtract(a, b, dtype=np.float64)
        size = max(float(np.max(np.abs(one))) for one in (a, b))
        return np.isfinite(size) and float(np.max(np.abs(apart))) <= share * size
