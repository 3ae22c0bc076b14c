"""Whether the mode in which a program ran spoiled its gradient, and not the formula: the same ops, run both ways."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradproof.diagnosis.parting import ModeFault, Parting
from gradproof.judge.call import JudgedCall
from gradproof.judge.verdict import Verdict
from gradproof.modes.concluding import BAD
from gradproof.modes.model import Mode, ModeCell
from gradproof.modes.rows import MOST_NODES
from gradproof.modes.table import compared
from gradproof.options import Options


def mode_faults(
    judged: JudgedCall, modes: Sequence[Mode], options: Options
) -> dict[str, ModeFault | Parting]:
    """By the name of the source: the gradients that are right op by op, and off in the mode they ran in.

    Where nothing is proven, the op that makes infinities or NaN in the mode, and none op by op.
    """
    capture = judged.capture
    single = next((one for one in modes if one.is_single), None)
    own = next((one for one in modes if one.runs_as == capture.run.mode and not one.is_single), None)
    if single is None or own is None or capture.program is None or len(capture.program.nodes) > MOST_NODES:
        return {}
    both = [replace(one, precisions=()) for one in (single, own)]
    found = compared(capture, both, [], options, judged)
    lines = {} if found is None else {line.mode: line for line in found.lines}
    if found is None or not {single.name, own.name} <= lines.keys():
        return {}
    by_op, as_run = lines[single.name], lines[own.name]
    pairs = zip(found.sources, by_op.cells, as_run.cells)
    faults: dict[str, ModeFault | Parting] = {}
    for source, one, two in pairs:
        parting = _decisive(two)
        if one.gradient is not None and _is_spoilt(one, two):
            faults[source.name] = ModeFault(as_run.title, one.gradient, one.digits or 0.0, parting)
        elif parting is not None and source.true is None and _is_broken(one, two):
            faults[source.name] = parting
    return faults


def _is_spoilt(single: ModeCell, compiled: ModeCell) -> bool:
    """Right op by op, off in the mode; and what the mode returns now is nearer to what it returned then."""
    if single.gap_ulps is None or compiled.gap_ulps is None or not compiled.gap_ulps < single.gap_ulps:
        return False
    return single.verdict is Verdict.CORRECT and compiled.verdict in BAD


def _is_broken(single: ModeCell, compiled: ModeCell) -> bool:
    if single.gradient is None or compiled.gradient is None:
        return False
    return bool(np.isfinite(single.gradient).all() and not np.isfinite(compiled.gradient).all())


def _decisive(cell: ModeCell) -> Parting | None:
    return cell.partings[-1] if cell.partings else None
