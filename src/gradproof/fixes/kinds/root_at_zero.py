"""A root or a power of zero whose slope nobody asks for, left out: it stays zero, and no infinite slope meets a zero.

Wherever its result is dropped by what no selection in the file says: by a maximum, a sort, a factor made elsewhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import enclosed, replaced_with_a_name
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import imported_names, root_name
from gradproof.fixes.users_file import file_at

_TEXT = "take the root only where its argument is above 0: elsewhere it is 0, with the slope 0, not an infinite one"
_POWER = "take the power only where its base is not 0: there it is 0, with the slope 0, not an infinite one"


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span
    file = file_at(case, span)
    root = None if file is None else file.source.at(span)
    if file is None or span is None or root is None or "select" not in file.language.spellings:
        return
    source, select = file.source, file.worded(file.language.spellings["select"])
    if _is_selected(source, root, select.rpartition(".")[2]):
        return
    argument, base = _argument(source, root), _base(root)
    if argument is not None or base is not None:
        sign, words = (">", _TEXT) if base is None else ("!=", _POWER)
        argument = argument or base
        assert argument is not None
        inner = ast.get_source_segment(source.text, argument) or ""
        bare = isinstance(argument, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        shown = inner if bare else f"({inner})"
        safe = f"{select}({shown} {sign} 0, {inner}, 1.0)"
        whole = ast.get_source_segment(source.text, root) or ""
        text = f"{select}({shown} {sign} 0, {_with_argument(root, argument, whole, safe)}, 0.0)"
        yield Fix(words, replaced_with_a_name(source, root, enclosed(source, root, text), span.file))


def _is_selected(source: ParsedSource, root: ast.expr, select: str) -> bool:
    """Whether it stands in a branch of a selection: then a harmless input says the same condition once more."""
    part: ast.AST = root
    while (around := source.parents.get(part)) is not None and not isinstance(part, ast.stmt):
        is_call = isinstance(around, ast.Call) and ast.unparse(around.func).rpartition(".")[2] == select
        if is_call and isinstance(around, ast.Call) and part in around.args[1:]:
            return True
        part = around
    return False


def _argument(source: ParsedSource, root: ast.expr) -> ast.expr | None:
    """What `sqrt(x)` or `x.sqrt()` is taken of."""
    if not isinstance(root, ast.Call) or root.lineno != root.end_lineno or root.keywords:
        return None
    function = root.func
    if ast.unparse(function).rpartition(".")[2] != "sqrt":
        return None
    if isinstance(function, ast.Attribute) and root_name(function) not in imported_names(source.tree):
        return function.value if not root.args else None
    return root.args[0] if len(root.args) == 1 else None


def _base(power: ast.expr) -> ast.expr | None:
    """What `x ** a` or `pow(x, a)` is a power of."""
    if power.lineno != power.end_lineno:
        return None
    if isinstance(power, ast.BinOp):
        return power.left if isinstance(power.op, ast.Pow) else None
    if not isinstance(power, ast.Call) or len(power.args) != 2 or power.keywords:
        return None
    name = ast.unparse(power.func).rpartition(".")[2]
    return power.args[0] if name in ("pow", "power", "float_power") else None


def _with_argument(root: ast.expr, argument: ast.expr, whole: str, text: str) -> str:
    """The call as it is written, with another argument; both stand on one line."""
    first = len(whole.encode()[: argument.col_offset - root.col_offset].decode())
    last = len(whole.encode()[: (argument.end_col_offset or 0) - root.col_offset].decode())
    head, tail = whole[:first], whole[last:]
    is_method = tail.lstrip(")").startswith(".")
    return f"{text}{tail.lstrip(')')}" if is_method else f"{head}{text}{tail}"


FIX = FixKind("root-at-zero", ("masked-branch",), offer)
