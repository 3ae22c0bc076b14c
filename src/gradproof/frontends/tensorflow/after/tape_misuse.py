"""Crashes over a tape that was asked in a way it cannot answer, in the user's terms."""

from __future__ import annotations

import ast
import linecache

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic, Fix
from gradproof.frontends.record.source import call_at
from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of

USED_UP = "A non-persistent GradientTape can only be used to"  # how TensorFlow's own sentence begins


def used_up(error: BaseException, failed: Span) -> Diagnostic | None:
    """A tape forgets what it recorded when it has been asked once."""
    if not isinstance(error, RuntimeError) or not str(error).startswith(USED_UP):
        return None
    name = tape_name(failed)
    opened, earlier = opening(failed, name), earlier_call(failed, name)
    secondary = [] if opened is None else [Annotation(opened, "serves one call")]
    secondary += [] if earlier is None else [Annotation(earlier, "which was this one")]
    return Diagnostic(
        kind=CRASH,
        severity="error",
        certainty="measured",
        headline=f"`{name}` was used before, and a tape computes gradients only once",
        primary=Annotation(failed, "uses it again"),
        secondary=tuple(secondary),
        why=(
            "A tape forgets what it recorded as soon as it has computed gradients, to save memory. One call can "
            "compute several gradients, with a list of sources; for several targets the tape has to keep its record."
        ),
        fix=Fix("open the tape with `persistent=True`, and delete it when you are done", _patch(opened)),
    )


def tape_name(failed: Span) -> str:
    """How the user's line calls the tape that it asks."""
    call = call_at(failed)
    return ast.unparse(call.func.value) if call and isinstance(call.func, ast.Attribute) else "tape"


def opening(failed: Span, name: str) -> Span | None:
    """The last `with` before the call that opens a tape of this name."""
    tree, found = tree_of(failed.file), None
    for node in () if tree is None else ast.walk(tree):
        for item in node.items if isinstance(node, ast.With) else ():
            variable, opening = item.optional_vars, item.context_expr
            if isinstance(variable, ast.Name) and variable.id == name and opening.lineno <= failed.line:
                place = (opening.lineno, opening.col_offset, opening.end_lineno, opening.end_col_offset)
                found = Span(failed.file, *place) if found is None or place[0] > found.line else found
    return found


def earlier_call(failed: Span, name: str) -> Span | None:
    """The call before this one in the text, if it asks the same tape."""
    tree, found = tree_of(failed.file), None
    for node in () if tree is None else ast.walk(tree):
        if not isinstance(node, ast.Call) or node.lineno >= failed.line:
            continue
        asked = node.func
        is_own = isinstance(asked, ast.Attribute) and asked.attr in ("gradient", "jacobian", "batch_jacobian")
        if is_own and ast.unparse(asked.value) == name and (found is None or node.lineno > found.line):  # type: ignore[attr-defined]
            found = Span(failed.file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
    return found


def _patch(opened: Span | None) -> str:
    line = "" if opened is None else linecache.getline(opened.file, opened.line).rstrip("\n")
    changed = line.replace("GradientTape()", "GradientTape(persistent=True)")
    return "" if changed == line else f"-{line}\n+{changed}"
