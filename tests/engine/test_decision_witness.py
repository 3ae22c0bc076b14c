"""The witness of decisions: another decision than the one that was taken is found; roundings and ties are not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradproof.engine.decision_witness import misdecided
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.judge.judge import Evidence, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

X = np.asarray([0.5, -1.25, 2.0])


def _decided(op: str, value: Any, *others: Any, **params: Any) -> Program:
    """A sum over what a decision lets through, the decision having returned `value`."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    x = Traced(m, builder.input(X), X)
    own = getattr(m, op)(x, *(m.literal(np.asarray(other)) for other in others), **params)
    taken = Traced(m, own.id, np.asarray(value, own.value.dtype))
    builder.nodes[-1] = replace(builder.nodes[-1], value=taken.value)
    y = m.select(taken, x * 2.0, x) if own.value.dtype == bool else m.take_along(x, taken, axis=0)
    return builder.build([m.sum(y, axes=(0,)).id])


DECISIONS = [
    ("greater", (0.25,), {}, [True, False, True], [True, False, False]),
    ("less_equal", (-1.25,), {}, [False, True, False], [False, False, True]),
    ("argsort", (), {"axis": 0}, [1, 0, 2], [2, 0, 1]),
]


@pytest.mark.parametrize(("op", "others", "params", "right", "wrong"), DECISIONS)
def test_another_decision_is_found(op: str, others: Any, params: Any, right: Any, wrong: Any) -> None:
    assert misdecided(_decided(op, right, *others, **params)) is None
    found = misdecided(_decided(op, wrong, *others, **params))
    assert found is not None and found.node.op == op


def test_what_is_decided_at_a_tie_or_by_a_rounding_is_no_matter() -> None:
    assert misdecided(_decided("greater", [True, False, True], 0.5)) is None  # 0.5 > 0.5
    assert misdecided(_decided("greater", [True, False, True], 0.5 * (1 + 2e-16))) is None
    assert misdecided(_decided("greater", [False, False, True], 0.5 - 1e-310)) is None


def test_no_verdict_rests_on_a_decision_that_was_not_taken() -> None:
    program = _decided("greater", [False, True, False], 0.25)  # as `less` would have it
    (found,) = judge(Evidence(program, program.inputs, (np.asarray([1.0, 2.0, 1.0]),)), Options())
    assert found.verdict is Verdict.UNVERIFIED and found.enclosure is None
    assert (found.reason or "").startswith("`greater` returned 0, and what it means here gives 1")
