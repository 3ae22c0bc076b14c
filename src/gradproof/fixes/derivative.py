"""The derivative of a function written by hand, as an expression that its rule could return, and run."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.loss import custom_scope, find_loss
from gradproof.engine.derive import derive
from gradproof.engine.refine import Enclosure
from gradproof.errors import GradproofError
from gradproof.fixes.formula import Formula
from gradproof.fixes.kept_names import forward_of, kept_names
from gradproof.fixes.lines import replaced_alone
from gradproof.fixes.renamed import renamed
from gradproof.fixes.render_term import Unwritten
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.fixes.spelling import alias_of
from gradproof.fixes.tidy import with_local_names
from gradproof.fixes.tried import recomputed
from gradproof.ir import syntax, types
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.judge.compare import compare
from gradproof.judge.custom import CustomFault, rule_of
from gradproof.judge.mistake import Mistake, find_mistakes
from gradproof.judge.rule import HandWrittenRule, read
from gradproof.judge.verdict import Verdict

Function = ast.FunctionDef | ast.Lambda

MOST_CHARACTERS = 96  # of an expression that is still easier to read than to derive
LOST_DIGITS = 2.0  # that a right formula may cost in its own dtype
# What one word says better than the whole formula.
_SMALL_EDITS = ("sign", "factor", "ignores upstream", "transposed")


def derived(case: Case) -> Fix | None:
    """The first custom gradient that is a mistake, returned as it should be."""
    faults = [fault for fault in case.rules.mistakes if not fault.mistake.is_intended]
    fault = faults[0] if faults else _frozen(case) or _difference(case)
    if fault is None or (fault.mistake.kind in _SMALL_EDITS and not fault.mistake.detail):
        return None
    try:
        return _fix(case, fault)
    except (Unwritten, GradproofError):
        return None


def _frozen(case: Case) -> CustomFault | None:
    """A rule that returned the derivative in such a way that it cannot be differentiated again."""
    program = case.capture.gradient_program
    for suspicion in case.rules.suspicions if case.verdict is not Verdict.CORRECT else ():
        rule = None if program is None else rule_of(program, suspicion.scope)
        if rule is not None and len(rule.inputs) == 1:
            here = read(rule, rule.here, exact=True)
            meant, true = here.meant[0], here.true[0]
            if meant is not None and true.is_bounded:
                at = (0,) * true.mid.ndim
                return CustomFault(suspicion.scope, Mistake("other", rule, 0, meant.mid, true.mid, at))
    return None


def _difference(case: Case) -> CustomFault | None:
    """A rule that is right but for the digits which the step of its finite difference costs."""
    loss, program = find_loss(case), case.capture.gradient_program
    scope = None if loss is None or loss.kind != "step-size" else custom_scope(case, loss.place)
    rule = None if scope is None or program is None else rule_of(program, scope)
    if scope is None or rule is None or len(rule.inputs) != 1:
        return None
    here = read(rule, rule.here, exact=True)
    meant, true = here.meant[0], here.true[0]
    if meant is None or not true.is_bounded:
        return None
    return CustomFault(
        scope, Mistake("finite difference", rule, 0, meant.mid, true.mid, (0,) * true.mid.ndim)
    )


def _fix(case: Case, fault: CustomFault) -> Fix | None:
    rule, position = fault.mistake.rule, fault.mistake.input
    place = fault.scope.rule_at
    source = None if place is None else parsed(case.sources.get(place.file, ""))
    if place is None or source is None:
        return None
    written = _place(source, place.line, rule)
    found = None if written is None else _edit(case, fault, source, written, position)
    if written is None or found is None:
        return None
    others = {one.input for one in find_mistakes(rule, case.options)} - {position}
    edits = [found[0], *(more[0] for k in others if (more := _edit(case, fault, source, written, k)))]
    edits = [(_named_at(source, old, text), text) for old, text in edits]
    edits = [(old, with_local_names(source, old, text)) for old, text in edits]
    patch = replaced_alone(source, edits, place.file)
    return Fix("return the derivative of the forward", patch, found[1])


def _named_at(source: ParsedSource, old: ast.expr, text: str) -> ast.expr:
    """Where the name that is returned was given its value, if what takes its place can be computed there already."""
    definition = source.definition(old) if isinstance(old, ast.Name) else None
    if definition is None or not isinstance(old, ast.Name) or len(definition.targets) != 1:
        return old
    scope = source.scope(old)
    needed = {one.id for one in ast.walk(syntax.expression(text)) if isinstance(one, ast.Name)}
    later = [one for name in needed for one in source.names(scope, name) if one.lineno >= definition.lineno]
    is_late = any(not isinstance(one.ctx, ast.Load) for one in later)
    is_read_again = len(source.names(scope, old.id)) > 2  # where it is given, and where it is returned
    is_short = definition.lineno == definition.end_lineno
    return definition.value if is_short and not is_late and not is_read_again else old


def _edit(
    case: Case, fault: CustomFault, source: ParsedSource, written: _Written, position: int
) -> tuple[tuple[ast.expr, str], str] | None:
    """What the rule should return for one input in the place of what it does, and what that returned when run."""
    rule = fault.mistake.rule
    old = _returned(written.function, fault, position)
    if old is None or old.lineno != old.end_lineno:
        return None
    program, ups = _with_weights(rule)
    gradient = derive(program, [rule.inputs[position]]).program
    names = {**written.named(rule), **dict(zip(ups, written.upstream))}
    names |= _assigned(source, written, rule)
    alias = alias_of(source.tree, case.capture.framework)
    formula = Formula(gradient, names, case.capture.framework, alias)
    true = read(rule, rule.here, exact=True).true[position].mid
    for text in _texts(source, old, formula):
        if len(text) <= MOST_CHARACTERS:
            checked = _checked(case, true, formula.run(text), gradient[gradient.outputs[0]].dtype)
            if checked is not None:
                return (old, text), checked
    return None


def _texts(source: ParsedSource, old: ast.expr, formula: Formula) -> Iterator[str]:
    yield from renamed(source, old, formula)
    yield formula.text(formula.program.outputs[0])


@dataclass(frozen=True)
class _Written:
    """The rule as it stands in the source: its function, the one it is inside of, and the names of its arguments."""

    function: Function
    outer: ast.AST | None
    inputs: tuple[str, ...]  # empty for one that the rule has no name for
    upstream: tuple[str, ...]
    kept: Mapping[str, str] | None = None  # names of the outer function that have others in the rule

    def named(self, rule: HandWrittenRule) -> dict[int, str]:
        return {id: name for id, name in zip(rule.inputs, self.inputs) if name}


def _place(source: ParsedSource, line: int, rule: HandWrittenRule) -> _Written | None:
    around = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, Function) and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    function = max(around, key=lambda node: (node.lineno, node.col_offset), default=None)
    if function is None:
        return None
    own = tuple(argument.arg for argument in function.args.args)
    if not rule.has_upstream:  # a gradient on its own takes what its function takes
        return _Written(function, None, own, ()) if len(own) == len(rule.inputs) else None
    if isinstance(function, ast.FunctionDef) and (forward := forward_of(source.tree, function)) is not None:
        kept = kept_names(forward, function)
        given = [argument.arg for argument in forward.args.args[1:]]
        if len(given) != len(rule.inputs) or len(own) != 1 + len(rule.upstream):
            return None
        return _Written(function, forward, tuple(kept.get(name, "") for name in given), own[1:], kept)
    outer = source.scope(function)
    if not isinstance(outer, ast.FunctionDef) or len(own) != len(rule.upstream):
        return None
    inputs = tuple(argument.arg for argument in outer.args.args)
    rebound = [
        name for name in inputs for use in source.names(outer, name) if not isinstance(use.ctx, ast.Load)
    ]
    return None if rebound or len(inputs) != len(rule.inputs) else _Written(function, outer, inputs, own)


def _returned(function: Function, fault: CustomFault, position: int) -> ast.expr | None:
    """The one expression that the rule returns for an input."""
    if isinstance(function, ast.Lambda):
        value: ast.expr | None = function.body
    else:
        returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
        value = returns[0].value if len(returns) == 1 else None
    if isinstance(value, ast.Tuple | ast.List):
        return value.elts[position] if len(value.elts) == len(fault.scope.inputs) else None
    return value if len(fault.mistake.rule.inputs) == 1 else None


def _assigned(source: ParsedSource, written: _Written, rule: HandWrittenRule) -> dict[int, str]:
    """Names that the outer function gives to what it computes, once and before the rule is written down."""
    found: dict[int, str] = {}
    for statement in getattr(written.outer, "body", ()):
        if statement is written.function or not isinstance(statement, ast.Assign):
            continue
        target = statement.targets[0]
        if not isinstance(target, ast.Name) or len(statement.targets) != 1 or len(source.stores(target)) != 1:
            continue
        same = [
            node for node in rule.forward.nodes if node.inputs and source.at(node.span) is statement.value
        ]
        name = target.id if written.kept is None else written.kept.get(target.id, "")
        if same and name:
            found[same[-1].id] = name  # the last of the nodes of one call is its value
    return found


def _with_weights(rule: HandWrittenRule) -> tuple[Program, tuple[int, ...]]:
    """The forward as one number: its results times the gradients that came in, as inputs of their own."""
    forward = rule.forward
    nodes = [replace(node, op="input") if node.id in rule.inputs else node for node in forward.nodes]
    if not rule.has_upstream:
        return replace(forward, nodes=tuple(nodes), inputs=rule.inputs), ()
    next_id = max(node.id for node in rule.program.nodes) + 1
    ups, terms = [], []
    for output, up in zip(rule.outputs, rule.upstream):
        dtype, shape = forward[output].dtype, forward[output].shape
        weight = Node(next_id, "input", (), dtype, shape, value=np.asarray(rule.program[up].value))
        product = Node(next_id + 1, "mul", (output, weight.id), dtype, shape)
        total = Node(next_id + 2, "sum", (product.id,), dtype, (), {"axes": tuple(range(len(shape)))})
        nodes += [weight, product, total]
        ups.append(weight.id)
        terms.append(total)
        next_id += 3
    while len(terms) > 1:
        terms.append(
            Node(
                next_id, "add", (terms.pop(0).id, terms.pop(0).id), terms[0].dtype if terms else "float64", ()
            )
        )
        nodes.append(terms[-1])
        next_id += 1
    inputs = tuple(dict.fromkeys((*rule.inputs, *ups)))
    program = recomputed(Program(tuple(nodes), inputs, (terms[0].id,)))
    if program is None:
        raise Unwritten
    return program, tuple(ups)


def _checked(case: Case, true: Array, found: Array | None, dtype: str) -> str | None:
    """What the formula returned where the rule was used; None where that is not the derivative."""
    if found is None or found.shape != true.shape:
        return None
    compared = compare(found, Enclosure(true, np.zeros(true.shape)), dtype, case.options)
    possible = types.digits_possible(dtype)
    if compared.outcome != "within" or compared.digits < possible - LOST_DIGITS:
        return None
    name, agreement = (
        words.framework_name(case.capture.framework),
        words.whole_digits_text(compared.digits, possible),
    )
    shown = (
        words.array_text(found, dtype)
        if found.ndim < 2
        else f"an array of shape {words.shape_text(found.shape)}"
    )
    return f"the changed expression, run in {name}, returns {shown}, the derivative to {agreement}."
