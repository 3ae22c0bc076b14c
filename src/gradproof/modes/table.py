"""One captured gradient call in every mode and precision: the table, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.diagnosis import words
from gradproof.diagnosis.parting import Parting
from gradproof.engine.terms import term_sizes
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.judge.call import JudgedCall, judge_call
from gradproof.judge.verdict import Verdict, beyond_tolerance
from gradproof.modes.concluding import concluded
from gradproof.modes.feed import Feed, feed, in_precision, is_all_real, opaque_on_the_way
from gradproof.modes.graph import graph_around
from gradproof.modes.model import (
    CallModes,
    LackingMode,
    Mode,
    ModeCell,
    ModeLine,
    ModeSource,
    NotRun,
)
from gradproof.modes.parting import partings
from gradproof.modes.rows import gap_in_ulps, gradients_in, measured, returns_again, same_bits
from gradproof.modes.rule_parting import rule_parting
from gradproof.options import Options

HELPS = 1.0  # digits that a wider dtype must give back for its lack to be what was wrong
MOST_ALONE = 60  # values that are asked for one at a time, each a program to be compiled
SEEN = 0.25  # of a gap may be left unexplained
WITH_VERDICT = (Verdict.CORRECT, Verdict.INACCURATE, Verdict.WRONG, Verdict.NONFINITE, Verdict.MISSING)


@dataclass(eq=False)
class ModeTable:
    """A call that is being compared: its program, what is differentiated for, and the values of runs op by op."""

    capture: Capture
    options: Options
    sources: tuple[ModeSource, ...]
    wrt: tuple[int, ...]
    recorded: tuple[int | None, ...]
    sizes: Sequence[Array | None]
    dtype: str
    lacking: list[LackingMode] = field(default_factory=list)
    singles: dict[str, Any] = field(default_factory=dict)  # by framework: the values of its run op by op


def compared(
    capture: Capture, modes: Sequence[Mode], lacking: Sequence[LackingMode], options: Options,
    judged: JudgedCall | None = None,
) -> CallModes | None:  # fmt: skip
    """The call in every mode; None where it has no gradient that could be run again."""
    table = _begun(capture, options, judged)
    if table is None or capture.program is None:
        return None
    table.lacking += lacking
    lines: list[ModeLine] = []
    blocked = _obstacle(capture, table)
    for mode in modes if blocked is None else ():
        for dtype in _precisions(mode, table, capture.program):
            tick()
            line = _line(table, mode, dtype)
            lines += [] if line is None else [line]
    if not any(line.is_own for line in lines):
        lines.insert(0, _as_observed(table))
    lines = _with_wider(lines)
    marked = [one.node for line in lines for cell in line.cells for one in cell.partings]
    notes = (*([] if blocked is None else [blocked]), *_unexplained(lines, table))
    return CallModes(
        capture.call, capture.framework, capture.run.mode, capture.target, table.dtype, table.sources, tuple(lines),
        tuple(table.lacking), concluded(lines, table.sources, capture.framework, table.dtype), notes,
        capture.run.occurrence, graph_around(capture.gradient_program, marked),
    )  # fmt: skip


def _begun(capture: Capture, options: Options, judged: JudgedCall | None) -> ModeTable | None:
    options = options.under(capture.run.policy)
    judged = judged or judge_call(capture, options)
    kept, sources = [], []
    for k, (source, judgement) in enumerate(zip(capture.sources, judged.judgements)):
        if source.node is None or types.is_discrete(source.dtype):
            continue
        known = judgement.enclosure if judgement.verdict in WITH_VERDICT else None
        reason = None if known is not None else judgement.reason or "there is no proven gradient"
        kept.append(k)
        sources.append(ModeSource(source.name, source.shape, source.dtype, source.observed, known, reason))
    if not kept or capture.program is None:
        return None
    wrt = tuple(node for k in kept if (node := capture.sources[k].node) is not None)
    reference = next((judged.judgements[k].reference for k in kept), None)
    sizes: Sequence[Array | None] = [None] * len(wrt)
    if reference is not None:
        # Without them a true gradient of zero is measured as strictly as any other.
        with suppress(GradproofError, KeyError):
            sizes = term_sizes(reference.run, wrt)
    dtype = min((source.dtype for source in sources), key=types.precision_bits)
    return ModeTable(
        capture, options, tuple(sources), wrt, tuple(capture.sources[k].recorded for k in kept), sizes, dtype
    )


def _obstacle(capture: Capture, table: ModeTable) -> str | None:
    """Why no mode can be tried at all."""
    assert capture.program is not None
    opaque = opaque_on_the_way(capture.program, capture.program.outputs)
    if opaque is not None:
        return f"the program has `{opaque.partition(':')[2]}`, which has no exact meaning here"
    moved = {node.scope for node in capture.program.nodes if node.scope is not None}
    if moved:
        return "the program has a gradient that was written by hand, which is not run again in other modes"
    if capture.run.order != 1 or capture.copies is not None:
        return "it is a derivative of a higher order or a Jacobian, which is not carried over to other modes"
    return None


def _precisions(mode: Mode, table: ModeTable, program: Program) -> list[str | None]:
    """The program as it is, then throughout in each precision."""
    others = [one for one in mode.precisions if one != table.dtype] if is_all_real(program) else []
    return [None, *(others if mode.runs_as or not mode.is_single else [])]


def _line(table: ModeTable, mode: Mode, dtype: str | None) -> ModeLine | None:
    program = table.capture.program
    assert program is not None
    if dtype is not None:
        program = in_precision(program, dtype)
    try:
        value, gradients = gradients_in(mode, program, table.wrt)
    except NotRun as reason:
        name = mode.name if dtype is None else f"{mode.name} in {dtype}"
        table.lacking.append(LackingMode(mode.framework, name, str(reason)))
        return None
    is_own = (
        dtype is None and mode.framework == table.capture.framework and mode.runs_as == table.capture.run.mode
    )
    shown = dtype or table.dtype
    cells = tuple(_cell(table, k, one, mode.policy or shown) for k, one in enumerate(gradients))
    again = partial(returns_again, mode, program, table.wrt, (value, gradients))
    rethreads = again(is_rethreaded=True) if dtype is None else None
    line = ModeLine(
        mode.framework, mode.name, shown, value, cells, is_own, again(), rethreads, mode.words, mode.policy
    )  # fmt: skip
    return line if dtype is not None else _with_partings(table, mode, line)


def _cell(table: ModeTable, k: int, gradient: Array | None, dtype: str) -> ModeCell:
    source = table.sources[k]
    verdict, found = measured(gradient, source.true, dtype, table.sizes[k], table.options)
    gap = gap_in_ulps(gradient, source.observed)
    digits = None if found is None or found.outcome in ("unbounded",) else found.digits
    if found is not None and found.outcome == "nonfinite":
        digits = 0.0
    return ModeCell(gradient, verdict, digits, gap, None if found is None else found.worst)


def _as_observed(table: ModeTable) -> ModeLine:
    """The user's own run where it could not be repeated: what it returned."""
    program = table.capture.program
    assert program is not None
    value = np.asarray(program[program.outputs[0]].value)
    cells = tuple(_cell(table, k, source.observed, source.dtype) for k, source in enumerate(table.sources))
    mode = table.capture.run.mode
    return ModeLine(
        table.capture.framework, f"{mode}, as it ran", table.dtype, value, cells, True, title="as it ran"
    )


def _with_partings(table: ModeTable, mode: Mode, line: ModeLine) -> ModeLine:
    """Where the mode parts from the framework's own run op by op, for each gradient that differs from that run's."""
    program = table.capture.gradient_program
    if program is None:
        return line
    try:
        fed = feed(program, [id for id in table.recorded if id is not None])
        wanted = [node.id for node in fed.computed if not node.is_discrete and node.dtype != types.TUPLE]
        if mode.is_single and mode.framework not in table.singles:
            table.singles[mode.framework] = (_seen(mode, fed, wanted), line, mode)
    except NotRun:
        return line
    if mode.is_single or mode.framework not in table.singles:
        return line
    _, beside, _ = table.singles[mode.framework]
    cells = []
    for k, cell in enumerate(line.cells):
        found: tuple[Parting, ...] = ()
        output, before = table.recorded[k], beside.cells[k].gradient
        if output is not None and cell.gradient is not None and not same_bits(cell.gradient, before):
            found = _partings(table, mode, fed, wanted, output, cell.gradient)
        cells.append(replace(cell, partings=found))
    return replace(line, cells=tuple(cells))


def _partings(
    table: ModeTable, mode: Mode, fed: Feed, wanted: list[int], output: int, gradient: Array
) -> tuple[Parting, ...]:
    """Where the recorded ops part when they run in the mode, as far as that explains the gap in the gradient.

    A compiler fuses less where every value is asked for. Where that hides the gap, each value is asked for alone. And
    where the gap does not come out even so, only what the forward ops do is told: the derivative is another.
    """
    single, beside, own = table.singles[mode.framework]
    before = beside.cells[table.recorded.index(output)].gradient
    index = _furthest(gradient, before)
    try:
        values = _seen(mode, fed, wanted)
        found = partings(fed.program, single, values, output, index)
        if found and _is_what_ran(values[output], gradient, before):
            return found
        if len(wanted) <= MOST_ALONE:
            for id in wanted:
                values |= zip([id], mode.values(feed(fed.program, [id]), [id]))
                tick()
            found = partings(fed.program, single, values, output, index)
            if found and _is_what_ran(values[output], gradient, before):
                return found
    except NotRun:
        return ()
    by_rule = rule_parting(table.capture, own, mode)
    if by_rule:
        return by_rule
    return tuple(replace(one, share=None) for one in found[:1] if one.phase == "forward")


def _seen(mode: Mode, fed: Feed, wanted: list[int]) -> dict[int, Array]:
    return {**fed.given, **fed.literals, **dict(zip(wanted, mode.values(fed, wanted)))}


def _unexplained(lines: Sequence[ModeLine], table: ModeTable) -> list[str]:
    """The modes that differ from the run op by op at an op that was not seen."""
    apart = []
    for line in lines:
        _, beside, _ = table.singles.get(line.framework, (None, None, None))
        if beside is None or line.dtype != table.dtype or line.policy is not None or line is beside:
            continue
        for cell, one in zip(line.cells, beside.cells):
            differs = cell.gradient is not None and not same_bits(cell.gradient, one.gradient)
            if differs and not cell.partings:
                apart.append(f"{words.framework_name(line.framework)} {line.title}")
    told = words.comma_list(list(dict.fromkeys(apart)))
    why = "with its values in sight it computes otherwise, or its own derivative rules do"
    return (
        [f"{told}: another gradient than op by op, and the op at which they part was not seen: {why}"]
        if told
        else []
    )


def _is_what_ran(seen: Array, gradient: Array | None, single: Array | None) -> bool:
    """Whether the recorded ops, run in the mode with all their values in sight, show the gap that the mode has.

    The framework's own derivative may compute otherwise than the ops that were recorded, and a compiler may do
    something else where every value is asked for: what is seen then does not explain the gap.
    """
    off, gap = gap_in_ulps(seen, gradient), gap_in_ulps(gradient, single)
    return off is not None and gap is not None and (off == 0 or off <= SEEN * gap)


def _furthest(one: Array, other: Array | None) -> tuple[int, ...]:
    if other is None or other.shape != one.shape:
        return (0,) * one.ndim
    gap = np.abs(one.astype(np.complex128) - other.astype(np.complex128))
    gap = np.where(np.isnan(gap), np.inf, gap)
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(gap)), one.shape))


def _with_wider(lines: list[ModeLine]) -> list[ModeLine]:
    """The verdicts beyond the tolerance, once wider dtypes of the same mode are known too."""
    return [
        replace(line, cells=tuple(_decided(k, line, cell, lines) for k, cell in enumerate(line.cells)))
        for line in lines
    ]


def _decided(k: int, line: ModeLine, cell: ModeCell, lines: list[ModeLine]) -> ModeCell:
    if cell.verdict is not Verdict.INACCURATE:
        return cell
    bits = types.precision_bits(line.dtype)
    wider = [
        other.cells[k].digits or 0.0
        for other in lines
        if (other.framework, other.mode) == (line.framework, line.mode)
        and types.precision_bits(other.dtype) > bits
    ]
    helps = any(digits > (cell.digits or 0.0) + HELPS for digits in wider)
    return replace(cell, verdict=beyond_tolerance(helps or not wider))
