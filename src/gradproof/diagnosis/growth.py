"""How the size of a gradient changes along a line that runs many times: growing or dying out by a steady factor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.diagnosis.figures import Passage
from gradproof.engine.linearise import pull_back
from gradproof.engine.rounding import recorded_run
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, Program
from gradproof.ir.span import Span

Array = np.ndarray[Any, Any]

MIN_REPEATS = 8  # a pattern, and not a coincidence of a few layers


@dataclass(frozen=True)
class Growth:
    """A place in the source through which the gradient passed `repeats` times, and the sizes it had there.

    `last` is the size at the execution nearest to the target, where the gradient comes in, `first` at the
    execution nearest to the source, where it goes out.
    """

    span: Span
    op: str
    repeats: int
    last: float
    first: float

    @property
    def factor(self) -> float:
        """In all: how many times larger the gradient became."""
        return self.first / self.last if self.last else math.inf

    @property
    def per_step(self) -> float:
        return float(abs(self.factor) ** (1.0 / (self.repeats - 1)))


def passages(program: Program, source: int) -> tuple[Passage, ...]:
    """The sizes of the gradient for `source` at each repeated line, where they change the most first.

    A line counts if the gradient passes through enough of its executions with sizes that can be compared.
    """
    groups = _repeated(program)
    if not groups:
        return ()
    try:
        with np.errstate(all="ignore"):
            seed = {program.outputs[0]: np.ones(())}
            sizes = {
                id: _size(g)
                for id, g in pull_back(recorded_run(program), seed, [source], keep_all=True).items()
            }
    except GradproofError:
        return ()
    found = [passage for nodes in groups if (passage := _passage(nodes, sizes)) is not None]
    return tuple(sorted(found, key=lambda passage: -abs(math.log(growth_along(passage).factor))))


def growth_along(passage: Passage) -> Growth:
    """From the execution nearest to the target to the one nearest to the source."""
    return Growth(
        passage.span, passage.op, len(passage.sizes), last=passage.sizes[-1], first=passage.sizes[0]
    )


def _repeated(program: Program) -> list[list[Node]]:
    groups: dict[tuple[Span, str], list[Node]] = {}
    for node in program.nodes:
        if node.span is not None and node.phase == "forward" and not node.is_discrete and node.inputs:
            groups.setdefault((node.span, node.op), []).append(node)
    # What is lowered to several ops, a product between two reshapes for instance, may have one of them twice in
    # each execution; the op that occurs least often counts the executions.
    executions: dict[Span, int] = {}
    for (span, _), nodes in groups.items():
        executions[span] = min(executions.get(span, len(nodes)), len(nodes))
    repeated = [nodes for (span, _), nodes in groups.items() if len(nodes) == executions[span] >= MIN_REPEATS]
    return [nodes for nodes in repeated if not _is_inside_one(nodes)]


def _is_inside_one(nodes: Sequence[Node]) -> bool:
    """A loop inside the forward of one custom gradient: its rule leads the gradient past it."""
    return nodes[0].scope is not None and {node.scope for node in nodes} == {nodes[0].scope}


def _size(gradient: Any) -> float:
    if isinstance(gradient, dict | tuple):
        return math.nan
    return float(np.max(np.abs(np.asarray(gradient)), initial=0.0))


def _passage(nodes: Sequence[Node], sizes: dict[int, float]) -> Passage | None:
    known = [size for node in nodes if (size := sizes.get(node.id, 0.0)) > 0.0 and math.isfinite(size)]
    span = nodes[0].span
    if len(known) < MIN_REPEATS or span is None:
        return None
    return Passage(span, nodes[0].op, tuple(known))
