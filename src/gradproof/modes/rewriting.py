"""Another way of writing a function that gives a mode its digits back: searched, proven equal, and run in that mode."""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from gradproof.diagnosis import words
from gradproof.diagnosis.diagnostic import Fix
from gradproof.engine.refine import entry_count
from gradproof.fixes.patch import patch_of
from gradproof.fixes.search import MOST_COMPILED, Aim, Candidate, reached
from gradproof.fixes.tried import replayed_in
from gradproof.fixes.verify import MOST_ENTRIES, GradientPair, is_equal, tightened
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.program import Program
from gradproof.judge.verdict import Verdict
from gradproof.modes.concluding import BAD
from gradproof.modes.model import CallModes, Mode, ModeCell, ModeLine, ModeSource
from gradproof.modes.rows import MOST_NODES, gradient_alone
from gradproof.options import Options

MOST_PROVEN = 4  # candidates for which the proof of equality is tried


def with_rewriting(call: CallModes, capture: Capture, modes: Sequence[Mode], options: Options) -> CallModes:
    """The call with a rewriting for the first mode of the program's own framework that lost digits.

    None for a program with a rule of the user's own: it would go with what it is the rule of; and none for a Jacobian,
    whose program is made of copies.
    """
    if capture.program is None or capture.copies is not None:
        return call
    if any(node.scope is not None for node in capture.program.nodes):
        return call
    for line in sorted(call.lines, key=lambda one: not one.is_own):
        mode = next((one for one in modes if (one.framework, one.name) == (call.framework, line.mode)), None)
        is_asked = line.framework == call.framework and line.dtype == call.dtype and line.policy is None
        if mode is not None and is_asked and line.verdict in BAD:
            k = min(range(len(line.cells)), key=lambda k: line.cells[k].digits or 0.0)
            found = _rewriting(
                capture, mode, line, call.sources[k], line.cells[k], _possible(call, k), options
            )
            return replace(call, conclusion=replace(call.conclusion, rewriting=found))
    return call


def _possible(call: CallModes, k: int) -> float:
    """The digits that another mode has; where none has them, all that the dtype has."""
    good = [line.cells[k] for line in call.lines if line.counts == call.dtype]
    found = [cell.digits for cell in good if cell.verdict is Verdict.CORRECT and cell.digits is not None]
    return max(found, default=types.digits_possible(call.dtype))


def _rewriting(
    capture: Capture,
    mode: Mode,
    line: ModeLine,
    source: ModeSource,
    cell: ModeCell,
    possible: float,
    options: Options,
) -> Fix | None:
    """The best change for one gradient; None where none was found that helps."""
    program, true = capture.program, source.true
    wrt = next((one.node for one in capture.sources if one.name == source.name), None)
    if program is None or len(program.nodes) > MOST_NODES or 2 * entry_count(program) > MOST_ENTRIES:
        return None
    if wrt is None or true is None or not true.is_bounded or not types.is_real(source.dtype):
        return None
    pair = GradientPair(wrt, tightened(program, wrt, true), source.dtype, options)
    spans = {one.span for one in cell.partings if one.span is not None}
    places = tuple(node.id for node in program.nodes if node.span in spans)
    run = partial(gradient_alone, mode)
    aim = Aim(pair, cell.digits or 0.0, possible, places, run, MOST_COMPILED)
    for candidate in reached(program, aim)[:MOST_PROVEN]:
        if is_equal(program, candidate.program, pair.wrt):
            return _fix(capture, program, candidate, line, aim)
    return None


def _fix(capture: Capture, program: Program, candidate: Candidate, line: ModeLine, aim: Aim) -> Fix:
    files = {node.span.file for node in program.nodes if node.span is not None}
    sources = {file: "".join(linecache.getlines(file)) for file in files}
    patch = patch_of(program, candidate.program, candidate.nodes, sources, capture.framework)
    name = words.framework_name(capture.framework)
    digits = words.digits_text(candidate.digits, types.digits_possible(aim.gradients.dtype))
    return Fix(
        candidate.text, "" if patch is None else patch.text, f"{replayed_in(f'{name} {line.title}')} {digits}"
    )
