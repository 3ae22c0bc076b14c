"""Broadcasting, also beyond the 32 axes at which NumPy's own functions for it stop."""

from __future__ import annotations

import numpy as np
import pytest

import gradproof
from gradproof.ir.shapes import fits, joint_shape, jointly

MANY = (1,) * 38


@pytest.mark.parametrize(
    ("shapes", "joint"),
    [
        (((2, 1), (3,)), (2, 3)),
        (((*MANY, 2, 1), (3,)), (*MANY, 2, 3)),
        (((2, *MANY), (*MANY, 3)), (2, *MANY[1:], 3)),
        (((), MANY), MANY),
    ],
)
def test_shapes_are_joined_at_their_last_axes(shapes: tuple[tuple[int, ...], ...], joint: tuple[int, ...]):
    assert joint_shape(*shapes) == joint
    assert {array.shape for array in jointly(*map(np.ones, shapes))} == {joint}


@pytest.mark.parametrize("lead", [(), MANY])
def test_shapes_that_do_not_go_together_are_refused(lead: tuple[int, ...]):
    with pytest.raises(ValueError, match="broadcast"):
        joint_shape((*lead, 2), (*lead, 3))
    with pytest.raises(ValueError, match="broadcast"):
        joint_shape((2, *lead, 1), (3, *lead, 1))


def test_a_gradient_for_an_array_of_forty_axes_is_judged():
    x = np.arange(1.0, 4.0).reshape((1,) * 39 + (3,))
    (row,) = gradproof.check(lambda x: np.sum(np.where(x > 2.5, x * x, np.maximum(x, 0.5))), x).gradients
    assert row.verdict.value == "correct"
    assert np.ravel(row.reference).tolist() == [1.0, 1.0, 6.0]


def test_what_fits_is_broadcast_to_the_whole_and_no_further() -> None:
    assert fits((1, 3), (2, 3)) and fits((), (2,)) and fits((2, 3), (2, 3))
    assert not fits((2, 3), (3,)) and not fits((2,), (2, 3))
