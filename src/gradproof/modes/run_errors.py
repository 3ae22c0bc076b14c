"""The rounding errors that one run of a program made, and what each is worth in one entry of a gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gradproof.engine.rounding import budget_of, error_adjoints, local_errors
from gradproof.errors import GradproofError
from gradproof.ir.program import Program
from gradproof.ir.types import Array

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


def with_values(program: Program, values: Values) -> Program:
    """The program as it would have been recorded in that run."""
    nodes = (replace(node, value=values.get(node.id, node.value)) for node in program.nodes)
    return replace(program, nodes=tuple(nodes))
