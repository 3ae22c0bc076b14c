"""One captured gradient call in every mode and precision: the table, line by line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from gradproof.clock import TimeIsOver, seconds_left, time_limit, unlimited
from gradproof.engine.terms import term_sizes
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.types import Array
from gradproof.judge.by_facts import undecided
from gradproof.judge.call import JudgedCall, judge_call
from gradproof.judge.verdict import Verdict, beyond_tolerance
from gradproof.modes.apart_where import PartingSearch
from gradproof.modes.as_it_ran import AS_IT_RAN, own_run
from gradproof.modes.beyond import beyond_float64
from gradproof.modes.concluding import concluded
from gradproof.modes.feed import opaque_on_the_way
from gradproof.modes.filling import Key, ModeTable, cell_of, fill, is_users
from gradproof.modes.graph import graph_around
from gradproof.modes.model import CallModes, LackingMode, Mode, ModeCell, ModeLine, ModeSource
from gradproof.options import Options

HELPS = 1.0  # digits that a wider dtype must give back for its lack to be what was wrong
JUDGING = (
    0.5  # of the time that is left may go into the proof: a comparison without one is worth more than none
)
NOT_REPEATED = (
    "your own run returned bits that none of the modes returns: it ran in other pieces, or by other functions of the "
    "framework than its ops are run again with"
)
MOST_COPIED = 2000  # nodes of the copies that make a Jacobian: compiling takes about a millisecond for each
WITH_VERDICT = (Verdict.CORRECT, Verdict.INACCURATE, Verdict.WRONG, Verdict.NONFINITE, Verdict.MISSING)


def compared(
    capture: Capture, modes: Sequence[Mode], lacking: Sequence[LackingMode], options: Options,
    judged: JudgedCall | None = None,
) -> CallModes | None:  # fmt: skip
    """The call in every mode; None where it has no gradient that could be run again."""
    table = _begun(capture, options, judged)
    if table is None:
        return None
    table.lacking += lacking
    blocked = _obstacle(capture, table)
    true = tuple(source.true for source in table.sources)
    search = PartingSearch(capture, table.recorded, table.wrt, true, table.is_recorded)
    if blocked is None:
        _settle(table, modes)
        search.is_recorded = table.is_recorded or table.own_is_recorded
        fill(table, modes, search)
    with unlimited():
        lines = [table.lines[key] for key in _ordered(table, modes)]
        if not any(line.is_own for line in lines):
            own = own_run(capture)
            lines.insert(0, search.told(own, _as_observed(table, own)))
        lines = _with_wider(lines)
        marked = [one.node for line in lines for cell in line.cells for one in cell.ops]
        notes = [blocked] if blocked is not None else search.unexplained(lines, table.dtype)
        if table.over is not None and blocked is None:
            notes = [f"not all of it was looked at: {table.over}"]
        elif blocked is None and lines[0].title == AS_IT_RAN and len(lines) > 1:
            notes.insert(0, NOT_REPEATED)
        return CallModes(
            capture.call, capture.framework, capture.run.mode, capture.target, table.dtype, table.sources,
            tuple(lines), tuple(table.lacking),
            concluded(lines, table.sources, capture.framework, table.dtype, table.over is None), tuple(notes),
            capture.run.occurrence, graph_around(capture.gradient_program, marked),
        )  # fmt: skip


def _settle(table: ModeTable, modes: Sequence[Mode]) -> None:
    """Whether the framework is asked to differentiate, or the ops of its own gradient are run."""
    own = [mode for mode in modes if is_users(table, mode)]
    with suppress(TimeIsOver):  # which is told when the modes are run
        table.own_is_recorded = any(table.follows_its_library(mode) for mode in own)


def _ordered(table: ModeTable, modes: Sequence[Mode]) -> list[Key]:
    return sorted(table.lines, key=lambda key: (key[0], key[1] is not None and _place(modes[key[0]], key[1])))


def _place(mode: Mode, dtype: str) -> int:
    return 1 + mode.precisions.index(dtype)


def _begun(capture: Capture, options: Options, judged: JudgedCall | None) -> ModeTable | None:
    if capture.program is None:
        return None
    options = options.under(capture.run.policy)
    judged = judged or _judged(capture, options)
    kept, sources = [], []
    for k, (source, judgement) in enumerate(zip(capture.sources, judged.judgements)):
        if source.node is None or types.is_discrete(source.dtype):
            continue
        known = judgement.enclosure if judgement.verdict in WITH_VERDICT else None
        reason = None if known is not None else judgement.reason or "there is no proven gradient"
        kept.append(k)
        beyond = beyond_float64(capture.program, source.node, judgement) if known is not None else {}
        sources.append(
            ModeSource(source.name, source.shape, source.dtype, source.observed, known, reason, beyond)
        )
    if not kept:
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
    is_by_hand = any(node.scope is not None for node in capture.program.nodes)
    table.is_recorded = is_by_hand or capture.run.order != 1 or capture.copies is not None
    if table.is_recorded and (capture.gradient_program is None or None in table.recorded):
        # A Jacobian is the gradient of copies of its program, which a framework can differentiate too.
        if is_by_hand or capture.copies is None or len(capture.program.nodes) > MOST_COPIED:
            return "the ops of its gradient were not recorded, and no framework differentiates it as was done here"
        table.is_recorded = False
    outputs = table.outputs if table.is_recorded else capture.program.outputs
    opaque = opaque_on_the_way(table.program, outputs)
    if opaque is not None:
        return f"the program has `{opaque.partition(':')[2]}`, which has no exact meaning here"
    return None


def _as_observed(table: ModeTable, own: Mode) -> ModeLine:
    """The user's own run where it could not be repeated: what it returned."""
    value = np.asarray(table.target_program[table.outputs[0]].value)
    cells = tuple(cell_of(table, k, source.observed, source.dtype) for k, source in enumerate(table.sources))
    return ModeLine(own.framework, own.name, table.dtype, value, cells, True, title=own.title)


def _with_wider(lines: list[ModeLine]) -> list[ModeLine]:
    """The verdicts beyond the tolerance, once wider dtypes of the same mode are known too."""
    return [
        replace(line, cells=tuple(_decided(k, line, cell, lines) for k, cell in enumerate(line.cells)))
        for line in lines
    ]


def _decided(k: int, line: ModeLine, cell: ModeCell, lines: list[ModeLine]) -> ModeCell:
    """Rounding is to blame where digits grow with the precision; the widest is measured by those it does not exceed."""
    if cell.verdict is not Verdict.INACCURATE:
        return cell
    bits, own = types.precision_bits(line.dtype), cell.digits or 0.0
    same = [one for one in lines if (one.framework, one.mode) == (line.framework, line.mode)]
    wider = [one.cells[k].digits or 0.0 for one in same if types.precision_bits(one.dtype) > bits]
    narrower = [
        one.cells[k].digits or 0.0
        for one in same
        if types.precision_bits(one.dtype) < bits and one.cells[k].verdict is Verdict.INACCURATE
    ]
    grows = any(digits > own + HELPS for digits in wider) if wider else _all_above(own, narrower)
    return replace(cell, verdict=beyond_tolerance(grows))


def _all_above(own: float, narrower: Sequence[float]) -> bool:
    return all(own > digits + HELPS for digits in narrower)
