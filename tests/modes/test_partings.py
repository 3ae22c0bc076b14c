"""Programs with a known parting op: it is named rightly in all; where modes agree, no difference is claimed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for, plain_modes
from gradproof.modes.model import ModeCell
from gradproof.modes.table import compared
from gradproof.options import Options

tf = pytest.importorskip("tensorflow")

from tests.modes.cases import ModeCase
from tests.modes.programs import CONTROLS, PARTING


def _under_xla(case: ModeCase) -> ModeCell:
    modes = [
        replace(mode, precisions=()) for mode in plain_modes("tensorflow") if mode.name in ("eager", "XLA")
    ]
    x = tf.constant(case.point)
    (capture,) = frontend_for((x,), {}).check(Request(case.function, (x,))).captures
    found = compared(capture, modes, [], Options())
    assert found is not None and not found.lacking and not found.notes
    own, other = found.lines
    assert own.is_own and not own.cells[0].gap_ulps and not own.cells[0].partings
    assert own.repeats and other.repeats
    return other.cells[0]


@pytest.mark.parametrize("name", PARTING)
def test_the_op_at_which_modes_part_is_named(name: str) -> None:
    case = PARTING[name]
    cell = _under_xla(case)
    assert cell.gap_ulps
    assert (case.op, case.phase, case.kind) in [(one.op, one.phase, one.whose.kind) for one in cell.partings]
    assert any(case.text in one.whose.text for one in cell.partings)


@pytest.mark.parametrize("name", CONTROLS)
def test_no_difference_is_claimed_where_there_is_none(name: str) -> None:
    cell = _under_xla(CONTROLS[name])
    assert cell.gap_ulps == 0 and not cell.partings


def test_there_are_enough_of_both() -> None:
    assert len(PARTING) >= 25 and len(CONTROLS) >= 25
