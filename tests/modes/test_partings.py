"""Programs with a known parting op: it is named rightly in all; where modes agree, no difference is claimed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for, modes_offered
from gradproof.modes.model import ModeCell
from gradproof.modes.table import compared
from gradproof.options import Options

tf = pytest.importorskip("tensorflow")

from tests.modes.cases import ModeCase
from tests.modes.programs import CONTROLS, PARTING, POLICY


def _beside_eager(case: ModeCase, other_mode: str = "XLA") -> ModeCell:
    modes = [
        replace(mode, precisions=())
        for mode in modes_offered("tensorflow", is_here=True)[0]
        if mode.name in ("eager", other_mode)
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
    cell = _beside_eager(case)
    assert cell.gap_ulps
    assert (case.op, case.phase, case.kind) in [(one.op, one.phase, one.whose.kind) for one in cell.partings]
    assert any(case.text in one.whose.text for one in cell.partings)


@pytest.mark.parametrize("name", CONTROLS)
def test_no_difference_is_claimed_where_there_is_none(name: str) -> None:
    cell = _beside_eager(CONTROLS[name])
    assert cell.gap_ulps == 0 and not cell.partings


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", POLICY)
def test_a_policy_parts_at_the_first_op_that_it_computes_in_16_bits(name: str, dtype: str) -> None:
    case = POLICY[name]
    cell = _beside_eager(case, f"mixed_{dtype}")
    assert cell.gap_ulps
    found = {(one.op, one.phase, one.whose.kind): one for one in cell.partings}
    first = found[case.op, case.phase, case.kind]
    assert f"in {dtype}, {8 if dtype == 'bfloat16' else 11} bits" in first.whose.text
    assert first is cell.partings[0], "what only reads a variable is no op to be told"
    assert not any(one.whose.kind == "derivative-rule" for one in cell.partings)


def test_there_are_enough_of_both() -> None:
    assert len(PARTING) >= 25 and len(CONTROLS) >= 25
