"""A tensor was turned into plain numbers on the way, and no gradient comes back through them.

What it finds
    A gradient of None where the path from the source to the target passes through `numpy()`, `float()`, `item()`,
    `tf.py_function`, a plain NumPy array or another door out of the framework.

Why it spoils a gradient
    Plain numbers do not know what they were computed from. For the tape they are constants, and the derivative of a
    constant is not recorded.

Example
    slope = float(x / y)            # a Python number from here on
    return upstream * slope

Write instead
    slope = x / y

Stays silent when
    the number was only printed, compared or logged and did not go on into the target; or
    the path broke elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradproof.causes._missing import broken, diagnose, lacks, no_zero, remedy
from gradproof.causes._source import line_of, replaced_line, text_of
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.ir.capture import Break

_NUMPY = re.compile(r"\b(np|numpy)\.")


def find(case: Case) -> Iterator[Diagnostic]:
    missing = broken(case, "left-framework")
    if missing is None:
        return
    name, target = case.source.name, case.capture.target
    framework = words.framework_name(case.capture.framework)
    door = missing.facts.get("how", "")
    by = f"`{door}`" if door else "a conversion"
    yield from diagnose(
        case,
        missing,
        headline=f"{lacks(case)} because {by} turns a value into plain numbers",
        why=(
            f"{no_zero(case)}What `{target}` is made of passed through {by}, and plain numbers do not know what they "
            f"were computed from. For {framework} they are constants, so no path leads back to `{name}`."
        ),
        fix=Fix(
            remedy(missing, f"stay in {framework}: use its own functions on the tensor itself"),
            _patch(case, missing),
        ),
    )


def _patch(case: Case, missing: Break) -> str:
    """`float(x)` becomes `x`, `x.numpy()` becomes `x`; none where a function of NumPy leads out again."""
    text, span = text_of(case, missing.span), missing.span
    if span is None or (_NUMPY.search(line_of(case, span)) and case.capture.framework != "numpy"):
        return ""
    for head, tail in (("float(", ")"), ("", ".numpy()"), ("", ".item()")):
        inner = text[len(head) : len(text) - len(tail)]
        if text.startswith(head) and text.endswith(tail) and inner and inner.count("(") == inner.count(")"):
            return replaced_line(case, span.file, span.line, text, inner)
    return ""


CAUSE = Cause(name="left-framework", find=find, doc=__doc__ or "")
