"""Applies a rule to a program: the matched nodes are computed anew, all others keep their ids."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.errors import GradproofError
from gradproof.fixes.graph import Graph, Id, Shown, Term
from gradproof.fixes.pattern import (
    AXES,
    COUNT,
    MOVED,
    REDUCTIONS,
    SPREAD,
    Binding,
    Number,
    Pattern,
    PatternCall,
    matches,
    parse,
)
from gradproof.fixes.rule import RewriteRule
from gradproof.ir import types
from gradproof.ir.program import Builder, Node, Program, prune
from gradproof.ir.shapes import joint_shape
from gradproof.ops.reduce import kept

MOST_MATCHES = 4  # ways in which one rule fits one node that are tried


@dataclass(frozen=True, eq=False)
class Rewrite:
    """A program in which one rule was applied to the nodes of one place in the source, in one of the ways it fits."""

    program: Program
    rule: RewriteRule
    nodes: tuple[int, ...]
    way: int


def rewrites(program: Program, graph: Graph, rule: RewriteRule, nodes: Sequence[Node]) -> Iterator[Rewrite]:
    """The programs that a rule makes out of nodes which the same piece of source has computed."""
    fits = [list(_first(graph, rule, node)) for node in nodes]
    applied = [(node, fit) for node, fit in zip(nodes, fits) if fit]
    for k in range(max((len(fit) for _, fit in applied), default=0)):
        try:
            made = {node.id: build(program, node, rule, fit[min(k, len(fit) - 1)]) for node, fit in applied}
        except (GradproofError, ValueError, TypeError, IndexError, AttributeError):
            continue  # the shapes do not go together: the rule does not fit after all
        yield Rewrite(with_nodes(program, made), rule, tuple(made), k)


def _first(graph: Graph, rule: RewriteRule, node: Node) -> Iterator[Binding]:
    for k, bound in enumerate(matches(graph, parse(rule.pattern), Id(node.id))):
        if k == MOST_MATCHES:
            return
        yield bound


def with_nodes(program: Program, made: dict[int, list[Node]]) -> Program:
    """New ids are given in order; the last node of each replacement takes the id of what it replaces."""
    next_id = max(node.id for node in program.nodes) + 1
    nodes: list[Node] = []
    for node in program.nodes:
        if node.id not in made:
            nodes.append(node)
            continue
        *inner, last = made[node.id]
        ids = {one.id: next_id + k for k, one in enumerate(inner)}
        next_id += len(inner)
        for one in inner:
            inputs = tuple(ids.get(id, id) for id in one.inputs)
            nodes.append(replace(one, id=ids[one.id], inputs=inputs))
        nodes.append(replace(last, id=node.id, inputs=tuple(ids.get(id, id) for id in last.inputs)))
    return prune(replace(program, nodes=tuple(nodes)), program.outputs)


def build(program: Program, node: Node, rule: RewriteRule, bound: Binding) -> list[Node]:
    """The nodes of the replacement; the last one has the dtype and the shape of the node it replaces."""
    tracer = tracing(program, node)
    return finished(tracer, node, _Replacement(program, tracer, node, bound).term(parse(rule.replacement)))


def tracing(program: Program, node: Node) -> Tracer:
    """Writes down what takes the place of a node, under ids that the program does not have."""
    builder = Builder()
    builder.next_id = max(one.id for one in program.nodes) + 1
    tracer = Tracer(builder, phase="forward")
    tracer.at(node.span, node.scope)
    return tracer


def finished(tracer: Tracer, node: Node, y: Any) -> list[Node]:
    """What was written down, with the result in the dtype and the shape of the node it replaces."""
    if y.shape != node.shape:
        wider = joint_shape(y.shape, node.shape) == node.shape
        y = (tracer.broadcast if wider else tracer.reshape)(y, shape=node.shape)
    if types.dtype_name(y.value) != node.dtype:
        y = tracer.cast(y, dtype=node.dtype)
    if not tracer.builder.nodes or tracer.builder.nodes[-1].id != y.id:
        y = tracer.identity(y)
    return tracer.builder.nodes


def bound_array(program: Program, tracer: Tracer, id: int) -> Traced:
    return Traced(tracer, id, np.asarray(program[id].value))


class _Replacement:
    """Writes a pattern down as nodes, with what its names were bound to."""

    def __init__(self, program: Program, tracer: Tracer, node: Node, bound: Binding) -> None:
        self.program, self.tracer, self.bound = program, tracer, bound
        self.dtype = types.numpy_dtype(node.dtype)

    def term(self, pattern: Pattern) -> Any:
        if isinstance(pattern, Number):
            return self.constant(pattern.value)
        if not isinstance(pattern, PatternCall):
            return self.bound_term(self.bound[pattern.name])
        if pattern.op == SPREAD:
            return self.spread(pattern.args[0])
        if pattern.op == MOVED:
            return self.moved(self.term(pattern.args[0]))
        if pattern.op == COUNT:
            shape = self.term(pattern.args[0]).shape
            return self.constant(math.prod(shape[axis] for axis in self.bound[AXES]))
        params: dict[str, Any] = {}
        if pattern.op in REDUCTIONS:
            params[AXES] = self.bound[AXES]
        if pattern.exponent is not None:
            params["exponent"] = pattern.exponent
        return getattr(self.tracer, pattern.op)(*map(self.term, pattern.args), **params)

    def moved(self, x: Any) -> Any:
        for move in reversed(self.bound[MOVED]):
            others = map(self.bound_term, move.args[1:])
            x = getattr(self.tracer, move.op)(x, *others, **move.params)
        return x

    def spread(self, reduction: Pattern) -> Any:
        """A reduced array with its axes kept at length one, so that it meets what it was reduced from."""
        assert isinstance(reduction, PatternCall)
        y, x = self.term(reduction), self.term(reduction.args[0])
        return y if y.ndim == 0 else self.tracer.reshape(y, shape=kept(x.shape, self.bound[AXES]))

    def bound_term(self, term: Term) -> Any:
        if isinstance(term, Id):
            return bound_array(self.program, self.tracer, term.id)
        if isinstance(term, Shown):
            return getattr(self.tracer, term.op)(*map(self.bound_term, term.args), **term.params)
        return self.constant(term)

    def constant(self, value: float) -> Any:
        with np.errstate(over="ignore"):  # an infinite constant is no rewriting, which its trial tells
            return self.tracer.constant(np.asarray(value, self.dtype))
