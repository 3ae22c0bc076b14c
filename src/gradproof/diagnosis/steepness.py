"""Where on its way an error grew: the op that made a rounding matter."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.domains.ieee import Ieee
from gradproof.ir import types
from gradproof.ir.program import Node
from gradproof.ir.types import Array
from gradproof.ops import Arithmetic

MIN_FLOW = 0.3  # a node is on the way of the error if at least this share of it passes through
MIN_GROWTH = 30.0  # one and a half decimal digits lost at one op; smaller growths are spread over many ops
SUMS = frozenset({"sum", "mean", "matmul", "cumsum", "sum_to", "convolution", "einsum", "var", "norm2"})
ADDITIONS = frozenset({"add", "sub"})
_OF_TERMS = SUMS - {"var", "norm2"}  # which subtract, or add squares
# Ops that solve equations: how well they can be solved is a matter of the equations.
SOLVERS = frozenset(
    {
        "solve", "triangular_solve", "inverse", "det", "log_abs_det", "adjugate", "cholesky", "qr", "lstsq", "pinv",
        "sylvester", "matrix_sqrt", "matrix_exp", "recurrence",
    }
)  # fmt: skip


def steepest(case: Case) -> tuple[Node, tuple[int, ...], float] | None:
    """The first node on the way of the error at which its relative size grows much; else where it grows most.

    The first, because what comes after it, backward ops above all, works with numbers that are already spoilt.
    """
    best: tuple[Node, tuple[int, ...], float] | None = None
    for id, error in sorted(case.rounding.propagated.items()):
        node = case.node(id)
        if (
            id not in case.rounding.adjoints
            or isinstance(node.value, tuple)
            or node.op in ("input", "constant")
        ):
            continue
        flow = np.abs(np.asarray(case.rounding.adjoints[id]) * np.asarray(error))
        index = largest_entry(np.broadcast_to(flow, node.shape))
        if not flow.size or float(np.broadcast_to(flow, node.shape)[index]) < MIN_FLOW * abs(
            case.rounding.total_error
        ):
            continue
        growth = _growth(case, node, index)
        if growth >= MIN_GROWTH and node.op in ADDITIONS | SUMS:
            return node, index, growth
        if best is None or growth > best[2]:
            best = (node, index, growth)
    return best if best is not None and best[2] > 1.0 else None


def _growth(case: Case, node: Node, index: tuple[int, ...]) -> float:
    """Relative error of one entry of the result over the largest relative error of what it was made of."""
    after = _relative(case, node, index)
    if node.op in SUMS:
        if _has_one_sign(case, node, index):  # its roundings add up, and nothing is taken away
            return 1.0
        operand = _sum_operand_error(case, node)
    else:
        inherited = [id for id in node.inputs if id in case.rounding.propagated]
        operand = max((_relative(case, case.node(id), index, node.shape) for id in inherited), default=0.0)
    unit = types.unit_roundoff(node.dtype)  # an operand that is exact still cannot be better than its dtype
    return after / max(operand, unit)


def _has_one_sign(case: Case, node: Node, index: tuple[int, ...]) -> bool:
    """Whether the terms of a sum are about as large together as their sum: none of them cancel."""
    if node.op not in _OF_TERMS or not all(types.is_real(case.node(id).dtype) for id in node.inputs):
        return False
    terms = [np.abs(np.asarray(case.node(id).value, np.float64)) for id in node.inputs]
    together = getattr(Arithmetic(Ieee()), node.op)(*terms, **node.params)
    return abs(entry_at(node.value, node.shape, index)) >= 0.5 * abs(entry_at(together, node.shape, index))


def _sum_operand_error(case: Case, node: Node) -> float:
    worst = 0.0
    for id in node.inputs:
        if id in case.rounding.propagated:
            value = np.abs(np.asarray(case.node(id).value, np.float64))
            error = np.abs(np.asarray(case.rounding.propagated[id]))
            largest = float(value.max(initial=0.0))
            worst = max(worst, float(np.max(error, initial=0.0)) / largest if largest else 0.0)
    return worst


def _relative(case: Case, node: Node, index: tuple[int, ...], shape: tuple[int, ...] | None = None) -> float:
    shape = node.shape if shape is None else shape
    value = entry_at(node.value, shape, index)
    error = entry_at(case.rounding.propagated[node.id], shape, index)
    true = abs(value - error)
    return abs(error) / true if true else (np.inf if error else 0.0)


def entry_at(array: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> complex:
    array = np.asarray(array)
    try:
        return complex(np.broadcast_to(array, shape)[index])
    except ValueError:  # the op does not act entry by entry: any entry will do for an order of magnitude
        return complex(array.reshape(-1)[largest_entry(np.abs(array).reshape(-1))]) if array.size else 0.0


def amplified(case: Case, origin: Node) -> float:
    """By how much an op that solves equations has enlarged its own roundings: as the equations are conditioned."""
    if origin.op not in SOLVERS:
        return 0.0
    error, value = (
        np.abs(np.asarray(array)) for array in (case.rounding.local_errors[origin.id], origin.value)
    )
    largest = float(value.max(initial=0.0))
    relative = float(error.max(initial=0.0)) / largest if largest else 0.0
    return relative / types.unit_roundoff(origin.dtype)


def largest_entry(array: Array) -> tuple[int, ...]:
    if array.size == 0:
        return ()
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(np.nan_to_num(array))), array.shape))
