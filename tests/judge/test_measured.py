"""Gradients through ops that have no exact meaning: measured where they can be computed again, and only there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from gradproof.ir.program import OPAQUE, Builder
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Op:
    function: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    dtype: str = "float64"

    def __call__(self, *xs: Array) -> Array:
        return np.asarray(self.function(np.asarray(xs[0], np.float64)))

    def rule(self, gy: Array, *xs: Array) -> Sequence[Array | None] | None:
        return [gy * self.slope(np.asarray(xs[0], np.float64))]


BOUNDED = Op(lambda x: x / np.sqrt(1 + x * x), lambda x: (1 + x * x) ** -1.5)
X = np.array([0.5, -1.5, 2.0])


def _evidence(x: Array, observed: Array, ops: Sequence[Op | None], tail: str = "square") -> Evidence:
    """sum(tail(op(...op(x)))) and what was observed for x."""
    b = Builder()
    source = b.input(x, "x")
    y, value = source, x
    for op in ops:
        value = (op or BOUNDED)(value)
        y = b.add(OPAQUE + "Strange", y, value=value, kernel=op)
    for name in (tail, "sum"):
        value = getattr(np, name)(value)
        y = b.add(name, y, value=value, params={"axes": (0,)} if name == "sum" else {})
    return Evidence(b.build([y]), (source,), (observed,))


def _judged(*args: Any, **kwargs: Any) -> Judgement:
    (found,) = judge(_evidence(*args, **kwargs), Options())
    return found


def _gradient(x: Array, n: int = 1) -> Array:
    points = [x]
    for _ in range(n):
        points.append(BOUNDED(points[-1]))
    gy = 2 * points[-1]
    for point in reversed(points[:-1]):
        gy = gy * BOUNDED.slope(point)
    return gy


def test_a_right_gradient_is_correct_by_differences_and_the_reason_names_the_op() -> None:
    found = _judged(X, _gradient(X), [BOUNDED])
    assert (found.verdict, found.oracle) == (Verdict.CORRECT, "differences")
    assert found.reason is not None and "`Strange`" in found.reason and "entry by entry" in found.reason
    assert found.enclosure is not None
    assert (np.abs(found.enclosure.mid - _gradient(X)) <= found.enclosure.rad).all()


def test_one_op_behind_another_is_measured_too() -> None:
    found = _judged(X, _gradient(X, 2), [BOUNDED, BOUNDED])
    assert (found.verdict, found.oracle) == (Verdict.CORRECT, "differences")


def test_a_thousand_inputs_are_checked_along_directions() -> None:
    x = np.random.default_rng(0).standard_normal(1000)
    found = _judged(x, _gradient(x).astype(np.float32), [BOUNDED])
    assert found.verdict is Verdict.CORRECT
    assert found.reason is not None and "along 4 random directions" in found.reason


def test_what_the_error_bar_does_not_decide_is_unverified_with_its_size() -> None:
    """Eleven digits of the largest entry are asked of float64, and directions know some seven."""
    x = np.random.default_rng(0).standard_normal(1000)
    found = _judged(x, _gradient(x), [BOUNDED])
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "error bar of" in found.reason


@pytest.mark.parametrize("factor", [1.01, -1.0, 0.0])
def test_a_gradient_that_is_off_is_not_called_correct(factor: float) -> None:
    found = _judged(X, factor * _gradient(X), [BOUNDED])
    # Nothing of the backward pass was recorded, so that rounding and a wrong rule cannot be told apart.
    assert found.verdict is Verdict.UNVERIFIED
    assert found.comparison is not None and found.comparison.outcome == "beyond"


def test_an_op_that_cannot_be_computed_again_leaves_the_gradient_unverified_by_name() -> None:
    found = _judged(X, _gradient(X), [None])
    assert (found.verdict, found.oracle) == (Verdict.UNVERIFIED, "none")
    assert found.reason == "`Strange` has no exact meaning here, and the gradient runs through it"


def test_an_op_at_its_own_kink_leaves_the_gradient_unverified() -> None:
    op = Op(np.abs, np.sign)
    found = _judged(np.array([0.0, 1.0]), np.array([0.0, 2.0]), [op], tail="exp")
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "kink" in found.reason


def test_a_tie_behind_an_op_is_not_decided_by_its_differences() -> None:
    b = Builder()
    source = b.input(np.array(0.0), "x")
    y = b.add(OPAQUE + "Strange", source, value=np.array(0.0), kernel=Op(np.sin, np.cos))
    zero = b.constant(np.array(0.0))
    mask = b.add("greater", y, zero, value=np.array(False))
    picked = b.add("select", mask, y, zero, value=np.array(0.0))
    evidence = Evidence(b.build([picked]), (source,), (np.array(0.0),))
    (found,) = judge(evidence, Options())
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "is at a tie" in found.reason


def test_an_op_that_no_source_reaches_is_a_given_number() -> None:
    b = Builder()
    source, other = b.input(np.array(2.0), "x"), b.constant(np.array(3.0))
    y = b.add(OPAQUE + "Strange", other, value=np.array(0.75))
    product = b.add("mul", source, y, value=np.array(1.5))
    (found,) = judge(Evidence(b.build([product]), (source,), (np.array(0.75),)), Options())
    assert (found.verdict, found.oracle) == (Verdict.CORRECT, "ball")
