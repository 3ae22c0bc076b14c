"""A part that left the framework, computed with the framework's own functions instead."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.words import framework_name
from gradproof.engine.trace import Tracer
from gradproof.errors import GradproofError
from gradproof.fixes.edit import enclosed, replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.rewrite import bound_array, finished, tracing, with_nodes
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.fixes.spelling import OPERATORS, alias_of, spell
from gradproof.fixes.tried import Replay, checked_text, tried
from gradproof.frameworks import framework
from gradproof.ir.program import Node, Program
from gradproof.judge.verdict import Verdict

CLOSE = 1e-5  # relative: the same number, computed by another library and perhaps in another dtype
_WRAPPERS = frozenset({"constant", "convert_to_tensor", "cast"})
_OPS = {text: op for op, text in framework("numpy").spellings.items() if "(" not in text}
_BINARY = {kind: op for op, kind in OPERATORS.items()}


class _Unknown(Exception):
    """The expression has a part that is not a function of numbers alone."""


def offer(fault: Fault) -> Iterator[Fix]:
    is_missing = fault.case.verdict is Verdict.MISSING
    found = _kept_inside(fault.case, fault.replay) if is_missing else None
    if found is not None:
        yield found


def _kept_inside(case: Case, replay: Replay | None) -> Fix | None:
    """The expression around the place where numbers left, in the framework's functions, if it is only mathematics."""
    program, wrt, missing = case.capture.program, case.source.node, case.source.missing
    span = None if missing is None else missing.span
    source = None if span is None else parsed(case.sources.get(span.file, ""))
    expression = None if source is None else source.at(span)
    if program is None or wrt is None or source is None or expression is None or span is None:
        return None
    alias = alias_of(source.tree, case.capture.framework)
    numpy = alias_of(source.tree, "numpy") or "np"
    writer = _Writer(case, numpy, alias)
    around = _around(source, expression, numpy, alias or "")
    joined = _joined(case, source, around[-1][0], alias or "")
    for outer, inner in reversed(around):
        changed = _changed(program, wrt, inner, writer) if joined is None else _spelled(joined, inner, writer)
        result = None if changed is None else tried(case, changed, wrt, replay)
        if result is not None and result.is_correct:
            text = enclosed(source, outer, ast.unparse(ast.fix_missing_locations(writer.text(inner))))
            name = framework_name(case.capture.framework)
            return Fix(
                f"stay in {name}: compute this with its own functions",
                replaced(source, [(outer, text)], span.file),
                checked_text(case, result),
            )
    return None


def _joined(case: Case, source: ParsedSource, outer: ast.expr, alias: str) -> Program | None:
    """The program itself, if it leads through the one place where numbers left, and nothing around it leaves again.

    What is handed to another function than the framework's may leave in there, as in `math.exp(x.item())`.
    """
    program, missing, above = case.capture.program, case.source.missing, source.parents.get(outer)
    if program is None or missing is None or missing.facts.get("cuts") != "1":
        return None
    return None if isinstance(above, ast.Call) and not _called(above, alias) else program


def _spelled(program: Program, inner: ast.expr, writer: _Writer) -> Program | None:
    try:
        writer.text(inner)
    except _Unknown:
        return None
    return program


def _around(
    source: ParsedSource, expression: ast.expr, numpy: str, alias: str
) -> list[tuple[ast.expr, ast.expr]]:
    """Expressions around the first, the largest last: what is replaced, and the mathematics in it."""
    found = [(expression, expression)]
    while True:
        outer, (last, inner) = source.parents.get(found[-1][0]), found[-1]
        called = (_called(outer, numpy), _called(outer, alias)) if isinstance(outer, ast.Call) else ("", "")
        if isinstance(outer, ast.Call) and called[1].removeprefix("np.") in _WRAPPERS:
            found.append((outer, inner))
        elif isinstance(outer, ast.expr) and last is inner and (called[0] in _OPS or _is_arithmetic(outer)):
            found.append((outer, outer))
        else:
            return found


def _is_arithmetic(part: ast.expr) -> bool:
    if isinstance(part, ast.BinOp):
        return type(part.op) in _BINARY
    return isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub)


def _called(call: ast.Call, alias: str) -> str:
    """`np.sin` for a function of the module that goes by a name; empty for any other."""
    function = call.func
    is_own = isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)
    if not is_own or not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return ""
    return f"np.{function.attr}" if function.value.id == alias else ""


class _Writer:
    """An expression of numbers as nodes, and as text in the framework's functions."""

    def __init__(self, case: Case, numpy: str, alias: str | None) -> None:
        self.case, self.numpy, self.alias = case, numpy, alias

    def nodes(self, tracer: Tracer, x: Any, part: ast.expr) -> Any:
        op, args = self._read(part)
        if op == "source":
            return x
        if op == "number":
            return tracer.constant(np.asarray(args[0], x.value.dtype))
        return getattr(tracer, op)(*(self.nodes(tracer, x, arg) for arg in args))

    def text(self, part: ast.expr) -> ast.expr:
        op, args = self._read(part)
        if op == "source":
            return ast.Name(self.case.source.name)
        if op == "number":
            return part
        made = spell(self.case.capture.framework, self.alias, op, [self.text(arg) for arg in args], {}, 0)
        if made is None:
            raise _Unknown
        return made

    def _read(self, part: ast.expr) -> tuple[str, list[Any]]:
        name = self.case.source.name
        match part:
            case ast.Name(id=found) if found == name:
                return "source", []
            case ast.Constant(value=int() | float() as value):
                return "number", [value]
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="numpy" | "item"), args=[]) if (
                found == name
            ):
                return "source", []
            case ast.Call(func=ast.Name(id="float"), args=[inner]):
                return self._read(inner)
            case ast.Call(args=args, keywords=[]) if _called(part, self.numpy) in _OPS:
                return _OPS[_called(part, self.numpy)], list(args)
            case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _BINARY:
                return _BINARY[type(operator)], [left, right]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return "neg", [operand]
        raise _Unknown


def _changed(program: Program, wrt: int, inner: ast.expr, writer: _Writer) -> Program | None:
    """The program with the expression computed from the source, in the place of the constant of the same value."""
    for node in program.nodes:
        if node.op != "constant" or node.span is None or not _on_lines(node, inner):
            continue
        tracer = tracing(program, node)
        try:
            y = writer.nodes(tracer, bound_array(program, tracer, wrt), inner)
            writer.text(inner)
        except (_Unknown, GradproofError, ValueError, TypeError, AttributeError):
            return None
        if y.shape == node.shape and np.allclose(y.value, np.asarray(node.value), rtol=CLOSE, atol=0.0):
            return with_nodes(program, {node.id: finished(tracer, node, y)})
    return None


def _on_lines(node: Node, inner: ast.expr) -> bool:
    assert node.span is not None
    return node.span.line <= inner.lineno <= node.span.last_line


FIX = FixKind("own-functions", ("left-framework",), offer)
