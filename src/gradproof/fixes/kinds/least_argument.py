"""A logarithm whose argument is zero by rounding, or behind a mask, taken of the smallest normal number instead.

For helpers that are handed probabilities and not what they were made of: where that is at hand, `log_softmax` comes
first. Silent where the lines of the fault have no logarithm.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import imported_names, root_name
from gradproof.fixes.users_file import file_at

_TEXT = "take the logarithm of {least} where its argument is smaller: below it are numbers that round to zero"
_MEANING = "where the argument is below {least}, the value is the logarithm of that, and its slope is zero"


def offer(fault: Fault) -> Iterator[Fix]:
    case, least = fault.case, _least(fault.case.source.dtype)
    for span in dict.fromkeys(one.span for one in (fault.found.primary, *fault.found.secondary) if one):
        file = file_at(case, span)
        if file is None or not file.language.at_least or not least:
            continue
        source = file.source
        for part in ast.walk(source.tree):
            argument = _argument(source, part)
            if argument is None or argument.lineno != span.line:
                continue
            text = ast.get_source_segment(source.text, argument) or ""
            new = file.worded(file.language.at_least).format(x=text, low=least)
            patch = replaced(source, [(argument, new)], span.file)
            yield Fix(_TEXT.format(least=least), patch, "", _MEANING.format(least=least))


def _least(dtype: str) -> str:
    """The smallest normal number, rounded up: smaller ones are flushed to zero by some devices."""
    if dtype not in ("float16", "float32", "float64"):
        return ""
    digits, power = f"{float(np.finfo(dtype).tiny):.3e}".split("e")
    return f"{np.ceil(float(digits) * 10) / 10:.1f}e{int(power)}"


def _argument(source: ParsedSource, part: ast.AST) -> ast.expr | None:
    """Of `log(p)`, or the object of `p.log()`."""
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute) or part.func.attr != "log":
        return None
    if root_name(part.func) in imported_names(source.tree):
        return part.args[0] if part.args else None
    return None if part.args else part.func.value


FIX = FixKind("least-argument", ("masked-branch", "underflow"), offer)
