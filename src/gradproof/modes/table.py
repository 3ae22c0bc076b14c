"""One captured gradient call in every mode and precision: the table, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from gradproof.clock import TimeIsOver, seconds_left, tick, time_limit, unlimited
from gradproof.diagnosis import words
from gradproof.engine.terms import term_sizes
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.judge.by_facts import undecided
from gradproof.judge.call import JudgedCall, judge_call
from gradproof.judge.verdict import Verdict, beyond_tolerance
from gradproof.modes.apart_where import PartingSearch
from gradproof.modes.concluding import concluded
from gradproof.modes.feed import in_precision, is_all_real, opaque_on_the_way
from gradproof.modes.graph import graph_around
from gradproof.modes.model import (
    PRECISIONS,
    CallModes,
    LackingMode,
    Mode,
    ModeCell,
    ModeLine,
    ModeSource,
    NotRun,
)
from gradproof.modes.rows import gap_in_ulps, gradients_in, measured, returns_again
from gradproof.options import Options

N_OTHERS = len(PRECISIONS) - 1
HELPS = 1.0  # digits that a wider dtype must give back for its lack to be what was wrong
JUDGING = (
    0.5  # of the time that is left may go into the proof: a comparison without one is worth more than none
)
WITH_VERDICT = (Verdict.CORRECT, Verdict.INACCURATE, Verdict.WRONG, Verdict.NONFINITE, Verdict.MISSING)


Key = tuple[int, str | None]  # which mode, and the precision if it is another than the program's


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
    lines: dict[Key, ModeLine] = field(default_factory=dict)
    over: str | None = None  # why not everything was run


def compared(
    capture: Capture, modes: Sequence[Mode], lacking: Sequence[LackingMode], options: Options,
    judged: JudgedCall | None = None,
) -> CallModes | None:  # fmt: skip
    """The call in every mode; None where it has no gradient that could be run again."""
    table = _begun(capture, options, judged)
    if table is None or capture.program is None:
        return None
    table.lacking += lacking
    search = PartingSearch(capture, table.recorded)
    blocked = _obstacle(capture, table)
    if blocked is None:
        _fill(table, modes, search)
    with unlimited():
        lines = [table.lines[key] for key in _ordered(table, modes)]
        if not any(line.is_own for line in lines):
            lines.insert(0, _as_observed(table))
        lines = _with_wider(lines)
        marked = [one.node for line in lines for cell in line.cells for one in cell.partings]
        notes = [blocked] if blocked is not None else search.unexplained(lines, table.dtype)
        if table.over is not None and blocked is None:
            notes = [f"not all of it was looked at: {table.over}"]
        return CallModes(
            capture.call, capture.framework, capture.run.mode, capture.target, table.dtype, table.sources,
            tuple(lines), tuple(table.lacking),
            concluded(lines, table.sources, capture.framework, table.dtype, table.over is None), tuple(notes),
            capture.run.occurrence, graph_around(capture.gradient_program, marked),
        )  # fmt: skip


def _ordered(table: ModeTable, modes: Sequence[Mode]) -> list[Key]:
    return sorted(table.lines, key=lambda key: (key[0], key[1] is not None and _place(modes[key[0]], key[1])))


def _place(mode: Mode, dtype: str) -> int:
    return 1 + mode.precisions.index(dtype)


def _fill(table: ModeTable, modes: Sequence[Mode], search: PartingSearch) -> None:
    """Run every mode, what is asked most first: as the program is, in other precisions, then the op at which they part.

    When the time is over, what is there is kept, and what was not run is listed with that reason.
    """
    assert table.capture.program is not None
    program = table.capture.program
    plain: list[Key] = [(k, None) for k in range(len(modes))]
    others: list[Key] = [
        (k, one) for k, mode in enumerate(modes) for one in _precisions(mode, table, program)
    ]
    waiting = dict.fromkeys([*plain, *others])

    def first(key: Key) -> None:
        line = _line(table, modes[key[0]], key[1])
        del waiting[key]
        if line is not None:
            table.lines[key] = line
            if modes[key[0]].is_single and key in plain:
                search.singles.setdefault(line.framework, (modes[key[0]], line))

    def again(key: Key) -> None:
        if key in table.lines:
            table.lines[key] = _repeated(table, modes[key[0]], key[1], table.lines[key])

    def where(key: Key) -> None:
        if key in table.lines:
            table.lines[key] = search.with_partings(modes[key[0]], table.lines[key])

    try:
        for do, keys in ((first, plain), (again, plain), (first, others), (where, plain), (again, others)):
            for key in keys:
                tick()
                do(key)
    except TimeIsOver as over:
        table.over = str(over)
        table.lacking += [LackingMode(*name, str(over)) for name in _unreached(modes, list(waiting))]


def _unreached(modes: Sequence[Mode], keys: Sequence[Key]) -> list[tuple[str, str]]:
    """By framework and name; the precisions of a mode together, and those of one that never ran unsaid."""
    found = []
    for k in dict.fromkeys(k for k, _ in keys):
        dtypes = [dtype for other, dtype in keys if other == k and dtype is not None]
        which = "other precisions" if len(dtypes) == N_OTHERS else words.comma_list(dtypes)
        name = _named(modes[k], None if (k, None) in keys else which)
        found.append((modes[k].framework, name))
    return found


def _named(mode: Mode, dtype: str | None) -> str:
    return mode.name if dtype is None else f"{mode.name} in {dtype}"


def _begun(capture: Capture, options: Options, judged: JudgedCall | None) -> ModeTable | None:
    options = options.under(capture.run.policy)
    judged = judged or _judged(capture, options)
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


def _judged(capture: Capture, options: Options) -> JudgedCall:
    left = seconds_left()
    share = None if left is None else JUDGING * left
    try:
        with time_limit(
            share, f"the proof took longer than {share or 0:.3g} s, half of the time that it had"
        ):
            return judge_call(capture, options)
    except TimeIsOver as over:
        return JudgedCall(capture, (undecided(str(over)),) * len(capture.sources))


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


def _precisions(mode: Mode, table: ModeTable, program: Program) -> list[str]:
    """The other precisions in which the whole program is run too."""
    return [one for one in mode.precisions if one != table.dtype] if is_all_real(program) else []


def _line(table: ModeTable, mode: Mode, dtype: str | None) -> ModeLine | None:
    try:
        value, gradients = gradients_in(mode, _program(table, dtype), table.wrt)
    except NotRun as reason:
        table.lacking.append(LackingMode(mode.framework, _named(mode, dtype), str(reason)))
        return None
    shown = dtype or table.dtype
    cells = tuple(_cell(table, k, one, mode.policy or shown) for k, one in enumerate(gradients))
    ran_so = mode.framework == table.capture.framework and mode.runs_as == table.capture.run.mode
    # What was compiled in other pieces, or drawn anew, is not the user's run, whatever the mode is called.
    is_own = dtype is None and ran_so and not any(cell.gap_ulps for cell in cells)
    return ModeLine(
        mode.framework, mode.name, shown, value, cells, is_own, title=mode.words, policy=mode.policy
    )


def _program(table: ModeTable, dtype: str | None) -> Program:
    assert table.capture.program is not None
    return table.capture.program if dtype is None else in_precision(table.capture.program, dtype)


def _repeated(table: ModeTable, mode: Mode, dtype: str | None, line: ModeLine) -> ModeLine:
    """The line, and whether the mode returns its bits again."""
    before = (line.value, [cell.gradient for cell in line.cells])
    again = partial(returns_again, mode, _program(table, dtype), table.wrt, before)
    rethreads = again(is_rethreaded=True) if dtype is None else None
    return replace(line, repeats=again(), rethreads=rethreads)


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
