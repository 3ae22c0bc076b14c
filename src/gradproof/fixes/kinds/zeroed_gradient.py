"""Gradients set back before they are computed anew, where a framework adds to what is there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.lines import inserted
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.frameworks import framework
from gradproof.ir.syntax import statement_around

_TEXT = "set the gradients back before each step"


def offer(fault: Fault) -> Iterator[Fix]:
    """By the optimizer of the script, if it has one; else for the models and leaves that hold older gradients."""
    case, call = fault.case, fault.case.capture.call
    source = parsed(case.sources.get(call.file, ""))
    statement = None if source is None else statement_around(source.tree, call.line)
    if source is None or statement is None or not framework(case.capture.framework).adds_gradients:
        return
    for name in _optimizers(source):
        yield Fix(_TEXT, inserted(source, statement, f"{name}.zero_grad()", call.file))
    names = sorted(one.name for one in case.capture.sources if one.stale is not None)
    models = _models(source, names)
    leaves = [name for name in names if name not in models]
    if names and all(part.isidentifier() for name in leaves for part in name.split(".")):
        lines = [f"{model}.zero_grad()" for model in dict.fromkeys(models.values())]
        lines += ["".join(f"{name}.grad = " for name in leaves) + "None"] if leaves else []
        text = f"\n{source.indent(statement)}".join(lines)
        yield Fix(_TEXT, inserted(source, statement, text, call.file))


def _models(source: ParsedSource, names: list[str]) -> dict[str, str]:
    """Of `net.0.weight` the model that the script calls `net`; nothing for what is not in one."""
    known = {name for name, _ in _given(source)}
    first = {name: name.partition(".")[0] for name in names if "." in name}
    return {name: model for name, model in first.items() if model in known}


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
