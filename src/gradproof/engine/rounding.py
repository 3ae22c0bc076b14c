"""Where the rounding error of a recorded program came from, and where it went: two linear passes.

Every node made a local error: what it returned minus what exact arithmetic gives on the very inputs it had.
Pushed forward through the linearised program they are the error of every entry of the result; pulled back
from the result they are each node's share of it, and the shares add up to the error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back, push_forward
from gradproof.engine.run import Run
from gradproof.errors import NotSupported
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors
from gradproof.ops import TABLE, Arithmetic

Array = np.ndarray[Any, Any]

LOCAL_BITS = 160  # more than twice float64, so that a local error of float64 is known to 16 digits


def local_errors(program: Program) -> dict[int, Array]:
    """For each node that rounded: value returned minus exact value of the inputs it had, in float64.

    Nodes whose value is not finite have no such error and are left out, as are leaves and opaque nodes.
    """
    narrow, wide = Arithmetic(BallDomain64()), Arithmetic(BallDomain(LOCAL_BITS))
    reaches = ancestors(program, program.outputs)
    errors: dict[int, Array] = {}
    for node in program.nodes:
        if node.id not in reaches or not _may_round(node):
            continue
        tick()
        error = _local_error(program, node, narrow, wide)
        if error is not None and np.any(error):
            errors[node.id] = error
    return errors


def _may_round(node: Node) -> bool:
    if node.op in ("input", "constant") or node.is_opaque or node.is_discrete or node.value is None:
        return False
    # The errors of an op with several results are those of its items.
    return node.op == "item" or not isinstance(node.value, tuple)


def _local_error(program: Program, node: Node, narrow: Arithmetic, wide: Arithmetic) -> Array | None:
    maker = program[node.inputs[0]] if node.op == "item" else node
    values = [program[id].value for id in maker.inputs]
    known = (
        all(value is not None and not isinstance(value, tuple) for value in values) and not maker.is_opaque
    )
    if not known or not np.isfinite(node.value).all():
        return None
    if node is maker and TABLE[node.op].moves_only and types.is_real(node.dtype):
        return _moved_difference(node, values)
    fits_narrow = all(_fits_narrow(program[id].dtype) for id in (*maker.inputs, node.id))
    if fits_narrow and node is maker and node.op in _PLAIN and node.value.size >= MANY:
        return _float64_difference(node, values)
    for m in (narrow, wide) if fits_narrow else (wide,):
        try:
            return _difference(m, node, maker, values)
        except NotSupported:
            continue
    return None


def _moved_difference(node: Node, values: list[Any]) -> Array:
    """Moving entries rounds nothing, unless the result has fewer digits or comes from another execution mode."""
    m = Arithmetic(Ieee())
    with m.domain.active():
        moved = getattr(m, node.op)(*(m.literal(value) for value in values), **node.params)
        return np.asarray(node.value, np.float64) - np.asarray(moved, np.float64)


# For many entries of at most 24 bits, float64 itself is exact enough: these ops are right to a few of its 53 bits.
_PLAIN = frozenset({
    "add", "sub", "mul", "div", "neg", "square", "sum", "mean", "sum_to", "matmul",
    "tanh", "exp", "log", "sqrt", "sigmoid",
})  # fmt: skip
MANY = 50_000
NOISE = 2.0**-50  # below this share of the largest entry a difference is the rounding of float64 itself


def _float64_difference(node: Node, values: list[Any]) -> Array | None:
    m = Arithmetic(Ieee("float64"))
    with m.domain.active():
        exact = getattr(m, node.op)(*(m.literal(value) for value in values), **node.params)
        error = np.subtract(node.value, exact)
    largest = float(np.max(np.abs(exact), initial=0.0))
    if not np.isfinite(largest):
        return None
    error[np.abs(error) <= NOISE * largest] = 0.0
    return np.asarray(error)


def _fits_narrow(dtype: str) -> bool:
    return types.is_discrete(dtype) or (types.is_real(dtype) and types.precision_bits(dtype) <= 24)


def _difference(m: Arithmetic, node: Node, maker: Node, values: list[Any]) -> Array | None:
    with m.domain.active():
        exact = getattr(m, maker.op)(*(m.literal(value) for value in values), **maker.params)
        exact = m.domain.settle(exact if node is maker else exact[node.params["index"]], node.dtype)
        mid, rad = m.domain.leave(m.sub(m.literal(node.value), exact))
    if not np.isfinite(rad).all():
        return None
    # What lies within the enclosure's own width is not known to be an error.
    return np.where(np.abs(mid) > rad, mid, 0.0)


LARGE = 1_000_000  # numbers in a program from which the linear passes are made in its own float32


def recorded_run(program: Program) -> Run:
    """The recorded values as a run: the point at which the program is linearised.

    Errors need few digits, so that a large program of at most 24 bits is followed in float32, at half the cost.
    """
    entries = sum(node.value.size for node in program.nodes if not isinstance(node.value, tuple))
    narrow = entries > LARGE and all(
        node.dtype == types.TUPLE or _fits_narrow(node.dtype) for node in program.nodes
    )
    m = Arithmetic(Ieee("float32" if narrow else "float64"))
    values: dict[int, Any] = {}
    for node in program.nodes:
        if isinstance(node.value, tuple):
            values[node.id] = tuple(m.literal(part) for part in node.value)
        else:
            values[node.id] = m.literal(node.value)
    return Run(program, m, values)


def push_errors(program: Program, errors: Mapping[int, Array], at: Run | None = None) -> dict[int, Array]:
    """The error of every entry of the outputs that the local errors explain, to first order (one JVP)."""
    moved = propagate_errors(program, errors, at)
    return {id: np.asarray(moved.get(id, np.zeros(program[id].shape))) for id in program.outputs}


def propagate_errors(
    program: Program, errors: Mapping[int, Array], at: Run | None = None
) -> dict[int, Array]:
    """What has become of the local errors at every node that they reach; `at` is its recorded run, if it is at hand."""
    at = recorded_run(program) if at is None else at
    return push_forward(at, {id: at.m.literal(error) for id, error in errors.items()})


def error_budget(program: Program, errors: Mapping[int, Array], weights: Sequence[Any]) -> dict[int, float]:
    """Each node's share in `sum(weights * error of output)`; the shares add up to it (one VJP)."""
    return budget_of(errors, error_adjoints(program, errors, weights))


def error_adjoints(
    program: Program, errors: Mapping[int, Array], weights: Sequence[Any], at: Run | None = None
) -> dict[int, Array]:
    """How `sum(weights * output)` depends on each node that an error passes through."""
    at = recorded_run(program) if at is None else at
    seeds: dict[int, Any] = {}
    for id, weight in zip(program.outputs, weights):
        seeds[id] = at.m.literal(np.asarray(weight, np.float64) + seeds.get(id, 0.0))
    return pull_back(at, seeds, errors, keep_all=True)


def budget_of(errors: Mapping[int, Array], adjoints: Mapping[int, Array]) -> dict[int, float]:
    return {id: float(np.sum(adjoints[id] * error)) for id, error in errors.items() if id in adjoints}
