"""Guards a branch that is not taken: its op gets a harmless input wherever its result is dropped."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.diagnosis.zero import Zero
from gradproof.fixes.aim import EQUAL, aim_of, checked_digits
from gradproof.fixes.edit import named_before
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.fixes.spelling import alias_of, imported_names, root_name
from gradproof.fixes.verify import is_equal
from gradproof.frameworks import framework
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors
from gradproof.ir.shapes import fits
from gradproof.ir.span import Span
from gradproof.ops import TABLE

HARMLESS = 1.0  # inside the domain of every function with an edge at 0, and no root of a common denominator
_INSIDE = {"asin": 0.0, "acos": 0.0, "atanh": 0.0}  # those with an edge at 1


@dataclass(frozen=True, eq=False)
class Guard:
    """The op of the branch, which of its inputs is guarded, and the op that drops its result: a selection or a mask.

    The result is kept where the condition is true, or false; a mask keeps it where it is not zero.
    """

    op: Node
    index: int
    given: int  # the number that is guarded: the input, or what was handed to the call that computes it on its way
    dropping: Node
    deciding: int  # the condition, or the mask
    is_kept_where_true: bool = True
    n_behind: int = 0  # axes of the guarded number that come behind those of the condition

    @property
    def is_inside(self) -> bool:
        """Whether the op is a step of a call, as the root in a norm, and takes what no text shows."""
        return self.given != self.op.inputs[self.index]

    @property
    def is_mask(self) -> bool:
        return self.dropping.op == "mul"


def guards(case: Case) -> Iterator[tuple[Guard, Program]]:
    """The program with each input of the op in the dropped branch guarded in turn; then of ops that lead to it."""
    program, found = case.capture.program, case.irregular.nonfinite
    if program is None or found is None or found.zero is None:
        return
    guilty = [node for node in program.nodes if _is_guilty(found, node)]
    ops = [node for node in guilty if node.span == found.origin.span]
    # What is harmless further up is harmless here: a reciprocal of a root needs one guard, at the root.
    behind = ancestors(program, [op.id for op in ops])
    ops += [node for node in reversed(guilty) if node.id in behind and node not in ops]
    for op in ops:
        for guard in _guards(program, op, found.zero):
            for placed in _placed(program, guard):
                guarded = _apply(program, placed)
                if guarded is not None:
                    yield placed, guarded


def _guards(program: Program, op: Node, zero: Zero) -> Iterator[Guard]:
    for dropping in program.nodes:
        if dropping.op == "select" and dropping.span == zero.node.span:
            sides = [op.id in ancestors(program, [id]) for id in dropping.inputs[1:]]
            if sides.count(True) == 1:
                for index, given in _suspects(program, op):
                    yield Guard(op, index, given, dropping, dropping.inputs[0], sides[0])
        elif dropping.op == "mul" and zero.why == "multiplied by 0":
            sides = [op.id in ancestors(program, [id]) for id in dropping.inputs]
            mask = dropping.inputs[sides.index(False)] if sides.count(True) == 1 else None
            if mask is not None and not bool(np.asarray(program[mask].value).all()):
                for index, given in _suspects(program, op):
                    yield Guard(op, index, given, dropping, mask)


def _suspects(program: Program, op: Node) -> Iterator[tuple[int, int]]:
    """The inputs of an op, first the one that its slope is infinite by, and what is to be guarded for each."""
    for index in (1, 0) if op.op in ("div", "xdivy") else range(len(op.inputs)):
        given = _handed(program, op, op.inputs[index])
        if given is not None:
            yield index, given


def _handed(program: Program, op: Node, id: int) -> int | None:
    """What the text can guard of an input: itself, or, if the call of the op computes it, what the call was handed.

    None if that is several numbers.
    """
    is_inside = op.span is not None and program[id].span == op.span and bool(program[id].inputs)
    if not is_inside:  # a constant stands where it is read
        return id
    own = _own_steps(program, op)
    handed = {one for node in own for one in node.inputs} - {node.id for node in own}
    handed = {one for one in handed if program[one].op != "constant" and not program[one].is_discrete}
    return handed.pop() if len(handed) == 1 else None


def _own_steps(program: Program, op: Node) -> list[Node]:
    """The steps of the op's own call that lead to it, and it itself."""
    behind = ancestors(program, [op.id])
    return [node for node in program.nodes if node.id in behind and node.span == op.span and node.inputs]


def _placed(program: Program, guard: Guard) -> Iterator[Guard]:
    """The guard with its condition where its axes can belong: to the last of the number, or to the first."""
    whole, shape = program[guard.given].shape, program[guard.deciding].shape
    if fits(shape, whole):
        yield guard
    if 0 < len(shape) < len(whole) and whole[: len(shape)] == shape:
        yield replace(guard, n_behind=len(whole) - len(shape))


def _is_guilty(found: Nonfinite, node: Node) -> bool:
    """An op that has an infinite slope somewhere, or the one whose result was too large."""
    if not node.inputs or node.op not in TABLE or node.is_discrete:
        return False
    is_beyond = found.exact is not None and found.exact.is_beyond(node.dtype)
    return bool(TABLE[node.op].edges) or (is_beyond and node.id == found.origin.id)


def _apply(program: Program, guard: Guard) -> Program | None:
    argument, deciding = program[guard.given], program[guard.deciding]
    if argument.op == "constant" and not argument.shape:  # a number of the formula, and no data
        return None
    next_id = max(node.id for node in program.nodes) + 1
    dtype = types.numpy_dtype(argument.dtype)
    constant = Node(next_id, "constant", (), argument.dtype, (), value=np.asarray(_harmless(guard), dtype))
    new = [constant]
    condition = deciding.id
    if guard.is_mask:
        zero = Node(next_id + 2, "constant", (), deciding.dtype, (), value=np.zeros((), dtype))
        kept = np.asarray(deciding.value) != 0
        compared = Node(next_id + 3, "not_equal", (deciding.id, zero.id), "bool", deciding.shape, value=kept)
        condition = compared.id
        new += [zero, compared]
    if guard.n_behind:
        shape = (*deciding.shape, *[1] * guard.n_behind)
        wider = Node(next_id + 4, "reshape", (condition,), "bool", shape, params={"shape": shape})
        condition = wider.id
        new += [wider]
    sides = (argument.id, constant.id) if guard.is_kept_where_true else (constant.id, argument.id)
    safe = Node(next_id + 1, "select", (condition, *sides), argument.dtype, argument.shape)
    return _in_order(program, [*new, safe, *_taking(program, guard, safe.id)])


def _taking(program: Program, guard: Guard, safe: int) -> Iterator[Node]:
    """What took the number as it was takes the guarded one."""
    if guard.is_inside:
        for node in _own_steps(program, guard.op):
            if guard.given in node.inputs:
                yield replace(node, inputs=tuple(safe if id == guard.given else id for id in node.inputs))
    else:
        inputs = guard.op.inputs
        yield replace(guard.op, inputs=(*inputs[: guard.index], safe, *inputs[guard.index + 1 :]))


def _harmless(guard: Guard) -> float:
    return _INSIDE.get(guard.op.op, HARMLESS)


def _in_order(program: Program, new: list[Node]) -> Program | None:
    """What is new or changed, and what uses it, come after the condition, which may have been computed later."""
    changed = {node.id for node in new}
    nodes = [node for node in program.nodes if node.id not in changed] + new
    ordered: list[Node] = []
    known: set[int] = set()
    while nodes:
        ready = [node for node in nodes if all(id in known for id in node.inputs)]
        if not ready:
            return None  # the condition depends on what it would guard
        ordered += ready
        known.update(node.id for node in ready)
        nodes = [node for node in nodes if node.id not in known]
    return replace(program, nodes=tuple(ordered))


def guard_patch(guard: Guard, given: Span | None, sources: Mapping[str, str], name: str) -> str:
    """The argument of the op, selected in a line before; empty where the source does not show it."""
    span = guard.op.span
    source = None if span is None else parsed(sources.get(span.file, ""))
    if span is None or source is None or "select" not in framework(name).spellings:
        return ""
    condition, argument = _condition(source, guard), _argument(source, source.at(span), guard, given)
    alias = alias_of(source.tree, name)
    # The condition is written a second time, so its names must mean the same where the op stands.
    if condition is None or argument is None or alias is None:
        return ""
    moved = _moved_up(source, condition, argument)
    if moved is None:
        return ""
    written = [ast.get_source_segment(source.text, part) or "" for part in (condition, argument)]
    if guard.is_mask:
        written[0] = f"{written[0]} != 0" if isinstance(condition, ast.Name) else f"({written[0]}) != 0"
    if guard.n_behind:
        axes = ", ".join(["...", *["None"] * guard.n_behind])
        is_one = isinstance(condition, ast.Name | ast.Call | ast.Subscript) and not guard.is_mask
        written[0] = f"{written[0]}[{axes}]" if is_one else f"({written[0]})[{axes}]"
    harmless = str(_harmless(guard))
    sides = [written[1], harmless] if guard.is_kept_where_true else [harmless, written[1]]
    text = f"{alias}.where({', '.join([written[0], *sides])})"
    return named_before(source, argument, text, "safe", span.file, moved)


def _condition(source: ParsedSource, guard: Guard) -> ast.expr | None:
    """The expression of the condition of a selection, or of a mask."""
    expression = source.at(guard.dropping.span)
    if guard.is_mask and isinstance(expression, ast.BinOp):
        return (expression.left, expression.right)[guard.dropping.inputs.index(guard.deciding)]
    is_call = isinstance(expression, ast.Call) and len(expression.args) == 3 and not guard.is_mask
    return expression.args[0] if is_call and isinstance(expression, ast.Call) else None


def _argument(
    source: ParsedSource, expression: ast.expr | None, guard: Guard, span: Span | None
) -> ast.expr | None:
    """What an op, or the call that it is a step of, takes: an operand, an argument, or the object of a method."""
    if isinstance(expression, ast.BinOp):
        return None if guard.is_inside else (expression.left, expression.right)[guard.index]
    if not isinstance(expression, ast.Call):
        return None
    function = expression.func
    is_method = isinstance(function, ast.Attribute) and root_name(function) not in imported_names(source.tree)
    given = [
        *([function.value] if isinstance(function, ast.Attribute) and is_method else []),
        *expression.args,
    ]
    if guard.is_inside:
        shown = source.at(span)
        return shown if shown in given else given[0] if len(given) == 1 else None
    return given[guard.index] if guard.index < len(given) else None


def _moved_up(source: ParsedSource, condition: ast.expr, argument: ast.expr) -> tuple[ast.Assign, ...] | None:
    """What gives the names of the condition their values only behind the op, and can do so before it.

    Empty where they have them there already; None where it needs what is computed in between.
    """
    first, second = source.statement(argument), source.statement(condition)
    if first is second:
        return ()
    block = None if first is None else source.parents.get(first)
    if first is None or second is None or block is not source.parents.get(second):
        return None
    found = [source.parents.get(store) for store in _stored(source, [condition], first, second)]
    late = [one for one in found if isinstance(one, ast.Assign) and len(one.targets) == 1]
    is_plain = all(isinstance(one.targets[0], ast.Name) and source.parents.get(one) is block for one in late)
    needed = [store for one in late for store in _stored(source, [one.value], first, one)]
    return None if len(late) < len(found) or not is_plain or needed else tuple(dict.fromkeys(late))


def _stored(source: ParsedSource, parts: list[ast.expr], first: ast.stmt, last: ast.stmt) -> list[ast.Name]:
    """Where names that expressions use are given values, from one statement on and before another."""
    names = [one for part in parts for one in ast.walk(part) if isinstance(one, ast.Name)]
    stores = {store: None for name in names for store in source.stores(name)}
    return [store for store in stores if first.lineno <= store.lineno < last.lineno]


def offer(fault: Fault) -> Iterator[Fix]:
    """The first input of the op that, guarded, gives the right gradient; one that the source shows, if there is one."""
    case, program, aim = fault.case, fault.case.capture.program, aim_of(fault.case)
    if program is None or aim is None:
        return
    unshown = None
    for guard, guarded in guards(case):
        if is_equal(program, guarded, aim.gradients.wrt):
            checked = checked_digits(case, guarded, aim, fault.replay, EQUAL)
            if checked is not None:
                text = "give the unselected branch an input on which it is harmless"
                given = program[guard.given].span
                patch = guard_patch(guard, given, case.sources, case.capture.framework)
                fix = Fix(text, patch, checked, is_equal=True)
                if patch:
                    yield fix
                    return
                unshown = unshown or fix
    if unshown is not None:
        yield unshown


FIX = FixKind("harmless-input", ("masked-branch",), offer)
