"""The op by which a target has no value at all, for certain: its arguments lie outside its domain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.engine.outside import has_no_value
from gradproof.engine.run import run
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array

BITS = 256  # a ball that is finite at this precision is a number, whatever its exponent


def op_without_value(program: Program) -> str | None:
    """One that makes the target NaN, or infinite, of numbers; None where the target is finite, or may have a value."""
    target = np.asarray(program[program.outputs[0]].value)
    if target.dtype.kind not in "fc" or np.isfinite(target).all():
        return None
    first = first_nans(program) if np.isnan(target).any() else _first_infinities(program)
    if not first:
        return None
    try:
        result = run(BallDomain(BITS), program)
    except GradproofError:
        return None
    return next((node.op for node in first if has_no_value(result, node)), None)


def first_nans(program: Program) -> list[Node]:
    """The ops that make NaN of numbers, and constants that are NaN."""
    return [node for node in program.nodes if _is_first(program, node, np.isnan)]


def _first_infinities(program: Program) -> list[Node]:
    """The ops that make infinity of numbers; what was infinite when it was given has no part in it."""
    return [node for node in program.nodes if node.inputs and _is_first(program, node, np.isinf)]


def _is_first(program: Program, node: Node, test: Callable[[Array], Array]) -> bool:
    return _is_any(node, test) and not any(_is_any(program[id], test) for id in node.inputs)


def _is_any(node: Node, test: Callable[[Array], Array]) -> bool:
    value = node.value
    return isinstance(value, np.ndarray) and value.dtype.kind in "fc" and bool(test(value).any())
