"""Rewrite patterns: Python expressions over op names, in which names in capitals stand for anything."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from gradproof.fixes.graph import Graph, Shown, Term
from gradproof.ir import syntax

OPERATORS: dict[type, str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}
COMMUTATIVE = frozenset({"add", "mul", "hypot", "logaddexp"})
# Ops along axes. All that one rule mentions go along the same ones, which are bound under this name.
REDUCTIONS = frozenset({"sum", "mean", "logsumexp", "softmax", "log_softmax", "var", "prod"})
AXES = "axes"
SPREAD = "spread"  # a reduced array beside what it was reduced from; its axes of length one do not matter
MOVED = "moved"  # its argument after ops that only pick, move or repeat entries
MOST_MOVES = 3  # one after the other: an index of several arrays is two
MOVES = frozenset(
    {"strided_slice", "take", "take_along", "gather_nd", "transpose", "reshape", "tile", "reverse", "roll"}
)
COUNT = "count"  # how many entries of its argument lie along the axes

Binding = Mapping[str, Any]  # names to terms, and the axes


@dataclass(frozen=True)
class PatternVariable:
    """Stands for any number or array; the same name stands for the same one."""

    name: str


@dataclass(frozen=True)
class Number:
    """Stands for a constant all of whose entries have this value."""

    value: float


@dataclass(frozen=True)
class PatternCall:
    """Stands for the result of an op."""

    op: str
    args: tuple[Pattern, ...]
    exponent: int | None = None  # of `integer_power`


Pattern = PatternVariable | Number | PatternCall


@cache
def parse(text: str) -> Pattern:
    return _pattern(syntax.expression(text))


def _pattern(node: ast.expr) -> Pattern:
    match node:
        case ast.Constant(value=int() | float() as value):
            return Number(value)
        case ast.Name(id=name):
            return PatternVariable(name)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return Number(-value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return PatternCall("neg", (_pattern(operand),))
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=2)):
            return PatternCall("square", (_pattern(base),))
        case ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=int() as exponent)):
            return PatternCall("integer_power", (_pattern(base),), exponent)
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in OPERATORS:
            return PatternCall(OPERATORS[type(operator)], (_pattern(left), _pattern(right)))
        case ast.Call(func=ast.Name(id=op), args=args):
            return PatternCall(op, tuple(map(_pattern, args)))
    raise ValueError(f"a pattern cannot contain `{ast.unparse(node)}`")


def matches(graph: Graph, pattern: Pattern, term: Term, bound: Binding | None = None) -> Iterator[Binding]:
    """All ways in which a term of a program is an instance of a pattern."""
    bound = {} if bound is None else bound
    if isinstance(pattern, PatternVariable):
        known = bound.get(pattern.name)
        if known is None:
            yield {**bound, pattern.name: term}
        elif graph.is_same(known, term):
            yield bound
    elif isinstance(pattern, Number):
        if graph.number(term) == pattern.value:
            yield bound
    elif pattern.op == SPREAD:
        yield from matches(graph, pattern.args[0], term, bound)
    elif pattern.op == MOVED:
        yield from _moved_matches(graph, pattern.args[0], term, bound, ())
    else:
        for shown in graph.shown(term):
            if shown.op == pattern.op and len(shown.args) == len(pattern.args):
                yield from _call_matches(graph, pattern, shown, bound)


def _moved_matches(
    graph: Graph, pattern: Pattern, term: Term, bound: Binding, moves: tuple[Shown, ...]
) -> Iterator[Binding]:
    """With the moves bound, the last first; as few of them as fit come first."""
    for shown in graph.shown(term) if len(moves) < MOST_MOVES else ():
        if shown.op in MOVES:
            more = (*moves, shown)
            yield from matches(graph, pattern, shown.args[0], {**bound, MOVED: more})
            yield from _moved_matches(graph, pattern, shown.args[0], bound, more)


def _call_matches(graph: Graph, pattern: PatternCall, shown: Shown, bound: Binding) -> Iterator[Binding]:
    if pattern.exponent is not None and shown.params.get("exponent") != pattern.exponent:
        return
    if pattern.op in REDUCTIONS:
        axes = shown.params.get(AXES)
        if bound.get(AXES, axes) != axes:
            return
        bound = {**bound, AXES: axes}
    yield from _all_match(graph, pattern.args, shown.args, bound)
    if pattern.op in COMMUTATIVE and pattern.args[0] != pattern.args[1]:
        yield from _all_match(graph, pattern.args, shown.args[::-1], bound)


def _all_match(
    graph: Graph, patterns: tuple[Pattern, ...], terms: tuple[Term, ...], bound: Binding
) -> Iterator[Binding]:
    if not patterns:
        yield bound
        return
    for first in matches(graph, patterns[0], terms[0], bound):
        yield from _all_match(graph, patterns[1:], terms[1:], first)
