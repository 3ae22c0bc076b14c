"""A logarithm or an exponential beyond the numbers of its dtype, taken of the nearest number for which it is within.

The logarithm of what is zero by rounding, in helpers that are handed probabilities and not what they were made of:
where that is at hand, `log_softmax` comes first. The exponential of what grows in a loop until nobody uses it any more.
Silent where the lines of the fault have neither.
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

_TEXTS = {
    "log": "take the logarithm of {bound} where its argument is smaller: below it are numbers that round to zero",
    "exp": "take the exponential of {bound} where its argument is larger: beyond it are numbers that are infinite",
}
_MEANINGS = {
    "log": "where the argument is below {bound}, the value is the logarithm of that, and its slope is zero",
    "exp": "where the argument is above {bound}, the value is the exponential of that, and its slope is zero",
}


def offer(fault: Fault) -> Iterator[Fix]:
    case, bounds = fault.case, _bounds(fault.case.source.dtype)
    for span in dict.fromkeys(one.span for one in (fault.found.primary, *fault.found.secondary) if one):
        file = file_at(case, span)
        if file is None or not file.language.at_least:
            continue
        source, templates = file.source, {"log": file.language.at_least, "exp": file.language.at_most}
        for part in ast.walk(source.tree):
            name, argument = _argument(source, part)
            if argument is None or argument.lineno != span.line or name not in bounds:
                continue
            text, bound = ast.get_source_segment(source.text, argument) or "", bounds[name]
            new = file.worded(templates[name]).format(x=text, bound=bound)
            patch = replaced(source, [(argument, new)], span.file)
            yield Fix(_TEXTS[name].format(bound=bound), patch, "", _MEANINGS[name].format(bound=bound))


def _bounds(dtype: str) -> dict[str, str]:
    """The smallest normal number, rounded up, as some devices flush smaller ones to zero; the largest exponent."""
    if dtype not in ("float16", "float32", "float64"):
        return {}
    limits = np.finfo(dtype)
    digits, power = f"{float(limits.tiny):.3e}".split("e")
    return {
        "log": f"{np.ceil(float(digits) * 10) / 10:.1f}e{int(power)}",
        "exp": f"{np.floor(np.log(float(limits.max))):.1f}",
    }


def _argument(source: ParsedSource, part: ast.AST) -> tuple[str, ast.expr | None]:
    """Of `log(p)`, or the object of `p.log()`."""
    if not isinstance(part, ast.Call) or not isinstance(part.func, ast.Attribute):
        return "", None
    name = part.func.attr
    if root_name(part.func) in imported_names(source.tree):
        return name, part.args[0] if part.args else None
    return name, None if part.args else part.func.value


FIX = FixKind("bounded-argument", ("masked-branch", "underflow"), offer)
