"""A change in place written as a new tensor or put off, so that the numbers a derivative needs stay as they were."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff, replaced, without_keyword
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.lines import inserted, loops_around, put_off
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.ir.syntax import statement_around

_SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**", ast.MatMult: "@"}


def offer(fault: Fault) -> Iterator[Fix]:
    span, change = fault.found.span, fault.case.source.missing or fault.case.source.overwritten
    source = None if span is None else parsed(fault.case.sources.get(span.file, ""))
    if span is None or source is None or change is None or "changed" not in change.facts:
        return
    statement = statement_around(source.tree, span.line)
    if statement is None:
        return
    if change.facts.get("by") == "step":
        last = statement_around(source.tree, fault.case.capture.call.line)
        patches = [("step after the last `backward()`", put_off(source, statement, last, span.file))]
    else:
        patches = [
            *_patches(source, statement, span.file),
            *_of_a_layer(source, change.facts["changed"], span.file),
        ]
    yield from (Fix(text, patch) for text, patch in patches if patch)


def _patches(source: ParsedSource, statement: ast.stmt, file: str) -> Iterator[tuple[str, str]]:
    new = "compute a new tensor here instead of changing one in place"
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        yield new, _of_a_sign(source, statement, file)
        return
    for call in (one for one in ast.walk(statement) if isinstance(one, ast.Call)):
        yield new, _of_a_method(source, statement, call, file)
    changed = _part_of(statement)
    if changed is not None:
        name = ast.unparse(changed)
        copied = inserted(source, statement, f"{name} = {name}.clone()", file)
        yield f"change a copy: `{name} = {name}.clone()` before this line", copied
        yield f"compute with a copy of what is read from `{name}`", _of_copies(source, statement, name, file)


def _of_copies(source: ParsedSource, statement: ast.stmt, name: str, file: str) -> str:
    """`x[i] = 2 * x[i - 1]` as `x[i] = 2 * x[i - 1].clone()`: what was read is not changed by later writes."""
    if not isinstance(statement, ast.Assign | ast.AugAssign):
        return ""
    read = [
        one
        for one in ast.walk(statement.value)
        if isinstance(one, ast.Subscript) and ast.unparse(one.value) == name
    ]
    return replaced(
        source, [(one, f"{ast.get_source_segment(source.text, one)}.clone()") for one in read], file
    )


def _of_a_layer(source: ParsedSource, op: str, file: str) -> Iterator[tuple[str, str]]:
    """A function or a layer of that name that is told to work in place; told nothing, it does not."""
    for call in (one for one in ast.walk(source.tree) if isinstance(one, ast.Call)):
        if ast.unparse(call.func).rpartition(".")[2].lower() == op.replace("_", "").lower():
            text = "leave out `inplace=True`, so that a new tensor is computed"
            yield text, without_keyword(source, call, "inplace", file)


def _of_a_sign(source: ParsedSource, statement: ast.AugAssign, file: str) -> str:
    """`h += x` as `h = h + x`; in parentheses what binds less than the sign."""
    sign, value = _SIGNS.get(type(statement.op)), ast.get_source_segment(source.text, statement.value)
    lines = source.text.splitlines(keepends=True)
    if sign is None or value is None or statement.lineno != statement.end_lineno:
        return ""
    name = ast.unparse(statement.target)
    whole = ast.BinOp(ast.Name(name, ast.Load()), statement.op, statement.value)
    if f"({ast.unparse(statement.value)})" in ast.unparse(whole)[len(name) :]:
        value = f"({value})"
    line = lines[statement.lineno - 1].encode()
    after = line[: statement.col_offset], line[statement.end_col_offset :]
    lines[statement.lineno - 1] = after[0].decode() + f"{name} = {name} {sign} {value}" + after[1].decode()
    return diff(source, lines, file)


def _of_a_method(source: ParsedSource, statement: ast.stmt, call: ast.Call, file: str) -> str:
    """`h.mul_(2)` as `h = h.mul(2)`, and `torch.relu_(h)` as `h = torch.relu(h)`; inside a line only its name changes.

    Inside a line the tensor keeps its old numbers, so that nothing may read it afterwards.
    """
    method = call.func
    if not isinstance(method, ast.Attribute) or not method.attr.endswith("_") or method.attr.endswith("__"):
        return ""
    is_method = not _is_module(source, method.value)
    changed = method.value if is_method else call.args[0] if call.args else None
    given = ast.get_source_segment(source.text, method.value)
    if (
        not isinstance(changed, ast.Name | ast.Attribute)
        or given is None
        or ast.unparse(changed).endswith(".data")
    ):
        return ""
    name, without = ast.unparse(changed), f"{given}.{method.attr[:-1]}"
    if isinstance(statement, ast.Expr) and statement.value is call:
        arguments = (ast.get_source_segment(source.text, call) or "")[len(f"{given}.{method.attr}") :]
        return replaced(source, [(call, f"{name} = {without}{arguments}")], file)
    is_own = isinstance(statement, ast.Assign) and [ast.unparse(one) for one in statement.targets] == [name]
    if is_own or not _is_read_after(source, statement, name):
        return replaced(source, [(method, without)], file)
    return ""


def _is_read_after(source: ParsedSource, statement: ast.stmt, name: str) -> bool:
    """Also in a loop around it, where what stands before comes after."""
    if loops_around(source, statement):
        return True
    last = statement.end_lineno or statement.lineno
    return any(
        one.lineno > last and ast.unparse(one) == name
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Name | ast.Attribute)
    )


def _is_module(source: ParsedSource, part: ast.expr) -> bool:
    """Whether a name is that of something imported."""
    root = part
    while isinstance(root, ast.Attribute):
        root = root.value
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Import | ast.ImportFrom)
        for alias in one.names
    }
    return isinstance(root, ast.Name) and root.id in imported


def _part_of(statement: ast.stmt) -> ast.Name | ast.Attribute | None:
    """What `x[...] = y` and `x[...] += y` change a part of, and `x[...].mul_(2)`."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AugAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        targets = [statement.value.func.value] if isinstance(statement.value.func, ast.Attribute) else []
    for one in targets:
        whole = one.value if isinstance(one, ast.Subscript) else None
        if isinstance(whole, ast.Name | ast.Attribute):
            return whole
    return None


FIX = FixKind("new-tensor", ("reassigned-variable",), offer)
