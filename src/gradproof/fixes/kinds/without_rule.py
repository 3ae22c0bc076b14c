"""A hand-written derivative left out, where the framework can differentiate the forward itself.

It mends every mistake in a rule, of second order too; what the rule was written for, such as memory, is given up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.words import framework_name
from gradproof.fixes.edit import diff
from gradproof.fixes.kind import Fault, FixKind
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
        marks = [one for one in function.decorator_list if ast.unparse(one).endswith(names)] if names else []
        dropped = _dropped(source, function) if marks else None
        if dropped is None or not any(first <= span.line <= last for first, last in dropped[0]):
            continue
        patch = _patch(source, marks, *dropped, span.file)
        text = _TEXT.format(name=framework_name(fault.case.capture.framework), function=function.name)
        yield Fix(text, patch)


Lines = list[tuple[int, int]]


def _dropped(source: ParsedSource, function: ast.FunctionDef) -> tuple[Lines, dict[int, str]] | None:
    """The lines of the rule, from first to last, and returns with their new text; None where it is not plain."""
    registered = [
        one
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Expr)
        and isinstance(one.value, ast.Call)
        and _registers(one.value, function.name)
    ]
    if registered:
        rules = {one.id for each in registered for one in ast.walk(each) if isinstance(one, ast.Name)}
        others = [
            one
            for one in source.tree.body
            if isinstance(one, ast.FunctionDef) and one.name in rules - {function.name}
        ]
        return [_lines(one) for one in (*registered, *others)], {}
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
    return [_lines(one) for one in inner] or [(value.lineno, value.lineno)], kept


def _registers(call: ast.Call, name: str) -> bool:
    """`wave.defvjp(...)`, which names the rules of `wave`."""
    return isinstance(call.func, ast.Attribute) and ast.unparse(call.func).startswith(
        (f"{name}.defvjp", f"{name}.defjvp")
    )


def _lines(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", ())
    return min(one.lineno for one in (node, *decorators)), node.end_lineno or node.lineno


def _patch(
    source: ParsedSource, marks: list[ast.expr], dropped: Lines, kept: dict[int, str], file: str
) -> str:
    lines: list[str] = source.text.splitlines(keepends=True)
    gone = {number for first, last in dropped for number in range(first, last + 1)}
    gone |= {one.lineno for one in marks}
    # With a function its blank lines go too: two of them before a function, one before an inner one.
    for first, _ in dropped:
        number = first - 1
        while number > 0 and not lines[number - 1].strip():
            gone.add(number)
            number -= 1
    after = [kept.get(k, "" if k in gone else line) for k, line in enumerate(lines, 1)]
    return diff(source, [line for line in after if line], file)


FIX = FixKind("without-rule", ("custom-gradient", "step-size"), offer)
