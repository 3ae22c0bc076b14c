"""The name of a variable was given to the result of a computation, and the variable itself was left behind.

What it finds
    A gradient of None for a name that stood for a variable and now stands for a plain tensor, such as after
    `w = w - rate * gradient`; and a gradient computed from numbers that were overwritten since they were used, or
    that a hook on saved tensors gave back as others.

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

import ast
from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._missing import broken, diagnose, lacks
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.fixes.edit import diff
from gradproof.fixes.source import parsed
from gradproof.ir.capture import Break

_METHOD = {ast.Sub: "assign_sub", ast.Add: "assign_add"}


def find(case: Case) -> Iterator[Diagnostic]:
    change = case.source.overwritten
    if case.was_overwritten and change is not None:
        if change.kind == "reassigned-variable":
            yield (
                _given_back(case, change) if change.facts.get("by") == "hook" else _overwritten(case, change)
            )
        return
    missing = broken(case, "reassigned-variable")
    if missing is None:
        return
    name = case.source.name
    yield from diagnose(
        case,
        missing,
        headline=f"{lacks(case)} because this name no longer refers to the variable",
        why=(
            f"This line computes a new tensor and gives it the name `{name}`. The variable that the name stood for is "
            "not changed, and the new tensor is watched by no tape. From here on there is no path back to it."
        ),
        fix=Fix(
            "change the variable in place, with `assign`, `assign_sub` or `assign_add`", _patch(case, missing)
        ),
    )


def _overwritten(case: Case, change: Break) -> Diagnostic:
    """A number was changed behind the back of the graph, and the rules went on with the new one."""
    target, title = case.capture.target, words.framework_name(case.capture.framework)
    return Diagnostic(
        kind="reassigned-variable",
        severity="error",
        certainty="measured",
        headline=f"a number that the gradient of `{target}` needs was overwritten unnoticed",
        primary=annotated(change.span, change.label),
        secondary=tuple(Annotation(span, label) for span, label in change.contributing),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"{title} keeps the numbers an op was given, because its derivative is computed from them. This line "
            "changes such a tensor in a way that is not recorded, by `.data` or where no graph is kept, and the "
            "derivative is computed from the new number."
        ),
        fix=Fix("compute a new tensor here, or change it after the gradient was computed"),
    )


def _given_back(case: Case, change: Break) -> Diagnostic:
    """A hook on saved tensors that keeps something else than it is given."""
    return Diagnostic(
        kind="reassigned-variable",
        severity="error",
        certainty="measured",
        headline=f"a hook gives back another number than the gradient of `{case.capture.target}` needs",
        primary=annotated(change.span, change.label),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            "A derivative is computed from the numbers that its op had. A hook on saved tensors kept them until the "
            "backward pass, and gave back others, as numbers of fewer digits are."
        ),
        fix=Fix("let the hook give back what it was given, in the same dtype"),
    )


def _patch(case: Case, missing: Break) -> str:
    """`w = w - step` and `w -= step` as `w.assign_sub(step)`; any other value of the whole line as `w.assign(...)`.

    All such lines of a block are changed: after one that is not, the name would be a tensor.
    """
    span, name = missing.span, case.source.name
    source = None if span is None else parsed(case.sources.get(span.file, ""))
    if span is None or source is None or not name.isidentifier():
        return ""
    lines = source.text.splitlines(keepends=True)
    here = [node for node in ast.walk(source.tree) if isinstance(node, ast.stmt) and node.lineno == span.line]
    block = getattr(source.parents.get(here[0]), "body", []) if len(here) == 1 else []
    steps = {one: call for one in block if (call := _in_place(source.text, one, name))}
    if not here or here[0] not in steps:
        return ""
    for one, call in steps.items():
        indent = source.indent(one)
        if indent.strip() or one.end_lineno != one.lineno or "#" in lines[one.lineno - 1]:
            return ""
        lines[one.lineno - 1] = f"{indent}{name}.{call}\n"
    return diff(source, lines, span.file)


def _in_place(text: str, statement: ast.stmt, name: str) -> str:
    """What a step does to the variable; what stands after a condition is no step."""
    if isinstance(statement, ast.AugAssign) and _is(statement.target, name) and type(statement.op) in _METHOD:
        method, value = _METHOD[type(statement.op)], statement.value
    elif (
        isinstance(statement, ast.Assign) and len(statement.targets) == 1 and _is(statement.targets[0], name)
    ):
        method, value = "assign", statement.value
        if isinstance(value, ast.BinOp) and _is(value.left, name) and type(value.op) in _METHOD:
            method, value = _METHOD[type(value.op)], value.right
        if not isinstance(value, ast.BinOp | ast.Call | ast.Name | ast.UnaryOp | ast.Constant) or (
            method == "assign" and not any(_is(part, name) for part in ast.walk(value))
        ):
            return ""
    else:
        return ""
    return f"{method}({ast.get_source_segment(text, value)})"


def _is(part: ast.AST, name: str) -> bool:
    return isinstance(part, ast.Name) and part.id == name


CAUSE = Cause(
    name="reassigned-variable", find=find, doc=__doc__ or "", on=(Occasion.MISSING, Occasion.AROUND)
)
