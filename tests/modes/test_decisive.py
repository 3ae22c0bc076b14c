"""The op that matters is one at which two runs part: not one that loses the same in both."""

from __future__ import annotations

import numpy as np

from gradproof.ir.program import Builder
from gradproof.modes.parting import partings


def test_an_op_that_loses_the_same_in_both_runs_is_not_where_they_part() -> None:
    b, of = Builder(), {"dtype": "float32", "shape": ()}
    x = b.input(np.float32(1))
    total = b.add("add", x, b.constant(np.float32(0.1)), **of)
    scaled = b.add("mul", total, b.constant(np.float32(1e-23)), **of)
    tiny = b.add("mul", scaled, b.constant(np.float32(1e-22)), **of)  # no float32: zero in both runs
    large = b.add("mul", tiny, b.constant(np.float32(1e38)), **of)
    last = b.add("add", large, b.add("mul", total, b.constant(np.float32(-1.5e-7)), **of), **of)
    program = b.build([last])

    def ran(at: float) -> dict[int, np.ndarray]:
        one = np.float32(at)
        two, low = one * np.float32(1e-23), one * np.float32(-1.5e-7)
        found = {total: one, scaled: two, tiny: np.float32(0), large: np.float32(0), last: low}
        known = {node.id: np.asarray(node.value) for node in program.nodes if node.value is not None}
        low_id = program[last].inputs[1]
        return {**known, **{id: np.asarray(value) for id, value in found.items()}, low_id: np.asarray(low)}

    found = partings(program, ran(1.1), ran(1.2), last, ())
    assert [one.op for one in found] == ["add"]
    assert all(one.single != one.other for one in found)
