"""A large finite number in the place of the infinity that masks: it weighs nothing either, and has a slope.

Where all of a row is masked, softmax is 0/0: NaN, which no selection behind it keeps out of the gradient.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import imported_names, is_negative, root_name
from gradproof.fixes.users_file import file_at
from gradproof.ir.syntax import statement_around

LARGE = {"float16": "1e4"}  # of what 16 bits hold
_TEXT = (
    "write {number} in the place of {infinity}: it weighs nothing beside other numbers either, and a row that is "
    "masked as a whole has equal weights, not NaN"
)


def offer(fault: Fault) -> Iterator[Fix]:
    """First those of the guilty statement, then those of its function, then of the file."""
    case, span = fault.case, fault.found.span
    file = file_at(case, span)
    if file is None or span is None:
        return
    source, seen = file.source, list[list[ast.expr]]()
    for part in (statement_around(source.tree, span.line), source.function_at(span.line), source.tree):
        infinities = [] if part is None else list(_infinities(source, part))
        if not infinities or infinities in seen:
            continue
        seen.append(infinities)
        large = LARGE.get(case.source.dtype, "1e9")
        changes = [(one, f"-{large}" if _is_below(one) else large) for one in infinities]
        named = ast.get_source_segment(source.text, infinities[0])
        text = _TEXT.format(number=changes[0][1], infinity=f"`{named}`")
        yield Fix(text, replaced(source, changes, span.file))


def _infinities(source: ParsedSource, part: ast.AST) -> Iterator[ast.expr]:
    """Each with its sign: `float("-inf")`, `-np.inf`, `math.inf`."""
    for one in ast.walk(part):
        if isinstance(one, ast.expr) and _is_infinite(source, one):
            above = source.parents.get(one)
            yield above if isinstance(above, ast.UnaryOp) and is_negative(above) else one


def _is_infinite(source: ParsedSource, part: ast.expr) -> bool:
    if isinstance(part, ast.Attribute):
        return part.attr == "inf" and root_name(part) in imported_names(source.tree)
    is_float = isinstance(part, ast.Call) and ast.unparse(part.func) == "float" and len(part.args) == 1
    return is_float and _written(part).lstrip("+-") in ("inf", "infinity")


def _written(part: ast.expr) -> str:
    """What `float("...")` is given."""
    given = part.args[0] if isinstance(part, ast.Call) else None
    return str(given.value).strip().lower() if isinstance(given, ast.Constant) else ""


def _is_below(part: ast.expr) -> bool:
    if isinstance(part, ast.UnaryOp):
        return not _written(part.operand).startswith("-")
    return _written(part).startswith("-")


FIX = FixKind("finite-mask", ("invalid-domain", "masked-branch"), offer)
