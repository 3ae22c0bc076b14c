"""How the size of a gradient changes along a line that runs many times: growing or dying out by a steady factor.

One call may stand for a whole model (`model.fit`). Its line tells layers and time steps not apart; products of one
shape, each computed from the one before, do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gradproof.diagnosis.figures import Passage
from gradproof.engine.linearise import pull_back
from gradproof.engine.rounding import recorded_run
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.span import Span

MIN_REPEATS = 8  # a pattern, and not a coincidence of a few layers
_PRODUCTS = ("matmul", "einsum", "convolution")


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
    inside: bool = False  # of one execution: layers or time steps of a model

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
    groups, steps = _groups(program)
    if not groups and not steps:
        return ()
    if program not in _SIZES:
        _SIZES[program] = _sizes(program)
    after = descendants(program, [source])
    sizes = {id: size for id, size in _SIZES[program].items() if id in after}
    found = [_passage(nodes, sizes) for nodes in groups]
    found += [_passage(nodes, sizes, inside=True) for nodes in steps]
    known = [passage for passage in found if passage is not None]
    return tuple(sorted(known, key=lambda passage: -abs(math.log(growth_along(passage).factor))))


def repeats_a_line(program: Program) -> bool:
    """Whether there is a line along which a gradient could grow or die out."""
    return any(_groups(program))


def _groups(program: Program) -> tuple[list[list[Node]], list[list[Node]]]:
    """Nodes of lines that run many times, and products inside of lines that do not."""
    ops = Counter(node.op for node in program.nodes)  # found out at once: every row of a Jacobian asks
    if max(ops.values(), default=0) < MIN_REPEATS:
        return [], []
    has_products = any(ops[op] >= MIN_REPEATS for op in _PRODUCTS)
    return _repeated(program), _steps_inside(program) if has_products else []


# The gradient of a node is the same for every source that leads to it: it is computed once for all of them.
_SIZES: WeakKeyDictionary[Program, dict[int, float]] = WeakKeyDictionary()


def _sizes(program: Program) -> dict[int, float]:
    seed = {program.outputs[0]: np.ones(())}
    try:
        with np.errstate(all="ignore"):
            gradients = pull_back(recorded_run(program), seed, program.inputs, keep_all=True)
    except GradproofError:
        return {}
    return {id: _size(gradient) for id, gradient in gradients.items()}


def growth_along(passage: Passage) -> Growth:
    """From the execution nearest to the target to the one nearest to the source."""
    return Growth(
        passage.span,
        passage.op,
        len(passage.sizes),
        last=passage.sizes[-1],
        first=passage.sizes[0],
        inside=passage.inside,
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


def _steps_inside(program: Program) -> list[list[Node]]:
    """Products of one shape that one line stands for, each computed from the one before."""
    groups: dict[tuple[Span, str, tuple[int, ...]], list[Node]] = {}
    once: set[Span] = set()
    counts = Counter((node.span, node.op) for node in program.nodes if node.phase == "forward")
    for node in program.nodes:
        if node.span is None or node.phase != "forward" or not node.inputs:
            continue
        if counts[node.span, node.op] < MIN_REPEATS:
            once.add(node.span)
        if node.op in _PRODUCTS and node.scope is None:
            groups.setdefault((node.span, node.op, node.shape), []).append(node)
    steps = [
        _by_factors(program, nodes)
        for (span, _, _), nodes in groups.items()
        if len(nodes) >= MIN_REPEATS and span in once
    ]
    return [nodes for nodes in steps if len(nodes) >= MIN_REPEATS and _is_chain(program, nodes)]


def _by_factors(program: Program, nodes: Sequence[Node]) -> list[Node]:
    """Those that multiply what comes from the first by something else, as a layer does by its weights.

    A product of two numbers that both come from there is a power, as in a polynomial of a matrix, and no step.
    """
    after = descendants(program, [nodes[0].id])
    return [nodes[0], *(node for node in nodes[1:] if sum(id in after for id in node.inputs) <= 1)]


def _is_chain(program: Program, nodes: Sequence[Node]) -> bool:
    """Whether the last comes from the first through most of the others; towers side by side do not."""
    after, before = descendants(program, [nodes[0].id]), ancestors(program, [nodes[-1].id])
    return sum(node.id in after and node.id in before for node in nodes) >= MIN_REPEATS


def _is_inside_one(nodes: Sequence[Node]) -> bool:
    """A loop inside the forward of one custom gradient: its rule leads the gradient past it."""
    return nodes[0].scope is not None and {node.scope for node in nodes} == {nodes[0].scope}


def _size(gradient: Any) -> float:
    if isinstance(gradient, dict | tuple):
        return math.nan
    return float(np.max(np.abs(np.asarray(gradient)), initial=0.0))


def _passage(nodes: Sequence[Node], sizes: dict[int, float], inside: bool = False) -> Passage | None:
    known = [size for node in nodes if (size := sizes.get(node.id, 0.0)) > 0.0 and math.isfinite(size)]
    span = nodes[0].span
    if len(known) < MIN_REPEATS or span is None:
        return None
    return Passage(span, nodes[0].op, tuple(known), inside)
