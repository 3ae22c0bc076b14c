"""The name of a variable was given to the result of a computation, and the variable itself was left behind.

What it finds
    A gradient of None for a name that stood for a variable and now stands for a plain tensor, such as after
    `w = w - rate * gradient`.

Why it spoils a gradient
    A tape watches variables by itself, but not tensors. After the assignment the name means a tensor that no tape
    watches, so from the second step on there is no gradient, and nothing is trained.

Example
    w = w - 0.1 * tape.gradient(loss, w)

Write instead
    w.assign_sub(0.1 * tape.gradient(loss, w))

Stays silent when
    the variable was changed in place; or
    the new tensor is watched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradproof.causes._missing import broken, diagnose, lacks
from gradproof.causes._source import line_of
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.ir.capture import Break

_STEP = re.compile(r"^(\s*)(\w+) (?:= \2 ([-+])|([-+])=) (.+)$")
_METHOD = {"-": "assign_sub", "+": "assign_add"}


def find(case: Case) -> Iterator[Diagnostic]:
    missing = broken(case, "reassigned-variable")
    if missing is None:
        return
    name = case.source.name
    yield from diagnose(
        case,
        missing,
        headline=f"{lacks(case)} because the name no longer stands for the variable",
        why=(
            f"This line computes a new tensor and gives it the name `{name}`. The variable that the name stood for is "
            "not changed, and the new tensor is watched by no tape. From here on there is no path back to it."
        ),
        fix=Fix(
            "change the variable in place, with `assign`, `assign_sub` or `assign_add`", _patch(case, missing)
        ),
    )


def _patch(case: Case, missing: Break) -> str:
    line = line_of(case, missing.span)
    found = _STEP.match(line)
    if found is None or "#" in line or " if " in line:  # what stands after a condition is no step
        return ""
    space, name, sign, other, rest = found.groups()
    return f"-{line}\n+{space}{name}.{_METHOD[sign or other]}({rest})"


CAUSE = Cause(name="reassigned-variable", find=find, doc=__doc__ or "")
