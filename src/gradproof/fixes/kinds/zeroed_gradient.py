"""Gradients set back before they are computed anew, where a framework adds to what is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.lines import inserted, statement_at
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.frameworks import framework

_TEXT = "set the gradients back before each step"


def offer(fault: Fault) -> Iterator[Fix]:
    """By the optimizer of the script, if it has one; else for the one leaf."""
    case, call = fault.case, fault.case.capture.call
    source = parsed(case.sources.get(call.file, ""))
    statement = None if source is None else statement_at(source, call.line)
    if source is None or statement is None or not framework(case.capture.framework).adds_gradients:
        return
    for name in _optimizers(source):
        yield Fix(_TEXT, inserted(source, statement, f"{name}.zero_grad()", call.file))
    if case.source.name.replace(".", "").isidentifier():
        yield Fix(_TEXT, inserted(source, statement, f"{case.source.name}.grad = None", call.file))


def _optimizers(source: ParsedSource) -> list[str]:
    """Names that are given the result of a call with `optim` in it."""
    return [name for name, value in _given(source) if "optim" in ast.unparse(value.func)]


def _given(source: ParsedSource) -> Iterator[tuple[str, ast.Call]]:
    for one in ast.walk(source.tree):
        if (
            isinstance(one, ast.Assign)
            and isinstance(one.value, ast.Call)
            and isinstance(one.targets[0], ast.Name)
        ):
            yield one.targets[0].id, one.value


FIX = FixKind("zeroed-gradient", ("stale-accumulation",), offer)
