"""Points on a branch cut: there a function of the complex plane jumps, though no op of the program decides.

`log`, `sqrt` and their kin are continued from one side of their cut only. Where a program stands exactly on one, the op
is written as the decision that it hides: by the sign of the part that crosses the cut, the function or its mirror
image. What lies on the other side is then seen like every other branch; elsewhere nothing is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.capture import Capture
from gradproof.ir.program import Builder, Node, Program
from gradproof.ir.types import Array

STRIDE = 16  # ids for the nodes that stand for one cut


def _negative(z: Array) -> Array:
    return np.asarray((z.imag == 0.0) & (z.real < 0.0))


def _outside(z: Array) -> Array:
    return np.asarray((z.imag == 0.0) & (np.abs(z.real) > 1.0))


def _upright(z: Array) -> Array:
    return np.asarray((z.real == 0.0) & (np.abs(z.imag) > 1.0))


@dataclass(frozen=True)
class _BranchCut:
    """Which points lie on it, and whether it lies along the real axis (else the imaginary one)."""

    holds: Callable[[Array], Array]
    is_real: bool = True


_NEGATIVE = _BranchCut(_negative)
_CUTS: Mapping[str, _BranchCut] = {
    **dict.fromkeys(("log", "log2", "log10", "sqrt", "rsqrt", "power"), _NEGATIVE),
    "log1p": _BranchCut(lambda z: (z.imag == 0.0) & (z.real < -1.0)),
    "acosh": _BranchCut(lambda z: (z.imag == 0.0) & (z.real < 1.0)),
    **dict.fromkeys(("asin", "acos", "atanh"), _BranchCut(_outside)),
    **dict.fromkeys(("asinh", "atan"), _BranchCut(_upright, is_real=False)),
}


def with_cuts_open(capture: Capture) -> Capture:
    """The same capture, where every op that stands on its cut is a decision between both sides of it."""
    program = capture.program
    cuts = [] if program is None else [node.id for node in program.nodes if _is_on_cut(program, node)]
    if program is None or not cuts:
        return capture
    both = [one for one in (program, capture.gradient_program) if one is not None]
    first = 1 + max(node.id for one in both for node in one.nodes)
    ids = {id: first + STRIDE * k for k, id in enumerate(cuts)}
    opened = [_opened(one, ids) for one in both]
    return replace(capture, program=opened[0], gradient_program=opened[-1] if len(both) > 1 else None)


def _is_on_cut(program: Program, node: Node) -> bool:
    if node.op == "atan2":
        y, x = (np.asarray(program[id].value) for id in node.inputs)
        return bool(np.any((y == 0.0) & (x < 0.0)))
    if node.op not in _CUTS:
        return False
    z = np.asarray(program[node.inputs[0]].value)
    return np.iscomplexobj(z) and bool(np.any(_CUTS[node.op].holds(z)))


def _opened(program: Program, ids: Mapping[int, int]) -> Program:
    builder = Builder()
    tracer = Tracer(builder)
    for node in program.nodes:
        if node.id not in ids:
            builder.nodes.append(node)
            continue
        builder.next_id = ids[node.id]
        tracer.at(node.span, node.scope)
        tracer.phase = node.phase
        xs = [Traced(tracer, id, np.asarray(program[id].value)) for id in node.inputs]
        sides = _sides(tracer, node, xs)
        builder.nodes.append(replace(node, op="select", inputs=tuple(x.id for x in sides), params={}))
    builder.inputs.extend(program.inputs)
    builder.names.update(program.names)
    return builder.build(program.outputs)


def _sides(m: Tracer, node: Node, xs: list[Traced]) -> tuple[Any, Any, Any]:
    """The decision, the mirror image, and the function itself."""
    plain = m.record(node.op, xs, node.value, dict(node.params))
    if node.op == "atan2":
        y, x = xs
        return m.less(y, _zeros(m, y)), m.neg(m.atan2(m.neg(y), x)), plain
    is_real = _CUTS[node.op].is_real
    crossing = m.imag(xs[0]) if is_real else m.real(xs[0])
    mirrored = [m.conj(x) if is_real else m.neg(m.conj(x)) for x in xs]
    image = m.conj(getattr(m, node.op)(*mirrored, **node.params))
    return m.less(crossing, _zeros(m, crossing)), image if is_real else m.neg(image), plain


def _zeros(m: Tracer, x: Traced) -> Traced:
    return m.constant(np.zeros(x.shape, x.value.dtype))
