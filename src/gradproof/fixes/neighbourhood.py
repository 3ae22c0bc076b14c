"""The surroundings of what is guilty, cut out of a program that is too large to be searched and proven as a whole.

What flows in is put in as it was recorded. What flows out is added up, each number with a weight of its own, so that no
two of them cancel: a change that leaves this sum and its gradient as they are leaves the rest of the program as it was.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from gradproof.engine.refine import Enclosure
from gradproof.engine.trace import Traced, Tracer
from gradproof.fixes.graph import Graph
from gradproof.fixes.rewrite import Rewrite, bound_array, rewrites
from gradproof.fixes.search import Aim, Candidate, distances, place_of
from gradproof.fixes.verify import GradientPair, rounded_gradient, tightened
from gradproof.ir import types
from gradproof.ir.program import Builder, Node, Program, descendants

MOST_NODES = 60  # some ten lines, which is more than a formula is written in
MOST_ENTRIES = 10_000  # numbers in them: the proof for a candidate then takes well under a second


def around(whole: Program, aim: Aim) -> tuple[Program, Aim] | None:
    """The part around the places to begin at, and what a change has to reach in it; None where no digits are known."""
    inner = _nearest(whole, aim)
    part = _cut_out(whole, inner)
    varying = descendants(whole, [aim.gradients.wrt])
    aims = [_aim(part, id, aim) for id in part.inputs if id in varying]
    worst = min((one for one in aims if one is not None), key=lambda one: one.digits, default=None)
    return None if worst is None else (part, worst)


def in_the_whole(whole: Program, part: Program, found: Candidate) -> Candidate | None:
    """The same rules where the same pieces of source ran, outside the part too; None where one does not fit."""
    steps = list[Rewrite]()
    for step in found.steps:
        place, program = place_of(part[step.nodes[0]]), steps[-1].program if steps else whole
        nodes = [node for node in program.nodes if place_of(node) == place]
        made = rewrites(program, Graph(program), step.rule, nodes)
        fitting = next((one for one in made if one.way == step.way), None)
        if fitting is None:
            return None
        steps.append(fitting)
        part = step.program
    return Candidate(steps[-1].program, tuple(steps), found.digits)


def _cut_out(whole: Program, inner: set[int]) -> Program:
    """Nodes with what flows into them; the one output is the weighted sum of all that flows out."""
    builder = Builder()
    needed = inner.union(*(node.inputs for node in whole.nodes if node.id in inner))
    builder.nodes = [
        node if node.id in inner else _entering(node) for node in whole.nodes if node.id in needed
    ]
    builder.inputs = [node.id for node in builder.nodes if node.op == "input"]
    builder.next_id = max(node.id for node in whole.nodes) + 1
    tracer = Tracer(builder, phase="forward")
    used = {id for node in whole.nodes if node.id not in inner for id in node.inputs}.union(whole.outputs)
    leaving = [id for id in sorted(inner & used) if types.is_real(whole[id].dtype)]
    total = tracer.constant(np.zeros((), np.float64))
    for id in leaving:
        part = _weighted(tracer, bound_array(whole, tracer, id))
        total = tracer.add(total, tracer.cast(part, dtype="float64"))
    return builder.build([total.id])


def _entering(node: Node) -> Node:
    """What was computed outside, as it is put in; a decision is a part of the function and stays as it is."""
    if node.op == "constant":
        return node
    op = "constant" if node.is_discrete else "input"
    return replace(node, op=op, inputs=(), params={}, span=None, scope=None, kernel=None)


def _nearest(whole: Program, aim: Aim) -> set[int]:
    """As many nodes as may be, by their steps from the first of the places."""
    steps = distances(whole, aim.places[:1])
    found, n_entries = set[int](), 0
    for node in sorted(whole.nodes, key=lambda one: steps.get(one.id, math.inf)):
        is_plain = bool(node.inputs) and not node.is_opaque and node.scope is None
        if not is_plain or node.dtype == types.TUPLE or types.is_complex(node.dtype):
            continue
        n_entries += math.prod(node.shape)
        if len(found) == MOST_NODES or n_entries > MOST_ENTRIES:
            break
        found.add(node.id)
    return found


def _aim(part: Program, wrt: int, aim: Aim) -> Aim | None:
    node = part[wrt]
    unknown = Enclosure(np.zeros(node.shape), np.full(node.shape, math.inf))
    true, gradient = tightened(part, wrt, unknown), rounded_gradient(part, wrt)
    if not true.is_bounded or gradient is None or not types.is_real(node.dtype):
        return None
    gradients = GradientPair(wrt, true, node.dtype, aim.gradients.options)
    possible = types.digits_possible(node.dtype)
    return replace(aim, gradients=gradients, digits=gradients.digits(gradient), possible=possible)


def _weighted(tracer: Tracer, y: Traced) -> Traced:
    """Weights between 1 and 2, no two of them alike."""
    n = math.prod(y.shape)
    weights = (1.0 + np.arange(n) * 0.6180339887 % 1.0).reshape(y.shape).astype(y.value.dtype)
    product = tracer.mul(y, tracer.constant(weights))
    found: Traced = tracer.sum(product, axes=tuple(range(y.ndim))) if y.ndim else product
    return found
