"""A hand-written derivative left out, where the framework can differentiate the forward itself.

It mends every mistake in a rule, of second order too; what the rule was written for, such as memory, is given up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.words import framework_name
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.lines import left_out, lines_of, unused
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.frameworks import framework

_TEXT = "leave out the hand-written rule: {name} can differentiate `{function}` itself"


def offer(fault: Fault) -> Iterator[Fix]:
    span = fault.found.span
    source = None if span is None else parsed(fault.case.sources.get(span.file, ""))
    names = framework(fault.case.capture.framework).rule_decorators
    if source is None or span is None:
        return
    for function in (one for one in ast.walk(source.tree) if isinstance(one, ast.FunctionDef)):
        marks = [one for one in function.decorator_list if _is_mark(one, names)]
        found = _dropped(source, function) if marks else None
        if found is None or not any(first <= span.line <= last for first, last in map(lines_of, found[0])):
            continue
        kept = {**{one.lineno: "" for one in marks}, **found[1]}
        dropped = [one for one in found[0] if not isinstance(one, ast.Return)]
        text = _TEXT.format(name=framework_name(fault.case.capture.framework), function=function.name)
        yield Fix(text, left_out(source, dropped, span.file, kept))


def _is_mark(decorator: ast.expr, names: tuple[str, ...]) -> bool:
    """`@jax.custom_vjp`, `@jax.custom_vjp(...)` or `@partial(jax.custom_vjp, ...)`."""
    called = [decorator.func, *decorator.args[:1]] if isinstance(decorator, ast.Call) else [decorator]
    return bool(names) and any(ast.unparse(one).endswith(names) for one in called)


def _dropped(
    source: ParsedSource, function: ast.FunctionDef
) -> tuple[Sequence[ast.stmt], dict[int, str]] | None:
    """The statements of the rule, and lines with their new text; None where it is not plain."""
    registered = [one for one in ast.walk(source.tree) if _registers(one, function.name)]
    if registered:
        rules = {
            one.id
            for each in registered
            if isinstance(each, ast.Expr)
            for one in ast.walk(each)
            if isinstance(one, ast.Name)
        }
        others = [
            one
            for one in source.tree.body
            if isinstance(one, ast.FunctionDef) and one.name in rules - {function.name}
        ]
        return [one for one in (*registered, *others) if isinstance(one, ast.stmt)], {}
    returns = [
        one for one in ast.walk(function) if isinstance(one, ast.Return) and source.scope(one) is function
    ]
    value = returns[0].value if len(returns) == 1 else None
    if not isinstance(value, ast.Tuple) or len(value.elts) != 2 or value.lineno != value.end_lineno:
        return None
    rule = value.elts[1]
    inner = [
        one for one in function.body if isinstance(rule, ast.Name) and getattr(one, "name", None) == rule.id
    ]
    if not inner and not isinstance(rule, ast.Lambda):
        return None
    text = ast.get_source_segment(source.text, value.elts[0]) or ""
    kept = {returns[0].lineno: " " * returns[0].col_offset + f"return {text}\n"}
    return [*(inner or returns), *unused(function, inner)], kept


def _registers(node: ast.AST, name: str) -> bool:
    """`wave.defvjp(...)` and `@wave.defjvp`, which name the rules of `wave`."""
    marks = [node.value.func] if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else []
    marks += node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return any(ast.unparse(one).startswith((f"{name}.defvjp", f"{name}.defjvp")) for one in marks)


FIX = FixKind("without-rule", ("custom-gradient", "step-size"), offer)
