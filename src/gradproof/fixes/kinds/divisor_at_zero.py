"""A divisor of zero replaced by one, where what is divided is dropped or zero as well: no 0/0, and no infinite slope.

Wherever the quotient is thrown away by what no selection in the file says, or only once it is NaN.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced_with_a_name
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.users_file import file_at

_TEXT = "divide by 1 where the divisor is 0: 0/0 becomes 0 there, with slopes that are finite"


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span
    file = file_at(case, span)
    quotient = None if file is None else file.source.at(span)
    if file is None or span is None or "select" not in file.language.spellings:
        return
    if not isinstance(quotient, ast.BinOp) or not isinstance(quotient.op, ast.Div):
        return
    source, divisor = file.source, quotient.right
    inner = ast.get_source_segment(source.text, divisor) or ""
    if "\n" in inner or isinstance(divisor, ast.Constant):
        return
    select = file.worded(file.language.spellings["select"])
    bare = isinstance(divisor, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    text = f"{select}({inner if bare else f'({inner})'} != 0, {inner}, 1.0)"
    yield Fix(_TEXT, replaced_with_a_name(source, divisor, text, span.file))


FIX = FixKind("divisor-at-zero", ("invalid-domain", "masked-branch"), offer)
