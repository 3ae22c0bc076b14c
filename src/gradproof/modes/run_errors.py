"""The rounding errors that one run of a program made, and what each is worth in one entry of a gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.rounding import budget_of, error_adjoints, local_errors
from gradproof.engine.run import Policy, run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.modes.units import wide

MOST_BITS = 24  # of a dtype beside which float64 is exact
MOST_STEPS = 200  # ops, each of which takes a run of the program

Values = Mapping[int, Array]


@dataclass(frozen=True, eq=False)
class RunErrors:
    """What every node of a run rounded away, and how the entry depends on it; empty where that is not known."""

    errors: Mapping[int, Array] = field(default_factory=dict)
    adjoints: Mapping[int, Array] = field(default_factory=dict)

    @cached_property
    def shares(self) -> dict[int, float]:
        """Each node's part in the error of the entry; they add up to it."""
        with np.errstate(all="ignore"):
            return budget_of(self.errors, self.adjoints)

    def parts(self, id: int, shape: tuple[int, ...]) -> Array:
        """What each entry of a node has in the error."""
        known = id in self.errors and id in self.adjoints
        with np.errstate(all="ignore"):
            return np.asarray(self.errors[id] * self.adjoints[id]) if known else np.zeros(shape)


def run_errors(program: Program, values: Values, output: int, index: tuple[int, ...]) -> RunErrors:
    """The errors of a run that gave `values` to the nodes, as seen from one entry of `output`."""
    ran = with_values(program, values)
    weight = np.zeros(program[output].shape)
    weight[index] = 1.0
    try:
        with np.errstate(all="ignore"):
            errors = local_errors(ran)
            return RunErrors(errors, error_adjoints(ran, errors, [weight]))
    except (GradproofError, ValueError, TypeError, FloatingPointError, ZeroDivisionError):
        return RunErrors()


def one_by_one(program: Program, values: Values, output: int, index: tuple[int, ...]) -> dict[int, float]:
    """What each op of a run adds to the error of the entry when those before it are as they ran, and the rest exact.

    These add up to the error however large the errors are: in 16 bits they are no small changes. What is exact is
    float64 here, so that there is nothing for programs in float64; and nothing for long ones.
    """
    moved = [node.id for node in program.nodes if node.inputs and node.id in values and not node.is_discrete]
    reals = [node.dtype for node in program.nodes if types.is_real(node.dtype)]
    is_narrow = all(types.precision_bits(dtype) <= MOST_BITS for dtype in reals)
    if not is_narrow or len(moved) > MOST_STEPS or any(types.is_complex(one.dtype) for one in program.nodes):
        return {}
    kept: dict[int, Array] = {}
    shares: dict[int, float] = {}
    try:
        before = _with(program, kept, output, index)
        for id in moved:
            kept[id] = wide(values[id])
            after = _with(program, kept, output, index)
            shares[id], before = after - before, after
    except (GradproofError, ValueError, TypeError, FloatingPointError, ZeroDivisionError):
        return {}
    return {id: share for id, share in shares.items() if share} if np.isfinite(before) else {}


def _with(program: Program, kept: Values, output: int, index: tuple[int, ...]) -> float:
    with np.errstate(all="ignore"):
        return float(run(Ieee("float64"), program, Policy(inputs=kept)).values[output][index])


def with_values(program: Program, values: Values) -> Program:
    """The program as it would have been recorded in that run."""
    nodes = (replace(node, value=values.get(node.id, node.value)) for node in program.nodes)
    return replace(program, nodes=tuple(nodes))
