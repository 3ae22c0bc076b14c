"""More digits where they are lost: a cast that cuts them off is widened, and a running total is kept in float64."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.loss import Loss, find_loss
from gradproof.engine.refine import entry_count
from gradproof.engine.trace import Traced, Tracer
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.retrace import Made, retraced
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.fixes.tried import Replay, checked_text, recomputed, tried
from gradproof.fixes.verify import MOST_ENTRIES, rounded_gradient
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.judge.compare import compare
from gradproof.judge.verdict import Verdict

WIDE = "float64"
_NARROW = ("float16", "bfloat16", "float32")


@dataclass(frozen=True, eq=False)
class _Change:
    program: Program | None
    text: str
    patch: str


def offer(fault: Fault) -> Iterator[Fix]:
    """Digits that a narrow dtype costs at one place: these are kept there, however long the program is."""
    case, program = fault.case, fault.case.capture.program
    if program is None or case.verdict is not Verdict.INACCURATE or entry_count(program) > MOST_ENTRIES:
        return
    loss = find_loss(case)
    found = None if loss is None else _with_more_digits(case, program, loss, fault.replay)
    if found is not None:
        yield found


def _with_more_digits(case: Case, program: Program, loss: Loss, replay: Replay | None) -> Fix | None:
    """The first change that was run and is right; one that can be shown in the user's lines if there is one."""
    wrt = case.source.node
    if wrt is None:
        return None
    found: Fix | None = None
    for change in (*_wider_casts(case, program), *_wider_total(case, program, loss)):
        promising = change.program is not None and _is_better(case, change.program, wrt)
        result = (
            tried(case, change.program, wrt, replay) if promising and change.program is not None else None
        )
        if result is None or not result.is_correct:
            continue
        fix = Fix(change.text, change.patch, checked_text(case, result))
        if change.patch:
            return fix
        found = found or fix
    return found


def _is_better(case: Case, program: Program, wrt: int) -> bool:
    """A first look, before the changed program is judged: its own gradient, beside the true one of the old."""
    now, true = recomputed(program), case.true
    gradient = None if now is None else rounded_gradient(now, wrt)
    if gradient is None or true is None or gradient.shape != true.mid.shape:
        return False
    return compare(gradient, true, case.source.dtype, case.options).outcome == "within"


def _wider_casts(case: Case, program: Program) -> Iterator[_Change]:
    """Casts to fewer digits than the source has, each place of the source by itself."""
    way = ancestors(program, program.outputs)
    narrowing = [
        node
        for node in program.nodes
        if node.op == "cast"
        and node.id in way
        and node.dtype in _NARROW
        and types.is_real(program[node.inputs[0]].dtype)
        and types.digits_possible(node.dtype) < types.digits_possible(program[node.inputs[0]].dtype)
    ]
    for span in dict.fromkeys(node.span for node in narrowing):
        own = [node for node in narrowing if node.span == span]
        before = program[own[0].inputs[0]].dtype
        changes = {node.id: _cast_to(before) for node in own}
        source = None if span is None else parsed(case.sources.get(span.file, ""))
        expression = None if source is None else source.at(span)
        patch = ""
        is_alone = not _meets(program, own, own[0].dtype)
        if source is not None and span is not None and expression is not None and is_alone:
            patch = _with_dtype(source, expression, own[0].dtype, before, span.file)
        text = f"keep this part in {before}: do not cast it to {own[0].dtype}"
        yield _Change(retraced(program, changes, own[0].dtype), text, patch)


def _meets(program: Program, casts: Sequence[Node], narrow: str) -> bool:
    """Whether what comes of a cast meets other arrays of its dtype: wide, it would be refused beside them."""
    behind = descendants(program, [node.id for node in casts])
    beside = {id for node in program.nodes if behind.intersection(node.inputs) for id in node.inputs} - behind
    # A number alone takes the dtype of what it meets.
    return any(program[id].dtype == narrow and program[id].shape for id in beside)


def _cast_to(dtype: str) -> Made:
    def made(tracer: Tracer, xs: list[Traced]) -> Traced:
        same = types.dtype_name(xs[0].value) == dtype
        return xs[0] if same else tracer.cast(xs[0], dtype=dtype)

    return made


def _with_dtype(source: ParsedSource, expression: ast.expr, narrow: str, wide: str, file: str) -> str:
    """The one place in an expression that names the narrow dtype, with the wide one instead."""
    named = [
        part
        for part in ast.walk(expression)
        if (isinstance(part, ast.Attribute) and part.attr == narrow)
        or (isinstance(part, ast.Constant) and part.value == narrow)
    ]
    if len(named) != 1:
        return ""
    part = named[0]
    if isinstance(part, ast.Attribute):
        return replaced(source, [(part, f"{ast.unparse(part.value)}.{wide}")], file)
    return replaced(source, [(part, repr(wide))], file) if isinstance(part, ast.expr) else ""


def _wider_total(case: Case, program: Program, loss: Loss) -> Iterator[_Change]:
    """A total to which a line of a loop adds, begun in float64: NumPy then keeps it so."""
    span = loss.place.span
    if case.capture.framework != "numpy" or span is None or loss.place.op not in ("add", "sub"):
        return
    here = [node for node in program.nodes if node.span == span and node.op == loss.place.op]
    start = [id for id in here[0].inputs if program[id].op == "constant" and program[id].shape == ()]
    source = parsed(case.sources.get(span.file, ""))
    statement = None if source is None else source.statement(source.at(span) or source.tree)
    if source is None or len(start) != 1 or not isinstance(statement, ast.Assign | ast.AugAssign):
        return
    target = statement.target if isinstance(statement, ast.AugAssign) else statement.targets[0]
    if not isinstance(target, ast.Name):
        return
    first = [store for store in source.stores(target) if source.statement(store) is not statement]
    begun = source.parents.get(first[0]) if len(first) == 1 else None
    narrow = program[start[0]].dtype
    patch = _with_dtype(source, begun.value, narrow, WIDE, span.file) if isinstance(begun, ast.Assign) else ""
    text = f"keep the running total `{target.id}` in float64"
    yield _Change(retraced(program, {start[0]: _wide_start(program, start[0])}), text, patch)


def _wide_start(program: Program, id: int) -> Made:
    def made(tracer: Tracer, xs: list[Traced]) -> Traced:
        del xs
        return tracer.constant(program[id].value.astype(WIDE))

    return made


FIX = FixKind("wider-part", ("accumulation", "low-precision"), offer)
