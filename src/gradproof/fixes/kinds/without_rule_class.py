"""A class with a derivative rule, left with its forward alone where the framework can differentiate that itself.

Calls of its `apply` stay as they are. What the rule was written for, such as memory, is given up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.words import framework_name
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.lines import left_out, lines_of, unused
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.frameworks import framework

_TEXT = "leave out the hand-written rule: {name} can differentiate the forward of `{owner}` itself"


def offer(fault: Fault) -> Iterator[Fix]:
    span, language = fault.found.span, framework(fault.case.capture.framework)
    source = None if span is None else parsed(fault.case.sources.get(span.file, ""))
    if source is None or span is None or not language.rule_class:
        return
    for owner in (one for one in ast.walk(source.tree) if isinstance(one, ast.ClassDef)):
        first, last = lines_of(owner)
        bases = [ast.unparse(one) for one in owner.bases]
        is_rule = len(bases) == 1 and language.rule_class.endswith(bases[0].rpartition(".")[2])
        if first <= span.line <= last and is_rule:
            text = _TEXT.format(name=framework_name(language.name), owner=owner.name)
            yield Fix(text, _patch(source, owner, span.file))


def _patch(source: ParsedSource, owner: ast.ClassDef, file: str) -> str:
    """`class F:` with the method `apply(x)`; empty where the forward does more with its context than keep things."""
    methods = [one for one in owner.body if isinstance(one, ast.FunctionDef)]
    forward = next((one for one in methods if one.name == "forward"), None)
    others = [one for one in methods if one is not forward]
    if forward is None or any(one.name not in ("backward", "setup_context") for one in others):
        return ""
    takes_context = all(one.name != "setup_context" for one in others)
    names = [one.arg for one in forward.args.args]
    if takes_context and not names:
        return ""
    context = names[0] if takes_context else ""
    keeps = [one for one in forward.body if context and _keeps(one, context)]
    dropped = [*keeps, *unused(forward, keeps)]
    left = [one for one in forward.body if one not in dropped]
    if any(isinstance(one, ast.Name) and one.id == context for each in left for one in ast.walk(each)):
        return ""
    lines = source.text.splitlines(keepends=True)
    head, call = lines[owner.lineno - 1], lines[forward.lineno - 1]
    kept = {
        owner.lineno: f"{head[: owner.col_offset]}class {owner.name}:\n",
        forward.lineno: call.replace("forward(", "apply(", 1).replace(f"{context}, ", "", bool(context)),
    }
    return left_out(source, [*others, *dropped], file, kept)


def _keeps(statement: ast.stmt, context: str) -> bool:
    """`ctx.save_for_backward(x)`, `ctx.shape = x.shape`, `ctx.low, ctx.high = low, high`."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call) and ast.unparse(statement.value.func).startswith(
            f"{context}."
        )
    given = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [part for one in given for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
    return bool(targets) and all(ast.unparse(one).startswith(f"{context}.") for one in targets)


FIX = FixKind("without-rule-class", ("custom-gradient", "step-size"), offer)
