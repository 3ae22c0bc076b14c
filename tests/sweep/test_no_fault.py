"""What is not right and yet no fault of a library: each reason where it holds, and where it does not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradproof.frontends.library.model import OpCall, SweptLibrary
from gradproof.options import Options
from gradproof.sweep.domain import is_outside_of_its_domain
from gradproof.sweep.find import Find, is_beyond
from gradproof.sweep.no_fault import (
    AS_GOOD,
    BELOW_A_ROUNDING,
    FLUSHED,
    OTHER_SHAPE,
    OUTSIDE,
    RANDOM,
    Doubts,
    is_below_a_rounding,
)
from gradproof.sweep.one_op import _merged, swept
from gradproof.sweep.page import roots_of
from gradproof.sweep.plan import Plan
from gradproof.sweep.points import at_points, with_labels
from gradproof.sweep.reduce import _plainer
from gradproof.sweep.trial import IMPURE, Tally
from tests.sweep import planted

TINY = np.array([9e-44], np.float32)


def _find(call: str = "np.sin(x)", x: np.ndarray | None = None, **changes: object) -> Find:
    arrays = {"x": np.array([0.5, 0.25], np.float32) if x is None else x}
    sample = OpCall("op", call, arrays, ("x",), weights=np.ones(arrays["x"].shape, np.float32))
    found = Find("inaccurate", sample, "x", (0,), 1.0, 2.0, "float32", value=1.0)
    return replace(found, **changes)  # type: ignore[arg-type]


def _reason(find: Find, true: float = 2.0, observed: float = 5.0) -> str | None:
    like = find.sample.arrays["x"]
    doubts = Doubts(
        planted.library(), lambda _: np.full(like.shape, true), lambda _: np.full(like.shape, observed)
    )
    return doubts.reason(find)


def test_a_plain_error_is_a_fault() -> None:
    assert _reason(_find()) is None


def test_an_op_that_draws_is_not_compared_with_itself() -> None:
    assert _reason(_find("x * np.random.choice([1.0, 2.0])")) == RANDOM


@pytest.mark.parametrize(
    ("op", "call", "given", "is_outside"),
    [
        ("lib.scipy.stats.pareto.cdf", "lib.scipy.stats.pareto.cdf(y, x)", 0.0, True),
        ("lib.scipy.stats.pareto.cdf", "lib.scipy.stats.pareto.cdf(y, x)", 1.0, False),
        ("lib.scipy.stats.pareto.cdf", "lib.scipy.stats.pareto.cdf(y, 2.0, 0.0, x)", -1.0, True),
        ("lib.scipy.stats.norm.cdf", "lib.scipy.stats.norm.cdf(y, scale=x)", 0.0, True),
        ("lib.scipy.stats.norm.cdf", "lib.scipy.stats.norm.cdf(y, x)", 0.0, False),
        ("lib.scipy.stats.geom.pmf", "lib.scipy.stats.geom.pmf(1, x)", 1.0, False),
        ("lib.scipy.stats.nosuch.pmf", "lib.scipy.stats.nosuch.pmf(1, x)", 0.0, False),
        ("lib.pareto", "lib.pareto(y, x)", 0.0, False),
    ],
)
def test_parameters_that_a_distribution_does_not_have_are_no_fault(
    op: str, call: str, given: float, is_outside: bool
) -> None:
    arrays = {"x": np.array(given), "y": np.array([0.5, 2.0])}
    find = _find()
    sample = replace(find.sample, op=op, call=call, arrays=arrays)
    assert is_outside_of_its_domain(sample) is is_outside
    assert not is_outside or _reason(replace(find, sample=sample)) == OUTSIDE


def test_a_result_of_another_shape_is_not_weighed_as_before() -> None:
    assert _reason(_find("x[x > 0.3]")) == OTHER_SHAPE


def test_numbers_that_are_taken_for_zero_are_no_fault_if_zero_gives_the_same() -> None:
    assert _reason(_find(x=TINY), observed=1.0) == FLUSHED
    assert _reason(_find(x=TINY), observed=7.0) is None
    assert _reason(_find(), observed=1.0) is None  # nothing of it is below the normal numbers


def test_an_error_of_a_rounding_beside_a_derivative_of_zero_is_none() -> None:
    assert _reason(_find(observed=1e-7, expected=0.0)) == BELOW_A_ROUNDING
    assert not is_below_a_rounding(_find(observed=1e-3, expected=0.0))
    assert is_below_a_rounding(_find(observed=0.0, expected=1e-8))
    assert not is_below_a_rounding(
        _find(observed=0.0, expected=1e-8, value=1e-6)
    )  # beside its value it is not small
    assert not is_below_a_rounding(_find(observed=float("nan"), expected=0.0))
    assert not is_below_a_rounding(_find(observed=0.0, expected=0.3, value=float("inf")))


def test_a_value_that_another_argument_makes_large_hides_no_error() -> None:
    """As in x + y / z, where z * z overflows: beside a large x the slope for z is small, and yet it is known."""
    arrays = {"x": np.float32(7e19), "z": np.float32(7e19)}
    sample = OpCall("op", "x + 1.0 / z", {key: np.asarray(x) for key, x in arrays.items()}, ("z",), entry=())
    find = Find("inaccurate", sample, "z", (), 0.0, -1.4e-20, "float32", value=7e19)
    true = np.asarray(-1.4e-20)
    assert is_below_a_rounding(find)
    assert Doubts(planted.library(), lambda _: true, lambda _: 0.0).reason(find) is None
    # A library that is right beside another x errs by a rounding of the value here.
    assert Doubts(planted.library(), lambda _: true, lambda _: -1.4e-20).reason(find) == BELOW_A_ROUNDING


def test_what_roundings_of_the_input_explain_is_no_fault() -> None:
    assert _reason(_find(observed=3.0), true=2.5) == AS_GOOD


def test_each_argument_is_rounded_alone_too() -> None:
    """A label that is rounded selects another function, whose gradient does not move."""
    find = _find()
    both = {**find.sample.arrays, "y": np.ones(2, np.float32)}
    find = replace(find, sample=replace(find.sample, arrays=both))

    def true(sample: OpCall) -> np.ndarray:
        return np.full(2, 2.5 if (sample.arrays["y"] == 1).all() else 2.0)

    assert Doubts(planted.library(), true, lambda _: None).reason(find) == AS_GOOD


def test_no_more_digits_are_asked_for_than_the_least_precise_number_has() -> None:
    options = Options()
    assert is_beyond(1.0000001, 1.0, "float64", options)
    assert not is_beyond(1.0000001, 1.0, "float32", options)
    assert is_beyond(float("inf"), 1.0, "float32", options)


def test_labels_stay_what_they_are_at_every_point_and_in_the_smallest_script() -> None:
    arrays = {"x": np.array([0.5, 0.25]), "y": np.array([1.0, -1.0])}
    sample = with_labels(OpCall("op", "op(x, y)", arrays, ("x", "y")))
    assert sample.labels == ("y",)
    for moved in at_points(sample, ["zeros", "huge", "subnormal"]):
        np.testing.assert_array_equal(moved.arrays["y"], [1.0, -1.0])
    find = replace(_find(), sample=sample)
    assert all((one.arrays["y"] == arrays["y"]).all() for one in _plainer(find))
    whole = OpCall("op", "op(x)", {"x": np.array([1.0, 2.0])}, ("x",))
    assert with_labels(whole).labels == ()


def _fault(**changes: object) -> dict[str, object]:
    return {
        "kind": "inaccurate", "mode": None, "cause": "cancellation", "rule": "sub", "script": "s", "seen": 1,
        "dtypes": ["float32"], "points": ["ordinary"], **changes,
    }  # fmt: skip


def test_faults_with_the_same_smallest_script_are_one() -> None:
    (one,) = _merged([_fault(), _fault(cause="accumulation", points=["large"], seen=2)])
    assert (one["seen"], one["points"]) == (3, ["ordinary", "large"])
    assert len(_merged([_fault(), _fault(script="t")])) == 2


def test_roundings_of_an_op_are_one_root_and_so_are_its_names() -> None:
    first = {"op": "lib.exp", "faults": [_fault(), _fault(cause="accumulation", script="t")]}
    raw = {"op": "lib.raw.Exp", "faults": [_fault(script="u")]}
    (root,) = roots_of([first, raw])
    assert root.ops == ["lib.exp", "lib.raw.Exp"]
    beyond = {"op": "lib.exp", "faults": [_fault(cause="overflow", script="v")]}
    assert len(roots_of([first, beyond])) == 2


def test_two_distributions_have_two_roots() -> None:
    names = ("lib.scipy.stats.geom.cdf", "lib.scipy.stats.pareto.cdf")
    assert len(roots_of([{"op": name, "faults": [_fault(script=name)]} for name in names])) == 2


def test_an_op_that_draws_at_one_point_has_no_finds_at_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a dropout that drops everything gives the same each time."""
    library = planted.library()
    op = next(op for op in library.ops() if op.name == "half")
    plan = Plan(dtypes=("float32",), points=("ordinary", "large"))

    def first_is_impure(library: SweptLibrary, sample: OpCall, options: Options) -> Tally:
        found = Tally()
        if sample.point == "ordinary":
            found.reasons[IMPURE] += 1
        else:
            found.finds.append(replace(_find(), sample=sample))
        return found

    monkeypatch.setattr("gradproof.sweep.one_op.tried", first_is_impure)
    assert swept(library, op, plan)["faults"] == []


def test_equal_numbers_are_rounded_apart() -> None:
    """As the variance of equal numbers, whose slope is zero there and nowhere beside it."""
    find = replace(_find(x=np.full(3, 0.6)), observed=1e-33, expected=0.0, dtype="float64")
    doubts = Doubts(
        planted.library(),
        lambda sample: sample.arrays["x"] - sample.arrays["x"].mean(),
        lambda sample: None,
    )
    assert doubts.reason(replace(find, value=0.0)) == AS_GOOD
