"""The change of what a hand-written rule returns: printed only where it was shown to give the derivative."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.causes._forward_rule import is_forward_rule, tangent_terms
from gradproof.causes._mistakes import Instead, Said
from gradproof.causes._source import Function, function_around, returned, upstream_parameter
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.errors import GradproofError
from gradproof.fixes.edit import replaced
from gradproof.fixes.signs import with_merged_sign
from gradproof.fixes.source import parsed
from gradproof.frameworks import framework
from gradproof.ir.span import Span
from gradproof.judge.custom import CustomFault
from gradproof.judge.mistake import find_mistakes
from gradproof.judge.relations import is_close
from gradproof.judge.rule import HandWrittenRule, try_out
from gradproof.options import Options

_CHECKED = (
    "the recorded ops of the rule with this change, computed exactly, return the derivative here and at the other "
    "points and gradients tried"
)
_SEVERAL = ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp  # expressions that are no single gradient


def remedied(case: Case, fault: CustomFault, said: Said, span: Span | None) -> Fix:
    mistake, instead = fault.mistake, said.instead
    if instead is None or mistake.input not in (mended := _mended(mistake.rule, instead)):
        return Fix(said.fix)
    same = {one.input for one in find_mistakes(mistake.rule, Options()) if one.kind == mistake.kind}
    return Fix(said.fix, _patch(case, fault, instead, span, mended & {*same, mistake.input}), _CHECKED)


def _mended(rule: HandWrittenRule, instead: Instead) -> frozenset[int]:
    """The inputs whose gradients the change makes right at every point and with every gradient tried."""
    try:
        trials = try_out(rule)
    except GradproofError:
        return frozenset()
    readings = [trials.here, *trials.other_upstream, *trials.elsewhere]

    def gives_the_derivative(i: int) -> bool:
        for reading in readings:
            meant, true = reading.meant[i], reading.true[i].mid
            if meant is None or not reading.point.upstream:
                return False
            try:
                changed = instead.apply(meant.mid, reading.point.upstream[0])
            except ValueError:  # shapes that do not go together
                return False
            if changed.shape != true.shape or not is_close(changed, true):
                return False
        return True

    return frozenset(i for i in range(len(rule.inputs)) if gives_the_derivative(i))


def _patch(
    case: Case, fault: CustomFault, instead: Instead, span: Span | None, inputs: frozenset[int]
) -> str:
    found, function = returned(case, span), function_around(case, span)
    upstream = upstream_parameter(case, span)
    source = None if span is None else parsed(case.sources.get(span.file, ""))
    if found is None or function is None or span is None or upstream is None or source is None:
        return ""
    is_forward = is_forward_rule(source, function)
    if is_forward:
        parts = tangent_terms(found[0], function, len(fault.mistake.rule.inputs))
        upstream = "" if "{upstream}" not in instead.text else None
    else:
        parts = list(_parts(found[0], function))
    if upstream is None or len(parts) != len(
        fault.scope.inputs if len(parts) == 1 else fault.mistake.rule.inputs
    ):
        return ""
    module = framework(case.capture.framework).alias
    edits, changed = [], [parts[i] for i in sorted(inputs)]
    for part in changed:
        value = ast.get_source_segment(source.text, part) or ""
        plain = isinstance(part, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)
        text = instead.text.replace("({value})", "{value}") if plain else instead.text
        text = text.format(value=value, upstream=upstream, module=module)
        others = [one for one in changed if one is not part]
        edits.append(with_merged_sign(source, part, text, others) if is_forward else (part, text))
    is_known = not any(_is_several(part, function) for part, _ in edits)
    return replaced(source, edits, span.file) if edits and is_known else ""


def _parts(value: ast.expr, function: Function) -> Iterator[ast.expr]:
    """The gradients that a rule returns, one expression each; those of variables stand in a list of their own."""
    if not isinstance(value, ast.Tuple | ast.List):
        yield value
        return
    for one in value.elts:
        if isinstance(one, ast.Tuple | ast.List):
            yield from one.elts
        elif not (isinstance(one, ast.Constant) and one.value is None):  # None answers for what is no array
            yield one


def _is_several(part: ast.expr, function: Function) -> bool:
    """Whether an expression, or the name it is, stands for several gradients at once, which take no arithmetic."""
    if isinstance(part, ast.Starred | _SEVERAL):
        return True
    if not isinstance(part, ast.Name) or isinstance(function, ast.Lambda):
        return False
    given = [node for node in ast.walk(function) if isinstance(node, ast.Assign)]
    return any(
        isinstance(node.value, _SEVERAL)
        for node in given
        if any(isinstance(target, ast.Name) and target.id == part.id for target in node.targets)
    )
