"""Where two modes part inside a framework's own derivative of one op, which the recorded ops do not show.

A framework may have one kernel for the derivative of an op in eager mode and compute another formula where it compiles:
the derivative of `sqrt` at 0 for an upstream gradient of 0 is 0 by the one and NaN by the other. So every rule that
ran is run again by itself, in both modes, on what it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.parting import Parting, Whose
from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import vjp
from gradproof.engine.rounding import LOCAL_BITS
from gradproof.engine.run import run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.capture import Capture, Pullback
from gradproof.ir.program import Builder, Node, Program, ancestors
from gradproof.ir.types import Array
from gradproof.modes.model import Mode, NotRun
from gradproof.modes.rows import gradients_in

MATERIAL = 64.0  # ulp of the largest entry: less is rounding, which needs no rule of its own
MOST_RULES = 60  # each is a program to be compiled


def rule_parting(capture: Capture, single: Mode, other: Mode) -> tuple[Parting, ...]:
    """The first rule, in the order of the backward pass, that gives something else in the other mode."""
    program = capture.gradient_program
    if program is None or len(capture.rules.pullbacks) > MOST_RULES:
        return ()
    for pullback in capture.rules.pullbacks:
        alone = _alone(program, pullback)
        if alone is None:
            continue
        try:
            one, two = (gradients_in(mode, *alone)[1] for mode in (single, other))
        except NotRun:
            continue
        for k, (a, b) in enumerate(zip(one, two)):
            if a is not None and b is not None and _is_material(a, b):
                return (_parting(program, pullback, alone, k, a, b),)
    return ()


def _is_material(a: Array, b: Array) -> bool:
    """More than rounding: small entries of a sum bear the roundings of large ones, in whatever order it is added."""
    x, y = np.asarray(a, np.complex128), np.asarray(b, np.complex128)
    is_finite = np.isfinite(x) & np.isfinite(y)
    if not np.array_equal(np.isfinite(x), np.isfinite(y)):
        return True
    size = np.max(np.abs(x[is_finite]), initial=0.0)
    unit = 2.0 ** (1 - types.precision_bits(types.dtype_name(a))) * size
    return bool(np.max(np.abs(x - y)[is_finite], initial=0.0) > MATERIAL * unit)


def _alone(program: Program, pullback: Pullback) -> tuple[Program, list[int]] | None:
    """The op as a program of its own: the sum of its result times the upstream gradient that it had."""
    if len(pullback.outputs) != 1 or pullback.upstream[0] is None:
        return None
    (output,), upstream = pullback.outputs, program[pullback.upstream[0]]
    inputs = {id for id in pullback.inputs if not program[id].is_discrete}
    made = Builder()
    needed = _between(program, inputs, output)
    if upstream.value is None or upstream.shape != program[output].shape or not inputs & needed:
        return None
    for node in program.nodes:
        if node.id not in needed:
            continue
        is_leaf = node.id in inputs or not (set(node.inputs) & needed)
        if is_leaf and (node.value is None or isinstance(node.value, tuple)):
            return None
        op = ("input" if node.id in inputs else "constant") if is_leaf else node.op
        made.nodes.append(
            replace(node, op=op, inputs=() if is_leaf else node.inputs, params={} if is_leaf else node.params)
        )
    made.next_id = max(node.id for node in program.nodes) + 1
    made.inputs = sorted(inputs & needed)
    weight = made.constant(np.asarray(upstream.value))
    product = made.add("mul", output, weight, dtype=upstream.dtype, shape=upstream.shape)
    axes = tuple(range(len(upstream.shape)))
    total = made.add("sum", product, params={"axes": axes}, dtype=upstream.dtype, shape=())
    return made.build([total]), list(made.inputs)


def _between(program: Program, inputs: set[int], output: int) -> set[int]:
    """What the output needs, no further back than the inputs."""
    needed = {output}
    for node in reversed(program.nodes):
        if node.id in needed and node.id not in inputs:
            needed.update(node.inputs)
    return needed & ancestors(program, [output])


def _parting(
    program: Program, pullback: Pullback, alone: tuple[Program, list[int]], k: int, a: Array, b: Array
) -> Parting:
    output, source = program[pullback.outputs[0]], alone[0][alone[1][k]]
    gap = np.where(np.isfinite(b), np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)), np.inf)
    index = tuple(int(place) for place in np.unravel_index(int(np.argmax(gap)), a.shape))
    upstream = pullback.upstream[0]
    assert upstream is not None
    shown = [_entry(source, index), f"upstream {_entry(program[upstream], index)}"]
    return Parting(
        node=output.id,
        op=output.op,
        phase="backward",
        span=pullback.span or output.span,
        dtype=source.dtype,
        index=index,
        inputs=tuple(shown),
        exact=_exact(alone, k, index),
        single=words.number(a[index].item(), dtype=source.dtype),
        other=words.number(b[index].item(), dtype=source.dtype),
        whose=Whose(
            "derivative-rule", f"the derivative of `{output.op}` is computed by another formula in this mode"
        ),
    )


def _entry(node: Node, index: tuple[int, ...]) -> str:
    value = np.asarray(node.value)
    dtype = types.dtype_name(value)
    if value.ndim == len(index) and all(place < n for place, n in zip(index, value.shape)):
        return words.number(value[index].item(), dtype=dtype)
    return words.array_text(value, dtype, 3)


def _exact(alone: tuple[Program, Sequence[int]], k: int, index: tuple[int, ...]) -> str:
    domain = BallDomain(LOCAL_BITS)
    try:
        with domain.active():
            result = run(domain, alone[0])
            found = vjp(result, [result.m.literal(np.ones(()))], [alone[1][k]])[0]
            mid, rad = domain.leave(found)
    except (GradproofError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        return ""
    return words.number(mid[index].item(), float(rad[index])) if np.isfinite(rad[index]) else ""
