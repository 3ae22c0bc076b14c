"""Where the rounding error of a recorded program came from, and where it went: two linear passes.

Every node made a local error: what it returned minus what exact arithmetic gives on the very inputs it had.
Pushed forward through the linearised program they are the error of every entry of the result; pulled back
from the result they are each node's share of it, and the shares add up to the error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64, all_finite
from gradproof.domains.fused64 import blocks, each_block, part_of
from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back, push_forward
from gradproof.engine.run import Run
from gradproof.errors import NotSupported
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic

LOCAL_BITS = 160  # more than twice float64, so that a local error of float64 is known to 16 digits


def local_errors(program: Program, bits: int | None = None) -> dict[int, Array]:
    """For each node that rounded: value returned minus exact value of the inputs it had.

    Nodes whose value is not finite have no such error and are left out, as are leaves and opaque nodes. With `bits`
    every error is found with so many, also where float64 would do for all but the smallest.
    """
    wide = Arithmetic(BallDomain(bits or LOCAL_BITS))
    narrow = Arithmetic(BallDomain64()) if bits is None else None
    reaches = ancestors(program, program.outputs)
    dtype = _dtype_of_passes(program)
    errors: dict[int, Array] = {}
    for node in program.nodes:
        if node.id not in reaches or not _may_round(node):
            continue
        tick()
        error = _local_error(program, node, narrow, wide, dtype)
        if error is not None and np.any(error):
            errors[node.id] = error
    return errors


def _may_round(node: Node) -> bool:
    if node.op in ("input", "constant") or node.is_opaque or node.is_discrete or node.value is None:
        return False
    # The errors of an op with several results are those of its items.
    return node.op == "item" or not isinstance(node.value, tuple)


def _local_error(
    program: Program, node: Node, narrow: Arithmetic | None, wide: Arithmetic, dtype: str
) -> Array | None:
    maker = program[node.inputs[0]] if node.op == "item" else node
    values = [program[id].value for id in maker.inputs]
    known = (
        all(value is not None and not isinstance(value, tuple) for value in values) and not maker.is_opaque
    )
    if not known or not all_finite(node.value):
        return None
    if node is maker and TABLE[node.op].moves_only and types.is_real(node.dtype):
        return _moved_difference(node, values)
    fits_narrow = all(_fits_narrow(program[id].dtype) for id in (*maker.inputs, node.id))
    fits_narrow = fits_narrow and narrow is not None
    if fits_narrow and node is maker and (node.op in _ENTRYWISE or node.op in _SUMS):
        return _float64_difference(node, values, dtype)
    for m in (narrow, wide):
        if m is None or (m is narrow and not fits_narrow):
            continue
        try:
            return _difference(m, node, maker, values)
        except NotSupported:
            continue
    return None


def _moved_difference(node: Node, values: list[Any]) -> Array | None:
    """Moving entries rounds nothing, unless the result has fewer digits or comes from another execution mode."""
    with _AS_IS.domain.active():
        moved = getattr(_AS_IS, node.op)(*map(_AS_IS.literal, values), **node.params)
        if moved.dtype == node.value.dtype and np.array_equal(moved, node.value):
            return None
        return np.asarray(node.value, np.float64) - np.asarray(moved, np.float64)


_AS_IS, _FLOAT64 = Arithmetic(Ieee()), Arithmetic(Ieee("float64"))

# For entries of at most 24 bits float64 itself is exact enough: these ops are right to a few of its 53 bits.
_ENTRYWISE = frozenset({
    "add", "sub", "mul", "div", "neg", "square", "tanh", "exp", "log", "sqrt", "sigmoid",
})  # fmt: skip
_SUMS = frozenset({"sum", "mean", "sum_to", "matmul"})
PRODUCT_BLOCK = (
    1 << 17
)  # entries of a product at a time: enough rows that the cost of BLAS' packing does not show


def _float64_difference(node: Node, values: list[Any], dtype: str) -> Array | None:
    """The value of a node minus what float64 makes of its inputs; block by block, since fresh memory is dear."""
    meaning = getattr(_FLOAT64, node.op)
    error = np.empty(node.shape, dtype)
    with _FLOAT64.domain.active():

        def fill(piece: tuple[Any, list[Any]]) -> None:
            block, parts = piece
            exact = meaning(*map(_FLOAT64.literal, parts), **node.params)
            np.subtract(node.value[block], exact, out=error[block], casting="same_kind")

        pieces = list(_blocks_of(node, values))
        if node.op in _ENTRYWISE:
            each_block(fill, pieces)
        else:  # BLAS uses all cores by itself
            for piece in pieces:
                fill(piece)
    return error if all_finite(error) else None


def _blocks_of(node: Node, values: list[Any]) -> Iterator[tuple[Any, list[Any]]]:
    """A node's result cut along its first axis, and what each block needs of the inputs."""
    if node.op in _ENTRYWISE:
        for block in blocks(node.shape):
            yield block, [part_of(np.asarray(value), block, node.shape) for value in values]
    elif node.op == "matmul" and len(node.shape) == 2:
        left, right = values[0], _FLOAT64.literal(values[1])
        for block in blocks(node.shape, PRODUCT_BLOCK):
            yield block, [left[block], right]
    else:
        yield ..., values


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


LARGE = 100_000  # numbers in a program from which the linear passes are made in its own float32
SAFE_LEAST, SAFE_MOST = (
    1e-20,
    1e20,
)  # sizes of values whose errors and slopes are far from the ends of float32
SAMPLE = 256  # entries of an array that tell its size well enough


def recorded_run(program: Program) -> Run:
    """The recorded values as a run: the point at which the program is linearised."""
    m = Arithmetic(Ieee(_dtype_of_passes(program)))
    values: dict[int, Any] = {}
    for node in program.nodes:
        if isinstance(node.value, tuple):
            values[node.id] = tuple(m.literal(part) for part in node.value)
        else:
            values[node.id] = m.literal(node.value)
    return Run(program, m, values)


def _dtype_of_passes(program: Program) -> str:
    """Errors need few digits, so that a large program of at most 24 bits is followed in float32, at half the cost."""
    arrays = [node.value for node in program.nodes if not isinstance(node.value, tuple)]
    if sum(value.size for value in arrays if value is not None) <= LARGE:
        return "float64"
    narrow = all(node.dtype == types.TUPLE or _fits_narrow(node.dtype) for node in program.nodes)
    return "float32" if narrow and all(_is_of_safe_size(value) for value in arrays) else "float64"


def _is_of_safe_size(value: Any) -> bool:
    if value is None or value.dtype.kind in "biu":
        return True
    sizes = np.abs(value.reshape(-1)[:: max(1, value.size // SAMPLE)], dtype=np.float32)
    largest = float(sizes.max(initial=0.0))
    return largest == 0.0 or SAFE_LEAST < largest < SAFE_MOST


def propagate_errors(
    program: Program, errors: Mapping[int, Array], at: Run | None = None
) -> dict[int, Array]:
    """What has become of the local errors at every node that they reach; `at` is its recorded run, if it is at hand."""
    at = recorded_run(program) if at is None else at
    return push_forward(at, {id: at.m.literal(error) for id, error in errors.items()})


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
    return {id: _share(adjoints[id], error) for id, error in errors.items() if id in adjoints}


def _share(adjoint: Array, error: Array) -> float:
    """The sum of the products, added up in float64 from block to block."""
    parts = ((adjoint[block], error[block]) for block in blocks(error.shape))
    return math.fsum(float(np.sum(one * other)) for one, other in parts)
