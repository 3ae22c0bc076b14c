"""Ops that claim to move entries only return nothing but entries of their inputs, or zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ieee import Ieee
from gradproof.engine.run import run
from gradproof.ops import TABLE

from .sampling import program_of

MOVING = [
    pytest.param(op, sample, id=f"{op.name}-{k}")
    for op in TABLE.values()
    if op.moves_only
    for k, sample in enumerate(op.samples)
]


@pytest.mark.parametrize(("op", "sample"), MOVING)
def test_every_entry_of_the_result_was_there_before(op: Any, sample: Any) -> None:
    program = program_of(op, sample)
    before = {0.0}
    for node in program.nodes:
        if node.op in ("input", "constant") and not node.is_discrete:
            before.update(np.asarray(node.value).reshape(-1).tolist())
    for result in run(Ieee(), program).outputs():
        assert set(np.asarray(result).reshape(-1).tolist()) <= before
