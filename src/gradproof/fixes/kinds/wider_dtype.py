"""float32 in the place of 16 bits that the script names.

First on the guilty line, then in the function around it, then in the whole file: numbers of two dtypes may not meet.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.users_file import file_at
from gradproof.ir import types
from gradproof.judge.verdict import Verdict

_NARROW = ("float16", "bfloat16", "half")
_NAMED = "use float32 in the place of {narrow} {where}: twice the memory of these numbers"


def offer(fault: Fault) -> Iterator[Fix]:
    """Not for what has all the digits there are, nor for a rule that is wrong in every dtype."""
    case, span = fault.case, fault.found.span
    file = file_at(case, span)
    if span is None or file is None or not types.is_real(case.source.dtype) or case.source.dtype == "float64":
        return
    if case.verdict not in (Verdict.INACCURATE, Verdict.NONFINITE):
        return
    source = file.source
    whole = named(source)
    here = [one for one in whole if one.lineno == span.line]
    function = source.function_at(span.line)
    inside = [one for one in whole if function is not None and source.scope(one) is function]
    words = {"on this line": here, "in this function": inside, "in this file": whole}
    seen: list[list[ast.expr]] = [[]]
    for where, places in words.items():
        if places not in seen:
            seen.append(places)
            narrow = " and ".join(dict.fromkeys(_name(one) for one in places))
            changes = [(one, _widened(source, one)) for one in places]
            yield Fix(_NAMED.format(narrow=narrow, where=where), replaced(source, changes, span.file))


def named(source: ParsedSource) -> list[ast.expr]:
    """Where a file names a dtype of 16 bits."""
    return [one for one in ast.walk(source.tree) if isinstance(one, ast.expr) and _name(one) in _NARROW]


def _name(part: ast.expr) -> str:
    """The dtype that an attribute or a text names."""
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        return part.value
    return part.attr if isinstance(part, ast.Attribute) else ""


def _widened(source: ParsedSource, part: ast.expr) -> str:
    """`x.half()` as `x.float()`, every other name as that of float32."""
    if isinstance(part, ast.Attribute):
        called = source.parents.get(part)
        is_method = isinstance(called, ast.Call) and called.func is part
        return f"{ast.get_source_segment(source.text, part.value)}.{'float' if is_method else 'float32'}"
    quote = (ast.get_source_segment(source.text, part) or "'")[0]
    return f"{quote}float32{quote}"


FIX = FixKind(
    "wider-dtype",
    (
        "absorption",
        "accumulation",
        "cancellation",
        "ill-conditioned",
        "invalid-domain",
        "low-precision",
        "overflow",
        "underflow",
    ),
    offer,
)
