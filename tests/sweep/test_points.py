"""Edge inputs: each is what its name says, finite, and of the dtype it was made from."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.errors import InvalidInput
from gradproof.frontends.library.model import OpCall
from gradproof.sweep.plan import Plan, matching, plan_of
from gradproof.sweep.points import POINTS, at_points


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(), (3,), (3, 3), (0, 2)])
def test_points_keep_shape_and_dtype(dtype: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).uniform(-2, 2, shape).astype(dtype)
    for name, point in POINTS.items():
        made = point(x)
        assert (made.shape, made.dtype) == (shape, np.dtype(dtype)), name


def test_equal_rows_have_no_inverse_and_nearly_equal_ones_have() -> None:
    x = np.random.default_rng(0).uniform(-2, 2, (3, 3))
    assert np.linalg.matrix_rank(POINTS["equal-rows"](x)) == 1
    assert np.linalg.matrix_rank(POINTS["nearly-equal-rows"](x)) == 3


def test_extremes_are_beyond_the_normal_numbers_and_beyond_a_square() -> None:
    x = np.array([1.0, -1.0], np.float32)
    assert 0 < POINTS["subnormal"](x)[0] < np.finfo(np.float32).smallest_normal
    with np.errstate(over="ignore"):
        assert np.isinf(POINTS["huge"](x) ** 2).all()
        assert np.isinf(POINTS["one-huge"](x) ** 2).tolist() == [True, False]


def test_a_sample_is_moved_as_a_whole_and_by_its_first_array_and_never_twice() -> None:
    sample = OpCall("op", "op(x, y)", {"x": np.zeros(2), "y": np.ones(2)}, ("x", "y"))
    moved = list(at_points(sample, ["zeros", "ones"]))
    values = [(one.arrays["x"][0], one.arrays["y"][0]) for one in moved]
    assert values == [(0.0, 0.0), (1.0, 1.0)]


def test_a_plan_refuses_what_it_does_not_know() -> None:
    assert plan_of("float32", "zeros,ties", None, 20.0).points == ("zeros", "ties")
    assert plan_of(None, None, None, 20.0) == Plan()
    assert (plan_of(None, None, 3, 20.0).samples, plan_of(None, None, 3, 20.0).at_points) == (3, 3)
    with pytest.raises(InvalidInput, match="--points takes"):
        plan_of(None, "middle", 4, 20.0)
    with pytest.raises(InvalidInput, match="names none of the 2 ops"):
        matching(["a.b", "a.c"], "d*")
    assert matching(["a.b", "a.c"], "c") == ["a.c"]
    assert Plan().to_data()["dtypes"] == ["float32", "float64"]
